//! `--trace`: every instruction of a packet, with what it changed.

use serde_json::{Value, json};
use sluice_ebpf::insn;
use sluice_ebpf::vm::{Access, At, Installed, Outcome, Tracer};
use sluice_ebpf::{Image, Program, Runtime};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One executed instruction.
struct Step {
    at: At,
    accesses: Vec<(Access, u64, u32)>,
    /// Registers that hold something else now.
    changed: Vec<(u8, u64)>,
}

/// Writes down a run.
pub struct Trace<'a> {
    programs: Programs<'a>,
    steps: RefCell<Vec<Step>>,
    before: RefCell<[u64; 16]>,
}

/// The programs of an image by the runtime's numbers.
pub struct Programs<'a> {
    numbers: BTreeMap<u32, usize>,
    image: &'a Image,
}

impl<'a> Programs<'a> {
    /// Those of an image that is installed.
    pub fn of(runtime: &Runtime, installed: Installed, image: &'a Image) -> Self {
        let number = |program: usize| Some((runtime.program_number(installed, program)?, program));
        Self { numbers: (0..image.programs.len()).filter_map(number).collect(), image }
    }

    /// The program with this number.
    pub fn get(&self, number: u32) -> Option<&'a Program> {
        self.numbers.get(&number).map(|program| &self.image.programs[*program])
    }

    /// A map's name.
    pub fn map(&self, index: u32) -> String {
        self.image.maps.get(index as usize).map_or(String::new(), |map| map.name.clone())
    }
}

/// Registers with their values, as JSON.
pub fn registers(changed: &[(u8, u64)]) -> Value {
    let named = changed.iter().map(|(register, value)| (format!("r{register}"), json!(format!("{value:#x}"))));
    Value::Object(named.collect())
}

/// The end of a packet's trace.
pub fn end(outcome: &Outcome) -> String {
    let mut text = String::new();
    if let Some(fault) = &outcome.fault {
        let _ = writeln!(text, "  fault at {}:{}: {}", fault.program, fault.pc, fault.reason);
    }
    let _ = writeln!(text, "  {}, {} instructions", outcome.verdict.name(), outcome.instructions);
    text
}

impl<'a> Trace<'a> {
    /// For the programs of an image.
    pub fn of(runtime: &Runtime, installed: Installed, image: &'a Image) -> Self {
        let programs = Programs::of(runtime, installed, image);
        Self { programs, steps: RefCell::default(), before: RefCell::new([0; 16]) }
    }

    /// The instruction of a step.
    fn instruction(&self, at: At, program: &Program) -> String {
        let slot = at.pc as usize;
        let kind = program.insns.get(slot).and_then(|i| i.kind(program.insns.get(slot + 1).copied()).ok());
        kind.map_or("?".to_owned(), |kind| insn::text(kind, &|index| self.programs.map(index)))
    }

    /// What was written down, with the packet's number and its verdict.
    pub fn text(&self, packet: u64, outcome: &Outcome) -> String {
        let mut text = format!("packet {packet}\n");
        for step in self.steps.borrow().iter() {
            let Some(program) = self.programs.get(step.at.program) else { continue };
            if let Some(line) = program.lines.get(&step.at.pc) {
                let _ = writeln!(text, "; {}:{}: {}", line.file, line.line, line.text.trim());
            }
            let (indent, shown) = ("  ".repeat(step.at.frame as usize), self.instruction(step.at, program));
            let _ = writeln!(text, "  {indent}{}: {shown}", step.at.pc);
            for (kind, address, bytes) in &step.accesses {
                let _ = writeln!(text, "        {kind:?} of {bytes} at {address:#x}");
            }
            for (register, value) in &step.changed {
                let _ = writeln!(text, "        r{register} = {value:#x}");
            }
        }
        text + &end(outcome)
    }

    /// The same as an object.
    pub fn json(&self, packet: u64, outcome: &Outcome) -> Value {
        let step = |step: &Step| {
            let program = self.programs.get(step.at.program);
            let line = program.and_then(|program| program.line_of(step.at.pc));
            let access = |(kind, address, bytes): &(Access, u64, u32)| json!({ "kind": format!("{kind:?}").to_lowercase(), "address": format!("{address:#x}"), "bytes": bytes });
            json!({
                "program": program.map(|program| &program.name), "slot": step.at.pc, "frame": step.at.frame,
                "ebpf": program.map(|program| self.instruction(step.at, program)),
                "file": line.map(|line| &line.file), "line": line.map(|line| line.line),
                "accesses": step.accesses.iter().map(access).collect::<Vec<_>>(),
                "registers": registers(&step.changed),
            })
        };
        let steps: Vec<Value> = self.steps.borrow().iter().map(step).collect();
        let fault = outcome.fault.as_ref().map(|f| format!("{} at {}:{}", f.reason, f.program, f.pc));
        json!({ "packet": packet, "verdict": outcome.verdict.name(), "fault": fault, "instructions": steps })
    }
}

impl Tracer for Trace<'_> {
    fn before(&self, at: At, registers: &[u64; 16]) {
        *self.before.borrow_mut() = *registers;
        self.steps.borrow_mut().push(Step { at, accesses: Vec::new(), changed: Vec::new() });
    }

    fn access(&self, kind: Access, address: u64, bytes: u32) {
        if let Some(step) = self.steps.borrow_mut().last_mut() {
            step.accesses.push((kind, address, bytes));
        }
    }

    fn after(&self, _: At, registers: &[u64; 16]) {
        let before = self.before.borrow();
        let changed = (0..11u8).map(|r| (r, registers[usize::from(r)]));
        if let Some(step) = self.steps.borrow_mut().last_mut() {
            step.changed.extend(changed.filter(|(r, now)| before[usize::from(*r)] != *now));
        }
    }
}
