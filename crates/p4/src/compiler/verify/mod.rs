//! Verifiers: what a pass of the compiler made is checked against what came in, by another way than the pass went. Most run both on random
//! values: a graph is a program, too (`run`), on variables (`vars`), with entries and cells that are chosen when they are looked at (`same`) or that
//! are a program's (`entries`). Those of the passes behind the graph are in `back/verify`. A mistake that is found ends in an error of
//! its own (E0798), never in a program. docs/decisions/p4-compiler.md says what each pass has to keep, and which faults were planted.

pub(crate) mod entries;
mod packets;
pub(crate) mod ports;
pub(crate) mod run;
pub(crate) mod same;
pub(crate) mod symbolic;
pub(crate) mod system;
pub(crate) mod value;
pub(crate) mod vars;

use crate::compiler::middle::{Refusal, RefusalKind};
use crate::front::source::Span;
use sluice_formats::random::Rng;

/// How much is tried.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    rng: Rng,
    /// Packets for the whole graph.
    pub packets: usize,
    /// Tries for each way, visit, leaf or row.
    pub times: usize,
}

impl Effort {
    /// That of a build with its assertions; in others nothing is tried.
    pub fn of_this_build() -> Option<Effort> {
        cfg!(debug_assertions).then(|| Effort { rng: Rng::new(1), packets: 60, times: 4 })
    }

    /// A generator of its own.
    pub fn fork(&mut self) -> Rng {
        self.rng.fork()
    }
}

/// The error of a pass that made something else than it should have.
pub(crate) fn mistaken(pass: &'static str, span: Span, what: &str) -> Refusal {
    Refusal::new(span, RefusalKind::Mistaken, format!("pass `{pass}`: {what}"))
}
