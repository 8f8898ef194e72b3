//! Tables of a script's tenants: what they hold, and the objects made of them.

use super::ScriptFailure;
use super::plan::{beside, destination};
use sluice_formats::Target;
use sluice_formats::limits::KEY_BYTES;
use sluice_frontends::{self as frontends, Allowed, NO_FILE, P4Options, P4Told, Reading, Tables};
use sluice_object::{Action, Destinations, KeyBytes, KeyKind, KeySpec, Object};
use sluice_packet::script::{self, Forward, Key, KeyMask, Tuple};
use std::borrow::Borrow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

/// A table as the script has built it.
#[derive(Clone, Debug)]
pub(super) struct TableState {
    pub name: String,
    pub key: KeySpec,
    pub default: Action,
    pub entries: BTreeMap<KeyBytes, Action>,
}

impl TableState {
    pub fn declared(table: &script::Table) -> Result<Self, ScriptFailure> {
        Ok(Self {
            name: table.tenant.clone(),
            key: key_spec(&table.key)?,
            default: action(&table.default),
            entries: BTreeMap::new(),
        })
    }

    pub fn of_object(object: &Object) -> Self {
        Self {
            name: object.name.clone(),
            key: object.key,
            default: object.default,
            entries: object.entries.iter().map(|e| (e.key, e.action)).collect(),
        }
    }

    pub fn object(&self) -> Object {
        let mut object = Object::new(self.name.clone(), self.key, self.default);
        for (key, action) in &self.entries {
            object.push(*key, *action);
        }
        object
    }

    /// The key of an entry as the table compares it: only bytes that count.
    pub fn masked(&self, key: &Key) -> Result<KeyBytes, ScriptFailure> {
        let (kind, bytes) = match key {
            Key::Dmac(mac) => (KeyKind::Dmac, mac_key(mac.0)),
            Key::FiveTuple(tuple) => (KeyKind::FiveTuple, tuple_key(tuple)),
        };
        if kind != self.key.kind {
            let allowed = format!("a key of kind {}", self.key.kind.name());
            return Err(ScriptFailure::value("key", format!("one of kind {}", kind.name()), allowed));
        }
        if let Some(at) = (0..KEY_BYTES).find(|at| !self.key.keeps(*at) && bytes[*at] != 0) {
            let found = format!("{:#04x} in byte {at}", bytes[at]);
            return Err(ScriptFailure::value("key", found, "0 in the bytes that the mask leaves out"));
        }
        Ok(bytes)
    }
}

/// Reads what a tenant of a script runs from a file beside the script.
pub(super) fn read_object(
    script: &str,
    file: &Path,
    name: &str,
    target: &Target,
    told: Option<&RefCell<P4Told>>,
) -> Result<Object, ScriptFailure> {
    let p4 = P4Options { told, ..P4Options::default() };
    Ok(frontends::read(&beside(script, file), &Reading { p4, ..Reading::new(target, name) })?)
}

/// Reads the file of a `rules` statement.
pub(super) fn read_rules(script: &str, file: &Path, name: &str, target: &Target) -> Result<Object, ScriptFailure> {
    let object = read_object(script, file, name, target, None)?;
    if object.is_rules() {
        return Ok(object);
    }
    Err(ScriptFailure::value("rules", file.display(), "a file of rules for dispatch, *.l7"))
}

