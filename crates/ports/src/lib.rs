//! Fast ports: queues of interfaces of the machine, for a data plane that polls them.
//!
//! [`open`] opens an interface as one [`Port`] a queue, with the best of five kinds that is possible ([`PortKind`]); each
//! port says which it is and why the better ones were refused. A port never waits, copies each frame once on either side, and
//! needs at most one system call for a batch (a TAP device: one a frame). docs/guide/ports.md says what needs which capability.
//!
//! Linux only: elsewhere the crate is empty.
#![cfg(target_os = "linux")]

mod checksum;
mod claim;
mod drops;
mod error;
mod interface;
mod mapped;
mod open;
mod options;
mod packet;
mod port;
mod segments;
mod sender;
mod sys;
mod tag;
mod tap;
pub mod thread;
mod told;
mod xdp;

pub use drops::PortDrops;
pub use error::{PortError, Refused};
pub use open::open;
pub use options::{BusyPoll, Options, Wanted};
pub use port::{LinkState, Meta, Port, PortKind, wait};
pub use sender::Sender;
