//! Packet sizes.

use sluice_formats::random::Rng;

/// The simple IMIX: weights 7:4:1 of 60, 590 and 1514 bytes (64, 594 and 1518 with FCS).
pub const IMIX: [(u64, usize); 3] = [(7, 60), (4, 590), (1, 1514)];

/// Sizes of packets, in bytes without FCS and without VLAN tag, which adds 4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All the same.
    Fixed(usize),
    /// One after the other, and again from the start.
    List(Vec<usize>),
    /// Uniform between both ends, which are included.
    Uniform {
        /// Smallest.
        min: usize,
        /// Largest.
        max: usize,
    },
    /// Random after [`IMIX`].
    Imix,
}

impl Sizes {
    /// The size of packet number `index`, from 0.
    pub fn next(&self, index: u64, rng: &mut Rng) -> usize {
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::List(sizes) if sizes.is_empty() => 0,
            Sizes::List(sizes) => sizes[(index % sizes.len() as u64) as usize],
            Sizes::Uniform { min, max } => rng.range(*min as u64, *max as u64) as usize,
            Sizes::Imix => {
                let total = IMIX.iter().map(|(weight, _)| weight).sum();
                let mut draw = rng.below(total);
                for (weight, size) in IMIX {
                    if draw < weight {
                        return size;
                    }
                    draw -= weight;
                }
                IMIX[0].1
            }
        }
    }
}
