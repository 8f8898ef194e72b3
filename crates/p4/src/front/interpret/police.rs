//! Meters of two colours (`police` of sluice.p4): a word has the time up to which the rate is used.

use sluice_rmt::state::Access;
use sluice_rmt::text::{MeterRate, meter_row};

/// A rate with its burst, in units of time of 2^`shift` / 256 ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Police {
    /// How far ahead of now a word may be: the burst.
    limit: u32,
    /// Time of a packet, or of a byte with 16 bits behind the point.
    cost: u32,
    /// A word that is further ahead is one of long ago.
    top: u32,
    bytes: bool,
    shift: u8,
}

impl Police {
    /// So many packets, or bits, a second, and packets or bytes at once; or what of it there is not, and what there is.
    pub fn of(rate: u64, burst: u32, bytes: bool) -> Result<Police, (String, String)> {
        if rate == 0 || burst == 0 {
            return Err((format!("rate {rate} with burst {burst}"), "1 and more".to_string()));
        }
        let rate = MeterRate { rate, packets: !bytes, burst: burst.into() };
        match meter_row(&rate)? {
            Access::Meter { limit, cost, top, shift, .. } => Ok(Police { limit, cost, top, bytes, shift }),
            Access::Atom { .. } => Err(("no meter".to_string(), "a meter".to_string())),
        }
    }

    /// What a packet of so many bytes makes of a word at a time, and whether it is red; then nothing is used.
    pub fn packet(&self, word: u32, ticks: u64, bytes: u16) -> (u32, bool) {
        // Of the time, in units, 32 bits.
        let now = (u128::from(ticks) * 256 / (1 << self.shift)) as u32;
        let used = match word.wrapping_sub(now) {
            ahead if ahead <= self.top => ahead,
            _ => 0,
        };
        if used > self.limit {
            return (word, true);
        }
        let cost = if self.bytes { (u64::from(self.cost) * u64::from(bytes) / (1 << 16)) as u32 } else { self.cost };
        (now.wrapping_add(used).wrapping_add(cost), false)
    }

    /// The pipeline's access.
    pub fn row(&self) -> Access {
        let Police { limit, cost, top, bytes, shift } = *self;
        Access::Meter { limit, cost, top, per_packet: !bytes, shift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_green_up_to_the_burst_and_one_more_for_each_that_the_rate_gives() {
        // A packet in 250 ticks, three at once.
        let police = Police::of(1_000_000, 3, false).unwrap();
        let mut word = 0;
        let mut at = |ticks: u64| {
            let (now, is_red) = police.packet(word, ticks, 64);
            word = now;
            is_red
        };
        let first = 1 << 40;
        assert_eq!(
            [0, 0, 0, 0, 251, 251, 600].map(|later| at(first + later)),
            [false, false, false, true, false, true, false]
        );
    }

    #[test]
    fn what_there_is_not_is_refused() {
        assert!(Police::of(0, 1, false).is_err());
        assert!(Police::of(1, 0, true).is_err());
        assert!(Police::of(1 << 50, 1, false).is_err());
    }
}
