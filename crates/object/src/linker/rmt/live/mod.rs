//! The entries of a P4 program that runs, with indexes, so that one operation is one row in and one row out.
//!
//! Beside the tables' entries it knows which rows ask for the same bits (the first of them is met), where each row stands in its memory's
//! order, and the numbers that entries keep. An operation is planned without a change; the row finds its place in the memory, and only then is
//! the plan carried out. Carried out twice, it is undone.

mod stage;
mod table;

pub(super) use stage::{RowStep, Where};

use super::EntryLeads;
use crate::rmt::logical::encode::{Asked, Looked};
use crate::rmt::logical::slots::{EntrySlot, Slots, StageNumbers};
use crate::rmt::logical::{LogicalCall, LogicalCase, LogicalChange, LogicalEntry, LogicalLookup, LogicalMatch};
use crate::rmt::{Logical, LogicalRow, RmtPart};
use stage::{Candidate, KeyStep, LiveStage, Place, Rows};
use std::collections::{BTreeMap, HashMap};
use table::{Label, LiveTable, Lowest, MISS, Standing, TableStep};

/// Cases of an entry that are looked at: one that may be more rows is for a new generation.
const MOST_LOOKED: usize = 64;

/// A logical number: its stage, the entry by table and position, and the number.
type Numbered = (u8, (u16, u16), u16);

/// The entries and rows of a program.
#[derive(Clone, Debug)]
pub(in crate::linker) struct Live {
    tables: Vec<LiveTable>,
    /// By the pipeline's stage.
    stages: BTreeMap<u8, LiveStage>,
}

/// An operation, and what it does with a row.
#[derive(Debug)]
pub(in crate::linker) struct Plan {
    table: usize,
    step: TableStep,
    keys: Vec<(u8, KeyStep)>,
    /// Logical numbers that come or go, by stage.
    numbers: Vec<Numbered>,
    pub(super) row: Option<RowStep>,
}

/// Why an operation is none on one row.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::linker) enum Unplanned {
    /// It is more than that.
    More,
    /// Two entries have no place between them; [`Live::label_anew`] makes some.
    NoLabel,
}

impl Live {
    /// That of a program with these numbers, whose rows are made with them.
    pub fn new(part: &RmtPart, logical: &Logical, slots: &Slots) -> Self {
        let tables = logical.tables.iter().zip(&slots.positions);
        let mut tables: Vec<LiveTable> =
            tables.map(|(table, at)| LiveTable::new(&table.entries, at, table.default.clone())).collect();
        let mut stages = BTreeMap::new();
        for (&number, cases) in &logical.stages {
            let StageNumbers { of, nobody } = slots.stages.get(&number).cloned().unwrap_or_default();
            let guard = |case: &LogicalCase| match case {
                LogicalCase::Leads(leads) => (leads.value, leads.mask),
                LogicalCase::Looks(lookup) => (lookup.value, lookup.mask),
                LogicalCase::Hashes(_) => Default::default(),
            };
            let mut stage = LiveStage {
                mask: part.stages.get(&number).map(|stage| stage.key.mask).unwrap_or_default(),
                guards: cases.iter().map(guard).collect(),
                keys: HashMap::new(),
                ternary: BTreeMap::new(),
                exact: BTreeMap::new(),
                free: Lowest::but(of.values().copied().chain([nobody])),
                numbers: of.into_iter().collect(),
                nobody,
            };
            for (at, case) in cases.iter().enumerate() {
                let at = at as u16;
                match case {
                    LogicalCase::Leads(leads) => stage.push((at, 0, 0), &leads.row(nobody)),
                    LogicalCase::Looks(lookup) => {
                        let described = &logical.tables[usize::from(lookup.table)];
                        let table = &mut tables[usize::from(lookup.table)];
                        table.looked_up.push((number, at));
                        let mut all: Vec<(Place, LogicalRow)> = Vec::new();
                        for (position, standing) in table.in_order() {
                            let counted = stage.numbers.get(&(lookup.table, position));
                            let slot = EntrySlot { position, number: counted.copied().unwrap_or(nobody) };
                            let rows = lookup.rows_of(described, &standing.entry, slot, &mut Looked::of(usize::MAX));
                            let rows = rows.into_iter().flatten().enumerate();
                            all.extend(rows.map(|(row, one)| ((at, standing.label, row as u16), one)));
                        }
                        let rows = lookup.rows_of_miss(&table.default, nobody, &mut Looked::of(usize::MAX));
                        let rows = rows.into_iter().flatten().enumerate();
                        all.extend(rows.map(|(row, one)| ((at, MISS, row as u16), one)));
                        all.iter().for_each(|(place, row)| stage.push(*place, row));
                    }
                    LogicalCase::Hashes(_) => {}
                }
            }
            stages.insert(number, stage);
        }
        Self { tables, stages }
    }

