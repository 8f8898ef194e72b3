//! The XDP part of an object: programs and maps as plain data.
//!
//! What the instructions mean is the matter of `sluice-ebpf`; here they are slots that name maps
//! by their index. `XDP_PASS` goes where the object's default action sends; beside an rmt part, where that has sent
//! the packet.

use super::binary::{read_xdp, write_xdp};
use super::entry::PROG_ARRAY;
use crate::action::Action;
use crate::bytes::{Reader, Writer};
use crate::error::{ObjectError, bad};
use crate::key::KeySpec;
use crate::object::Object;
use crate::part::Part;
use serde::{Deserialize, Serialize};
use sluice_formats::EngineId;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::str::FromStr;

/// Longest name of a program, a function or a map.
pub const MAX_SYMBOL: usize = 255;
/// Most programs of an object.
pub const MAX_PROGRAMS: usize = 1024;
/// Most slots of a program, as in the kernel.
pub const MAX_SLOTS: usize = 1_000_000;
/// Most maps of an object.
pub const MAX_MAPS: usize = 1024;
/// Most bytes of a key or of a value that stands in an object.
pub const MAX_BYTES: usize = 1 << 24;

/// Programs and maps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Xdp {
    /// Program that packets run, by its position.
    pub main: u32,
    /// Programs: the main one, and those that program arrays call.
    pub programs: Vec<XdpProgram>,
    /// Maps; instructions name them by their position.
    pub maps: Vec<XdpMap>,
    /// Maps that are kept over a replacement beside those that are pinned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// Entries that user space gives to maps when they are made, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<XdpEntry>,
    /// Port of an interface index, the lowest index of each port; a port without one has its number and 1, unless another port has that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub interfaces: BTreeMap<u32, u8>,
}

/// One program with the functions it calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XdpProgram {
    /// Its symbol.
    pub name: String,
    /// Instruction slots as numbers, first byte lowest.
    #[serde(with = "crate::hex::slots")]
    pub slots: Vec<u64>,
    /// Its functions with their first slots, rising; the program itself is at 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<(String, u32)>,
}

/// A map as the program declares it; numbers are the kernel's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XdpMap {
    /// Its symbol.
    pub name: String,
    /// `enum bpf_map_type`.
    pub kind: u32,
    /// Bytes of a key.
    pub key_size: u32,
    /// Bytes of a value.
    pub value_size: u32,
    /// Most entries.
    pub max_entries: u32,
    /// `map_flags`.
    pub flags: u32,
    /// `LIBBPF_PIN_BY_NAME`: it is kept over a replacement.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Nobody writes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub frozen: bool,
    /// Offset of the spin lock in the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin_lock: Option<u32>,
    /// First value of a data section.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::hex::optional")]
    pub contents: Option<Vec<u8>>,
    /// Entries that the program gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub initial: Vec<(u32, XdpInitial)>,
    /// What a map of maps holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<Box<XdpMap>>,
    /// Where it lies, if somebody says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<XdpMemory>,
}

/// A memory of an XDP engine in hardware that a map lies in, its values and its search rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum XdpMemory {
    /// The engine's own.
    Chip,
    /// External memory.
    Outside,
}

impl XdpMemory {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Chip, Self::Outside];

    /// Its word in files and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chip => "chip",
            Self::Outside => "outside",
        }
    }
}

impl fmt::Display for XdpMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for XdpMemory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|memory| memory.name() == text);
        known.ok_or_else(|| format!("expected {}", Self::ALL.map(Self::name).join(" or ")))
    }
}

/// An entry that the program gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum XdpInitial {
    /// The map at this position.
    Map(u32),
    /// The program of this name.
    Program(String),
}

/// An entry that user space gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XdpEntry {
    /// The map by its position.
    pub map: u32,
    /// Key.
    #[serde(with = "crate::hex::bytes")]
    pub key: Vec<u8>,
    /// Value as bpf(2) takes it; of a map of maps the inner map's position.
    #[serde(with = "crate::hex::bytes")]
    pub value: Vec<u8>,
}

