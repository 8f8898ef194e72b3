//! Programs into generations, and out of them.

use super::error::RmtError;
use super::placer::{Bank, Holding, Placer, StageHolding, packed};
use super::quota::StageQuota;
use crate::linker::spaces::{Region, Slot};
use crate::rmt::part::RmtData;
use crate::rmt::{RmtExact, RmtGroup, RmtPart, RmtStage, RmtTernary};
use sluice_formats::rmt::rows::{
    ActionRow, DataRow, ExactRow, GroupRow, KeyRow, PageRow, PatternsRow, SelectRow, TernaryRow, ZeroPageRow,
};
use sluice_formats::rmt::target::{MODULE_PAGES, NODES, PATHS, PATTERNS};
use sluice_formats::row::Row;
use sluice_formats::rows::GenerationRow;
use sluice_formats::{Node, Table};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// A row to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowWrite {
    /// Node that holds the table.
    pub node: Node,
    /// Table.
    pub table: Table,
    /// Row.
    pub index: u32,
    /// All words of the row.
    pub words: Vec<u32>,
}

/// Rows of a program in a generation that no packet uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// Pages to zero before any other row is written.
    pub zero: Vec<RowWrite>,
    /// All other rows, in any order.
    pub rows: Vec<RowWrite>,
}

impl Placed {
    /// All rows, in an order that is safe.
    pub fn all(&self) -> impl Iterator<Item = &RowWrite> {
        self.zero.iter().chain(&self.rows)
    }
}

impl RowWrite {
    pub(in crate::linker) fn new(node: Node, table: Table, index: u32, row: &impl Row) -> Self {
        Self { node, table, index, words: packed(row) }
    }

    fn zero(node: Node, table: Table, index: u32) -> Self {
        Self { node, table, index, words: vec![0; table.words()] }
    }
}

/// The rows of one place, collected.
struct Rows {
    module: u8,
    generation: u8,
    writes: Vec<RowWrite>,
    /// Those that `Bank` remembers.
    seen: BTreeSet<(Node, Table, u32)>,
}

impl Rows {
    /// Index of the module's generation in tables that have a row for each.
    fn bank(&self) -> u32 {
        2 * u32::from(self.module) + u32::from(self.generation)
    }

    fn put(&mut self, node: Node, table: Table, index: u32, row: &impl Row) {
        self.seen.insert((node, table, index));
        self.writes.push(RowWrite::new(node, table, index, row));
    }
}

impl Placer {
    /// Puts a program into a module's generation, which is empty and which no packet carries.
    ///
    /// State: a part that keeps it has the pages of the other generation's program, if there is one; otherwise it
    /// has zeroed ones.
    pub fn place(&mut self, module: u8, generation: u8, part: &Arc<RmtPart>) -> Result<Placed, RmtError> {
        let holding = self.holding(module, "load")?;
        let bank = usize::from(generation & 1);
        if holding.banks[bank].is_some() {
            let (found, allowed) = (format!("generation {bank} has a program"), "clear it first".to_owned());
            return Err(RmtError::Module { module, operation: "load", found, allowed });
        }
        if part.system && module != 0 {
            let (found, allowed) = ("a program of the system module".to_owned(), "module 0 for it".to_owned());
            return Err(RmtError::Module { module, operation: "load", found, allowed });
        }
        let object = holding.name.clone();
        part.check(&self.target).map_err(|error| RmtError::Part { object, error })?;
        self.check_given(module, holding, part)?;
        self.check_group_use(holding, part, holding.banks[1 - bank].as_ref())?;
        self.check_shared(module, holding, part)?;
        let object = holding.name.clone();
        let (part, live) = Bank::numbered(&holding.placed(part), holding.banks[1 - bank].as_ref())
            .map_err(|error| RmtError::Part { object, error })?;
        let part = &part;
        let page_set = self.page_set(holding, part, bank)?;

        let mut next = self.clone();
        let holding = holding.clone();
        let mut rows = Rows { module, generation: bank as u8, writes: Vec::new(), seen: BTreeSet::new() };
        let mut zero = Vec::new();
        next.place_ends(&mut rows, part);
        for (&number, stage) in &part.stages {
            let (quota, held) = (&holding.quota.stages[&number], &holding.stages[&number]);
            let fresh = holding.banks[1 - bank].as_ref().is_none_or(|b| b.page_set != page_set);
            if fresh {
                let pages = &held.page_set(quota, page_set)[..usize::from(stage.pages)];
                let write = |&p: &u32| RowWrite::new(Node::Stage(number), Table::ZeroPage, p, &ZeroPageRow::default());
                zero.extend(pages.iter().map(write));
            }
            next.place_stage(&mut rows, number, stage, (quota, held), page_set, &holding.name)?;
        }
        for (&number, group) in &part.groups {
            let there = holding.banks[1 - bank].as_ref().is_some_and(|b| b.part.groups.contains_key(&number));
            if !there {
                let at = holding.names.row_of(number).into();
                rows.writes.push(RowWrite::new(Node::Deparser, Table::Group, at, &group.row(module)));
            }
        }
        let Rows { writes, seen, .. } = rows;
        if let Some(h) = next.holders.get_mut(&module) {
            h.banks[bank] = Some(Bank { part: part.clone(), live, page_set, rows: seen });
            for (number, held) in &mut h.stages {
                held.blank_pages[bank] |= part.stages.get(number).is_some_and(RmtStage::accesses_state);
            }
        }
        *self = next;
        Ok(Placed { zero, rows: writes })
    }

