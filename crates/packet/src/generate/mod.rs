//! Packets made from a seed: the same seed gives the same packets on every machine.

mod flows;
mod gaps;
mod malformed;
mod mixed;
mod sizes;
mod traffic;

pub use flows::{Flow, FlowOrder, Flows};
pub use gaps::{Gaps, WIRE_OVERHEAD_BYTES};
pub use malformed::Malformation;
pub use mixed::{MIXED_START, Mixed, mixed_capture, mixed_host};
pub use sizes::{IMIX, Sizes};
pub use traffic::{BadTraffic, Generated, Generator, Traffic};
