//! The file as it is written, before anything is looked up.

use super::error::{ConfigError, ConfigProblem};
use super::words::plain;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use sluice_nic::ports::SocketKind;
use sluice_object::linker::policy::Policy;
use sluice_object::{Action, KeyKind, Match};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::num::{NonZeroU16, NonZeroU32};
use std::path::{Path, PathBuf};
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigFile {
    pub device: DeviceTable,
    #[serde(default)]
    pub port: Vec<PortTable>,
    #[serde(default)]
    pub host: Vec<HostTable>,
    #[serde(default)]
    pub tenant: Vec<TenantTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeviceTable {
    pub target: Spanned<String>,
    pub engines: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    pub watchdog: u32,
    pub seed: Option<u64>,
    #[serde(default)]
    pub policy: Policy,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PortTable {
    pub number: Spanned<u8>,
    pub untagged: Option<Spanned<String>>,
    pub min_frame: Option<Spanned<u16>>,
    pub max_frame: Option<Spanned<u16>>,
    pub double_tag: Option<DoubleTag>,
    pub input: Option<Spanned<PathBuf>>,
    pub output: Option<Spanned<PathBuf>>,
    pub iface: Option<Spanned<String>>,
    pub socket: Option<Spanned<SocketKind>>,
    pub busy_poll: Option<Spanned<u32>>,
    pub tap: Option<Spanned<String>>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum DoubleTag {
    Pass,
    Drop,
}

/// VLANs in which a tenant's frames may leave.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Vids {
    #[default]
    Own,
    Any,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HostTable {
    pub number: Spanned<u8>,
    pub output: Option<Spanned<PathBuf>>,
    pub tap: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TenantTable {
    pub name: Spanned<String>,
    pub id: u16,
    pub vlans: Spanned<Vec<Spanned<VlanEntry>>>,
    pub keep_tag: Option<Spanned<bool>>,
    pub vids: Option<Vids>,
    pub rate: Option<u64>,
    pub burst: Option<u32>,
    pub share: Option<Only<ShareTable>>,
    pub xdp_work: Option<u32>,
    pub xdp_growth: Option<u16>,
    pub xdp_share: Option<Only<XdpShareTable>>,
    pub warp: Option<bool>,
    pub quantum: Option<u16>,
    pub max_entries: Option<Spanned<u32>>,
    #[serde(default)]
    pub queues: BTreeMap<String, u16>,
    #[serde(default)]
    pub reserve: BTreeMap<String, u16>,
    pub object: Option<Spanned<PathBuf>>,
    pub entries: Option<Spanned<PathBuf>>,
    pub p4: Option<Spanned<P4Table>>,
    pub table: Option<Spanned<TableTable>>,
    pub rmt: Option<Spanned<RmtTable>>,
    pub rules: Option<Spanned<PathBuf>>,
    pub l7: Option<Spanned<L7Table>>,
    pub xdp: Option<Spanned<PathBuf>>,
    pub section: Option<Spanned<String>>,
    pub program: Option<Spanned<String>>,
    pub pass: Option<Spanned<String>>,
    pub keep_maps: Option<Spanned<Vec<String>>>,
    pub maps: Option<Spanned<BTreeMap<String, PathBuf>>>,
    pub map_sizes: Option<Spanned<BTreeMap<String, u32>>>,
    pub map_places: Option<Spanned<BTreeMap<String, Spanned<String>>>>,
    pub inner_maps: Option<Spanned<BTreeMap<String, String>>>,
    pub variables: Option<Spanned<toml::Table>>,
    pub interfaces: Option<Spanned<BTreeMap<String, u32>>>,
    pub routes: Option<Spanned<PathBuf>>,
}

impl TenantTable {
    /// Files that it names, all to be read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let one = [&self.object, &self.entries, &self.xdp, &self.rules, &self.routes]
            .into_iter()
            .flatten()
            .map(|path| path.get_ref().as_path());
        one.chain(self.maps.iter().flat_map(|maps| maps.get_ref().values().map(PathBuf::as_path)))
    }

    /// Keys that only say something about an XDP program, where they are given.
    pub fn of_program(&self) -> impl Iterator<Item = (&'static str, std::ops::Range<usize>)> {
        let span = |name, span: Option<std::ops::Range<usize>>| span.map(|span| (name, span));
        [
            span("section", self.section.as_ref().map(Spanned::span)),
            span("program", self.program.as_ref().map(Spanned::span)),
            span("pass", self.pass.as_ref().map(Spanned::span)),
            span("keep_maps", self.keep_maps.as_ref().map(Spanned::span)),
            span("maps", self.maps.as_ref().map(Spanned::span)),
            span("map_sizes", self.map_sizes.as_ref().map(Spanned::span)),
            span("map_places", self.map_places.as_ref().map(Spanned::span)),
            span("inner_maps", self.inner_maps.as_ref().map(Spanned::span)),
            span("variables", self.variables.as_ref().map(Spanned::span)),
            span("interfaces", self.interfaces.as_ref().map(Spanned::span)),
            span("routes", self.routes.as_ref().map(Spanned::span)),
        ]
        .into_iter()
        .flatten()
    }
}

/// What of a P4 program may be had in part.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct P4Table {
    #[serde(default)]
    pub bound: BTreeMap<String, NonZeroU32>,
    #[serde(default)]
    pub cells: BTreeMap<String, NonZeroU32>,
    pub hash: Option<P4Hash>,
    #[serde(default)]
    pub power_of_two: bool,
    #[serde(default)]
    pub reserve: BTreeMap<String, u32>,
    pub weight: Option<NonZeroU16>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum P4Hash {
    Target,
}

/// What a tenant is assured of at each port.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShareTable {
    pub rate: u64,
    pub burst: u32,
}

/// A tenant's part of the queues in front of an XDP engine in hardware.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct XdpShareTable {
    pub weight: Option<u16>,
    pub rows: Option<u16>,
    pub contexts: Option<u8>,
    pub memory: Option<u8>,
}

/// What a tenant is given of the rmt pipeline.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RmtTable {
    #[serde(default)]
    pub stage: Vec<StageTable>,
    pub groups: Option<Vec<u16>>,
    pub growth: Option<u16>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageTable {
    pub number: u8,
    pub exact: Option<u32>,
    pub ternary: Option<u32>,
    pub actions: Option<u32>,
    pub pages: Option<u32>,
    pub fresh_pages: Option<bool>,
    pub numbers: Option<u32>,
}

/// What a tenant is given of the l7 engine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct L7Table {
    pub ports: Option<u32>,
    pub starts: Option<u32>,
    pub rows: Option<u32>,
    pub groups: Option<u32>,
    pub rings: Option<u32>,
    pub messages: Option<u16>,
    pub packets: Option<u16>,
    pub beats: Option<u16>,
    pub weight: Option<u16>,
    pub ring: Option<Vec<Spanned<RingTable>>>,
}

