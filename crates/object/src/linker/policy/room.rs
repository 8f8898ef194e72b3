//! What tenants hold of the pipeline's stages, and a policy's answer for them.

use super::Policy;
use super::fill::{Claimant, Fraction, dominant, fill};
use crate::linker::LinkError;
use crate::linker::rmt::{Placer, Quota, StageQuota, Stages, quota_of, stages_of_tenants, windows};
use crate::linker::spaces::Region;
use crate::linker::tenants::TenantSpec;
use crate::object::Object;
use crate::rmt::logical::Growth;
use crate::rmt::{RmtPart, USUAL_SIZE};
use sluice_formats::Target;
use sluice_formats::limits::SYSTEM_TENANT;
use sluice_formats::rmt::target::NUMBERS;
use std::collections::{BTreeMap, BTreeSet};

/// Resources of each stage, in the order in which amounts are listed.
pub const RESOURCES: [&str; 5] = ["match sets", "ternary rows", "hit counters", "action rows", "pages of state"];

/// A tenant before he is admitted.
#[derive(Clone, Debug)]
pub struct Claim<'a> {
    /// What he is given, with the pipeline's rows for `object` as it was compiled.
    pub spec: &'a TenantSpec,
    /// What he runs first.
    pub object: Option<&'a Object>,
    /// Weight.
    pub weight: u16,
    /// Tables, by their names or the ends of them, for whose entries it is said how many rows are reserved; of the others the policy decides it.
    pub said: BTreeSet<String>,
    /// All that he is given of the pipeline is said.
    pub all_said: bool,
}

impl<'a> Claim<'a> {
    /// Of a tenant of whom nothing else is said.
    pub fn new(spec: &'a TenantSpec, object: Option<&'a Object>) -> Self {
        Self { spec, object, weight: 1, said: BTreeSet::new(), all_said: false }
    }
}

/// What a policy gives a tenant.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// Rows for his programs, with the stages that were chosen; none if he has only a table.
    pub rmt: Option<Quota>,
    /// His program with what is reserved for its tables; none if that is as it was compiled.
    pub part: Option<RmtPart>,
    /// The largest part that he holds of a resource of a stage.
    pub dominant: Fraction,
}

impl Given {
    /// Gives it.
    pub fn give(self, spec: &mut TenantSpec, object: Option<&mut Object>) {
        spec.rmt = self.rmt;
        if let (Some(object), Some(part)) = (object, self.part) {
            object.parts.rmt = Some(Box::new(part));
        }
    }
}

/// Rows of the pipeline for tenants who are all known, on a NIC that has none yet: what each is given, or why he does not fit. Who does
/// not fit takes nothing from the others.
pub fn share_out(target: &'static Target, policy: Policy, claims: &[Claim]) -> Vec<Result<Given, LinkError>> {
    let mut results = BTreeMap::new();
    let mut asking = Vec::new();
    for (number, claim) in claims.iter().enumerate() {
        match Asking::of(target, policy, claim) {
            Ok(one) => asking.push((number, one)),
            Err(error) => drop(results.insert(number, Err(error))),
        }
    }
    let least: Vec<&Asking> = asking.iter().map(|(_, one)| one).collect();
    let mut placed = Vec::new();
    for ((number, one), at) in asking.iter().zip(Space::of(target, policy, &least)) {
        match at {
            Ok(at) => placed.push((number, one, at)),
            Err(error) => drop(results.insert(*number, Err(error))),
        }
    }
    let capacity = capacity(target);
    let claimants: Vec<Claimant> = placed.iter().map(|(_, one, at)| one.claimant(at)).collect();
    let filled = fill(policy, &capacity, &claimants);
    for ((number, one, at), entries) in placed.iter().zip(filled) {
        results.insert(**number, one.given(&entries, at, &capacity));
    }
    results.into_values().collect()
}

/// What a claim comes to.
struct Asking<'a> {
    target: &'static Target,
    claim: &'a Claim<'a>,
    growing: Option<Growing<'a>>,
    /// What does not depend on entries: his table, and programs whose tables get none.
    others: Quota,
    /// With the entries that he has in any event.
    least: Quota,
}

/// A program whose tables may get entries.
struct Growing<'a> {
    part: &'a RmtPart,
    growth: Growth,
    /// Tables by position.
    tables: Vec<usize>,
    least: Vec<u32>,
    most: Vec<u32>,
}

