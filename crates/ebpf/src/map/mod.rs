//! Maps with the kernel's semantics: flags, errors, what is seen after an update.
//!
//! A tenant's maps live in one [`MapSpace`], which gives each the device addresses of its values;
//! several generations of programs may share it.

mod attributes;
mod clock;
mod error;
pub mod file;
mod keyed;
pub mod native;
pub mod notation;
mod pages;
pub mod print;
mod program;
mod queue;
mod ring;
mod slots;
mod table;
#[cfg(test)]
mod testing;
mod touched;
mod user;

pub use attributes::as_libbpf_creates;
pub(crate) use attributes::{as_loaders_complete, ring_size};
pub use error::MapError;
pub(crate) use pages::stride_shift;
pub use pages::{READ_ONLY_BYTES, WRITABLE_BYTES};
pub use ring::ring_query;
pub use sluice_device::MapId;

use crate::address::{MAP_HANDLES, Region};
use crate::image::map_flags::{RDONLY_PROG, WRONLY_PROG};
use crate::{FaultReason, MapSpec, MapType};
use keyed::Keyed;
use pages::{Demand, Pages, Place};
use queue::Queue;
use ring::Ring;
use slots::Slots;
use sluice_object::xdp::trie::{SPARE_SLOTS, Trie, TrieNode};
use std::sync::atomic::{AtomicU64, Ordering};

/// Determinism of a map or helper (contract 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Identical with the kernel.
    Exact,
    /// Same set, order of iteration its own.
    SetEqual,
    /// Properties hold: never over capacity, bounded recency.
    Property,
    /// Given from outside.
    Fed,
}

/// Flags of an update, as in the kernel.
pub mod update_flags {
    /// Make or change.
    pub const ANY: u64 = 0;
    /// Only make.
    pub const NOEXIST: u64 = 1;
    /// Only change.
    pub const EXIST: u64 = 2;
    /// Hold the value's spin lock.
    pub const LOCK: u64 = 4;
}

/// Determinism of a kind of map.
pub fn class(kind: MapType) -> Class {
    match kind {
        MapType::Hash | MapType::PercpuHash | MapType::HashOfMaps | MapType::DevmapHash => Class::SetEqual,
        MapType::LruHash | MapType::LruPercpuHash => Class::Property,
        _ => Class::Exact,
    }
}

/// All maps of one tenant and the addresses of their values.
#[derive(Debug)]
pub struct MapSpace {
    cpus: u32,
    /// Processors that a cpumap may name.
    workers: u32,
    /// By `MapId`; a number is never given twice.
    maps: Vec<Option<Box<Map>>>,
    pages: Pages,
    ring_consumer: bool,
    /// Another number after each change of which maps there are.
    stamp: u64,
}

/// One map.
#[derive(Debug)]
struct Map {
    spec: MapSpec,
    place: Place,
    /// Slots of one CPU's values.
    slots: u32,
    store: Store,
    /// Entries of maps of maps that hold this one.
    holders: u32,
    /// Removed, and only alive in what holds it.
    removed: bool,
}

/// How keys become slots.
#[derive(Debug)]
enum Store {
    /// The key is the slot.
    Array,
    /// Hash maps.
    Keyed(Keyed),
    /// References: no memory that programs see.
    Slots(Slots),
    /// Longest prefix match.
    Trie(Trie),
    /// Ring buffer.
    Ring(Ring),
    /// Queue or stack.
    Queue(Queue),
}

impl MapSpace {
    /// Without maps; per-CPU maps will have `cpus` values.
    pub fn new(cpus: u32) -> Self {
        let cpus = cpus.max(1);
        Self { cpus, workers: cpus, maps: Vec::new(), pages: Pages::default(), ring_consumer: true, stamp: stamp() }
    }

    /// The same with cpumaps that may name so many processors, where these are not those that programs run on.
    pub fn with_workers(cpus: u32, workers: u32) -> Self {
        Self { workers, ..Self::new(cpus) }
    }

    /// Copies of each per-CPU value.
    pub fn cpus(&self) -> u32 {
        self.cpus
    }

