//! Maps that `sluice map` works on: saved by a run, or of a running NIC.

pub mod access;
pub mod protocol;
pub mod saved;
pub mod socket;

pub use access::{MapAccess, MapInfo};
