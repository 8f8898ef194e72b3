//! Gives values that live in one trace only names of their own, more than a core has registers.
//!
//! Before: clang takes the same few registers again and again, so that a pass finds a base, a copy or a loaded number
//! overwritten when it could be used again. After: such a value is in a register from r16 on, mostly alone. `rename` gives all of
//! them registers of the core; a trace whose values have no room there then is compiled without this pass. Needs:
//! `liveness`. Leaves alone: what another trace, a helper or a function is given or gives, by its register.

use super::Code;
use super::liveness::Liveness;
use super::webs::Webs;
use std::collections::BTreeSet;

/// Renames in every trace but these.
pub fn values(code: &mut Code, without: &BTreeSet<u32>) {
    let live = Liveness::of(code);
    let main: Vec<bool> = code.traces.keys().map(|label| code.is_main(*label)).collect();
    for ((_, trace), is_main) in code.traces.iter_mut().zip(main).filter(|((label, _), _)| !without.contains(label)) {
        let mut webs = Webs::of(trace, is_main, &live);
        let names = loop {
            match webs.more_names(trace, &live) {
                Ok(names) => break names,
                // Each round leaves one more in its register.
                Err(web) => webs.all[web].fixed = true,
            }
        };
        for (index, step) in trace.steps.iter_mut().enumerate() {
            step.op = webs.renamed(index, step.op, &names);
        }
    }
}
