//! `--trace` with `--device bundles`: every bundle of a packet beside its source, with what it changed.

use super::trace::{Programs, end, registers};
use serde_json::{Value, json};
use sluice_ebpf::Program;
use sluice_ebpf::vm::Outcome;
use sluice_hxdp::{Bundle, Cores, Step, Visit, listing};
use std::fmt::Write;

/// What a packet executed, and what can name it.
pub struct BundleTrace<'a> {
    programs: Programs<'a>,
    cores: &'a Cores,
    visits: Vec<Visit>,
}

impl<'a> BundleTrace<'a> {
    /// Of the packet that the cores executed last.
    pub fn of(programs: Programs<'a>, cores: &'a Cores) -> Self {
        Self { programs, cores, visits: cores.take_visits() }
    }

    /// A visit's program and row.
    fn found(&self, visit: &Visit) -> Option<(&'a Program, &'a Bundle)> {
        let bundle = self.cores.bundles(visit.program)?.rows.get(visit.row as usize)?;
        Some((self.programs.get(visit.program)?, bundle))
    }

    fn does(&self, step: &Step) -> String {
        listing::text(&step.op, &|index| self.programs.map(index))
    }

    /// A row a line and lane, under the source line that it is from.
    pub fn text(&self, packet: u64, outcome: &Outcome) -> String {
        let mut text = format!("packet {packet}\n");
        let mut last = None;
        for visit in &self.visits {
            let Some((program, bundle)) = self.found(visit) else { continue };
            for (lane, step) in bundle.lanes.iter().enumerate() {
                let line = program.line_of(step.slot);
                if let Some(line) = line.filter(|line| last != Some((&line.file, line.line))) {
                    let _ = writeln!(text, "; {}:{}: {}", line.file, line.line, line.text.trim());
                    last = Some((&line.file, line.line));
                }
                let number = if lane == 0 { format!("{:5}", visit.row) } else { " ".repeat(5) };
                let squashed = if lane < visit.lanes { "" } else { "  squashed" };
                let indent = "  ".repeat(visit.frame);
                let _ = writeln!(text, "{number} {indent}.{lane}  {:40} [{}]{squashed}", self.does(step), step.slot);
            }
            for (register, value) in &visit.changed {
                let _ = writeln!(text, "        r{register} = {value:#x}");
            }
        }
        let _ = writeln!(text, "  {} bundles", self.visits.len());
        text + &end(outcome)
    }

    /// The same as an object.
    pub fn json(&self, packet: u64, outcome: &Outcome) -> Value {
        let bundle = |visit: &Visit| {
            let (program, bundle) = self.found(visit)?;
            let lane = |(lane, step): (usize, &Step)| {
                let line = program.line_of(step.slot);
                json!({ "does": self.does(step), "slot": step.slot, "file": line.map(|line| &line.file),
                        "line": line.map(|line| line.line), "squashed": lane >= visit.lanes })
            };
            let lanes: Vec<Value> = bundle.lanes.iter().enumerate().map(lane).collect();
            Some(json!({ "program": program.name, "row": visit.row, "frame": visit.frame, "lanes": lanes,
                         "registers": registers(&visit.changed) }))
        };
        let bundles: Vec<Value> = self.visits.iter().filter_map(bundle).collect();
        let fault = outcome.fault.as_ref().map(|f| format!("{} at {}:{}", f.reason, f.program, f.pc));
        json!({ "packet": packet, "verdict": outcome.verdict.name(), "fault": fault, "bundles": bundles })
    }
}