    /// Empties a module's generation, which no packet carries any more.
    pub fn clear(&mut self, module: u8, generation: u8) -> Result<Vec<RowWrite>, RmtError> {
        let holding = self.holding(module, "clear")?.clone();
        let bank = usize::from(generation & 1);
        let Some(gone) = &holding.banks[bank] else { return Ok(Vec::new()) };
        let mut writes: Vec<RowWrite> = gone.rows.iter().map(|&(n, t, i)| RowWrite::zero(n, t, i)).collect();
        // What ran before another quota lies where the module was before.
        let home = holding.before.as_deref().unwrap_or(&holding);
        for (&stage, held) in &home.stages {
            let node = Node::Stage(stage);
            let (sets, all) = (self.target.sets() as u32, self.target.exact as u32);
            let space = &mut self.stages[usize::from(stage)];
            if let Some(region) = held.bank(bank as u8) {
                let slots: Vec<Slot> = space.exact.rows_of(region).map(|(slot, _)| slot).collect();
                for slot in slots {
                    space.exact.set(slot, None);
                    writes.push(RowWrite::zero(node, Table::Exact(slot.way), slot.set));
                    writes.push(RowWrite::zero(node, Table::Data, u32::from(slot.way) * sets + slot.set));
                }
            }
            let rows = held.ternary_rows(&home.quota.stages[&stage], bank as u8);
            let there: Vec<usize> = space.ternary_in(&rows).map(|(row, _)| row as usize).collect();
            for row in there {
                space.ternary.set(row, None);
                writes.push(RowWrite::zero(node, Table::Ternary, row as u32));
                writes.push(RowWrite::zero(node, Table::Data, all + row as u32));
            }
        }
        let other = holding.banks[1 - bank].as_ref();
        for &number in gone.part.groups.keys() {
            if !other.is_some_and(|b| b.part.groups.contains_key(&number)) {
                let row = GroupRow::default();
                let at = holding.names.row_of(number).into();
                writes.push(RowWrite::new(Node::Deparser, Table::Group, at, &row));
            }
        }
        if let Some(h) = self.holders.get_mut(&module) {
            h.banks[bank] = None;
        }
        Ok(writes)
    }

    /// The row that makes a generation the module's current one.
    pub fn commit(&self, module: u8, generation: u8) -> RowWrite {
        let row = GenerationRow { current: generation & 1 == 1, ..GenerationRow::default() };
        let words = row.pack().expect("a bit fits");
        RowWrite { node: Node::Stamp, table: Table::Generation, index: module.into(), words }
    }

    /// Other destinations or tags for a group of the module's, in one write.
    pub fn set_group(&mut self, module: u8, number: u16, group: RmtGroup) -> Result<RowWrite, RmtError> {
        let holding = self.holding(module, "group")?;
        if !holding.quota.groups.contains(&number) {
            let found = format!("group {number} is not its own");
            let allowed = format!("it was given groups {:?}", holding.quota.groups);
            return Err(RmtError::Group { tenant: holding.name.clone(), found, allowed });
        }
        let at = holding.names.row_of(number).into();
        if let Some(h) = self.holders.get_mut(&module) {
            for bank in h.banks.iter_mut().flatten() {
                Arc::make_mut(&mut bank.part).groups.insert(number, group);
            }
        }
        Ok(RowWrite::new(Node::Deparser, Table::Group, at, &group.row(module)))
    }

