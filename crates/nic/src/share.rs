//! A tenant's share of a port: docs/design/nic.md, "Ingress of port p".

use sluice_formats::Target;
use sluice_formats::limits::{COST_FRACTION_BITS, MAX_FRAME_BYTES};
use sluice_formats::rows::ShareRow;

/// A module's share at one port, and how much of it is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Rate, burst and growth.
    pub row: ShareRow,
    /// Theoretical arrival time in 2^-16 ticks, of ticks that never wrap; 0 is full.
    tat: u128,
}

impl Bucket {
    /// A full one.
    pub fn new(row: ShareRow) -> Self {
        Self { row, tat: 0 }
    }

    /// Beats that a packet of `bytes` may take of the pipeline: those of the most that programs of its module make of it.
    pub fn cost(&self, bytes: u32, target: &Target) -> u32 {
        target.beats((bytes + u32::from(self.row.growth)).min(MAX_FRAME_BYTES))
    }

    /// Whether a packet of this cost is beyond the share; charges it if not. `ticks` is its arrival and never wraps.
    pub fn is_beyond(&mut self, ticks: u64, cost: u32) -> bool {
        if self.row.ticks_per_beat == 0 {
            return false;
        }
        let now = u128::from(ticks) << COST_FRACTION_BITS;
        let after = self.tat.max(now) + u128::from(cost) * u128::from(self.row.ticks_per_beat);
        let beyond = after - now > u128::from(self.row.burst) << COST_FRACTION_BITS;
        if !beyond {
            self.tat = after;
        }
        beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::target::DEFAULT;

    #[test]
    fn a_share_is_its_rate_and_a_burst_that_holds_the_packet() {
        let mut bucket = Bucket::new(ShareRow { ticks_per_beat: 8 << COST_FRACTION_BITS, burst: 32, growth: 0 });
        assert_eq!([4, 1, 1].map(|cost| bucket.is_beyond(100, cost)), [false, true, true]);
        assert_eq!([107, 108, 109].map(|ticks| bucket.is_beyond(ticks, 1)), [true, false, true]);
        assert!(bucket.is_beyond(1 << 40, 5), "longer than the burst, also after a pause");
        assert!(!bucket.is_beyond(1 << 40, 4));
    }

    #[test]
    fn a_row_of_zeros_limits_nothing() {
        let mut bucket = Bucket::default();
        assert!((0..1000).all(|_| !bucket.is_beyond(0, 144)));
    }

    #[test]
    fn the_cost_is_that_of_the_longest_packet_that_a_program_makes() {
        let bucket = Bucket::new(ShareRow { growth: 64, ..ShareRow::default() });
        assert_eq!([60, 64, 65, 9_153, 9_216].map(|bytes| bucket.cost(bytes, &DEFAULT)), [2, 2, 3, 144, 144]);
    }
}
