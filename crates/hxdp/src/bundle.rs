//! Bundles, and programs of them.

use crate::{Step, Target};
use std::collections::BTreeMap;

/// What one row does: at most one instruction a lane, lane 0 first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// Lanes that are used.
    pub lanes: Vec<Step>,
}

/// A compiled program. Row 0 is its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundles {
    /// Name of the program.
    pub program: String,
    /// What it was made for.
    pub target: Target,
    /// Rows.
    pub rows: Vec<Bundle>,
    /// First rows of functions by their first slots, the program itself (slot 0) included.
    pub functions: BTreeMap<u32, u32>,
}

impl Bundles {
    /// Instructions in all rows.
    pub fn instructions(&self) -> usize {
        self.rows.iter().map(|row| row.lanes.len()).sum()
    }
}
