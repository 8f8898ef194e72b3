//! Run-time operations on single entries of a program that packets run.
//!
//! They are batches of writes: all of one batch are done before any of the next begins. A row is written in one
//! cycle, but an entry is two of them: itself, and its action data. So data is written only where no entry leads to
//! it, and an entry whose action and data both change is copied to another row and then deleted. While an
//! entry is there twice, packets meet the one in the lower way or row: all of the old one, or all of the new one.

use super::error::RmtError;
use super::place::RowWrite;
use super::placer::{Holding, Placer, packed};
use crate::linker::spaces::{Region, Slot};
use crate::rmt::check::{self, ones};
use crate::rmt::part::{RmtData, RmtKey};
use crate::rmt::{RmtExact, RmtStage, RmtTernary};
use sluice_formats::rmt::rows::{ExactRow, TernaryRow};
use sluice_formats::{Node, Table};
use std::fmt;
use std::ops::Range;

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

/// A checked operation.
struct Operation {
    at: EntryAt,
    /// The pipeline's stage.
    stage: u8,
    name: &'static str,
    tenant: String,
    rows: RmtStage,
    /// Sets of the generation.
    region: Option<Region>,
    ternary: Range<u32>,
    /// Absolute action rows by position.
    actions: Vec<u32>,
    most_exact: u32,
}

impl Operation {
    fn refuse<T>(&self, found: impl Into<String>, allowed: impl Into<String>) -> Result<T, RmtError> {
        Err(RmtError::Entry {
            stage: self.at.stage,
            tenant: self.tenant.clone(),
            operation: self.name,
            key: Box::new(self.at.key),
            found: found.into(),
            allowed: allowed.into(),
        })
    }

    fn exact(&self, key: RmtKey, leads: &EntryLeads) -> RmtExact {
        let row = ExactRow {
            generations: 1 << self.at.generation,
            module_id: self.at.module,
            key,
            action: self.actions[usize::from(leads.action)] as u16,
            number: leads.number,
        };
        RmtExact { row, data: leads.data }
    }

    fn ternary(&self, value: RmtKey, mask: RmtKey, leads: &EntryLeads) -> RmtTernary {
        let row = TernaryRow {
            generations: 1 << self.at.generation,
            module_id: self.at.module,
            value,
            mask,
            action: self.actions[usize::from(leads.action)] as u16,
            number: leads.number,
        };
        RmtTernary { row, data: leads.data }
    }
}

impl Placer {
    /// Adds an entry. A ternary one stands before the entry that is `before`th now, or is the last; in an LPM table it
    /// stands behind those with as many bits in their masks.
    pub fn insert(&mut self, at: EntryAt, leads: &EntryLeads, before: Option<usize>) -> Result<Batches, RmtError> {
        let op = self.operation(at, "insert")?;
        self.check_leads(&op, leads)?;
        let mut next = self.clone();
        let batches = match at.key {
            EntryKey::Exact(key) => {
                if self.exact_slot(&op, &key).is_some() {
                    return op.refuse("the key is there", "modify it, or delete it first");
                }
                let count = op.region.map_or(0, |r| self.stages[usize::from(op.stage)].exact.rows_of(r).count());
                if count as u32 >= op.most_exact {
                    return op.refuse(format!("{count} entries are there"), format!("{} were given", op.most_exact));
                }
                next.insert_exact(&op, op.exact(key, leads))?
            }
            EntryKey::Ternary { value, mask } => {
                let there = self.ternary_present(&op);
                let shorter = |r: &u32| self.ternary_at(op.stage, *r).is_some_and(|e| ones(&e.row.mask) < ones(&mask));
                let position = match (op.rows.longest, before) {
                    (true, _) => there.iter().position(shorter).unwrap_or(there.len()),
                    (false, before) => before.unwrap_or(there.len()).min(there.len()),
                };
                next.insert_ternary(&op, position, op.ternary(value, mask, leads))?
            }
        };
        *self = next;
        Ok(batches)
    }

