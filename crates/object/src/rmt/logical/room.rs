//! Rows that are kept free for entries to come: `size` of a table is a wish, and what of it is reserved depends on what its stages have.

use super::encode::{Asked, agree, join};
use super::slots::Slots;
use super::{Logical, LogicalCase, LogicalKind, LogicalLookup, LogicalOutcome, LogicalPiece, LogicalValue};
use crate::error::ObjectError;
use crate::rmt::part::RmtKey;
use std::collections::BTreeMap;

/// Rows of a stage by kind, and logical numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogicalRoom {
    /// Exact ones.
    pub exact: usize,
    /// Ternary ones.
    pub ternary: usize,
    /// Numbers of entries that are counted.
    pub numbers: usize,
}

impl LogicalRoom {
    fn kinds(&self) -> [usize; 3] {
        [self.exact, self.ternary, self.numbers]
    }

    fn add(&mut self, other: &Self, times: usize) {
        self.exact += other.exact * times;
        self.ternary += other.ternary * times;
        self.numbers += other.numbers * times;
    }
}

/// What each stage has.
pub type Rooms<'a> = &'a dyn Fn(u8) -> LogicalRoom;

/// Entries of a table that says no size, as in P4Info.
pub const USUAL_SIZE: u32 = 1024;

/// What one more entry takes at most, by table and stage.
type Costs = BTreeMap<usize, BTreeMap<u8, LogicalRoom>>;

/// What tables take of each stage with more entries than they have.
#[derive(Clone, Debug)]
pub struct Growth {
    /// Rows that there are; and rows as they lie once more entries can come.
    stages: BTreeMap<u8, (LogicalRoom, LogicalRoom)>,
    costs: Costs,
}

impl Growth {
    /// Rows of each stage with so many more entries of each table.
    pub fn rooms(&self, more: &dyn Fn(usize) -> usize) -> BTreeMap<u8, LogicalRoom> {
        let room = |(stage, (there, present)): (&u8, &(LogicalRoom, LogicalRoom))| {
            let more = self.costs.iter().filter_map(|(table, stages)| Some((stages.get(stage)?, more(*table))));
            let mut more = more.filter(|(_, free)| *free > 0).peekable();
            if more.peek().is_none() {
                return (*stage, *there);
            }
            let mut with = *present;
            more.for_each(|(cost, free)| with.add(cost, free));
            with.exact = with.exact.max(there.exact);
            with.ternary = with.ternary.max(there.ternary);
            (*stage, with)
        };
        self.stages.iter().map(room).collect()
    }
}

impl Logical {
    /// Reserves entries of the tables that may get more, but for those for which it is said already (`reserved`): all of their size if it is within
    /// what each stage has, otherwise as much of it as of the other tables' there. Entries that are there already have their rows in any event, and what they push out of the exact rows is within
    /// what there is in all.
    pub fn reserve(&mut self, share: &LogicalRoom, all: &LogicalRoom) -> Result<(), ObjectError> {
        self.reserve_in(&|_| *share, &|_| *all)
    }

    /// The same where stages have each their own.
    pub fn reserve_in(&mut self, share: Rooms<'_>, all: Rooms<'_>) -> Result<(), ObjectError> {
        let costs = self.costs();
        let (mut used, mut said) = (BTreeMap::new(), BTreeMap::new());
        for stage in self.stages.keys() {
            used.insert(*stage, self.present(*stage)?);
            let free =
                |(table, stages): (&usize, &BTreeMap<u8, LogicalRoom>)| Some((*stages.get(stage)?, self.free(*table)));
            let mut room = LogicalRoom::default();
            costs.iter().filter_map(free).for_each(|(cost, free)| room.add(&cost, free));
            said.insert(*stage, room);
        }
        let wish = |table: usize| match self.tables[table].size {
            0 => USUAL_SIZE as usize,
            size => size as usize,
        };
        let unsaid = costs.keys().filter(|table| self.tables[**table].reserved.is_none());
        let mut extra: BTreeMap<usize, usize> = unsaid.map(|table| (*table, 0)).collect();
        let mut growing: Vec<usize> = extra.keys().copied().collect();
        loop {
            growing.retain(|table| {
                let wants = self.tables[*table].entries.len() + extra[table] < wish(*table);
                wants
                    && costs[table].iter().all(|(stage, cost)| {
                        let mut with = used[stage];
                        with.add(cost, 1);
                        // What is said is beside a tenant's part, and within what there is in all.
                        let [share, all, said] = [share(*stage), all(*stage), said[stage]].map(|room| room.kinds());
                        let is_within = |at: usize, with: usize| {
                            with + said[at] <= all[at] && (cost.kinds()[at] == 0 || with <= share[at])
                        };
                        with.kinds().iter().enumerate().all(|(at, with)| is_within(at, *with))
                    })
            });
            // The one that has the smallest part of its wish.
            let least = growing.iter().copied().min_by(|a, b| {
                (extra[a] as u128 * wish(*b) as u128).cmp(&(extra[b] as u128 * wish(*a) as u128)).then(a.cmp(b))
            });
            let Some(table) = least else { break };
            *extra.entry(table).or_default() += 1;
            for (stage, cost) in &costs[&table] {
                used.entry(*stage).or_default().add(cost, 1);
            }
        }
        for (table, more) in extra {
            let table = &mut self.tables[table];
            table.reserved = Some((table.entries.len() + more) as u32);
        }
        Ok(())
    }

