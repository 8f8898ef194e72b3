//! Host operations on the maps of an engine's programs, with the semantics of bpf(2).
//!
//! An engine whose programs share maps with the host gives them by [`crate::Device::maps`]; what it tells the host beside
//! them comes the same way. Maps and programs are named by module: the tenant's, or an engine's own.

use crate::engine_counts::EngineCounts;
use crate::error::DeviceError;
use crate::program_counts::ProgramCounts;
use sluice_object::XdpMap;

/// Names a map of one module in operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MapId(pub u32);

/// A map of a running program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    /// Its name in operations; the same over replacements that keep it.
    pub id: MapId,
    /// Its declaration, as the program that runs now made it.
    pub declared: XdpMap,
}

/// What a program told the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramEvent {
    /// A line of `trace_printk`.
    Trace {
        /// The line.
        line: String,
    },
    /// `perf_event_output`.
    Perf {
        /// Name of the map.
        map: String,
        /// Processor whose buffer it went to.
        cpu: u32,
        /// The bytes.
        data: Vec<u8>,
    },
    /// A record of a ring buffer.
    Ring {
        /// Name of the map.
        map: String,
        /// The bytes.
        data: Vec<u8>,
    },
    /// Events that found no room before they were taken.
    Lost {
        /// How many.
        events: u64,
    },
}

/// Where a walk through a map's keys goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// Behind this key; without one with the first.
    Behind(Option<Vec<u8>>),
    /// The key is not there any more.
    Gone,
    /// Entries have changed their order.
    Moved,
}

/// The maps of all modules of one engine. A module that runs no program there answers `NoProgram`.
pub trait Maps {
    /// Copies of each value of a per-CPU map: what the host reads and writes has them one behind the other.
    fn cpus(&self) -> u32;

    /// Maps of the program that new packets of a module run, in the program's order.
    fn list(&mut self, module: u8) -> Result<Vec<Map>, DeviceError>;

    /// `BPF_MAP_LOOKUP_ELEM` of bpf(2).
    fn lookup(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<Vec<u8>, DeviceError>;

    /// `BPF_MAP_UPDATE_ELEM` of bpf(2).
    fn update(&mut self, module: u8, map: MapId, key: &[u8], value: &[u8], flags: u64) -> Result<(), DeviceError>;

    /// `BPF_MAP_DELETE_ELEM` of bpf(2).
    fn delete(&mut self, module: u8, map: MapId, key: &[u8]) -> Result<(), DeviceError>;

    /// `BPF_MAP_LOOKUP_AND_DELETE_ELEM` of bpf(2), of queues and stacks: the element that goes.
    fn pop(&mut self, module: u8, map: MapId) -> Result<Vec<u8>, DeviceError>;

    /// All elements of a queue or stack, the oldest first. While packets run they are those of no one moment.
    fn elements(&mut self, module: u8, map: MapId) -> Result<Vec<Vec<u8>>, DeviceError>;

    /// `BPF_MAP_GET_NEXT_KEY` of bpf(2); without a key the first one, at the end none.
    fn next_key(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError>;

    /// Where [`Maps::next_key`] goes on behind this key, as a number for [`Maps::resume`]. None when the key is not there any more.
    fn order_behind(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<u64>, DeviceError>;

    /// Where a walk goes on that stood behind this key when [`Maps::order_behind`] told this number, so that no entry that stayed since is
    /// skipped or repeated. The key may have gone meanwhile, or have come again at another place.
    fn resume(&mut self, module: u8, map: MapId, key: Option<&[u8]>, order: u64) -> Result<Resumed, DeviceError> {
        Ok(match self.order_behind(module, map, key)? {
            None => Resumed::Gone,
            Some(found) if found != order => Resumed::Moved,
            Some(_) => Resumed::Behind(key.map(<[u8]>::to_vec)),
        })
    }

    /// The same as the next key, where zeros of arrays and places that hold nothing may be left out: what a map of millions is listed by.
    fn next_held_key(&mut self, module: u8, map: MapId, key: Option<&[u8]>) -> Result<Option<Vec<u8>>, DeviceError>;

    /// Routes and neighbours that the module's programs see: the text of a routes file.
    fn set_routes(&mut self, module: u8, routes: &str) -> Result<(), DeviceError>;

    /// Takes what the module's programs told since the last call, in order.
    fn take_events(&mut self, module: u8) -> Vec<ProgramEvent>;

    /// What the owner of a module's program should know of how it runs here: a text each.
    fn remarks(&mut self, module: u8) -> Vec<String> {
        let _ = module;
        Vec::new()
    }

    /// What the module's programs came to since it has had one, over replacements.
    fn counts(&mut self, module: u8) -> Result<ProgramCounts, DeviceError>;

    /// What the engine in hardware has counted of the module's programs; none where programs run in software.
    fn engine_counts(&mut self, module: u8) -> Result<Option<EngineCounts>, DeviceError> {
        let _ = module;
        Ok(None)
    }
}
