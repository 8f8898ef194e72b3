//! Entries by their key, in open addressing: what is asked for is one place, and a neighbour of it seldom.
//!
//! Two entries may have one key, as while an entry moves. Of these the one with the lowest row comes first, and is found.

use super::key::Key;
use super::matching::Winner;

/// Fewest places: a power of two.
const LEAST: usize = 8;

/// Entries by key. At most half of the places are taken.
#[derive(Clone, Debug, Default)]
pub struct Places {
    places: Vec<Option<(Key, Winner)>>,
    taken: usize,
}

/// Only spreads; which set an entry stands in is another question.
#[inline]
fn spread(key: &Key) -> usize {
    let mixed = key.iter().fold(0u64, |h, &w| (h ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    (mixed ^ mixed >> 32) as usize
}

impl Places {
    /// No entry, and places for so many.
    pub fn with_room(entries: usize) -> Self {
        Self { places: vec![None; (2 * entries).next_power_of_two().max(LEAST)], taken: 0 }
    }

    /// Entries.
    pub fn len(&self) -> usize {
        self.taken
    }

    fn last(&self) -> usize {
        self.places.len() - 1
    }

    /// One more entry.
    pub fn insert(&mut self, key: Key, winner: Winner) {
        if 2 * (self.taken + 1) > self.places.len() {
            let all = std::mem::replace(self, Self::with_room(2 * (self.taken + 1)));
            all.places.into_iter().flatten().for_each(|(key, winner)| self.put(key, winner));
        }
        self.put(key, winner);
    }

    fn put(&mut self, key: Key, mut winner: Winner) {
        let last = self.last();
        let mut at = spread(&key) & last;
        while let Some((found, there)) = &mut self.places[at] {
            if *found == key && there.data > winner.data {
                std::mem::swap(there, &mut winner);
            }
            at = (at + 1) & last;
        }
        self.places[at] = Some((key, winner));
        self.taken += 1;
    }

    /// Takes out the entry of a key whose action data have this row; whether it was there.
    pub fn remove(&mut self, key: &Key, data: u32) -> bool {
        if self.places.is_empty() {
            return false;
        }
        let last = self.last();
        let mut gap = spread(key) & last;
        loop {
            match &self.places[gap] {
                None => return false,
                Some((found, winner)) if found == key && winner.data == data => break,
                Some(_) => gap = (gap + 1) & last,
            }
        }
        self.taken -= 1;
        let mut at = gap;
        loop {
            at = (at + 1) & last;
            let Some((key, _)) = &self.places[at] else { break };
            // Whoever would have had the gap on his way takes it.
            let (way, to_gap) = (at.wrapping_sub(spread(key)) & last, at.wrapping_sub(gap) & last);
            if way >= to_gap {
                self.places[gap] = self.places[at];
                gap = at;
            }
        }
        self.places[gap] = None;
        true
    }

    /// The entry of a key that has the lowest row.
    #[inline]
    pub fn find(&self, key: &Key) -> Option<&Winner> {
        let last = self.places.len().wrapping_sub(1);
        let mut at = spread(key) & last;
        while let Some(Some((found, winner))) = self.places.get(at) {
            if found == key {
                return Some(winner);
            }
            at = (at + 1) & last;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::random::{Rng, test_seed};

    fn winner(data: u32) -> Winner {
        Winner { action: 0, data, number: 0, hits: 0 }
    }

    #[test]
    fn it_finds_what_a_list_finds_while_entries_come_and_go() {
        let mut rng = Rng::new(test_seed("rmt_fast_places"));
        let (mut places, mut list) = (Places::default(), Vec::<(Key, u32)>::new());
        for round in 0..20_000u32 {
            // Few keys, so that some are there more than once and places collide; the list grows, then shrinks.
            let key = [rng.below(200), 0, 0, 0];
            let grows = round / 2_000 % 2 == 0;
            if rng.chance(if grows { 3 } else { 1 }, 4) {
                places.insert(key, winner(round ^ 0x55));
                list.push((key, round ^ 0x55));
            } else if !list.is_empty() {
                let (key, data) = list.swap_remove(rng.index(list.len()));
                assert!(places.remove(&key, data) && !places.remove(&key, data));
            }
            let asked = [rng.below(200), 0, 0, 0];
            let least = list.iter().filter(|(key, _)| *key == asked).map(|(_, data)| *data).min();
            assert_eq!(places.find(&asked).map(|winner| winner.data), least, "round {round}");
            assert_eq!(places.len(), list.len());
        }
    }
}
