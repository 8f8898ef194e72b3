//! The buffer's read port: which copy has a beat of it in which tick.

use super::options::Service;

/// A copy whose last beat has been read.
#[derive(Debug)]
pub(super) struct Read<C> {
    pub copy: C,
    /// Ticks of its first beat and of its last one.
    pub first: u64,
    pub last: u64,
}

#[derive(Debug)]
struct Reading<C> {
    copy: C,
    /// Ticks that it needs, and still needs.
    ticks: u32,
    left: u32,
    first: u64,
    last: u64,
}

/// Reads a copy for each destination at most: a beat a tick over all of them, in turns, or each at a rate of its own.
///
/// Turns are of a beat, as in the hardware (rtl/nic/sluice_nic_reader.sv): so a destination has a beat in as many ticks as there are
/// destinations, however long the packets of the others are. What a queue is sure to take rests on it
/// (docs/decisions/isolation.md, "Share at a destination").
#[derive(Debug)]
pub(super) struct Reader<C> {
    service: Service,
    readings: Vec<Option<Reading<C>>>,
    /// Whose turn it is, if it has a copy.
    turn: usize,
    /// Beats of ticks before this one have been read.
    read_until: u64,
}

impl<C> Reader<C> {
    pub fn new(service: Service, destinations: usize) -> Self {
        Self { service, readings: (0..destinations).map(|_| None).collect(), turn: 0, read_until: 0 }
    }

    pub fn is_free(&self, destination: usize) -> bool {
        self.readings[destination].is_none()
    }

    pub fn is_idle(&self) -> bool {
        self.readings.iter().all(Option::is_none)
    }

    /// Begins to read a copy that needs so many ticks, for a free destination.
    pub fn begin(&mut self, destination: usize, copy: C, ticks: u32) {
        self.readings[destination] = Some(Reading { copy, ticks, left: ticks, first: 0, last: 0 });
    }

    /// Reads what is read before `now`.
    pub fn read_to(&mut self, now: u64) {
        match self.service {
            Service::Shared => {
                while self.read_until < now
                    && let Some(destination) = self.next_destination()
                {
                    self.turn = destination + 1;
                    self.read(destination, 1);
                    self.read_until += 1;
                }
            }
            Service::PerDestination { .. } => {
                let ticks = (now - self.read_until).min(u32::MAX.into()) as u32;
                (0..self.readings.len()).for_each(|destination| self.read(destination, ticks));
            }
        }
        self.read_until = now;
    }

    /// The destination's copy, when its last beat has been read.
    pub fn take(&mut self, destination: usize) -> Option<Read<C>> {
        let done = self.readings[destination].take_if(|reading| reading.left == 0)?;
        Some(Read { copy: done.copy, first: done.first, last: done.last })
    }

    /// The tick behind the next last beat.
    pub fn next_end(&self) -> Option<u64> {
        let reading = |d: &usize| self.readings[*d].as_ref();
        let left = |d: usize| self.readings[d].as_ref().map(|reading| u64::from(reading.left));
        let destinations = self.readings.len();
        let ticks = match self.service {
            Service::Shared => {
                let in_turn = (0..destinations).map(|i| (self.turn + i) % destinations);
                let turns = (0..destinations).filter(|d| reading(d).is_some()).count() as u64;
                in_turn.filter_map(left).zip(1..).map(|(left, place)| left.saturating_sub(1) * turns + place).min()
            }
            Service::PerDestination { .. } => (0..destinations).filter_map(left).min(),
        };
        ticks.map(|ticks| self.read_until + ticks)
    }

    /// The next destination in turn that has beats to read.
    fn next_destination(&self) -> Option<usize> {
        let destinations = self.readings.len();
        let has_beats = |d: &usize| self.readings[*d].as_ref().is_some_and(|reading| reading.left > 0);
        (0..destinations).map(|i| (self.turn + i) % destinations).find(has_beats)
    }

    /// Reads for one destination, from the first tick that has not been read.
    fn read(&mut self, destination: usize, ticks: u32) {
        let Some(reading) = self.readings[destination].as_mut().filter(|reading| reading.left > 0) else { return };
        if reading.left == reading.ticks {
            reading.first = self.read_until;
        }
        let read = ticks.min(reading.left);
        reading.left -= read;
        if read > 0 {
            reading.last = self.read_until + u64::from(read) - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First and last ticks of copies that begin together at tick 5.
    fn ticks(service: Service, beats: &[u32]) -> Vec<(u64, u64)> {
        let mut reader = Reader::new(service, beats.len());
        reader.read_to(5);
        (0..).zip(beats).filter(|(_, beats)| **beats > 0).for_each(|(d, beats)| reader.begin(d, d, *beats));
        let mut seen = vec![(0, 0); beats.len()];
        while let Some(end) = reader.next_end() {
            reader.read_to(end);
            let done: Vec<_> = (0..beats.len()).filter_map(|d| reader.take(d)).collect();
            assert!(!done.is_empty() && done.iter().all(|read| read.last + 1 == end), "{done:?} at {end}");
            done.into_iter().for_each(|read| seen[read.copy] = (read.first, read.last));
        }
        assert!(reader.is_idle());
        seen
    }

    #[test]
    fn destinations_take_turns_of_a_beat() {
        assert_eq!(ticks(Service::Shared, &[3]), [(5, 7)]);
        assert_eq!(ticks(Service::Shared, &[4, 1, 0, 2]), [(5, 11), (6, 6), (0, 0), (7, 9)]);
        assert_eq!(ticks(Service::Shared, &[1, 100, 100]), [(5, 5), (6, 204), (7, 205)]);
    }

    #[test]
    fn destinations_with_rates_of_their_own_do_not_meet() {
        assert_eq!(
            ticks(Service::PerDestination { bytes_per_tick: 1 }, &[4, 1, 0, 4]),
            [(5, 8), (5, 5), (0, 0), (5, 8)]
        );
    }

    #[test]
    fn a_look_between_two_ends_changes_no_tick() {
        let mut reader = Reader::new(Service::Shared, 2);
        reader.begin(0, 'a', 3);
        reader.begin(1, 'b', 3);
        for now in 0..6 {
            assert_eq!(reader.next_end(), Some(5), "at {now}");
            reader.read_to(now);
        }
        let read = reader.take(0).unwrap();
        assert_eq!((read.copy, read.first, read.last, reader.next_end()), ('a', 0, 4, Some(6)));
    }
}
