//! What a tenant's shares are, and whether packets keep to them.

use sluice_formats::Target;
use sluice_formats::limits::MAX_FRAME_BYTES;
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

/// A share: GCRA in cost beats at a port, in packets at a destination; the packet is included in the burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Ticks of a beat or packet, with fraction bits.
    pub ticks_each: u64,
    /// Ticks.
    pub burst: u64,
}

impl Share {
    /// What the linker assures a tenant of at a port, rounded as his row has it.
    pub fn of(assured: &Assured) -> Self {
        Self::new(assured.beats_per_round, assured.burst_beats)
    }

    /// So many in 2^32 ticks, and so many at once.
    pub fn new(per_round: u64, at_once: u32) -> Self {
        let ticks_each = (1u64 << (32 + FRACTION)).div_ceil(per_round);
        let burst = u64::from(at_once) * ticks_each;
        Self { ticks_each, burst: burst.div_ceil(1 << FRACTION) }
    }

    /// Beats of the burst.
    pub fn burst_beats(&self) -> u64 {
        (self.burst << FRACTION) / self.ticks_each
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
            cost * self.share.ticks_each <= self.share.burst << FRACTION,
            "{cost} beats are no burst of {:?}",
            self.share
        );
        let needs = (self.full_at + cost * self.share.ticks_each).div_ceil(1 << FRACTION) + SLACK;
        at.max(needs.saturating_sub(self.share.burst))
    }

    /// Whether a packet of this cost keeps to the share at this tick.
    pub fn conforms(&self, at: u64, cost: u64) -> bool {
        let after = self.full_at.max(at << FRACTION) + cost * self.share.ticks_each;
        after - (at << FRACTION) <= self.share.burst << FRACTION
    }

    /// Takes it down.
    pub fn take(&mut self, at: u64, cost: u64) {
        self.full_at = self.full_at.max(at << FRACTION) + cost * self.share.ticks_each;
    }
}
