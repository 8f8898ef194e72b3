//! Another quota for a module whose packets go on: what it is given from now on is held beside what it has, its program is placed there in the
//! generation that no packet uses, and what it had goes back when no packet uses that any more.

use super::error::RmtError;
use super::place::{RowWrite, blank_entries};
use super::placer::{Holding, Placer, StageHolding};
use super::quota::{Quota, StageQuota};
use super::space::StageFree;
use super::window::{Stages, stages_of_tenants, windows};
use crate::linker::spaces::Region;
use std::collections::BTreeMap;

/// What is free in some stages, and what is held there, by stage.
type Found = BTreeMap<u8, (StageFree, StageHolding)>;

impl Placer {
    /// Holds a quota beside what the module has, until [`Placer::settle`]. In a stage that it stays in, each resource of which it is given as much as
    /// before stays where it is; with `keeps`, so do the running program's pages of state. The rows that come back are to be written before any other: nothing of an owner before lies there.
    pub(in crate::linker) fn widen(
        &mut self,
        module: u8,
        quota: Quota,
        keeps: bool,
    ) -> Result<Vec<RowWrite>, RmtError> {
        let old = self.holding(module, "regrant")?.clone();
        let refused = |found: String, allowed: &str| RmtError::Module {
            module,
            operation: "regrant",
            found,
            allowed: allowed.to_owned(),
        };
        if old.before.is_some() {
            return Err(refused("it is given another quota already".to_owned(), "one after the other"));
        }
        if self.name_groups(module, &old.name, &quota)? != old.names {
            let found = "its numbers of multicast groups would be other rows".to_owned();
            return Err(refused(found, "groups within the numbers that it has"));
        }
        let (at, found) = self.beside(module, &old, &quota, keeps)?;
        let quota = Quota { growth: quota.growth.max(old.quota.growth), ..quota }.moved(&at);
        let mut stages = BTreeMap::new();
        let mut blank = Vec::new();
        for (stage, (free, held)) in found {
            let before = old.quota.stages.get(&stage).zip(old.stages.get(&stage));
            blank.extend(fresh_rows(stage, (&quota.stages[&stage], &held), before));
            self.stages[usize::from(stage)].free = free;
            stages.insert(stage, held);
        }
        let (name, names, banks) = (old.name.clone(), old.names.clone(), old.banks.clone());
        let widened = Holding { name, quota, stages, at, names, banks, before: Some(Box::new(old)) };
        self.holders.insert(module, widened);
        Ok(blank)
    }

    /// Takes back what the module had before [`Placer::widen`]; nothing runs there any more.
    pub(in crate::linker) fn settle(&mut self, module: u8) {
        let Some(holding) = self.holders.get_mut(&module) else { return };
        let Some(before) = holding.before.take() else { return };
        for (stage, old) in &before.stages {
            let given = &before.quota.stages[stage];
            let new = holding.stages.get(stage).zip(holding.quota.stages.get(stage));
            let free = &mut self.stages[usize::from(*stage)].free;
            if let Some(region) = old.region.filter(|_| new.is_none_or(|(new, _)| new.region != old.region)) {
                free.sets.give_back(region);
            }
            let is_same = |of: fn(&StageHolding, &StageQuota) -> (u32, u32)| {
                new.is_some_and(|(new, quota)| of(new, quota) == of(old, given))
            };
            if !is_same(|held, quota| (held.ternary, quota.ternary)) {
                free.ternary_rows.give_back(old.ternary, 2 * given.ternary);
            }
            if !is_same(|held, quota| (held.hits_base, quota.numbers)) {
                free.numbers.give_back(old.hits_base, given.numbers);
            }
            let stays =
                |rows: fn(&StageHolding) -> &Vec<u32>, row: &u32| new.is_some_and(|(new, _)| rows(new).contains(row));
            free.actions.extend(old.actions.iter().filter(|row| !stays(|held| &held.actions, row)));
            free.pages.extend(old.pages.iter().filter(|page| !stays(|held| &held.pages, page)));
        }
    }

