//! When a simulated NIC may leave cycles out, and how many: `docs/decisions/idle-jump.md`.
//!
//! Nothing is inside, nothing is on the configuration ring, and nothing has happened for a while. What goes on by itself then is time:
//! the next frame, and what waits in the l7 engine's message table and expires.

use sluice_device::Offer;
use sluice_formats::l7::target::{EXPIRY_NS, EXPIRY_TICK_CYCLES, EXPIRY_TICK_NS, MOST_EXPIRY};
use std::collections::{BTreeSet, VecDeque};

/// Cycles after the last event or message in which everything that follows from it has come to rest.
const SETTLED: u64 = 16_384;
/// Cycles that are run before the next event, and between two jumps.
const MARGIN: u64 = 64;
/// Most cycles of a jump: half a quarter of what the narrowest clock in the NIC counts before it wraps.
const MOST: u64 = 1 << 29;
/// More times at which messages came are joined.
const MOST_TIMES: usize = 64;

/// What a simulated NIC waits for by itself.
#[derive(Debug)]
pub struct Idle {
    /// Cycles are never left out.
    off: bool,
    /// Tick of the last event or message.
    stirred: u64,
    /// By port: earliest ticks of frames that have not ended.
    coming: Vec<VecDeque<u64>>,
    /// When entries of the message table may have been made or touched, from and to.
    touched: VecDeque<(u64, u64)>,
    /// Cycles until such an entry expires, of all rows so far.
    expiries: BTreeSet<u64>,
    /// Cycles of a pass over the message table.
    pass: u64,
}

impl Idle {
    /// Of a NIC after its reset, with so many ports and entries of the message table. With `off` it never jumps.
    pub fn new(ports: u32, entries: u64, off: bool) -> Self {
        let coming = vec![VecDeque::new(); ports as usize];
        Self { off, stirred: 0, coming, touched: VecDeque::new(), expiries: BTreeSet::new(), pass: 4 * entries }
    }

    /// Something has happened, or was asked for.
    pub fn stir(&mut self, tick: u64) {
        self.stirred = self.stirred.max(tick);
    }

    /// Frames were given to the ports.
    pub fn offered(&mut self, packets: &[Offer]) {
        for packet in packets {
            if let Some(port) = self.coming.get_mut(usize::from(packet.port)) {
                port.push_back(packet.at);
            }
        }
    }

    /// A frame has ended at a port.
    pub fn arrived(&mut self, port: u8) {
        self.coming.get_mut(usize::from(port)).and_then(VecDeque::pop_front);
    }

    /// Frames that have not ended at their ports.
    pub fn coming(&self) -> u64 {
        self.coming.iter().map(|port| port.len() as u64).sum()
    }

    /// An application has this expiry, in ticks of the message table's time; 0 is the usual one.
    pub fn has_expiry(&mut self, ticks: u32) {
        let ticks = if ticks == 0 { EXPIRY_NS / EXPIRY_TICK_NS } else { u64::from(ticks.min(MOST_EXPIRY)) };
        self.expiries.insert(ticks * EXPIRY_TICK_CYCLES);
    }

    /// A packet of a message was decided: an entry may wait from now on.
    pub fn touches(&mut self, tick: u64) {
        match self.touched.back_mut() {
            Some((_, last)) if tick <= *last + self.pass => *last = (*last).max(tick),
            _ => self.touched.push_back((tick, tick)),
        }
        if self.touched.len() > MOST_TIMES {
            let (first, _) = self.touched.pop_front().unwrap_or_default();
            if let Some(next) = self.touched.front_mut() {
                next.0 = first;
            }
        }
    }

    /// Cycles that may be left out from `now` on, where nothing is inside, before the tick `end`. The next ones are run. None without an
    /// end and without a frame that comes: who looks whether the NIC has come to rest waits for a few cycles, and not for what expires.
    pub fn may_skip(&mut self, now: u64, end: u64) -> Option<u64> {
        if self.off || now < self.stirred + SETTLED {
            return None;
        }
        let late = self.expiries.last().map_or(0, |longest| longest + 2 * self.pass + MARGIN);
        while self.touched.front().is_some_and(|(_, last)| last + late < now) {
            self.touched.pop_front();
        }
        let first_frame = self.coming.iter().filter_map(VecDeque::front).min().copied();
        let mut end = end.min(first_frame.unwrap_or(u64::MAX));
        if end == u64::MAX {
            return None;
        }
        for (first, last) in &self.touched {
            for expiry in &self.expiries {
                // An entry that has expired is found when the pass comes to it.
                let (from, to) = (first + expiry, last + expiry + 2 * self.pass + MARGIN);
                if now <= to {
                    end = end.min(from);
                }
            }
        }
        let cycles = end.saturating_sub(now).saturating_sub(2 * MARGIN).min(MOST);
        Some(cycles / EXPIRY_TICK_CYCLES * EXPIRY_TICK_CYCLES).filter(|cycles| *cycles > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wait's end.
    const LATE: u64 = 1 << 42;

    fn offer(port: u8, at: u64) -> Offer {
        Offer { port, bytes: vec![0; 60], at, bad: false }
    }

    #[test]
    fn it_jumps_to_shortly_before_the_next_frame_and_never_past_one() {
        let mut idle = Idle::new(2, 128, false);
        idle.stir(1_000);
        assert_eq!(idle.may_skip(1_000 + SETTLED - 1, LATE), None, "what happened may have consequences");
        assert_eq!(idle.may_skip(1_000 + SETTLED, LATE), Some(MOST));
        assert_eq!(idle.may_skip(1_000 + SETTLED, u64::MAX), None, "nobody waits for anything");
        idle.offered(&[offer(0, 90_000), offer(1, 60_000), offer(0, 50_000)]);
        // Frames of a port come one after the other.
        let skipped = idle.may_skip(20_000, LATE).unwrap();
        assert!((60_000 - 4 * MARGIN..60_000).contains(&(20_000 + skipped)), "{skipped}");
        idle.arrived(1);
        assert_eq!(idle.coming(), 2);
        assert!(20_000 + idle.may_skip(20_000, LATE).unwrap() > 89_000);
        assert_eq!(idle.may_skip(20_000, 20_100), None);
    }

    #[test]
    fn cycles_in_which_an_entry_may_expire_are_run() {
        let mut idle = Idle::new(1, 128, false);
        idle.has_expiry(1_000);
        idle.touches(10_000);
        idle.touches(10_100);
        let (from, to) = (10_000 + 64_000, 10_100 + 64_000 + 2 * 512 + MARGIN);
        let skipped = idle.may_skip(30_000, LATE).unwrap();
        assert!((from - 4 * MARGIN..from).contains(&(30_000 + skipped)), "{skipped}");
        assert_eq!(idle.may_skip(from - 10, LATE), None);
        assert_eq!(idle.may_skip(to, LATE), None);
        assert_eq!(idle.may_skip(to + 1, LATE), Some(MOST));
        assert!(idle.touched.is_empty());
    }

    #[test]
    fn many_times_become_longer_ones_and_none_is_forgotten() {
        let mut idle = Idle::new(1, 128, false);
        idle.has_expiry(0);
        (0..1_000).for_each(|i| idle.touches(i * 10_000));
        assert!(idle.touched.len() <= MOST_TIMES);
        assert_eq!((idle.touched[0].0, idle.touched.back().unwrap().1), (0, 9_990_000));
    }

    #[test]
    fn one_that_is_off_never_jumps() {
        assert_eq!(Idle::new(1, 128, true).may_skip(1 << 40, LATE), None);
    }
}
