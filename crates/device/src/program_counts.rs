//! What a module's programs came to since the module has had one.

use std::collections::BTreeMap;

/// Counts of instructions below this are kept exactly.
const EXACT: usize = 4096;
/// Binary digits that longer counts keep.
const DIGITS: u32 = 7;
/// Places of faults that are told apart; others are counted together.
const MAX_PLACES: usize = 64;
/// Those.
const OTHER_PLACES: &str = "at other places";

/// Verdicts, instructions a packet, faults and destinations of redirects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramCounts {
    /// Packets that the programs have seen.
    pub packets: u64,
    /// By verdict, in the order of their numbers: aborted, drop, pass, tx, redirect.
    pub verdicts: [u64; 5],
    /// Faults, which are among the aborted: by reason and place.
    pub faults: BTreeMap<String, u64>,
    /// Redirected packets that led anywhere, by the mask of their destinations.
    pub redirects: BTreeMap<u8, u64>,
    /// Packets by instructions, below [`EXACT`].
    short: Vec<u64>,
    /// Packets by instructions from there on, rounded down to [`DIGITS`] binary digits.
    long: BTreeMap<u64, u64>,
}

impl ProgramCounts {
    /// A packet with this verdict took so many instructions.
    pub fn add(&mut self, verdict: usize, instructions: u64) {
        self.packets += 1;
        self.verdicts[verdict] += 1;
        match usize::try_from(instructions) {
            Ok(index) if index < EXACT => {
                if index >= self.short.len() {
                    self.short.resize(index + 1, 0);
                }
                self.short[index] += 1;
            }
            _ => {
                let shift = 64 - DIGITS - instructions.leading_zeros();
                *self.long.entry(instructions >> shift << shift).or_default() += 1;
            }
        }
    }

    /// A packet faulted there.
    pub fn add_fault(&mut self, place: String) {
        let known = self.faults.contains_key(&place) || self.faults.len() < MAX_PLACES;
        *self.faults.entry(if known { place } else { OTHER_PLACES.to_owned() }).or_default() += 1;
    }

    /// Adds what another worker has counted.
    pub fn join(&mut self, other: &Self) {
        self.packets += other.packets;
        self.verdicts.iter_mut().zip(other.verdicts).for_each(|(sum, count)| *sum += count);
        for (place, count) in &other.faults {
            let known = self.faults.contains_key(place) || self.faults.len() < MAX_PLACES;
            let place = if known { place } else { OTHER_PLACES };
            *self.faults.entry(place.to_owned()).or_default() += count;
        }
        for (mask, count) in &other.redirects {
            *self.redirects.entry(*mask).or_default() += count;
        }
        self.short.resize(self.short.len().max(other.short.len()), 0);
        self.short.iter_mut().zip(&other.short).for_each(|(sum, count)| *sum += count);
        for (instructions, count) in &other.long {
            *self.long.entry(*instructions).or_default() += count;
        }
    }

    /// Instructions that packets took, ascending, with the number of packets. From 4,096 on they
    /// are rounded down to seven binary digits.
    pub fn instructions(&self) -> impl Iterator<Item = (u64, u64)> {
        let short = (0..).zip(&self.short).filter(|(_, packets)| **packets > 0).map(|(n, packets)| (n, *packets));
        short.chain(self.long.iter().map(|(n, packets)| (*n, *packets)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_counts_are_exact_and_long_ones_keep_seven_digits() {
        let mut counts = ProgramCounts::default();
        for instructions in [0, 7, 7, 4095, 4096, 4159, 4160, u64::MAX] {
            counts.add(2, instructions);
        }
        let seen: Vec<_> = counts.instructions().collect();
        assert_eq!(seen, [(0, 1), (7, 2), (4095, 1), (4096, 2), (4160, 1), (127 << 57, 1)]);
        assert_eq!((counts.packets, counts.verdicts), (8, [0, 0, 8, 0, 0]));
    }

    #[test]
    fn counts_of_two_workers_join_to_those_of_one() {
        let (mut one, mut other, mut both) = <(ProgramCounts, ProgramCounts, ProgramCounts)>::default();
        for (worker, verdict, instructions) in [(0, 1, 7), (1, 1, 7), (1, 3, 900), (0, 4, 70_000), (1, 4, 70_001)] {
            [&mut one, &mut other][worker].add(verdict, instructions);
            both.add(verdict, instructions);
        }
        for place in 0..2 * MAX_PLACES {
            [&mut one, &mut other][place % 2].add_fault(format!("fault {place}"));
        }
        one.redirects.insert(3, 1);
        other.redirects.extend([(3, 2), (4, 5)]);
        one.join(&other);
        assert_eq!(one.redirects, BTreeMap::from([(3, 3), (4, 5)]));
        assert_eq!((one.packets, one.verdicts), (both.packets, both.verdicts));
        assert!(one.instructions().eq(both.instructions()));
        assert_eq!((one.faults.len(), one.faults.values().sum::<u64>()), (MAX_PLACES + 1, 2 * MAX_PLACES as u64));
    }

    #[test]
    fn faults_at_very_many_places_take_bounded_memory() {
        let mut counts = ProgramCounts::default();
        (0..1000).for_each(|place| counts.add_fault(format!("fault {place}")));
        assert_eq!((counts.faults.len(), counts.faults["at other places"]), (MAX_PLACES + 1, 1000 - MAX_PLACES as u64));
    }
}
