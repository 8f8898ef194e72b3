//! Operations on entries of P4 tables, each in its row, against tables that are looked at one entry after the other.

use crate::common::met::{Key, Met, asks, by_entries};
use crate::common::rmt;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::rmt::rows::{ActionRow, ExactRow, KeyRow, TernaryRow};
use sluice_formats::row::{Row, Wide};
use sluice_formats::target::DEFAULT;
use sluice_formats::{Node, Table};
use sluice_object::linker::rmt::{Quota, StageQuota};
use sluice_object::rmt::logical::{LogicalCall, LogicalCase, LogicalChange, LogicalEntry, LogicalMatch, LogicalMove};
use sluice_object::rmt::{Logical, LogicalTable, LogicalValue};
use sluice_object::{Linker, Load, Object, RmtPart, Step, TargetNeed, TenantSpec};
use std::collections::{BTreeMap, BTreeSet};

/// Tenants, each with its rows in stage 1.
const TENANTS: u16 = 4;
const GIVEN: StageQuota = StageQuota { exact: 48, ternary: 8, actions: 2, pages: 2, fresh_pages: false, numbers: 64 };

/// Rows of a device that are not zero.
struct Device {
    rows: BTreeMap<(Node, Table, u32), Vec<u32>>,
    generations: [u8; 64],
}

/// What a packet meets on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OnDevice {
    action: u16,
    data: [u8; 16],
    position: u16,
    number: u16,
}

impl Device {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Write { node, table, index, words } => {
                let at = (*node, *table, *index);
                match words.iter().all(|word| *word == 0) {
                    true => drop(self.rows.remove(&at)),
                    false => drop(self.rows.insert(at, words.clone())),
                }
            }
            Step::Commit { module, generation } => self.generations[usize::from(*module)] = *generation,
            _ => {}
        }
    }

    fn row<R: Row + Default>(&self, stage: u8, table: Table, index: u32) -> R {
        let words = self.rows.get(&(Node::Stage(stage), table, index));
        words.map_or_else(R::default, |words| R::unpack(words).unwrap())
    }

    fn meets(&self, linker: &Linker, module: u8, part: &RmtPart, key: &Key) -> Option<OnDevice> {
        let generation = self.generations[usize::from(module)];
        let stage = linker.placer().stages_of(module)[&1];
        let key_row: KeyRow = self.row(stage, Table::Key, 2 * u32::from(module) + u32::from(generation));
        let masked = Wide(std::array::from_fn(|i| key[i] & key_row.mask.0[i]));
        let region = linker.placer().region(module, 1).unwrap().half(generation);
        let exact = region.slots(&masked).into_iter().find_map(|slot| {
            let row: ExactRow = self.row(stage, Table::Exact(slot.way), slot.set);
            let own = (row.module_id, row.generations, row.key) == (module, 1 << generation, masked);
            own.then_some((row.action, row.number, u32::from(slot.way) * DEFAULT.rmt.sets() as u32 + slot.set))
        });
        let ternary = || {
            (0..DEFAULT.rmt.ternary as u32).find_map(|at| {
                let row: TernaryRow = self.row(stage, Table::Ternary, at);
                let own = row.generations == 1 << generation && row.module_id == module;
                (own && asks(&row.value, &row.mask, &masked.0)).then_some((row.action, row.number, 1024 + at))
            })
        };
        let (action, number, at) = exact.or_else(ternary)?;
        let row: ActionRow = self.row(stage, Table::Action, action.into());
        let is = |other: &ActionRow| ActionRow { owner: module, ..other.clone() } == row;
        let action = part.stages[&1].actions.iter().position(is).expect("an action of the program") as u16;
        let mut data = self
            .rows
            .get(&(Node::Stage(stage), Table::Data, at))
            .map_or([0; 16], |words| std::array::from_fn(|i| (words[i / 4] >> (8 * (i % 4))) as u8));
        let position = u16::from_be_bytes([data[14], data[15]]);
        (data[14], data[15]) = (0, 0);
        Some(OnDevice { action, data, position, number })
    }

    /// Whether each row of action data has an entry that leads to it, or is the default's; and how many entries each generation of a module has.
    fn entries(&self) -> BTreeMap<(u8, u8), usize> {
        let sets = DEFAULT.rmt.sets() as u32;
        let mut led = BTreeSet::new();
        let mut counts = BTreeMap::new();
        for ((node, table, index), words) in &self.rows {
            let (owner, at) = match (table.exact(), *table) {
                (Some(way), _) => {
                    let row = ExactRow::unpack(words).unwrap();
                    ((row.module_id, row.generations >> 1), u32::from(way) * sets + index)
                }
                (None, Table::Ternary) => {
                    let row = TernaryRow::unpack(words).unwrap();
                    ((row.module_id, row.generations >> 1), 1024 + index)
                }
                _ => continue,
            };
            *counts.entry(owner).or_default() += 1;
            led.insert((*node, at));
        }
        let data = self.rows.keys().filter(|(_, table, index)| *table == Table::Data && *index < 1024 + 64);
        for (node, _, index) in data {
            assert!(led.contains(&(*node, *index)), "row {index} of data at {node:?} is left behind");
        }
        counts
    }
}