/// Reads the module of an `rmt` statement; with the tables of a P4 program, whose entries may change one by one. Those of the P4
/// program that runs are kept, unless the statement says otherwise.
pub(super) fn rmt_object(
    script: &str,
    rmt: &script::Rmt,
    target: &Target,
    running: Option<&Tables>,
    told: Option<&RefCell<P4Told>>,
) -> Result<(Object, Option<Tables>), ScriptFailure> {
    let entries_go = rmt.entries.as_ref().is_some_and(|file| file == Path::new(NO_FILE));
    let (file, entries) = (beside(script, &rmt.file), rmt.entries.as_ref().map(|file| beside(script, file)));
    let (allowed, entries) = (allowed(&rmt.parts), entries.as_deref().filter(|_| !entries_go));
    let p4 = P4Options { entries, entries_go, allowed, told, ..P4Options::default() };
    let reading = Reading { p4, ..Reading::new(target, &rmt.tenant) };
    let running = running.map(Tables::object).transpose()?;
    let tables = Tables::read(&file, &reading, running.as_ref())?;
    let mut object = match &tables {
        Some(tables) => tables.object()?,
        None => frontends::read(&file, &reading)?,
    };
    match &mut object.parts.rmt {
        Some(part) => part.keep_state |= rmt.keep,
        None => return Err(ScriptFailure::value("module", rmt.file.display(), "one of the rmt pipeline")),
    }
    Ok((object, tables))
}

fn allowed(parts: &script::Parts) -> Allowed {
    let bound = parts.bound.iter().map(|(stack, elements)| (stack, *elements));
    let cells = parts.cells.iter().map(|(name, cells)| (name, *cells));
    Allowed::of(bound, cells, parts.target_hash, parts.power_of_two)
}

/// The P4 program that a tenant runs.
pub(super) fn running<'p, T: Ord + Borrow<str>>(
    all: &'p mut BTreeMap<T, Tables>,
    tenant: &str,
) -> Result<&'p mut Tables, ScriptFailure> {
    all.get_mut(tenant).ok_or_else(|| {
        let allowed = "a tenant with a P4 program: `rmt NAME FILE.p4` before";
        ScriptFailure::value("entry", format!("`{tenant}`, which runs none"), allowed)
    })
}

/// The linker's action.
pub(super) fn action(given: &script::Action) -> Action {
    let (to, except_ingress): (Destinations, bool) = match &given.forward {
        Forward::Drop => return Action::DROP,
        Forward::To(to) => (std::iter::once(destination(*to)).collect(), false),
        Forward::Multicast { destinations, except_ingress } => {
            (destinations.iter().map(|d| destination(*d)).collect(), *except_ingress)
        }
    };
    Action { to, except_ingress, set_dmac: given.set_dmac.map(|mac| mac.0) }
}

fn mac_key(mac: [u8; 6]) -> KeyBytes {
    let mut key = [0; KEY_BYTES];
    key[..6].copy_from_slice(&mac);
    key
}

fn tuple_key(tuple: &Tuple) -> KeyBytes {
    let mut key = [0; KEY_BYTES];
    key[..4].copy_from_slice(&tuple.src.octets());
    key[4..8].copy_from_slice(&tuple.dst.octets());
    key[8..10].copy_from_slice(&tuple.sport.to_be_bytes());
    key[10..12].copy_from_slice(&tuple.dport.to_be_bytes());
    key[12] = tuple.protocol;
    key
}

/// The NIC masks whole bytes.
fn key_spec(mask: &KeyMask) -> Result<KeySpec, ScriptFailure> {
    let (kind, bits, length) = match mask {
        KeyMask::Dmac(mac) => (KeyKind::Dmac, mac_key(mac.0), 6),
        KeyMask::FiveTuple(tuple) => (KeyKind::FiveTuple, tuple_key(tuple), KEY_BYTES),
    };
    let mut mask = 0;
    for (i, byte) in bits[..length].iter().enumerate() {
        match byte {
            0xff => mask |= 1 << i,
            0 => {}
            _ => {
                let found = format!("{byte:#04x} in byte {i} of the key");
                return Err(ScriptFailure::value("mask", found, "whole bytes: 0x00 or 0xff, prefixes of 8, 16 or 24"));
            }
        }
    }
    if mask == 0 {
        return Err(ScriptFailure::value(
            "mask",
            "no byte of the key",
            "one byte at least: else every key is the same",
        ));
    }
    Ok(KeySpec { kind, mask })
}
