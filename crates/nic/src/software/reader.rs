//! The buffer's read port: which copy has a beat of it in which tick.

use super::options::Service;
use sluice_formats::limits::HOST_SLOT_PERIOD;
use std::cell::Cell;

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

/// Whose slot a tick of the buffer's read port is, and whose turn comes where that one reads nothing
/// (rtl/nic/sluice_nic_slots.sv, docs/decisions/output-slots.md).
#[derive(Clone, Copy, Debug)]
struct Slots {
    ports: u64,
    hosts: u64,
    /// The destination that is asked first for what is left.
    turn: usize,
}

impl Slots {
    /// The destination that has the slot of a tick.
    fn owner(&self, tick: u64) -> usize {
        let period = u64::from(HOST_SLOT_PERIOD);
        let (round, is_host) = (tick / period, tick % period == period - 1);
        // Ports take the slots between two of host queues one after the other, and go on behind those.
        let owner = if is_host { self.ports + round % self.hosts } else { (tick - round) % self.ports };
        owner as usize
    }

    /// The destination that has a beat in a tick, of those that want one.
    fn next(&mut self, tick: u64, wants: impl Fn(usize) -> bool) -> Option<usize> {
        let owner = self.owner(tick);
        if wants(owner) {
            return Some(owner);
        }
        let destinations = (self.ports + self.hosts) as usize;
        let next = (0..destinations).map(|i| (self.turn + i) % destinations).find(|d| wants(*d))?;
        self.turn = next + 1;
        Some(next)
    }

    /// So many ticks from `tick` on are read for one destination that nobody else wants.
    fn alone(&mut self, tick: u64, destination: usize, ticks: u32) {
        // Of a period's ticks one at least is another's.
        let looked = ticks.min(HOST_SLOT_PERIOD);
        if (0..u64::from(looked)).any(|after| self.owner(tick + after) != destination) {
            self.turn = destination + 1;
        }
    }
}

/// Reads a copy for each destination at most: a beat a tick over all of them, by slots and turns, or each at a rate of its own.
///
/// A slot and a turn are of a beat, as in the hardware (rtl/nic/sluice_nic_reader.sv): so a port has its part of the ticks, however
/// many and however long the packets of the others are. What a queue is sure to take rests on it
/// (docs/decisions/isolation.md, "Share at a destination").
#[derive(Debug)]
pub(super) struct Reader<C> {
    service: Service,
    readings: Vec<Option<Reading<C>>>,
    /// Destinations that a copy is read for, and of those the ones whose last beat has been read.
    busy: u8,
    done: u8,
    slots: Slots,
    /// Beats of ticks before this one have been read.
    read_until: u64,
    /// [`Self::next_end`], where it was asked since the last copy began or ended.
    end: Cell<Option<u64>>,
}

impl<C> Reader<C> {
    /// Of a target with so many ports and host queues, one of each at least.
    pub fn new(service: Service, ports: u32, hosts: u32) -> Self {
        let slots = Slots { ports: ports.into(), hosts: hosts.into(), turn: 0 };
        let readings = (0..ports + hosts).map(|_| None).collect();
        Self { service, readings, busy: 0, done: 0, slots, read_until: 0, end: Cell::new(None) }
    }

    /// Destinations that a copy is read for.
    pub fn busy(&self) -> u8 {
        self.busy
    }

    pub fn is_idle(&self) -> bool {
        self.busy == 0
    }

    /// Begins to read a copy that needs so many ticks, for a free destination.
    pub fn begin(&mut self, destination: usize, copy: C, ticks: u32) {
        self.end.set(None);
        self.busy |= 1 << destination;
        self.done |= u8::from(ticks == 0) << destination;
        self.readings[destination] = Some(Reading { copy, ticks, left: ticks, first: 0, last: 0 });
    }

    /// Reads what is read before `now`.
    pub fn read_to(&mut self, now: u64) {
        let ticks = (now - self.read_until).min(u32::MAX.into()) as u32;
        if ticks == 0 {
            return;
        }
        let wants = self.busy & !self.done;
        match self.service {
            Service::Shared if wants.is_power_of_two() => {
                let destination = wants.trailing_zeros() as usize;
                let left = self.readings[destination].as_ref().map_or(0, |reading| reading.left);
                self.slots.alone(self.read_until, destination, ticks.min(left));
                self.read(destination, ticks);
            }
            Service::Shared => {
                while self.read_until < now
                    && let Some(destination) = self.next_destination()
                {
                    self.read(destination, 1);
                    self.read_until += 1;
                }
            }
            Service::PerDestination { .. } => {
                (0..self.readings.len()).for_each(|destination| self.read(destination, ticks));
            }
        }
        self.read_until = now;
    }

    /// A copy whose last beat has been read, that of the lowest destination first.
    pub fn take(&mut self) -> Option<(usize, Read<C>)> {
        if self.done == 0 {
            return None;
        }
        let destination = self.done.trailing_zeros() as usize;
        let done = self.readings[destination].take()?;
        self.end.set(None);
        self.busy &= !(1 << destination);
        self.done &= !(1 << destination);
        Some((destination, Read { copy: done.copy, first: done.first, last: done.last }))
    }

    /// The tick behind the next last beat.
    pub fn next_end(&self) -> Option<u64> {
        if self.end.get().is_none() {
            self.end.set(self.find_end());
        }
        self.end.get()
    }

