//! When packets arrive: as fast as a line carries them, or as they were captured.

use sluice_formats::limits::TICK_PS;
use sluice_packet::generate::WIRE_OVERHEAD_BYTES;

/// How packets follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Back to back on a line of so many bit/s a port.
    Line(f64),
    /// At their stamps, counted from the first packet.
    Stamps,
}

/// Arrival ticks of one run.
#[derive(Debug)]
pub struct Clock {
    pace: Pace,
    /// First stamp in nanoseconds and the tick it stands for.
    origin: Option<u64>,
    start: u64,
    /// By port: tick at which the line is free again.
    free: Vec<f64>,
}

impl Clock {
    /// A clock whose first packet arrives at `start`.
    pub fn new(pace: Pace, ports: usize, start: u64) -> Self {
        Self { pace, origin: None, start, free: vec![start as f64; ports] }
    }

    /// Tick at which a packet of `bytes` with this stamp begins to arrive.
    pub fn arrival(&mut self, port: u8, stamp: u64, bytes: usize) -> u64 {
        match self.pace {
            Pace::Stamps => {
                let origin = *self.origin.get_or_insert(stamp);
                self.start + (u128::from(stamp.saturating_sub(origin)) * 1000 / u128::from(TICK_PS)) as u64
            }
            Pace::Line(bits_per_second) => {
                let free = &mut self.free[usize::from(port)];
                let at = *free;
                let bits = (bytes + WIRE_OVERHEAD_BYTES as usize) as f64 * 8.0;
                *free += bits / bits_per_second * 1e12 / TICK_PS as f64;
                at as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_spaces_packets_by_their_length_on_the_wire() {
        let mut clock = Clock::new(Pace::Line(100e9), 2, 10);
        let bytes = 100 - WIRE_OVERHEAD_BYTES as usize;
        // 800 bits at 100 Gbit/s are 8 ns, two ticks.
        let ticks: Vec<u64> = (0..3).map(|_| clock.arrival(0, 0, bytes)).collect();
        assert_eq!(ticks, [10, 12, 14]);
        assert_eq!(clock.arrival(1, 0, bytes), 10);
    }

    #[test]
    fn stamps_count_from_the_first_packet_and_never_go_back() {
        let mut clock = Clock::new(Pace::Stamps, 1, 5);
        assert_eq!(clock.arrival(0, 1_000_000, 64), 5);
        assert_eq!(clock.arrival(0, 1_000_040, 64), 15);
        assert_eq!(clock.arrival(0, 999_000, 64), 5);
    }
}
