//! Messages on the wire: the packet filter of the engine, and messages as packets. docs/design/l7.md has both.

mod build;
mod filter;
mod ports;

pub use build::{Addresses, BuildError, Field, MOST_PAYLOAD, encode, frame, raw_frame, segments};
pub use filter::{Dropped, NoMessage, Packet, Sender, Sort, by_headers, filter};
pub use ports::{Known, Ports};
