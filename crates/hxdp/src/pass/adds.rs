//! Makes atomic operations of plain reads, sums and writes of a map's value.
//!
//! Before: `r1 = *(u64 *)(r0 +0); r1 += 1; *(u64 *)(r0 +0) = r1`, as a counter is written. After: `add(*(u64 *)(r0 +0), 1)`, one
//! instruction, and no other packet comes in between: a program of which no plain read-modify-write of a shared value is
//! left is not flow-serial any more. So with `or`, `and` and `xor`. Both accesses surely lie in the value and are aligned;
//! nothing between them is seen by others or tells when they happened; nobody else reads what was loaded or summed. Needs:
//! `copies`, the region analysis, that each step still is its own slot's. Leaves alone: what is in the value.

use super::liveness::Liveness;
use super::{Code, Trace};
use crate::effect::{Effect, SHARED};
use crate::op::Registers;
use crate::{Op, Step};
use sluice_ebpf::analysis::Regions;
use sluice_ebpf::insn::{AluOp, AtomicOp, Operand};
use std::collections::BTreeSet;

/// Most instructions from the load to the store.
const WINDOW: usize = 16;

/// Rewrites every trace, and sees whether the program still is flow-serial.
pub fn adds(code: &mut Code) {
    let live = Liveness::of(code);
    let main: Vec<bool> = code.traces.keys().map(|label| code.is_main(*label)).collect();
    let regions = &code.regions;
    for (trace, is_main) in code.traces.values_mut().zip(main) {
        let mut store = 0;
        while store < trace.steps.len() {
            match fused(trace, store, regions, &live, &live.behind(is_main, trace)) {
                Some((load, sum, atomic)) => {
                    trace.steps[store] = atomic;
                    trace.steps.remove(sum);
                    trace.steps.remove(load);
                    store -= 1;
                }
                None => store += 1,
            }
        }
    }
    code.flow_serial &= is_flow_serial(code);
}

/// Plain reads of shared values and plain writes behind them, by slot, that are left and can touch the same bytes.
pub fn serial(code: &Code) -> Vec<(u32, u32)> {
    let plain = |step: &&Step| !step.op.is_atomic();
    let slots: BTreeSet<u32> =
        code.traces.values().flat_map(|trace| trace.steps.iter().filter(plain)).map(|step| step.slot).collect();
    let pairs = code.regions.summary.maps.values().flat_map(|used| &used.read_modify_write).copied();
    let left: BTreeSet<_> = pairs.filter(|(read, write)| slots.contains(read) && slots.contains(write)).collect();
    left.into_iter().collect()
}

/// Whether there are any, or accesses that could be.
fn is_flow_serial(code: &Code) -> bool {
    !code.regions.complete || !code.regions.summary.unknown.is_empty() || !serial(code).is_empty()
}

/// Load, sum and atomic operation, if the store at an index ends such three.
fn fused(
    trace: &Trace,
    store: usize,
    regions: &Regions,
    live: &Liveness,
    behind: &[Registers],
) -> Option<(usize, usize, Step)> {
    let steps = &trace.steps;
    let Op::Store { bytes: bytes @ (4 | 8), base, off, src: Operand::Reg(result) } = steps[store].op else {
        return None;
    };
    let first = store.saturating_sub(WINDOW);
    let writes = |index: &usize, r: u8| steps[*index].op.writes() >> r & 1 == 1;
    let sum = (first..store).rev().find(|index| writes(index, result))?;
    let Op::Alu { op, wide, a, b, .. } = steps[sum].op else { return None };
    let load = |loaded: u8| {
        let load = (first..sum).rev().find(|index| writes(index, loaded))?;
        match steps[load].op {
            Op::Load { bytes: also, signed: false, base: from, off: at, .. }
                if (also, from, at) == (bytes, base, off) =>
            {
                Some(load)
            }
            _ => None,
        }
    };
    // Each of these operations gives the same with its operands exchanged.
    let ((load, loaded), operand) = match (load(a), b) {
        (Some(load), operand) => ((load, a), operand),
        (None, Operand::Reg(b)) => ((load(b)?, b), Operand::Reg(a)),
        (None, Operand::Imm(_)) => return None,
    };
    let op = match op {
        AluOp::Add => AtomicOp::Add,
        AluOp::Or => AtomicOp::Or,
        AluOp::And => AtomicOp::And,
        AluOp::Xor => AtomicOp::Xor,
        _ => return None,
    };
    let given: Registers = if let Operand::Reg(r) = operand { 1 << r } else { 0 };
    // Base and operand are the same at the store as they were before.
    let keeps = |from: usize, registers: Registers| (from..store).all(|i| steps[i].op.writes() & registers == 0);
    let own: Registers = 1 << loaded | 1 << result;
    if bytes == 8 && !wide || own & (given | 1 << base) != 0 || behind[store] & own != 0 {
        return None;
    }
    let is_surely_there = |index: usize| {
        let effect = Effect::of(&steps[index], regions);
        let access = regions.slots.get(steps[index].slot as usize).and_then(|at| at.access.as_deref());
        let aligned = access.is_some_and(|access| access.alignment >= bytes.into());
        regions.complete && aligned && !effect.may_fault && effect.loads | effect.stores == SHARED
    };
    let others = (load + 1..store).filter(|index| *index != sum).all(|index| {
        let effect = Effect::of(&steps[index], regions);
        let left = steps[index].op.branch().is_none_or(|to| live.at(to) & own == 0);
        left && !effect.shared && !effect.may_fault && (effect.reads | effect.writes) & own == 0
    });
    let kept = keeps(load, 1 << base) && keeps(sum, given);
    (is_surely_there(load) && is_surely_there(store) && others && kept).then(|| {
        let atomic = Op::Atomic { bytes, op, fetch: false, quiet: false, base, off, src: operand };
        (load, sum, Step { slot: steps[store].slot, op: atomic })
    })
}