    /// Why a table has no more entries reserved than it has: what one more takes in the stage that has no room for it.
    pub fn short(&self, table: usize, share: Rooms<'_>) -> Option<String> {
        let costs = self.costs();
        let counted = self.tables[table].entries.len() + self.free(table);
        for (stage, cost) in costs.get(&table)? {
            let mut used = self.present(*stage).ok()?;
            for (other, stages) in &costs {
                stages.get(stage).into_iter().for_each(|cost| used.add(cost, self.free(*other)));
            }
            let (cost, used, rooms) = (cost.kinds(), used.kinds(), share(*stage).kinds());
            // Ternary rows are the fewest.
            for (at, kind) in [(1, "ternary rows"), (0, "exact rows"), (2, "logical numbers")] {
                let (cost, used, room) = (cost[at], used[at], rooms[at]);
                if cost > 0 && used + cost > room {
                    let each = self.each(table, *stage, kind, cost);
                    return Some(format!(
                        "an entry takes {each}; stage {stage} has {room} {kind} for this program, {used} taken with these {counted} entries"
                    ));
                }
            }
        }
        None
    }

    /// What an entry takes in a stage, and by what that is more than one row.
    fn each(&self, table: usize, stage: u8, kind: &str, cost: usize) -> String {
        let lookups = self.stages[&stage].iter().filter_map(lookup_of);
        let lookups = lookups.filter(|lookup| usize::from(lookup.table) == table && !self.is_met_once(lookup));
        let (ways, leads) = lookups.fold((0, 0), |(ways, leads), lookup| {
            let most = self.outcomes(lookup).map(|outcome| outcome.leads.len()).max().unwrap_or(0);
            (ways + 1, leads.max(most))
        });
        let exact = self.tables[table].keys.iter().all(|key| key.kind == LogicalKind::Exact);
        let mut why = Vec::new();
        if ways > 1 && cost > 1 {
            why.push(format!("one for each of {ways} ways on which packets come to the table, as paths of the parser or conditions before it"));
        }
        if leads > 1 {
            why.push(format!("{leads} each for what is decided in the stage with the entry found"));
        }
        if exact && kind == "ternary rows" {
            why.push("ternary for an exact key, as the stage looks at more than that key".to_owned());
        }
        let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
        let kind = if cost == 1 { kind.trim_end_matches('s') } else { kind };
        format!("{cost} {kind}{why}")
    }

    /// Rows of each stage that its entries take, with those that are reserved for more.
    pub fn rooms(&self) -> Result<BTreeMap<u8, LogicalRoom>, ObjectError> {
        Ok(self.growth()?.rooms(&|table| self.free(table)))
    }

    /// What its tables take with more entries than they have.
    pub fn growth(&self) -> Result<Growth, ObjectError> {
        let mut stages = BTreeMap::new();
        for stage in self.stages.keys() {
            let rows = self.rows(*stage)?;
            let there = LogicalRoom { exact: rows.exact.len(), ternary: rows.ternary.len(), numbers: 0 };
            stages.insert(*stage, (there, self.present(*stage)?));
        }
        Ok(Growth { stages, costs: self.costs() })
    }

    /// Entries of a table that are reserved and not there yet.
    fn free(&self, table: usize) -> usize {
        let table = &self.tables[table];
        (table.reserved.unwrap_or(0) as usize).saturating_sub(table.entries.len())
    }

    /// Rows that are there, as they lie once entries ask for all bits that any can ask for; those that an entry to come may push out of the
    /// exact ones have room in both.
    fn present(&self, stage: u8) -> Result<LogicalRoom, ObjectError> {
        let cases = &self.stages[&stage];
        let whole = LogicalCase::whole(cases);
        let mut room = LogicalRoom::default();
        for (at, row) in self.rows_of_cases(stage, &Slots::of(self))?.0 {
            let is_whole = row.mask == whole;
            let own = lookup_of(&cases[at]).filter(|lookup| !self.is_exact(lookup, &whole));
            let own = own.map(|lookup| (lookup.value, lookup.mask));
            let is_pushed = before(&cases[..at], &whole).chain(own).any(|other| agree(&(row.value, row.mask), &other));
            room.exact += usize::from(is_whole);
            room.ternary += usize::from(!is_whole || is_pushed);
            room.numbers = room.numbers.max(usize::from(row.number) + 1);
        }
        for (at, lookup) in cases.iter().enumerate().filter_map(|(at, case)| Some((at, lookup_of(case)?))) {
            if !self.tables[usize::from(lookup.table)].constant && self.is_met_once(lookup) {
                let is_taken = before(&cases[..at], &whole).any(|other| agree(&(lookup.value, lookup.mask), &other));
                self.cost(lookup, (&whole, is_taken), &mut room);
            }
        }
        Ok(room)
    }