/// A tenant's tables, with a name for each entry as long as it lives, and what was seen of it.
struct Has {
    logical: Logical,
    names: Vec<Vec<u64>>,
    seen: BTreeMap<u64, (u16, u16)>,
    nobody: Option<u16>,
}

impl Has {
    fn new(logical: Logical, name: &mut u64) -> Self {
        let fresh = |count: usize, name: &mut u64| (0..count).map(|_| next(name)).collect();
        let names = logical.tables.iter().map(|table| fresh(table.entries.len(), name)).collect();
        Self { logical, names, seen: BTreeMap::new(), nobody: None }
    }

    /// The operation on plain lists.
    fn apply(&mut self, change: &LogicalChange, name: &mut u64) {
        let table = usize::from(change.table());
        let (entries, names) = (&mut self.logical.tables[table].entries, &mut self.names[table]);
        match change {
            LogicalChange::Insert { at, entry, .. } => {
                entries.insert(*at, entry.clone());
                names.insert(*at, next(name));
            }
            LogicalChange::Modify { at, call, .. } => entries[*at].call = call.clone(),
            LogicalChange::Delete { at, .. } => {
                entries.remove(*at);
                self.seen.remove(&names.remove(*at));
            }
            LogicalChange::Default { call, .. } => self.logical.tables[table].default = call.clone(),
        }
    }
}

fn next(name: &mut u64) -> u64 {
    *name += 1;
    *name
}

/// Tables whose entries say their positions in the data.
fn tables(rng: &mut Rng) -> Logical {
    loop {
        let mut logical = rmt::logical_with_hash(rng);
        for case in logical.stages.values_mut().flatten() {
            let LogicalCase::Looks(lookup) = case else { continue };
            for outcome in lookup.outcomes.iter_mut().filter(|outcome| outcome.hit) {
                let parameter = u16::from(outcome.action == 0);
                let to = LogicalMove { parameter, low: 0, bits: 16, byte: 15, bit: 0 };
                outcome.leads.iter_mut().for_each(|leads| leads.moves.push(to));
            }
        }
        let alike = |table: &LogicalTable| {
            let all: BTreeSet<String> = table.entries.iter().map(|entry| format!("{:?}", entry.matches)).collect();
            all.len() < table.entries.len()
        };
        let is_looked_up = |case: &LogicalCase| matches!(case, LogicalCase::Looks(_));
        let some = logical.tables.iter().any(|table| !table.keys.is_empty());
        if some && logical.stages[&1].iter().any(is_looked_up) && !logical.tables.iter().any(alike) {
            return logical;
        }
    }
}

fn object(logical: Logical) -> Option<Object> {
    let mut part = rmt::part();
    part.shared.clear();
    part.deparse.iter_mut().for_each(|beats| beats.truncate(2));
    part.stages.get_mut(&1).unwrap().key.default_valid = false;
    let mut object = rmt::object(part.with_tables(logical).ok()?);
    object.target = TargetNeed::exact(&DEFAULT);
    object.demands.queues.clear();
    object.check().ok().map(|()| object)
}

fn call(rng: &mut Rng) -> LogicalCall {
    match rng.chance(1, 2) {
        true => LogicalCall { action: 0, values: vec![LogicalValue::of(rng.below(512).into())] },
        false => LogicalCall { action: 1, values: vec![] },
    }
}

