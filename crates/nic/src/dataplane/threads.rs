//! Several workers, a thread each, and the host between their rounds.
//!
//! A worker has its tables, engines and queues behind a lock that it holds for a round. The host asks for a pause, takes all of them, does
//! what it wants as on a NIC of one piece, and gives them back: no worker ever sees a part of a change, and none waits for another.

use super::DataPlane;
use super::bell::Bell;
use super::core::Core;
use super::worker::{Idle, PAUSE, Since, Worker};
use crate::ports::{Bindings, LiveCounts, PortError};
use sluice_device::Device;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

/// What a worker and the host have by turns.
struct Seat {
    /// None while the host has it.
    core: Option<Core>,
    counts: LiveCounts,
    /// Nothing will come from the worker's own sources.
    ended: bool,
}

/// What all threads see.
struct Shared {
    seats: Vec<Mutex<Seat>>,
    bells: Vec<Bell>,
    /// The host wants the seats.
    pause: AtomicBool,
    end: AtomicBool,
}

/// Ends all workers when the host's loop ends, however it does.
struct End<'a>(&'a Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.end.store(true, Ordering::Relaxed);
        self.0.pause.store(false, Ordering::SeqCst);
        self.0.ring(u64::MAX);
    }
}

impl Shared {
    /// Rings the bells of these workers.
    fn ring(&self, workers: u64) {
        self.bells
            .iter()
            .enumerate()
            .filter(|(worker, _)| workers >> worker & 1 == 1)
            .for_each(|(_, bell)| bell.ring());
    }

    /// All seats, when their workers' rounds are over; none if a worker has panicked.
    fn take(&self) -> Option<Vec<MutexGuard<'_, Seat>>> {
        self.pause.store(true, Ordering::SeqCst);
        self.seats.iter().map(|seat| seat.lock().ok()).collect()
    }

    /// One worker's thread.
    fn work(&self, number: usize, mut worker: Worker<'_>) -> Result<u64, PortError> {
        let mut idle = Idle::default();
        while !self.end.load(Ordering::Relaxed) {
            if self.pause.load(Ordering::SeqCst) {
                std::thread::yield_now();
                continue;
            }
            let Ok(mut seat) = self.seats[number].lock() else { break };
            let Seat { core: Some(core), counts, ended } = &mut *seat else { continue };
            let now = Instant::now();
            let busy = worker.round(core, counts, now)?;
            let reached = core.flush();
            *ended = worker.has_ended();
            drop(seat);
            self.ring(reached);
            if busy || reached != 0 {
                idle.end(now);
            } else if idle.sleeps(now) {
                self.sleep(number, &worker);
            }
        }
        Ok(worker.missed())
    }

    /// Sleeps until something comes from outside or from another worker.
    fn sleep(&self, number: usize, worker: &Worker<'_>) {
        let bell = &self.bells[number];
        bell.hear();
        let has_mail = self.seats[number].lock().is_ok_and(|seat| seat.core.as_ref().is_none_or(Core::has_mail));
        if !has_mail {
            worker.bindings.wait(PAUSE, Some(bell));
        }
        bell.heard();
    }
}

impl DataPlane {
    /// The loop of the host, next to the workers' threads.
    pub(super) fn run_threads(
        &mut self,
        bindings: &mut Bindings,
        mut stop: impl FnMut(&mut dyn Device, &LiveCounts) -> bool,
    ) -> Result<LiveCounts, PortError> {
        let (workers, ports) = (self.workers(), self.target().ports);
        let since = Since::now(&self.capabilities, self.now());
        let bells = (0..workers).map(|_| Bell::new()).collect::<std::io::Result<_>>().map_err(PortError::Thread)?;
        let patient = bindings.sources.iter().flatten().all(|source| source.is_patient());
        self.all.be_patient(patient);
        let mut parts = bindings.split(workers);
        let seat = |core| Mutex::new(Seat { core: Some(core), counts: LiveCounts::default(), ended: false });
        let seats = self.all.cores.drain(..).map(seat).collect();
        let shared = Shared { seats, bells, pause: AtomicBool::new(false), end: AtomicBool::new(false) };
        let mut counts = LiveCounts::default();
        let result = std::thread::scope(|scope| {
            let shared = &shared;
            let end = End(shared);
            let spawn = |(number, part)| {
                let worker = Worker::new(part, ports, since);
                let work = move || {
                    let result = shared.work(number, worker);
                    shared.end.fetch_or(result.is_err(), Ordering::Relaxed);
                    result
                };
                std::thread::Builder::new().name(format!("worker{number}")).spawn_scoped(scope, work)
            };
            let threads: Result<Vec<_>, _> = parts.iter_mut().enumerate().map(spawn).collect();
            if threads.is_ok() {
                self.host(shared, &mut counts, &mut stop);
            }
            drop(end);
            let mut missed: Result<u64, PortError> = Ok(0);
            for thread in threads.map_err(PortError::Thread)? {
                let result = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                missed = missed.and_then(|sum| Ok(sum + result?));
            }
            missed
        });
        let seats = shared.seats.into_iter().map(|seat| seat.into_inner().unwrap_or_else(|e| e.into_inner()));
        let mut sum = LiveCounts::default();
        for seat in seats {
            sum.add(&seat.counts);
            self.all.cores.extend(seat.core);
        }
        self.all.be_patient(true);
        bindings.join(parts);
        Ok(LiveCounts { missed: result?, ..sum })
    }

    /// Between rounds: loads and what the host wants, until that or the end of all sources ends it.
    fn host(
        &mut self,
        shared: &Shared,
        counts: &mut LiveCounts,
        stop: &mut impl FnMut(&mut dyn Device, &LiveCounts) -> bool,
    ) {
        while !shared.end.load(Ordering::Relaxed) {
            let Some(mut seats) = shared.take() else { return };
            self.all.cores.extend(seats.iter_mut().filter_map(|seat| seat.core.take()));
            *counts = LiveCounts::default();
            seats.iter().for_each(|seat| counts.add(&seat.counts));
            let over = stop(self, counts);
            let more = self.step_loads();
            let at_end = seats.iter().all(|seat| seat.ended) && self.all.is_idle() && self.loads.is_empty();
            for (seat, core) in seats.iter_mut().zip(self.all.cores.drain(..)) {
                seat.core = Some(core);
            }
            drop(seats);
            shared.pause.store(false, Ordering::SeqCst);
            if over || at_end {
                return;
            }
            if !more {
                std::thread::sleep(PAUSE);
            }
        }
    }
}
