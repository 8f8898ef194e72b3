//! Verifier of the pass that makes ends one which are put together alike: packets of each way leave as they did.

use crate::ir::{Graph, Loc};
use crate::verify::same::differs;
use crate::verify::vars::Source;
use sluice_formats::random::Rng;
use std::collections::{BTreeMap, BTreeSet};

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

/// Variables that go out, that nobody writes, and that are one place of the packet: the hardware leaves their bytes where they are, also where
/// an end is another way's. Those that ways have from several places are brought by containers.
pub(super) fn staying(graph: &Graph) -> BTreeSet<Loc> {
    let written = super::super::written(graph);
    let mut from: BTreeMap<Loc, BTreeSet<Option<u32>>> = BTreeMap::new();
    for out in super::super::ends(graph).into_iter().flat_map(|end| end.outs) {
        from.entry(out.loc).or_default().insert(out.from);
    }
    from.into_iter().filter(|(loc, from)| from.len() == 1 && !written.contains(loc)).map(|(loc, _)| loc).collect()
}
