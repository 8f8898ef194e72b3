//! Sections of instructions and the functions in them.

use super::btf::Btf;
use super::btf_ext::BtfExt;
use super::elf::{Elf, Home, Section, SymbolKind};
use super::error::{LoadError, Place};
use crate::Insn;
use crate::insn::{CALL, pseudo};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// `R_BPF_64_32`: the immediate of a call.
pub(super) const R_CALL: u32 = 10;

/// Index of a function of the object. Not of a program: one program holds several.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct FunctionId(pub usize);

/// One function of the object.
pub(super) struct Function<'a> {
    /// Symbol.
    pub name: &'a str,
    /// Section.
    pub section: usize,
    /// First slot in the section.
    pub start: u32,
    /// Slots.
    pub len: u32,
    /// Other objects could call it: outside of `.text` it is a program.
    pub is_global: bool,
    /// BTF type; 0 without.
    pub btf_type: u32,
}

/// All functions, by section and address.
pub(super) struct Code<'a> {
    /// By ID.
    pub functions: Vec<Function<'a>>,
    /// Instructions by section.
    pub insns: HashMap<usize, Vec<Insn>>,
    starts: BTreeMap<(usize, u32), FunctionId>,
}

impl<'a> Code<'a> {
    /// Finds the functions: by symbols, and where symbols have no type also by calls.
    pub fn read(elf: &Elf<'a>, ext: &BtfExt<'_>) -> Result<Self, LoadError> {
        let mut code = Self { functions: Vec::new(), insns: HashMap::new(), starts: BTreeMap::new() };
        let mut symbols: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, symbol) in elf.symbols.iter().enumerate() {
            if let Home::Section(section) = symbol.home {
                symbols.entry(section).or_default().push(at);
            }
        }
        for (index, section) in elf.sections.iter().enumerate().filter(|(_, s)| s.is_code) {
            if !section.data.len().is_multiple_of(8) {
                return Err(LoadError::Code {
                    place: format!("section `{}`", section.name),
                    found: format!("{} bytes", section.data.len()),
                    expected: "whole instructions of 8 bytes",
                });
            }
            let insns = section.data.as_chunks::<8>().0;
            code.insns.insert(index, insns.iter().map(|b| Insn::from_bytes(*b)).collect());
        }
        let called = code.called(elf);
        for (index, section) in elf.sections.iter().enumerate().filter(|(_, s)| s.is_code) {
            code.functions_of(elf, index, section, symbols.get(&index).map_or(&[], |s| s), &called)?;
        }
        for function in &mut code.functions {
            let types = ext.functions.get(elf.sections[function.section].name);
            function.btf_type = types.and_then(|t| t.get(&(function.start * 8))).copied().unwrap_or(0);
        }
        Ok(code)
    }

    /// The function that begins at a slot of a section.
    pub fn at(&self, section: usize, slot: u32) -> Option<FunctionId> {
        self.starts.get(&(section, slot)).copied()
    }

    /// The function with this ID.
    pub fn get(&self, id: FunctionId) -> &Function<'a> {
        &self.functions[id.0]
    }

    /// Instructions of a function.
    pub fn body(&self, function: &Function<'_>) -> &[Insn] {
        let from = function.start as usize;
        &self.insns[&function.section][from..from + function.len as usize]
    }

    /// Sections and slots that calls lead to.
    fn called(&self, elf: &Elf<'_>) -> BTreeSet<(usize, u32)> {
        let mut called = BTreeSet::new();
        let mut add = |section: usize, slot: i64| {
            if let Ok(slot) = u32::try_from(slot) {
                called.insert((section, slot));
            }
        };
        for (section, insns) in &self.insns {
            let relocations = &elf.sections[*section].relocations;
            let related: HashMap<u64, usize> = relocations.iter().map(|r| (r.offset, r.symbol)).collect();
            for (slot, insn) in insns.iter().enumerate().filter(|(_, i)| i.op == CALL && i.src == pseudo::LOCAL) {
                match related.get(&(slot as u64 * 8)).map(|s| &elf.symbols[*s]) {
                    None => add(*section, slot as i64 + i64::from(insn.imm) + 1),
                    Some(symbol) => {
                        if let Home::Section(home) = symbol.home {
                            add(home, (symbol.value / 8) as i64 + i64::from(insn.imm) + 1);
                        }
                    }
                }
            }
        }
        called
    }

    /// Functions that calls lead to.
    pub fn called_functions(&self, elf: &Elf<'_>) -> BTreeSet<FunctionId> {
        self.called(elf).into_iter().filter_map(|(section, slot)| self.at(section, slot)).collect()
    }

    fn functions_of(
        &mut self,
        elf: &Elf<'a>,
        index: usize,
        section: &Section<'a>,
        symbols: &[usize],
        called: &BTreeSet<(usize, u32)>,
    ) -> Result<(), LoadError> {
        let slots = (section.data.len() / 8) as u32;
        // By slot: size in bytes, whether it has a type, whether it is global, name.
        let mut found: BTreeMap<u32, (u64, bool, bool, &'a str)> = BTreeMap::new();
        for symbol in symbols.iter().map(|s| &elf.symbols[*s]) {
            let typed = symbol.kind == SymbolKind::Function;
            // Old compilers keep their labels, as local symbols without a type.
            let label = symbol.name.starts_with("LBB") || symbol.name.starts_with(".L") || symbol.name.is_empty();
            let untyped = symbol.kind == SymbolKind::NoType
                && !label
                && (!symbol.is_local || called.contains(&(index, (symbol.value / 8) as u32)));
            if !typed && !untyped {
                continue;
            }
            let bad = |found: String, expected| LoadError::Code {
                place: format!("function `{}` of section `{}`", symbol.name, section.name),
                found,
                expected,
            };
            if symbol.value % 8 != 0 || symbol.size % 8 != 0 {
                let found = format!("{} bytes at byte {}", symbol.size, symbol.value);
                return Err(bad(found, "whole instructions of 8 bytes"));
            }
            if symbol.value.checked_add(symbol.size.max(8)).is_none_or(|end| end > section.data.len() as u64) {
                let found = format!("{} bytes at byte {} of {}", symbol.size, symbol.value, section.data.len());
                return Err(bad(found, "a function inside of its section"));
            }
            let entry = (symbol.size, typed, !symbol.is_local, symbol.name);
            let slot = (symbol.value / 8) as u32;
            // Of two names for one function the typed, then the global one counts.
            let better = found.get(&slot).is_none_or(|f| (entry.1, entry.2) > (f.1, f.2));
            if better {
                found.insert(slot, entry);
            }
        }
        // A function that only calls know of: static ones of old compilers have no symbol.
        let sized = found.values().all(|f| f.0 != 0);
        if !sized || found.is_empty() {
            for (_, slot) in called.range((index, 0)..(index, slots)) {
                found.entry(*slot).or_insert((0, false, false, ""));
            }
        }
        let starts: Vec<u32> = found.keys().copied().collect();
        for (n, (slot, (size, _, is_global, name))) in found.into_iter().enumerate() {
            let next = starts.get(n + 1).copied().unwrap_or(slots);
            let len = if size == 0 { next - slot } else { (size / 8) as u32 };
            if len > next - slot {
                return Err(LoadError::Code {
                    place: format!("function `{name}` of section `{}`", section.name),
                    found: format!("{len} instructions from {slot}, the next function is at {next}"),
                    expected: "functions that do not overlap",
                });
            }
            self.starts.insert((index, slot), FunctionId(self.functions.len()));
            self.functions.push(Function { name, section: index, start: slot, len, is_global, btf_type: 0 });
        }
        Ok(())
    }
}

/// Places of instructions, with source lines.
pub(super) struct Places<'e, 'a> {
    /// The object.
    pub elf: &'e Elf<'a>,
    /// Its types, if it has them.
    pub btf: Option<&'e Btf<'a>>,
    /// Its lines; empty without.
    pub ext: &'e BtfExt<'a>,
}

impl Places<'_, '_> {
    /// Slot `slot` of a function.
    pub fn of(&self, function: &Function<'_>, slot: Option<u32>) -> Box<Place> {
        let section = self.elf.sections[function.section].name;
        let source = slot.and_then(|slot| {
            let lines = self.ext.lines.get(section)?;
            let byte = (function.start + slot) * 8;
            let after = lines.partition_point(|l| l.offset <= byte);
            // A line of the function before is none of this one.
            let line = lines[..after].last().filter(|l| l.offset >= function.start * 8)?;
            Some((self.btf?.string(line.file)?.to_string(), line.position >> 10))
        });
        let function =
            if function.name.is_empty() { format!("function_{}", function.start) } else { function.name.into() };
        Box::new(Place { function, section: section.to_string(), instruction: slot, source })
    }
}