    /// Zeros wherever the module's packets could look before its first program is there. To page rows only a program
    /// leads, which blanks them itself.
    pub(super) fn blank(&self, module: u8) -> Vec<RowWrite> {
        let mut writes = Vec::new();
        let banks = 2 * u32::from(module)..2 * u32::from(module) + 2;
        for bank in banks {
            writes.push(RowWrite::new(Node::Parser, Table::First, bank, &SelectRow::default()));
            writes.push(RowWrite::new(Node::Deparser, Table::Patterns, bank, &PatternsRow::default()));
            for s in (0..self.target.stages).filter(|&s| module == 0 || !self.target.is_system(s)) {
                writes.push(RowWrite::new(Node::Stage(s as u8), Table::Key, bank, &KeyRow::default()));
            }
        }
        let Some(holding) = self.holders.get(&module) else { return writes };
        for (&stage, held) in &holding.stages {
            let rows = held.ternary..held.ternary + 2 * holding.quota.stages[&stage].ternary;
            writes.extend(blank_entries(stage, held.region, rows));
        }
        writes
    }

    /// Which set of pages the program has.
    fn page_set(&self, holding: &Holding, part: &RmtPart, bank: usize) -> Result<u32, RmtError> {
        let Some(other) = &holding.banks[1 - bank] else { return Ok(0) };
        let pages = |part: &RmtPart, s: u8| part.stages.get(&s).map_or(0, |s| s.pages);
        for &stage in holding.stages.keys() {
            let (asked, running) = (pages(part, stage), pages(&other.part, stage));
            let (found, allowed) = if part.keep_state && asked != running {
                let found = format!("the program has {asked} pages of state to be kept, the running one {running}");
                (found, "as many, or state that begins with zeros".to_owned())
            } else if !part.keep_state
                && asked > 0
                && !holding.quota.stages[&stage].fresh_pages
                && !holding.has_new_pages(stage)
            {
                let found = "state begins with zeros while the running program has its own".to_owned();
                (found, "state that is kept; or a tenant that is given its pages twice".to_owned())
            } else {
                continue;
            };
            return Err(RmtError::State { stage, tenant: holding.name.clone(), found, allowed });
        }
        Ok(if part.keep_state { other.page_set } else { 1 - other.page_set })
    }

    fn place_ends(&self, rows: &mut Rows, part: &RmtPart) {
        let bank = rows.bank();
        rows.put(Node::Parser, Table::First, bank, &part.first);
        for (i, node) in (0..).zip(&part.nodes) {
            rows.put(Node::Parser, Table::Node, NODES as u32 * bank + i, node);
        }
        for (i, path) in (0..).zip(&part.paths) {
            rows.put(Node::Parser, Table::Path, PATHS as u32 * bank + i, path);
        }
        rows.put(Node::Deparser, Table::Patterns, bank, &part.patterns);
        let beats = self.target.window_beats() as u32;
        for (i, row) in (0..).zip(&part.deparse) {
            for (beat, lanes) in (0..).zip(row) {
                let index = beats * (PATTERNS as u32 * bank + i) + beat;
                rows.put(Node::Deparser, Table::Deparse, index, lanes);
            }
        }
    }

    fn place_stage(
        &mut self,
        rows: &mut Rows,
        number: u8,
        stage: &RmtStage,
        (quota, held): (&StageQuota, &StageHolding),
        page_set: u32,
        tenant: &str,
    ) -> Result<(), RmtError> {
        let (node, bank, generation) = (Node::Stage(number), rows.bank(), rows.generation);
        let actions = held.action_rows(quota, generation);
        let action = |position: u16| actions[usize::from(position)] as u16;
        let (set_base, set_bits) = held.key_sets(&self.target, generation);
        let key = KeyRow {
            set_base,
            set_bits,
            hits_base: held.hits_base as u16,
            default_action: if stage.key.default_valid { action(stage.key.default_action) } else { 0 },
            ..stage.key.clone()
        };
        rows.put(node, Table::Key, bank, &key);
        if stage.key.default_valid {
            let index = (self.target.exact + self.target.ternary) as u32 + bank;
            rows.put(node, Table::Data, index, &DataRow { data: stage.default_data });
        }
        for (row, &index) in stage.actions.iter().zip(actions) {
            rows.put(node, Table::Action, index, &ActionRow { owner: rows.module, ..row.clone() });
        }
        let pages = &held.page_set(quota, page_set)[..usize::from(stage.pages)];
        for (i, &page) in (0..).zip(pages) {
            let row = PageRow { valid: true, page: page as u8 };
            rows.put(node, Table::Page, MODULE_PAGES as u32 * bank + i, &row);
        }
        // Accesses behind the module's pages find rows that are not valid, whoever had them before.
        if stage.accesses_state() && !held.blank_pages[usize::from(generation)] {
            let behind = u32::from(stage.pages)..MODULE_PAGES as u32;
            let blank = |i| RowWrite::new(node, Table::Page, MODULE_PAGES as u32 * bank + i, &PageRow::default());
            rows.writes.extend(behind.map(blank));
        }
        for entry in &stage.exact {
            let row = ExactRow {
                generations: 1 << generation,
                module_id: rows.module,
                action: action(entry.row.action),
                ..entry.row.clone()
            };
            self.place_exact(number, held, generation, RmtExact { row, data: entry.data }, tenant)?;
        }
        let space = &mut self.stages[usize::from(number)];
        for (index, entry) in held.ternary_rows(quota, generation).zip(&stage.ternary) {
            let row = TernaryRow {
                generations: 1 << generation,
                module_id: rows.module,
                action: action(entry.row.action),
                ..entry.row.clone()
            };
            space.ternary.set(index as usize, Some(RmtTernary { row, data: entry.data }));
        }
        self.entry_rows(rows, number, (quota, held));
        Ok(())
    }