    /// Stages for a quota next to what is held: the choice in which most stages stay, of those with room.
    fn beside(&self, module: u8, old: &Holding, quota: &Quota, keeps: bool) -> Result<(Stages, Found), RmtError> {
        let own: Vec<u8> = quota.stages.keys().copied().collect();
        let may = stages_of_tenants(&self.target);
        let all: Vec<Stages> = match module {
            0 => vec![own.iter().map(|stage| (*stage, *stage)).collect()],
            _ => windows(&may, own.len()).into_iter().map(|window| own.iter().copied().zip(window).collect()).collect(),
        };
        let stay = |at: &Stages| at.iter().filter(|(own, at)| old.at.get(own) == Some(at)).count();
        let mut ordered: Vec<&Stages> = all.iter().collect();
        ordered.sort_by_key(|at| std::cmp::Reverse(stay(at)));
        let mut refusal = None;
        for at in ordered {
            match self.found(old, quota, at, keeps) {
                Ok(found) => return Ok((at.clone(), found)),
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        Err(refusal.unwrap_or_else(|| RmtError::Module {
            module,
            operation: "regrant",
            found: format!("{} stages", own.len()),
            allowed: format!("at most {}", may.len()),
        }))
    }

    fn found(&self, old: &Holding, quota: &Quota, at: &Stages, keeps: bool) -> Result<Found, RmtError> {
        let one = |(own, asked): (&u8, &StageQuota)| {
            let stage = at[own];
            let stays = (old.at.get(own) == Some(&stage)).then(|| (&old.quota.stages[&stage], &old.stages[&stage]));
            let found = match stays {
                Some(had) => self.refitted(stage, old, had, (asked, keeps))?,
                None => self.fitted(stage, &old.name, asked)?,
            };
            Ok((stage, found))
        };
        quota.stages.iter().map(one).collect()
    }

    /// What is left of a stage, and what is held, if only what differs is taken anew.
    fn refitted(
        &self,
        stage: u8,
        old: &Holding,
        (had, held): (&StageQuota, &StageHolding),
        (asked, keeps): (&StageQuota, bool),
    ) -> Result<(StageFree, StageHolding), RmtError> {
        let table_bits = (self.target.sets() as u32).trailing_zeros();
        let bits = |entries: u32| (entries > 0).then(|| Region::bits_for(entries, table_bits));
        let exact_stays = bits(had.exact) == bits(asked.exact);
        let pages_stay = (had.pages, had.fresh_pages) == (asked.pages, asked.fresh_pages);
        let differs = |stays: bool, amount: u32| if stays { 0 } else { amount };
        let more = StageQuota {
            exact: differs(exact_stays, asked.exact),
            ternary: differs(had.ternary == asked.ternary, asked.ternary),
            actions: differs(had.actions == asked.actions, asked.actions),
            numbers: differs(had.numbers == asked.numbers, asked.numbers),
            pages: differs(pages_stay, asked.pages),
            fresh_pages: asked.fresh_pages,
        };
        let (mut free, new) = self.fitted(stage, &old.name, &more)?;
        let pick = |stays: bool, old: u32, new: u32| if stays { old } else { new };
        let mut together = StageHolding {
            region: if exact_stays { held.region } else { new.region },
            ternary: pick(had.ternary == asked.ternary, held.ternary, new.ternary),
            actions: if had.actions == asked.actions { held.actions.clone() } else { new.actions },
            pages: if pages_stay { held.pages.clone() } else { new.pages },
            hits_base: pick(had.numbers == asked.numbers, held.hits_base, new.hits_base),
            blank_pages: held.blank_pages,
        };
        if keeps && !pages_stay {
            keep_pages(old, stage, (had, held), asked, &mut together.pages, &mut free);
        }
        Ok((free, together))
    }
}

impl Holding {
    /// Whether its pages in a stage are none of those that it had before another quota.
    pub(super) fn has_new_pages(&self, stage: u8) -> bool {
        let pages = |holding: &Self| holding.stages.get(&stage).map(|held| held.pages.clone()).unwrap_or_default();
        let own = pages(self);
        self.before.as_deref().is_some_and(|before| pages(before).iter().all(|page| !own.contains(page)))
    }
}

/// Pages of the running program stay in their places of their set, so that state may be kept.
fn keep_pages(
    old: &Holding,
    stage: u8,
    (had, held): (&StageQuota, &StageHolding),
    asked: &StageQuota,
    pages: &mut [u32],
    free: &mut StageFree,
) {
    let Some(running) = old.banks.iter().flatten().next() else { return };
    let used = running.part.stages.get(&stage).map_or(0, |rows| usize::from(rows.pages));
    let kept = &held.page_set(had, running.page_set)[..used];
    let first = if asked.fresh_pages { (running.page_set * asked.pages) as usize } else { 0 };
    for (place, page) in pages.iter_mut().skip(first).take((asked.pages as usize).min(used)).zip(kept) {
        free.pages.insert(*place);
        *place = *page;
    }
}

/// What a module holds in a stage, and what it was given there.
type Held<'a> = (&'a StageQuota, &'a StageHolding);

/// Zeros in rows for entries that the module did not have before.
fn fresh_rows(stage: u8, (quota, held): Held, before: Option<Held>) -> Vec<RowWrite> {
    let rows = |(quota, held): Held| held.ternary..held.ternary + 2 * quota.ternary;
    let region = held.region.filter(|region| before.is_none_or(|(_, before)| before.region != Some(*region)));
    let is_new = before.is_none_or(|before| rows(before) != rows((quota, held)));
    blank_entries(stage, region, if is_new { rows((quota, held)) } else { 0..0 }).collect()
}
