//! Operations on the entries of a P4 program that packets run, each in one row.
//!
//! One operation on a row is never met in half (see `entries`). Two would be: a packet could meet what the first of them did
//! and the next packet all, so what takes more is for a new generation.

use super::entries::{Batches, Done, EntryAt, EntryKey};
use super::error::RmtError;
use super::live::{Live, Plan, RowStep, Unplanned, Where};
use super::placer::{Bank, Placer};
use crate::error::ObjectError;
use crate::rmt::RmtPart;
use crate::rmt::logical::slots::Slots;
use crate::rmt::logical::{Logical, LogicalChange};
use std::sync::Arc;

impl Bank {
    /// A program with its entries. Those that the running program of the same tables has keep their numbers.
    pub(super) fn numbered(
        part: &Arc<RmtPart>,
        running: Option<&Bank>,
    ) -> Result<(Arc<RmtPart>, Option<Arc<Live>>), ObjectError> {
        let Some(logical) = part.logical.as_deref() else { return Ok((part.clone(), None)) };
        let running = running.and_then(|bank| Some((bank.live.as_deref()?, bank.part.logical.as_deref()?)));
        let kept = running.filter(|(_, other)| is_same(other, logical)).map(|(live, _)| live.slots_for(logical));
        let new = Slots::of(logical);
        let Some(slots) = kept.filter(|kept| *kept != new) else {
            return Ok((part.clone(), Some(Arc::new(Live::new(part, logical, &new)))));
        };
        let mut next = (**part).clone();
        for (number, stage) in &mut next.stages {
            if logical.stages.contains_key(number) {
                stage.put(&logical.rows_with(*number, &slots)?);
            }
        }
        let live = Live::new(&next, logical, &slots);
        Ok((Arc::new(next), Some(Arc::new(live))))
    }
}

/// Whether programs have the same tables, but for their entries, and look them up in the same way.
fn is_same(one: &Logical, other: &Logical) -> bool {
    let tables = one.tables.len() == other.tables.len()
        && one.tables.iter().zip(&other.tables).all(|(one, other)| {
            (&one.name, &one.keys, &one.actions, one.counted)
                == (&other.name, &other.keys, &other.actions, other.counted)
        });
    tables && one.stages == other.stages
}

/// Why operations were not carried out.
pub(in crate::linker) enum Unchanged {
    /// One of them takes more than a row, or has no room: all entries in a new generation are the way.
    More,
    /// One of them cannot be.
    Wrong(ObjectError),
}

impl Placer {
    /// The writes after which packets run a program with these operations on its tables' entries; nothing if one of them is more than one row,
    /// or has no room. What is refused, and what is not done, changes nothing.
    pub fn change_entries(
        &mut self,
        module: u8,
        generation: u8,
        changes: &[LogicalChange],
    ) -> Result<Option<Batches>, ObjectError> {
        match self.change(module, generation, changes) {
            Ok(changed) => Ok(Some(changed.done.batches)),
            Err(Unchanged::More) => Ok(None),
            Err(Unchanged::Wrong(error)) => Err(error),
        }
    }

    /// The writes after which packets run a program with these operations on its entries. All of them are done, or none.
    pub(in crate::linker) fn change(
        &mut self,
        module: u8,
        generation: u8,
        changes: &[LogicalChange],
    ) -> Result<Changed, Unchanged> {
        let mut changed = Changed { module, generation, plans: Vec::new(), done: Done::default() };
        for change in changes {
            if let Err(why) = self.change_one(change, &mut changed) {
                self.unchange(changed);
                return Err(why);
            }
        }
        Ok(changed)
    }

    fn change_one(&mut self, change: &LogicalChange, changed: &mut Changed) -> Result<(), Unchanged> {
        let (module, generation) = (changed.module, changed.generation);
        let mut plan = self.planned(change, changed)?;
        if let Some(row) = plan.row {
            self.step(module, generation, &row, &mut changed.done).map_err(|_| Unchanged::More)?;
        }
        if let Some(live) = self.live(module, generation) {
            live.toggle(&mut plan);
            changed.plans.push(plan);
        }
        Ok(())
    }

