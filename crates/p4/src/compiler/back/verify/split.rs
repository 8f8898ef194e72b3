//! Verifier of `split`, of `hash::gather` and of what waits for cells: a visit that was cut does, with those behind it, what it did. It is
//! run from values that packets of a way to it may have, and from any others.

use crate::compiler::ir::{Graph, Next};
use crate::compiler::verify::same::{differs, path_to};
use crate::compiler::verify::vars::Source;
use sluice_formats::random::Rng;

/// Checks each visit that is another one now.
pub(super) fn check(before: &Graph, after: &Graph, rng: &mut Rng, times: usize) -> Result<(), (usize, String)> {
    let paths = path_to(before);
    // Ends that are put together alike have become one meanwhile.
    let stay = super::ends::staying(before);
    for at in (0..before.nodes.len()).filter(|at| before.nodes[*at].tree != after.nodes[*at].tree) {
        let mut leaves = 0;
        before.nodes[at].tree.each_leaf(&mut |_| leaves += 1);
        for _ in 0..(4 + leaves) * times {
            let Some(path) = paths[at] else { continue };
            let mut source = Source::random(rng.fork(), &after.locs, &before.paths[path], false);
            source.stay.clone_from(&stay);
            let next = Next::Node(at);
            if let Some(what) = differs((before, &next), (after, &next), &mut source, rng.fork()) {
                return Err((at, format!("visit {at}: {what}")));
            }
        }
    }
    Ok(())
}
