//! How deep a program's calls go.

use crate::bundle;
use crate::loops::LOOP;
use crate::op::TAIL_CALL;
use crate::{Bundle, Bundles, Op, routes};
use sluice_ebpf::insn::WideValue;
use std::collections::BTreeMap;

/// Frames of functions of the longest chain of calls from the first row on: 0 without calls. Validation lets no function
/// call itself, nor more than seven be in each other. A loop may call every function whose address the program takes, from a frame of its own.
pub fn frames(bundles: &Bundles) -> u8 {
    deepest(&bundles.rows, 0, &callbacks(bundles), &mut BTreeMap::new()).min(MOST_FRAMES)
}

/// First rows of the functions whose address the program takes.
fn callbacks(bundles: &Bundles) -> Vec<u32> {
    let taken = |op: Op| match op {
        Op::Constant { value: WideValue::Function(slot), .. } => bundles.functions.get(&(slot as u32)).copied(),
        _ => None,
    };
    bundles.rows.iter().flat_map(|row| &row.lanes).filter_map(|step| taken(step.op)).collect()
}

/// Most frames of functions that a packet has.
pub const MOST_FRAMES: u8 = 7;

/// Whether a function calls another program by its tail: that one has the function's frame, and what it calls those behind it.
pub fn calls_tails_in_functions(bundles: &Bundles) -> bool {
    let rows = &bundles.rows;
    let called = |op: Op| if let Op::Call { to } = op { Some(to) } else { None };
    let mut next: Vec<u32> = rows.iter().flat_map(|row| &row.lanes).filter_map(|step| called(step.op)).collect();
    next.extend(callbacks(bundles));
    let calls_tail =
        |bundle: &Bundle| bundle.lanes.iter().any(|step| matches!(step.op, Op::Helper { id: TAIL_CALL, .. }));
    reached(rows, next).any(calls_tail)
}

/// Bundles that these rows lead to, themselves among them, calls left out.
fn reached(rows: &[Bundle], next: Vec<u32>) -> impl Iterator<Item = &Bundle> {
    rows.iter().zip(bundle::reached(rows, next)).filter_map(|(bundle, reached)| reached.then_some(bundle))
}

/// Below the function that begins with this row; `known` has those that were looked at.
fn deepest(rows: &[Bundle], start: u32, callbacks: &[u32], known: &mut BTreeMap<u32, u8>) -> u8 {
    if let Some(frames) = known.get(&start) {
        return *frames;
    }
    // A function that calls itself ends here; it is never validated.
    known.insert(start, 0);
    let mut frames = 0;
    for step in reached(rows, vec![start]).flat_map(|bundle| &bundle.lanes) {
        match step.op {
            Op::Call { to } => frames = frames.max(1 + deepest(rows, to, callbacks, known)),
            Op::Helper { id, .. } if routes::is_called(id) => frames = frames.max(1),
            Op::Helper { id: LOOP, .. } => {
                let called = callbacks.iter().map(|to| deepest(rows, *to, callbacks, known)).max();
                frames = frames.max(2 + called.unwrap_or(0));
            }
            _ => {}
        }
    }
    known.insert(start, frames);
    frames
}
