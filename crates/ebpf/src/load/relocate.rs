//! Relocations of one function: map references, data, callbacks and calls.

use super::code::{Code, Function, FunctionId, Places, R_CALL};
use super::core::{Core, KSYM};
use super::elf::{Elf, Home, Relocation, Symbol};
use super::error::LoadError;
use super::maps::{Declared, Found, Maps};
use crate::Insn;
use crate::insn::{CALL, LD_IMM64, POISON_KFUNC, is_poison, kfunc_number, pseudo};

/// `R_BPF_64_64`: both halves of a 64-bit immediate.
const R_IMM64: u32 = 1;

/// A function whose references are resolved; calls are bound when it is linked.
pub(super) struct Body {
    /// Its instructions.
    pub insns: Vec<Insn>,
    /// Slots that refer to functions: calls and addresses, by rising slot.
    pub calls: Vec<(u32, FunctionId)>,
}

/// What functions are relocated with.
pub(super) struct Relocator<'e, 'a> {
    /// The object.
    pub elf: &'e Elf<'a>,
    /// Its functions.
    pub code: &'e Code<'a>,
    /// Its maps.
    pub maps: &'e Maps,
    /// Places for refusals.
    pub places: &'e Places<'e, 'a>,
    /// CO-RE relocations.
    pub core: &'e Core<'e, 'a>,
    /// Which helpers there are.
    pub has_helper: &'e dyn Fn(i32) -> bool,
}

impl Relocator<'_, '_> {
    /// Resolves one function, or says what cannot be run in it.
    pub fn body(&self, function: &Function<'_>) -> Result<Body, LoadError> {
        let mut body = Body { insns: self.code.body(function).to_vec(), calls: Vec::new() };
        self.core.apply(function, &mut body.insns)?;
        let relocations = &self.elf.sections[function.section].relocations;
        let (from, to) = (u64::from(function.start) * 8, u64::from(function.start + function.len) * 8);
        let first = relocations.partition_point(|r| r.offset < from);
        let last = relocations.partition_point(|r| r.offset < to);
        let mut relocations = relocations[first..last].iter().peekable();
        let mut slot = 0;
        while slot < function.len {
            let mut relocation = None;
            while let Some(found) = relocations.next_if(|r| r.offset < from + u64::from(slot + 1) * 8) {
                if found.offset % 8 != 0 || relocation.is_some() || found.offset < from + u64::from(slot) * 8 {
                    let found = format!("of byte {} in the section", found.offset);
                    let place = self.places.of(function, Some(slot));
                    return Err(LoadError::Relocation { place, found, expected: "one at the start of an instruction" });
                }
                relocation = Some(found);
            }
            slot += self.instruction(function, slot, relocation, &mut body)?;
        }
        Ok(body)
    }

    /// Resolves one instruction; returns how many slots it has.
    fn instruction(
        &self,
        function: &Function<'_>,
        slot: u32,
        relocation: Option<&Relocation>,
        body: &mut Body,
    ) -> Result<u32, LoadError> {
        let place = || self.places.of(function, Some(slot));
        let insn = body.insns[slot as usize];
        match (insn.op, relocation) {
            (LD_IMM64, _) => {
                if body.insns.get(slot as usize + 1).is_none_or(|i| i.op != 0) {
                    return Err(LoadError::Code {
                        place: place().to_string(),
                        found: "a 64-bit immediate without its second half".to_string(),
                        expected: "two slots, the second of opcode 0",
                    });
                }
                match relocation {
                    Some(relocation) => self.immediate(function, slot, relocation, body)?,
                    None => self.plain_immediate(function, slot, body)?,
                }
                Ok(2)
            }
            (CALL, relocation) => self.call(function, slot, relocation, body).map(|()| 1),
            (op, None) if op & 7 == 0 && matches!(op & 0xe0, 0x20 | 0x40) => {
                Err(LoadError::PacketAccess { place: place(), op })
            }
            (_, None) => Ok(1),
            (op, Some(relocation)) => Err(LoadError::Relocation {
                place: place(),
                found: format!("{} of opcode {op:#04x}", relocation.kind),
                expected: "64-bit immediates and calls only",
            }),
        }
    }

