//! What holds where traces are entered, by whichever way: forward data flow over the traces.

use super::Code;
use crate::Step;
use std::collections::BTreeMap;

/// What holds at the entry of each trace that something leads to. `start` holds where a function begins, `pass` takes it over an
/// instruction, `join` adds what comes by one more way to what is known of an entry. Joining has to come to an end.
pub fn entries<T: Clone + PartialEq>(
    code: &Code,
    start: &T,
    pass: impl Fn(&Step, &mut T),
    join: impl Fn(Option<&T>, &T) -> T,
) -> BTreeMap<u32, T> {
    let mut entries: BTreeMap<u32, T> = code.functions.iter().map(|function| (*function, start.clone())).collect();
    let mut open: Vec<u32> = code.functions.clone();
    while let Some(label) = open.pop() {
        let Some(trace) = code.traces.get(&label) else { continue };
        let mut now = entries[&label].clone();
        let mut ways = Vec::new();
        for step in &trace.steps {
            // A called function is none of the ways: it begins anew.
            if let Some(to) = step.op.target().filter(|_| !step.op.is_barrier()) {
                ways.push((to, now.clone()));
            }
            pass(step, &mut now);
        }
        ways.extend(trace.next.map(|next| (next, now)));
        for (to, state) in ways {
            let before = entries.get(&to);
            let joined = join(before, &state);
            if before != Some(&joined) {
                entries.insert(to, joined);
                open.push(to);
            }
        }
    }
    entries
}
