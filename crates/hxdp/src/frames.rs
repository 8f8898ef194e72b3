//! How deep a program's calls go.

use crate::op::TAIL_CALL;
use crate::{Bundle, Op};
use std::collections::BTreeMap;

/// Frames of functions of the longest chain of calls from the first row on: 0 without calls. Validation lets no function
/// call itself, nor more than seven be in each other.
pub fn frames(rows: &[Bundle]) -> u8 {
    deepest(rows, 0, &mut BTreeMap::new())
}

/// Most frames of functions that a packet has.
pub const MOST_FRAMES: u8 = 7;

/// Whether a function calls another program by its tail: that one has the function's frame, and what it calls those behind it.
pub fn calls_tails_in_functions(rows: &[Bundle]) -> bool {
    let called = |op: Op| if let Op::Call { to } = op { Some(to) } else { None };
    let mut next: Vec<u32> = rows.iter().flat_map(|row| &row.lanes).filter_map(|step| called(step.op)).collect();
    let mut seen = vec![false; rows.len()];
    while let Some(row) = next.pop() {
        let Some(bundle) = rows.get(row as usize).filter(|_| !seen[row as usize]) else { continue };
        seen[row as usize] = true;
        if bundle.lanes.iter().any(|step| matches!(step.op, Op::Helper { id: TAIL_CALL, .. })) {
            return true;
        }
        next.extend(bundle.lanes.iter().filter_map(|step| step.op.target()));
        if !bundle.lanes.last().is_some_and(|step| step.op.ends()) {
            next.push(row + 1);
        }
    }
    false
}

/// Below the function that begins with this row; `known` has those that were looked at.
fn deepest(rows: &[Bundle], start: u32, known: &mut BTreeMap<u32, u8>) -> u8 {
    if let Some(frames) = known.get(&start) {
        return *frames;
    }
    // A function that calls itself ends here; it is never validated.
    known.insert(start, 0);
    let (mut seen, mut next, mut frames) = (vec![false; rows.len()], vec![start], 0);
    while let Some(row) = next.pop() {
        let Some(bundle) = rows.get(row as usize).filter(|_| !seen[row as usize]) else { continue };
        seen[row as usize] = true;
        for step in &bundle.lanes {
            match step.op {
                Op::Call { to } => frames = frames.max(1 + deepest(rows, to, known)),
                op => next.extend(op.target()),
            }
        }
        if !bundle.lanes.last().is_some_and(|step| step.op.ends()) {
            next.push(row + 1);
        }
    }
    known.insert(start, frames);
    frames
}
