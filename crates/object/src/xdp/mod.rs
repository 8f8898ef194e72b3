//! The XDP part of an object, and what a load installs of it.

pub(crate) mod binary;
mod code;
pub mod entry;
pub mod interfaces;
pub mod layout;
pub mod part;
mod placed;
pub mod routes;
mod show;
pub mod trie;
pub mod warp;

pub use code::{XdpBound, XdpCode, XdpCompiler, XdpFix, XdpMapPlace, XdpPut, XdpRefusal, XdpWarpRoom};
pub use layout::{LaidMap, Layout};
pub use part::{Difference, MAX_BYTES, Xdp, XdpEntry, XdpInitial, XdpMap, XdpMemory, XdpProgram};
pub use placed::PlacedXdp;
pub use warp::{XdpWarp, XdpWarpCount};
