//! Run-time operations on single entries of a program that packets run.
//!
//! They are batches of writes: all of one batch are done before any of the next begins. A row is written in one
//! cycle, but an entry is two of them: itself, and its action data. So data is written only where no entry leads to
//! it, and an entry whose action and data both change is copied to another row and then deleted. While an
//! entry is there twice, packets meet the one in the lower way or row: all of the old one, or all of the new one.

use super::error::RmtError;
use super::place::RowWrite;
use super::placer::{Holding, Placer, packed};
use super::space::owner;
use crate::linker::spaces::{Region, Slot};
use crate::rmt::check::{self, ones};
use crate::rmt::part::{RmtData, RmtKey};
use crate::rmt::{RmtExact, RmtPart, RmtStage, RmtTernary};
use sluice_formats::rmt::rows::{ExactRow, TernaryRow};
use sluice_formats::{Node, Table};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What packets have to have in their key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKey {
    /// This masked key.
    Exact(RmtKey),
    /// These bits.
    Ternary {
        /// Value.
        value: RmtKey,
        /// Bits that count.
        mask: RmtKey,
    },
}

impl fmt::Display for EntryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(key) => f.write_str(&super::hex(key)),
            Self::Ternary { value, mask } => write!(f, "{}/{}", super::hex(value), super::hex(mask)),
        }
    }
}

/// What an entry leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryLeads {
    /// Action of the program, by position.
    pub action: u16,
    /// Logical number.
    pub number: u16,
    /// Action data.
    pub data: RmtData,
}

/// An entry of the program of a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryAt {
    /// Module.
    pub module: u8,
    /// Its current generation.
    pub generation: u8,
    /// Stage of its program.
    pub stage: u8,
    /// Which entry.
    pub key: EntryKey,
}

/// Writes with barriers between.
pub type Batches = Vec<Vec<RowWrite>>;

/// What was done: the writes, and how the rows were before.
#[derive(Debug, Default)]
pub(in crate::linker) struct Done {
    pub batches: Batches,
    before: Vec<Before>,
}

/// A row before it was written.
#[derive(Debug)]
enum Before {
    Exact(u8, Slot, Option<RmtExact>),
    Ternary(u8, u32, Option<RmtTernary>),
}

impl Done {
    fn write(&mut self, writes: impl IntoIterator<Item = RowWrite>) {
        self.batches.extend(writes.into_iter().map(|write| vec![write]));
    }
}

/// A checked operation.
pub(super) struct Operation {
    at: EntryAt,
    /// The pipeline's stage.
    pub stage: u8,
    name: &'static str,
    part: Arc<RmtPart>,
    /// Sets of the generation.
    region: Option<Region>,
    ternary: Range<u32>,
    most_exact: u32,
}

impl Operation {
    fn rows(&self) -> &RmtStage {
        &self.part.stages[&self.stage]
    }
}

/// A program's entry as it leads to an absolute row.
#[derive(Clone, Copy)]
pub(super) struct Led {
    module: u8,
    generations: u8,
    action: u16,
    number: u16,
    data: RmtData,
}

impl Led {
    fn exact(self, key: RmtKey) -> RmtExact {
        let Self { module: module_id, generations, action, number, data } = self;
        RmtExact { row: ExactRow { generations, module_id, key, action, number }, data }
    }

    pub fn ternary(self, value: RmtKey, mask: RmtKey) -> RmtTernary {
        let Self { module: module_id, generations, action, number, data } = self;
        RmtTernary { row: TernaryRow { generations, module_id, value, mask, action, number }, data }
    }
}

impl Placer {
    /// Adds an entry. A ternary one stands before the entry that is `before`th now, or is the last; in an LPM table it
    /// stands behind those with as many bits in their masks.
    pub fn insert(&mut self, at: EntryAt, leads: &EntryLeads, before: Option<usize>) -> Result<Batches, RmtError> {
        let mut done = Done::default();
        self.insert_into(at, leads, before, &mut done)?;
        Ok(done.batches)
    }

