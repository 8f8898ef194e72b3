//! Verilated tops as run-time plug-ins behind the `Device` trait.
//!
//! `cargo build` needs no Verilator: the plug-ins are built by `make plugins` and loaded when
//! an [`RtlNic`] is opened. [`Comparison`] runs the RTL and the model in lockstep.

mod around;
pub mod compare;
mod compare_maps;
mod compare_rings;
pub mod config_driver;
pub mod device;
mod device_events;
mod device_maps;
mod device_rings;
pub mod dispatch;
mod dispatch_rings;
mod engine_counts;
mod engine_maps;
pub mod error;
pub mod event;
pub mod events;
pub mod fault;
pub mod follow;
pub mod host_maps;
pub mod locate;
pub mod lone;
pub mod options;
pub mod plugin;
pub mod recount;
pub mod requester;
pub mod row_write;
pub mod snapshot_read;
pub mod top;
pub mod track;
pub mod trie;
mod turns;

pub use compare::Comparison;
pub use device::RtlNic;
pub use error::RtlError;
pub use fault::Faults;
pub use follow::Compared;
pub use locate::Variant;
pub use lone::Lone;
pub use options::{Ready, RtlOptions, Stalls, Waves};
pub use plugin::Plugin;
pub use top::Top;