    /// Entries of a table.
    pub fn entries(&self, table: u16) -> usize {
        self.tables.get(usize::from(table)).map_or(0, |table| table.order.len())
    }

    /// Entries of counted tables that are looked up in a stage, with their logical numbers.
    pub fn counted<'a>(
        &'a self,
        logical: &'a Logical,
        stage: u8,
    ) -> impl Iterator<Item = (u16, u16, &'a LogicalEntry, u16)> {
        let numbers = self.stages.get(&stage).map(|stage| &stage.numbers);
        let looked = move |table: &LiveTable| table.looked_up.iter().any(|(at, _)| *at == stage);
        let tables =
            self.tables.iter().enumerate().filter(move |(at, table)| logical.tables[*at].counted && looked(table));
        tables.flat_map(move |(at, table)| {
            table.in_order().filter_map(move |(position, standing)| {
                let number = numbers?.get(&(at as u16, position))?;
                Some((at as u16, position, &standing.entry, *number))
            })
        })
    }

    /// The numbers for a program of the same tables: an entry that is in both keeps its own.
    pub fn slots_for(&self, logical: &Logical) -> Slots {
        let mut slots = Slots::default();
        let mut free = Vec::new();
        for (table, there) in logical.tables.iter().zip(&self.tables) {
            // Of several that ask for the same, the one with this action.
            let mut kept: HashMap<&[LogicalMatch], Vec<(u16, &LogicalCall)>> = HashMap::new();
            for (position, standing) in there.in_order() {
                kept.entry(&standing.entry.matches).or_default().push((position, &standing.entry.call));
            }
            let mut found: Vec<Option<u16>> = vec![None; table.entries.len()];
            for with_its_action in [true, false] {
                for (entry, found) in table.entries.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
                    let Some(all) = kept.get_mut(&entry.matches[..]) else { continue };
                    let at = all.iter().position(|(_, call)| !with_its_action || **call == entry.call);
                    *found = at.map(|at| all.remove(at).0);
                }
            }
            let mut lowest = Lowest::but(found.iter().flatten().copied());
            let positions = found.iter().map(|found| {
                found.unwrap_or_else(|| {
                    let position = lowest.lowest();
                    lowest.take(position);
                    position
                })
            });
            slots.positions.push(positions.collect());
            free.push(found);
        }
        for (number, stage) in &self.stages {
            let mut of = BTreeMap::new();
            let numbered: Vec<(u16, u16, bool)> = logical
                .numbers(*number)
                .into_keys()
                .map(|(table, at)| (table as u16, slots.positions[table][at], free[table][at].is_some()))
                .collect();
            for (table, position, _) in numbered.iter().filter(|(.., kept)| *kept) {
                if let Some(number) = stage.numbers.get(&(*table, *position)) {
                    of.insert((*table, *position), *number);
                }
            }
            let mut lowest = Lowest::but(of.values().copied().chain([stage.nobody]));
            for (table, position, _) in numbered {
                of.entry((table, position)).or_insert_with(|| {
                    let number = lowest.lowest();
                    lowest.take(number);
                    number
                });
            }
            slots.stages.insert(*number, StageNumbers { of, nobody: stage.nobody });
        }
        slots
    }

    /// What an operation does, if that is one row; `limit` is how many logical numbers a stage has.
    pub fn plan(
        &self,
        logical: &Logical,
        change: &LogicalChange,
        limit: impl Fn(u8) -> u32,
    ) -> Result<Plan, Unplanned> {
        let number = change.table();
        let (described, table) = (&logical.tables[usize::from(number)], &self.tables[usize::from(number)]);
        let mut plan = Plan {
            table: usize::from(number),
            step: TableStep::Default(table.default.clone()),
            keys: Vec::new(),
            numbers: Vec::new(),
            row: None,
        };
        let mut found = Found { live: self, logical, table: number, keys: Vec::new() };
        match change {
            LogicalChange::Insert { at, entry, .. } => {
                let (position, label) = (table.free.lowest(), table.label(*at).ok_or(Unplanned::NoLabel)?);
                if described.counted {
                    let mut stages: Vec<u8> = table.looked_up.iter().map(|(stage, _)| *stage).collect();
                    stages.dedup();
                    for stage in stages {
                        let number = self.stages[&stage].free.lowest();
                        if u32::from(number) >= limit(stage) {
                            return Err(Unplanned::More);
                        }
                        plan.numbers.push((stage, (change.table(), position), number));
                    }
                }
                let standing = Standing { entry: entry.clone(), label };
                found.entry(&standing, position, &plan.numbers, true)?;
                plan.step = TableStep::Move { at: *at, position, standing: Some(standing) };
            }
            LogicalChange::Delete { at, .. } => {
                let position = table.order[*at];
                let standing = table.entry(position).ok_or(Unplanned::More)?;
                let counted = |stage: &u8| {
                    let number = self.stages[stage].numbers.get(&(number, position))?;
                    Some((*stage, (change.table(), position), *number))
                };
                plan.numbers = self.stages.keys().filter_map(counted).collect();
                found.entry(standing, position, &[], false)?;
                plan.step = TableStep::Move { at: *at, position, standing: None };
            }
            LogicalChange::Modify { at, call, .. } => {
                let position = table.order[*at];
                let standing = table.entry(position).ok_or(Unplanned::More)?;
                found.entry(standing, position, &[], false)?;
                let mut next = standing.clone();
                next.entry.call = call.clone();
                found.entry(&next, position, &[], true)?;
                plan.step = TableStep::Call { position, call: call.clone() };
            }
            LogicalChange::Default { call, .. } => {
                found.miss(&table.default, false)?;
                found.miss(call, true)?;
                plan.step = TableStep::Default(call.clone());
            }
        }
        for (stage, asked, rows) in found.keys {
            let (key, row) = self.stages[&stage].plan(stage, asked, rows).ok_or(Unplanned::More)?;
            plan.keys.push((stage, key));
            match (row, plan.row) {
                (Some(_), Some(_)) => return Err(Unplanned::More),
                (row, None) => plan.row = row,
                (None, Some(_)) => {}
            }
        }
        Ok(plan)
    }

    /// Carries a plan out, or undoes it.
    pub fn toggle(&mut self, plan: &mut Plan) {
        self.tables[plan.table].toggle(&mut plan.step);
        for (stage, key) in &mut plan.keys {
            if let Some(stage) = self.stages.get_mut(stage) {
                stage.toggle(key);
            }
        }
        for (stage, entry, number) in &plan.numbers {
            let Some(stage) = self.stages.get_mut(stage) else { continue };
            match stage.numbers.remove(entry) {
                Some(_) => stage.free.give_back(*number),
                None => {
                    stage.numbers.insert(*entry, *number);
                    stage.free.take(*number);
                }
            }
        }
    }

    /// Makes places between the entries of a table.
    pub fn label_anew(&mut self, table: u16) {
        let table = &mut self.tables[usize::from(table)];
        let labels = table.label_anew();
        for (number, stage) in &mut self.stages {
            let looked = table.looked_up.iter().filter(|(at, _)| at == number);
            stage.label_anew(&looked.map(|(_, case)| *case).collect::<Vec<_>>(), &labels);
        }
    }
}

