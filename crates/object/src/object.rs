//! The relocatable `Object`: what every compiler emits and the linker places.

use crate::action::Action;
use crate::demand::{Demands, Survives};
use crate::destination::Destination;
use crate::error::{ObjectError, bad};
use crate::key::{KeyBytes, KeyKind, KeySpec};
use crate::part::Parts;
use sluice_formats::Target;
use std::collections::{HashMap, HashSet};

/// Longest name of an object, a symbol or a target.
pub const MAX_NAME: usize = 63;
/// Most entries of an object; targets have fewer.
pub const MAX_ENTRIES: u32 = 1 << 20;

/// A program for the NIC: a table, or at most one part for each engine. It knows no address: keys, actions,
/// instructions, maps, rows and demands only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Name: letters, digits, `_`, `-`, `.`.
    pub name: String,
    /// Targets it runs on.
    pub target: TargetNeed,
    /// What it matches on.
    pub key: KeySpec,
    /// Action when nothing matches.
    pub default: Action,
    /// Entries, in the order given; the order has no meaning for packets.
    pub entries: Vec<Entry>,
    /// Least resources.
    pub demands: Demands,
    /// Names for people and tools.
    pub symbols: Vec<Symbol>,
    /// State that outlives a replacement.
    pub survives: Survives,
    /// Programs of engines in place of the table.
    pub parts: Parts,
}

/// One logical entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Masked key.
    pub key: KeyBytes,
    /// What to do.
    pub action: Action,
}

/// A name for a part of the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Name, as the object's; each once.
    pub name: String,
    /// What it names.
    pub of: SymbolOf,
}

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolOf {
    /// An entry by its position.
    Entry(u32),
    /// A destination.
    Destination(Destination),
}

/// Targets an object runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetNeed {
    /// Every target that has the destinations and the room.
    Any,
    /// This one only.
    Exact {
        /// Its name.
        name: String,
        /// Its hash.
        hash: u32,
    },
}

impl TargetNeed {
    /// This target only.
    pub fn exact(target: &Target) -> Self {
        Self::Exact { name: target.name.to_owned(), hash: target.hash() }
    }
}

impl Object {
    /// An object without entries that runs on any target.
    pub fn new(name: impl Into<String>, key: KeySpec, default: Action) -> Self {
        let mut object = Self {
            name: name.into(),
            target: TargetNeed::Any,
            key,
            default,
            entries: Vec::new(),
            demands: Demands::default(),
            symbols: Vec::new(),
            survives: Survives::VERSION_1,
            parts: Parts::default(),
        };
        object.demand(&default);
        object
    }

    /// Adds an entry, masks its key, and raises the demands to what it needs.
    pub fn push(&mut self, key: KeyBytes, action: Action) {
        self.entries.push(Entry { key: self.key.masked(key), action });
        self.demands.entries = self.demands.entries.max(self.entries.len() as u32);
        self.demand(&action);
    }

    fn demand(&mut self, action: &Action) {
        for d in action.to.iter() {
            self.demands.queues.entry(d).or_insert(0);
        }
    }

    /// Refuses what no object may be. Everything decoded has passed it.
    pub fn check(&self) -> Result<(), ObjectError> {
        check_name("name", &self.name)?;
        if let TargetNeed::Exact { name, hash } = &self.target {
            check_name("target.name", name)?;
            if *hash == 0 {
                return Err(bad("target.hash", "00000000", "the hash of a target"));
            }
        }
        self.key.check()?;
        self.check_target()?;
        self.check_action("default", &self.default)?;
        self.check_entries()?;
        self.check_demands()?;
        self.check_symbols()?;
        self.parts.check(self)?;
        self.survives.check()
    }

    /// A hash is of one target: under another name it would run where its name says that it does not.
    fn check_target(&self) -> Result<(), ObjectError> {
        let TargetNeed::Exact { name, hash } = &self.target else { return Ok(()) };
        match Target::every().find(|target| target.hash() == *hash && target.name != name) {
            Some(other) => {
                let found = format!("{hash:08x} for target {}", name.escape_debug());
                Err(bad("target.hash", found, format!("that for target {} only", other.name)))
            }
            None => Ok(()),
        }
    }

    fn check_action(&self, path: &str, action: &Action) -> Result<(), ObjectError> {
        action.check().map_err(|e| e.within(path))?;
        match action.to.iter().find(|d| !self.demands.queues.contains_key(d)) {
            Some(d) => Err(bad(path, d, format!("destinations of demands.queues: {}", self.demands.destinations()))),
            None => Ok(()),
        }
    }

    fn check_entries(&self) -> Result<(), ObjectError> {
        if self.key.kind == KeyKind::None && !self.entries.is_empty() {
            return Err(bad("entries", self.entries.len(), "none for key kind none"));
        }
        let mut seen = HashMap::new();
        for (i, entry) in self.entries.iter().enumerate() {
            let path = format!("entries[{i}]");
            self.key.check_key(&entry.key).map_err(|e| e.within(&path))?;
            self.check_action(&path, &entry.action)?;
            if let Some(first) = seen.insert(entry.key, i) {
                return Err(ObjectError::DuplicateKey { first, second: i });
            }
        }
        Ok(())
    }

    fn check_demands(&self) -> Result<(), ObjectError> {
        let (n, demanded) = (self.entries.len(), self.demands.entries);
        if (demanded as usize) < n || demanded > MAX_ENTRIES {
            return Err(bad("demands.entries", demanded, format!("{n} (the entries it has) to {MAX_ENTRIES}")));
        }
        if let Some(d) = self.demands.queues.keys().find(|d| Destination::from_code(d.code()) != Some(**d)) {
            return Err(bad("demands.queues", d, "port0 to port7 or host0 to host7"));
        }
        self.demands.rate.map_or(Ok(()), |r| r.row().map(drop).map_err(|e| e.within("demands")))
    }

    fn check_symbols(&self) -> Result<(), ObjectError> {
        let mut names = HashSet::new();
        for (i, symbol) in self.symbols.iter().enumerate() {
            check_name(&format!("symbols[{i}].name"), &symbol.name)?;
            if !names.insert(&symbol.name) {
                return Err(bad(format!("symbols[{i}].name"), format!("`{}` again", symbol.name), "each name once"));
            }
            match symbol.of {
                SymbolOf::Entry(n) if n as usize >= self.entries.len() => {
                    let allowed = format!("positions below {}", self.entries.len());
                    return Err(bad(format!("symbols[{i}].entry"), n, allowed));
                }
                SymbolOf::Destination(d) if !self.demands.queues.contains_key(&d) => {
                    let allowed = format!("destinations of demands.queues: {}", self.demands.destinations());
                    return Err(bad(format!("symbols[{i}].destination"), d, allowed));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Names stand in labels, errors and file names, so they hold no odd characters.
pub(crate) fn check_name(path: &str, name: &str) -> Result<(), ObjectError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(plain) {
        let shown: String = name.chars().take(MAX_NAME + 1).flat_map(char::escape_default).collect();
        let allowed = format!("1 to {MAX_NAME} letters, digits, `_`, `-`, `.`");
        return Err(bad(path, format!("`{shown}`"), allowed));
    }
    Ok(())
}