    /// Makes a map, or says why the kernel would not (`MapError` has code E043x).
    ///
    /// `contents` become the first value; `initial` is for who knows the other maps and programs.
    pub fn create(&mut self, spec: &MapSpec) -> Result<MapId, MapError> {
        attributes::check(spec)?;
        let number = self.maps.len() as u32;
        let copies = if spec.kind.is_per_cpu() { self.cpus } else { 1 };
        let space = |(asked, left, all): (u64, u64, u64)| {
            let (map, entries) = (spec.name.clone(), spec.max_entries);
            let fit = (u128::from(left) * u128::from(entries) / u128::from(asked.max(1))) as u64;
            MapError::Space { map, entries, fit, asked, left, all }
        };
        // A table of references or keys counts like values, though programs have no address of it.
        let bounded = |bytes: u64| {
            if bytes > WRITABLE_BYTES { Err(space((bytes, WRITABLE_BYTES, WRITABLE_BYTES))) } else { Ok(()) }
        };
        let entries = u64::from(spec.max_entries);
        let lru = spec.kind.is_lru();
        let (store, asides, values) = match spec.kind {
            MapType::Array | MapType::PercpuArray | MapType::Devmap => (Store::Array, 0, true),
            MapType::Hash | MapType::LruHash | MapType::DevmapHash | MapType::PercpuHash | MapType::LruPercpuHash => {
                let asides = if spec.kind.is_per_cpu() { 0 } else { self.cpus };
                bounded((entries + u64::from(asides)).saturating_mul(u64::from(spec.key_size).max(8)))?;
                (Store::Keyed(Keyed::new(spec.key_size, spec.max_entries, asides, lru)), asides, true)
            }
            MapType::HashOfMaps => {
                bounded(entries.saturating_mul(u64::from(spec.key_size).max(8)))?;
                (Store::Slots(Slots::keyed(spec.key_size, spec.max_entries)), 0, false)
            }
            MapType::ArrayOfMaps | MapType::ProgArray | MapType::PerfEventArray | MapType::Cpumap | MapType::Xskmap => {
                bounded(entries * Slots::ENTRY_BYTES)?;
                (Store::Slots(Slots::indexed(spec.max_entries)), 0, false)
            }
            MapType::LpmTrie => {
                bounded(2 * entries.saturating_mul(u64::from(spec.key_size)))?;
                (Store::Trie(Trie::new(spec.key_size, spec.max_entries)), SPARE_SLOTS, true)
            }
            MapType::Ringbuf => (Store::Ring(Ring::new(spec.max_entries)), 0, false),
            MapType::Queue | MapType::Stack => {
                (Store::Queue(Queue::new(spec.max_entries, spec.kind == MapType::Stack)), self.cpus, true)
            }
        };
        let slots = spec.max_entries.saturating_add(asides);
        let devmap = matches!(spec.kind, MapType::Devmap | MapType::DevmapHash);
        let mut place = Place::default();
        if values {
            let demand = Demand {
                slots: u64::from(slots) * u64::from(copies),
                value_size: spec.value_size,
                program_reads: spec.flags & WRONLY_PROG == 0 || spec.kind.is_queue(),
                program_writes: spec.flags & RDONLY_PROG == 0 && !devmap,
                read_only: spec.flags & RDONLY_PROG != 0 || devmap,
            };
            place = self.pages.allocate(number, demand).map_err(space)?;
        }
        if let Some(contents) = &spec.contents {
            let most = contents.len().min(spec.value_size as usize);
            if values && most > 0 {
                self.pages.bytes_mut(number, 0, most).copy_from_slice(&contents[..most]);
            }
        }
        self.stamp = stamp();
        self.maps.push(Some(Box::new(Map { spec: spec.clone(), place, slots, store, holders: 0, removed: false })));
        Ok(MapId(number))
    }

    /// Removes a map; its addresses are free again. One that a map of maps holds lives on there.
    pub fn remove(&mut self, map: MapId) {
        if let Some(m) = self.get_mut(map) {
            m.removed = true;
            self.collect(map);
        }
    }

    /// Frees a map that is removed and that nothing holds, and what it held.
    fn collect(&mut self, map: MapId) {
        let Some(m) = self.get(map).filter(|m| m.removed && m.holders == 0) else { return };
        let of_maps = matches!(m.spec.kind, MapType::ArrayOfMaps | MapType::HashOfMaps);
        let held: Vec<u32> = match &m.store {
            Store::Slots(slots) if of_maps => slots.all().collect(),
            _ => Vec::new(),
        };
        self.maps[map.0 as usize] = None;
        self.stamp = stamp();
        self.pages.free(map.0);
        held.into_iter().for_each(|inner| self.let_go(MapId(inner)));
    }