    /// What one more entry of each table takes that may get some.
    fn costs(&self) -> Costs {
        let mut costs = Costs::new();
        for (stage, cases) in &self.stages {
            let whole = LogicalCase::whole(cases);
            for (at, lookup) in cases.iter().enumerate().filter_map(|(at, case)| Some((at, lookup_of(case)?))) {
                let guard = (lookup.value, lookup.mask);
                let is_taken = before(&cases[..at], &whole).any(|other| agree(&guard, &other));
                if !self.is_met_once(lookup) {
                    let of_table = costs.entry(usize::from(lookup.table)).or_default();
                    self.cost(lookup, (&whole, is_taken), of_table.entry(*stage).or_default());
                }
            }
        }
        costs.retain(|table, stages| {
            let table = &self.tables[*table];
            stages.retain(|_, cost| *cost != LogicalRoom::default());
            // Counted once in a stage, however often it is looked up there.
            stages.values_mut().for_each(|cost| cost.numbers = usize::from(table.counted));
            !table.constant && !table.keys.is_empty() && !stages.is_empty()
        });
        costs
    }

    /// Rows of an entry with the action that takes most of them; of lookups with other known bits of a key all count, though an entry is in
    /// one of them. An entry that may lie among the exact ones or not has room in both.
    fn cost(&self, lookup: &LogicalLookup, (whole, is_taken): (&RmtKey, bool), into: &mut LogicalRoom) {
        let rows = self.outcomes(lookup).map(|outcome| outcome.leads.len()).max().unwrap_or(0);
        if self.is_whole(lookup, whole) {
            into.exact += rows;
        }
        if is_taken || !self.is_exact(lookup, whole) {
            into.ternary += rows;
        }
    }

    /// Whether only one entry can have a row here: all of an exact key is known, as where a packet has not the header.
    fn is_met_once(&self, lookup: &LogicalLookup) -> bool {
        let keys = &self.tables[usize::from(lookup.table)].keys;
        let is_known = lookup.keys.iter().flatten().all(|piece| piece.at.is_none());
        is_known && keys.iter().all(|key| key.kind == LogicalKind::Exact)
    }

    /// What an entry may lead to.
    fn outcomes<'a>(&'a self, lookup: &'a LogicalLookup) -> impl Iterator<Item = &'a LogicalOutcome> + Clone {
        let actions = &self.tables[usize::from(lookup.table)].actions;
        lookup.outcomes.iter().filter(|outcome| outcome.hit && !actions[usize::from(outcome.action)].default_only)
    }

    /// Whether an entry that asks for all bits of its keys asks for the whole key.
    fn is_whole(&self, lookup: &LogicalLookup, whole: &RmtKey) -> bool {
        let key = lookup.keys.iter().flatten().fold(lookup.mask, with_piece);
        self.outcomes(lookup).flat_map(|outcome| &outcome.leads).all(|leads| join(&key, &leads.mask) == *whole)
    }

    /// Whether every entry does.
    fn is_exact(&self, lookup: &LogicalLookup, whole: &RmtKey) -> bool {
        let keys = &self.tables[usize::from(lookup.table)].keys;
        keys.iter().all(|key| key.kind == LogicalKind::Exact) && self.is_whole(lookup, whole)
    }
}

impl LogicalCase {
    /// Bits of a stage's key that any row of these cases can ask for, also of entries to come, or that are hashed.
    pub fn whole(cases: &[Self]) -> RmtKey {
        cases.iter().map(Self::asked).fold(RmtKey::default(), |all, one| join(&all, &one))
    }

    /// Bits that it asks for, with an entry of all ones in its masks.
    fn asked(&self) -> RmtKey {
        match self {
            Self::Leads(leads) => leads.mask,
            Self::Hashes(bits) => bits.0,
            Self::Looks(lookup) => {
                let outcomes = lookup.outcomes.iter().flat_map(|outcome| &outcome.leads);
                let asked = outcomes.fold(lookup.mask, |all, leads| join(&all, &leads.mask));
                lookup.keys.iter().flatten().fold(asked, with_piece)
            }
        }
    }
}

fn lookup_of(case: &LogicalCase) -> Option<&LogicalLookup> {
    match case {
        LogicalCase::Looks(lookup) => Some(lookup),
        LogicalCase::Leads(_) | LogicalCase::Hashes(_) => None,
    }
}

/// Ternary rows that some cases may have, as far as their guards say which packets they take.
fn before<'a>(cases: &'a [LogicalCase], whole: &'a RmtKey) -> impl Iterator<Item = Asked> + 'a {
    cases.iter().filter_map(move |case| match case {
        LogicalCase::Leads(leads) => Some((leads.value, leads.mask)).filter(|(_, mask)| mask != whole),
        LogicalCase::Looks(lookup) => Some((lookup.value, lookup.mask)),
        LogicalCase::Hashes(_) => None,
    })
}

fn with_piece(key: RmtKey, piece: &LogicalPiece) -> RmtKey {
    let bits = piece.at.map(u32::from).into_iter().flat_map(|at| at..at + u32::from(piece.bits));
    bits.fold(LogicalValue(key), LogicalValue::with).0
}
