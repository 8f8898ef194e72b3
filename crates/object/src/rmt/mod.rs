//! The rmt part of an object: rows of the pipeline without addresses.
//!
//! `sluice-rmt` makes it from a checked program; `linker::rmt` gives it its places.

pub(crate) mod binary;
pub(crate) mod check;
mod json;
pub mod logical;
pub mod outer;
pub mod part;
mod show;

pub use logical::{Logical, LogicalRoom, LogicalRow, LogicalRows, LogicalTable, LogicalValue, USUAL_SIZE};
pub use outer::{Outer, OuterTag};
pub use part::{RmtExact, RmtGroup, RmtPart, RmtStage, RmtTernary};