    /// Lets an entry lead elsewhere.
    pub fn modify(&mut self, at: EntryAt, leads: &EntryLeads) -> Result<Batches, RmtError> {
        let op = self.operation(at, "modify")?;
        self.check_leads(&op, leads)?;
        let mut next = self.clone();
        let batches = match at.key {
            EntryKey::Exact(key) => {
                let Some(slot) = self.exact_slot(&op, &key) else { return absent(&op) };
                let entry = op.exact(key, leads);
                let old = self.stages[usize::from(op.stage)].exact.get(slot).cloned().unwrap_or_default();
                if entry.row != old.row && entry.data != old.data {
                    let mut batches = next.insert_exact(&op, entry)?;
                    // A cuckoo path never moves an entry of this key: all its places are where the path begins.
                    batches.extend(next.take_exact(op.stage, slot));
                    batches
                } else {
                    let [data, row] = self.exact_writes(op.stage, slot, &entry);
                    let write = if entry.row == old.row { data } else { row };
                    next.stages[usize::from(op.stage)].exact.set(slot, Some(entry));
                    vec![vec![write]]
                }
            }
            EntryKey::Ternary { value, mask } => {
                let Some((position, row)) = self.ternary_find(&op, &value, &mask) else { return absent(&op) };
                let entry = op.ternary(value, mask, leads);
                let old = self.ternary_at(op.stage, row).cloned().unwrap_or_default();
                if entry.row != old.row && entry.data != old.data {
                    let mut batches = next.insert_ternary(&op, position, entry)?;
                    // The old one is behind the new one now.
                    let behind = next.ternary_present(&op)[position + 1];
                    batches.extend(next.take_ternary(op.stage, behind));
                    batches
                } else {
                    let [data, written] = self.ternary_writes(op.stage, row, &entry);
                    let write = if entry.row == old.row { data } else { written };
                    next.stages[usize::from(op.stage)].ternary[row as usize] = Some(entry);
                    vec![vec![write]]
                }
            }
        };
        *self = next;
        Ok(batches)
    }