impl<'a> Asking<'a> {
    fn of(target: &'static Target, policy: Policy, claim: &'a Claim) -> Result<Self, LinkError> {
        let part = claim.object.and_then(|object| object.parts.rmt.as_deref());
        let decided = policy != Policy::Fixed && !claim.all_said;
        let growing = part.filter(|_| decided).map(|part| Growing::of(claim, part)).transpose()?.flatten();
        let rmt = if growing.is_some() { Some(Quota::default()) } else { claim.spec.rmt.clone() };
        let others = quota_of(target, &TenantSpec { rmt, ..claim.spec.clone() })?;
        let mut asking = Self { target, claim, growing, others, least: Quota::default() };
        asking.least = asking.quota(asking.growing.as_ref().map_or(&[], |growing| &growing.least));
        Ok(asking)
    }

    /// All that he holds with so many entries.
    fn quota(&self, entries: &[u32]) -> Quota {
        match &self.growing {
            Some(growing) => growing.quota(entries).or(&self.others),
            None => self.others.clone(),
        }
    }

    /// Rows for his programs.
    fn rmt(&self, entries: &[u32]) -> Option<Quota> {
        let given = self.claim.spec.rmt.clone();
        self.growing.as_ref().map(|growing| growing.quota(entries)).or(given)
    }

    fn claimant(&'a self, at: &'a Stages) -> Claimant<'a> {
        let (least, most) = self.growing.as_ref().map(|g| (g.least.clone(), g.most.clone())).unwrap_or_default();
        let held = move |entries: &[u32]| held(self.target, &self.quota(entries), at);
        Claimant { weight: self.claim.weight.max(1).into(), least, most, held: Box::new(held) }
    }

    fn given(&self, entries: &[u32], at: &Stages, capacity: &[u32]) -> Result<Given, LinkError> {
        let all = held(self.target, &self.quota(entries), at);
        let mut rmt = self.rmt(entries);
        if let Some(quota) = &mut rmt {
            quota.chosen = at.clone();
        }
        let part = self.growing.as_ref().map(|growing| growing.with(entries)).transpose();
        let part = part.map_err(|error| LinkError::Object { object: self.claim.spec.name.clone(), error })?;
        Ok(Given { rmt, part, dominant: dominant(&all, capacity) })
    }
}

impl<'a> Growing<'a> {
    fn of(claim: &Claim, part: &'a RmtPart) -> Result<Option<Self>, LinkError> {
        let Some(logical) = &part.logical else { return Ok(None) };
        let growth = logical.growth();
        let growth = growth.map_err(|error| LinkError::Object { object: claim.spec.name.clone(), error })?;
        let mut growing = Self { part, growth, tables: Vec::new(), least: Vec::new(), most: Vec::new() };
        for (at, table) in logical.tables.iter().enumerate().filter(|(_, table)| table.reserved.is_some()) {
            let there = table.entries.len() as u32;
            let said = table.reserved.filter(|_| claim.said.iter().any(|name| table.is_named(name)));
            let wish = if table.size == 0 { USUAL_SIZE } else { table.size };
            growing.tables.push(at);
            growing.least.push(said.unwrap_or(there).max(there));
            growing.most.push(said.unwrap_or(wish).max(there));
        }
        Ok(Some(growing))
    }

    /// Rows for the program with so many entries of each table.
    fn quota(&self, entries: &[u32]) -> Quota {
        let mut quota = Quota::of(self.part, 0);
        let more = |table: usize| {
            let at = self.tables.iter().position(|own| *own == table);
            let there = self.part.logical.as_ref().map_or(0, |logical| logical.tables[table].entries.len());
            at.map_or(0, |at| (entries[at] as usize).saturating_sub(there))
        };
        for (stage, room) in self.growth.rooms(&more) {
            if let (Some(quota), Some(own)) = (quota.stages.get_mut(&stage), self.part.stages.get(&stage)) {
                let numbers = (room.numbers as u32).max(own.numbers_used().into());
                *quota = StageQuota { exact: room.exact as u32, ternary: room.ternary as u32, numbers, ..*quota };
            }
        }
        quota
    }

    /// The program that reserves them.
    fn with(&self, entries: &[u32]) -> Result<RmtPart, crate::ObjectError> {
        let of = |at: usize| self.tables.iter().position(|own| *own == at);
        self.part.reserving(|at, table| of(at).map_or(table.entries.len() as u32, |of| entries[of]))
    }
}

/// How much there is of each resource of each stage.
fn capacity(target: &Target) -> Vec<u32> {
    let target = &target.rmt;
    let stage = [target.sets(), target.ternary, NUMBERS, target.actions, target.pages()].map(|all| all as u32);
    stage.repeat(target.stages)
}