    /// Lets an entry lead elsewhere.
    pub fn modify(&mut self, at: EntryAt, leads: &EntryLeads) -> Result<Batches, RmtError> {
        let mut done = Done::default();
        self.modify_into(at, leads, &mut done)?;
        Ok(done.batches)
    }

    /// Takes an entry out.
    pub fn delete(&mut self, at: EntryAt) -> Result<Batches, RmtError> {
        let mut done = Done::default();
        self.delete_into(at, &mut done)?;
        Ok(done.batches)
    }

    /// [`Placer::insert`], with what was done behind what was done before. What is refused changes nothing.
    pub(in crate::linker) fn insert_into(
        &mut self,
        at: EntryAt,
        leads: &EntryLeads,
        before: Option<usize>,
        done: &mut Done,
    ) -> Result<(), RmtError> {
        let op = self.operation(at, "insert")?;
        let led = self.led(&op, leads)?;
        match at.key {
            EntryKey::Exact(key) => {
                if self.exact_slot(&op, &key).is_some() {
                    return self.refuse(&op, "the key is there", "modify it, or delete it first");
                }
                let count = self.exact_there(&op);
                if count >= op.most_exact {
                    let found = format!("{count} entries are there");
                    return self.refuse(&op, found, format!("{} were given", op.most_exact));
                }
                self.insert_exact(&op, led.exact(key), done)
            }
            EntryKey::Ternary { value, mask } => {
                let there = self.ternary_present(&op);
                let shorter = |r: &u32| self.ternary_at(op.stage, *r).is_some_and(|e| ones(&e.row.mask) < ones(&mask));
                let position = match (op.rows().longest, before) {
                    (true, _) => there.iter().position(shorter).unwrap_or(there.len()),
                    (false, before) => before.unwrap_or(there.len()).min(there.len()),
                };
                self.insert_ternary(&op, position, led.ternary(value, mask), done)
            }
        }
    }

    /// [`Placer::modify`], likewise.
    pub(in crate::linker) fn modify_into(
        &mut self,
        at: EntryAt,
        leads: &EntryLeads,
        done: &mut Done,
    ) -> Result<(), RmtError> {
        let op = self.operation(at, "modify")?;
        let led = self.led(&op, leads)?;
        match at.key {
            EntryKey::Exact(key) => {
                let Some(slot) = self.exact_slot(&op, &key) else { return self.absent(&op) };
                let entry = led.exact(key);
                let old = self.stages[usize::from(op.stage)].exact.get(slot).cloned().unwrap_or_default();
                if entry.row != old.row && entry.data != old.data {
                    self.insert_exact(&op, entry, done)?;
                    // A cuckoo path never moves an entry of this key: all its places are where the path begins.
                    self.take_exact(op.stage, slot, done);
                } else {
                    let [data, row] = self.exact_writes(op.stage, slot, &entry);
                    done.write([if entry.row == old.row { data } else { row }]);
                    self.set_exact(op.stage, slot, Some(entry), done);
                }
            }
            EntryKey::Ternary { value, mask } => {
                let Some(position) = self.ternary_find(&op, &value, &mask) else { return self.absent(&op) };
                self.modify_ternary(&op, position, led.ternary(value, mask), done)?;
            }
        }
        Ok(())
    }

    /// [`Placer::delete`], likewise.
    pub(in crate::linker) fn delete_into(&mut self, at: EntryAt, done: &mut Done) -> Result<(), RmtError> {
        let op = self.operation(at, "delete")?;
        match at.key {
            EntryKey::Exact(key) => match self.exact_slot(&op, &key) {
                Some(slot) => self.take_exact(op.stage, slot, done),
                None => return self.absent(&op),
            },
            EntryKey::Ternary { value, mask } => match self.ternary_find(&op, &value, &mask) {
                Some(position) => self.take_ternary(op.stage, self.ternary_present(&op)[position], done),
                None => return self.absent(&op),
            },
        }
        Ok(())
    }

