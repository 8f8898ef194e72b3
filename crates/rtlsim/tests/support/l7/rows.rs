//! What benches of the engine have in common.

use sluice_formats::row::Row;
use sluice_formats::{Reason, Table};
use sluice_l7::engine::Engine;

/// What rows are written to.
pub trait Rows {
    /// Writes a row.
    fn write(&mut self, table: Table, index: u32, row: &impl Row);
    /// The model that has to know of it.
    fn engine(&mut self) -> &mut Engine;
}

/// The kind of a reason in `l7_drops`.
pub fn kind(reason: Reason) -> u8 {
    reason.kind() as u8
}
