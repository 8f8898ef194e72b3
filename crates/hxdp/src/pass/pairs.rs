//! Makes one instruction of two sums to neighbouring words of a map's value.
//!
//! Before: `add((u64 *)(r0 +0), 1); add((u64 *)(r0 +8), r7)`, as packets and bytes are counted. After: `add((u64 *)(r0 +0), 1; r7)`. The first word
//! lies at a multiple of 16 in its value, so both are in one row of memory; one adds a number, the other a register. Both surely lie in the value;
//! between them nothing is seen by others, faults or leads elsewhere. Needs: `adds`, the region analysis. Leaves alone: sums of which the old value is asked for.

use super::Code;
use crate::effect::{Effect, SHARED};
use crate::{Op, Step};
use sluice_ebpf::analysis::{Base, Regions};
use sluice_ebpf::insn::{AtomicOp, Operand};

/// Most instructions from one to the other.
const WINDOW: usize = 16;

/// Rewrites every trace.
pub fn pairs(code: &mut Code) {
    let regions = &code.regions;
    for trace in code.traces.values_mut() {
        let mut first = 0;
        while first < trace.steps.len() {
            if let Some((second, at, pair)) = joined(&trace.steps, first, regions) {
                trace.steps[at] = pair;
                trace.steps.remove(if at == first { second } else { first });
            }
            first += 1;
        }
    }
}

/// A sum: register and offset of its word, and what is added.
fn sum(op: &Op) -> Option<(u8, i16, Operand)> {
    match *op {
        Op::Atomic { bytes: 8, op: AtomicOp::Add, fetch: false, quiet: false, base, off, src } => {
            Some((base, off, src))
        }
        _ => None,
    }
}

/// The other sum's index, that of the two in whose place the pair comes, and the pair.
fn joined(steps: &[Step], first: usize, regions: &Regions) -> Option<(usize, usize, Step)> {
    let (base, off, operand) = sum(&steps[first].op)?;
    let end = steps.len().min(first + 1 + WINDOW);
    let quiet = |index: &usize| {
        let effect = Effect::of(&steps[*index], regions);
        let leads = steps[*index].op.branch().is_some() || steps[*index].op.ends();
        !effect.shared && !effect.may_fault && !leads
    };
    let second = (first + 1..end).find(|index| !quiet(index))?;
    let (other_base, other_off, other) = sum(&steps[second].op)?;
    let (lower, swapped, number, src) = match (i32::from(other_off) - i32::from(off), operand, other) {
        (8, Operand::Imm(number), Operand::Reg(src)) => (first, false, number, src),
        (8, Operand::Reg(src), Operand::Imm(number)) => (first, true, number, src),
        (-8, Operand::Imm(number), Operand::Reg(src)) => (second, true, number, src),
        (-8, Operand::Reg(src), Operand::Imm(number)) => (second, false, number, src),
        _ => return None,
    };
    let there = |index: usize| {
        let effect = Effect::of(&steps[index], regions);
        regions.complete && !effect.may_fault && effect.stores == SHARED
    };
    if base != other_base || !there(first) || !there(second) || !is_even(&steps[lower], regions) {
        return None;
    }
    let keeps = |registers: u64| steps[first + 1..second].iter().all(|step| step.op.writes() & registers == 0);
    let of = |operand| if let Operand::Reg(r) = operand { 1 << r } else { 0 };
    let at = if keeps(1 << base | of(other)) {
        first
    } else if keeps(1 << base | of(operand)) {
        second
    } else {
        return None;
    };
    let op = Op::AddPair { base, off: off.min(other_off), number, src, swapped, quiet: false };
    Some((second, at, Step { slot: steps[lower].slot, op }))
}

/// Whether a word surely lies at a multiple of 16 of a map's value. Such a value has 16 bytes at least, so it lies at a multiple of 16 itself.
fn is_even(step: &Step, regions: &Regions) -> bool {
    let access = regions.slots.get(step.slot as usize).and_then(|at| at.access.as_deref());
    let known = access.filter(|access| matches!(access.address.base, Base::Map(_)));
    known.and_then(|access| access.offsets()).is_some_and(|(low, high)| low == high && low % 16 == 0)
}
