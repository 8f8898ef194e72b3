//! Verifier of `live`: packets run with all forgotten, at each visit and at the end, that is said to be needed no more, and nobody asks for it.
//! What goes out without being kept is the packet's own.

use super::super::Plan;
use super::super::live::Live;
use crate::compiler::ir::Next;
use crate::compiler::verify::run::run_path;
use crate::compiler::verify::same::{Chosen, Once};
use crate::compiler::verify::value::of_bytes;
use crate::compiler::verify::vars::{Source, Vars};
use sluice_formats::random::Rng;

/// Checks what is needed where, each way of the parser so often.
pub(super) fn check(plan: &Plan, live: &Live, mut rng: Rng, times: usize) -> Result<(), String> {
    let graph = &plan.graph;
    let needed = |next: &Next| live.behind(next, &plan.ends);
    for (number, path) in graph.paths.iter().enumerate() {
        for _ in 0..4 * times {
            let mut source = Source::random(rng.fork(), &graph.locs, path, false);
            let mut chosen = Chosen::new(rng.fork());
            let mut vars = Vars::new(&mut source);
            vars.needed = Some(&needed);
            let wrong = |what: String| Err(format!("way {number} of the parser: {what}"));
            // An end's port is looked at before the packet leaves.
            let gone = match run_path(graph, &path.next, &mut vars, &mut Once::new(&mut chosen)) {
                Ok(Some(gone)) => gone,
                Ok(None) => continue,
                Err(stop) => match super::wrong(stop) {
                    Some(what) => return wrong(what),
                    None => continue,
                },
            };
            let mut bit = 0;
            for out in &gone.deparse.outs {
                let is_sum = gone.deparse.sums.iter().any(|(_, _, at)| bit == 8 * at);
                bit += out.width;
                if is_sum || !vars.dead.contains(&out.loc) {
                    continue;
                }
                let name = graph.locs.info(out.loc);
                let Some(from) = out.from else { return wrong(format!("{name:?} goes out and is not kept")) };
                let own = of_bytes(&vars.source.packet, from, out.width);
                if vars.written.get(&out.loc).is_some_and(|value| *value != own) {
                    return wrong(format!("{name:?} goes out, was written, and is not kept"));
                }
            }
        }
    }
    Ok(())
}
