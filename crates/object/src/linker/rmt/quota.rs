//! What a module is given, for all programs that it may run.

use super::window::{Stages, moved};
use crate::rmt::RmtPart;
use std::collections::{BTreeMap, BTreeSet};

/// Resources of a module. Twice the entries and actions of one program are held, so that another one can be
/// put beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// By stage of its programs: which stages of the pipeline these are is chosen when it is admitted.
    pub stages: BTreeMap<u8, StageQuota>,
    /// Stages of the pipeline for them that a policy chose; otherwise those that are named, or the first ones with room.
    pub chosen: Stages,
    /// Multicast groups that it may use.
    pub groups: BTreeSet<u16>,
    /// Destinations that it may send to.
    pub destinations: u8,
    /// Bytes by which its programs may make a packet longer: what they cost the pipeline at most is charged at the ports.
    pub growth: u16,
}

/// What a module is given in one stage, for each generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageQuota {
    /// Exact entries.
    pub exact: u32,
    /// Ternary entries.
    pub ternary: u32,
    /// Actions.
    pub actions: u32,
    /// Pages of state.
    pub pages: u32,
    /// The pages are held twice, so that a replacement may begin with zeros.
    pub fresh_pages: bool,
    /// Logical numbers, for hit counters; both generations count in the same ones.
    pub numbers: u32,
}

impl Quota {
    /// The least that a program runs with, and another one like it can replace it.
    pub fn of(part: &RmtPart, destinations: u8) -> Self {
        let stage = |s: &crate::rmt::RmtStage| StageQuota {
            exact: s.exact_room.into(),
            ternary: s.ternary_room.into(),
            actions: s.actions.len() as u32,
            pages: s.pages.into(),
            fresh_pages: s.pages > 0 && !part.keep_state,
            numbers: s.numbers.into(),
        };
        Self {
            stages: part.stages.iter().map(|(&n, s)| (n, stage(s))).collect(),
            chosen: Stages::new(),
            groups: part.groups.keys().copied().collect(),
            destinations,
            growth: part.growth(),
        }
    }

    /// The same in other stages.
    pub(super) fn moved(mut self, stages: &Stages) -> Self {
        self.stages = moved(self.stages, stages);
        self
    }

    /// Enough for programs of either quota.
    pub fn or(mut self, other: &Self) -> Self {
        for (&number, b) in &other.stages {
            let a = self.stages.entry(number).or_default();
            *a = StageQuota {
                exact: a.exact.max(b.exact),
                ternary: a.ternary.max(b.ternary),
                actions: a.actions.max(b.actions),
                pages: a.pages.max(b.pages),
                fresh_pages: a.fresh_pages || b.fresh_pages,
                numbers: a.numbers.max(b.numbers),
            };
        }
        self.groups.extend(&other.groups);
        self.destinations |= other.destinations;
        self.growth = self.growth.max(other.growth);
        self
    }
}

impl StageQuota {
    /// Pages that are held.
    pub fn pages_held(&self) -> u32 {
        self.pages * if self.fresh_pages { 2 } else { 1 }
    }
}
