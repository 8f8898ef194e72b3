//! `--trace`: every instruction of a packet, with what it changed.

use sluice_ebpf::insn;
use sluice_ebpf::vm::{Access, At, Installed, Outcome, Tracer};
use sluice_ebpf::{Image, Runtime};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Writes down a run.
pub struct Trace<'a> {
    programs: BTreeMap<u32, usize>,
    image: &'a Image,
    text: RefCell<String>,
    before: RefCell<[u64; 16]>,
}

impl<'a> Trace<'a> {
    /// For the programs of an image.
    pub fn of(runtime: &Runtime, installed: Installed, image: &'a Image) -> Self {
        let number = |program: usize| Some((runtime.program_number(installed, program)?, program));
        let programs = (0..image.programs.len()).filter_map(number).collect();
        Self { programs, image, text: RefCell::default(), before: RefCell::new([0; 16]) }
    }

    /// What was written down, with the packet's number and its verdict.
    pub fn text(&self, packet: u64, outcome: &Outcome) -> String {
        let mut text = format!("packet {packet}\n{}", self.text.borrow());
        if let Some(fault) = &outcome.fault {
            let _ = writeln!(text, "  fault at {}:{}: {}", fault.program, fault.pc, fault.reason);
        }
        let _ = writeln!(text, "  {}, {} instructions", outcome.verdict.name(), outcome.instructions);
        text
    }
}

impl Tracer for Trace<'_> {
    fn before(&self, at: At, registers: &[u64; 16]) {
        *self.before.borrow_mut() = *registers;
        let Some(program) = self.programs.get(&at.program).map(|p| &self.image.programs[*p]) else { return };
        let map = |index: u32| self.image.maps.get(index as usize).map_or(String::new(), |m| m.name.clone());
        let slot = at.pc as usize;
        let kind = program.insns.get(slot).and_then(|i| i.kind(program.insns.get(slot + 1).copied()).ok());
        let shown = kind.map_or("?".to_owned(), |kind| insn::text(kind, &map));
        let mut text = self.text.borrow_mut();
        if let Some(line) = program.lines.get(&at.pc) {
            let _ = writeln!(text, "; {}:{}: {}", line.file, line.line, line.text.trim());
        }
        let _ = writeln!(text, "  {}{}: {shown}", "  ".repeat(at.frame as usize), at.pc);
    }

    fn access(&self, kind: Access, address: u64, bytes: u32) {
        let _ = writeln!(self.text.borrow_mut(), "        {kind:?} of {bytes} at {address:#x}");
    }

    fn after(&self, _: At, registers: &[u64; 16]) {
        let before = self.before.borrow();
        for register in (0..11).filter(|r| before[*r] != registers[*r]) {
            let _ = writeln!(self.text.borrow_mut(), "        r{register} = {:#x}", registers[register]);
        }
    }
}
