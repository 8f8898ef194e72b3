//! Makes values where another trace wants them.
//!
//! Before: `r16 = w0 <= 63 ? r2 + (w0 << 5) : 0; ...; r6 = r16`, where r6 is read in another trace. After: `r6 = w0 <= 63 ? ...`, and no copy. Nobody
//! reads or writes r6 between the two, nor on the ways that lead elsewhere between them. Each is done only if the trace then has no more
//! bundles. Needs: `values`. Leaves alone: what helpers and functions give, by its register.

use super::liveness::Liveness;
use super::schedule::Cost;
use super::traces::LONGEST;
use super::{Code, Trace};
use crate::Op;
use crate::op::{CORE, Registers};
use sluice_ebpf::insn::Operand;

/// Rewrites every trace.
pub fn coalesce(code: &mut Code) {
    let live = Liveness::of(code);
    let Some(cost) = Cost::new(&code.regions, &live, &code.leaving) else { return };
    // Each try is a schedule.
    for trace in code.traces.values_mut().filter(|trace| trace.steps.len() <= LONGEST) {
        let (mut index, mut best) = (0, None);
        while index < trace.steps.len() {
            index += 1;
            let Some(tried) = without_copy(trace, index - 1, &live) else { continue };
            let before = *best.get_or_insert_with(|| cost.of(trace));
            let after = cost.of(&tried);
            if after <= before {
                (*trace, best) = (tried, Some(after));
                index -= 1;
            }
        }
    }
}

/// The trace with what is copied at an index in the register that it is copied to.
fn without_copy(trace: &Trace, copy: usize, live: &Liveness) -> Option<Trace> {
    let Op::Move { wide: true, dst, src: Operand::Reg(src) } = trace.steps[copy].op else { return None };
    if usize::from(src) < CORE || usize::from(dst) >= CORE {
        return None;
    }
    let has = |registers: Registers, r: u8| registers >> r & 1 == 1;
    let mut writers = (0..trace.steps.len()).filter(|index| has(trace.steps[*index].op.writes(), src));
    let (Some(made), None) = (writers.next(), writers.next()) else { return None };
    let apart = |index: usize| {
        let op = &trace.steps[index].op;
        let leaves = op.branch().map_or(0, |to| live.at(to));
        !has(op.reads() | op.writes() | leaves, dst)
    };
    if made >= copy || has(trace.steps[made].op.writes(), dst) || !(made + 1..copy).all(apart) {
        return None;
    }
    // Behind the copy both are the same until either is written.
    let overwritten = (copy + 1..trace.steps.len()).find(|index| has(trace.steps[*index].op.writes(), dst));
    let late = |index: usize| has(trace.steps[index].op.reads(), src);
    if overwritten.is_some_and(|at| (at + 1..trace.steps.len()).any(late)) {
        return None;
    }
    let name = |r: u8| if r == src { dst } else { r };
    let mut tried = trace.clone();
    for step in &mut tried.steps {
        step.op = step.op.renamed(&name, &name);
    }
    tried.steps.remove(copy);
    Some(tried)
}
