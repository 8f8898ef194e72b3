//! Gives values that live in one trace only registers of their own.
//!
//! Before: clang takes the same few registers again and again, so that the second writer waits for the readers of the
//! first, and nothing that is written passes a branch behind which the old value is read. After: such a value is in that
//! register, of r0 to r9 and the compiler's own r11 to r14, that is free for longest around it. r11 to r14 hold nothing where
//! a trace or function begins, nor behind a call of a function. Needs: `liveness`. Leaves alone: what another
//! trace, a helper or a function is given or gives, by its register. Ensures: no register but those of a core.

use super::Code;
use super::liveness::Liveness;
use super::webs::Webs;
use crate::op::CORE;
use std::collections::BTreeSet;

/// Renames in every trace. Gives the traces whose values have no room in a core's registers; these are left as they were.
pub fn rename(code: &mut Code) -> BTreeSet<u32> {
    let mut crowded = BTreeSet::new();
    let live = Liveness::of(code);
    let main: Vec<bool> = code.traces.keys().map(|label| code.is_main(*label)).collect();
    for ((label, trace), is_main) in code.traces.iter_mut().zip(main) {
        let mut webs = Webs::of(trace, is_main, &live);
        let names = loop {
            match webs.names(trace, &live) {
                Ok(names) => break Some(names),
                Err(web) if usize::from(webs.all[web].register) >= CORE => break None,
                // Each round fixes one more.
                Err(web) => webs.all[web].fixed = true,
            }
        };
        let Some(names) = names else {
            crowded.insert(*label);
            continue;
        };
        for (index, step) in trace.steps.iter_mut().enumerate() {
            step.op = webs.renamed(index, step.op, &names);
        }
    }
    crowded
}
