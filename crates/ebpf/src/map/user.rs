//! What the host does with maps, as bpf(2) does: lookup, update, delete, next key.

use super::pages::Pages;
use super::table::Table;
use super::update_flags::{ANY, EXIST, LOCK, NOEXIST};
use super::{Map, MapId, MapSpace, Store, attributes, put};
use crate::image::map_flags::{RDONLY, WRONLY};
use crate::{Errno, MapType};
use sluice_device::Resumed;

/// `EBADF`: no such map or program.
const BAD_REFERENCE: Errno = Errno::BADF;
/// `EOVERFLOW`.
const OVERFLOW: Errno = Errno(75);
/// Most packets that a cpumap entry queues.
const MOST_QUEUED: u32 = 16384;

impl MapSpace {
    /// User side, as bpf(2) `BPF_MAP_LOOKUP_ELEM`: per-CPU values one after the other, each
    /// rounded up to 8 bytes.
    pub fn user_lookup(&self, map: MapId, key: &[u8]) -> Result<Vec<u8>, Errno> {
        let m = self.get(map).ok_or(BAD_REFERENCE)?;
        m.readable()?;
        if key.len() != m.spec.key_size as usize {
            return Err(Errno::INVAL);
        }
        let memory = self.pages.memory(map.0);
        match &m.store {
            Store::Ring(_) => Err(Errno::NOTSUPP),
            Store::Queue(queue) => Ok(m.element(memory, queue.next().ok_or(Errno::NOENT)?)),
            Store::Array | Store::Keyed(_) | Store::Trie(_) => {
                let slot = match &m.store {
                    Store::Keyed(keyed) => keyed.table.find(key),
                    Store::Trie(trie) => trie.find(key),
                    _ => m.index(key),
                };
                let slot = slot.ok_or(Errno::NOENT)?;
                if m.spec.kind == MapType::Devmap && !self.pages.holds_interface(map.0, m.place.offset(slot)) {
                    return Err(Errno::NOENT);
                }
                let size = m.spec.value_size as usize;
                if !m.spec.kind.is_per_cpu() {
                    let at = m.offset(slot, 0);
                    let mut value = memory[at..at + size].to_vec();
                    if let Some(at) = m.spec.spin_lock.map(|at| at as usize) {
                        value[at..at + 4].fill(0);
                    }
                    return Ok(value);
                }
                let rounded = size.next_multiple_of(8);
                Ok((0..self.cpus).flat_map(|cpu| &memory[m.offset(slot, cpu)..][..rounded]).copied().collect())
            }
            Store::Slots(slots) => {
                match m.spec.kind {
                    MapType::PerfEventArray => return Err(Errno::NOTSUPP),
                    MapType::Xskmap => return Err(Errno::OPNOTSUPP),
                    _ => {}
                }
                let [first, second] = slots.find(key).and_then(|slot| slots.get(slot)).ok_or(Errno::NOENT)?;
                let both = [first.to_le_bytes(), second.to_le_bytes()].concat();
                Ok(both[..m.spec.value_size as usize].to_vec())
            }
        }
    }

