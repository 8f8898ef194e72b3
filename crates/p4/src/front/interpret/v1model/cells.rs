//! What externs keep: counters, meters, registers.

use crate::front::interpret::Police;
use crate::front::interpret::value::Value;

/// Cells of an extern.
#[derive(Clone, Debug)]
pub(crate) enum Cells {
    /// Packets and bytes.
    Counter(Vec<(u64, u64)>),
    Meter(Meters),
    /// A rate, and the word of each meter.
    Police(Police, Vec<u32>),
    Register(Vec<Value>),
    Nothing,
}

/// Committed and peak rate of a meter, in packets or bytes a microsecond, with their bursts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeterRates {
    pub committed: (f64, u64),
    pub peak: (f64, u64),
}

#[derive(Clone, Debug)]
pub(crate) struct Meters {
    cells: Vec<Option<Meter>>,
    pub bytes: bool,
    /// A direct one has as many cells as its table has entries.
    direct: bool,
    /// Rates of all cells that have none of their own.
    all: Option<MeterRates>,
}

#[derive(Clone, Copy, Debug)]
struct Meter {
    rates: MeterRates,
    /// Tokens that are left, committed and peak.
    left: (f64, f64),
    time: u64,
}

impl Meter {
    fn new(rates: MeterRates, time: u64) -> Meter {
        Meter { rates, left: (rates.committed.1 as f64, rates.peak.1 as f64), time }
    }

    /// 0 green, 1 yellow, 2 red: RFC 2698 without colours that came with the packet.
    fn color(&mut self, amount: f64, time: u64) -> u128 {
        let passed = time.saturating_sub(self.time) as f64 / 1000.0;
        let fill = |left: f64, (rate, burst): (f64, u64)| (left + rate * passed).min(burst as f64);
        self.left = (fill(self.left.0, self.rates.committed), fill(self.left.1, self.rates.peak));
        self.time = time;
        if self.left.1 < amount {
            return 2;
        }
        self.left.1 -= amount;
        if self.left.0 < amount {
            return 1;
        }
        self.left.0 -= amount;
        0
    }
}

impl Cells {
    pub fn meter(cells: usize, bytes: bool, direct: bool) -> Cells {
        Cells::Meter(Meters { cells: vec![None; cells], bytes, direct, all: None })
    }
}

impl Meters {
    /// The colour of a packet; a meter without rates is green.
    pub fn color(&mut self, at: usize, bytes: usize, time: u64) -> u128 {
        if self.direct && at >= self.cells.len() {
            self.cells.resize(at + 1, None);
        }
        let all = self.all;
        let amount = if self.bytes { bytes as f64 } else { 1.0 };
        match self.cells.get_mut(at) {
            Some(cell) => {
                if cell.is_none() {
                    *cell = all.map(|rates| Meter::new(rates, time));
                }
                cell.as_mut().map_or(0, |meter| meter.color(amount, time))
            }
            None => 0,
        }
    }

    /// Whether somebody gave it rates.
    pub fn has_rates(&self) -> bool {
        self.all.is_some() || self.cells.iter().any(Option::is_some)
    }

    /// Sets the rates of one cell, or of all; whether it is there.
    pub fn set(&mut self, at: Option<usize>, rates: MeterRates, time: u64) -> bool {
        match at {
            None => {
                self.all = Some(rates);
                self.cells.fill(None);
                true
            }
            Some(at) => match self.cells.get_mut(at) {
                Some(cell) => {
                    *cell = Some(Meter::new(rates, time));
                    true
                }
                None => false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_is_green_up_to_its_burst_then_yellow_then_red_and_fills_with_time() {
        let Cells::Meter(mut meters) = Cells::meter(2, false, false) else { panic!("it is a meter") };
        assert!(meters.set(Some(1), MeterRates { committed: (1.0, 2), peak: (1.0, 3) }, 0));
        assert!(!meters.set(Some(2), MeterRates { committed: (1.0, 2), peak: (1.0, 3) }, 0));
        let colors: Vec<u128> = (0..5).map(|_| meters.color(1, 64, 0)).collect();
        assert_eq!(colors, [0, 0, 1, 2, 2]);
        // A microsecond gives one token to each.
        assert_eq!((meters.color(1, 64, 1000), meters.color(1, 64, 1000)), (0, 2));
        assert_eq!(meters.color(0, 64, 0), 0);
    }
}
