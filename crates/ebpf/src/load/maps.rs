//! The maps of an object: where each is declared, what it is, or why it is refused.

use super::btf::Btf;
use super::elf::{Elf, Home};
use super::error::LoadError;
use super::names;
use super::{btf_maps, data, legacy_maps};
use crate::MapType;
use crate::image::{Initial, MapSpec, Note};
use std::collections::{HashMap, HashSet};

/// Section of BTF maps.
pub(super) const BTF_MAPS: &str = ".maps";
/// Section of legacy maps.
pub(super) const LEGACY_MAPS: &str = "maps";

/// Most maps of one section: a program of the kernel's uses 64 at most.
const MAX_MAPS: usize = 1024;

/// Refuses a section of too many maps.
pub(super) fn check_count(section: &str, found: usize) -> Result<(), LoadError> {
    if found <= MAX_MAPS {
        return Ok(());
    }
    let what = format!("section `{section}`");
    Err(LoadError::TooLarge { what, found: found as u64, allowed: MAX_MAPS as u64, unit: "maps" })
}

/// A map as the object has it.
pub(super) struct Declared {
    /// Symbol.
    pub name: String,
    /// Its section.
    pub section: usize,
    /// First byte in it.
    pub offset: u64,
    /// Bytes in it.
    pub size: u64,
    /// A data section: any address in it is of its one value.
    pub is_data: bool,
    /// What it is, or why it is refused.
    pub spec: Result<MapSpec, LoadError>,
    /// A value of `pinning` that only a project's own loader knows.
    pub odd_pinning: Option<u32>,
    /// iproute2's id of it; 0 without.
    pub id: u32,
    /// Index in the image, if it is not refused.
    pub index: usize,
}

/// All maps: declared ones first, then `.rodata`, `.data`, `.bss`.
pub(super) struct Maps {
    all: Vec<Declared>,
    at: HashMap<(usize, u64), usize>,
    made: Vec<usize>,
}

/// What a symbol's address is in.
pub(super) enum Found<'a> {
    /// The map itself.
    Map(&'a Declared),
    /// Byte of the one value of a data section.
    Value(&'a Declared, u64),
}

impl Maps {
    /// Reads all declarations. Fails only where the sections themselves are broken.
    pub fn read(elf: &Elf<'_>, btf: Option<&Btf<'_>>) -> Result<Self, LoadError> {
        let mut all = btf_maps::read(elf, btf)?;
        all.extend(legacy_maps::read(elf, all.len())?);
        all.extend(data::read(elf, btf));
        let mut names = HashSet::new();
        for map in &mut all {
            if !names.insert(map.name.clone()) {
                map.spec = Err(LoadError::Duplicate { what: "map", name: map.name.clone() });
            }
        }
        refuse_holders(&mut all);
        let mut next = 0;
        let mut moved = Vec::new();
        for map in &mut all {
            map.index = next;
            moved.push(next);
            next += usize::from(map.spec.is_ok());
        }
        // Until here initial entries count declarations, from here maps of the image.
        for spec in all.iter_mut().filter_map(|m| m.spec.as_mut().ok()) {
            for (_, initial) in &mut spec.initial {
                if let Initial::Map(at) = initial {
                    *at = moved[*at];
                }
            }
        }
        let at = all.iter().enumerate().map(|(at, m)| ((m.section, m.offset), at)).collect();
        let made = all.iter().enumerate().filter(|(_, m)| m.spec.is_ok()).map(|(at, _)| at).collect();
        Ok(Self { all, at, made })
    }

    /// What is at a byte of a section; a data section is one value.
    pub fn at(&self, section: usize, byte: u64) -> Option<Found<'_>> {
        if let Some(data) = self.at.get(&(section, 0)).map(|at| &self.all[*at]).filter(|m| m.is_data) {
            return Some(Found::Value(data, byte));
        }
        self.at.get(&(section, byte)).map(|at| Found::Map(&self.all[*at]))
    }

    /// The map with this index in the image.
    pub fn made(&self, index: i32) -> Option<&Declared> {
        usize::try_from(index).ok().and_then(|index| self.made.get(index)).map(|at| &self.all[*at])
    }

    /// All.
    pub fn iter(&self) -> impl Iterator<Item = &Declared> {
        self.all.iter()
    }

    /// What was taken otherwise than declared.
    pub fn notes(&self) -> impl Iterator<Item = Note> {
        self.all.iter().filter_map(|map| {
            let text = format!(
                "pinning {} means something only to the loader of its project: taken as pinned by name, it outlives \
                 a replacement",
                map.odd_pinning?
            );
            Some(Note { name: map.name.clone(), text: format!("map `{}`: {text}", map.name) })
        })
    }

    /// Maps of the image, and those refused.
    pub fn into_parts(self) -> (Vec<MapSpec>, Vec<(String, LoadError)>) {
        let (mut maps, mut refused) = (Vec::new(), Vec::new());
        for map in self.all {
            match map.spec {
                Ok(spec) => maps.push(spec),
                Err(error) => refused.push((map.name, error)),
            }
        }
        (maps, refused)
    }
}

/// Refuses maps that are given refused maps as entries; holders hold no holders, so once is enough.
fn refuse_holders(all: &mut [Declared]) {
    for at in 0..all.len() {
        let Ok(spec) = &all[at].spec else { continue };
        let error = spec.initial.iter().find_map(|(_, initial)| match initial {
            Initial::Map(held) => all[*held].spec.as_ref().err().cloned(),
            Initial::Program(_) => None,
        });
        if let Some(error) = error {
            all[at].spec = Err(error);
        }
    }
}

/// The map type with this number.
pub(super) fn map_type(map: &str, number: u32) -> Result<MapType, LoadError> {
    MapType::from_number(number).ok_or_else(|| {
        let allowed: Vec<&str> = MapType::ALL.iter().map(|t| t.name()).collect();
        LoadError::MapType { map: map.to_string(), number, name: names::map_type(number), allowed: allowed.join(", ") }
    })
}

/// Symbols that stand in a section, by rising address.
pub(super) fn symbols_of(elf: &Elf<'_>, section: usize) -> Vec<usize> {
    use super::elf::SymbolKind::{NoType, Object};
    let mut found: Vec<usize> = (0..elf.symbols.len())
        .filter(|s| {
            let symbol = &elf.symbols[*s];
            symbol.home == Home::Section(section)
                && matches!(symbol.kind, NoType | Object)
                && !symbol.name.is_empty()
                && !symbol.name.starts_with(".L")
        })
        .collect();
    found.sort_by_key(|s| elf.symbols[*s].value);
    found
}
