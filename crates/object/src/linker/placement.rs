//! Where entries lie in an exact table: cuckoo placement in buckets of two rows.
//!
//! Each key has two buckets: ways 0 and 1 at the set of its first hash, ways 2 and 3 at
//! that of its second. A full bucket makes room by moving an entry to its other bucket.
//! The search is breadth first over all rows of the region: it finds the fewest moves, it
//! finds a place whenever one exists for all entries together, and it draws no random
//! number, so that the same operations give the same rows.

use super::spaces::{Region, Slot};
use sluice_formats::rmt::target::EXACT_WAYS;
use sluice_formats::sparse::Sparse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// A row of a hash table.
pub trait Keyed: Clone {
    /// Masked key; its bytes are what is hashed.
    type Key: AsRef<[u8]> + PartialEq;

    /// The row's key.
    fn key(&self) -> Self::Key;

    /// Whose rows it is counted among.
    fn owner(&self) -> u16;
}

/// Ways of the table.
const WAYS: u32 = EXACT_WAYS as u32;

/// A hash table of two sets a key as the device holds it.
#[derive(Clone, Debug)]
pub struct Cuckoo<R> {
    sets: u32,
    /// By way, then set.
    rows: Sparse<R>,
    /// Rows by owner.
    counts: BTreeMap<u16, u32>,
}

impl<R: Keyed + PartialEq> PartialEq for Cuckoo<R> {
    fn eq(&self, other: &Self) -> bool {
        (self.sets, &self.rows, &self.counts) == (other.sets, &other.rows, &other.counts)
    }
}

impl<R: Keyed + Eq> Eq for Cuckoo<R> {}

impl<R: Keyed> Cuckoo<R> {
    /// An empty table.
    pub fn new(sets: u32) -> Self {
        Self { sets, rows: Sparse::new((sets * WAYS) as usize), counts: BTreeMap::new() }
    }

    fn index(&self, slot: Slot) -> usize {
        (u32::from(slot.way) * self.sets + slot.set) as usize
    }

    fn slot(&self, index: usize) -> Slot {
        Slot { way: (index as u32 / self.sets) as u8, set: index as u32 % self.sets }
    }

    /// The row in a slot.
    pub fn get(&self, slot: Slot) -> Option<&R> {
        self.rows.get(self.index(slot))
    }

    /// Puts a row into a slot, or empties it.
    pub fn set(&mut self, slot: Slot, row: Option<R>) {
        let index = self.index(slot);
        if let Some(comes) = &row {
            *self.counts.entry(comes.owner()).or_default() += 1;
        }
        if let Some(gone) = self.rows.set(index, row) {
            let count = self.counts.entry(gone.owner()).or_default();
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&gone.owner());
            }
        }
    }

    /// How many rows an owner has.
    pub fn count(&self, owner: u16) -> u32 {
        self.counts.get(&owner).copied().unwrap_or(0)
    }

    /// Every row of the region, by way and set.
    pub fn rows_of(&self, region: Region) -> impl Iterator<Item = (Slot, &R)> {
        (0..WAYS).flat_map(move |way| {
            let first = (way * self.sets + region.base) as usize;
            self.rows.range(first..first + region.sets() as usize).map(|(at, row)| (self.slot(at), row))
        })
    }

    /// Where the key lies.
    pub fn find(&self, region: Region, key: &R::Key) -> Option<Slot> {
        let here = |slot: &Slot| self.get(*slot).is_some_and(|row| row.key() == *key);
        region.slots(key).into_iter().find(here)
    }

    /// Slots along which to move entries so that `key` has a place.
    ///
    /// The last slot is free; the entry in each other one moves to the next, and `key` goes
    /// into the first. The region is one generation's half.
    pub fn path_to_room(&self, region: Region, key: &R::Key) -> Option<Vec<Slot>> {
        let mut starts = region.slots(key);
        let free = |pair: &[Slot]| pair.iter().filter(|s| self.get(**s).is_none()).count();
        if free(&starts[2..]) > free(&starts[..2]) {
            starts.rotate_left(2);
        }
        // The slot before, by index; a start is its own. So few are looked at that a map of them is less than a table.
        let mut before: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::new();
        for start in starts {
            let i = self.index(start);
            before.insert(i, i);
            queue.push_back(i);
        }
        while let Some(i) = queue.pop_front() {
            let Some(row) = self.rows.get(i) else { return Some(self.trace_back(i, &before)) };
            for next in region.slots(&row.key()) {
                let n = self.index(next);
                if let Entry::Vacant(new) = before.entry(n) {
                    new.insert(i);
                    queue.push_back(n);
                }
            }
        }
        None
    }

    fn trace_back(&self, last: usize, before: &HashMap<usize, usize>) -> Vec<Slot> {
        let mut path = vec![self.slot(last)];
        let mut at = last;
        while let Some(&previous) = before.get(&at).filter(|p| **p != at) {
            path.push(self.slot(previous));
            at = previous;
        }
        path.reverse();
        path
    }

    /// Moves the entries along a path.
    pub fn make_room(&mut self, path: &[Slot]) {
        for hop in path.windows(2).rev() {
            let (from, to) = (hop[0], hop[1]);
            if let Some(row) = self.get(from).cloned() {
                self.set(to, Some(row));
                self.set(from, None);
            }
        }
    }
}