    /// Takes an entry out.
    pub fn delete(&mut self, at: EntryAt) -> Result<Batches, RmtError> {
        let op = self.operation(at, "delete")?;
        match at.key {
            EntryKey::Exact(key) => match self.exact_slot(&op, &key) {
                Some(slot) => Ok(self.take_exact(op.stage, slot)),
                None => absent(&op),
            },
            EntryKey::Ternary { value, mask } => match self.ternary_find(&op, &value, &mask) {
                Some((_, row)) => Ok(self.take_ternary(op.stage, row)),
                None => absent(&op),
            },
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
        let ternary = rows.filter_map(|r| space.ternary[r as usize].as_ref()).map(|e| {
            let leads = EntryLeads { action: position(e.row.action), number: e.row.number, data: e.data };
            (EntryKey::Ternary { value: e.row.value, mask: e.row.mask }, leads)
        });
        exact.chain(ternary).collect()
    }

    fn operation(&self, at: EntryAt, name: &'static str) -> Result<Operation, RmtError> {
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
        let op = Operation {
            at,
            stage,
            name,
            tenant: holding.name.clone(),
            rows: rows.clone(),
            region: held.bank(at.generation),
            ternary: held.ternary_rows(quota, at.generation),
            actions: held.action_rows(quota, at.generation).to_vec(),
            most_exact: quota.exact,
        };
        let (value, mask) = match at.key {
            EntryKey::Exact(key) => (key, rows.key.mask),
            EntryKey::Ternary { value, mask } => (value, mask),
        };
        let inside = check::inside(&mask, &rows.key.mask) && check::inside(&value, &mask);
        if inside { Ok(op) } else { op.refuse("bits outside the mask", "bits within the mask of the stage's key") }
    }

    fn check_leads(&self, op: &Operation, leads: &EntryLeads) -> Result<(), RmtError> {
        let holding: &Holding = self.holding(op.at.module, op.name)?;
        let numbers = holding.quota.stages[&op.stage].numbers;
        if usize::from(leads.action) >= op.rows.actions.len() {
            return op.refuse(format!("action {}", leads.action), format!("actions below {}", op.rows.actions.len()));
        }
        if u32::from(leads.number) >= numbers {
            return op.refuse(format!("number {}", leads.number), format!("numbers below {numbers}, which were given"));
        }
        self.check_group_named(holding, op.at.stage, &op.rows, leads.action, &leads.data)
    }

    fn exact_slot(&self, op: &Operation, key: &RmtKey) -> Option<Slot> {
        self.stages[usize::from(op.stage)].exact.find(op.region?, key)
    }

    fn ternary_at(&self, stage: u8, row: u32) -> Option<&RmtTernary> {
        self.stages[usize::from(stage)].ternary.get(row as usize)?.as_ref()
    }

    /// Rows of the generation's ternary entries, in order.
    fn ternary_present(&self, op: &Operation) -> Vec<u32> {
        op.ternary.clone().filter(|r| self.ternary_at(op.stage, *r).is_some()).collect()
    }

    fn ternary_find(&self, op: &Operation, value: &RmtKey, mask: &RmtKey) -> Option<(usize, u32)> {
        let is = |e: &RmtTernary| e.row.value == *value && e.row.mask == *mask;
        let there = self.ternary_present(op);
        let position = there.iter().position(|r| self.ternary_at(op.stage, *r).is_some_and(is))?;
        Some((position, there[position]))
    }

    /// Makes room and puts an entry there; entries that make room are copied, then deleted.
    fn insert_exact(&mut self, op: &Operation, entry: RmtExact) -> Result<Batches, RmtError> {
        let stage = op.stage;
        let space = &mut self.stages[usize::from(stage)];
        let path = op.region.and_then(|r| space.exact.path_to_room(r, &entry.row.key));
        let Some(path) = path else {
            let allowed = "an entry deleted first, or another program in place of this one";
            return op.refuse("its rows, and all that their entries could move to, are full", allowed);
        };
        let mut moves = Vec::new();
        space.exact.make_room(&path, |from, to, moved| moves.push((from, to, moved.clone())));
        space.exact.set(path[0], Some(entry.clone()));
        let mut batches = Batches::new();
        for (from, to, moved) in moves {
            batches.extend(self.exact_writes(stage, to, &moved).map(|w| vec![w]));
            batches.extend(self.blank_exact(stage, from));
        }
        batches.extend(self.exact_writes(stage, path[0], &entry).map(|w| vec![w]));
        Ok(batches)
    }

    fn take_exact(&mut self, stage: u8, slot: Slot) -> Batches {
        self.stages[usize::from(stage)].exact.set(slot, None);
        self.blank_exact(stage, slot)
    }

    /// The entry first, then its data.
    fn blank_exact(&self, stage: u8, slot: Slot) -> Batches {
        let [data, row] = self.exact_writes(stage, slot, &RmtExact::default());
        vec![vec![row], vec![data]]
    }

    /// Puts an entry before the one at a position. Those between it and a free row make room, one row each.
    fn insert_ternary(&mut self, op: &Operation, position: usize, entry: RmtTernary) -> Result<Batches, RmtError> {
        let stage = op.stage;
        let there = self.ternary_present(op);
        // Rows between which it has to stand: behind `low - 1`, before `high`.
        let low = position.checked_sub(1).map_or(op.ternary.start, |p| there[p] + 1);
        let high = there.get(position).copied().unwrap_or(op.ternary.end);
        let is_free = |r: &u32| self.ternary_at(stage, *r).is_none();
        let (above, below) = ((op.ternary.start..low).rev().find(is_free), (high..op.ternary.end).find(is_free));
        let mut batches = Batches::new();
        let row = match (low < high, above, below) {
            (true, _, _) => low,
            (false, Some(free), further) if further.is_none_or(|f| low - free <= f - high) => {
                (free + 1..low).for_each(|r| batches.extend(self.move_ternary(stage, r, r - 1)));
                low - 1
            }
            (false, _, Some(free)) => {
                (high..free).rev().for_each(|r| batches.extend(self.move_ternary(stage, r, r + 1)));
                high
            }
            (false, _, None) => {
                let rows = op.ternary.len();
                let allowed = "an entry deleted first, or another program in place of this one";
                return op.refuse(format!("all {rows} rows that were given are used"), allowed);
            }
        };
        batches.extend(self.put_ternary(stage, row, entry));
        Ok(batches)
    }

    /// Copies an entry to a row beside it that is free, or whose entry has been copied before. The row that it comes
    /// from keeps it until the next is put there.
    fn move_ternary(&mut self, stage: u8, from: u32, to: u32) -> Batches {
        let entry = self.ternary_at(stage, from).cloned().unwrap_or_default();
        self.put_ternary(stage, to, entry)
    }

    fn put_ternary(&mut self, stage: u8, row: u32, entry: RmtTernary) -> Batches {
        let mut batches = Batches::new();
        if self.ternary_at(stage, row).is_some() {
            batches.push(vec![blank_ternary(stage, row)]);
        }
        batches.extend(self.ternary_writes(stage, row, &entry).map(|w| vec![w]));
        self.stages[usize::from(stage)].ternary[row as usize] = Some(entry);
        batches
    }

    fn take_ternary(&mut self, stage: u8, row: u32) -> Batches {
        self.stages[usize::from(stage)].ternary[row as usize] = None;
        let [data, written] = self.ternary_writes(stage, row, &RmtTernary::default());
        vec![vec![written], vec![data]]
    }
}

fn absent<T>(op: &Operation) -> Result<T, RmtError> {
    op.refuse("there is no such entry", "insert it first")
}

fn blank_ternary(stage: u8, row: u32) -> RowWrite {
    let words = packed(&TernaryRow::default());
    RowWrite { node: Node::Stage(stage), table: Table::Ternary, index: row, words }
}
