//! Verifier of the pass that makes ends one which are put together alike: packets of each way leave as they did.

use crate::ir::{Graph, Loc};
use crate::verify::same::differs;
use crate::verify::vars::Source;
use sluice_formats::random::Rng;
use std::collections::BTreeSet;

/// Checks the graph with fewer ends, each way so often.
pub(super) fn check(before: &Graph, after: &Graph, rng: &mut Rng, times: usize) -> Result<(), String> {
    let stay = staying(before);
    for (path, (one, other)) in before.paths.iter().zip(&after.paths).enumerate() {
        for _ in 0..4 * times {
            let mut source = Source::random(rng.fork(), &before.locs, one, false);
            source.stay.clone_from(&stay);
            if let Some(what) = differs((before, &one.next), (after, &other.next), &mut source, rng.fork()) {
                return Err(format!("way {path} of the parser: {what}"));
            }
        }
    }
    Ok(())
}

/// Variables that go out, that nobody writes, and that no container brings: the hardware leaves their bytes where they are, also where an end
/// is another way's.
pub(super) fn staying(graph: &Graph) -> BTreeSet<Loc> {
    let written = super::super::written(graph);
    let ends = super::super::ends(graph);
    let shapes = ends.iter().filter_map(|end| super::super::deparse::shape(end, &written).ok());
    let brought: BTreeSet<Loc> = shapes.flat_map(|shape| shape.carried).collect();
    let all = ends.iter().flat_map(|end| &end.outs).map(|out| out.loc);
    all.filter(|loc| !written.contains(loc) && !brought.contains(loc)).collect()
}
