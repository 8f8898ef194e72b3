//! XDP programs: from the object file that clang writes to a verdict, bytes and maps.
//!
//! [`load::load`] reads an ELF object into an [`Image`], [`validate::validate`] refuses what can
//! never run, [`Runtime`] holds the programs and maps of one tenant and runs packets. The
//! specification is docs/design/xdp.md; the semantics are those of the Linux kernel.

pub mod address;
pub mod analysis;
pub mod codes;
pub mod engine;
pub mod errno;
pub mod fault;
pub mod helper;
pub mod image;
pub mod insn;
pub mod kernel;
pub mod load;
pub mod map;
mod named;
pub mod plugin;
pub mod state;
pub mod tenant;
pub mod validate;
pub mod verdict;
pub mod vm;
pub mod world;

pub use codes::codes;
pub use engine::XdpEngine;
pub use errno::Errno;
pub use fault::{Fault, FaultReason};
pub use image::{Image, MapSpec, MapType, Program};
pub use insn::Insn;
pub use map::{MapId, MapSpace};
pub use verdict::{Redirect, Verdict};
pub use vm::{Packet, Runtime};
pub use world::World;