    /// User side, as bpf(2) `BPF_MAP_UPDATE_ELEM`. Values of maps of maps and program arrays are
    /// the `MapId` or program number as 4 little-endian bytes.
    pub fn user_update(&mut self, map: MapId, key: &[u8], value: &[u8], flags: u64) -> Result<(), Errno> {
        let (cpus, workers) = (self.cpus, self.workers);
        let m = self.maps.get_mut(map.0 as usize).and_then(Option::as_deref_mut).ok_or(BAD_REFERENCE)?;
        m.writable()?;
        if flags & LOCK != 0 && m.spec.spin_lock.is_none() {
            return Err(Errno::INVAL);
        }
        if key.len() != m.spec.key_size as usize || value.len() != m.spec.value_bytes(cpus) {
            return Err(Errno::INVAL);
        }
        let size = m.spec.value_size as usize;
        match m.spec.kind {
            MapType::Array | MapType::PercpuArray => {
                let slot = m.array_update(key, flags)?;
                m.user_put(&mut self.pages, map.0, slot, value, cpus);
                Ok(())
            }
            MapType::Hash | MapType::LruHash | MapType::PercpuHash | MapType::LruPercpuHash => {
                let (slot, new) = m.keyed_update(key, flags, 0)?;
                if new && !m.spec.kind.is_per_cpu() {
                    self.pages.bytes_mut(map.0, m.offset(slot, 0), size).fill(0);
                }
                m.user_put(&mut self.pages, map.0, slot, value, cpus);
                Ok(())
            }
            MapType::Devmap | MapType::DevmapHash => {
                let value = m.interface(value)?;
                let slot = m.device_slot(key, value, flags)?;
                let at = m.offset(slot, 0);
                self.pages.bytes_mut(map.0, at, size).copy_from_slice(&value[..size]);
                Ok(())
            }
            MapType::LpmTrie => {
                let Store::Trie(trie) = &mut m.store else { return Err(Errno::INVAL) };
                let slot = trie.update(key, flags)?;
                m.user_put(&mut self.pages, map.0, slot, value, cpus);
                Ok(())
            }
            MapType::ArrayOfMaps | MapType::HashOfMaps => self.hold(map, key, value, flags),
            MapType::Queue | MapType::Stack => self.put_element(map, value, flags),
            _ => m.refer(key, value, flags, workers),
        }
    }

    /// User side, as bpf(2) `BPF_MAP_DELETE_ELEM`.
    pub fn user_delete(&mut self, map: MapId, key: &[u8]) -> Result<(), Errno> {
        let m = self.maps.get_mut(map.0 as usize).and_then(Option::as_deref_mut).ok_or(BAD_REFERENCE)?;
        m.writable()?;
        if key.len() != m.spec.key_size as usize {
            return Err(Errno::INVAL);
        }
        let index = m.index(key);
        match (&mut m.store, m.spec.kind) {
            (_, MapType::Devmap) => {
                let at = m.place.offset(index.ok_or(Errno::INVAL)?);
                let size = m.spec.value_size as usize;
                self.pages.bytes_mut(map.0, at, size).fill(0);
                Ok(())
            }
            (Store::Keyed(keyed), _) => keyed.delete(key).map(drop).ok_or(Errno::NOENT),
            (Store::Trie(trie), _) => Ok(trie.delete(key)?),
            (Store::Ring(_), _) => Err(Errno::NOTSUPP),
            (Store::Slots(slots), MapType::Cpumap | MapType::Xskmap) => {
                slots.set(index.ok_or(Errno::INVAL)?, None);
                Ok(())
            }
            (Store::Slots(slots), kind) => {
                let gone = match kind {
                    MapType::HashOfMaps => slots.remove(key),
                    _ => slots.set(index.ok_or(Errno::TOOBIG)?, None),
                };
                let [gone, _] = gone.ok_or(Errno::NOENT)?;
                if matches!(kind, MapType::HashOfMaps | MapType::ArrayOfMaps) {
                    self.let_go(MapId(gone));
                }
                Ok(())
            }
            (Store::Array | Store::Queue(_), _) => Err(Errno::INVAL),
        }
    }