/// An attribute in which two maps differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which.
    pub what: String,
    /// In the running program.
    pub old: String,
    /// In the new one.
    pub new: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, old, new } = self;
        write!(f, "its {what} is {old} in the running program and {new} in the new one")
    }
}

/// The attributes in which a map that is kept must equal the one it is kept from.
const SHAPE: [&str; 5] = ["type", "key size", "value size", "max entries", "flags"];

impl XdpMap {
    fn shape(&self) -> [u32; 5] {
        [self.kind, self.key_size, self.value_size, self.max_entries, self.flags]
    }

    /// The first attribute that differs from `old`'s.
    pub fn differs(&self, old: &XdpMap) -> Option<Difference> {
        let difference = |what: &str, old: &dyn fmt::Display, new: &dyn fmt::Display| {
            Some(Difference { what: what.to_owned(), old: old.to_string(), new: new.to_string() })
        };
        let mut shapes = SHAPE.into_iter().zip(old.shape().into_iter().zip(self.shape()));
        if let Some((what, (old, new))) = shapes.find(|(_, (old, new))| old != new) {
            return difference(what, &old, &new);
        }
        let said = |there: bool| if there { "there" } else { "none" };
        match (&old.inner, &self.inner) {
            (Some(old), Some(new)) => {
                new.differs(old).map(|d| Difference { what: format!("inner map's {}", d.what), ..d })
            }
            (None, None) => None,
            (old, new) => difference("inner map", &said(old.is_some()), &said(new.is_some())),
        }
    }

    /// Whether the map holds state, which can be kept, rather than parts of the program.
    pub fn is_state(&self) -> bool {
        !self.frozen && self.kind != PROG_ARRAY
    }

    fn check(&self, path: &str, maps: usize, inside: bool) -> Result<(), ObjectError> {
        check_symbol(&format!("{path}.name"), &self.name)?;
        if let Some(contents) = &self.contents
            && contents.len() != self.value_size as usize
        {
            return Err(bad(format!("{path}.contents"), format!("{} bytes", contents.len()), "the value's size"));
        }
        for (i, (_, initial)) in self.initial.iter().enumerate() {
            let path = format!("{path}.initial[{i}]");
            match initial {
                XdpInitial::Map(map) if *map as usize >= maps => {
                    return Err(bad(path, map, format!("positions below {maps}")));
                }
                XdpInitial::Map(_) => {}
                XdpInitial::Program(name) => check_symbol(&path, name)?,
            }
        }
        if let Some(place) = self.place.filter(|_| inside) {
            return Err(bad(format!("{path}.place"), place, "none, for a map in a map of maps"));
        }
        match &self.inner {
            Some(_) if inside => Err(bad(format!("{path}.inner"), "a map of maps", "no map of maps in a map of maps")),
            Some(inner) => inner.check(&format!("{path}.inner"), maps, true),
            None => Ok(()),
        }
    }
}

impl Part for Xdp {
    const ENGINE: EngineId = EngineId::XDP;
    const SECTION: u32 = 8;

    /// A program stands in place of the table, and passes to one destination; beside an rmt part that part says where.
    fn check_in(&self, object: &Object) -> Result<(), ObjectError> {
        if object.key != KeySpec::NONE {
            let kind = object.key.kind.name();
            return Err(bad("key.kind", kind, "none, for an XDP program stands in the table's place"));
        }
        let Action { to, except_ingress, set_dmac } = object.default;
        let one = to.iter().count() == 1 && !except_ingress && set_dmac.is_none();
        if object.parts.rmt.is_none() && !one {
            let allowed = "one destination and nothing else: where XDP_PASS goes";
            return Err(bad("default", object.default, allowed));
        }
        self.check()
    }

    fn write(&self, w: &mut Writer) {
        write_xdp(w, self);
    }

    fn read(r: &mut Reader) -> Result<Self, ObjectError> {
        read_xdp(r)
    }

    fn show(&self, out: &mut String) -> fmt::Result {
        super::show::render(self, out)
    }
}