    /// Finds room for an entry. Others move freely: none is written yet.
    fn place_exact(
        &mut self,
        number: u8,
        held: &StageHolding,
        generation: u8,
        entry: RmtExact,
        tenant: &str,
    ) -> Result<(), RmtError> {
        let space = &mut self.stages[usize::from(number)];
        // Entries of a program within its quota have a region.
        let Some(region) = held.bank(generation) else { return Ok(()) };
        let Some(path) = space.exact.path_to_room(region, &entry.row.key) else {
            let slots = region.slots(&entry.row.key);
            return Err(RmtError::NoPlace {
                stage: number,
                tenant: tenant.to_owned(),
                key: entry.row.key,
                set0: slots[0].set,
                set1: slots[2].set,
                used: space.exact.rows_of(region).count() as u32,
                rows: region.rows(),
            });
        };
        space.exact.make_room(&path);
        space.exact.set(path[0], Some(entry));
        Ok(())
    }

    /// The generation's entries and their data as they lie now.
    fn entry_rows(&self, rows: &mut Rows, number: u8, (quota, held): (&StageQuota, &StageHolding)) {
        let space = &self.stages[usize::from(number)];
        let region = held.bank(rows.generation);
        for (slot, entry) in region.into_iter().flat_map(|r| space.exact.rows_of(r)) {
            rows.writes.extend(self.exact_writes(number, slot, entry));
        }
        for (index, entry) in space.ternary_in(&held.ternary_rows(quota, rows.generation)) {
            rows.writes.extend(self.ternary_writes(number, index, entry));
        }
    }

    /// Data, then the entry that leads to it.
    pub(super) fn exact_writes(&self, stage: u8, slot: Slot, entry: &RmtExact) -> [RowWrite; 2] {
        let data = u32::from(slot.way) * self.target.sets() as u32 + slot.set;
        let row = RowWrite::new(Node::Stage(stage), Table::Exact(slot.way), slot.set, &entry.row);
        [data_write(stage, data, entry.data), row]
    }

    pub(super) fn ternary_writes(&self, stage: u8, index: u32, entry: &RmtTernary) -> [RowWrite; 2] {
        let data = self.target.exact as u32 + index;
        let row = RowWrite::new(Node::Stage(stage), Table::Ternary, index, &entry.row);
        [data_write(stage, data, entry.data), row]
    }
}

/// Zeros in these rows for entries of a stage.
pub(super) fn blank_entries(stage: u8, region: Option<Region>, ternary: Range<u32>) -> impl Iterator<Item = RowWrite> {
    let node = Node::Stage(stage);
    let sets = region.map_or(0..0, |region| region.base..region.base + region.sets());
    let exact = (0..4).flat_map(move |way| sets.clone().map(move |set| (Table::Exact(way), set)));
    let exact = exact.map(move |(table, set)| RowWrite::new(node, table, set, &ExactRow::default()));
    exact.chain(ternary.map(move |row| RowWrite::new(node, Table::Ternary, row, &TernaryRow::default())))
}

fn data_write(stage: u8, index: u32, data: RmtData) -> RowWrite {
    RowWrite::new(Node::Stage(stage), Table::Data, index, &DataRow { data })
}
