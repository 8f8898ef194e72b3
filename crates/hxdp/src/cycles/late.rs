//! Late results: written in a cycle in which the last lane writes nothing (docs/design/hxdp-core.md, "Core").

use std::collections::VecDeque;

/// What became of the results in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cycle {
    /// None was written.
    Nothing,
    /// That of this context.
    Written(usize),
    /// None, and they have waited: nobody is picked.
    Hold,
}

/// Results that wait for the last lane's write port.
#[derive(Debug, Default)]
pub struct Late {
    /// First cycle in which each may be written, and its context; they take turns as they were launched.
    results: VecDeque<(u64, usize)>,
    /// Cycles in which the last lane writes, in order.
    writes: VecDeque<u64>,
    waited: u64,
}

impl Late {
    /// The last lane writes in that cycle; cycles come in order.
    pub fn lane_writes(&mut self, at: u64) {
        self.writes.push_back(at);
    }

    /// A context's result is there in that cycle.
    pub fn comes(&mut self, at: u64, context: usize) {
        let behind = self.results.iter().position(|(other, _)| *other > at).unwrap_or(self.results.len());
        self.results.insert(behind, (at, context));
    }

    /// Writes one, if the port is free, which is `own` if nobody else has it. After `patience` cycles of waiting a cycle is kept free.
    pub fn cycle(&mut self, now: u64, own: bool, patience: u64) -> Cycle {
        while self.writes.front().is_some_and(|at| *at < now) {
            self.writes.pop_front();
        }
        let taken = !own && self.writes.front() == Some(&now);
        match self.results.front().copied().filter(|(at, _)| *at <= now) {
            Some((_, context)) if !taken => {
                self.results.pop_front();
                self.waited = 0;
                Cycle::Written(context)
            }
            Some(_) if self.waited == patience => {
                self.waited = 0;
                Cycle::Hold
            }
            Some(_) => {
                self.waited += 1;
                Cycle::Nothing
            }
            None => Cycle::Nothing,
        }
    }
}
