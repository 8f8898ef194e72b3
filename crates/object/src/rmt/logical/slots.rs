//! Numbers of entries: one that an entry keeps in its table, and one a stage where its packets are counted.
//!
//! A new object numbers its entries by their places. While a program runs, entries come and go, and each keeps what it was given.

use super::Logical;
use std::collections::BTreeMap;

/// The numbers of an entry in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntrySlot {
    /// Its own among those of its table: what its data have for its position.
    pub position: u16,
    /// Its logical number.
    pub number: u16,
}

/// The numbers of all entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// By table and place in its list.
    pub positions: Vec<Vec<u16>>,
    /// Logical numbers by stage.
    pub stages: BTreeMap<u8, StageNumbers>,
}

/// Logical numbers of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageNumbers {
    /// Of entries that are counted, by table and position.
    pub of: BTreeMap<(u16, u16), u16>,
    /// Of all other rows.
    pub nobody: u16,
}

impl Slots {
    /// Those of a new object: places, and the number after the last for rows that nobody counts.
    pub fn of(logical: &Logical) -> Self {
        let positions = logical.tables.iter().map(|table| (0..table.entries.len() as u16).collect()).collect();
        let of_stage = |stage: &u8| {
            let numbers = logical.numbers(*stage);
            let nobody = numbers.len() as u16;
            let of = numbers.into_iter().map(|((table, at), number)| ((table as u16, at as u16), number)).collect();
            (*stage, StageNumbers { of, nobody })
        };
        Self { positions, stages: logical.stages.keys().map(of_stage).collect() }
    }

    /// The numbers of the entry at a place.
    pub fn of_entry(&self, stage: u8, table: u16, at: usize) -> EntrySlot {
        let position = self.positions[usize::from(table)][at];
        let numbers = self.stages.get(&stage);
        let number = numbers.map_or(0, |all| all.of.get(&(table, position)).copied().unwrap_or(all.nobody));
        EntrySlot { position, number }
    }

    /// The number of rows that nobody counts.
    pub fn nobody(&self, stage: u8) -> u16 {
        self.stages.get(&stage).map_or(0, |numbers| numbers.nobody)
    }
}
