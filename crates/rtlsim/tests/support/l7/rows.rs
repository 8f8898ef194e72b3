//! What benches of the engine have in common.

use sluice_formats::l7::rows::L7MatchRow;
use sluice_formats::l7::target::Target;
use sluice_formats::row::Row;
use sluice_formats::{Reason, Table};
use sluice_l7::engine::Engine;

/// What rows are written to.
pub trait Rows {
    /// Writes the words of a row.
    fn write_words(&mut self, table: Table, index: u32, words: Vec<u32>);
    /// What the engine is.
    fn target(&self) -> &'static Target;
    /// Writes a row.
    fn write(&mut self, table: Table, index: u32, row: &impl Row) {
        self.write_words(table, index, row.pack().unwrap());
    }
    /// Writes a match row in the engine's own layout.
    fn write_match(&mut self, index: u32, row: &L7MatchRow) {
        let words = row.pack_as(self.target().match_shape()).unwrap();
        self.write_words(Table::L7Match, index, words);
    }
    /// The model that has to know of it.
    fn engine(&mut self) -> &mut Engine;
}

/// The kind of a reason in `l7_drops`.
pub fn kind(reason: Reason) -> u8 {
    reason.kind() as u8
}
