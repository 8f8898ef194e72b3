//! Copies what follows a trace to its end, so that both are scheduled as one.
//!
//! Before: traces end where ways meet. After: a trace goes on behind that place with a copy of what stands there, which other
//! ways still enter as before. Traces that the program begins with come first; all copies together are at most
//! half of the program and 160 instructions. With a profile those traces come first whose last instruction ran most often, and those
//! that no packet came to are not copied to. Needs: `predict`, so that long traces are likely ones. Leaves alone: back edges and what
//! they lead to, so that no loop is unrolled.

use super::Code;
use super::traces::LONGEST;
use crate::Profile;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions that may be copied into a program of any size.
const FREE: usize = 160;

/// Copies of whole traces.
pub fn superblocks(code: &mut Code, profile: Option<&Profile>) {
    let total: usize = code.traces.values().map(|trace| trace.steps.len()).sum();
    let mut left = total / 2 + FREE;
    let heads = heads(code);
    let originals: BTreeMap<u32, super::Trace> = code.traces.clone();
    for label in order(code, profile) {
        let Some(trace) = code.traces.get_mut(&label) else { continue };
        while let Some(next) = trace.next.filter(|next| !heads.contains(next)) {
            let Some(more) = originals.get(&next) else { break };
            if more.steps.len() > left || trace.steps.len() + more.steps.len() > LONGEST {
                break;
            }
            left -= more.steps.len();
            trace.steps.extend(&more.steps);
            trace.next = more.next;
        }
    }
}

/// Traces in the order in which copies go to them.
fn order(code: &Code, profile: Option<&Profile>) -> Vec<u32> {
    let Some(profile) = profile else { return code.traces.keys().copied().collect() };
    let hits = |trace: &super::Trace| trace.steps.last().map_or(0, |step| profile.hits(step.slot));
    let mut order: Vec<(u64, u32)> = code.traces.iter().map(|(label, trace)| (hits(trace), *label)).collect();
    order.retain(|(hits, _)| *hits > 0);
    order.sort_by_key(|(hits, label)| (Reverse(*hits), *label));
    order.into_iter().map(|(_, label)| label).collect()
}

/// Where back edges lead to.
fn heads(code: &Code) -> BTreeSet<u32> {
    let mut heads = BTreeSet::new();
    for (label, trace) in &code.traces {
        heads.extend(trace.steps.iter().filter_map(|step| step.op.target()).filter(|to| to <= label));
    }
    heads
}
