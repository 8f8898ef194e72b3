//! The `Device` trait, tenants and the software NIC.

pub mod bank;
pub mod config;
pub mod conformance;
pub mod device;
pub mod drr;
pub mod forward;
pub mod frame;
pub mod mock;
pub mod ports;
pub mod program_file;
pub mod replay;
pub mod room;
pub mod run_load;
pub mod scripts;
pub mod software;
pub mod tables;
pub mod xdp_counts;

pub use config::{NicConfig, bring_up};
pub use device::{Capabilities, Counters, Device, DeviceError, Event, Offer, OpId, Outcome, Rows, Verdict};
pub use replay::{Mismatch, Replay};
pub use software::SoftwareNic;
pub use tables::Tables;
pub use xdp_counts::XdpCounts;
