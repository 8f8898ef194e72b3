//! Maps with the kernel's semantics: flags, errors, what is seen after an update.
//!
//! A tenant's maps live in one [`MapSpace`], which gives each the device addresses of its values;
//! several generations of programs may share it.

use crate::address::Region;
use crate::{Errno, FaultReason, MapSpec};

/// A map of one tenant. Not an index in an image: a map that is kept has one ID over replacements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MapId(pub u32);

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

/// All maps of one tenant and the addresses of their values.
#[derive(Debug)]
pub struct MapSpace {
    cpus: u32,
}

impl MapSpace {
    /// Without maps; per-CPU maps will have `cpus` values.
    pub fn new(cpus: u32) -> Self {
        Self { cpus }
    }

    /// Copies of each per-CPU value.
    pub fn cpus(&self) -> u32 {
        self.cpus
    }

    /// Makes a map, or says why the kernel would not (`MapError` has code E043x).
    pub fn create(&mut self, spec: &MapSpec) -> Result<MapId, MapError> {
        todo!("{spec:?}")
    }

    /// Removes a map; its addresses are free again.
    pub fn remove(&mut self, map: MapId) {
        todo!("{map:?}")
    }

    /// The declaration of a map.
    pub fn spec(&self, map: MapId) -> Option<&MapSpec> {
        todo!("{map:?}")
    }

    /// All maps in the order they were made.
    pub fn ids(&self) -> Vec<MapId> {
        todo!()
    }

    /// Address of the first value (arrays only; for `pseudo::MAP_VALUE`).
    pub fn first_value(&self, map: MapId) -> Option<u32> {
        todo!("{map:?}")
    }

    /// Program side: address of the value, as `bpf_map_lookup_elem` on this CPU returns it.
    /// For a map of maps the handle of the inner map.
    pub fn lookup(&mut self, map: MapId, key: &[u8], cpu: u32) -> Option<u32> {
        todo!("{map:?} {key:?} {cpu}")
    }

    /// Program side: `bpf_map_update_elem` on this CPU.
    pub fn update(&mut self, map: MapId, key: &[u8], value: &[u8], flags: u64, cpu: u32) -> Result<(), Errno> {
        todo!("{map:?} {key:?} {value:?} {flags} {cpu}")
    }

    /// Program side: `bpf_map_delete_elem`.
    pub fn delete(&mut self, map: MapId, key: &[u8]) -> Result<(), Errno> {
        todo!("{map:?} {key:?}")
    }

    /// User side, as bpf(2) `BPF_MAP_LOOKUP_ELEM`: per-CPU values one after the other, each
    /// rounded up to 8 bytes.
    pub fn user_lookup(&self, map: MapId, key: &[u8]) -> Result<Vec<u8>, Errno> {
        todo!("{map:?} {key:?}")
    }

    /// User side, as bpf(2) `BPF_MAP_UPDATE_ELEM`. Values of maps of maps and program arrays are
    /// the `MapId` or program number as 4 little-endian bytes.
    pub fn user_update(&mut self, map: MapId, key: &[u8], value: &[u8], flags: u64) -> Result<(), Errno> {
        todo!("{map:?} {key:?} {value:?} {flags}")
    }

    /// User side, as bpf(2) `BPF_MAP_DELETE_ELEM`.
    pub fn user_delete(&mut self, map: MapId, key: &[u8]) -> Result<(), Errno> {
        todo!("{map:?} {key:?}")
    }

    /// User side: the key behind this one, or the first one; `None` at the end.
    pub fn next_key(&self, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, Errno> {
        todo!("{map:?} {key:?}")
    }

    /// Bytes of map values at a device address (regions 4 to 8); never across two values.
    pub fn read(&self, address: u64, bytes: usize) -> Option<&[u8]> {
        todo!("{address} {bytes}")
    }

    /// The same to write; `None` also where programs may only read.
    pub fn write(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        todo!("{address} {bytes}")
    }

    /// The map that a value's address belongs to, and the offset in the value.
    pub fn owner(&self, address: u64) -> Option<(MapId, u32)> {
        todo!("{address}")
    }
}

/// Why a map was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// A size, flag or limit that this kind of map does not take.
    #[error("map `{map}`: {what} is {found}, allowed: {allowed}")]
    Declaration {
        /// Name.
        map: String,
        /// Which attribute.
        what: &'static str,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// No address space left.
    #[error("map `{map}` needs {asked} bytes of values, {left} of {all} are left")]
    Space {
        /// Name.
        map: String,
        /// Asked.
        asked: u64,
        /// Left.
        left: u64,
        /// In all.
        all: u64,
    },
}

/// The fault of an access that no value allows.
pub fn access_fault(access: &'static str, address: u64, bytes: u32) -> FaultReason {
    FaultReason::Access { access, address, bytes, region: Region::of(address) }
}
