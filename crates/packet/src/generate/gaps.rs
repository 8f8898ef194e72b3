//! Times between packets.

use sluice_formats::random::Rng;

/// Preamble, FCS and interpacket gap that a frame takes on the wire beside its bytes.
pub const WIRE_OVERHEAD_BYTES: u64 = 8 + 4 + 12;

/// Nanoseconds of idle wire before a packet, beyond the gap that Ethernet demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// None: line rate.
    BackToBack,
    /// Always the same.
    Fixed(u64),
    /// Uniform between both ends, which are included.
    Uniform {
        /// Shortest.
        min: u64,
        /// Longest.
        max: u64,
    },
    /// Packets back to back, and a gap after so many of them.
    Bursts {
        /// Packets of a burst.
        packets: u64,
        /// Gap between bursts.
        gap: u64,
    },
}

impl Gaps {
    /// The gap before packet number `index`, from 0.
    pub fn next(&self, index: u64, rng: &mut Rng) -> u64 {
        match self {
            Gaps::BackToBack => 0,
            Gaps::Fixed(gap) => *gap,
            Gaps::Uniform { min, max } => rng.range(*min, *max),
            Gaps::Bursts { packets, gap } => match index.checked_rem(*packets) {
                Some(0) if index > 0 => *gap,
                _ => 0,
            },
        }
    }
}
