//! Slots of hash maps: which one an update writes, and when a deleted value's memory is used again.
//!
//! As in the kernel, changing an entry of a plain hash map writes a slot aside and exchanges the two,
//! so that a pointer from an earlier lookup still sees the old value; the slot it sees becomes the
//! aside of that CPU and is written by the CPU's next such change. A deleted entry's value stays as it
//! was until another entry takes the slot, the last one freed first. Per-CPU values change in place.

use super::clock::Clock;
use super::table::Table;
use super::update_flags::{EXIST, LOCK, NOEXIST};
use crate::Errno;

/// Keys, slots and who is next to go.
#[derive(Debug)]
pub(super) struct Keyed {
    pub table: Table,
    /// Slots given back, the last one first.
    free: Vec<u32>,
    /// First slot never used; the first asides are before all others.
    fresh: u32,
    /// Entries at most.
    capacity: u32,
    /// One slot a CPU for changes; empty when values change in place.
    aside: Vec<u32>,
    clock: Option<Clock>,
}

/// What an update writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub slot: u32,
    /// The entry is new: nothing of the slot's old value may stay.
    pub new: bool,
}

impl Keyed {
    /// For `capacity` entries; `asides` is the number of CPUs, or 0 when values change in place.
    pub fn new(key_size: u32, capacity: u32, asides: u32, lru: bool) -> Self {
        Self {
            table: Table::new(key_size as usize),
            free: Vec::new(),
            fresh: asides,
            capacity,
            aside: (0..asides).collect(),
            clock: lru.then(|| Clock::new(capacity + asides)),
        }
    }

    /// Slot of a key, for a program: an LRU map remembers it.
    #[inline]
    pub fn lookup(&mut self, key: &[u8]) -> Option<u32> {
        let slot = self.table.find(key)?;
        if let Some(clock) = &mut self.clock {
            clock.touch(slot);
        }
        Some(slot)
    }

    /// The slot that an update writes, after the checks of its flags.
    pub fn update(&mut self, key: &[u8], flags: u64, cpu: u32) -> Result<Target, Errno> {
        let Some(slot) = self.table.find(key) else {
            if flags & !LOCK == EXIST {
                return Err(Errno::NOENT);
            }
            return self.insert(key).map(|slot| Target { slot, new: true });
        };
        if flags & !LOCK == NOEXIST {
            return Err(Errno::EXIST);
        }
        let aside = if flags & LOCK == 0 { self.aside.get_mut(cpu as usize) } else { None };
        let Some(aside) = aside else {
            if let Some(clock) = &mut self.clock {
                clock.touch(slot);
            }
            return Ok(Target { slot, new: false });
        };
        let new = std::mem::replace(aside, slot);
        self.table.exchange(key, new);
        if let Some(clock) = &mut self.clock {
            clock.release(slot);
            clock.occupy(new, true);
        }
        Ok(Target { slot: new, new: true })
    }

    /// Takes an entry out.
    pub fn delete(&mut self, key: &[u8]) -> Option<u32> {
        let slot = self.table.remove(key)?;
        self.free.push(slot);
        if let Some(clock) = &mut self.clock {
            clock.release(slot);
        }
        Some(slot)
    }

    fn insert(&mut self, key: &[u8]) -> Result<u32, Errno> {
        if self.table.len() >= self.capacity as usize {
            let victim = self.clock.as_mut().ok_or(Errno::TOOBIG)?.victim().ok_or(Errno::NOMEM)?;
            self.table.remove_slot(victim);
            self.free.push(victim);
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.fresh += 1;
            self.fresh - 1
        });
        self.table.insert(key, slot);
        if let Some(clock) = &mut self.clock {
            clock.occupy(slot, false);
        }
        Ok(slot)
    }
}
