//! Counts and tests without a branch where there may be nothing to count or to test.
//!
//! Before: `if r0 == 0 goto L; add((u64 *)(r0 +0), 1); exit 2`, and `L: exit 2`, as programs end that count what they did. After:
//! `add(?(u64 *)(r0 +0), 1); exit 2`: a quiet sum does nothing where its base is 0. And `if r0 == 0 goto L; r1 = *(u32 *)(r0 +0); if !(r1 & 1) goto L`, with nothing
//! between, becomes `r1 = ?*(u32 *)(r0 +0); if !(r1 & 1) goto L`: a quiet load gives 0 there. Needs: `exits`, `pairs`, the region analysis. Leaves alone:
//! branches behind which anything else happens, or another verdict is given.

use super::liveness::Liveness;
use super::{Code, Trace};
use crate::alu::holds;
use crate::effect::{Effect, SHARED};
use crate::{Op, Step};
use sluice_ebpf::analysis::Regions;
use sluice_ebpf::insn::{Cond, Operand};
use std::collections::BTreeMap;

/// Rewrites every trace.
pub fn nulls(code: &mut Code) {
    // Of an exit with a number it does not matter what is computed before.
    let ends = |trace: &Trace| match trace.steps[..] {
        [Step { op: op @ Op::Exit { .. }, .. }] => Some(op),
        [ref before @ .., Step { op: op @ Op::Exit { value: Some(Operand::Imm(_)), .. }, .. }] => {
            before.iter().all(|step| step.op.is_pure()).then_some(op)
        }
        _ => None,
    };
    let exits: BTreeMap<u32, Op> =
        code.traces.iter().filter_map(|(label, trace)| Some((*label, ends(trace)?))).collect();
    let live = Liveness::of(code);
    let regions = &code.regions;
    for trace in code.traces.values_mut() {
        let mut index = 0;
        while index < trace.steps.len() {
            if let Some(load) = tests_what_it_loads(&trace.steps, index, regions, &live) {
                if let Op::Load { quiet, .. } = &mut trace.steps[load].op {
                    *quiet = true;
                }
                trace.steps.remove(index);
                continue;
            }
            if is_needless(&trace.steps, index, &exits, regions) {
                trace.steps.remove(index);
                for step in &mut trace.steps[index..] {
                    if let Op::Atomic { quiet, .. } | Op::AddPair { quiet, .. } = &mut step.op {
                        *quiet = true;
                    }
                }
            }
            index += 1;
        }
    }
}

/// The register that a branch tests for nothing being found, and where it leads then.
fn finds_nothing(op: &Op) -> Option<(u8, u32)> {
    match *op {
        Op::Branch { cond: Cond::Eq, wide: true, a, b: Operand::Imm(0), to, back: false } => Some((a, to)),
        _ => None,
    }
}

/// The load behind a branch at an index whose zero leads where the branch does.
fn tests_what_it_loads(steps: &[Step], index: usize, regions: &Regions, live: &Liveness) -> Option<usize> {
    let (found, to) = finds_nothing(&steps[index].op)?;
    let mut load = None;
    for (at, step) in steps.iter().enumerate().skip(index + 1) {
        let zero_leads = |wide: bool, cond: Cond, b: Operand| match b {
            Operand::Imm(b) => holds(cond, wide, 0, b as i64 as u64),
            Operand::Reg(_) => false,
        };
        match (step.op, load) {
            (Op::Branch { cond, wide, a, b, to: also, back: false }, Some((at, dst))) => {
                return (a == dst && also == to && zero_leads(wide, cond, b)).then_some(at);
            }
            (Op::Clear { a, to: also, back: false, .. }, Some((at, dst))) => {
                return (a == dst && also == to).then_some(at);
            }
            (Op::Load { dst, base, quiet: false, .. }, None) if base == found && dst != found => {
                let effect = Effect::of(step, regions);
                if !regions.complete || effect.may_fault || effect.loads != SHARED {
                    return None;
                }
                load = Some((at, dst));
            }
            (op, load) => {
                let kept = 1 << found | load.map_or(0, |(_, dst)| 1 << dst);
                if !op.is_pure() || op.writes() & kept != 0 {
                    return None;
                }
            }
        }
        if step.op.writes() & live.at(to) != 0 {
            return None;
        }
    }
    None
}

/// Whether the instruction at an index is a branch for nothing, to where the trace ends in any case, behind sums to what was found.
fn is_needless(steps: &[Step], index: usize, exits: &BTreeMap<u32, Op>, regions: &Regions) -> bool {
    let Some((found, to)) = finds_nothing(&steps[index].op) else { return false };
    let Some((last, between)) = steps[index + 1..].split_last() else { return false };
    let value = match last.op {
        Op::Exit { value: None, .. } => 1,
        Op::Exit { value: Some(Operand::Reg(r)), .. } => 1 << r,
        _ => 0,
    };
    let is_sum = |step: &Step| match step.op {
        Op::Atomic { fetch: false, base, op, .. } => base == found && op != sluice_ebpf::insn::AtomicOp::Cmpxchg,
        Op::AddPair { base, .. } => base == found,
        _ => false,
    };
    let harmless = |step: &Step| {
        let effect = Effect::of(step, regions);
        step.op.is_pure() || is_sum(step) && regions.complete && !effect.may_fault && effect.stores == SHARED
    };
    exits.get(&to) == Some(&last.op)
        && between.iter().all(|step| harmless(step) && step.op.writes() & (1 << found | value) == 0)
}