    /// Rows are again as they were before.
    pub(in crate::linker) fn undo(&mut self, done: Done) {
        for before in done.before.into_iter().rev() {
            match before {
                Before::Exact(stage, slot, row) => self.stages[usize::from(stage)].exact.set(slot, row),
                Before::Ternary(stage, row, old) => {
                    self.stages[usize::from(stage)].ternary.set(row as usize, old);
                }
            }
        }
    }

    /// Exact and ternary entries of a stage of a generation's program as they are now, the ternary ones in their order. Actions are
    /// positions of the program.
    pub fn entries(&self, module: u8, generation: u8, stage: u8) -> Vec<(EntryKey, EntryLeads)> {
        let Some(holding) = self.holders.get(&module) else { return Vec::new() };
        let Some(&stage) = holding.at.get(&stage) else { return Vec::new() };
        let (held, quota) = (&holding.stages[&stage], &holding.quota.stages[&stage]);
        let actions = held.action_rows(quota, generation & 1);
        let position = |row: u16| actions.iter().position(|a| *a == u32::from(row)).unwrap_or(0) as u16;
        let space = &self.stages[usize::from(stage)];
        let exact = held.bank(generation).into_iter().flat_map(|r| space.exact.rows_of(r)).map(|(_, e)| {
            let leads = EntryLeads { action: position(e.row.action), number: e.row.number, data: e.data };
            (EntryKey::Exact(e.row.key), leads)
        });
        let rows = held.ternary_rows(quota, generation & 1);
        let ternary = space.ternary_in(&rows).map(|(_, e)| {
            let leads = EntryLeads { action: position(e.row.action), number: e.row.number, data: e.data };
            (EntryKey::Ternary { value: e.row.value, mask: e.row.mask }, leads)
        });
        exact.chain(ternary).collect()
    }

    pub(super) fn operation(&self, at: EntryAt, name: &'static str) -> Result<Operation, RmtError> {
        let holding = self.holding(at.module, name)?;
        let missing = |found: &str| {
            let (module, found, allowed) = (at.module, found.to_owned(), "a stage of the running program".to_owned());
            RmtError::Module { module, operation: name, found, allowed }
        };
        let Some(bank) = &holding.banks[usize::from(at.generation & 1)] else {
            return Err(missing("no program in the generation"));
        };
        let stage = holding.at.get(&at.stage);
        let Some((&stage, rows)) = stage.and_then(|stage| Some((stage, bank.part.stages.get(stage)?))) else {
            return Err(missing("the program has no such stage"));
        };
        let (held, quota) = (&holding.stages[&stage], &holding.quota.stages[&stage]);
        let at = EntryAt { generation: at.generation & 1, ..at };
        let (value, mask) = match at.key {
            EntryKey::Exact(key) => (key, rows.key.mask),
            EntryKey::Ternary { value, mask } => (value, mask),
        };
        let is_inside = check::inside(&mask, &rows.key.mask) && check::inside(&value, &mask);
        let op = Operation {
            at,
            stage,
            name,
            part: bank.part.clone(),
            region: held.bank(at.generation),
            ternary: held.ternary_rows(quota, at.generation),
            most_exact: quota.exact,
        };
        if is_inside {
            Ok(op)
        } else {
            self.refuse(&op, "bits outside the mask", "bits within the mask of the stage's key")
        }
    }

    fn refuse<T>(&self, op: &Operation, found: impl Into<String>, allowed: impl Into<String>) -> Result<T, RmtError> {
        Err(RmtError::Entry {
            stage: op.at.stage,
            tenant: self.holding(op.at.module, op.name)?.name.clone(),
            operation: op.name,
            key: Box::new(op.at.key),
            found: found.into(),
            allowed: allowed.into(),
        })
    }

    fn absent<T>(&self, op: &Operation) -> Result<T, RmtError> {
        self.refuse(op, "there is no such entry", "insert it first")
    }