/// The ring of a queue, and the buffers that the host keeps in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RingTable {
    pub queue: u8,
    pub buffers: u32,
    pub bytes: u32,
}

/// What is written as a table, and not as an array of its values in some order.
#[derive(Debug)]
pub(super) struct Only<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Only<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Table<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Table<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a table, { key = value, ... }")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        from.deserialize_map(Table(PhantomData)).map(Self)
    }
}

/// A VLAN on every port, or on one.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a VLAN ID, or { vlan = ID, port = NUMBER }")]
pub(super) enum VlanEntry {
    Everywhere(u16),
    OnPort(Only<VlanOnPort>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VlanOnPort {
    pub vlan: u16,
    pub port: u8,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableTable {
    pub key: KeyKind,
    pub fields: Option<Vec<String>>,
    pub default: Action,
    #[serde(default)]
    pub entries: Vec<EntryTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryTable {
    #[serde(rename = "match")]
    pub key: Match,
    pub action: Action,
}

/// Reads the text; what does not fit is told with its place.
pub(super) fn parse(file: &str, text: &str) -> Result<ConfigFile, ConfigError> {
    let describe = |error: toml::de::Error, problem: fn(String) -> ConfigProblem| {
        let problem = problem(plain(&error.message().trim().replace('\n', ", ")));
        match error.span() {
            Some(span) => ConfigError::at(file, text, span, problem),
            None => ConfigError::whole(file, problem),
        }
    };
    // Once for the syntax alone, so that the two kinds of mistakes can be told apart.
    if let Err(error) = text.parse::<toml::Table>() {
        return Err(describe(error, |what| ConfigProblem::Syntax { what }));
    }
    toml::from_str(text).map_err(|error| describe(error, |what| ConfigProblem::Shape { what }))
}