impl Xdp {
    /// Whether the map at this position asks to be kept over a replacement.
    pub fn keeps(&self, map: usize) -> bool {
        self.maps.get(map).is_some_and(|m| m.is_state() && (m.pinned || self.keep.contains(&m.name)))
    }

    pub(crate) fn check(&self) -> Result<(), ObjectError> {
        let (programs, maps) = (self.programs.len(), self.maps.len());
        if !(1..=MAX_PROGRAMS).contains(&programs) {
            return Err(bad("xdp.programs", programs, format!("1 to {MAX_PROGRAMS}")));
        }
        if self.main as usize >= programs {
            return Err(bad("xdp.main", self.main, format!("positions below {programs}")));
        }
        for (i, program) in self.programs.iter().enumerate() {
            program.check(&format!("xdp.programs[{i}]"))?;
        }
        if maps > MAX_MAPS {
            return Err(bad("xdp.maps", maps, format!("at most {MAX_MAPS}")));
        }
        let mut names = HashSet::new();
        for (i, map) in self.maps.iter().enumerate() {
            map.check(&format!("xdp.maps[{i}]"), maps, false)?;
            if !names.insert(&map.name) {
                return Err(bad(format!("xdp.maps[{i}].name"), format!("`{}` again", map.name), "each name once"));
            }
        }
        for (i, name) in self.keep.iter().enumerate() {
            let path = format!("xdp.keep[{i}]");
            check_symbol(&path, name)?;
            match self.maps.iter().find(|m| m.name == *name) {
                None => {
                    let all: Vec<&str> = self.maps.iter().map(|m| m.name.as_str()).collect();
                    return Err(bad(path, format!("`{name}`"), format!("maps of the program: {}", all.join(", "))));
                }
                Some(map) if !map.is_state() => {
                    let allowed = "maps that hold state: a frozen map and a program array belong to the program";
                    return Err(bad(path, format!("`{name}`"), allowed));
                }
                Some(_) if self.keep[..i].contains(name) => {
                    return Err(bad(path, format!("`{name}` again"), "each name once"));
                }
                Some(_) => {}
            }
        }
        for (i, entry) in self.entries.iter().enumerate() {
            let path = format!("xdp.entries[{i}]");
            let Some(map) = self.maps.get(entry.map as usize) else {
                return Err(bad(path, format!("map {}", entry.map), format!("positions below {maps}")));
            };
            if entry.key.len() != map.key_size as usize {
                let found = format!("{} bytes of key", entry.key.len());
                return Err(bad(path, found, format!("{}, the key size of `{}`", map.key_size, map.name)));
            }
            if entry.value.len() > MAX_BYTES {
                return Err(bad(path, format!("{} bytes of value", entry.value.len()), format!("at most {MAX_BYTES}")));
            }
        }
        Ok(())
    }
}

impl XdpProgram {
    fn check(&self, path: &str) -> Result<(), ObjectError> {
        check_symbol(&format!("{path}.name"), &self.name)?;
        let slots = self.slots.len();
        if !(1..=MAX_SLOTS).contains(&slots) {
            return Err(bad(format!("{path}.slots"), slots, format!("1 to {MAX_SLOTS}")));
        }
        let mut next = 0;
        for (i, (name, start)) in self.functions.iter().enumerate() {
            let path = format!("{path}.functions[{i}]");
            check_symbol(&path, name)?;
            if *start < next || *start as usize >= slots {
                return Err(bad(path, format!("slot {start}"), format!("rising slots below {slots}")));
            }
            next = start + 1;
        }
        Ok(())
    }
}

fn check_symbol(path: &str, name: &str) -> Result<(), ObjectError> {
    if name.is_empty() || name.len() > MAX_SYMBOL || !name.bytes().all(|c| c.is_ascii_graphic()) {
        let shown: String = name.chars().take(64).flat_map(char::escape_default).collect();
        return Err(bad(path, format!("`{shown}`"), format!("1 to {MAX_SYMBOL} printable characters")));
    }
    Ok(())
}
