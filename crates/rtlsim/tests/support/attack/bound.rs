//! What a tenant's share is at a port, and how late a packet within it may be.

use sluice_formats::Target;
use sluice_formats::limits::MAX_FRAME_BYTES;
pub use sluice_object::linker::delivery::pipeline;
use sluice_object::linker::delivery::{CHOSEN, LATE, SHORTEST};
use sluice_object::linker::shares::Assured;

/// Fraction bits of a rate.
pub const FRACTION: u32 = 16;

/// Ticks by which a frame may end sooner or later than its beats say: where the tag comes off, it may have one beat less.
const SLACK: u64 = 2;

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
    /// What the linker assures a tenant of at a port, rounded as his row has it.
    pub fn of(assured: &Assured) -> Self {
        let ticks_per_beat = (1u64 << (32 + FRACTION)).div_ceil(assured.beats_per_round);
        let burst = u64::from(assured.burst_beats) * ticks_per_beat;
        Self { ticks_per_beat, burst: burst.div_ceil(1 << FRACTION) }
    }

    /// The same rate with bursts of so many beats at most.
    pub fn with_bursts(&self, beats: u64) -> Self {
        let burst = (beats * self.ticks_per_beat).div_ceil(1 << FRACTION);
        Self { burst: self.burst.min(burst), ..*self }
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
        assert!(
            cost * self.share.ticks_per_beat <= self.share.burst << FRACTION,
            "{cost} beats are no burst of {:?}",
            self.share
        );
        let needs = (self.full_at + cost * self.share.ticks_per_beat).div_ceil(1 << FRACTION) + SLACK;
        at.max(needs.saturating_sub(self.share.burst))
    }

    /// Whether a packet of this cost keeps to the share at this tick.
    pub fn conforms(&self, at: u64, cost: u64) -> bool {
        let after = self.full_at.max(at << FRACTION) + cost * self.share.ticks_per_beat;
        after - (at << FRACTION) <= self.share.burst << FRACTION
    }

    /// Takes it down.
    pub fn take(&mut self, at: u64, cost: u64) {
        self.full_at = self.full_at.max(at << FRACTION) + cost * self.share.ticks_per_beat;
    }
}

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

/// Cycles from a packet's last beat in the buffer to its first beat out, at most: each destination reads a beat in as many cycles as
/// there are destinations.
pub fn egress(target: &Target, turn: &Turn) -> u64 {
    let all: u64 = turn.others.iter().map(|(quantum, beats)| quantum / SHORTEST + 1 + LATE * beats).sum();
    let largest = turn.others.iter().map(|(_, beats)| *beats).max().unwrap_or(0).max(turn.own);
    let beats = (all + turn.own) * turn.waiting.max(1) + CHOSEN * largest;
    u64::from(target.destinations()) * beats + pipeline(target)
}