    /// A 64-bit immediate with a relocation.
    fn immediate(
        &self,
        function: &Function<'_>,
        slot: u32,
        relocation: &Relocation,
        body: &mut Body,
    ) -> Result<(), LoadError> {
        let place = || self.places.of(function, Some(slot));
        if relocation.kind != R_IMM64 {
            let found = format!("{} of a 64-bit immediate", relocation.kind);
            return Err(LoadError::Relocation { place: place(), found, expected: "1 (R_BPF_64_64)" });
        }
        let symbol = &self.elf.symbols[relocation.symbol];
        if let Some(number) = self.kfunc(symbol) {
            // An address that no program reads: it only is not 0.
            let at = slot as usize;
            body.insns[at] = Insn { src: pseudo::NUMBER, imm: number, ..body.insns[at] };
            body.insns[at + 1].imm = 0;
            return Ok(());
        }
        if self.is_weak_ksym(symbol) {
            // No kernel is here that could have it.
            let at = slot as usize;
            body.insns[at] = Insn { src: pseudo::NUMBER, imm: 0, ..body.insns[at] };
            body.insns[at + 1].imm = 0;
            return Ok(());
        }
        let section = self.section(function, slot, symbol)?;
        let (at, addend) = (slot as usize, body.insns[slot as usize].imm);
        let byte = symbol.value.wrapping_add(i64::from(addend) as u64);
        if self.elf.sections[section].is_code {
            let target = byte.is_multiple_of(8).then(|| u32::try_from(byte / 8).ok()).flatten();
            let target = target.and_then(|t| self.code.at(section, t)).ok_or_else(|| LoadError::Call {
                place: place(),
                found: format!("byte {byte} of section `{}`", self.elf.sections[section].name),
            })?;
            body.calls.push((slot, target));
            body.insns[at] = Insn { src: pseudo::FUNCTION, imm: 0, ..body.insns[at] };
            body.insns[at + 1].imm = 0;
            return Ok(());
        }
        let (map, src, offset) = match self.maps.at(section, byte) {
            Some(Found::Map(map)) => (map, pseudo::MAP, 0),
            // The whole value may be addressed, and its end.
            Some(Found::Value(map, byte)) if byte <= map.size => (map, pseudo::MAP_VALUE, byte as u32),
            Some(Found::Value(map, byte)) => {
                let found = format!("byte {} of the {} bytes of `{}`", byte as i64, map.size, map.name);
                return Err(LoadError::Target { place: place(), found, expected: "a byte inside of it" });
            }
            None => {
                let found = format!("byte {byte} of section `{}`", self.elf.sections[section].name);
                return Err(LoadError::Target { place: place(), found, expected: "a map, data or a function" });
            }
        };
        let index = self.usable(map).map_err(|error| LoadError::UsesRefused { place: place(), error })?;
        body.insns[at] = Insn { src, imm: index, ..body.insns[at] };
        body.insns[at + 1].imm = offset as i32;
        Ok(())
    }

    /// Index of a map in the image, or why there is none.
    fn usable(&self, map: &Declared) -> Result<i32, Box<LoadError>> {
        match &map.spec {
            Ok(_) => Ok(map.index as i32),
            Err(error) => Err(Box::new(error.clone())),
        }
    }

    /// A 64-bit immediate that stands as it is.
    fn plain_immediate(&self, function: &Function<'_>, slot: u32, body: &mut Body) -> Result<(), LoadError> {
        let insn = body.insns[slot as usize];
        let refuse = |what, expected| {
            let place = self.places.of(function, Some(slot));
            Err(LoadError::Immediate { place, source_register: insn.src, what, expected })
        };
        match insn.src {
            pseudo::NUMBER => Ok(()),
            pseudo::FUNCTION => self.local(function, slot, body),
            1 | 2 => refuse("a map by file descriptor", "a relocation that names the map"),
            3 => refuse("a kernel variable by BTF ID", "numbers, maps, data and functions of the object"),
            pseudo::MAP | pseudo::MAP_VALUE => {
                let offset = u64::from(body.insns[slot as usize + 1].imm as u32);
                match self.maps.made(insn.imm) {
                    Some(_) if insn.src == pseudo::MAP => Ok(()),
                    Some(map) if map.is_data && offset <= map.size => Ok(()),
                    _ => refuse("a map by index", "the index of a map of the object"),
                }
            }
            _ => refuse("unknown", "0 to 6"),
        }
    }

