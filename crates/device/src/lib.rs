//! What behaves like a Sluice NIC, and what an engine of its models is.
//!
//! [`Device`] is contract 3 of `docs/architecture.md`; [`Engine`] is the seam of
//! `docs/decisions/engine-seam.md`. Everything that runs packets stands above this crate.

pub mod counters;
pub mod device;
pub mod engine;
pub mod engine_counts;
pub mod engines;
pub mod error;
pub mod followed;
pub mod footprint;
pub mod frame;
pub mod headers;
pub mod host_memory;
pub mod maps;
pub mod mock;
pub mod outcome;
pub mod program_counts;
pub mod ring_driver;
pub mod rings;
pub mod run_load;
pub mod stop;

pub use counters::{Counters, ModuleCounters};
pub use device::{Capabilities, Device, MAX_OFFER_BYTES, Rows};
pub use engine::{Answer, Behind, Engine, InstallError, Packet, Route, Stamped};
pub use engine_counts::{EngineCounts, EngineFault, Spent};
pub use engines::{Engines, Late, Passed, Sent};
pub use error::{DeviceError, ReadError, StepError, Waited};
pub use followed::{Decided, Followed};
pub use footprint::Footprint;
pub use frame::Frame;
pub use host_memory::HostMemory;
pub use maps::{Map, MapId, Maps, ProgramEvent, Resumed};
pub use outcome::{Event, Offer, OpId, Outcome, Verdict};
pub use program_counts::ProgramCounts;
pub use ring_driver::{RingDriver, RingHost};
pub use rings::{Message, RingError, Rings};
