//! Rows of a program where they lie.

use super::given::{GROUPS, PORTS, RESOURCES, RINGS, ROWS, STARTS};
use crate::l7::L7Part;
use crate::linker::rmt::RowWrite;
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::rows::{L7GroupRow, L7MatchRow, L7PortRow, L7StartRow, L7TargetPart};
use sluice_formats::{Node, Row, Table};

/// First row, group or ring of each resource.
pub(super) type Bases = [u32; RESOURCES.len()];

/// Where one program lies, and whose it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Module.
    pub module: u8,
    /// Generation.
    pub generation: u8,
    /// First numbers.
    pub bases: Bases,
}

/// A row that is written.
pub(super) fn write(table: Table, index: u32, row: &impl Row) -> RowWrite {
    let words = row.pack().expect("the part has passed its check, and places fit their fields");
    RowWrite { node: Node::L7, table, index, words }
}

/// The row as after a reset.
pub(super) fn zero<R: Row + Default>(table: Table, index: u32) -> RowWrite {
    write(table, index, &R::default())
}

impl Place {
    fn target(&self, target: L7TargetPart) -> L7TargetPart {
        let [rows, groups, rings] = [ROWS, GROUPS, RINGS].map(|resource| self.bases[resource] as u16);
        target.moved(rows, groups, rings)
    }

    /// A port's row.
    pub fn port(&self, row: &L7PortRow) -> L7PortRow {
        L7PortRow {
            valid: true,
            module_id: self.module,
            generation: self.generation == 1,
            start: row.start + self.bases[STARTS] as u16,
            otherwise: self.target(row.otherwise),
            ..*row
        }
    }

    fn matched(&self, row: &L7MatchRow) -> L7MatchRow {
        let mut row = L7MatchRow { module_id: self.module, miss: self.target(row.miss), ..*row };
        row.alternatives.iter_mut().filter(|a| a.valid).for_each(|a| a.target = self.target(a.target));
        row
    }

    fn group(&self, group: &L7GroupRow) -> L7GroupRow {
        let slots = group.slots.map(|queue| queue + self.bases[RINGS] as u8);
        L7GroupRow { module_id: self.module, slots, ..*group }
    }

    /// All rows of the program.
    pub fn rows(&self, part: &L7Part) -> Vec<RowWrite> {
        let at = |resource: usize, i: usize| self.bases[resource] + i as u32;
        let rows = part.rows.iter().enumerate();
        let mut all: Vec<RowWrite> =
            rows.map(|(i, row)| write(Table::L7Match, at(ROWS, i), &self.matched(row))).collect();
        all.extend(part.starts.iter().enumerate().map(|(i, row)| {
            let row = L7StartRow { module_id: self.module, target: self.target(row.target), ..*row };
            write(Table::L7Start, at(STARTS, i), &row)
        }));
        let groups = part.groups.iter().enumerate();
        all.extend(groups.map(|(i, group)| write(Table::L7Group, at(GROUPS, i), &self.group(group))));
        let ports = part.applications.iter().enumerate();
        all.extend(ports.map(|(i, application)| write(Table::L7Port, at(PORTS, i), &self.port(&application.row))));
        all
    }

    /// Ports whose packets are dropped while the rules change: their rows, and nothing else of them is new.
    pub fn updating(&self, part: &L7Part) -> Vec<RowWrite> {
        let ports = part.applications.iter().enumerate().filter(|(_, application)| application.discard);
        ports
            .map(|(i, application)| {
                let row = L7PortRow { updating: true, ..self.port(&application.row) };
                write(Table::L7Port, self.bases[PORTS] + i as u32, &row)
            })
            .collect()
    }

    /// Zeros in place of all rows.
    pub fn zeros(&self, part: &L7Part) -> Vec<RowWrite> {
        let range = |resource: usize, n: usize| (0..n as u32).map(move |i| (resource, i));
        let at = |(resource, i): (usize, u32)| self.bases[resource] + i;
        let ports = range(PORTS, part.applications.len()).map(|i| zero::<L7PortRow>(Table::L7Port, at(i)));
        let starts = range(STARTS, part.starts.len()).map(|i| zero::<L7StartRow>(Table::L7Start, at(i)));
        let rows = range(ROWS, part.rows.len()).map(|i| zero::<L7MatchRow>(Table::L7Match, at(i)));
        let groups = range(GROUPS, part.groups.len()).map(|i| zero::<L7GroupRow>(Table::L7Group, at(i)));
        ports.chain(starts).chain(rows).chain(groups).collect()
    }
}

/// Whether a target is among the first numbers and counts of a generation.
pub(super) fn within(target: L7TargetPart, bases: &Bases, counts: &Bases) -> bool {
    let inside =
        |resource: usize, first: u32, end: u32| first >= bases[resource] && end <= bases[resource] + counts[resource];
    let number = u32::from(target.number);
    match target.goal() {
        Some(L7Goal::Default | L7Goal::Drop) => true,
        Some(L7Goal::Queue) => inside(RINGS, number, number + 1),
        Some(L7Goal::Group) => inside(GROUPS, number, number + 1),
        Some(L7Goal::Row | L7Goal::Rows) => {
            let rows = target.rows();
            inside(ROWS, rows.start as u32, rows.end as u32)
        }
        None => false,
    }
}
