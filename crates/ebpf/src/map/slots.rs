//! References: what map-in-map, program arrays, cpumaps, xskmaps and perf event arrays hold. Programs
//! have no address of them.

use super::table::Table;
use std::collections::BTreeSet;

/// Up to two numbers a slot; by index, or by key.
#[derive(Debug)]
pub(super) struct Slots {
    /// Of hash maps: the key's slot.
    pub keys: Option<Table>,
    /// 1 and two numbers, or zeros.
    entries: Vec<[u32; 3]>,
    /// Slots that hold something.
    occupied: BTreeSet<u32>,
    free: Vec<u32>,
    capacity: u32,
}

impl Slots {
    /// Bytes of one entry.
    pub const ENTRY_BYTES: u64 = 12;

    /// The key is the index.
    pub fn indexed(capacity: u32) -> Self {
        Self {
            keys: None,
            entries: vec![[0; 3]; capacity as usize],
            occupied: BTreeSet::new(),
            free: Vec::new(),
            capacity,
        }
    }

    /// By key.
    pub fn keyed(key_size: u32, capacity: u32) -> Self {
        Self {
            keys: Some(Table::new(key_size as usize)),
            entries: Vec::new(),
            occupied: BTreeSet::new(),
            free: Vec::new(),
            capacity,
        }
    }

    /// Slot of a key.
    pub fn find(&self, key: &[u8]) -> Option<u32> {
        match &self.keys {
            Some(table) => table.find(key),
            None => <[u8; 4]>::try_from(key).ok().map(u32::from_le_bytes).filter(|&i| i < self.capacity),
        }
    }

    /// What a slot holds.
    pub fn get(&self, slot: u32) -> Option<[u32; 2]> {
        match self.entries.get(slot as usize)? {
            [0, ..] => None,
            [_, first, second] => Some([*first, *second]),
        }
    }

    /// Puts a reference in a slot; what was there is returned.
    pub fn set(&mut self, slot: u32, value: Option<[u32; 2]>) -> Option<[u32; 2]> {
        let old = self.get(slot);
        if let Some(entry) = self.entries.get_mut(slot as usize) {
            *entry = value.map_or([0; 3], |[first, second]| [1, first, second]);
            match value {
                Some(_) => self.occupied.insert(slot),
                None => self.occupied.remove(&slot),
            };
        }
        old
    }

    /// A slot for a new key; `None` when all are taken.
    pub fn insert(&mut self, key: &[u8]) -> Option<u32> {
        let table = self.keys.as_mut()?;
        if table.len() >= self.capacity as usize {
            return None;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push([0; 3]);
            self.entries.len() as u32 - 1
        });
        table.insert(key, slot);
        Some(slot)
    }

    /// Takes a key out; its reference is returned.
    pub fn remove(&mut self, key: &[u8]) -> Option<[u32; 2]> {
        let slot = self.keys.as_mut()?.remove(key)?;
        self.free.push(slot);
        self.set(slot, None)
    }

    /// First numbers of all entries.
    pub fn all(&self) -> impl Iterator<Item = u32> {
        self.occupied.iter().map(|slot| self.entries[*slot as usize][1])
    }

    /// The first slot at or behind `from` that holds something.
    pub fn next_occupied(&self, from: u32) -> Option<u32> {
        self.occupied.range(from..).next().copied()
    }
}
