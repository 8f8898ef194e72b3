//! What a tenant's share is at a port, and how late a packet within it may be.

use sluice_formats::Target;
use sluice_formats::limits::MAX_FRAME_BYTES;

/// Fraction bits of a rate.
pub const FRACTION: u32 = 16;

/// Beats of the longest packet.
pub fn longest(target: &Target) -> u64 {
    u64::from(target.beats(MAX_FRAME_BYTES))
}

/// Beats that a packet of `length` bytes without its tag may take of the pipeline, with a program that adds `growth`.
pub fn cost(target: &Target, length: u32, growth: u32) -> u64 {
    u64::from(target.beats((length + growth).min(MAX_FRAME_BYTES)))
}

/// A share: GCRA in cost beats, the packet included in the burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Ticks a beat, with fraction bits.
    pub ticks_per_beat: u64,
    /// Ticks.
    pub burst: u64,
}

impl Share {
    /// An even part of a port's guaranteed service: a quarter of the pipeline less one cycle in 256, for so many tenants.
    pub fn even(target: &Target, tenants: u32, burst_beats: u64) -> Self {
        let parts = u64::from(target.ports) * u64::from(tenants);
        let ticks_per_beat = ((parts << FRACTION) * 256).div_ceil(255);
        Self { ticks_per_beat, burst: (burst_beats * ticks_per_beat) >> FRACTION }
    }

    /// Beats of the burst.
    pub fn burst_beats(&self) -> u64 {
        (self.burst << FRACTION) / self.ticks_per_beat
    }
}

/// Whether packets keep to a share.
#[derive(Clone, Debug)]
pub struct Bucket {
    share: Share,
    /// Tick with fraction bits at which the bucket is full again.
    full_at: u64,
}

impl Bucket {
    pub fn new(share: Share) -> Self {
        Self { share, full_at: 0 }
    }

    /// The first tick, not before `at`, at which a packet of this cost keeps to the share.
    pub fn earliest(&self, at: u64, cost: u64) -> u64 {
        let needs = self.full_at.max(at << FRACTION) + cost * self.share.ticks_per_beat;
        at.max(needs.div_ceil(1 << FRACTION).saturating_sub(self.share.burst))
    }

    /// Takes it down.
    pub fn take(&mut self, at: u64, cost: u64) {
        self.full_at = self.full_at.max(at << FRACTION) + cost * self.share.ticks_per_beat;
    }
}

/// What may be in front of a packet of one port.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// Cost beats that the FIFO holds of packets beyond shares, with the last of them.
    pub excess: u64,
    /// Sum of the bursts of all its tenants, in cost beats.
    pub bursts: u64,
}

/// Cycles of a packet within its share from its last beat in until it enters the pipeline, at most: what the FIFO holds, served
/// as the port is guaranteed, and what the merge may lag behind that.
pub fn ingress(target: &Target, port: &Port) -> u64 {
    let ports = u64::from(target.ports);
    let served = (port.excess + port.bursts) * ports * 256 / 255;
    // A turn and the packet that ends it, of each other port.
    served + (ports - 1) * 2 * longest(target) + PIPELINE
}

/// Cycles from a packet's entry into the pipeline to its first beat into the buffer, at most, and of the port before its FIFO: stages,
/// realignment, and what packets in front of it add.
pub const PIPELINE: u64 = 400;

/// What may be in front of a packet in its queue's destination.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// Of each other module that may send there: bytes of its turn, and beats of its longest packet.
    pub others: Vec<(u64, u64)>,
    /// Beats of the measured tenant's own longest packet.
    pub own: u64,
    /// Packets of his that may wait in his queue, and so turns that he needs at most.
    pub waiting: u64,
}

/// Shortest packet that leaves.
const SHORTEST: u64 = 14;
/// Copies that a destination has chosen already.
const CHOSEN: u64 = 9;
/// Packets that a module is charged for too late.
const LATE: u64 = 3;

/// Cycles from a packet's last beat in the buffer to its first beat out, at most: each destination reads a beat in as many cycles as
/// there are destinations.
pub fn egress(target: &Target, turn: &Turn) -> u64 {
    let all: u64 = turn.others.iter().map(|(quantum, beats)| quantum / SHORTEST + 1 + LATE * beats).sum();
    let largest = turn.others.iter().map(|(_, beats)| *beats).max().unwrap_or(0).max(turn.own);
    let beats = (all + turn.own) * turn.waiting.max(1) + CHOSEN * largest;
    u64::from(target.destinations()) * beats + PIPELINE
}
