//! Entries that hold something: how a map of millions is listed without looking at all of them.
//!
//! An array has all its entries always. Those that nobody wrote are zero, and their pages say so.

use super::print::Each;
use super::{Map, MapId, MapSpace, Store};
use crate::{Errno, MapType};

impl MapSpace {
    /// User side: the key behind this one, or the first one, whose entry holds anything. Zeros of an
    /// array are left out, and places of an array of references that hold nothing; other maps as
    /// [`MapSpace::next_key`]. An array that the object gives contents keeps its first entry.
    pub fn next_held_key(&self, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, Errno> {
        let m = self.get(map).ok_or(Errno(9))?;
        let by_index = match &m.store {
            Store::Array => true,
            Store::Slots(slots) => slots.keys.is_none(),
            _ => false,
        };
        // What is refused is refused there.
        let next = self.next_key(map, key)?;
        if !by_index {
            return Ok(next);
        }
        let Some(from) = next.and_then(|next| m.index(&next)) else { return Ok(None) };
        let held = match &m.store {
            Store::Slots(slots) => slots.next_occupied(from),
            _ => self.next_held_slot(map, m, from),
        };
        Ok(held.map(|slot| slot.to_le_bytes().to_vec()))
    }

    fn next_held_slot(&self, map: MapId, m: &Map, from: u32) -> Option<u32> {
        let copies = if m.spec.kind.is_per_cpu() { self.cpus } else { 1 };
        let memory = self.pages.memory(map.0);
        let size = m.spec.value_size as usize;
        // A devmap's place without an interface holds nothing, whatever else is there.
        let shown = if m.spec.kind == MapType::Devmap { 4 } else { size };
        let mut slot = from;
        while slot < m.spec.max_entries {
            if slot == 0 && m.spec.contents.is_some() {
                return Some(0);
            }
            let mut next = m.spec.max_entries;
            for cpu in 0..copies {
                let at = m.offset(slot, cpu);
                let touched = self.pages.next_touched(map.0, at);
                if touched > at {
                    // A value longer than a page may begin with pages that nobody wrote.
                    let slots = ((touched - at) >> m.place.shift) as u32;
                    let inside = touched < at + size;
                    if !inside {
                        next = next.min(slot.saturating_add(slots));
                        continue;
                    }
                }
                if memory[at..at + shown].iter().any(|byte| *byte != 0) {
                    return Some(slot);
                }
                next = slot + 1;
            }
            slot = next.max(slot + 1);
        }
        None
    }

    /// All entries that hold something, each with its value, in the order of the keys' positions;
    /// `each` may stop by an error.
    pub fn for_each_held<E: From<Errno>>(&self, map: MapId, each: &mut Each<'_, E>) -> Result<(), E> {
        if self.spec(map).is_some_and(|spec| spec.kind.is_queue()) {
            return self.for_each(map, each);
        }
        let mut key = self.next_held_key(map, None)?;
        while let Some(this) = key {
            match self.user_lookup(map, &this) {
                Ok(value) => each(&this, &value)?,
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
            key = self.next_held_key(map, Some(&this))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::testing::{space, spec};

    /// Keys of the entries that are not zero, the slow way.
    fn by_lookup(maps: &MapSpace, map: MapId) -> Vec<Vec<u8>> {
        let mut keys = Vec::new();
        let filled = &mut |key: &[u8], value: &[u8]| {
            if value.iter().any(|byte| *byte != 0) {
                keys.push(key.to_vec());
            }
            Ok(())
        };
        maps.for_each::<Errno>(map, filled).unwrap();
        keys
    }

    fn held(maps: &MapSpace, map: MapId) -> Vec<Vec<u8>> {
        let mut keys = Vec::new();
        let all = &mut |key: &[u8], _: &[u8]| {
            keys.push(key.to_vec());
            Ok(())
        };
        maps.for_each_held::<Errno>(map, all).unwrap();
        keys
    }

    #[test]
    fn held_entries_are_those_that_are_not_zero() {
        use sluice_formats::random::{Rng, test_seed};
        let mut rng = Rng::new(test_seed("held_entries_are_those_that_are_not_zero"));
        for kind in [MapType::Array, MapType::PercpuArray] {
            // Values of eight a page, many a page, and (of one CPU) longer than one.
            for (value_size, entries) in [(1, 70_000), (24, 9_000), (8192, 100), (200_000, 6)] {
                if kind.is_per_cpu() && value_size > 32 << 10 {
                    continue;
                }
                let (mut maps, map) = space(&spec(kind, 4, value_size, entries));
                assert!(held(&maps, map).is_empty());
                for _ in 0..40 {
                    let slot = rng.below(u64::from(entries)) as u32;
                    let cpu = rng.below(u64::from(maps.cpus())) as u32;
                    let address = maps.lookup(map, &slot.to_le_bytes(), cpu).unwrap();
                    // Some writes are of zeros, and some take back what was there.
                    let byte = rng.below(3) as u8;
                    let offset = rng.below(u64::from(value_size));
                    maps.write(u64::from(address) + offset, 1).unwrap().fill(byte);
                }
                assert_eq!(held(&maps, map), by_lookup(&maps, map), "{kind:?} {value_size}");
            }
        }
    }

    #[test]
    fn places_of_references_that_hold_nothing_are_passed_over() {
        let (mut maps, map) = space(&spec(MapType::Devmap, 4, 8, 1 << 20));
        let (mut tails, array) = space(&spec(MapType::ProgArray, 4, 4, 1 << 20));
        for index in [7u32, 900_000] {
            maps.user_update(map, &index.to_le_bytes(), &[3, 0, 0, 0, 0, 0, 0, 0], 0).unwrap();
            tails.user_update(array, &index.to_le_bytes(), &[1, 0, 0, 0], 0).unwrap();
        }
        let keys = [7u32, 900_000].map(|index| index.to_le_bytes().to_vec());
        assert_eq!(held(&maps, map), keys);
        assert_eq!(held(&tails, array), keys);
        maps.user_delete(map, &keys[0]).unwrap();
        tails.user_delete(array, &keys[0]).unwrap();
        assert_eq!(held(&maps, map), keys[1..]);
        assert_eq!(held(&tails, array), keys[1..]);
    }
}
