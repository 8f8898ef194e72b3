//! Verifier of the pass that makes ends one which are put together alike: packets of each way leave as they did.

use crate::compiler::ir::{Deparse, Graph};
use crate::compiler::verify::same::differs;
use crate::compiler::verify::vars::Source;
use sluice_formats::random::Rng;
use std::collections::{BTreeSet, HashMap};

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

/// Of each end the outgoing bits at which fields begin that no container brings there: the hardware leaves their bytes where they are, also where
/// the end is another way's. The same variable may be brought to another place of the end.
pub(super) fn staying(graph: &Graph) -> HashMap<Deparse, BTreeSet<u32>> {
    let written = super::super::written(graph);
    let of = |end: Deparse| {
        let brought = super::super::deparse::shape(&end, &written).ok()?.brought_bits();
        let mut bit = 0;
        let first = |width: u32| {
            bit += width;
            bit - width
        };
        let all: Vec<u32> = end.outs.iter().map(|out| out.width).map(first).collect();
        Some((end, all.into_iter().filter(|bit| !brought.contains(bit)).collect()))
    };
    super::super::ends(graph).into_iter().filter_map(of).collect()
}
