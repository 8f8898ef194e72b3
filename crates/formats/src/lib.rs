//! Every bit format, address map and shared constant of Sluice, described once.
//!
//! The SystemVerilog packages of `rtl/gen`, the codes that benches read, and the tables of `docs/design/formats.md`
//! and `rmt-rows.md` are generated from this crate by `sluice-gen`; `sluice-gen --check` fails when a committed file
//! is stale. What every NIC has is the folder `nic`, each engine has its own; [`engine::FOLDERS`] lists them.

pub mod address;
pub mod codes;
mod docgen;
pub mod engine;
pub mod hash;
pub mod l7;
pub mod limits;
pub mod message;
mod named;
pub mod nic;
#[cfg(feature = "probe")]
pub mod probe;
mod pygen;
pub mod random;
pub mod reason;
pub mod rmt;
pub mod row;
pub mod sparse;
mod svgen;
pub mod target;
pub mod xdp;

pub use address::{Node, Table};
pub use engine::EngineId;
pub use message::{Message, MessageError, Op, Status};
pub use nic::rows;
pub use reason::Reason;
pub use row::{Row, RowError};
pub use target::Target;
