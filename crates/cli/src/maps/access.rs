//! What can be done with maps, wherever they are.

use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use sluice_ebpf::{Errno, MapSpec};

/// A map that a command can name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapInfo {
    /// Tenant it belongs to; empty in a saved state.
    pub tenant: String,
    /// Number among the tenant's maps.
    pub id: u32,
    /// Declaration.
    pub spec: MapSpec,
}

/// Key and value of an entry.
pub type Entry = (Vec<u8>, Vec<u8>);

/// Operations as bpf(2) has them for user space.
pub trait MapAccess {
    /// All maps.
    fn list(&mut self) -> Result<Vec<MapInfo>, Failure>;

    /// Values of an entry, those of all processors one after the other.
    fn lookup(&mut self, map: &MapInfo, key: &[u8]) -> Result<Result<Vec<u8>, Errno>, Failure>;

    /// Makes or changes an entry.
    fn update(&mut self, map: &MapInfo, key: &[u8], value: &[u8], flags: u64) -> Result<Result<(), Errno>, Failure>;

    /// Removes an entry.
    fn delete(&mut self, map: &MapInfo, key: &[u8]) -> Result<Result<(), Errno>, Failure>;

    /// Takes an element out of a queue or stack.
    fn pop(&mut self, map: &MapInfo) -> Result<Result<Vec<u8>, Errno>, Failure>;

    /// All entries; elements of a queue or stack have an empty key, the oldest is the first.
    fn dump(&mut self, map: &MapInfo) -> Result<Vec<Entry>, Failure>;

    /// Values of each entry of a per-CPU map.
    fn cpus(&mut self) -> Result<u32, Failure>;
}
