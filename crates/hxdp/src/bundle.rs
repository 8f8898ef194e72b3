//! Bundles, and programs of them.

use crate::{Op, Step, Target};
use std::collections::BTreeMap;

/// What one row does: at most one instruction a lane, lane 0 first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// Lanes that are used.
    pub lanes: Vec<Step>,
}

impl Bundle {
    /// Rows of its frame that it leads to when it is row `row`; calls come back, so what they lead to is not among them.
    pub fn successors(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        let jumps = self.lanes.iter().filter(|step| !matches!(step.op, Op::Call { .. }));
        let behind = (!self.lanes.last().is_some_and(|step| step.op.ends())).then_some(row + 1);
        jumps.filter_map(|step| step.op.target()).chain(behind)
    }
}

/// Which rows these lead to in their frames, themselves among them.
pub fn reached(rows: &[Bundle], mut next: Vec<u32>) -> Vec<bool> {
    let mut reached = vec![false; rows.len()];
    while let Some(row) = next.pop() {
        let Some(bundle) = rows.get(row as usize).filter(|_| !reached[row as usize]) else { continue };
        reached[row as usize] = true;
        next.extend(bundle.successors(row));
    }
    reached
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
