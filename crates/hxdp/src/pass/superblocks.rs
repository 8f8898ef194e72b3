//! Copies what follows a trace to its end, so that both are scheduled as one.
//!
//! Before: traces end where ways meet. After: a trace goes on behind that place with a copy of what stands there, which other
//! ways still enter as before. Traces that the program begins with come first; all copies together are at most
//! half of the program and 160 instructions. Needs: `predict`, so that long traces are likely ones. Leaves alone: back edges and what
//! they lead to, so that no loop is unrolled.

use super::Code;
use super::traces::LONGEST;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions that may be copied into a program of any size.
const FREE: usize = 160;

/// Copies of whole traces.
pub fn superblocks(code: &mut Code) {
    let total: usize = code.traces.values().map(|trace| trace.steps.len()).sum();
    let mut left = total / 2 + FREE;
    let heads = heads(code);
    let originals: BTreeMap<u32, super::Trace> = code.traces.clone();
    for trace in code.traces.values_mut() {
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

/// Where back edges lead to.
fn heads(code: &Code) -> BTreeSet<u32> {
    let mut heads = BTreeSet::new();
    for (label, trace) in &code.traces {
        heads.extend(trace.steps.iter().filter_map(|step| step.op.target()).filter(|to| to <= label));
    }
    heads
}
