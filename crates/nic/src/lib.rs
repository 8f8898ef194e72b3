//! The software NIC: ports, tenants, a list of engines, queues. Its model follows a hardware trace too.

pub mod bank;
pub mod conformance;
pub mod drr;
pub mod engines;
pub mod forward;
pub mod ports;
pub mod replay;
pub mod room;
pub mod share;
pub mod software;
pub mod tables;

pub use replay::{Mismatch, Replay};
pub use software::SoftwareNic;
pub use tables::Tables;
