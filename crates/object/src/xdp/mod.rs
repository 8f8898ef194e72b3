//! The XDP part of an object, and what a load installs of it.

pub(crate) mod binary;
pub mod part;
mod placed;
mod show;

pub use part::{Difference, MAX_BYTES, Xdp, XdpEntry, XdpInitial, XdpMap, XdpProgram};
pub use placed::PlacedXdp;
