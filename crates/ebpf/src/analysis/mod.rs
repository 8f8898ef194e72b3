//! Region analysis: which region, offsets and map each instruction's operands point into.
//!
//! [`analyze`] takes a program that was validated and says for each instruction what every
//! register holds before it: a number with its known bits and bounds, or an address as a base
//! (packet, stack frame, value of a map, ...) with an offset. What is said holds on every run;
//! what is not known is said to be unknown. The method is docs/design/xdp-analysis.md.

pub mod alu;
pub mod branch;
mod call;
mod fixpoint;
mod graph;
mod growth;
pub mod num;
mod prints;
pub mod range;
mod regions;
mod report;
mod stack;
mod state;
mod summary;
pub mod tnum;
mod transfer;
mod value;
mod warn;

#[cfg(test)]
mod testing;

pub use growth::growth;
pub use prints::{print_format, print_formats, print_slots, written};
pub use regions::{Access, AccessKind, At, Call, MAX_SLOTS, Regions, analyze, operands};
pub use report::Listing;
pub use summary::{MapUse, Summary};
pub use value::{Base, Generation, MAX_BUFFER, MapRef, Value};
pub use warn::{MayBeNull, may_be_null};
