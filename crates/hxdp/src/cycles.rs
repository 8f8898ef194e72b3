//! What bundles cost in time: a model, which is held to the RTL on fifteen paths (docs/hxdp-cycles.md).
//!
//! The bundle model records what each bundle of a packet takes ([`Trace`]). [`simulate()`] plays such packets on an
//! [`Engine`]: cores with contexts, their memories, the map engine that they share, and the order in which packets leave.

pub mod area;
mod calendar;
mod core;
pub mod engine;
mod late;
mod order;
pub mod search;
pub mod simulate;
pub mod trace;
mod turns;

pub use area::lut;
pub use engine::{Dispatch, Engine, Memory, Order};
pub use search::{MapEngine, Search};
pub use simulate::{Arrivals, Load, Timing, alone, loaded, mean_alone, saturated, simulate};
pub use trace::{Done, Issue, Recorder, Recording, Start, Trace};

/// What one packet, or several, executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Executed {
    /// Bundles.
    pub bundles: u64,
    /// Instructions in them that were not squashed.
    pub instructions: u64,
    /// Calls of helpers.
    pub helpers: u64,
    /// Loads, stores and atomics of map values and records.
    pub map_accesses: u64,
}

impl std::ops::AddAssign for Executed {
    fn add_assign(&mut self, other: Self) {
        self.bundles += other.bundles;
        self.instructions += other.instructions;
        self.helpers += other.helpers;
        self.map_accesses += other.map_accesses;
    }
}
