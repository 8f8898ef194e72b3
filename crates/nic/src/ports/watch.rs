//! What interfaces go through while a NIC runs: kept where they are used, read where it is told.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What an interface is to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// There, and set up.
    Up,
    /// There, and set down.
    Down,
    /// Not there.
    Gone,
}

/// What an interface has gone through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkReport {
    /// The interface.
    pub name: String,
    /// How often it went down or away.
    pub outages: u64,
    /// For how long, together.
    pub without: Duration,
    /// What it is now.
    pub state: LinkState,
    /// How it was opened, and why not better: a line for people.
    pub opened: String,
    /// Frames that were lost there, by reason.
    pub lost: Vec<(&'static str, u64)>,
}

/// A handle on what is known of one interface.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    report: LinkReport,
    since: Instant,
    changes: Vec<LinkState>,
}

impl Watch {
    /// Of an interface that is there, and opened in this way.
    pub fn new(name: &str, opened: String) -> Self {
        let (name, lost) = (name.to_owned(), Vec::new());
        let report = LinkReport { name, outages: 0, without: Duration::ZERO, state: LinkState::Up, opened, lost };
        Self(Arc::new(Mutex::new(Inner { report, since: Instant::now(), changes: Vec::new() })))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The interface is this now.
    pub fn change(&self, state: LinkState) {
        let inner = &mut *self.inner();
        match (inner.report.state, state) {
            (before, now) if before == now => return,
            (LinkState::Up, _) => {
                inner.report.outages += 1;
                inner.since = Instant::now();
            }
            (_, LinkState::Up) => inner.report.without += inner.since.elapsed(),
            _ => {}
        }
        inner.report.state = state;
        inner.changes.push(state);
    }

    /// These frames were lost there.
    pub fn lost(&self, lost: Vec<(&'static str, u64)>) {
        self.inner().report.lost = lost;
    }

    /// Changes since the last call, the oldest first.
    pub fn take_changes(&self) -> Vec<LinkState> {
        std::mem::take(&mut self.inner().changes)
    }

    /// All until now; an outage that goes on counts so far.
    pub fn report(&self) -> LinkReport {
        let inner = self.inner();
        let mut report = inner.report.clone();
        if report.state != LinkState::Up {
            report.without += inner.since.elapsed();
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_counted_once_however_it_goes_on() {
        let watch = Watch::new("eth1", String::new());
        for state in [LinkState::Up, LinkState::Down, LinkState::Gone, LinkState::Gone, LinkState::Up] {
            watch.change(state);
        }
        assert_eq!(watch.take_changes(), [LinkState::Down, LinkState::Gone, LinkState::Up]);
        assert_eq!(watch.take_changes(), []);
        let before = watch.report();
        assert_eq!((before.outages, before.state), (1, LinkState::Up));
        watch.change(LinkState::Gone);
        std::thread::sleep(Duration::from_millis(2));
        let after = watch.report();
        assert_eq!((after.outages, after.state), (2, LinkState::Gone));
        assert!(after.without >= before.without + Duration::from_millis(2));
    }
}
