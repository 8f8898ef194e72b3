//! Ternary entries by their masks: a tuple is all entries with one mask, and a hash of the masked key finds those that agree.
//!
//! An LPM table has a tuple for each length of a prefix. Tuples are asked in the order of their lowest rows, until none that is
//! left has a lower one than what was found.

use super::key::Key;
use super::matching::Winner;
use super::places::Places;
use std::collections::{BTreeSet, HashMap};

/// Fewest entries that are worth a tuple: so many are looked at one by one, as bits, in about the time of a hash.
const PER_TUPLE: usize = 32;

/// Entries of one mask.
#[derive(Clone, Debug)]
struct Tuple {
    mask: Key,
    entries: Places,
    /// Rows of their action data, which are in the order of the entries.
    rows: BTreeSet<u32>,
}

/// All ternary entries, as tuples.
#[derive(Clone, Debug, Default)]
pub struct Tuples {
    /// By lowest row.
    tuples: Vec<(u32, Tuple)>,
    entries: usize,
}

fn and(key: &Key, mask: &Key) -> Key {
    std::array::from_fn(|i| key[i] & mask[i])
}

impl Tuples {
    /// These entries: value, mask, winner. Nothing if there are so many masks that looking at all entries is no slower.
    pub fn of(entries: &[(Key, Key, Winner)]) -> Option<Self> {
        let mut counts: HashMap<Key, usize> = HashMap::new();
        entries.iter().for_each(|(_, mask, _)| *counts.entry(*mask).or_default() += 1);
        if counts.len() * PER_TUPLE > entries.len() {
            return None;
        }
        let new = |mask: Key, room: usize| Tuple { mask, entries: Places::with_room(room), rows: BTreeSet::new() };
        let mut tuples: HashMap<Key, Tuple> = counts.into_iter().map(|(mask, n)| (mask, new(mask, n))).collect();
        for (value, mask, winner) in entries {
            if let Some(tuple) = tuples.get_mut(mask) {
                tuple.insert(value, *winner);
            }
        }
        let mut all = Self { tuples: tuples.into_values().map(|tuple| (tuple.lowest(), tuple)).collect(), entries: 0 };
        all.entries = entries.len();
        all.tuples.sort_by_key(|(lowest, _)| *lowest);
        Some(all)
    }

    /// One more entry; whether tuples are still what fits.
    pub fn insert(&mut self, value: &Key, mask: &Key, winner: Winner) -> bool {
        let at = match self.tuples.iter().position(|(_, tuple)| tuple.mask == *mask) {
            Some(at) => at,
            None => {
                let tuple = Tuple { mask: *mask, entries: Places::default(), rows: BTreeSet::new() };
                self.tuples.push((u32::MAX, tuple));
                self.tuples.len() - 1
            }
        };
        self.tuples[at].1.insert(value, winner);
        self.entries += 1;
        self.order(at);
        self.fit()
    }

    /// One less; whether it was there and tuples are still what fits.
    pub fn remove(&mut self, value: &Key, mask: &Key, data: u32) -> bool {
        let Some(at) = self.tuples.iter().position(|(_, tuple)| tuple.mask == *mask) else { return false };
        let tuple = &mut self.tuples[at].1;
        if !tuple.entries.remove(&and(value, mask), data) {
            return false;
        }
        tuple.rows.remove(&data);
        self.entries -= 1;
        if tuple.rows.is_empty() {
            self.tuples.remove(at);
        } else {
            self.order(at);
        }
        self.fit()
    }

    /// A tuple whose lowest row has changed goes where it belongs.
    fn order(&mut self, at: usize) {
        let lowest = self.tuples[at].1.lowest();
        if lowest != self.tuples[at].0 {
            let (_, tuple) = self.tuples.remove(at);
            let to = self.tuples.partition_point(|(other, _)| *other < lowest);
            self.tuples.insert(to, (lowest, tuple));
        }
    }

    /// Some slack, so that one entry more and one less do not change what fits each time.
    fn fit(&self) -> bool {
        self.tuples.len() * PER_TUPLE <= 2 * self.entries
    }

    /// The entry that agrees and has the lowest row.
    #[inline]
    pub fn find(&self, key: &Key) -> Option<&Winner> {
        let mut best: Option<&Winner> = None;
        for (lowest, tuple) in &self.tuples {
            if best.is_some_and(|best| best.data < *lowest) {
                break;
            }
            if let Some(found) = tuple.entries.find(&and(key, &tuple.mask))
                && best.is_none_or(|best| found.data < best.data)
            {
                best = Some(found);
            }
        }
        best
    }
}

impl Tuple {
    fn insert(&mut self, value: &Key, winner: Winner) {
        self.entries.insert(and(value, &self.mask), winner);
        self.rows.insert(winner.data);
    }

    fn lowest(&self) -> u32 {
        self.rows.first().copied().unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::random::{Rng, test_seed};

    type Listed = (Key, Key, Winner);

    fn entry(rng: &mut Rng, data: u32) -> Listed {
        // Prefixes of 16 bits in word 1, some with bits of another word; values that often agree.
        let length = rng.below(17);
        let mask = [if rng.chance(1, 8) { 0xff } else { 0 }, !0 << (16 - length) & 0xffff, 0, 0];
        let value = and(&[rng.below(4), rng.below(1 << 16), 0, 0], &mask);
        (value, mask, Winner { action: 0, data, number: 0, hits: 0 })
    }

    fn linear(entries: &[Listed], key: &Key) -> Option<u32> {
        entries.iter().filter(|(value, mask, _)| and(key, mask) == *value).map(|(.., winner)| winner.data).min()
    }

    fn agree(rng: &mut Rng, tuples: &Tuples, list: &[Listed]) {
        for _ in 0..20 {
            let key = [rng.below(4), rng.below(1 << 16), 0, 0];
            assert_eq!(tuples.find(&key).map(|winner| winner.data), linear(list, &key), "{key:x?}");
        }
    }

    #[test]
    fn the_winner_is_that_of_a_linear_search_while_entries_come_and_go() {
        let mut rng = Rng::new(test_seed("rmt_fast_tuples"));
        for _ in 0..4 {
            let mut list: Vec<Listed> = (0..2000).map(|row| entry(&mut rng, 3 * row)).collect();
            let mut tuples = Tuples::of(&list).expect("34 masks");
            agree(&mut rng, &tuples, &list);
            for step in 0..1000 {
                if rng.chance(1, 2) {
                    let new = entry(&mut rng, 3 * step + 1);
                    assert!(tuples.insert(&new.0, &new.1, new.2));
                    list.push(new);
                } else {
                    let (value, mask, winner) = list.swap_remove(rng.index(list.len()));
                    assert!(tuples.remove(&value, &mask, winner.data));
                }
                agree(&mut rng, &tuples, &list);
            }
        }
    }

    #[test]
    fn many_masks_are_no_tuples() {
        let few =
            |n: u64| (0..n).map(|i| ([i, 0, 0, 0], [!0 << (i % 4), 0, 0, 0], winner(i as u32))).collect::<Vec<_>>();
        let many = |n: u64| (0..n).map(|i| ([0; 4], [i, 0, 0, 0], winner(i as u32))).collect::<Vec<_>>();
        assert!(Tuples::of(&few(128)).is_some() && Tuples::of(&few(127)).is_none());
        assert!(Tuples::of(&many(1000)).is_none());
    }

    fn winner(data: u32) -> Winner {
        Winner { action: 0, data, number: 0, hits: 0 }
    }
}
