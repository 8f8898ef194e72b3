//! Free space of one stage.

use crate::linker::placement::{Cuckoo, Keyed};
use crate::linker::ranges::RangeSpace;
use crate::linker::spaces::SetSpace;
use crate::rmt::part::RmtKey;
use crate::rmt::{RmtExact, RmtTernary};
use sluice_formats::rmt::target::{NUMBERS, Target};
use sluice_formats::sparse::Sparse;
use std::collections::BTreeSet;
use std::ops::Range;

impl Keyed for RmtExact {
    type Key = RmtKey;

    fn key(&self) -> RmtKey {
        self.row.key
    }

    fn owner(&self) -> u16 {
        owner(self.row.module_id, self.row.generations >> 1)
    }
}

/// Number of a module's generation.
pub(super) fn owner(module: u8, generation: u8) -> u16 {
    2 * u16::from(module) + u16::from(generation)
}

/// What is free in a stage, and its entries as the device has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StageSpace {
    pub free: StageFree,
    /// Entries with absolute actions, module and generation.
    pub exact: Cuckoo<RmtExact>,
    /// Likewise, by row.
    pub ternary: Sparse<RmtTernary>,
}

/// What of a stage nobody holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StageFree {
    pub sets: SetSpace,
    pub ternary_rows: RangeSpace,
    pub numbers: RangeSpace,
    pub actions: BTreeSet<u32>,
    pub pages: BTreeSet<u32>,
}

impl StageSpace {
    pub fn new(target: &Target) -> Self {
        let sets = target.sets() as u32;
        let free = StageFree {
            sets: SetSpace::new(sets),
            ternary_rows: RangeSpace::new(target.ternary as u32),
            numbers: RangeSpace::new(NUMBERS as u32),
            actions: (0..target.actions as u32).collect(),
            pages: (0..target.pages() as u32).collect(),
        };
        Self { free, exact: Cuckoo::new(sets), ternary: Sparse::new(target.ternary) }
    }

    /// Ternary entries in these rows.
    pub fn ternary_in(&self, rows: &Range<u32>) -> impl Iterator<Item = (u32, &RmtTernary)> {
        self.ternary.range(rows.start as usize..rows.end as usize).map(|(row, entry)| (row as u32, entry))
    }
}

/// Takes the lowest `count` numbers; there are as many.
pub(super) fn take_lowest(free: &mut BTreeSet<u32>, count: u32) -> Vec<u32> {
    (0..count).map_while(|_| free.pop_first()).collect()
}
