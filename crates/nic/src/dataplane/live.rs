//! The data plane on live interfaces: its workers' loop, and what the host does meanwhile.

use super::DataPlane;
use super::worker::{Idle, PAUSE, Since, Worker};
use crate::ports::{Bindings, LiveCounts, PortError};
use sluice_device::Device;
use std::time::Instant;

impl DataPlane {
    /// Moves packets until `stop` says so, or every source has ended and nothing is inside. `stop` is asked every millisecond or so; it may
    /// use the device meanwhile, and then no worker runs a packet.
    pub fn run_live(
        &mut self,
        bindings: &mut Bindings,
        stop: impl FnMut(&mut dyn Device, &LiveCounts) -> bool,
    ) -> Result<LiveCounts, PortError> {
        match self.workers() {
            1 => self.run_alone(bindings, stop),
            _ => self.run_threads(bindings, stop),
        }
    }

    /// One worker, in the caller's thread.
    fn run_alone(
        &mut self,
        bindings: &mut Bindings,
        mut stop: impl FnMut(&mut dyn Device, &LiveCounts) -> bool,
    ) -> Result<LiveCounts, PortError> {
        let mut counts = LiveCounts::default();
        let since = Since::now(&self.capabilities, self.now());
        let mut worker = Worker::new(bindings, self.target().ports, since);
        let (mut looked, mut idle) = (None::<Instant>, Idle::default());
        loop {
            let now = Instant::now();
            if looked.is_none_or(|looked| now - looked >= PAUSE) {
                looked = Some(now);
                if stop(self, &counts) {
                    break;
                }
            }
            let more = self.step_loads();
            let busy = worker.round(&mut self.all.cores[0], &mut counts, now)?;
            if busy || more {
                idle.end(now);
                continue;
            }
            if worker.has_ended() && self.all.is_idle() && self.loads.is_empty() {
                break;
            }
            if idle.sleeps(now) {
                worker.bindings.wait(PAUSE, None);
            }
        }
        counts.missed = worker.missed();
        Ok(counts)
    }
}