    /// What one operation on a P4 table's entry does with rows.
    fn step(&mut self, module: u8, generation: u8, step: &RowStep, done: &mut Done) -> Result<(), RmtError> {
        let own = self.holders.get(&module).and_then(|h| h.at.iter().find(|(_, at)| **at == step.stage));
        let stage = own.map_or(step.stage, |(own, _)| *own);
        let at = |key: EntryKey| EntryAt { module, generation, stage, key };
        let ternary = |found: &Where| matches!(found.key, EntryKey::Ternary { .. });
        if let Some((comes, leads)) = &step.comes {
            match (comes.key, &step.gone) {
                (EntryKey::Exact(_), Some(_)) => return self.modify_into(at(comes.key), leads, done),
                (EntryKey::Ternary { value, mask }, Some(gone)) if step.same_row => {
                    let op = self.operation(at(comes.key), "modify")?;
                    let led = self.led(&op, leads)?;
                    return self.modify_ternary(&op, gone.before, led.ternary(value, mask), done);
                }
                _ => self.insert_into(at(comes.key), leads, Some(comes.before), done)?,
            }
        }
        let Some(gone) = &step.gone else { return Ok(()) };
        if !ternary(gone) {
            return self.delete_into(at(gone.key), done);
        }
        let op = self.operation(at(gone.key), "delete")?;
        // One that came before it has moved it one further.
        let moved = step.comes.as_ref().is_some_and(|(comes, _)| ternary(comes) && comes.before <= gone.before);
        let row = self.ternary_present(&op)[gone.before + usize::from(moved)];
        self.take_ternary(op.stage, row, done);
        Ok(())
    }

    fn planned(&mut self, change: &LogicalChange, changed: &Changed) -> Result<Plan, Unchanged> {
        let (module, generation) = (changed.module, changed.generation);
        let plan = |placer: &Self| {
            let holding = placer.holders.get(&module).ok_or(Unchanged::More)?;
            let bank = holding.banks[usize::from(generation & 1)].as_ref().ok_or(Unchanged::More)?;
            let (live, logical) = bank.live.as_deref().zip(bank.part.logical.as_deref()).ok_or(Unchanged::More)?;
            change.check(logical, |table| live.entries(table)).map_err(Unchanged::Wrong)?;
            let limit = |stage: u8| holding.quota.stages.get(&stage).map_or(0, |quota| quota.numbers);
            Ok(live.plan(logical, change, limit))
        };
        match plan(self)? {
            Ok(plan) => Ok(plan),
            // Plans before this one know the old places.
            Err(Unplanned::NoLabel) if changed.plans.is_empty() => {
                if let Some(live) = self.live(module, generation) {
                    live.label_anew(change.table());
                }
                plan(self)?.map_err(|_| Unchanged::More)
            }
            Err(_) => Err(Unchanged::More),
        }
    }

    /// All is as it was before.
    pub(in crate::linker) fn unchange(&mut self, changed: Changed) {
        let Changed { module, generation, plans, done } = changed;
        self.undo(done);
        if let Some(live) = self.live(module, generation) {
            plans.into_iter().rev().for_each(|mut plan| live.toggle(&mut plan));
        }
    }

    fn live(&mut self, module: u8, generation: u8) -> Option<&mut Live> {
        let bank = self.holders.get_mut(&module)?.banks[usize::from(generation & 1)].as_mut()?;
        bank.live.as_mut().map(Arc::make_mut)
    }
}

/// Operations that were carried out.
#[derive(Debug)]
pub(in crate::linker) struct Changed {
    module: u8,
    generation: u8,
    plans: Vec<Plan>,
    pub done: Done,
}
