//! What programs do with maps through helpers.

use super::update_flags::{EXIST, LOCK, NOEXIST};
use super::{Map, MapId, MapSpace, Store, handle, put};
use crate::image::map_flags::RDONLY_PROG;
use crate::{Errno, MapType};

impl MapSpace {
    /// Program side: address of the value, as `bpf_map_lookup_elem` on this CPU returns it.
    /// For a map of maps the handle of the inner map. Of a `WRONLY_PROG` map too: such a value is only written.
    ///
    /// The address stays good as long as the map is there. After a delete the value reads as it was
    /// until another entry takes its slot; it is memory of this map in any case.
    #[inline]
    pub fn lookup(&mut self, map: MapId, key: &[u8], cpu: u32) -> Option<u32> {
        let cpus = self.cpus;
        let m = self.maps.get_mut(map.0 as usize)?.as_deref_mut()?;
        if key.len() != m.spec.key_size as usize || cpu >= cpus {
            return None;
        }
        match &mut m.store {
            Store::Array => {
                let slot = m.index(key)?;
                if m.spec.kind == MapType::Devmap && !self.pages.holds_interface(map.0, m.place.offset(slot)) {
                    return None;
                }
                Some(m.address(slot, cpu))
            }
            Store::Keyed(keyed) => keyed.lookup(key).map(|slot| m.address(slot, cpu)),
            Store::Trie(trie) => trie.find(key).map(|slot| m.address(slot, cpu)),
            Store::Ring(_) | Store::Queue(_) => None,
            Store::Slots(slots) => {
                let [first, _] = slots.get(slots.find(key)?)?;
                match m.spec.kind {
                    MapType::ArrayOfMaps | MapType::HashOfMaps => Some(handle(MapId(first))),
                    _ => None,
                }
            }
        }
    }

    /// Program side: `bpf_map_update_elem` on this CPU.
    pub fn update(&mut self, map: MapId, key: &[u8], value: &[u8], flags: u64, cpu: u32) -> Result<(), Errno> {
        let m = self.maps.get_mut(map.0 as usize).and_then(Option::as_deref_mut).ok_or(Errno::INVAL)?;
        let spec = &m.spec;
        if key.len() != spec.key_size as usize || value.len() != spec.value_size as usize || cpu >= self.cpus {
            return Err(Errno::INVAL);
        }
        if spec.flags & RDONLY_PROG != 0 {
            return Err(Errno::PERM);
        }
        match spec.kind {
            MapType::Array | MapType::PercpuArray => {
                let slot = m.array_update(key, flags)?;
                let at = m.offset(slot, cpu);
                let size = spec_size(m);
                put(self.pages.bytes_mut(map.0, at, size), value, m.spec.spin_lock);
                Ok(())
            }
            MapType::Hash | MapType::PercpuHash | MapType::LruHash | MapType::LruPercpuHash => {
                let (slot, new) = m.keyed_update(key, flags, cpu)?;
                let (size, cpus) = (spec_size(m), self.cpus);
                if new {
                    // Other CPUs' copies and the lock of a new entry are zero.
                    let copies = if m.spec.kind.is_per_cpu() { cpus } else { 1 };
                    for copy in 0..copies {
                        let at = m.offset(slot, copy);
                        self.pages.bytes_mut(map.0, at, size.next_multiple_of(8)).fill(0);
                    }
                }
                let at = m.offset(slot, cpu);
                put(self.pages.bytes_mut(map.0, at, size), value, m.spec.spin_lock);
                Ok(())
            }
            MapType::LpmTrie => {
                let Store::Trie(trie) = &mut m.store else { return Err(Errno::INVAL) };
                let at = m.place.offset(trie.update(key, flags)?);
                self.pages.bytes_mut(map.0, at, value.len()).copy_from_slice(value);
                Ok(())
            }
            // The verifier lets no program change the others.
            _ => Err(Errno::INVAL),
        }
    }

