//! Queues and stacks: elements without keys, in the order in which they were pushed.
//!
//! Elements lie in a ring of `max_entries` slots. Behind it each processor has a slot of its own: there lies what it popped or looked at last, until it does so
//! again. So a program that copies an element out never finds half of a later one, and the engine in hardware can do the same.

use super::update_flags::{EXIST, NOEXIST};
use super::{Map, MapId, MapSpace, Store};
use crate::Errno;
use crate::image::map_flags::RDONLY_PROG;

/// Which slots of the ring hold elements.
#[derive(Debug)]
pub(super) struct Queue {
    /// Slot of the oldest element.
    first: u32,
    count: u32,
    capacity: u32,
    /// The youngest element goes first.
    stack: bool,
}

impl Queue {
    pub fn new(capacity: u32, stack: bool) -> Self {
        Self { first: 0, count: 0, capacity, stack }
    }

    fn slot(&self, behind: u32) -> u32 {
        ((u64::from(self.first) + u64::from(behind)) % u64::from(self.capacity.max(1))) as u32
    }

    /// The slot that a push writes, after the checks of its flags.
    pub fn push(&mut self, flags: u64) -> Result<u32, Errno> {
        if flags & NOEXIST != 0 || flags > EXIST {
            return Err(Errno::INVAL);
        }
        if self.count == self.capacity {
            if flags != EXIST {
                return Err(Errno::TOOBIG);
            }
            self.first = self.slot(1);
            self.count -= 1;
        }
        self.count += 1;
        Ok(self.slot(self.count - 1))
    }

    /// Slot of the element that goes next.
    pub fn next(&self) -> Option<u32> {
        let last = self.count.checked_sub(1)?;
        Some(self.slot(if self.stack { last } else { 0 }))
    }

    /// The same, and it goes.
    pub fn pop(&mut self) -> Option<u32> {
        let slot = self.next()?;
        if !self.stack {
            self.first = self.slot(1);
        }
        self.count -= 1;
        Some(slot)
    }

    fn slots(&self) -> impl Iterator<Item = u32> {
        (0..self.count).map(|behind| self.slot(behind))
    }
}

impl Map {
    /// An element in the map's memory.
    pub(super) fn element(&self, memory: &[u8], slot: u32) -> Vec<u8> {
        let at = self.offset(slot, 0);
        memory[at..at + self.spec.value_size as usize].to_vec()
    }
}

/// What `pop` and `peek` left in the slot of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// Address of the slot: the element, or zeros.
    pub address: u32,
    /// Why there is none.
    pub error: Option<Errno>,
}

impl MapSpace {
    /// Program side: `bpf_map_push_elem`.
    pub fn push(&mut self, map: MapId, value: &[u8], flags: u64) -> Result<(), Errno> {
        if self.get(map).is_some_and(|m| m.spec.flags & RDONLY_PROG != 0) {
            return Err(Errno::PERM);
        }
        self.put_element(map, value, flags)
    }

    /// Pushes an element, whoever does it.
    pub(super) fn put_element(&mut self, map: MapId, value: &[u8], flags: u64) -> Result<(), Errno> {
        let m = self.maps.get_mut(map.0 as usize).and_then(Option::as_deref_mut).ok_or(Errno::INVAL)?;
        let (size, Store::Queue(queue)) = (m.spec.value_size as usize, &mut m.store) else { return Err(Errno::INVAL) };
        if value.len() != size {
            return Err(Errno::INVAL);
        }
        let slot = queue.push(flags)?;
        let at = m.offset(slot, 0);
        self.pages.bytes_mut(map.0, at, size).copy_from_slice(value);
        Ok(())
    }

    /// Program side: what `bpf_map_pop_elem` (`pops`) and `bpf_map_peek_elem` do before the element is copied to the program's memory. `None`: the map is no
    /// queue and no stack.
    pub fn give_element(&mut self, map: MapId, cpu: u32, pops: bool) -> Option<Given> {
        let m = self.maps.get_mut(map.0 as usize).and_then(Option::as_deref_mut)?;
        let Store::Queue(queue) = &mut m.store else { return None };
        let constant = m.spec.flags & RDONLY_PROG != 0;
        let (slot, error) = match pops {
            true if constant => (None, Errno::PERM),
            true => (queue.pop(), Errno::NOENT),
            false => (queue.next(), Errno::NOENT),
        };
        let own = m.spec.max_entries + cpu.min(self.cpus - 1);
        let value =
            slot.map_or_else(|| vec![0; m.spec.value_size as usize], |slot| m.element(self.pages.memory(map.0), slot));
        let (at, address) = (m.offset(own, 0), m.address(own, 0));
        self.pages.bytes_mut(map.0, at, value.len()).copy_from_slice(&value);
        Some(Given { address, error: slot.is_none().then_some(error) })
    }

