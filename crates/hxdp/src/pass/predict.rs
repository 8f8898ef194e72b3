//! Lets the likely way of each branch be the one that goes on.
//!
//! Before: `if r1 == 8 goto L` with an error's few instructions behind it. After: `if r1 != 8 goto error` with what stood
//! at L behind it, so that the packets that are worth most are led through one long trace. With a profile the likely way is the
//! one that most of its packets went; so says each branch that they came to. For all others there is a fixed rule that knows no
//! packets: the likely way is the one from which the longest way leads to the end; an error is counted and dropped, and
//! that is short. Only what is looked up in a map is taken to be there. Needs: blocks that end with their branches. Leaves alone: back edges, tests of bits, which have no
//! opposite.

use super::Code;
use crate::{Op, Profile};
use sluice_ebpf::analysis::{Base, Regions};
use sluice_ebpf::insn::{Cond, Operand};
use std::collections::BTreeMap;

/// Turns branches whose target is the likely way.
pub fn predict(code: &mut Code, profile: Option<&Profile>) {
    let ways = longest_ways(code);
    let (regions, branches) = (&code.regions, &code.branches);
    let found = |slot: u32| is_looked_up(slot, regions, branches);
    for trace in code.traces.values_mut() {
        let (Some(step), Some(next)) = (trace.steps.last_mut(), trace.next) else { continue };
        let Some(to) = step.op.branch() else { continue };
        let longer = ways.get(&to) > ways.get(&next);
        let slot = step.slot;
        let counted = profile.map(|profile| (profile.taken(slot), profile.hits(slot))).filter(|(_, came)| *came > 0);
        // What is looked up is mostly there.
        let likely = match step.op {
            _ if counted.is_some() => counted.is_some_and(|(taken, came)| taken > came - taken),
            Op::Branch { cond: Cond::Eq, b: Operand::Imm(0), .. } if found(step.slot) => false,
            Op::Branch { cond: Cond::Ne, b: Operand::Imm(0), .. } if found(step.slot) => true,
            _ => longer,
        };
        let opposite = opposite(step.op, next).filter(|_| likely);
        if let Some((taken, came)) = counted {
            let leave = if opposite.is_some() { came - taken } else { taken };
            code.leaving.insert(slot, (leave, came));
        }
        if let Some(opposite) = opposite {
            step.op = opposite;
            trace.next = Some(to);
        }
    }
}

/// Whether the branch at a slot compares what a lookup in a map gave.
fn is_looked_up(slot: u32, regions: &Regions, branches: &BTreeMap<u32, Op>) -> bool {
    let Some(Op::Branch { a, .. }) = branches.get(&slot) else { return false };
    let at = regions.slots.get(slot as usize).filter(|_| regions.complete);
    let Some(before) = at.and_then(|at| at.before.as_deref()) else { return false };
    before.get(usize::from(*a)).is_some_and(|value| value.nullable && matches!(value.base, Base::Map(_)))
}

/// Instructions on the longest way from each block to an end, without back edges.
fn longest_ways(code: &Code) -> BTreeMap<u32, usize> {
    let mut ways: BTreeMap<u32, usize> = BTreeMap::new();
    for (label, trace) in code.traces.iter().rev() {
        // What is not back goes to a greater slot.
        let targets = trace.steps.iter().filter_map(|step| step.op.branch());
        let ahead = targets.chain(trace.next).filter(|to| to > label).filter_map(|to| ways.get(&to)).max();
        ways.insert(*label, trace.steps.len() + ahead.copied().unwrap_or(0));
    }
    ways
}

/// The branch that is taken, to `to`, where this forward one is not.
fn opposite(op: Op, to: u32) -> Option<Op> {
    match op {
        Op::Branch { cond, wide, a, b, back: false, .. } => {
            let cond = match cond {
                Cond::Eq => Cond::Ne,
                Cond::Ne => Cond::Eq,
                Cond::Gt => Cond::Le,
                Cond::Le => Cond::Gt,
                Cond::Ge => Cond::Lt,
                Cond::Lt => Cond::Ge,
                Cond::Sgt => Cond::Sle,
                Cond::Sle => Cond::Sgt,
                Cond::Sge => Cond::Slt,
                Cond::Slt => Cond::Sge,
                Cond::Set => return None,
            };
            Some(Op::Branch { cond, wide, a, b, to, back: false })
        }
        Op::Length { base, bytes, within, back: false, .. } => {
            Some(Op::Length { base, bytes, within: !within, to, back: false })
        }
        _ => None,
    }
}