    fn find_end(&self) -> Option<u64> {
        let mut left = [0; 8];
        left.iter_mut().zip(&self.readings).for_each(|(left, r)| *left = r.as_ref().map_or(0, |r| r.left));
        let mut reading = left.iter().filter(|left| **left > 0);
        let first = u64::from(*reading.next()?);
        if reading.next().is_none() {
            return Some(self.read_until + first);
        }
        if self.service != Service::Shared {
            return left.iter().filter(|left| **left > 0).min().map(|left| self.read_until + u64::from(*left));
        }
        let (mut slots, mut tick) = (self.slots, self.read_until);
        while let Some(destination) = slots.next(tick, |d| left[d] > 0) {
            left[destination] -= 1;
            tick += 1;
            if left[destination] == 0 {
                break;
            }
        }
        Some(tick)
    }

    /// The destination that has a beat in the first tick that has not been read.
    fn next_destination(&mut self) -> Option<usize> {
        let wants = self.busy & !self.done;
        if wants == 0 {
            return None;
        }
        self.slots.next(self.read_until, |d| wants >> d & 1 == 1)
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
        self.done |= u8::from(reading.left == 0) << destination;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First and last ticks of copies for four ports and four host queues that begin together at tick 5.
    fn ticks(service: Service, beats: [u32; 8]) -> [(u64, u64); 8] {
        let mut reader = Reader::new(service, 4, 4);
        reader.read_to(5);
        (0..).zip(beats).filter(|(_, beats)| *beats > 0).for_each(|(d, beats)| reader.begin(d, d, beats));
        let mut seen = [(0, 0); 8];
        while let Some(end) = reader.next_end() {
            reader.read_to(end);
            let done: Vec<_> = std::iter::from_fn(|| reader.take()).map(|(_, read)| read).collect();
            assert!(!done.is_empty() && done.iter().all(|read| read.last + 1 == end), "{done:?} at {end}");
            done.into_iter().for_each(|read| seen[read.copy] = (read.first, read.last));
        }
        assert!(reader.is_idle());
        seen
    }

    #[test]
    fn one_destination_alone_has_every_tick() {
        assert_eq!(ticks(Service::Shared, [3, 0, 0, 0, 0, 0, 0, 0])[0], (5, 7));
        assert_eq!(ticks(Service::Shared, [0, 0, 0, 0, 0, 100, 0, 0])[5], (5, 104));
    }

    #[test]
    fn a_port_has_its_slots_however_much_is_read_for_the_others() {
        let mut beats = [1000; 8];
        beats[2] = 15;
        // Its slots are 6, 10, 14 and, as tick 15 is a host queue's, 19, 23, 27 and 32.
        let (first, last) = ticks(Service::Shared, beats)[2];
        assert_eq!(first, 6);
        assert!(last - first <= 15 * 4 + 15 * 4 / 15, "{first} to {last}");
        // Three others that are ports leave the host queues their slots only.
        let host = ticks(Service::Shared, [1000, 1000, 1000, 1000, 3, 0, 0, 0])[4];
        assert!((64..=16 * 4 * 3).contains(&(host.1 - 5)), "{host:?}");
    }

    #[test]
    fn slots_that_are_not_wanted_go_round() {
        // Tick 5 is port 1's, and so 9, 13 and 18; the others' turns come between.
        let seen = ticks(Service::Shared, [0, 4, 0, 0, 30, 30, 0, 0]);
        assert_eq!(seen[1].0, 5);
        assert!(seen[1].1 <= 18, "{seen:?}");
        assert!(seen[4].1.abs_diff(seen[5].1) <= 2 && seen[4].1.max(seen[5].1) == 5 + 64 - 1, "{seen:?}");
    }

    #[test]
    fn owners_are_fifteen_ports_and_a_host_queue() {
        let slots = Slots { ports: 4, hosts: 4, turn: 0 };
        let owners: Vec<usize> = (0..64).map(|tick| slots.owner(tick)).collect();
        assert_eq!(owners[..18], [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 4, 3, 0]);
        for destination in 0..8 {
            let expected = if destination < 4 { 15 } else { 1 };
            assert_eq!(owners.iter().filter(|d| **d == destination).count(), expected, "{destination}");
        }
    }

    #[test]
    fn destinations_with_rates_of_their_own_do_not_meet() {
        assert_eq!(
            ticks(Service::PerDestination { bytes_per_tick: 1 }, [4, 1, 0, 4, 0, 0, 0, 0])[..4],
            [(5, 8), (5, 5), (0, 0), (5, 8)]
        );
    }

    #[test]
    fn a_look_between_two_ends_changes_no_tick() {
        let mut reader = Reader::new(Service::Shared, 4, 4);
        reader.begin(4, 'a', 3);
        reader.begin(5, 'b', 3);
        for now in 0..6 {
            assert_eq!(reader.next_end(), Some(5), "at {now}");
            reader.read_to(now);
        }
        let (_, read) = reader.take().unwrap();
        assert_eq!((read.copy, read.first, read.last, reader.next_end()), ('a', 0, 4, Some(6)));
    }

    /// A copy alone is read in one go: whose turn it is afterwards is as if each tick had been given.
    #[test]
    fn ticks_that_one_destination_has_alone_move_the_turn_as_single_ticks_do() {
        for (alone, first) in [(0, 0), (1, 2), (3, 5), (4, 13), (7, 14), (2, 2)] {
            for beats in [1, 2, 15, 16, 17, 40] {
                let end = first + u64::from(beats);
                let mut slots = Slots { ports: 4, hosts: 4, turn: 0 };
                assert!((first..end).all(|tick| slots.next(tick, |d| d == alone) == Some(alone)));
                let mut reader = Reader::new(Service::Shared, 4, 4);
                reader.read_to(first);
                reader.begin(alone, alone, beats);
                reader.read_to(end);
                assert!(reader.take().is_some_and(|(_, read)| (read.first, read.last) == (first, end - 1)));
                assert_eq!(reader.slots.turn, slots.turn, "destination {alone} from tick {first}, {beats} beats");
            }
        }
    }
}