/// What an operation finds: all that ask for the bits that its rows ask for, as they will be.
struct Found<'a> {
    live: &'a Live,
    logical: &'a Logical,
    /// The table of the operation, by its position.
    table: u16,
    keys: Vec<(u8, Asked, Rows)>,
}

impl Found<'_> {
    /// Rows of an entry come, or go; a new one has these logical numbers.
    fn entry(&mut self, standing: &Standing, position: u16, new: &[Numbered], comes: bool) -> Result<(), Unplanned> {
        let (described, table) = (&self.logical.tables[usize::from(self.table)], self.table);
        self.rows(standing.label, comes, |lookup, at, stage, looked| {
            let fresh = new.iter().find(|(stage, ..)| *stage == at).map(|(.., number)| *number);
            let number = fresh.or_else(|| stage.numbers.get(&(table, position)).copied()).unwrap_or(stage.nobody);
            lookup.rows_of(described, &standing.entry, EntrySlot { position, number }, looked)
        })
    }

    /// Rows of what no entry matches come, or go.
    fn miss(&mut self, call: &LogicalCall, comes: bool) -> Result<(), Unplanned> {
        self.rows(MISS, comes, |lookup, _, stage, looked| lookup.rows_of_miss(call, stage.nobody, looked))
    }

    fn rows(
        &mut self,
        label: Label,
        comes: bool,
        made: impl Fn(&LogicalLookup, u8, &LiveStage, &mut Looked) -> Option<Vec<LogicalRow>>,
    ) -> Result<(), Unplanned> {
        let mut looked = Looked::of(MOST_LOOKED);
        for &(at, case) in &self.live.tables[usize::from(self.table)].looked_up {
            let stage = &self.live.stages[&at];
            let LogicalCase::Looks(lookup) = &self.logical.cases(at)[usize::from(case)] else { continue };
            let rows = made(lookup, at, stage, &mut looked).ok_or(Unplanned::More)?;
            for (number, row) in rows.iter().enumerate() {
                let (asked, place) = ((row.value, row.mask), (case, label, number as u16));
                let known = self.keys.iter().position(|(stage, other, _)| (*stage, *other) == (at, asked));
                let known = known.unwrap_or_else(|| {
                    self.keys.push((at, asked, stage.keys.get(&asked).cloned().unwrap_or_default()));
                    self.keys.len() - 1
                });
                let all = &mut self.keys[known].2;
                if comes {
                    let leads = EntryLeads { action: row.action, number: row.number, data: row.data };
                    all.add(Candidate { place, leads });
                } else {
                    all.remove(&place);
                }
            }
        }
        Ok(())
    }
}
