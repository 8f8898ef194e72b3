//! Stores two registers at once, and loads two at once, where memory is what a trace waits for.
//!
//! Before: `*(u32 *)(r10 -16) = r1; *(u32 *)(r10 -12) = r2`, as keys and headers are made. After: `r3 = r1 | r2 << 32; *(u64 *)(r10 -16) = r3`: a bundle has one
//! access, and a lane that is free beside it. In the same way `r1 = *(u16 *)(r6 +0); r2 = *(u16 *)(r6 +2)` becomes one load, and a mask and a shift. Nothing between touches these
//! bytes, faults or leads elsewhere. Each is done only if the trace has fewer bundles then, or as many and waits for a value less. Needs: the region analysis; `join`, which has
//! taken plain copies. Leaves alone: accesses that may fault.

use super::liveness::Liveness;
use super::schedule::Cost;
use super::traces::LONGEST;
use super::{Code, Trace};
use crate::effect::{Effect, PACKET, SHARED, STACK};
use crate::op::{CORE, NAMES};
use crate::{Op, Step};
use sluice_ebpf::analysis::Regions;
use sluice_ebpf::insn::{AluOp, Operand};

/// Most instructions from one access to the other.
const WINDOW: usize = 32;
/// Most tries in a trace.
const TRIES: usize = 96;

/// Rewrites every trace; `most` says how often at most.
pub fn packs(code: &mut Code, most: &dyn Fn(u32) -> Option<usize>) {
    let live = Liveness::of(code);
    let regions = &code.regions;
    let Some(cost) = Cost::new(regions, &live, &code.leaving) else { return };
    for (label, trace) in code.traces.iter_mut().filter(|(_, trace)| trace.steps.len() <= LONGEST) {
        let mut left = most(*label).unwrap_or(TRIES);
        let mut tries = 0;
        let mut best = None;
        let mut first = 0;
        while first < trace.steps.len() && tries < TRIES && left > 0 {
            let found = [stores(&trace.steps, first, regions), loads(&trace.steps, first, regions, &live)];
            let mut taken = false;
            for (steps, equal) in found.into_iter().flatten() {
                let tried = Trace { steps, next: trace.next };
                let before = *best.get_or_insert_with(|| cost.of(trace));
                let after = cost.of(&tried);
                tries += 1;
                if after < before || equal && after == before {
                    (*trace, best, taken) = (tried, Some(after), true);
                    left -= 1;
                    break;
                }
            }
            first += usize::from(!taken);
        }
    }
}

/// A register that holds nothing in front of an instruction: of these the one that nobody uses for longest around it. Those that no core has
/// hold values of one trace only.
fn free_at(steps: &[Step], at: usize) -> Option<u8> {
    let touches = |step: &Step, name: u8| (step.op.reads() | step.op.writes()) >> name & 1 == 1;
    let distance = |name: u8| {
        let behind = steps[at..].iter().position(|step| touches(step, name));
        let read = behind.is_some_and(|distance| steps[at + distance].op.reads() >> name & 1 == 1);
        let before = steps[..at].iter().rev().position(|step| touches(step, name));
        (!read).then(|| before.unwrap_or(steps.len()).min(behind.unwrap_or(steps.len())))
    };
    let names = (CORE as u8..NAMES as u8).filter_map(|name| Some((distance(name)?, std::cmp::Reverse(name))));
    names.max().map(|(_, std::cmp::Reverse(name))| name)
}

/// Whether an access surely is in one kind of memory, and does not fault.
fn is_sure(step: &Step, regions: &Regions) -> Option<u8> {
    let effect = Effect::of(step, regions);
    let space = effect.loads | effect.stores;
    (regions.complete && !effect.may_fault && matches!(space, STACK | PACKET | SHARED)).then_some(space)
}