    /// User side, as bpf(2) `BPF_MAP_LOOKUP_AND_DELETE_ELEM` of queues and stacks; other kinds have it not here.
    pub fn user_pop(&mut self, map: MapId) -> Result<Vec<u8>, Errno> {
        let m = self.maps.get_mut(map.0 as usize).and_then(Option::as_deref_mut).ok_or(Errno::BADF)?;
        m.readable()?;
        m.writable()?;
        let Store::Queue(queue) = &mut m.store else { return Err(Errno::NOTSUPP) };
        let slot = queue.pop().ok_or(Errno::NOENT)?;
        Ok(m.element(self.pages.memory(map.0), slot))
    }

    /// All elements of a queue or stack, the oldest first.
    pub fn elements(&self, map: MapId) -> Result<Vec<Vec<u8>>, Errno> {
        let m = self.get(map).ok_or(Errno::BADF)?;
        m.readable()?;
        let Store::Queue(queue) = &m.store else { return Err(Errno::NOTSUPP) };
        let memory = self.pages.memory(map.0);
        Ok(queue.slots().map(|slot| m.element(memory, slot)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MapType;
    use crate::map::testing::{space, spec};
    use sluice_formats::random::{Rng, test_seed};
    use std::collections::VecDeque;

    #[test]
    fn a_queue_gives_the_oldest_and_a_stack_the_youngest() {
        let mut rng = Rng::new(test_seed("a_queue_gives_the_oldest_and_a_stack_the_youngest"));
        for (kind, entries) in [(MapType::Queue, 1), (MapType::Queue, 5), (MapType::Stack, 1), (MapType::Stack, 5)] {
            let (mut maps, map) = space(&spec(kind, 0, 12, entries));
            let mut model: VecDeque<Vec<u8>> = VecDeque::new();
            for _ in 0..2000 {
                match rng.below(4) {
                    0 | 1 => {
                        let value: Vec<u8> = (0..12).map(|_| rng.below(256) as u8).collect();
                        let flags = rng.below(5);
                        let expected = match flags {
                            0 | EXIST if model.len() < entries as usize => Ok(()),
                            0 => Err(Errno::TOOBIG),
                            EXIST => Ok(()),
                            _ => Err(Errno::INVAL),
                        };
                        if expected.is_ok() {
                            if model.len() == entries as usize {
                                model.pop_front();
                            }
                            model.push_back(value.clone());
                        }
                        assert_eq!(maps.push(map, &value, flags), expected);
                    }
                    which => {
                        let pops = which == 2;
                        let next = if kind == MapType::Stack { model.back() } else { model.front() }.cloned();
                        if pops {
                            drop(if kind == MapType::Stack { model.pop_back() } else { model.pop_front() });
                        }
                        if rng.below(2) == 0 {
                            let expected = next.ok_or(Errno::NOENT);
                            let found = if pops { maps.user_pop(map) } else { maps.user_lookup(map, &[]) };
                            assert_eq!(found, expected);
                            continue;
                        }
                        let given = maps.give_element(map, 1, pops).unwrap();
                        let bytes = maps.read(given.address.into(), 12).unwrap();
                        assert_eq!(bytes, next.clone().unwrap_or(vec![0; 12]));
                        assert_eq!(given.error, next.is_none().then_some(Errno::NOENT));
                    }
                }
                assert_eq!(maps.elements(map).unwrap(), Vec::from(model.clone()));
            }
        }
    }

    #[test]
    fn what_a_processor_was_given_stays_until_it_asks_again() {
        let (mut maps, map) = space(&spec(MapType::Queue, 0, 8, 2));
        (1..=2u64).for_each(|n| maps.push(map, &n.to_le_bytes(), 0).unwrap());
        let first = maps.give_element(map, 0, true).unwrap().address;
        let other = maps.give_element(map, 1, true).unwrap().address;
        (3..=9u64).for_each(|n| maps.push(map, &n.to_le_bytes(), EXIST).unwrap());
        let number =
            |maps: &MapSpace, at: u32| u64::from_le_bytes(maps.read(at.into(), 8).unwrap().try_into().unwrap());
        assert_eq!((number(&maps, first), number(&maps, other)), (1, 2));
        assert_eq!(maps.give_element(map, 0, false).unwrap().address, first);
        assert_eq!((number(&maps, first), number(&maps, other)), (8, 2));
    }

    #[test]
    fn programs_change_no_map_that_they_only_read() {
        let (mut maps, map) = space(&MapSpec { flags: RDONLY_PROG, ..spec(MapType::Stack, 0, 4, 2) });
        maps.user_update(map, &[], &[1, 2, 3, 4], 0).unwrap();
        assert_eq!(maps.push(map, &[0; 4], 0), Err(Errno::PERM));
        let given = maps.give_element(map, 0, true).unwrap();
        assert_eq!((given.error, maps.read(given.address.into(), 4)), (Some(Errno::PERM), Some(&[0; 4][..])));
        let given = maps.give_element(map, 0, false).unwrap();
        assert_eq!((given.error, maps.read(given.address.into(), 4)), (None, Some(&[1, 2, 3, 4][..])));
        assert_eq!(maps.user_pop(map), Ok(vec![1, 2, 3, 4]));
    }

    use crate::MapSpec;
}
