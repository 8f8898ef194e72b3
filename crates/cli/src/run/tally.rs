//! What the outcomes of a run add up to, by module: the counters' second opinion.

use sluice_device::ModuleCounters;
use sluice_device::{Counters, Outcome, Verdict};
use sluice_formats::Reason;
use std::collections::BTreeMap;

/// Sums of outcomes.
#[derive(Debug, Default)]
pub struct Tally {
    modules: BTreeMap<u8, Sums>,
}

/// Sums of one module.
#[derive(Debug, Default, Clone)]
pub struct Sums {
    forwarded: u64,
    delivered: u64,
    consumed: u64,
    dropped: BTreeMap<Reason, u64>,
    /// Copies that were dropped at a destination, by its number.
    dropped_at: BTreeMap<u8, BTreeMap<Reason, u64>>,
    /// Ticks from first beat in to last beat out, of packets that left, where there are cycles.
    ticks: u64,
    timed: u64,
    /// First and last tick at which anything was seen of the module.
    pub seen: Option<(u64, u64)>,
}

impl Sums {
    /// Copies that were dropped at each destination, by its number and by reason.
    pub fn dropped_at(&self) -> &BTreeMap<u8, BTreeMap<Reason, u64>> {
        &self.dropped_at
    }

    /// Mean cycles from the first beat in to the last beat out.
    pub fn cycles_per_packet(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.ticks as f64 / self.timed as f64)
    }
}

impl Tally {
    /// Adds an outcome.
    pub fn add(&mut self, outcome: &Outcome) {
        let sums = self.modules.entry(outcome.module).or_default();
        match outcome.verdict {
            Verdict::Forwarded { .. } => sums.forwarded += 1,
            Verdict::Delivered { .. } => sums.delivered += 1,
            Verdict::Consumed { .. } => sums.consumed += 1,
            Verdict::Dropped { reason, destination } => {
                *sums.dropped.entry(reason).or_default() += 1;
                if let Some(destination) = destination {
                    *sums.dropped_at.entry(destination).or_default().entry(reason).or_default() += 1;
                }
            }
        }
        let (Some(first), Some(last)) = (outcome.first_in, outcome.last_out) else { return };
        let seen = sums.seen.get_or_insert((first, last));
        *seen = (seen.0.min(first), seen.1.max(last));
        if !matches!(outcome.verdict, Verdict::Dropped { .. }) {
            sums.ticks += last.saturating_sub(first) + 1;
            sums.timed += 1;
        }
    }

    /// Sums of a module.
    pub fn module(&self, module: u8) -> Sums {
        self.modules.get(&module).cloned().unwrap_or_default()
    }

    /// Sums of all modules.
    pub fn total(&self) -> Sums {
        self.modules.values().fold(Sums::default(), |mut all, one| {
            all.forwarded += one.forwarded;
            all.delivered += one.delivered;
            all.consumed += one.consumed;
            for (reason, count) in &one.dropped {
                *all.dropped.entry(*reason).or_default() += count;
            }
            for (destination, reasons) in &one.dropped_at {
                let at = all.dropped_at.entry(*destination).or_default();
                reasons.iter().for_each(|(reason, count)| *at.entry(*reason).or_default() += count);
            }
            all.ticks += one.ticks;
            all.timed += one.timed;
            all.seen = match (all.seen, one.seen) {
                (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
                (a, b) => a.or(b),
            };
            all
        })
    }

    /// Why the counters of a device that was left in the middle of its work are not closed: a packet may have been counted whose
    /// last beat has not left.
    pub fn audit_left(counters: &Counters) -> Result<(), String> {
        let open = counters.modules.iter().find(|(_, c)| !c.closes());
        open.map_or(Ok(()), |(module, c)| Err(format!("module {module}: {}", equation(c))))
    }

    /// Why the counters are not closed: against themselves, the outcomes, and `offered`.
    pub fn audit(&self, counters: &Counters, offered: u64) -> Result<(), String> {
        for (module, c) in &counters.modules {
            if !c.closes() {
                return Err(format!("module {module}: {}", equation(c)));
            }
            if c.in_flight != 0 {
                return Err(format!("module {module}: {} packets are in flight after the end", c.in_flight));
            }
            let sums = self.module(*module);
            let dropped: BTreeMap<Reason, u64> = c.dropped.iter().filter(|d| *d.1 > 0).map(|(r, n)| (*r, *n)).collect();
            let counted = (c.forwarded, c.delivered, c.consumed, dropped);
            let seen = (sums.forwarded, sums.delivered, sums.consumed, sums.dropped);
            if counted != seen {
                return Err(format!(
                    "module {module}: (forwarded, delivered, consumed, dropped) counted are {counted:?}, seen were {seen:?}"
                ));
            }
        }
        if let Some(module) = self.modules.keys().find(|m| !counters.modules.contains_key(m)) {
            return Err(format!("module {module} has outcomes and no counters"));
        }
        let total: u64 = counters.modules.values().map(|c| c.offered).sum();
        match total == offered {
            true => Ok(()),
            false => Err(format!("{total} packets are counted as offered, {offered} were")),
        }
    }
}

fn equation(c: &ModuleCounters) -> String {
    let dropped: u64 = c.dropped.values().sum();
    format!(
        "offered {} + copies {} is not forwarded {} + delivered {} + consumed {} + dropped {dropped} + in flight {}",
        c.offered, c.copies, c.forwarded, c.delivered, c.consumed, c.in_flight
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(verdict: Verdict) -> Outcome {
        Outcome {
            id: 0,
            verdict,
            module: 1,
            tenant: None,
            generation: None,
            stamp: None,
            bytes: Vec::new(),
            queue: 0,
            tag: 0,
            first_in: Some(10),
            first_out: Some(15),
            last_out: Some(19),
        }
    }

    fn counters(offered: u64, forwarded: u64, dropped: u64) -> Counters {
        let mut module = ModuleCounters { offered, forwarded, ..ModuleCounters::default() };
        module.dropped.insert(Reason::Discard, dropped);
        Counters { modules: BTreeMap::from([(1, module)]), ..Counters::default() }
    }

    #[test]
    fn counters_must_agree_with_themselves_the_outcomes_and_the_input() {
        let mut tally = Tally::default();
        tally.add(&outcome(Verdict::Forwarded { port: 0 }));
        tally.add(&outcome(Verdict::Dropped { reason: Reason::Discard, destination: None }));
        assert_eq!(tally.audit(&counters(2, 1, 1), 2), Ok(()));
        assert!(tally.audit(&counters(3, 1, 1), 3).unwrap_err().contains("offered 3"));
        assert!(tally.audit(&counters(2, 2, 0), 2).unwrap_err().contains("seen were"));
        assert!(tally.audit(&counters(2, 1, 1), 5).unwrap_err().contains("5 were"));
        assert!(tally.audit(&Counters::default(), 0).unwrap_err().contains("no counters"));
        assert_eq!(tally.module(1).cycles_per_packet(), Some(10.0));
    }
}
