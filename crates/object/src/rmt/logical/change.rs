//! One operation on the entries of a table, as the table's list has them.

use super::{Logical, LogicalCall, LogicalEntry};
use crate::error::{ObjectError, bad};
use crate::rows::below;

/// An operation on a table's entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogicalChange {
    /// A new entry.
    Insert {
        /// Table, by its position.
        table: u16,
        /// Entries before it.
        at: usize,
        /// The entry.
        entry: LogicalEntry,
    },
    /// Another action for an entry.
    Modify {
        /// Table, by its position.
        table: u16,
        /// Entries before it.
        at: usize,
        /// The action.
        call: LogicalCall,
    },
    /// An entry goes.
    Delete {
        /// Table, by its position.
        table: u16,
        /// Entries before it.
        at: usize,
    },
    /// Another action for packets that no entry matches.
    Default {
        /// Table, by its position.
        table: u16,
        /// The action.
        call: LogicalCall,
    },
}

impl LogicalChange {
    /// The table.
    pub fn table(&self) -> u16 {
        match self {
            Self::Insert { table, .. }
            | Self::Modify { table, .. }
            | Self::Delete { table, .. }
            | Self::Default { table, .. } => *table,
        }
    }

    /// Refuses what cannot be done with tables like these, one of which has so many entries.
    pub(crate) fn check(&self, logical: &Logical, entries: impl Fn(u16) -> usize) -> Result<(), ObjectError> {
        below("table", self.table().into(), logical.tables.len())?;
        let table = &logical.tables[usize::from(self.table())];
        let there = entries(self.table());
        match self {
            Self::Insert { at, .. } if *at > there => {
                Err(bad("entry", format!("a place behind {at} entries"), format!("{there} are there")))
            }
            Self::Insert { entry, .. } => table.check_entry("entry", entry),
            Self::Modify { at, call, .. } => {
                below("entry", *at, there)?;
                table.check_call("entry", call)
            }
            Self::Delete { at, .. } => below("entry", *at, there),
            Self::Default { call, .. } => table.check_call("default", call),
        }
    }
}