/// An operation that can be done with the tables, and leaves each entry of a table with keys of its own.
fn operation(rng: &mut Rng, logical: &Logical) -> LogicalChange {
    loop {
        let table = rng.below(logical.tables.len() as u64) as u16;
        let of = &logical.tables[usize::from(table)];
        let at = rng.below(of.entries.len() as u64 + 1) as usize;
        let is_there = at < of.entries.len();
        return match rng.below(20) {
            0 => LogicalChange::Default { table, call: call(rng) },
            1..6 if is_there => LogicalChange::Modify { table, at, call: call(rng) },
            6..12 if is_there => LogicalChange::Delete { table, at },
            _ if !of.keys.is_empty() => {
                let matches: Vec<LogicalMatch> = of.keys.iter().map(|key| rmt::asked(rng, key)).collect();
                if of.entries.iter().any(|entry| entry.matches == matches) {
                    continue;
                }
                LogicalChange::Insert { table, at, entry: LogicalEntry { matches, call: call(rng) } }
            }
            _ => continue,
        };
    }
}

/// A key that is likely to be met by an entry.
fn key(rng: &mut Rng, logical: &Logical) -> Key {
    let mut key: Key = std::array::from_fn(|_| rng.below(256) as u8);
    key[0] = rng.below(4) as u8;
    let LogicalCase::Looks(lookup) = rng.choose(&logical.stages[&1]).unwrap() else { return key };
    key[0] = lookup.value.0[0];
    let Some(entry) = rng.choose(&logical.tables[usize::from(lookup.table)].entries) else { return key };
    for (asked, pieces) in entry.matches.iter().zip(&lookup.keys) {
        let (value, mask) = match asked {
            LogicalMatch::Masked { value, mask } => (*value, *mask),
            LogicalMatch::Range { low, .. } => (*low, LogicalValue::ones(200)),
        };
        for piece in pieces {
            let Some(first) = piece.at else { continue };
            for i in (0..u32::from(piece.bits)).filter(|i| mask.bit(u32::from(piece.low) + i)) {
                let at = u32::from(first) + i;
                let bit = 1 << (at % 8);
                key[(at / 8) as usize] &= !bit;
                key[(at / 8) as usize] |= if value.bit(u32::from(piece.low) + i) { bit } else { 0 };
            }
        }
    }
    key
}

struct Bench {
    linker: Linker,
    device: Device,
    has: BTreeMap<u16, Has>,
    name: u64,
    /// Operations in one row or none, those in a new generation, and those that were refused.
    done: [usize; 3],
}

impl Bench {
    fn run(&mut self, load: &Load) {
        load.steps.iter().for_each(|step| self.device.step(step));
    }

    fn part(&self) -> RmtPart {
        rmt::part()
    }

    fn meets(&self, id: u16, key: &Key) -> Option<OnDevice> {
        let module = self.linker.tenant(id).unwrap().module;
        self.device.meets(&self.linker, module, &self.part(), key)
    }

    /// Packets meet what the tables say, entries keep their numbers, and what is not needed is zero.
    fn check(&mut self, id: u16, rng: &mut Rng) {
        let module = self.linker.tenant(id).unwrap().module;
        for _ in 0..10 {
            let key = key(rng, &self.has[&id].logical);
            let (found, wanted) = (self.meets(id, &key), by_entries(&self.has[&id].logical, &key));
            assert_eq!(
                found.map(|found| (found.action, found.data)),
                wanted.map(|met| (met.action, met.data)),
                "key {key:02x?} of tenant {id}: {:#?}",
                self.has[&id].logical
            );
            let (Some(found), Some(Met { entry, .. })) = (found, wanted) else { continue };
            let has = self.has.get_mut(&id).unwrap();
            let Some((table, at)) = entry else {
                assert_eq!(
                    *has.nobody.get_or_insert(found.number),
                    found.number,
                    "rows that nobody counts have one number"
                );
                continue;
            };
            let now = (found.position, found.number);
            let name = has.names[table][at];
            assert_eq!(*has.seen.entry(name).or_insert(now), now, "an entry keeps its position and its number");
            let counted = has.logical.tables[table].counted;
            for (other_table, names) in has.names.iter().enumerate() {
                for other in names.iter().filter(|other| **other != name) {
                    let Some((position, number)) = has.seen.get(other) else { continue };
                    assert!(table != other_table || *position != now.0, "two entries have one position");
                    let both = counted && has.logical.tables[other_table].counted;
                    assert!(!both || *number != now.1, "two entries have one number");
                }
            }
            assert!(!counted || has.nobody.is_none_or(|nobody| nobody != now.1), "an entry has nobody's number");
        }
        let rows = self.has[&id].logical.rows(1).unwrap();
        let counts = self.device.entries();
        let generation = self.device.generations[usize::from(module)];
        let there = |generation: u8| counts.get(&(module, generation)).copied().unwrap_or(0);
        assert_eq!((there(generation), there(1 - generation)), (rows.exact.len() + rows.ternary.len(), 0));
        assert_eq!(self.linker.rmt_entries(id, 1).unwrap().len(), there(generation));
    }

