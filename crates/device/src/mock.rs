//! A device that is slow and reorders, to test what stands above the trait.
//!
//! It does what the device in it does, and tells it as late and as shuffled as the trait
//! allows: outcomes of a module at one destination in order, everything else in any order; loads begin late,
//! their ends are told late, and time passes in small pieces.

use crate::counters::Counters;
use crate::device::{Capabilities, Device, check_engines, check_load};
use crate::error::DeviceError;
use crate::maps::Maps;
use crate::outcome::{Event, Offer, OpId, Outcome, Verdict};
use crate::rings::Rings;
use sluice_formats::random::Rng;
use sluice_formats::{Node, Table};
use sluice_object::Load;
use std::collections::VecDeque;

/// Outcomes and ends of operations are told at most this much late.
const MAX_DELAY_TICKS: u64 = 300;
/// Time passes in pieces of at most this size.
const MAX_PIECE_TICKS: u64 = 11;

/// What must stay in order among itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    Queue(u8, u8),
    Operations,
    /// Ordered with nothing.
    Alone,
}

#[derive(Debug)]
struct Late {
    lane: Lane,
    at: u64,
    event: Event,
}

/// A slow, reordering device.
#[derive(Debug)]
pub struct MockDevice<D> {
    capabilities: Capabilities,
    inner: D,
    rng: Rng,
    late: Vec<Late>,
    loads: VecDeque<(u64, OpId, Load)>,
    /// Own numbers of the operations that the inner device runs, in its order.
    running: VecDeque<OpId>,
    next_op: u64,
}

impl<D: Device> MockDevice<D> {
    /// A device around one after reset; its delays follow from `seed`.
    pub fn new(inner: D, seed: u64) -> Self {
        Self {
            capabilities: Capabilities { kind: "mock", ..inner.capabilities().clone() },
            inner,
            rng: Rng::new(seed),
            late: Vec::new(),
            loads: VecDeque::new(),
            running: VecDeque::new(),
            next_op: 0,
        }
    }

    /// Lets one small piece of at most `ticks` pass and gives its length.
    fn piece(&mut self, ticks: u64) -> Result<u64, DeviceError> {
        let piece = self.rng.range(1, MAX_PIECE_TICKS).min(ticks);
        self.inner.advance(piece)?;
        self.begin_loads(false)?;
        self.collect();
        Ok(piece)
    }

    fn begin_loads(&mut self, all: bool) -> Result<(), DeviceError> {
        while self.loads.front().is_some_and(|(at, ..)| all || *at <= self.inner.now()) {
            if let Some((_, op, load)) = self.loads.pop_front() {
                self.inner.submit(&load)?;
                self.running.push_back(op);
            }
        }
        Ok(())
    }

    /// Takes the inner device's events and decides when each is told.
    fn collect(&mut self) {
        for event in self.inner.poll(usize::MAX) {
            let (lane, event) = match event {
                Event::Outcome(outcome) => (lane(&outcome), Event::Outcome(outcome)),
                Event::OpDone { op, result } => {
                    (Lane::Operations, Event::OpDone { op: self.running.pop_front().unwrap_or(op), result })
                }
            };
            let at = self.inner.now() + self.rng.below(MAX_DELAY_TICKS);
            let before = self.late.iter().filter(|l| l.lane == lane && lane != Lane::Alone).map(|l| l.at).max();
            self.late.push(Late { lane, at: at.max(before.unwrap_or(0)), event });
        }
    }
}

fn lane(outcome: &Outcome) -> Lane {
    match outcome.verdict {
        Verdict::Forwarded { port } => Lane::Queue(port, outcome.module),
        Verdict::Delivered { queue } => Lane::Queue(queue | 0x80, outcome.module),
        // Messages end in an order of their own, so their packets have none among others.
        Verdict::Consumed { .. } | Verdict::Dropped { .. } => Lane::Alone,
    }
}

impl<D: Device> Device for MockDevice<D> {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn submit(&mut self, load: &Load) -> Result<OpId, DeviceError> {
        check_load(load, &self.capabilities.target)?;
        check_engines(load, &self.capabilities)?;
        let op = OpId(self.next_op);
        self.next_op += 1;
        let at = self.inner.now() + self.rng.below(MAX_DELAY_TICKS);
        self.loads.push_back((at, op, load.clone()));
        Ok(op)
    }

    fn offer(&mut self, packets: &[Offer]) -> Result<(), DeviceError> {
        self.inner.offer(packets)
    }

    fn now(&self) -> u64 {
        self.inner.now()
    }

    fn advance(&mut self, ticks: u64) -> Result<(), DeviceError> {
        let mut left = ticks;
        while left > 0 {
            left -= self.piece(left)?;
        }
        Ok(())
    }

    fn poll(&mut self, max: usize) -> Vec<Event> {
        let now = self.inner.now();
        let mut events = Vec::new();
        while events.len() < max {
            // The first of each lane whose time has come.
            let ready: Vec<usize> = (0..self.late.len())
                .filter(|i| self.late[*i].at <= now)
                .filter(|i| {
                    let lane = self.late[*i].lane;
                    lane == Lane::Alone || self.late[..*i].iter().all(|l| l.lane != lane)
                })
                .collect();
            match self.rng.choose(&ready) {
                Some(index) => events.push(self.late.remove(*index).event),
                None => break,
            }
        }
        events
    }

    fn set_blocked(&mut self, destination: u8, blocked: bool) -> Result<(), DeviceError> {
        self.inner.set_blocked(destination, blocked)
    }

    fn quiesce(&mut self) -> Result<(), DeviceError> {
        while !self.loads.is_empty() {
            self.piece(MAX_PIECE_TICKS)?;
        }
        let result = self.inner.quiesce();
        self.collect();
        result?;
        if let Some(last) = self.late.iter().map(|l| l.at).max() {
            self.advance(last.saturating_sub(self.inner.now()))?;
        }
        Ok(())
    }

    fn counters(&mut self) -> Result<Counters, DeviceError> {
        self.inner.counters()
    }

    fn read_row(&mut self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, DeviceError> {
        self.inner.read_row(node, table, index)
    }

    fn maps(&mut self) -> Result<&mut dyn Maps, DeviceError> {
        self.inner.maps()
    }

    fn rings(&mut self) -> Result<&mut dyn Rings, DeviceError> {
        self.inner.rings()
    }
}