    fn call(
        &self,
        function: &Function<'_>,
        slot: u32,
        relocation: Option<&Relocation>,
        body: &mut Body,
    ) -> Result<(), LoadError> {
        let place = || self.places.of(function, Some(slot));
        let insn = body.insns[slot as usize];
        let Some(relocation) = relocation else {
            return match insn.src {
                pseudo::LOCAL => self.local(function, slot, body),
                pseudo::HELPER if (self.has_helper)(insn.imm) || is_poison(insn.imm) => Ok(()),
                pseudo::HELPER => {
                    let name = super::names::helper(insn.imm);
                    Err(LoadError::Helper { place: place(), id: insn.imm, name })
                }
                2 => Err(LoadError::Kfunc { place: place(), name: format!("BTF ID {}", insn.imm) }),
                _ => {
                    let found = format!("by source register {}", insn.src);
                    Err(LoadError::Call { place: place(), found })
                }
            };
        };
        let symbol = &self.elf.symbols[relocation.symbol];
        if let Some(number) = self.kfunc(symbol) {
            body.insns[slot as usize] = Insn { src: pseudo::HELPER, imm: number, ..insn };
            return Ok(());
        }
        if self.is_weak_ksym(symbol) {
            body.insns[slot as usize] = Insn { src: pseudo::HELPER, imm: POISON_KFUNC, ..insn };
            return Ok(());
        }
        if symbol.home == Home::Undefined && !symbol.name.is_empty() {
            return Err(LoadError::Kfunc { place: place(), name: symbol.name.to_string() });
        }
        if relocation.kind != R_CALL || insn.src != pseudo::LOCAL {
            let found = format!("{} of a call with source register {}", relocation.kind, insn.src);
            return Err(LoadError::Relocation { place: place(), found, expected: "10 (R_BPF_64_32) of a local call" });
        }
        let section = self.section(function, slot, symbol)?;
        let target = (symbol.value / 8) as i64 + i64::from(insn.imm) + 1;
        self.bind(function, slot, section, target, body)
    }

    /// A call or address relative to the instruction, inside of the section.
    fn local(&self, function: &Function<'_>, slot: u32, body: &mut Body) -> Result<(), LoadError> {
        let target = i64::from(function.start) + i64::from(slot) + i64::from(body.insns[slot as usize].imm) + 1;
        self.bind(function, slot, function.section, target, body)
    }

    fn bind(
        &self,
        function: &Function<'_>,
        slot: u32,
        section: usize,
        target: i64,
        body: &mut Body,
    ) -> Result<(), LoadError> {
        let found = u32::try_from(target).ok().and_then(|t| self.code.at(section, t));
        let found = found.ok_or_else(|| LoadError::Call {
            place: self.places.of(function, Some(slot)),
            found: format!("instruction {target} of section `{}`", self.elf.sections[section].name),
        })?;
        body.calls.push((slot, found));
        Ok(())
    }

    /// Our number of a kernel function that there is here.
    fn kfunc(&self, symbol: &Symbol<'_>) -> Option<i32> {
        let name = symbol.name.strip_prefix("bpf_").filter(|_| symbol.home == Home::Undefined)?;
        kfunc_number(name).filter(|number| (self.has_helper)(*number))
    }

    /// Whether a symbol is one of a kernel's that may be missing.
    fn is_weak_ksym(&self, symbol: &Symbol<'_>) -> bool {
        symbol.home == Home::Undefined && symbol.is_weak && self.core.extern_kind(symbol.name) == KSYM
    }

    /// The section of a relocation's symbol.
    fn section(&self, function: &Function<'_>, slot: u32, symbol: &Symbol<'_>) -> Result<usize, LoadError> {
        let place = || self.places.of(function, Some(slot));
        match symbol.home {
            Home::Section(section) => Ok(section),
            Home::Undefined if !symbol.name.is_empty() => {
                let kind = self.core.extern_kind(symbol.name);
                Err(LoadError::Extern { place: place(), kind, name: symbol.name.to_string() })
            }
            _ => Err(LoadError::Target {
                place: place(),
                found: format!("symbol `{}` that is in no section", symbol.name),
                expected: "a map, data or a function (`-fno-common`)",
            }),
        }
    }
}