    /// What an entry leads to, if it may.
    pub(super) fn led(&self, op: &Operation, leads: &EntryLeads) -> Result<Led, RmtError> {
        let holding: &Holding = self.holding(op.at.module, op.name)?;
        let (quota, rows) = (&holding.quota.stages[&op.stage], op.rows());
        if usize::from(leads.action) >= rows.actions.len() {
            let allowed = format!("actions below {}", rows.actions.len());
            return self.refuse(op, format!("action {}", leads.action), allowed);
        }
        if u32::from(leads.number) >= quota.numbers {
            let allowed = format!("numbers below {}, which were given", quota.numbers);
            return self.refuse(op, format!("number {}", leads.number), allowed);
        }
        self.check_group_named(holding, op.at.stage, rows, leads.action, &leads.data)?;
        let actions = holding.stages[&op.stage].action_rows(quota, op.at.generation);
        Ok(Led {
            module: op.at.module,
            generations: 1 << op.at.generation,
            action: actions[usize::from(leads.action)] as u16,
            number: leads.number,
            data: leads.data,
        })
    }

    fn exact_slot(&self, op: &Operation, key: &RmtKey) -> Option<Slot> {
        self.stages[usize::from(op.stage)].exact.find(op.region?, key)
    }

    /// How many exact entries the stage has, and whether the key is one of theirs.
    pub(in crate::linker) fn exact_entries(&self, at: EntryAt) -> Result<(u32, bool), RmtError> {
        let op = self.operation(at, "insert")?;
        let is_there = matches!(at.key, EntryKey::Exact(key) if self.exact_slot(&op, &key).is_some());
        Ok((self.exact_there(&op), is_there))
    }

    /// Exact entries of the generation.
    fn exact_there(&self, op: &Operation) -> u32 {
        self.stages[usize::from(op.stage)].exact.count(owner(op.at.module, op.at.generation))
    }

    fn ternary_at(&self, stage: u8, row: u32) -> Option<&RmtTernary> {
        self.stages[usize::from(stage)].ternary.get(row as usize)
    }

    /// Rows of the generation's ternary entries, in order.
    pub(super) fn ternary_present(&self, op: &Operation) -> Vec<u32> {
        self.stages[usize::from(op.stage)].ternary_in(&op.ternary).map(|(row, _)| row).collect()
    }

    /// How many are before the first one that asks for this.
    fn ternary_find(&self, op: &Operation, value: &RmtKey, mask: &RmtKey) -> Option<usize> {
        let is = |e: &RmtTernary| e.row.value == *value && e.row.mask == *mask;
        self.ternary_present(op).iter().position(|r| self.ternary_at(op.stage, *r).is_some_and(is))
    }

    fn set_exact(&mut self, stage: u8, slot: Slot, row: Option<RmtExact>, done: &mut Done) {
        let exact = &mut self.stages[usize::from(stage)].exact;
        done.before.push(Before::Exact(stage, slot, exact.get(slot).cloned()));
        exact.set(slot, row);
    }

    fn set_ternary(&mut self, stage: u8, row: u32, entry: Option<RmtTernary>, done: &mut Done) {
        let before = self.stages[usize::from(stage)].ternary.set(row as usize, entry);
        done.before.push(Before::Ternary(stage, row, before));
    }

    /// Makes room and puts an entry there; entries that make room are copied, then deleted.
    fn insert_exact(&mut self, op: &Operation, entry: RmtExact, done: &mut Done) -> Result<(), RmtError> {
        let stage = op.stage;
        let space = &self.stages[usize::from(stage)].exact;
        let Some(path) = op.region.and_then(|r| space.path_to_room(r, &entry.row.key)) else {
            let allowed = "an entry deleted first, or another program in place of this one";
            return self.refuse(op, "its rows, and all that their entries could move to, are full", allowed);
        };
        for hop in path.windows(2).rev() {
            let (from, to) = (hop[0], hop[1]);
            let Some(moved) = self.stages[usize::from(stage)].exact.get(from).cloned() else { continue };
            done.write(self.exact_writes(stage, to, &moved));
            self.set_exact(stage, to, Some(moved), done);
            self.take_exact(stage, from, done);
        }
        done.write(self.exact_writes(stage, path[0], &entry));
        self.set_exact(stage, path[0], Some(entry), done);
        Ok(())
    }