    /// User side: the key behind this one, or the first one; `None` at the end.
    pub fn next_key(&self, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, Errno> {
        let m = self.get(map).ok_or(BAD_REFERENCE)?;
        m.readable()?;
        if key.is_some_and(|key| key.len() != m.spec.key_size as usize) {
            return Err(Errno::INVAL);
        }
        let table = match &m.store {
            Store::Keyed(keyed) => Some(&keyed.table),
            Store::Slots(slots) => slots.keys.as_ref(),
            Store::Array => None,
            Store::Trie(trie) => return Ok(trie.next(key)),
            Store::Ring(_) => return Err(Errno::NOTSUPP),
            Store::Queue(_) => return Err(Errno::INVAL),
        };
        let Some(table) = table else {
            let next = match key.and_then(|key| m.index(key)) {
                Some(index) => index + 1,
                None => 0,
            };
            return Ok((next < m.spec.max_entries).then(|| next.to_le_bytes().to_vec()));
        };
        // A key that is not there starts from the first.
        let from = key.and_then(|key| table.behind(key)).unwrap_or(0);
        Ok(table.next(from).map(|(_, slot)| table.key(slot).to_vec()))
    }

    /// User side: where [`MapSpace::next_key`] goes on behind a key, as a number for [`MapSpace::resume`]: the place in the table, and above it
    /// how often entries have changed their order. `None`: the key is not there any more, and the first one would come.
    pub fn order_behind(&self, map: MapId, key: Option<&[u8]>) -> Result<Option<u64>, Errno> {
        let m = self.get(map).ok_or(BAD_REFERENCE)?;
        if let Store::Trie(trie) = &m.store {
            return Ok(key.is_none_or(|key| trie.has(key)).then_some(0));
        }
        let Some(table) = m.table() else { return Ok(Some(0)) };
        let behind = key.map_or(Some(0), |key| table.behind(key));
        Ok(behind.map(|behind| table.order() << 32 | behind as u64))
    }

    /// User side: the key behind which a walk goes on that stood behind this one when [`MapSpace::order_behind`] told this number. Entries keep
    /// their places, but a key that went and came again may have another one.
    pub fn resume(&self, map: MapId, key: Option<&[u8]>, order: u64) -> Result<Resumed, Errno> {
        let m = self.get(map).ok_or(BAD_REFERENCE)?;
        if let Some(table) = m.table() {
            return Ok(match order >> 32 == table.order() {
                true => Resumed::Behind(table.before(order as u32 as usize).map(<[u8]>::to_vec)),
                false => Resumed::Moved,
            });
        }
        // Tries have the order of their keys, arrays that of their indices.
        let there = self.order_behind(map, key)?.is_some();
        Ok(if there { Resumed::Behind(key.map(<[u8]>::to_vec)) } else { Resumed::Gone })
    }

    /// Puts a map into a map of maps.
    fn hold(&mut self, map: MapId, key: &[u8], value: &[u8], flags: u64) -> Result<(), Errno> {
        let inner = MapId(number(value, 0));
        let outer = self.get(map).ok_or(BAD_REFERENCE)?;
        if outer.spec.kind == MapType::ArrayOfMaps {
            if flags != ANY {
                return Err(Errno::INVAL);
            }
            outer.index(key).ok_or(Errno::TOOBIG)?;
        }
        let candidate = self.get(inner).filter(|m| !m.removed).ok_or(BAD_REFERENCE)?;
        if !outer.spec.inner.as_ref().is_some_and(|template| attributes::may_stand_for(&candidate.spec, template)) {
            return Err(Errno::INVAL);
        }
        if flags > EXIST {
            return Err(Errno::INVAL);
        }
        let Some(Store::Slots(slots)) = self.get_mut(map).map(|m| &mut m.store) else { return Err(Errno::INVAL) };
        let slot = match (slots.find(key), &slots.keys) {
            (Some(_), Some(_)) if flags == NOEXIST => return Err(Errno::EXIST),
            (Some(slot), _) => slot,
            _ if flags == EXIST => return Err(Errno::NOENT),
            _ => slots.insert(key).ok_or(Errno::TOOBIG)?,
        };
        let old = slots.set(slot, Some([inner.0, 0]));
        if let Some(m) = self.get_mut(inner) {
            m.holders += 1;
        }
        if let Some([old, _]) = old {
            self.let_go(MapId(old));
        }
        Ok(())
    }
}

/// The `index`th number of a value; 0 when the value is shorter.
fn number(value: &[u8], index: usize) -> u32 {
    value.as_chunks::<4>().0.get(index).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

impl Map {
    /// The table of keys, of those that have one.
    fn table(&self) -> Option<&Table> {
        match &self.store {
            Store::Keyed(keyed) => Some(&keyed.table),
            Store::Slots(slots) => slots.keys.as_ref(),
            Store::Array | Store::Ring(_) | Store::Trie(_) | Store::Queue(_) => None,
        }
    }

    pub(super) fn readable(&self) -> Result<(), Errno> {
        if self.spec.flags & WRONLY != 0 { Err(Errno::PERM) } else { Ok(()) }
    }

    pub(super) fn writable(&self) -> Result<(), Errno> {
        if self.spec.flags & RDONLY != 0 || self.spec.frozen { Err(Errno::PERM) } else { Ok(()) }
    }

    fn user_put(&self, pages: &mut Pages, map: u32, slot: u32, value: &[u8], cpus: u32) {
        let size = self.spec.value_size as usize;
        if !self.spec.kind.is_per_cpu() {
            return put(pages.bytes_mut(map, self.offset(slot, 0), size), value, self.spec.spin_lock);
        }
        let rounded = size.next_multiple_of(8);
        for (cpu, copy) in (0..cpus).zip(value.chunks_exact(rounded)) {
            pages.bytes_mut(map, self.offset(slot, cpu), rounded).copy_from_slice(copy);
        }
    }

    /// Value of a devmap as it is kept: interface and no program.
    fn interface(&self, value: &[u8]) -> Result<[u8; 8], Errno> {
        let _ = self;
        let mut kept = [0; 8];
        kept[..4].copy_from_slice(&number(value, 0).to_le_bytes());
        if number(value, 1) as i32 > 0 {
            // A program behind a devmap entry does not run here.
            return Err(Errno::INVAL);
        }
        Ok(kept)
    }

    /// The slot an update of a devmap writes.
    fn device_slot(&mut self, key: &[u8], value: [u8; 8], flags: u64) -> Result<u32, Errno> {
        let none = number(&value, 0) == 0;
        if flags > EXIST {
            return Err(Errno::INVAL);
        }
        let index = self.index(key);
        match &mut self.store {
            Store::Keyed(_) if none => Err(Errno::INVAL),
            // The kernel does not look at BPF_EXIST here.
            Store::Keyed(keyed) => keyed.update(key, flags & NOEXIST, 0).map(|target| target.slot),
            _ => {
                let slot = index.ok_or(Errno::TOOBIG)?;
                if flags == NOEXIST { Err(Errno::EXIST) } else { Ok(slot) }
            }
        }
    }

    /// An update of a program array, perf event array, cpumap or xskmap.
    fn refer(&mut self, key: &[u8], value: &[u8], flags: u64, workers: u32) -> Result<(), Errno> {
        let (first, second) = (number(value, 0), number(value, 1));
        let index = self.index(key);
        let Store::Slots(slots) = &mut self.store else { return Err(Errno::NOTSUPP) };
        let table = matches!(self.spec.kind, MapType::ProgArray | MapType::PerfEventArray);
        if flags > (if table { ANY } else { EXIST }) {
            return Err(Errno::INVAL);
        }
        let slot = index.ok_or(Errno::TOOBIG)?;
        let mut entry = Some([first, second]);
        match self.spec.kind {
            MapType::Cpumap => {
                if flags == NOEXIST {
                    return Err(Errno::EXIST);
                }
                if first > MOST_QUEUED {
                    return Err(OVERFLOW);
                }
                if slot >= workers {
                    return Err(Errno::NODEV);
                }
                if second as i32 > 0 {
                    // A program behind a cpumap entry does not run here.
                    return Err(Errno::INVAL);
                }
                entry = (first != 0).then_some([first, 0]);
            }
            MapType::Xskmap if flags == NOEXIST && slots.get(slot).is_some_and(|[old, _]| old != first) => {
                return Err(Errno::EXIST);
            }
            MapType::Xskmap if flags == EXIST && slots.get(slot).is_none() => return Err(Errno::NOENT),
            _ => {}
        }
        slots.set(slot, entry);
        Ok(())
    }
}
