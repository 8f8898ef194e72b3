//! The software NIC: ports, tenants, a list of engines, queues. Its model follows a hardware trace too.

pub mod bank;
pub mod conformance;
pub mod dataplane;
pub mod drr;
mod ends;
pub mod engines;
pub mod forward;
mod loads;
pub mod ports;
pub mod queues;
mod readback;
pub mod replay;
pub mod room;
pub mod share;
pub mod software;
pub mod tables;

pub use dataplane::DataPlane;
pub use replay::{Mismatch, Replay};
pub use software::SoftwareNic;
pub use tables::Tables;