    /// One entry of a map of maps less holds `inner`.
    fn let_go(&mut self, inner: MapId) {
        if let Some(m) = self.get_mut(inner) {
            m.holders -= 1;
            self.collect(inner);
        }
    }

    /// The declaration of a map.
    pub fn spec(&self, map: MapId) -> Option<&MapSpec> {
        self.get(map).map(|m| &m.spec)
    }

    /// All maps in the order they were made.
    pub fn ids(&self) -> Vec<MapId> {
        let alive = |m: &Option<Box<Map>>| m.as_ref().is_some_and(|m| !m.removed);
        self.maps.iter().enumerate().filter(|(_, m)| alive(m)).map(|(i, _)| MapId(i as u32)).collect()
    }

    /// Address of the first value (arrays only; for `pseudo::MAP_VALUE`).
    pub fn first_value(&self, map: MapId) -> Option<u32> {
        self.get(map).filter(|m| m.spec.kind == MapType::Array).map(|m| m.place.first)
    }

    /// Bytes from a value of a per-CPU map that CPU 0 has to that of this CPU; 0 of other maps.
    pub fn copy_distance(&self, map: MapId, cpu: u32) -> Option<u32> {
        self.get(map).map(|m| m.address(0, cpu) - m.address(0, 0))
    }

    /// Root and nodes of a trie; `None` of other maps.
    pub fn trie(&self, map: MapId) -> Option<(Option<u32>, Vec<TrieNode>)> {
        match &self.get(map)?.store {
            Store::Trie(trie) => Some(trie.nodes()),
            _ => None,
        }
    }

    /// Slot of a trie's entry that is this very key, for devices that walk the trie themselves. A node that is free may hold
    /// the same key, so that this cannot be seen from the nodes.
    pub fn trie_slot(&self, map: MapId, key: &[u8]) -> Option<u32> {
        match &self.get(map)?.store {
            Store::Trie(trie) => trie.slot(key),
            _ => None,
        }
    }

    /// Address of a map's first value; 0 of one whose values programs do not see.
    pub fn values(&self, map: MapId) -> Option<u32> {
        self.get(map).map(|m| m.place.first)
    }

    /// Bytes of map values at a device address (regions 4 to 8); never across two values.
    #[inline]
    pub fn read(&self, address: u64, bytes: usize) -> Option<&[u8]> {
        self.pages.read(address, bytes)
    }

    /// The same to write; `None` also where programs may only read.
    #[inline]
    pub fn write(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        self.pages.write(address, bytes)
    }

    /// The map that a value's address belongs to, and the offset in the value.
    pub fn owner(&self, address: u64) -> Option<(MapId, u32)> {
        self.pages.owner(address).map(|(map, offset)| (MapId(map), offset))
    }

    #[inline]
    fn get(&self, map: MapId) -> Option<&Map> {
        self.maps.get(map.0 as usize)?.as_deref()
    }

    #[inline]
    fn get_mut(&mut self, map: MapId) -> Option<&mut Map> {
        self.maps.get_mut(map.0 as usize)?.as_deref_mut()
    }
}

impl Map {
    /// Key of an array, if it has so many entries.
    #[inline]
    fn index(&self, key: &[u8]) -> Option<u32> {
        let index = u32::from_le_bytes(key.try_into().ok()?);
        (index < self.spec.max_entries).then_some(index)
    }

    /// Address of a slot's value on a CPU.
    #[inline]
    fn address(&self, slot: u32, cpu: u32) -> u32 {
        self.place.address(if self.spec.kind.is_per_cpu() { cpu * self.slots + slot } else { slot })
    }
}

/// A number that this process has not given before.
pub(crate) fn stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Handle of a map, as programs hold it.
pub fn handle(map: MapId) -> u32 {
    MAP_HANDLES + map.0
}

/// Puts a value in its place, but for a spin lock in it.
fn put(to: &mut [u8], value: &[u8], spin_lock: Option<u32>) {
    match spin_lock.map(|at| at as usize) {
        Some(at) if at + 4 <= to.len() => {
            to[..at].copy_from_slice(&value[..at]);
            to[at + 4..].copy_from_slice(&value[at + 4..]);
        }
        _ => to.copy_from_slice(value),
    }
}

/// The fault of an access that no value allows.
pub fn access_fault(access: &'static str, address: u64, bytes: u32) -> FaultReason {
    FaultReason::Access { access, address, bytes, region: Region::of(address) }
}