    /// The same names and what was seen of those that stay.
    fn adopt(&mut self, id: u16, has: Has) {
        self.has.insert(id, has);
    }

    /// Some operations, one after the other.
    fn change(&mut self, id: u16, rng: &mut Rng) {
        let before = &self.has[&id];
        let mut after = Has {
            logical: before.logical.clone(),
            names: before.names.clone(),
            seen: before.seen.clone(),
            nobody: before.nobody,
        };
        let count = if rng.chance(1, 8) { rng.range(2, 5) } else { 1 };
        let mut changes = Vec::new();
        for _ in 0..count {
            let change = operation(rng, &after.logical);
            after.apply(&change, &mut self.name);
            changes.push(change);
        }
        // One that cannot be takes all of them back.
        if rng.chance(1, 20) {
            let mut with = changes.clone();
            with.push(LogicalChange::Delete { table: 0, at: 1000 });
            assert!(!matches!(self.linker.change_entries(id, &with), Ok(Some(_))));
            self.check(id, rng);
        }
        match self.linker.change_entries(id, &changes).unwrap() {
            Some(load) => {
                self.done[0] += changes.len();
                let keys: Vec<Key> = (0..8).map(|_| key(rng, &after.logical)).collect();
                let met = |bench: &Self| keys.iter().map(|key| bench.meets(id, key)).collect::<Vec<_>>();
                let mut all = vec![met(self)];
                for step in &load.steps {
                    assert!(matches!(step, Step::Write { .. } | Step::Barrier), "{step:?}");
                    self.device.step(step);
                    all.push(met(self));
                }
                // After every write of one operation packets meet the old or the new entry.
                if changes.len() == 1 {
                    let (first, last) = (&all[0], &all[all.len() - 1]);
                    for met in &all {
                        met.iter().zip(first.iter().zip(last)).for_each(|(met, (old, new))| {
                            assert!(met == old || met == new, "{met:?} between {old:?} and {new:?}: {changes:?}");
                        });
                    }
                }
                self.adopt(id, after);
            }
            None => {
                let object = object(after.logical.clone());
                match object.map(|object| self.linker.replace(id, &object)) {
                    Some(Ok(load)) => {
                        self.done[1] += 1;
                        self.run(&load);
                        self.adopt(id, after);
                    }
                    _ => self.done[2] += 1,
                }
            }
        }
    }
}

#[test]
fn random_operations_of_tenants_are_met_as_tables_say_and_leave_nothing_behind() {
    let mut rng = Rng::new(test_seed("object_entries"));
    let mut bench = Bench {
        linker: Linker::new(&DEFAULT),
        device: Device { rows: BTreeMap::new(), generations: [0; 64] },
        has: BTreeMap::new(),
        name: 0,
        done: [0; 3],
    };
    for id in 1..=TENANTS {
        let mut spec = TenantSpec::new(id, format!("t{id}"));
        let growth = rmt::part().growth();
        spec.rmt = Some(Quota { stages: [(1, GIVEN)].into(), groups: [3].into(), growth, ..Quota::default() });
        let load = bench.linker.admit(spec).unwrap();
        bench.run(&load);
    }
    let mut programs = 0;
    while bench.done[0] + bench.done[1] < 10_000 {
        let id = rng.range(1, TENANTS.into()) as u16;
        if !bench.has.contains_key(&id) || rng.chance(1, 100) {
            let logical = tables(&mut rng);
            let Some(object) = object(logical.clone()) else { continue };
            let is_there = bench.has.contains_key(&id);
            let load = if is_there { bench.linker.replace(id, &object) } else { bench.linker.load(id, &object) };
            let Ok(load) = load else { continue };
            bench.run(&load);
            let has = Has::new(logical, &mut bench.name);
            bench.adopt(id, has);
            programs += 1;
        } else {
            bench.change(id, &mut rng);
        }
        bench.check(id, &mut rng);
        if rng.chance(1, 50) {
            bench.has.keys().copied().collect::<Vec<_>>().into_iter().for_each(|id| bench.check(id, &mut rng));
        }
    }
    let [rows, generations, refused] = bench.done;
    println!("{programs} programs, operations: {rows} in a row, {generations} in a new generation, {refused} refused");
    assert!(rows > 5_000 && generations > 500, "{rows} {generations} {refused}");
}
