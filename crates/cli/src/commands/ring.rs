//! `sluice object ring`: loads as the words that a driver sends.

use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use crate::p4::WarnArgs;
use crate::ring_text::{self, Section};
use crate::run::assign::program_file;
use crate::run::bring_up::{self, Nic};
use crate::run::device::{self, Set};
use clap::Args;
use sluice_control::config;
use sluice_device::DeviceError;
use sluice_device::device::check_engines_of;
use sluice_formats::Target;
use sluice_formats::limits::FORMAT_VERSION;
use sluice_frontends::{P4Options, P4Told, successor};
use sluice_nic::engines;
use sluice_object::ring::{NotOnTheRing, RingWriter};
use sluice_object::{Linker, Load, Object};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Prints what a driver sends on the configuration ring: the bring-up of a NIC, and replacements
///
/// A line is a step: `write`, `commit`, `wait` and `check` are sent as they stand, CRC-32C included; what their answers
/// have to be is in docs/guide/rtl.md. Each section is whole: the first brings a NIC up from its reset, the others
/// load or replace a program while packets run. They have to be played in this order.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice object ring --config programs/nic/nic.toml
  sluice object ring --config programs/nic/nic.toml --replace red=programs/nic/red-2.json --c")]
pub struct Ring {
    /// Description of the NIC and its tenants (docs/guide/nic-toml.md)
    #[arg(long, value_name = "FILE", required_unless_present = "loads", conflicts_with = "loads")]
    config: Option<PathBuf>,
    /// Target, default, tiny, far, tiny_far or soft; otherwise the one that the description says
    #[arg(long, value_parser = device::target, requires = "config")]
    target: Option<&'static Target>,
    /// Secrets of hash tables come of this seed, for tests; otherwise of `seed` of the description, or they are new ones
    #[arg(long, requires = "config")]
    seed: Option<u64>,
    /// Engines of the NIC: rmt and, after commas, xdp, l7 or both; otherwise those that the description says, for loads all
    #[arg(long, value_name = "ENGINE,...", value_parser = device::engines)]
    engines: Option<Set>,
    /// Another program for a tenant, or its first: an object, a *.rmt module, or a *.p4 program, PROGRAM.p4,ENTRIES with the entries of its tables, PROGRAM.p4,none without those of the running one
    #[arg(long, value_name = "TENANT=FILE", value_parser = replacement, requires = "config")]
    replace: Vec<Replacement>,
    /// Gives a tenant what he lacks of the pipeline for a program of --replace, if nobody holds it
    #[arg(long, requires = "replace")]
    grow: bool,
    #[command(flatten)]
    warn: WarnArgs,
    /// One JSON document instead
    #[arg(short = 'j', long, conflicts_with = "c")]
    json: bool,
    /// A C header for the driver in integration/driver instead
    #[arg(long)]
    c: bool,
    /// Loads that are linked already, binary or JSON
    #[arg(value_name = "LOAD")]
    loads: Vec<PathBuf>,
}

/// Another program for a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Replacement {
    tenant: String,
    file: PathBuf,
    /// Entries of a P4 program.
    entries: Option<PathBuf>,
    /// Said in their place: those of the running program go.
    entries_go: bool,
}

/// Reads `TENANT=FILE` or `TENANT=PROGRAM.p4,ENTRIES`.
fn replacement(text: &str) -> Result<Replacement, String> {
    match text.split_once('=') {
        Some((tenant, file)) if !tenant.is_empty() && !file.is_empty() => {
            let (file, entries, entries_go) = program_file(file)?;
            Ok(Replacement { tenant: tenant.to_owned(), file, entries, entries_go })
        }
        _ => Err("expected TENANT=FILE, as in red=red-2.json".to_owned()),
    }
}

impl Ring {
    /// Prints it.
    pub fn run(&self, out: &mut Output) -> Result<(), Failure> {
        let mut writer = RingWriter::default();
        let (target, sections) = match &self.config {
            Some(config) => self.described(config, &mut writer)?,
            None => self.linked(&mut writer)?,
        };
        if self.json {
            return out.json(&ring_text::json(target, &sections));
        }
        out.text(&if self.c { ring_text::header(target, &sections) } else { ring_text::text(target, &sections) })
    }

