//! Rates of meters to the numbers of their rows.

use crate::state::Access;
use crate::text::names::MeterRate;
use sluice_formats::limits::{MAX_FRAME_BYTES, TICK_PS};

const TICKS_PER_SECOND: u128 = 1_000_000_000_000 / TICK_PS as u128;
/// Cost of a packet with enough digits: an error below 1/4096.
const FINE_PACKET: u128 = 1 << 12;
/// Cost of a byte likewise, with its 16 fraction bits: 64 units a byte.
const FINE_BYTE: u128 = 1 << 22;
const LARGEST_TOP: u128 = (1 << 31) - 1;

/// The row of a meter: the coarsest unit of time that is still fine. Or what is found, and what is allowed.
///
/// The cost is rounded up, so that the rate is never above what is asked. A coarse unit keeps the span small in
/// which a word that rested counts as used.
pub fn row(meter: &MeterRate) -> Result<Access, (String, String)> {
    let numbers = |shift: u32| {
        // Units of time in a second, and what a packet or a byte takes of them.
        let scaled = TICKS_PER_SECOND << 8;
        let rate = u128::from(meter.rate) << shift;
        let cost = if meter.packets { scaled.div_ceil(rate) } else { (scaled * (8 << 16)).div_ceil(rate) };
        let (limit, largest) = if meter.packets {
            (cost * (u128::from(meter.burst) - 1), cost)
        } else {
            ((cost * u128::from(meter.burst)) >> 16, (cost * u128::from(MAX_FRAME_BYTES)) >> 16)
        };
        (cost, limit, limit + largest)
    };
    let fine = if meter.packets { FINE_PACKET } else { FINE_BYTE };
    let fits = |shift: u32| {
        let (cost, _, top) = numbers(shift);
        cost <= u128::from(u32::MAX) && top <= LARGEST_TOP
    };
    let coarsest_fine = (0..=55).rev().find(|s| numbers(*s).0 >= fine && fits(*s));
    let Some(shift) = coarsest_fine.or((0..=55).find(|s| fits(*s))) else {
        let kind = if meter.packets { "packets" } else { "bits" };
        return Err((format!("{} {kind} a second", meter.rate), "a higher rate or a smaller burst".into()));
    };
    let (cost, limit, top) = numbers(shift);
    // A cost of few units says another rate.
    if cost < 64 {
        let kind = if meter.packets { "packets" } else { "bits" };
        let found = format!("{} {kind} a second with a burst of {}", meter.rate, meter.burst);
        return Err((found, "a lower rate or a smaller burst: the clock has 31 bits".into()));
    }
    Ok(Access::Meter {
        limit: limit as u32,
        cost: cost as u32,
        top: top as u32,
        per_packet: meter.packets,
        shift: shift as u8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(rate: u64, packets: bool, burst: u64) -> (u32, u32, u32, u8) {
        match row(&MeterRate { rate, packets, burst }) {
            Ok(Access::Meter { limit, cost, top, shift, .. }) => (limit, cost, top, shift),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_meter_by_packets_has_the_burst_less_one_and_costs_that_give_the_rate() {
        for (rate, burst) in [(1, 1), (1000, 16), (1_000_000, 32), (60_000_000, 4)] {
            let (limit, cost, top, shift) = numbers(rate, true, burst);
            assert_eq!((limit, top), (cost * (burst as u32 - 1), cost * burst as u32));
            let units = 250e6 * 256.0 / f64::powi(2.0, shift.into());
            let exact = units / rate as f64;
            // Rounded up, and with 12 digits where the unit of time can be chosen.
            assert!((exact..exact + 1.0).contains(&f64::from(cost)), "{rate}: {cost}, exactly {exact}");
            assert!(cost >= 4096 || shift == 0, "{rate}: {cost}");
        }
    }

    #[test]
    fn a_meter_by_bits_gives_the_rate_too() {
        for (rate, burst) in [(1_000_000, 10_000), (1_000_000_000, 64_000), (100_000_000_000, 10_000)] {
            let (limit, cost, top, shift) = numbers(rate, false, burst);
            assert!(top > limit && top < 1 << 31);
            let units = 250e6 * 256.0 / f64::powi(2.0, shift.into());
            let got = units * 65536.0 * 8.0 / f64::from(cost);
            assert!(got <= rate as f64 * 1.000001 && got > rate as f64 * 0.999, "{rate}: {got}");
            assert!((f64::from(limit) / (f64::from(cost) / 65536.0) - burst as f64).abs() < 1.0);
        }
    }

    #[test]
    fn rates_that_no_row_says_are_refused() {
        assert!(row(&MeterRate { rate: 1 << 50, packets: true, burst: 1 }).is_err());
        assert!(row(&MeterRate { rate: 1, packets: true, burst: u32::MAX.into() }).is_err());
        assert!(row(&MeterRate { rate: u64::MAX, packets: false, burst: 1 }).is_err());
    }
}
