//! Admission: what each module holds, and what is left.

use super::error::RmtError;
use super::live::Live;
use super::place::RowWrite;
use super::quota::{Quota, StageQuota};
use super::space::{StageFree, StageSpace, take_lowest};
use super::window::Stages;
use crate::linker::spaces::{Holder, Region};
use crate::rmt::RmtPart;
use sluice_formats::rmt::rows::{GrantedRow, GroupNameRow, GroupRow, StageOwnerRow};
use sluice_formats::rmt::target::Target;
use sluice_formats::row::Row;
use sluice_formats::{Node, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Owner of all free space of one pipeline. Operations change it only when they succeed.
#[derive(Clone, Debug)]
pub struct Placer {
    pub(super) target: Target,
    pub(in crate::linker) holders: BTreeMap<u8, Holding>,
    pub(super) stages: Vec<StageSpace>,
}

/// What a module holds.
#[derive(Clone, Debug)]
pub(in crate::linker) struct Holding {
    pub name: String,
    /// By the pipeline's stages, as `stages`.
    pub quota: Quota,
    pub stages: BTreeMap<u8, StageHolding>,
    /// Which of them each stage of its programs is.
    pub at: Stages,
    /// Where its groups are.
    pub names: GroupNameRow,
    pub banks: [Option<Bank>; 2],
    /// What it had, while the program that runs there gives way to one in what it has now.
    pub before: Option<Box<Holding>>,
}

/// What a module holds in one stage.
#[derive(Clone, Debug)]
pub(in crate::linker) struct StageHolding {
    /// Sets of both generations.
    pub region: Option<Region>,
    /// First ternary row; generation 0 has the first half.
    pub ternary: u32,
    /// Action rows; generation 0 has the first half.
    pub actions: Vec<u32>,
    /// Pages; the second half, if the quota has fresh ones, is the other set.
    pub pages: Vec<u32>,
    /// First hit counter.
    pub hits_base: u32,
    /// Whether the page rows of a generation are zero but for those of its program.
    pub blank_pages: [bool; 2],
}

/// A program in a generation.
#[derive(Clone, Debug)]
pub(in crate::linker) struct Bank {
    pub part: Arc<RmtPart>,
    /// Its entries as they come and go, if it has tables; those of the part are what it began with.
    pub live: Option<Arc<Live>>,
    /// Set of pages, 0 or 1.
    pub page_set: u32,
    /// Rows that are not zero, beside entries and their data.
    pub rows: BTreeSet<(Node, Table, u32)>,
}

impl StageHolding {
    pub fn bank(&self, generation: u8) -> Option<Region> {
        self.region.map(|r| r.half(generation))
    }

    /// Sets of a generation as its key row says them: the first one in units, and the logarithm of their number.
    pub fn key_sets(&self, target: &Target, generation: u8) -> (u8, u8) {
        let of = |region: Region| ((region.base as usize / target.base_unit()) as u8, region.bits as u8);
        self.bank(generation).map_or((0, 0), of)
    }

    pub fn ternary_rows(&self, quota: &StageQuota, generation: u8) -> std::ops::Range<u32> {
        let first = self.ternary + u32::from(generation) * quota.ternary;
        first..first + quota.ternary
    }

    pub fn action_rows(&self, quota: &StageQuota, generation: u8) -> &[u32] {
        let first = (u32::from(generation) * quota.actions) as usize;
        &self.actions[first..first + quota.actions as usize]
    }

    pub fn page_set(&self, quota: &StageQuota, set: u32) -> &[u32] {
        let first = if quota.fresh_pages { (set * quota.pages) as usize } else { 0 };
        &self.pages[first..first + quota.pages as usize]
    }
}

impl Placer {
    /// All of a pipeline, free.
    pub fn new(target: Target) -> Self {
        let stages = (0..target.stages).map(|_| StageSpace::new(&target)).collect();
        Self { target, holders: BTreeMap::new(), stages }
    }

    /// The target it places for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Rows that say which stages are the system module's; written once, before the first packet.
    pub fn stage_owners(&self) -> Vec<RowWrite> {
        let row = |s: usize| StageOwnerRow { system: self.target.is_system(s) };
        (0..self.target.stages).map(|s| RowWrite::new(Node::Stage(s as u8), Table::StageOwner, 0, &row(s))).collect()
    }

    /// Gives a module what it asks for. The rows that come back hide all that the module's packets could meet;
    /// its grant is the last.
    pub fn admit(&mut self, module: u8, name: &str, quota: Quota) -> Result<Vec<RowWrite>, RmtError> {
        let wrong = |found: String, allowed: String| RmtError::Module { module, operation: "admit", found, allowed };
        if usize::from(module) >= self.target.modules {
            return Err(wrong("no such module".to_owned(), format!("modules 0 to {}", self.target.modules - 1)));
        }
        if let Some(holder) = self.holders.get(&module) {
            return Err(wrong(format!("taken by tenant `{}`", holder.name), "a free module".to_owned()));
        }
        if let Some((m, _)) = self.holders.iter().find(|(_, h)| h.name == name) {
            return Err(wrong(format!("the name `{name}` is module {m}'s"), "each name once".to_owned()));
        }
        let names = self.name_groups(module, name, &quota)?;
        let at = self.choose(module, name, &quota)?;
        let quota = quota.moved(&at);
        let mut next = self.clone();
        let mut stages = BTreeMap::new();
        for (&stage, asked) in &quota.stages {
            let (free, held) = next.fitted(stage, name, asked)?;
            next.stages[usize::from(stage)].free = free;
            stages.insert(stage, held);
        }
        let (destinations, name) = (quota.destinations, name.to_owned());
        next.holders.insert(
            module,
            Holding { name, quota, stages, at, names: names.clone(), banks: [None, None], before: None },
        );
        let mut writes = next.blank(module);
        if names != GroupNameRow::default() {
            writes.push(RowWrite::new(Node::Deparser, Table::GroupName, module.into(), &names));
        }
        writes.push(next.grant(module, destinations));
        *self = next;
        Ok(writes)
    }

    /// Takes everything back from a module that runs nothing. Nobody's packets are the module's any more.
    pub fn release(&mut self, module: u8) -> Result<Vec<RowWrite>, RmtError> {
        let holding = self.holding(module, "release")?;
        if holding.banks.iter().any(Option::is_some) {
            let (found, allowed) = ("a program is there".to_owned(), "clear both generations first".to_owned());
            return Err(RmtError::Module { module, operation: "release", found, allowed });
        }
        let mut writes = vec![self.grant(module, 0)];
        for &group in &holding.quota.groups {
            let row = holding.names.row_of(group).into();
            writes.push(RowWrite::new(Node::Deparser, Table::Group, row, &GroupRow::default()));
        }
        if holding.names != GroupNameRow::default() {
            writes.push(RowWrite::new(Node::Deparser, Table::GroupName, module.into(), &GroupNameRow::default()));
        }
        let holding = holding.clone();
        for (&stage, held) in &holding.stages {
            let quota = holding.quota.stages[&stage];
            let space = &mut self.stages[usize::from(stage)].free;
            held.region.into_iter().for_each(|r| space.sets.give_back(r));
            space.ternary_rows.give_back(held.ternary, 2 * quota.ternary);
            space.numbers.give_back(held.hits_base, quota.numbers);
            space.actions.extend(&held.actions);
            space.pages.extend(&held.pages);
        }
        self.holders.remove(&module);
        Ok(writes)
    }

    /// Destinations that a module may send to.
    pub fn grant(&self, module: u8, destinations: u8) -> RowWrite {
        RowWrite::new(Node::Deparser, Table::Granted, module.into(), &GrantedRow { destinations })
    }

    /// Match sets that a module was given in a stage of its programs, half of them for each generation.
    pub fn region(&self, module: u8, stage: u8) -> Option<Region> {
        let holding = self.holders.get(&module)?;
        holding.stages.get(holding.at.get(&stage)?)?.region
    }

    /// In which stages of the pipeline a module's programs run, by theirs.
    pub fn stages_of(&self, module: u8) -> Stages {
        self.holders.get(&module).map(|holding| holding.at.clone()).unwrap_or_default()
    }

    /// Destinations that a module was given.
    pub fn granted(&self, module: u8) -> u8 {
        self.holders.get(&module).map_or(0, |h| h.quota.destinations)
    }

    /// Containers, by name, that the running system program exchanges with tenants.
    pub fn shared(&self) -> BTreeMap<String, u8> {
        let banks = self.holders.get(&0).map(|h| h.banks.iter().flatten());
        banks.into_iter().flatten().flat_map(|b| b.part.shared.clone()).collect()
    }

    /// Bytes by which a module's programs may make a packet longer.
    pub fn growth(&self, module: u8) -> u16 {
        self.holders.get(&module).map_or(0, |holding| holding.quota.growth)
    }

    /// Whether a module is taken.
    pub fn has(&self, module: u8) -> bool {
        self.holders.contains_key(&module)
    }

    pub(super) fn holding(&self, module: u8, operation: &'static str) -> Result<&Holding, RmtError> {
        self.holders.get(&module).ok_or_else(|| RmtError::Module {
            module,
            operation,
            found: "not admitted".to_owned(),
            allowed: "admit it first".to_owned(),
        })
    }

    /// What is left of a stage when this is taken from it, and what is taken.
    pub(super) fn fitted(
        &self,
        stage: u8,
        name: &str,
        quota: &StageQuota,
    ) -> Result<(StageFree, StageHolding), RmtError> {
        let target = self.target;
        let Some(space) = self.stages.get(usize::from(stage)) else {
            let left = format!("stages 0 to {}", target.stages - 1);
            return Err(self.no_room(stage, "rows", name, 1, left, |_| 0));
        };
        let mut space = space.free.clone();
        let mut region = None;
        if quota.exact > 0 {
            let table_bits = (target.sets() as u32).trailing_zeros();
            let left = format!("{}, the largest block {},", space.sets.free(), space.sets.largest_block());
            let sets = "match sets (a power of two, for both generations)";
            let held = |h: &StageHolding, _: &StageQuota| h.region.map_or(0, Region::sets);
            let Some(bits) = Region::bits_for(quota.exact, table_bits) else {
                let (most, resource) = (Region::most_entries(table_bits), "exact entries");
                let left = format!("at most {most} for one tenant,");
                return Err(self.no_room(stage, resource, name, quota.exact, left, self.held(stage, |_, q| q.exact)));
            };
            region = space.sets.take(bits);
            if region.is_none() {
                return Err(self.no_room(stage, sets, name, 1 << bits, left, self.held(stage, held)));
            }
        }
        let rows = 2 * quota.ternary;
        let left = format!("{}, the longest row of them {},", space.ternary_rows.free(), space.ternary_rows.longest());
        let ternary = space.ternary_rows.take(rows).ok_or_else(|| {
            let resource = "ternary entries (side by side, for both generations)";
            self.no_room(stage, resource, name, rows, left, self.held(stage, |_, q| 2 * q.ternary))
        })?;
        let left = format!("{}, the longest row of them {},", space.numbers.free(), space.numbers.longest());
        let hits_base = space.numbers.take(quota.numbers).ok_or_else(|| {
            let resource = "hit counters (side by side)";
            self.no_room(stage, resource, name, quota.numbers, left, self.held(stage, |_, q| q.numbers))
        })?;
        let (actions, pages) = (2 * quota.actions, quota.pages_held());
        if actions as usize > space.actions.len() {
            let (resource, left) = ("action rows (for both generations)", space.actions.len().to_string());
            return Err(self.no_room(stage, resource, name, actions, left, self.held(stage, |_, q| 2 * q.actions)));
        }
        if pages as usize > space.pages.len() {
            let (resource, left) = ("pages of state", space.pages.len().to_string());
            return Err(self.no_room(stage, resource, name, pages, left, self.held(stage, |_, q| q.pages_held())));
        }
        let actions = take_lowest(&mut space.actions, actions);
        let pages = take_lowest(&mut space.pages, pages);
        Ok((space, StageHolding { region, ternary, actions, pages, hits_base, blank_pages: [false; 2] }))
    }

    /// How much each module holds in a stage.
    fn held(&self, stage: u8, amount: impl Fn(&StageHolding, &StageQuota) -> u32) -> impl Fn(&Holding) -> u32 {
        move |h| h.stages.get(&stage).map_or(0, |s| amount(s, &h.quota.stages[&stage]))
    }

    fn no_room(
        &self,
        stage: u8,
        resource: &'static str,
        tenant: &str,
        asked: u32,
        left: String,
        amount: impl Fn(&Holding) -> u32,
    ) -> RmtError {
        let holder = |h: &Holding| Holder { tenant: h.name.clone(), amount: amount(h) };
        let holders = Holder::most_first(self.holders.values().map(holder));
        let (place, tenant, left) = (format!("stage {stage}"), tenant.into(), left.into());
        RmtError::NoRoom { place, resource, tenant, asked, left, holders, elsewhere: Box::default() }
    }
}

/// The row's words; the linker has seen to it that every value fits.
pub(super) fn packed(row: &impl Row) -> Vec<u32> {
    row.pack().expect("every value was checked when it was admitted")
}

/// What is left to give in one stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageLeft {
    /// Match sets.
    pub sets: u32,
    /// Match sets in the largest block.
    pub largest_block: u32,
    /// Ternary entries.
    pub ternary: u32,
    /// Ternary entries side by side.
    pub ternary_row: u32,
    /// Action rows.
    pub actions: u32,
    /// Pages of state.
    pub pages: u32,
    /// Hit counters.
    pub numbers: u32,
}

impl Placer {
    /// What is left to give, by stage.
    pub fn left(&self) -> Vec<StageLeft> {
        let left = |s: &StageFree| StageLeft {
            sets: s.sets.free(),
            largest_block: s.sets.largest_block(),
            ternary: s.ternary_rows.free(),
            ternary_row: s.ternary_rows.longest(),
            actions: s.actions.len() as u32,
            pages: s.pages.len() as u32,
            numbers: s.numbers.free(),
        };
        self.stages.iter().map(|stage| left(&stage.free)).collect()
    }
}