    fn described(&self, path: &Path, writer: &mut RingWriter) -> Result<(&'static Target, Vec<Section>), Failure> {
        let nic = bring_up::read(path, self.target, self.engines, self.seed)?;
        self.warn.tell_all(&nic.config.p4.warnings)?;
        let mut linker = sluice_control::linker_of(&nic.config).with_secrets(nic.secrets);
        let mut told = nic.config.p4.warnings.clone();
        let loads = config::loads(&nic.config, &mut linker).map_err(|e| Failure::input(e.code(), e))?;
        nic.warn(&linker, &[]);
        let mut sections = vec![section("bring_up", nic.target, &loads, writer)?];
        let configured = nic.config.tenants.iter().filter_map(|t| Some((t.spec.id, t.object.clone()?)));
        let mut running: BTreeMap<u16, Object> = configured.collect();
        for (i, replacement) in self.replace.iter().enumerate() {
            let before = linker.warnings();
            let (load, new) = changed(&nic, &mut linker, replacement, &mut running, self.grow)?;
            self.warn.tell_new(&new.warnings, &mut told)?;
            nic.warn(&linker, &before);
            sections.push(section(&format!("change_{}", i + 1), nic.target, &[load], writer)?);
        }
        Ok((nic.target, sections))
    }

    fn linked(&self, writer: &mut RingWriter) -> Result<(&'static Target, Vec<Section>), Failure> {
        let mut found: Option<&'static Target> = None;
        let mut sections = Vec::new();
        for (i, path) in self.loads.iter().enumerate() {
            let load = read_load(path)?;
            if let Some(Set(models)) = self.engines {
                let refused = |e: DeviceError| Failure::input(e.code(), format!("{}: {e}", path.display()));
                check_engines_of(&load, "nic", &engines::ids(models).collect::<Vec<_>>()).map_err(refused)?;
            }
            let target = target_of(path, &load, found)?;
            sections.push(section(&format!("load_{}", i + 1), target, &[load], writer)?);
            found = Some(target);
        }
        let missing = || Failure::input("E0502", "object ring: neither --config nor a load is given");
        Ok((found.ok_or_else(missing)?, sections))
    }
}

/// Replaces the program that runs, or loads the first one.
fn changed(
    nic: &Nic,
    linker: &mut Linker,
    replacement: &Replacement,
    running: &mut BTreeMap<u16, Object>,
    grow: bool,
) -> Result<(Load, P4Told), Failure> {
    let Replacement { tenant, file, entries, entries_go } = replacement;
    let id = nic.tenant(tenant)?;
    let told = RefCell::default();
    let (entries, entries_go) = (entries.as_deref(), *entries_go);
    let p4 = P4Options { entries, entries_go, told: Some(&told), ..P4Options::default() };
    let object = successor(file, running.get(&id), &[], &[], p4, nic.target);
    let object = object.map_err(|e| Failure::input(e.code, e.what))?;
    let runs = linker.tenant(id)?.running.is_some();
    let told = told.into_inner();
    let load = match runs {
        true if grow => linker.grow(id, &object),
        true => linker.replace(id, &object),
        false => linker.load(id, &object),
    };
    let load = load.map_err(|error| Failure::from(error.sent_from(|to| told.sender(&object.name, to))).of(file))?;
    running.insert(id, object);
    Ok((load, told))
}

fn section(name: &str, target: &Target, loads: &[Load], writer: &mut RingWriter) -> Result<Section, Failure> {
    let refused = |e: NotOnTheRing| Failure::input(e.code(), e);
    let checks = writer.checks(target);
    let mut steps = Vec::new();
    for load in loads {
        steps.push((load.label.clone(), writer.load(load).map_err(refused)?));
    }
    Ok(Section { name: name.to_owned(), checks, loads: steps })
}

fn read_load(path: &Path) -> Result<Load, Failure> {
    let bytes = files::read(path)?;
    let load = if bytes.first() == Some(&b'{') {
        Load::from_json(&String::from_utf8_lossy(&bytes))
    } else {
        Load::from_binary(&bytes)
    };
    load.map_err(|e| Failure::input(e.code(), format!("{}: {e}", path.display())))
}

/// The load's target, which has to be that of the loads before it.
fn target_of(path: &Path, load: &Load, before: Option<&'static Target>) -> Result<&'static Target, Failure> {
    let known = Target::nics().find(|t| t.hash() == load.target_hash);
    let allowed = || match before {
        Some(target) => format!("{:08x} ({}), that of the loads before", target.hash(), target.name),
        None => Target::nics().map(|t| format!("{:08x} ({})", t.hash(), t.name)).collect::<Vec<_>>().join(" or "),
    };
    match known {
        Some(target) if load.format_version == FORMAT_VERSION && before.is_none_or(|b| b.hash() == target.hash()) => {
            Ok(target)
        }
        _ => {
            let found = format!("format version {}, target {:08x}", load.format_version, load.target_hash);
            let allowed = format!("version {FORMAT_VERSION}, target {}", allowed());
            Err(Failure::input("E0233", format!("{}: found {found}, allowed: {allowed}", path.display())))
        }
    }
}
