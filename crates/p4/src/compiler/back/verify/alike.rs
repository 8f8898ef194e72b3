//! Verifier of `alike`, `shared` and `join`: from each way of the parser the graph with fewer visits does what the graph did.

use crate::compiler::ir::Graph;
use crate::compiler::verify::same::differs;
use crate::compiler::verify::vars::Source;
use sluice_formats::random::Rng;

/// Checks the graph with fewer visits, each way so often.
pub(super) fn check(before: &Graph, after: &Graph, rng: &mut Rng, times: usize) -> Result<(), String> {
    // An end may be another way's.
    let stay = super::ends::staying(before);
    for (path, (one, other)) in before.paths.iter().zip(&after.paths).enumerate() {
        for _ in 0..4 * times {
            let mut source = Source::random(rng.fork(), &after.locs, other, false);
            source.stay.clone_from(&stay);
            if let Some(what) = differs((before, &one.next), (after, &other.next), &mut source, rng.fork()) {
                return Err(format!("way {path} of the parser: {what}"));
            }
        }
    }
    Ok(())
}
