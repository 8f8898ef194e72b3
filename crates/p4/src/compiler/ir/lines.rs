//! Where in the program things come from, for messages: the statement that takes, writes or emits something, and the one that looks at cells.
//! Of each thing the first such statement counts, in the order in which ways are followed.

use super::{Array, Bits, Test};
use crate::front::source::Span;
use foldhash::HashMap;

/// A part of a slot of the program.
type Path = (usize, Vec<u32>);

/// The statements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    taken: HashMap<Path, Span>,
    written: HashMap<Path, Span>,
    emitted: HashMap<Path, Span>,
    /// Bits that are looked at ahead: the first, and how many.
    ahead: HashMap<(u32, u32), Span>,
    /// Which statement writes these bits to a place.
    values: HashMap<(Path, Bits), Span>,
    cells: HashMap<Array, Span>,
    temps: HashMap<u32, Span>,
    tables: HashMap<usize, Span>,
    tests: HashMap<Test, Span>,
}

impl Lines {
    /// A header is extracted.
    pub fn take(&mut self, slot: usize, path: &[u32], at: Span) {
        self.taken.entry((slot, path.to_vec())).or_insert(at);
    }

    /// Bits of the packet are looked at ahead.
    pub fn look_ahead(&mut self, first: u32, bits: u32, at: Span) {
        self.ahead.entry((first, bits)).or_insert(at);
    }

    /// Where bits are looked at ahead.
    pub fn ahead(&self, first: u32, bits: u32) -> Option<Span> {
        self.ahead.get(&(first, bits)).copied()
    }

    /// Something is written; of a number it is known which bits.
    pub fn write(&mut self, slot: usize, path: &[u32], bits: Option<&Bits>, at: Span) {
        self.written.entry((slot, path.to_vec())).or_insert(at);
        if let Some(bits) = bits {
            self.values.entry(((slot, path.to_vec()), bits.clone())).or_insert(at);
        }
    }

    /// A header is emitted.
    pub fn emit(&mut self, slot: usize, path: &[u32], at: Span) {
        self.emitted.entry((slot, path.to_vec())).or_insert(at);
    }

    /// Cells are looked at.
    pub fn look(&mut self, array: Array, at: Span) {
        self.cells.entry(array).or_insert(at);
    }

    /// A value waits for the next visit.
    pub fn keep(&mut self, number: u32, at: Span) {
        self.temps.entry(number).or_insert(at);
    }

    /// A table is applied.
    pub fn apply(&mut self, table: usize, at: Span) {
        self.tables.entry(table).or_insert(at);
    }

    /// Something is asked of a packet.
    pub fn ask(&mut self, test: &Test, at: Span) {
        self.tests.entry(test.clone()).or_insert(at);
    }

    /// Where that is asked.
    pub fn asked(&self, test: &Test) -> Option<Span> {
        self.tests.get(test).copied()
    }

    /// Where a table is applied.
    pub fn applied(&self, table: usize) -> Option<Span> {
        self.tables.get(&table).copied()
    }

    /// Where a header, or one that a place is in, is extracted.
    pub fn taken(&self, slot: usize, path: &[u32]) -> Option<Span> {
        found(&self.taken, slot, path)
    }

    /// Where a place, or one that it is in, is written.
    pub fn written(&self, slot: usize, path: &[u32]) -> Option<Span> {
        found(&self.written, slot, path)
    }

    /// Where a header that a place is in is emitted.
    pub fn emitted(&self, slot: usize, path: &[u32]) -> Option<Span> {
        found(&self.emitted, slot, path)
    }

    /// Where a place gets these bits.
    pub fn value(&self, slot: usize, path: &[u32], bits: &Bits) -> Option<Span> {
        self.values.get(&((slot, path.to_vec()), bits.clone())).copied()
    }

    /// Where cells are looked at; upper words where the lowest is.
    pub fn cells(&self, array: Array) -> Option<Span> {
        self.cells.get(&array).or_else(|| self.cells.get(&Array { part: 0, ..array })).copied()
    }

    /// Where a value that waits is computed.
    pub fn kept(&self, number: u32) -> Option<Span> {
        self.temps.get(&number).copied()
    }
}

/// That of the place, or of the smallest one around it.
fn found(all: &HashMap<Path, Span>, slot: usize, path: &[u32]) -> Option<Span> {
    (0..=path.len()).rev().find_map(|length| all.get(&(slot, path[..length].to_vec())).copied())
}