    /// Program side: `bpf_map_delete_elem`.
    pub fn delete(&mut self, map: MapId, key: &[u8]) -> Result<(), Errno> {
        let m = self.get_mut(map).ok_or(Errno::INVAL)?;
        if key.len() != m.spec.key_size as usize {
            return Err(Errno::INVAL);
        }
        if m.spec.flags & RDONLY_PROG != 0 {
            return Err(Errno::PERM);
        }
        match (&mut m.store, m.spec.kind) {
            (_, MapType::DevmapHash) => Err(Errno::INVAL),
            (Store::Trie(trie), _) => Ok(trie.delete(key)?),
            (Store::Keyed(keyed), _) => keyed.delete(key).map(drop).ok_or(Errno::NOENT),
            _ => Err(Errno::INVAL),
        }
    }

    /// What an entry refers to: the interface of a devmap, the program number of a program array, the
    /// queue length of a cpumap, the socket of an xskmap, the `MapId` of an inner map.
    pub fn reference(&self, map: MapId, index: u32) -> Option<u32> {
        let m = self.get(map)?;
        let key = index.to_le_bytes();
        let slot = match &m.store {
            Store::Slots(slots) => return slots.get(slots.find(&key)?).map(|[first, _]| first),
            Store::Keyed(keyed) if m.spec.kind == MapType::DevmapHash => keyed.table.find(&key)?,
            Store::Array if m.spec.kind == MapType::Devmap => m.index(&key)?,
            _ => return None,
        };
        let at = m.place.offset(slot);
        let interface = u32::from_le_bytes(self.pages.memory(map.0).get(at..at + 4)?.try_into().ok()?);
        (interface != 0).then_some(interface)
    }

    /// The entries of arrays and hash maps one after the other, as `bpf_for_each_map_elem` meets them:
    /// start with `cursor` 0 and go on with the number that is returned beside the value's address on
    /// this CPU. `key` gets the key. Entries may be changed and deleted between the calls.
    pub fn next_entry(&self, map: MapId, cursor: u64, cpu: u32, key: &mut Vec<u8>) -> Option<(u64, u32)> {
        let m = self.get(map).filter(|m| cpu < self.cpus && m.place.first != 0)?;
        key.clear();
        match &m.store {
            Store::Array if m.spec.kind != MapType::Devmap => {
                let slot = u32::try_from(cursor).ok().filter(|&slot| slot < m.spec.max_entries)?;
                key.extend(slot.to_le_bytes());
                Some((cursor + 1, m.address(slot, cpu)))
            }
            Store::Keyed(keyed) if m.spec.kind != MapType::DevmapHash => {
                let (next, slot) = keyed.table.next(usize::try_from(cursor).ok()?)?;
                key.extend(keyed.table.key(slot));
                Some((next as u64, m.address(slot, cpu)))
            }
            _ => None,
        }
    }
}

fn spec_size(m: &Map) -> usize {
    m.spec.value_size as usize
}

impl Map {
    /// Place of a slot's value on a CPU in the map's memory.
    #[inline]
    pub(super) fn offset(&self, slot: u32, cpu: u32) -> usize {
        self.place.offset(if self.spec.kind.is_per_cpu() { cpu * self.slots + slot } else { slot })
    }

    /// The slot an update of an array writes.
    pub(super) fn array_update(&self, key: &[u8], flags: u64) -> Result<u32, Errno> {
        if flags & !LOCK > EXIST {
            return Err(Errno::INVAL);
        }
        let slot = self.index(key).ok_or(Errno::TOOBIG)?;
        if flags & NOEXIST != 0 {
            return Err(Errno::EXIST);
        }
        if flags & LOCK != 0 && self.spec.spin_lock.is_none() {
            return Err(Errno::INVAL);
        }
        Ok(slot)
    }

    /// The slot an update of a hash map writes, and whether the entry is new there.
    pub(super) fn keyed_update(&mut self, key: &[u8], flags: u64, cpu: u32) -> Result<(u32, bool), Errno> {
        let plain = self.spec.kind == MapType::Hash;
        if (if plain { flags & !LOCK } else { flags }) > EXIST {
            return Err(Errno::INVAL);
        }
        if flags & LOCK != 0 && self.spec.spin_lock.is_none() {
            return Err(Errno::INVAL);
        }
        let Store::Keyed(keyed) = &mut self.store else { return Err(Errno::INVAL) };
        keyed.update(key, flags, cpu).map(|target| (target.slot, target.new))
    }
}
