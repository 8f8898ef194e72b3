//! Which registers are read later.

use super::{Code, Trace};
use crate::Op;
use crate::op::Registers;
use std::collections::BTreeMap;

/// Registers that are read from the beginning of each trace on.
#[derive(Clone, Debug, Default)]
pub struct Liveness {
    entries: BTreeMap<u32, Registers>,
}

impl Liveness {
    /// Of a program.
    pub fn of(code: &Code) -> Self {
        let mut live = Self::default();
        loop {
            let mut changed = false;
            for (label, trace) in code.traces.iter().rev() {
                let entry =
                    live.before(code.is_main(*label), trace).first().copied().unwrap_or_else(|| live.end(trace));
                changed |= live.entries.insert(*label, entry) != Some(entry);
            }
            if !changed {
                return live;
            }
        }
    }

    /// At a trace's beginning.
    pub fn at(&self, label: u32) -> Registers {
        self.entries.get(&label).copied().unwrap_or_default()
    }

    fn end(&self, trace: &Trace) -> Registers {
        trace.next.map_or(0, |next| self.at(next))
    }

    /// Before each instruction of a trace.
    pub fn before(&self, is_main: bool, trace: &Trace) -> Vec<Registers> {
        self.walk(is_main, trace).0
    }

    /// Behind each instruction of a trace.
    pub fn behind(&self, is_main: bool, trace: &Trace) -> Vec<Registers> {
        self.walk(is_main, trace).1
    }

    fn walk(&self, is_main: bool, trace: &Trace) -> (Vec<Registers>, Vec<Registers>) {
        let mut live = self.end(trace);
        let (mut before, mut behind) = (vec![0; trace.steps.len()], vec![0; trace.steps.len()]);
        for (index, step) in trace.steps.iter().enumerate().rev() {
            if let Some(to) = step.op.branch() {
                live |= self.at(to);
            }
            match step.op {
                Op::Jump { to, .. } => live = self.at(to),
                // A caller may look at what a function leaves in r1 to r5.
                Op::Exit { .. } => live = if is_main { 0 } else { 0x3e },
                _ => {}
            }
            behind[index] = live;
            live = live & !writes_surely(&step.op) | step.op.reads();
            before[index] = live;
        }
        (before, behind)
    }
}

/// Registers that have another value behind it in any case.
fn writes_surely(op: &Op) -> Registers {
    if op.is_barrier() { 0 } else { op.writes() }
}