    /// The entry goes first, then its data.
    fn take_exact(&mut self, stage: u8, slot: Slot, done: &mut Done) {
        self.set_exact(stage, slot, None, done);
        let [data, row] = self.exact_writes(stage, slot, &RmtExact::default());
        done.write([row, data]);
    }

    /// Another action for the entry with so many before it.
    pub(super) fn modify_ternary(
        &mut self,
        op: &Operation,
        position: usize,
        entry: RmtTernary,
        done: &mut Done,
    ) -> Result<(), RmtError> {
        let row = self.ternary_present(op)[position];
        let old = self.ternary_at(op.stage, row).cloned().unwrap_or_default();
        if entry.row != old.row && entry.data != old.data {
            self.insert_ternary(op, position, entry, done)?;
            // The old one is behind the new one now.
            let behind = self.ternary_present(op)[position + 1];
            self.take_ternary(op.stage, behind, done);
        } else {
            let [data, written] = self.ternary_writes(op.stage, row, &entry);
            done.write([if entry.row == old.row { data } else { written }]);
            self.set_ternary(op.stage, row, Some(entry), done);
        }
        Ok(())
    }

    /// Puts an entry before the one at a position. Those between it and a free row make room, one row each.
    fn insert_ternary(
        &mut self,
        op: &Operation,
        position: usize,
        entry: RmtTernary,
        done: &mut Done,
    ) -> Result<(), RmtError> {
        let stage = op.stage;
        let there = self.ternary_present(op);
        // Rows between which it has to stand: behind `low - 1`, before `high`.
        let low = position.checked_sub(1).map_or(op.ternary.start, |p| there[p] + 1);
        let high = there.get(position).copied().unwrap_or(op.ternary.end);
        let is_free = |r: &u32| self.ternary_at(stage, *r).is_none();
        let (above, below) = ((op.ternary.start..low).rev().find(is_free), (high..op.ternary.end).find(is_free));
        let row = match (low < high, above, below) {
            (true, _, _) => low,
            (false, Some(free), further) if further.is_none_or(|f| low - free <= f - high) => {
                (free + 1..low).for_each(|r| self.move_ternary(stage, r, r - 1, done));
                low - 1
            }
            (false, _, Some(free)) => {
                (high..free).rev().for_each(|r| self.move_ternary(stage, r, r + 1, done));
                high
            }
            (false, _, None) => {
                let rows = op.ternary.len();
                let allowed = "an entry deleted first, or another program in place of this one";
                return self.refuse(op, format!("all {rows} rows that were given are used"), allowed);
            }
        };
        self.put_ternary(stage, row, entry, done);
        Ok(())
    }

    /// Copies an entry to a row beside it that is free, or whose entry has been copied before. The row that it comes
    /// from keeps it until the next is put there.
    fn move_ternary(&mut self, stage: u8, from: u32, to: u32, done: &mut Done) {
        let entry = self.ternary_at(stage, from).cloned().unwrap_or_default();
        self.put_ternary(stage, to, entry, done);
    }

    fn put_ternary(&mut self, stage: u8, row: u32, entry: RmtTernary, done: &mut Done) {
        if self.ternary_at(stage, row).is_some() {
            done.write([blank_ternary(stage, row)]);
        }
        done.write(self.ternary_writes(stage, row, &entry));
        self.set_ternary(stage, row, Some(entry), done);
    }

    pub(super) fn take_ternary(&mut self, stage: u8, row: u32, done: &mut Done) {
        self.set_ternary(stage, row, None, done);
        let [data, written] = self.ternary_writes(stage, row, &RmtTernary::default());
        done.write([written, data]);
    }
}

fn blank_ternary(stage: u8, row: u32) -> RowWrite {
    let words = packed(&TernaryRow::default());
    RowWrite { node: Node::Stage(stage), table: Table::Ternary, index: row, words }
}
