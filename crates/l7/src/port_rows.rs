//! The port rows of an engine, and who takes what comes to a port.

use crate::message::{Known, Ports};
use crate::rules::Kind;
use sluice_formats::l7::codes::L7PortKind;
use sluice_formats::l7::rows::L7PortRow;
use std::collections::HashMap;
use std::ops::Deref;

/// Rows of all modules by number. What packets look up is made of them once, and again when a row is written.
#[derive(Clone, Debug, Default)]
pub struct PortRows {
    rows: Vec<L7PortRow>,
    /// By module and generation.
    known: HashMap<(u8, bool), Ports>,
}

impl From<Vec<L7PortRow>> for PortRows {
    fn from(rows: Vec<L7PortRow>) -> Self {
        Self { rows, known: HashMap::new() }
    }
}

impl Deref for PortRows {
    type Target = [L7PortRow];

    fn deref(&self) -> &[L7PortRow] {
        &self.rows
    }
}

impl PortRows {
    /// Writes a row; none where there is no such row.
    pub fn set(&mut self, index: usize, row: L7PortRow) -> Option<()> {
        *self.rows.get_mut(index)? = row;
        self.known.clear();
        Some(())
    }

    /// One more row behind the others.
    pub fn push(&mut self, row: L7PortRow) {
        self.rows.push(row);
        self.known.clear();
    }

    /// The ports of a module in one of its generations; `application` is the number of the row.
    pub fn of(&mut self, module: u8, generation: bool) -> &Ports {
        let rows = &self.rows;
        self.known.entry((module, generation)).or_insert_with(|| {
            let own = |row: &&L7PortRow| row.valid && (row.module_id, row.generation) == (module, generation);
            let known = rows.iter().enumerate().filter(|(_, row)| own(row)).filter_map(|(application, row)| {
                let kind = match L7PortKind::from_code(row.kind)? {
                    L7PortKind::Application => Kind::Application(row.id),
                    L7PortKind::Endpoint => Kind::Endpoint,
                    L7PortKind::Raw => Kind::Raw,
                };
                Some(Known { port: row.port, kind, application, updating: row.updating })
            });
            Ports::new(known.collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_row_counts_from_the_next_packet_on() {
        let row = |port, id| L7PortRow { valid: true, module_id: 3, port, id, ..L7PortRow::default() };
        let mut rows = PortRows::from(vec![row(9000, 1), row(9001, 2)]);
        assert_eq!(rows.of(3, false).at(9000)[0].kind, Kind::Application(1));
        assert!(rows.of(3, true).at(9000).is_empty() && rows.of(4, false).at(9000).is_empty());
        rows.set(0, row(9000, 7)).unwrap();
        assert_eq!(rows.of(3, false).at(9000)[0].kind, Kind::Application(7));
        rows.push(L7PortRow { module_id: 4, ..row(9000, 8) });
        assert_eq!(rows.of(4, false).at(9000)[0].application, 2);
        assert_eq!(rows.set(3, row(1, 1)), None);
    }
}