/// How much a quota holds of each, both generations together.
fn held(target: &Target, quota: &Quota, at: &Stages) -> Vec<u32> {
    let mut all = vec![0; RESOURCES.len() * target.rmt.stages];
    let table_bits = (target.rmt.sets() as u32).trailing_zeros();
    for (stage, asked) in &quota.stages {
        let stage = usize::from(at.get(stage).copied().unwrap_or(*stage));
        let sets = match asked.exact {
            0 => 0,
            exact => Region::bits_for(exact, table_bits).map_or(u32::MAX, |bits| 1 << bits),
        };
        let amounts = [sets, 2 * asked.ternary, asked.numbers, 2 * asked.actions, asked.pages_held()];
        if let Some(own) = all.get_mut(stage * RESOURCES.len()..(stage + 1) * RESOURCES.len()) {
            own.copy_from_slice(&amounts);
        }
    }
    all
}

/// Tenants with the least that each has, as they are placed one by one.
struct Space {
    target: &'static Target,
    placer: Placer,
    used: Vec<u32>,
    capacity: Vec<u32>,
}

impl Space {
    /// Stages for each. A policy that shares puts large ones first, each where most is left then; if that leaves somebody out, and
    /// without such a policy, each has in his turn the stages that the linker takes for him.
    fn of(target: &'static Target, policy: Policy, asking: &[&Asking]) -> Vec<Result<Stages, LinkError>> {
        let new = || {
            let capacity = capacity(target);
            Self { target, placer: Placer::new(target.rmt), used: vec![0; capacity.len()], capacity }
        };
        if policy != Policy::Fixed {
            let mut space = new();
            let size = |at: &usize| dominant(&held(target, &asking[*at].least, &Stages::new()), &space.capacity);
            let mut order: Vec<usize> = (0..asking.len()).collect();
            order.sort_by(|a, b| size(b).cmp(&size(a)));
            let mut found = BTreeMap::new();
            for at in order {
                let chosen = space.emptiest(asking[at]).ok_or(());
                found.insert(at, chosen.and_then(|chosen| space.place(asking[at], chosen).map_err(drop)));
            }
            if let Ok(all) = found.into_values().collect::<Result<Vec<_>, ()>>() {
                return all.into_iter().map(Ok).collect();
            }
        }
        let mut space = new();
        asking.iter().map(|one| space.place(one, Stages::new())).collect()
    }

    /// The stages in which least is held then of what most is held of.
    fn emptiest(&self, one: &Asking) -> Option<Stages> {
        let asked: Vec<u8> = one.least.stages.keys().copied().collect();
        if one.claim.spec.id == SYSTEM_TENANT {
            return Some(asked.iter().map(|stage| (*stage, *stage)).collect());
        }
        let own = stages_of_tenants(&self.target.rmt);
        let is_system = |stage: &u8| !own.contains(stage);
        // An empty quota of a stage of the system's stays there.
        let moving: Vec<u8> = asked.iter().copied().filter(|stage| !is_system(stage)).collect();
        let after = |at: &Stages| {
            let held = held(self.target, &one.least, at);
            let used: Vec<u32> = self.used.iter().zip(&held).map(|(used, held)| used.saturating_add(*held)).collect();
            let fits = used.iter().zip(&self.capacity).all(|(used, all)| used <= all);
            let parts = held.iter().zip(&used).map(|(held, used)| if *held > 0 { *used } else { 0 });
            fits.then(|| dominant(&parts.collect::<Vec<_>>(), &self.capacity))
        };
        let all = windows(&own, moving.len()).into_iter().map(|window| {
            let stays = asked.iter().filter(|stage| is_system(stage)).map(|stage| (*stage, *stage));
            moving.iter().copied().zip(window).chain(stays).collect::<Stages>()
        });
        let scored = all.filter_map(|at| Some((after(&at)?, at)));
        scored.reduce(|best, one| if one.0.cmp(&best.0).is_lt() { one } else { best }).map(|(_, at)| at)
    }

    fn place(&mut self, one: &Asking, chosen: Stages) -> Result<Stages, LinkError> {
        let spec = one.claim.spec;
        let free = (1..self.target.modules as u8).find(|module| !self.placer.has(*module));
        let module = if spec.id == SYSTEM_TENANT { Some(0) } else { free };
        let Some(module) = module else {
            let (resource, left) = ("modules", "0".to_owned());
            return Err(LinkError::NoRoom { resource, asked: 1, left, holders: Vec::new() });
        };
        let quota = Quota { chosen, ..one.least.clone() };
        self.placer.admit(module, &spec.name, quota)?;
        let at = self.placer.stages_of(module);
        for (used, held) in self.used.iter_mut().zip(held(self.target, &one.least, &at)) {
            *used += held;
        }
        Ok(at)
    }
}
