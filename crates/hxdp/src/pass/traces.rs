//! Control flow: traces, and the short ways between them.
//!
//! Before: instructions in the order of their slots. After: traces that hold each reachable instruction. Where one
//! trace alone leads to another, going forward, they are one. A forward jump is no instruction any more but the
//! trace's `next`. Short traces are copied to where they are led to. Needs: `decode`. Leaves alone: back edges, which
//! count as work.

use super::{Code, Maps, Trace};
use crate::{Op, Profile, Step};
use sluice_ebpf::Program;
use sluice_ebpf::analysis::Regions;
use std::collections::{BTreeMap, BTreeSet};

/// Most instructions of a trace: the scheduler looks at pairs.
pub const LONGEST: usize = 512;
/// Most instructions of a trace that is copied to where it is led to.
const COPIED: usize = 8;
/// Most traces that are copied behind one another.
const COPIES: usize = 8;

/// Builds the traces of a program; `predicted`: [`super::predict`] turns branches before, by a profile if there is one.
pub fn traces(program: &Program, steps: &[Step], regions: Regions, predicted: Option<Option<&Profile>>) -> Code {
    let functions: BTreeSet<u32> = program.functions.iter().map(|f| f.start).chain([0]).collect();
    let mut code = Code {
        program: program.name.clone(),
        traces: blocks(steps, &functions),
        functions: functions.into_iter().collect(),
        flow_serial: !regions.complete || regions.summary.flow_serial,
        maps: Maps::default(),
        leaving: BTreeMap::new(),
        entry: crate::warp::peel::Entry::default(),
        branches: steps.iter().filter(|s| s.op.branch().is_some()).map(|s| (s.slot, s.op)).collect(),
        regions,
    };
    code.prune();
    shorten(&mut code);
    code.prune();
    if let Some(profile) = predicted {
        super::predict::predict(&mut code, profile);
    }
    join(&mut code);
    code
}

/// Cuts where control can come from elsewhere, and behind branches and what ends.
fn blocks(steps: &[Step], functions: &BTreeSet<u32>) -> BTreeMap<u32, Trace> {
    let mut leaders = functions.clone();
    leaders.extend(steps.iter().filter_map(|step| step.op.target()));
    let mut blocks = BTreeMap::new();
    let (mut label, mut trace) = (0, Trace::default());
    for (index, step) in steps.iter().enumerate() {
        match step.op {
            Op::Jump { to, back: false } => trace.next = Some(to),
            _ => trace.steps.push(*step),
        }
        let Some(next) = steps.get(index + 1) else { break };
        let ends = step.op.ends();
        // What stands in the place of one instruction stays together.
        if next.slot == step.slot {
            continue;
        }
        if ends || step.op.branch().is_some() || leaders.contains(&next.slot) || trace.steps.len() >= LONGEST {
            if !ends {
                trace.next = Some(next.slot);
            }
            blocks.insert(std::mem::replace(&mut label, next.slot), std::mem::take(&mut trace));
        }
    }
    blocks.insert(label, trace);
    blocks
}

/// Leads past traces that only lead on.
pub fn shorten(code: &mut Code) {
    let on: BTreeMap<u32, u32> =
        code.traces.iter().filter(|(_, t)| t.steps.is_empty()).filter_map(|(l, t)| Some((*l, t.next?))).collect();
    // Going on is always forward, so that this comes to an end.
    let last = |mut label: u32| {
        while let Some(next) = on.get(&label) {
            label = *next;
        }
        label
    };
    for trace in code.traces.values_mut() {
        trace.next = trace.next.map(last);
        for step in &mut trace.steps {
            if !matches!(step.op, Op::Call { .. })
                && let Some(to) = step.op.target_mut()
            {
                *to = last(*to);
            }
        }
    }
}

/// Makes one of two traces where only the first leads to the second.
fn join(code: &mut Code) {
    let mut ways: BTreeMap<u32, usize> = code.functions.iter().map(|f| (*f, 2)).collect();
    for trace in code.traces.values() {
        for to in trace.next.into_iter().chain(trace.steps.iter().filter_map(|step| step.op.target())) {
            *ways.entry(to).or_default() += 1;
        }
    }
    let labels: Vec<u32> = code.traces.keys().copied().collect();
    for label in labels {
        let Some(mut trace) = code.traces.remove(&label) else { continue };
        while let Some(next) = trace.next.filter(|next| ways.get(next) == Some(&1)) {
            let fits = |t: &Trace| t.steps.len() + trace.steps.len() <= LONGEST;
            let Some(more) = code.traces.get(&next).filter(|t| fits(t)).cloned() else { break };
            code.traces.remove(&next);
            trace.steps.extend(more.steps);
            trace.next = more.next;
        }
        code.traces.insert(label, trace);
    }
}

/// Copies traces of few instructions to the ends of those that lead there, so that both are scheduled as one.
pub fn copy_short(code: &mut Code) {
    let short: BTreeMap<u32, Trace> =
        code.traces.iter().filter(|(_, t)| t.steps.len() <= COPIED).map(|(l, t)| (*l, t.clone())).collect();
    for trace in code.traces.values_mut() {
        for _ in 0..COPIES {
            let Some(more) = trace.next.and_then(|next| short.get(&next)) else { break };
            trace.steps.extend(&more.steps);
            trace.next = more.next;
        }
    }
}
