//! Relocatable rows of one program for the rmt pipeline.

use super::logical::{Logical, LogicalTable};
use crate::error::ObjectError;
use serde::{Deserialize, Serialize};
use sluice_formats::rmt::codes::StateKind;
use sluice_formats::rmt::rows::{
    ActionRow, DeparseRow, ExactRow, GroupRow, KeyRow, PathRow, PatternsRow, SelectRow, TernaryRow,
};
use sluice_formats::rmt::target::{DATA, KEY_BYTES};
use sluice_formats::row::{Bits, Wide};
use std::collections::BTreeMap;

/// A key, or the mask of one.
pub type RmtKey = Wide<KEY_BYTES>;
/// Action data of an entry.
pub type RmtData = Wide<DATA>;

/// Rows of one program as they are on the device, but for what only the linker knows: module, generation,
/// sets, rows of actions and entries, pages, bases of counters. Such fields are 0, and actions are positions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RmtPart {
    /// First selection.
    pub first: SelectRow,
    /// Second selections.
    pub nodes: Vec<SelectRow>,
    /// Paths.
    pub paths: Vec<PathRow>,
    /// Deparse patterns.
    pub patterns: PatternsRow,
    /// Deparse rows, each the rows of its beats.
    pub deparse: Vec<Vec<DeparseRow>>,
    /// Stages that the program does something in.
    #[serde(deserialize_with = "super::json::once")]
    pub stages: BTreeMap<u8, RmtStage>,
    /// Multicast groups by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "super::json::once")]
    pub groups: BTreeMap<u16, RmtGroup>,
    /// Containers, by name, that are exchanged with the system program.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "super::json::once")]
    pub shared: BTreeMap<String, u8>,
    /// A replacement takes over the running program's state words.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_state: bool,
    /// It is the system module's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub system: bool,
    /// Tables as the program's source names them, if the rows are made of their entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical: Option<Box<Logical>>,
}

impl RmtPart {
    /// The part with these tables, whose entries are the rows of its stages from now on.
    pub fn with_tables(mut self, logical: Logical) -> Result<Self, ObjectError> {
        let rooms = logical.rooms()?;
        for (number, stage) in &mut self.stages {
            if let Some(room) = rooms.get(number) {
                stage.take(&logical.rows(*number)?, room);
            }
        }
        self.logical = Some(Box::new(logical));
        Ok(self)
    }

    /// The part with no rows but those of the entries that are there; none without tables.
    #[must_use]
    pub fn with_entries_alone(&self) -> Option<Self> {
        self.logical.as_ref()?;
        self.reserving(|_, table| table.entries.len() as u32).ok()
    }

    /// The part with rows for so many entries of each table that may get some, by its position.
    pub fn reserving(&self, entries: impl Fn(usize, &LogicalTable) -> u32) -> Result<Self, ObjectError> {
        let mut part = self.clone();
        let Some(mut logical) = part.logical.take() else { return Ok(part) };
        for (at, table) in logical.tables.iter_mut().enumerate().filter(|(_, table)| table.reserved.is_some()) {
            table.reserved = Some(entries(at, table));
        }
        part.with_tables(*logical)
    }

    /// Bytes by which it makes a packet longer at most.
    pub fn growth(&self) -> u16 {
        let delta = |row: &Vec<DeparseRow>| row.first().map_or(0, |beat| i16::from(beat.delta()));
        self.deparse.iter().map(delta).max().unwrap_or(0).max(0) as u16
    }
}

/// One stage of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RmtStage {
    /// Key, conditions, default.
    pub key: KeyRow,
    /// Action data of the default.
    #[serde(with = "sluice_formats::row::json", skip_serializing_if = "Bits::is_zero", default)]
    pub default_data: RmtData,
    /// Exact entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exact: Vec<RmtExact>,
    /// Ternary entries; the first that matches wins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ternary: Vec<RmtTernary>,
    /// Ternary entries stand in falling order of the bits in their masks (LPM), and new ones do too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub longest: bool,
    /// Actions.
    pub actions: Vec<ActionRow>,
    /// Pages of state words.
    pub pages: u16,
    /// Logical numbers are below this.
    pub numbers: u16,
    /// Exact entries to reserve: those of the program and room for more.
    pub exact_room: u16,
    /// Ternary entries to reserve.
    pub ternary_room: u16,
}

impl RmtStage {
    /// Whether an action accesses the state.
    pub fn accesses_state(&self) -> bool {
        self.actions.iter().any(|action| action.state.kind != StateKind::None.code())
    }
}

/// An exact entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RmtExact {
    /// The entry.
    pub row: ExactRow,
    /// Its action data.
    #[serde(with = "sluice_formats::row::json", skip_serializing_if = "Bits::is_zero", default)]
    pub data: RmtData,
}

/// A ternary entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RmtTernary {
    /// The entry.
    pub row: TernaryRow,
    /// Its action data.
    #[serde(with = "sluice_formats::row::json", skip_serializing_if = "Bits::is_zero", default)]
    pub data: RmtData,
}

/// A multicast group; its number is the same in every object, and granted to a tenant when it is admitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RmtGroup {
    /// Destination mask.
    pub destinations: u8,
    /// Tag of the copy to each destination.
    pub tags: [u16; 8],
}

impl RmtGroup {
    /// The row of a group of this module.
    pub fn row(&self, owner: u8) -> GroupRow {
        GroupRow { owner, destinations: self.destinations, tags: self.tags }
    }
}

impl RmtStage {
    /// Logical numbers that its entries and default have: up to the largest.
    pub fn numbers_used(&self) -> u16 {
        let of_default = self.key.default_valid.then_some(self.key.default_number);
        let exact = self.exact.iter().map(|entry| entry.row.number);
        let all = exact.chain(self.ternary.iter().map(|entry| entry.row.number)).chain(of_default);
        all.max().map_or(0, |number| number.saturating_add(1))
    }
}
