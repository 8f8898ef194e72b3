//! Decides branches by what is known on the way of one trace.
//!
//! Before: a trace that compares the frame's length again, or a register that is known where this trace came from, be it by
//! a branch before that was not taken. After: a
//! branch that is never taken is gone; one that always is ends the trace, which goes on there. Needs: `copies`, which puts
//! numbers and older registers into comparisons; the region analysis. Leaves alone: taken back edges, which count as work.

use super::copies::Facts;
use super::entries::Entries;
use super::{Code, Trace};
use crate::effect::{CONTEXT, Effect};
use crate::{Op, Step};
use sluice_ebpf::address::{MAP_VALUES, RECORDS};
use sluice_ebpf::analysis::Regions;
use sluice_ebpf::analysis::branch::Test;
use sluice_ebpf::analysis::num::Num;
use sluice_ebpf::insn::Operand;
use std::collections::BTreeMap;

/// A length that was compared with the frame's end on this way.
#[derive(Clone, Copy, Debug)]
struct Compared {
    base: Option<u8>,
    bytes: i32,
    /// It was beyond the end.
    beyond: bool,
}

/// Decides in every trace.
pub fn known(code: &mut Code) {
    let entries = Entries::of(code);
    let known = Known { regions: &code.regions, branches: &code.branches };
    for (label, trace) in &mut code.traces {
        decide(trace, entries.at(*label), &known);
    }
}

/// What is known of the program.
struct Known<'a> {
    regions: &'a Regions,
    /// With the registers that `regions` is about.
    branches: &'a BTreeMap<u32, Op>,
}

impl Known<'_> {
    /// What the branch at a slot compares: its first register and its second operand, by their values.
    fn compared(&self, slot: u32) -> Option<(Num, Option<Num>)> {
        let at = self.regions.slots.get(slot as usize).filter(|_| self.regions.complete)?;
        let before = at.before.as_deref()?;
        let number = |r: u8| Some(before.get(usize::from(r))?.as_number());
        match *self.branches.get(&slot)? {
            Op::Branch { a, b: Operand::Reg(b), .. } => Some((number(a)?, number(b))),
            Op::Branch { a, b: Operand::Imm(b), .. } => Some((number(a)?, Some(Num::constant(b as i64 as u64)))),
            Op::Length { base: Some(base), .. } => Some((number(base)?, None)),
            _ => None,
        }
    }

    /// Whether the base of a length branch is an address, or a little before one, so that lengths behind it do not wrap.
    fn is_address(&self, slot: u32, bytes: i32) -> bool {
        let Some(Op::Length { bytes: first, .. }) = self.branches.get(&slot) else { return false };
        let Some((base, _)) = self.compared(slot) else { return false };
        // `copies` may have counted from another register, so much before.
        let before = i64::from(bytes) - i64::from(*first);
        base.whole.umax <= u64::from(u32::MAX) && base.whole.umin >= before.max(0) as u64
    }
}

fn decide(trace: &mut Trace, mut facts: Facts, known: &Known<'_>) {
    let regions = known.regions;
    let mut compared: Vec<Compared> = Vec::new();
    let mut refined = Refined::new();
    let mut index = 0;
    while let Some(step) = trace.steps.get(index) {
        let (op, effect) = (step.op, Effect::of(step, regions));
        match outcome(step, &compared, (&facts, &refined), known) {
            Outcome::Never => {
                trace.steps.remove(index);
                continue;
            }
            Outcome::Always => {
                always(trace, index);
                return;
            }
            Outcome::Refined(register, number) => {
                refined.insert(register, number);
            }
            Outcome::Unknown => {}
        }
        if let Op::Length { base, bytes, within, .. } = op {
            compared.push(Compared { base, bytes, beyond: within });
        }
        refined.retain(|register, _| effect.writes >> register & 1 == 0);
        // Helpers that move the frame's bounds write the context.
        let moved = effect.stores & CONTEXT != 0;
        compared.retain(|c| !moved && c.base.is_none_or(|base| effect.writes >> base & 1 == 0));
        facts.pass(&op);
        index += 1;
    }
}

/// What branches that were not taken say of registers.
type Refined = BTreeMap<u8, Num>;

/// What becomes of a branch.
enum Outcome {
    /// It is never taken.
    Never,
    /// It is taken each time.
    Always,
    /// Where it is not taken, its first operand holds one of these.
    Refined(u8, Num),
    /// Nothing is known, or it is no branch.
    Unknown,
}

/// What is known of a branch.
fn outcome(step: &Step, compared: &[Compared], (facts, refined): (&Facts, &Refined), known: &Known<'_>) -> Outcome {
    let number = |r: u8, found: Option<Num>| {
        let found = match facts.number(r) {
            Some(number) => Num::constant(number as i64 as u64),
            None if facts.is_element(r) => Num::unsigned(MAP_VALUES.into(), u64::from(RECORDS) - 1),
            None => found.unwrap_or_else(Num::unknown),
        };
        refined.get(&r).and_then(|number| found.meet(*number)).unwrap_or(found)
    };
    match step.op {
        Op::Branch { cond, wide, a, b, .. } => {
            let (first, second) = known.compared(step.slot).unzip();
            let right = match b {
                Operand::Reg(b) => number(b, second.flatten()),
                Operand::Imm(b) => Num::constant(b as i64 as u64),
            };
            let left = number(a, first);
            let refine = |test: Test| test.refine(if wide { 64 } else { 32 }, left, right);
            match (refine(Test::of(cond)), refine(Test::of(cond).negated())) {
                (Some(_), None) => Outcome::Always,
                (None, Some(_)) => Outcome::Never,
                (Some(_), Some((left, _))) => Outcome::Refined(a, left),
                (None, None) => Outcome::Unknown,
            }
        }
        Op::Length { base, bytes, within, .. } => {
            // Addresses in the packet region, and small lengths, do not wrap.
            let is_address = base.is_none() || known.is_address(step.slot, bytes);
            let is_ordered = |c: &Compared| c.bytes >= 0 && bytes >= 0 && is_address;
            let same = compared.iter().filter(|c| c.base == base);
            let beyond = same.clone().find_map(|c| match c.beyond {
                false if c.bytes == bytes || is_ordered(c) && bytes < c.bytes => Some(false),
                true if c.bytes == bytes || is_ordered(c) && bytes > c.bytes => Some(true),
                _ => None,
            });
            match beyond {
                Some(beyond) if beyond != within => Outcome::Always,
                Some(_) => Outcome::Never,
                None => Outcome::Unknown,
            }
        }
        _ => Outcome::Unknown,
    }
}

/// Ends a trace with a branch that is always taken.
fn always(trace: &mut Trace, index: usize) {
    trace.steps.truncate(index + 1);
    match trace.steps[index].op {
        Op::Branch { to, back: true, .. } | Op::Clear { to, back: true, .. } | Op::Length { to, back: true, .. } => {
            trace.steps[index].op = Op::Jump { to, back: true };
            trace.next = None;
        }
        Op::Branch { to, .. } | Op::Clear { to, .. } | Op::Length { to, .. } => {
            trace.steps.truncate(index);
            trace.next = Some(to);
        }
        _ => {}
    }
}
