//! Tenants' queues before the engines: whose turn it is, by what packets have cost.
//!
//! A packet may cost up to its tenant's work limit. A tenant whose packets have cost more than its part waits, so a neighbour's packet
//! waits at most for one packet of each of the others and its own refill (docs/decisions/data-plane.md, "One tenant's time").

use crate::drr::Drr;
use sluice_device::Packet;
use sluice_formats::{Reason, Target};
use std::collections::VecDeque;
use std::time::Instant;

/// Packets of one lane.
const PACKETS: usize = 1024;
/// Bytes of one lane: a tenant of long frames holds no more memory than another.
const BYTES: usize = 2 << 20;
/// Nanoseconds that a tenant gains a turn for each byte of its quantum: 12 us with 1,500.
const NS_PER_BYTE: u32 = 8;

/// What tells how long packets have taken.
pub(super) trait Clock {
    /// Nanoseconds.
    fn now(&mut self) -> u64;

    /// Packets of one tenant between two looks, where each is short.
    fn burst(&self) -> usize;

    /// Whether to look at the ports again, of a round that began at `start`.
    fn is_over(&self, start: u64, now: u64) -> bool;
}

/// The machine's clock.
#[derive(Debug)]
pub(super) struct Wall(pub Instant);

/// Longest round between two looks at the ports, in nanoseconds: less than a ring of 2,048 frames takes to fill at 20 million a second.
const ROUND_NS: u64 = 50_000;

impl Clock for Wall {
    fn now(&mut self) -> u64 {
        self.0.elapsed().as_nanos() as u64
    }

    fn burst(&self) -> usize {
        64
    }

    fn is_over(&self, start: u64, now: u64) -> bool {
        now - start > ROUND_NS
    }
}

/// Each packet costs one: what comes out depends on no clock.
#[derive(Debug, Default)]
pub(super) struct Counted(u64);

impl Clock for Counted {
    fn now(&mut self) -> u64 {
        self.0 += 1;
        self.0
    }

    fn burst(&self) -> usize {
        1
    }

    fn is_over(&self, _: u64, _: u64) -> bool {
        false
    }
}

#[derive(Debug, Default)]
struct Lane {
    packets: VecDeque<Box<Packet>>,
    bytes: usize,
}

/// A lane for each module.
#[derive(Debug)]
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    /// Modules with a packet.
    active: u64,
    turns: Drr,
}

impl Lanes {
    pub fn new(target: &Target) -> Self {
        let modules = target.modules as usize;
        Self { lanes: (0..modules).map(|_| Lane::default()).collect(), active: 0, turns: Drr::new(modules) }
    }

    pub fn is_empty(&self) -> bool {
        self.active == 0
    }

    /// Packets that wait of a module.
    pub fn packets_of(&self, module: u8) -> u64 {
        self.lanes.get(usize::from(module)).map_or(0, |lane| lane.packets.len() as u64)
    }

    /// Whether a frame of so many bytes finds room in its module's lane.
    #[inline]
    pub fn room(&self, module: u8, bytes: usize) -> Result<(), Reason> {
        let lane = &self.lanes[usize::from(module)];
        let fits = lane.packets.len() < PACKETS && lane.bytes + bytes <= BYTES;
        if fits { Ok(()) } else { Err(Reason::OverShare) }
    }

    #[inline]
    pub fn push(&mut self, packet: Box<Packet>) {
        let lane = &mut self.lanes[usize::from(packet.module)];
        self.active |= 1 << packet.module;
        lane.bytes += packet.frame.bytes().len();
        lane.packets.push_back(packet);
    }

    /// The module whose turn it is; a module gains a part of the time by its quantum.
    pub fn next(&mut self, quantum: impl Fn(u8) -> u32) -> Option<u8> {
        self.turns.next(self.active, |module| NS_PER_BYTE * quantum(module as u8)).map(|module| module as u8)
    }

    #[inline]
    pub fn pop(&mut self, module: u8) -> Option<Box<Packet>> {
        let lane = &mut self.lanes[usize::from(module)];
        let packet = lane.packets.pop_front()?;
        lane.bytes -= packet.frame.bytes().len();
        if lane.packets.is_empty() {
            self.active &= !(1 << module);
        }
        Some(packet)
    }

    /// What packets of a module have cost.
    pub fn charge(&mut self, module: u8, ns: u64) {
        let empty = self.active >> module & 1 == 0;
        self.turns.charge(module.into(), ns.min(u32::MAX.into()) as u32, empty);
    }
}
