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

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::target::DEFAULT;
    use std::borrow::Cow;

    fn packet(module: u8, bytes: usize) -> Box<Packet> {
        let mut packet = Box::<Packet>::default();
        packet.begin(Cow::Owned(vec![0; bytes]), false);
        packet.module = module;
        packet
    }

    /// Gives each module's lane so many packets.
    fn filled(modules: &[u8], packets: usize) -> Lanes {
        let mut lanes = Lanes::new(&DEFAULT);
        modules.iter().for_each(|module| (0..packets).for_each(|_| lanes.push(packet(*module, 60))));
        lanes
    }

    #[test]
    fn time_is_shared_by_quantum_however_long_packets_take() {
        // Nanoseconds of a packet, and quantum; the first one loops to its limit.
        let tenants = [(3, 100_000, 1500), (7, 300, 1500), (63, 1_000, 3000)];
        let mut lanes = filled(&[3, 7, 63], 1000);
        let mut time = [0u64; 64];
        let (mut longest_wait, mut waited) = (0, 0);
        for _ in 0..2_000 {
            let of = |module: u8| tenants.iter().find(|t| t.0 == module).copied().unwrap();
            let module = lanes.next(|module| of(module).2).unwrap();
            lanes.pop(module).unwrap();
            // The lanes are never empty.
            lanes.push(packet(module, 60));
            lanes.charge(module, of(module).1);
            time[usize::from(module)] += of(module).1;
            waited = if module == 7 { 0 } else { waited + of(module).1 };
            longest_wait = longest_wait.max(waited);
        }
        let quantum = |bytes: u64| u64::from(NS_PER_BYTE) * bytes;
        // One packet of the long one and a turn of the other, in its place and once more.
        assert!(longest_wait <= 2 * (100_000 + quantum(3000) + 1_000), "{longest_wait} ns");
        let (short, long, double) = (time[7], time[3], time[63]);
        assert!(short.abs_diff(long) <= 100_000 + quantum(1500), "{short} and {long} ns");
        assert!(double.abs_diff(2 * short) <= 100_000 + 2 * quantum(3000), "{double} and twice {short} ns");
    }

    #[test]
    fn a_tenant_that_was_away_has_no_time_saved_up() {
        let mut lanes = filled(&[1, 2], 2);
        for _ in 0..2 {
            let module = lanes.next(|_| 1500).unwrap();
            lanes.pop(module).unwrap();
            lanes.charge(module, 1_000_000);
        }
        // Both owe 988 us; who comes anew is served at once, and no longer than a turn.
        lanes.push(packet(5, 60));
        assert_eq!(lanes.next(|_| 1500), Some(5));
        lanes.pop(5).unwrap();
        lanes.charge(5, 1_000);
        lanes.push(packet(5, 60));
        assert_eq!(lanes.next(|_| 1500), Some(5), "the others still owe");
    }

    #[test]
    fn a_lane_is_full_by_packets_and_by_bytes_and_no_other_lane_with_it() {
        let mut lanes = filled(&[9], PACKETS);
        assert_eq!((lanes.room(9, 60), lanes.room(8, 60)), (Err(Reason::OverShare), Ok(())));
        assert_eq!(lanes.packets_of(9), PACKETS as u64);
        lanes.pop(9).unwrap();
        assert_eq!(lanes.room(9, 60), Ok(()));
        let mut long = Lanes::new(&DEFAULT);
        let mut count = 0;
        while long.room(0, 9_216).is_ok() {
            long.push(packet(0, 9_216));
            count += 1;
        }
        assert_eq!(count, BYTES / 9_216);
        (0..count).for_each(|_| assert!(long.pop(0).is_some()));
        assert!(long.is_empty() && long.pop(0).is_none() && long.next(|_| 1).is_none());
        assert_eq!(long.room(0, BYTES), Ok(()), "all bytes were given back");
    }
}
