//! The rmt part of an object: rows of the pipeline without addresses.
//!
//! `sluice-rmt` makes it from a checked program; `linker::rmt` gives it its places.

mod check;
pub mod part;

pub use part::{RmtExact, RmtGroup, RmtPart, RmtStage, RmtTernary};
