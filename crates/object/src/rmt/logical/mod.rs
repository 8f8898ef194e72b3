//! Tables of a program as its source names them, and where their entries lie: what an object of a P4 program has beside its rows.
//!
//! A stage is a list of cases, in the order in which they win. A case has bits of the stage's key that it asks for in any event (which
//! visit of a packet it is: its guard), and leads to an action, or looks a table up; then each entry of the table is a case, with
//! its own bits of the key. [`Logical::rows`] makes the rows, and nothing else does.

mod binary;
mod change;
mod check;
pub(crate) mod encode;
mod room;
pub(crate) mod slots;

pub(crate) use binary::{read_logical, write_logical};
pub use change::LogicalChange;
pub use encode::{LogicalRow, LogicalRows};
pub use room::{Growth, LogicalRoom, Rooms, USUAL_SIZE};

use super::part::{RmtData, RmtKey};
use serde::{Deserialize, Serialize};
use sluice_formats::row::Bits;
use std::collections::BTreeMap;

/// A value of a key or a parameter, the lowest byte first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogicalValue(#[serde(with = "sluice_formats::row::json")] pub RmtKey);

/// Tables with their entries, and what stages do with them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logical {
    /// Tables.
    pub tables: Vec<LogicalTable>,
    /// Cases of each stage, in the order in which they win.
    #[serde(deserialize_with = "super::json::once")]
    pub stages: BTreeMap<u8, Vec<LogicalCase>>,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalTable {
    /// Name in the source, with the control's.
    pub name: String,
    /// The shortest end of it that no other table has.
    pub alias: String,
    /// Keys in their order.
    pub keys: Vec<LogicalKey>,
    /// Actions that it lists.
    pub actions: Vec<LogicalAction>,
    /// Entries that the source asks for at least; 0 where it says nothing.
    #[serde(default, skip_serializing_if = "Bits::is_zero")]
    pub size: u32,
    /// Entries that rows are reserved for, those that are there among them; nothing where no more can come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved: Option<u32>,
    /// Its entries are the source's own, for good.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub constant: bool,
    /// Its default action is the source's, for good.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub default_constant: bool,
    /// Each entry has a logical number of its own, so that its packets are counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    /// Entries; the first that matches wins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<LogicalEntry>,
    /// What packets get that no entry matches.
    pub default: LogicalCall,
}

/// How a key is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogicalKind {
    /// All bits.
    #[default]
    Exact,
    /// A prefix.
    Lpm,
    /// Bits of a mask.
    Ternary,
    /// From a value to another.
    Range,
    /// All bits, or none.
    Optional,
}

/// A key of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalKey {
    /// Name in the source.
    pub name: String,
    /// How it is compared.
    pub kind: LogicalKind,
    /// Width.
    pub bits: u16,
}

/// An action that a table lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalAction {
    /// Name in the source.
    pub name: String,
    /// What an entry gives it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<LogicalParameter>,
    /// Only as the default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub default_only: bool,
    /// Only in entries.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub table_only: bool,
}

/// A parameter of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalParameter {
    /// Name in the source.
    pub name: String,
    /// Width.
    pub bits: u16,
}

/// An action with the values of its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalCall {
    /// Action, by its position in the table's list.
    pub action: u16,
    /// Values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<LogicalValue>,
}

/// An entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalEntry {
    /// What it asks of each key.
    pub matches: Vec<LogicalMatch>,
    /// What it leads to.
    pub call: LogicalCall,
}

/// What an entry asks of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LogicalMatch {
    /// These bits have this value; no bit counts: any.
    Masked {
        /// Value.
        value: LogicalValue,
        /// Bits that count.
        mask: LogicalValue,
    },
    /// From a value to another, without sign; where the first is the larger one, past the largest value and from zero on.
    Range {
        /// The least.
        low: LogicalValue,
        /// The last.
        high: LogicalValue,
    },
}

/// A case of a stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LogicalCase {
    /// It leads to an action.
    Leads(LogicalLeads),
    /// It looks a table up.
    Looks(LogicalLookup),
    /// It leads nowhere: these bits of the stage's key are part of what is hashed.
    Hashes(LogicalValue),
}

/// Where a case leads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalLeads {
    /// Bits of the stage's key.
    #[serde(with = "sluice_formats::row::json", skip_serializing_if = "Bits::is_zero", default)]
    pub value: RmtKey,
    /// Which of them count.
    #[serde(with = "sluice_formats::row::json", skip_serializing_if = "Bits::is_zero", default)]
    pub mask: RmtKey,
    /// Action, by its position in the stage.
    pub action: u16,
    /// Action data, but for the parameters.
    #[serde(with = "sluice_formats::row::json", skip_serializing_if = "Bits::is_zero", default)]
    pub data: RmtData,
    /// Where parameters go in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<LogicalMove>,
}

/// Bits of a parameter in action data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalMove {
    /// Parameter, by its position; behind the last one stands the entry's own position in its table, 16 bits.
    pub parameter: u16,
    /// Its lowest bit that is meant.
    pub low: u16,
    /// How many.
    pub bits: u16,
    /// Byte of the data that has the lowest one; higher ones are in bytes before it.
    pub byte: u8,
    /// Bit of that byte.
    pub bit: u8,
}

/// A table that is looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalLookup {
    /// Bits of the stage's key: the guard.
    #[serde(with = "sluice_formats::row::json", skip_serializing_if = "Bits::is_zero", default)]
    pub value: RmtKey,
    /// Which of them count.
    #[serde(with = "sluice_formats::row::json", skip_serializing_if = "Bits::is_zero", default)]
    pub mask: RmtKey,
    /// Table, by its position.
    pub table: u16,
    /// Where each of its keys lies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<Vec<LogicalPiece>>,
    /// What comes of a hit or a miss, by the action.
    pub outcomes: Vec<LogicalOutcome>,
}

/// Bits of a table's key in the stage's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalPiece {
    /// Lowest bit of the table's key.
    pub low: u16,
    /// How many.
    pub bits: u16,
    /// Lowest bit of the stage's key; without it the bits are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<u8>,
    /// The value of bits that are known: an entry that asks for another one is in no row.
    #[serde(default, skip_serializing_if = "Bits::is_zero")]
    pub known: u64,
}

/// What comes of a hit or a miss.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalOutcome {
    /// An entry was found.
    pub hit: bool,
    /// Action, by its position in the table's list.
    pub action: u16,
    /// Cases, in the order in which they win.
    pub leads: Vec<LogicalLeads>,
}

impl LogicalTable {
    /// Whether a name is this table's: the whole, or what stands behind a dot of it.
    pub fn is_named(&self, name: &str) -> bool {
        self.name == name || self.name.strip_suffix(name).is_some_and(|before| before.ends_with('.'))
    }
}
