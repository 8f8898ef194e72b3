//! Exits where they are led to, with the value that they give.
//!
//! Before: `w0 = w6; goto L`, and `L: exit`, often before it. After: `exit w6` in the place of the jump, which counts as work if the
//! jump did, and `dead` removes what wrote r0. Needs: `copies` for what r0 is. Leaves alone: exits of functions that are
//! jumped back to: their callers may look at all of r0, and so may whoever runs a program that is none of XDP.

use super::entries::Entries;
use super::{Code, Trace};
use crate::{Op, Step};
use sluice_ebpf::insn::Operand;
use std::collections::BTreeMap;

/// Most instructions of a trace that is put in the place of a jump back to it.
const SHORT: usize = 4;

/// Puts exits in the place of jumps to them, and gives them the value that r0 is known to have.
pub fn exits(code: &mut Code) {
    jumped_to(code);
    // Only a program that begins as one of XDP gives a verdict.
    let verdicts = code.regions.complete;
    let entries = Entries::of(code);
    apart(code, &entries);
    let main: Vec<bool> = code.traces.keys().map(|label| code.is_main(*label)).collect();
    for ((label, trace), is_main) in code.traces.iter_mut().zip(main) {
        let Some((last, before)) = trace.steps.split_last_mut() else { continue };
        let Op::Exit { value: value @ None, .. } = &mut last.op else { continue };
        let mut facts = entries.at(*label);
        before.iter().for_each(|step| facts.pass(&step.op));
        let known = Some(facts.operand(Operand::Reg(0))).filter(|found| *found != Operand::Reg(0));
        *value = known.or_else(|| narrow(before).filter(|_| verdicts && is_main));
    }
}

/// Exits with r0, whatever it is called, are exits without value.
pub fn plain(code: &mut Code) {
    for step in code.traces.values_mut().flat_map(|trace| &mut trace.steps) {
        if let Op::Exit { value: value @ Some(Operand::Reg(0)), .. } = &mut step.op {
            *value = None;
        }
    }
}

/// A branch to an exit, where r0 is a known number, goes to an exit with that number. So r0 need not be set in front of the branch. A
/// program with functions has no numbers left for such traces.
fn apart(code: &mut Code, entries: &Entries) {
    let exit = Op::Exit { value: None, back: false };
    let is_exit = |trace: &Trace| matches!(trace.steps[..], [step] if step.op == exit);
    let plain: BTreeMap<u32, Step> =
        code.traces.iter().filter(|(_, trace)| is_exit(trace)).map(|(label, trace)| (*label, trace.steps[0])).collect();
    if code.functions.len() > 1 || plain.is_empty() {
        return;
    }
    let first = code.traces.keys().next_back().map_or(0, |last| last + 1).max(code.regions.slots.len() as u32);
    let mut made: BTreeMap<(u32, i32), u32> = BTreeMap::new();
    for (label, trace) in &mut code.traces {
        let mut facts = entries.at(*label);
        for step in &mut trace.steps {
            if let Some(to) = step.op.branch()
                && plain.contains_key(&to)
                && let Operand::Imm(number) = facts.operand(Operand::Reg(0))
            {
                let next = first + made.len() as u32;
                let apart = *made.entry((to, number)).or_insert(next);
                step.op.target_mut().into_iter().for_each(|target| *target = apart);
            }
            facts.pass(&step.op);
        }
    }
    for ((to, number), label) in made {
        let exit = Op::Exit { value: Some(Operand::Imm(number)), back: false };
        let steps = vec![Step { slot: plain[&to].slot, op: exit }];
        code.traces.insert(label, Trace { steps, next: None });
    }
}

/// The register whose lower half r0 has, all that a verdict is.
fn narrow(before: &[Step]) -> Option<Operand> {
    let writer = before.iter().rposition(|step| step.op.writes() & 1 == 1)?;
    let Op::Move { src: Operand::Reg(src), .. } = before[writer].op else { return None };
    let stays = before[writer + 1..].iter().all(|step| step.op.writes() >> src & 1 == 0 && !step.op.is_barrier());
    (stays && src != 0).then_some(Operand::Reg(src))
}

/// What only gives a value and ends is copied to where it is jumped back to.
fn jumped_to(code: &mut Code) {
    let ends = |trace: &Trace| {
        let (last, before) = trace.steps.split_last()?;
        let plain = trace.steps.len() <= SHORT && before.iter().all(|step| step.op.is_pure());
        (plain && matches!(last.op, Op::Exit { back: false, .. })).then(|| trace.steps.clone())
    };
    let main = |label: &u32| code.is_main(*label);
    let ending: BTreeMap<u32, Vec<Step>> =
        code.traces.iter().filter(|(label, _)| main(label)).filter_map(|(l, t)| Some((*l, ends(t)?))).collect();
    for trace in code.traces.values_mut() {
        let Some(Op::Jump { to, back: true }) = trace.steps.last().map(|step| step.op) else { continue };
        let Some(more) = ending.get(&to) else { continue };
        trace.steps.pop();
        trace.steps.extend(more);
        if let Some(Op::Exit { back, .. }) = trace.steps.last_mut().map(|step| &mut step.op) {
            *back = true;
        }
    }
}
