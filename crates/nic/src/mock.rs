//! A device that is slow and reorders, to test what stands above the trait.
//!
//! It does what the software NIC does, and tells it as late and as shuffled as the trait
//! allows: outcomes of one queue in order, everything else in any order; loads begin late,
//! their ends are told late, and time passes in small pieces.

use crate::device::{
    Capabilities, Counters, Device, DeviceError, Event, Offer, OpId, Outcome, Verdict, XdpEvent, XdpMap, check_load,
};
use crate::software::SoftwareNic;
use sluice_ebpf::MapId;
use sluice_ebpf::helper::routes::Routes;
use sluice_formats::random::Rng;
use sluice_formats::{Node, Table, Target};
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
pub struct MockDevice {
    capabilities: Capabilities,
    inner: SoftwareNic,
    rng: Rng,
    late: Vec<Late>,
    loads: VecDeque<(u64, OpId, Load)>,
    /// Own numbers of the operations that the inner device runs, in its order.
    running: VecDeque<OpId>,
    next_op: u64,
}

impl MockDevice {
    /// A device after reset whose delays follow from `seed`.
    pub fn new(target: Target, seed: u64) -> Self {
        let inner = SoftwareNic::new(target);
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
        Verdict::Dropped { .. } => Lane::Alone,
    }
}

impl Device for MockDevice {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn submit(&mut self, load: &Load) -> Result<OpId, DeviceError> {
        check_load(load, &self.capabilities.target)?;
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

    fn maps(&mut self, module: u8) -> Result<Vec<XdpMap>, DeviceError> {
        self.inner.maps(module)
    }

    fn map_lookup(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<Vec<u8>, DeviceError> {
        self.inner.map_lookup(module, map, key)
    }

    fn map_update(&mut self, module: u8, map: MapId, key: &[u8], value: &[u8], flags: u64) -> Result<(), DeviceError> {
        self.inner.map_update(module, map, key, value, flags)
    }

    fn map_delete(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<(), DeviceError> {
        self.inner.map_delete(module, map, key)
    }

    fn map_next_key(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError> {
        self.inner.map_next_key(module, map, key)
    }

    fn set_routes(&mut self, module: u8, routes: Routes) -> Result<(), DeviceError> {
        self.inner.set_routes(module, routes)
    }

    fn take_xdp_events(&mut self, module: u8) -> Vec<XdpEvent> {
        self.inner.take_xdp_events(module)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{Bench, tagged_frame};
    use sluice_formats::target::TINY;

    /// Polled order of 20 packets to two queues.
    fn order(seed: u64) -> Vec<u32> {
        let mut device = MockDevice::new(TINY, seed);
        let mut bench = Bench::with_tenants(&mut device);
        for i in 0..10 {
            bench.offer(0, [tagged_frame(10, 60, i)]);
            bench.offer(1, [tagged_frame(20, 60, i)]);
        }
        bench.rest();
        bench.outcomes.iter().map(|o| o.id).collect()
    }

    #[test]
    fn queues_are_shuffled_by_the_seed_and_each_keeps_its_order() {
        let orders: Vec<Vec<u32>> = (0..4).map(order).collect();
        assert_eq!(orders[1], order(1));
        assert!(orders.windows(2).any(|w| w[0] != w[1]));
        for order in orders {
            let of_port = |port| order.iter().filter(|id| *id >> 28 == port).copied().collect::<Vec<_>>();
            assert!(of_port(0).is_sorted() && of_port(1).is_sorted());
            assert!(!order.is_sorted());
        }
    }
}