/// The trace with the store at an index and a later one as one, in the place of the later one.
fn stores(steps: &[Step], first: usize, regions: &Regions) -> Option<(Vec<Step>, bool)> {
    let Op::Store { bytes: bytes @ (2 | 4), base, off, src: Operand::Reg(src) } = steps[first].op else { return None };
    let space = is_sure(&steps[first], regions).filter(|space| *space != SHARED)?;
    let own = Effect::of(&steps[first], regions);
    for second in first + 1..steps.len().min(first + 1 + WINDOW) {
        let step = &steps[second];
        let (op, effect) = (&step.op, Effect::of(step, regions));
        if let Op::Store { bytes: also, base: other, off: at, src: Operand::Reg(behind) } = *op
            && also == bytes
            && other == base
            && (i32::from(at) - i32::from(off)).abs() == i32::from(bytes)
            && is_sure(step, regions) == Some(space)
        {
            let name = free_at(steps, second)?;
            let (low, high, slot) = if off < at { (src, behind, steps[first].slot) } else { (behind, src, step.slot) };
            let pack = Op::Pack { dst: name, low, high, bits: 8 * bytes };
            let store = Op::Store { bytes: 2 * bytes, base, off: off.min(at), src: Operand::Reg(name) };
            let mut made = steps.to_vec();
            made[second] = Step { slot, op: store };
            made.insert(second, Step { slot: step.slot, op: pack });
            made.remove(first);
            return Some((made, false));
        }
        let leads = op.branch().is_some() || op.is_last();
        if leads || op.is_barrier() || effect.conflicts(&own) || effect.writes & (1 << base | 1 << src) != 0 {
            return None;
        }
    }
    None
}

/// The trace with the load at an index and a later one as one, in the place of the earlier one; and whether that is worth it if the trace is as long then.
fn loads(steps: &[Step], first: usize, regions: &Regions, live: &Liveness) -> Option<(Vec<Step>, bool)> {
    let part = |step: &Step| match step.op {
        Op::Load { bytes, signed: false, dst, base, off, quiet: false } if dst != base => {
            is_sure(step, regions).map(|space| (bytes, dst, base, off, space))
        }
        _ => None,
    };
    let (bytes, dst, base, off, space) = part(&steps[first])?;
    for second in first + 1..steps.len().min(first + 1 + WINDOW) {
        let step = &steps[second];
        let effect = Effect::of(step, regions);
        if let Some((also, other, from, at, _)) = part(step).filter(|(.., of, _, there)| *of == base && *there == space)
            && other != dst
        {
            let low_first = off.checked_add(bytes.into()) == Some(at);
            let high_first = at.checked_add(also.into()) == Some(off);
            let between = &steps[first + 1..second];
            let touches = |step: &Step| {
                let leaves = step.op.branch().map_or(0, |to| live.at(to));
                (step.op.reads() | step.op.writes() | leaves) >> other & 1 == 1
            };
            let low = if low_first { bytes } else { also };
            if (low_first || high_first)
                && matches!(bytes + also, 2 | 4 | 6 | 8)
                && low <= 4
                && !between.iter().any(touches)
            {
                let slot = if low_first { steps[first].slot } else { step.slot };
                let load = Op::Load {
                    bytes: bytes + also,
                    signed: false,
                    dst: other,
                    base: from,
                    off: off.min(at),
                    quiet: false,
                };
                let take = |dst: u8, is_low: bool| match (is_low, low) {
                    (false, _) => {
                        let right = Operand::Imm(8 * i32::from(low));
                        Op::Alu { op: AluOp::Rsh, wide: true, dst, a: other, b: right }
                    }
                    (true, 4) => Op::Move { wide: false, dst, src: Operand::Reg(other) },
                    (true, bytes) => {
                        let mask = Operand::Imm((1 << (8 * u32::from(bytes))) - 1);
                        Op::Alu { op: AluOp::And, wide: true, dst, a: other, b: mask }
                    }
                };
                let mut made = steps.to_vec();
                made[second] = Step { slot: step.slot, op: take(other, high_first) };
                made[first] = Step { slot: steps[first].slot, op: take(dst, low_first) };
                made.insert(first, Step { slot, op: load });
                return Some((made, space == SHARED));
            }
        }
        let own = Effect::of(&steps[first], regions);
        let seen = space == SHARED && (effect.shared || effect.may_fault);
        if seen
            || step.op.is_barrier()
            || effect.stores & (own.loads | own.stores) != 0
            || effect.writes >> base & 1 == 1
        {
            return None;
        }
    }
    None
}
