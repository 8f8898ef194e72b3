//! Cases of a stage that take fewer rows, above all ternary ones, of which a stage has few: what a constant table has is written out as cases; what a
//! way of the parser leaves in a container is asked for, so that a case is exact; one that a later case makes good is left out; two that differ in one
//! bit are one.
//!
//! Before: cases of a stage, in the order in which they win. After: others, if more programs like this one fit so. It keeps: what each packet meets.
//! Verifier: `back/verify/rows.rs`, as for all rows.

use super::spelt::spelt;
use super::{FEWER, Plan, all_leaves};
use crate::compiler::ir::Next;
use sluice_formats::row::Wide;
use sluice_object::linker::spaces::Region;
use sluice_object::rmt::logical::{LogicalCase, LogicalKind, LogicalLeads, LogicalLookup, LogicalOutcome};
use sluice_object::rmt::{Logical, LogicalRoom, LogicalRow, LogicalTable, LogicalValue};
use sluice_rmt::parser::Path;
use sluice_rmt::phv::Container;
use sluice_rmt::target::Target;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Most cases of a stage that are compared with each other.
const MOST_CASES: usize = 200;
/// Entries of a table that has many.
const MANY: usize = 1 << 10;
/// Containers.
const CONTAINERS: u8 = 24;

/// Bits of a stage's key, in bytes, the lowest first.
type Bits = [u8; 25];

impl Plan {
    /// Gives stages cases that take fewer rows, with the tables as they are loaded first.
    pub fn lessen(&mut self, own: &Logical) {
        let better = |number: &u8| Some((*number, self.fewer(*number, own)?));
        let better: Vec<_> = self.logical.stages.keys().filter_map(better).collect();
        self.fewer.extend((!better.is_empty()).then_some(FEWER));
        self.logical.stages.extend(better);
    }

    /// Cases of a stage that are better than those that it has.
    fn fewer(&self, number: u8, own: &Logical) -> Option<Vec<LogicalCase>> {
        let cases = &self.logical.stages[&number];
        let before = Needs::of(own, number, cases)?;
        if self.graph.is_system || before.one.ternary == 0 {
            return None;
        }
        let listed = listed(own, number, cases)?;
        // An exact table that grows has all exact rows.
        let is_exact = |table: &LogicalTable| table.keys.iter().all(|key| key.kind == LogicalKind::Exact);
        let grows = cases.iter().any(|case| match case {
            LogicalCase::Looks(lookup) => {
                let table = &own.tables[usize::from(lookup.table)];
                !table.constant && is_exact(table)
            }
            LogicalCase::Leads(_) | LogicalCase::Hashes(_) => false,
        });
        let most = if grows { before.many } else { usize::MAX };
        let (mut best, mut found) = (before, None);
        for cases in [listed.clone(), self.asking(number, listed)] {
            let cases = spelt(compared(cases));
            let Some(needs) = Needs::of(own, number, &cases) else { continue };
            if needs.many <= most && needs.are_less(&best, &self.target) {
                (best, found) = (needs, Some(cases));
            }
        }
        found
    }

    /// Cases of visits to which only the parser leads ask for what its ways leave in containers.
    fn asking(&self, number: u8, mut cases: Vec<LogicalCase>) -> Vec<LogicalCase> {
        let whole = LogicalCase::whole(&cases).0;
        let visits = (0..self.graph.nodes.len()).filter(|at| self.stages[*at] == usize::from(number));
        let left: BTreeMap<u64, (LogicalValue, LogicalValue)> =
            visits.filter_map(|at| Some((at as u64 + 1, self.left(at)?))).collect();
        let Some(first) = self.keys[usize::from(number)].bit(Container(self.homes.node), 0) else { return cases };
        for case in &mut cases {
            let LogicalCase::Leads(leads) = case else { continue };
            let value = LogicalValue(leads.value);
            let visit = (0..self.homes.number).fold(0, |all, bit| all | u64::from(value.bit(first + bit)) << bit);
            let Some((value, mask)) = left.get(&visit) else { continue };
            for (at, whole) in whole.iter().enumerate() {
                let more = mask.0.0[at] & whole & !leads.mask.0[at];
                leads.mask.0[at] |= more;
                leads.value.0[at] |= value.0.0[at] & more;
            }
        }
        cases
    }

    /// What is in the key of a visit's stage whichever way of the parser a packet came, and which bits that are; nothing if it may come from another
    /// visit.
    fn left(&self, at: usize) -> Option<(LogicalValue, LogicalValue)> {
        if all_leaves(&self.graph).iter().any(|leaf| leaf.next == Next::Node(at)) {
            return None;
        }
        let leads = |path: &&Path| {
            let number = u64::from(path.constant) & self.homes.number_mask();
            path.known[usize::from(self.homes.node)].is_some() && number == at as u64 + 1
        };
        let paths: Vec<_> = self.parser.paths.iter().filter(leads).collect();
        let (first, key) = (paths.first()?, &self.keys[self.stages[at]]);
        let (mut value, mut mask) = (LogicalValue::default(), LogicalValue::default());
        for container in (0..CONTAINERS).map(Container) {
            let is_node = container.0 == self.homes.node;
            let there = if is_node { u64::from(first.constant) } else { 0 };
            let is_left = |path: &&Path| {
                path.extract[usize::from(container.0)].is_none() && (!is_node || path.constant == first.constant)
            };
            // What a system program exchanges with tenants is in containers that this one never fills; so is what the parser knows of a packet.
            let is_own =
                is_node || self.parser.paths.iter().any(|path| path.extract[usize::from(container.0)].is_some());
            if !is_own || !paths.iter().all(is_left) {
                continue;
            }
            for (bit, at) in (0..container.class().bits()).filter_map(|bit| Some((bit, key.bit(container, bit)?))) {
                mask = mask.with(at);
                value = if there >> bit & 1 == 1 { value.with(at) } else { value };
            }
        }
        Some((value, mask))
    }
}

/// What a stage takes with some cases.
struct Needs {
    /// With the tables as they are loaded first.
    empty: LogicalRoom,
    /// Once each table that can get entries has one more.
    one: LogicalRoom,
    /// Exact rows, once each has many more.
    many: usize,
}

impl Needs {
    fn of(own: &Logical, number: u8, cases: &[LogicalCase]) -> Option<Needs> {
        let alone = Logical { tables: own.tables.clone(), stages: BTreeMap::from([(number, cases.to_vec())]) };
        let growth = alone.growth().ok()?;
        let [empty, one, many] = [0, 1, MANY].map(|more| growth.rooms(&|_| more).remove(&number));
        Some(Needs { empty: empty?, one: one?, many: many?.exact })
    }

    /// Whether more programs that take this fit a stage; or as many, with fewer ternary rows and as many match sets.
    fn are_less(&self, than: &Needs, target: &Target) -> bool {
        let sets = |room: &LogicalRoom| match room.exact {
            0 => Some(0),
            rows => Region::bits_for(rows as u32, target.sets().ilog2()).map(|bits| 1 << bits),
        };
        // There are no more tenants than modules, spread over all stages that are theirs.
        let stages = (0..target.stages).filter(|stage| !target.is_system(*stage)).count().max(1);
        let most = (target.modules - 1).div_ceil(stages);
        let fit = |room: &LogicalRoom| {
            let of_sets = sets(room).map_or(0, |sets| target.sets().checked_div(sets).unwrap_or(most));
            (target.ternary / 2).checked_div(room.ternary).unwrap_or(most).min(of_sets).min(most)
        };
        let is_less = match fit(&self.one).cmp(&fit(&than.one)) {
            Ordering::Equal => self.one.ternary < than.one.ternary && sets(&self.one) <= sets(&than.one),
            order => order.is_gt(),
        };
        is_less && fit(&self.empty) >= fit(&than.empty)
    }
}

/// The cases, with those in place of a constant table that its entries are, and its default if that is constant, too; nothing if they are too many.
fn listed(own: &Logical, number: u8, cases: &[LogicalCase]) -> Option<Vec<LogicalCase>> {
    let mut all = Vec::new();
    for case in cases {
        let LogicalCase::Looks(lookup) = case else {
            all.push(case.clone());
            continue;
        };
        let table = &own.tables[usize::from(lookup.table)];
        let is_constant = !table.counted && (table.constant || table.keys.is_empty());
        let is_listed = |outcome: &LogicalOutcome| is_constant && (outcome.hit || table.default_constant);
        let (listed, rest) = lookup.outcomes.iter().cloned().partition(is_listed);
        let case = |outcomes| LogicalCase::Looks(LogicalLookup { outcomes, ..lookup.clone() });
        let alone = Logical { tables: own.tables.clone(), stages: BTreeMap::from([(number, vec![case(listed)])]) };
        let rows = alone.rows(number).ok()?;
        // What comes of a miss is asked last.
        all.extend(rows.exact.iter().chain(&rows.ternary).map(|row| LogicalCase::Leads(leads(row))));
        all.extend((!Vec::is_empty(&rest)).then(|| case(rest)));
        if all.len() > MOST_CASES {
            return None;
        }
    }
    Some(all)
}

fn leads(row: &LogicalRow) -> LogicalLeads {
    let LogicalRow { value, mask, action, data, .. } = *row;
    LogicalLeads { value, mask, action, data, moves: Vec::new() }
}

/// The cases without those that others make good, and with two that can be one as one.
fn compared(mut cases: Vec<LogicalCase>) -> Vec<LogicalCase> {
    loop {
        if let Some(at) = (0..cases.len()).find(|at| is_said(&cases, *at)) {
            cases.remove(at);
        } else if let Some((at, other, one)) = joined(&cases) {
            cases[at] = LogicalCase::Leads(one);
            cases.remove(other);
        } else {
            return cases;
        }
    }
}

/// Whether packets of a case would come to the same without it.
fn is_said(cases: &[LogicalCase], at: usize) -> bool {
    let LogicalCase::Leads(one) = &cases[at] else { return false };
    for later in &cases[at + 1..] {
        match later {
            LogicalCase::Leads(other) if meet(one, other) => {
                if !is_like(one, other) {
                    return false;
                }
                if within(&other.mask.0, &one.mask.0) {
                    return true;
                }
            }
            LogicalCase::Looks(lookup) if meets((&one.value.0, &one.mask.0), (&lookup.value.0, &lookup.mask.0)) => {
                return false;
            }
            _ => {}
        }
    }
    false
}

/// Two cases that can be one: where it stands, which one goes, and what it is.
fn joined(cases: &[LogicalCase]) -> Option<(usize, usize, LogicalLeads)> {
    let whole = LogicalCase::whole(cases);
    for (at, case) in cases.iter().enumerate() {
        let LogicalCase::Leads(one) = case else { continue };
        for (behind, case) in cases.iter().enumerate().skip(at + 1) {
            let LogicalCase::Leads(other) = case else { continue };
            if one.mask != other.mask || one.mask == whole || !is_like(one, other) {
                continue;
            }
            let apart: Bits = std::array::from_fn(|i| one.value.0[i] ^ other.value.0[i]);
            if apart.iter().map(|byte| byte.count_ones()).sum::<u32>() != 1 {
                continue;
            }
            let without = |bits: &Bits| Wide(std::array::from_fn(|i| bits[i] & !apart[i]));
            let both = LogicalLeads { value: without(&one.value.0), mask: without(&one.mask.0), ..one.clone() };
            let between = &cases[at + 1..behind];
            if passes(other, between) {
                return Some((at, behind, both));
            }
            if passes(one, between) {
                return Some((behind, at, both));
            }
        }
    }
    None
}

/// Whether a case may stand before or behind all of some.
fn passes(one: &LogicalLeads, cases: &[LogicalCase]) -> bool {
    cases.iter().all(|case| match case {
        LogicalCase::Leads(other) => !meet(one, other) || is_like(one, other),
        LogicalCase::Looks(lookup) => !meets((&one.value.0, &one.mask.0), (&lookup.value.0, &lookup.mask.0)),
        LogicalCase::Hashes(_) => true,
    })
}

/// Whether both lead to the same.
fn is_like(one: &LogicalLeads, other: &LogicalLeads) -> bool {
    (one.action, &one.data, &one.moves) == (other.action, &other.data, &other.moves)
}

fn meet(one: &LogicalLeads, other: &LogicalLeads) -> bool {
    meets((&one.value.0, &one.mask.0), (&other.value.0, &other.mask.0))
}

/// Whether a key can be what both ask for.
fn meets(one: (&Bits, &Bits), other: (&Bits, &Bits)) -> bool {
    (0..one.0.len()).all(|i| (one.0[i] ^ other.0[i]) & one.1[i] & other.1[i] == 0)
}

/// Whether some bits are among others.
fn within(bits: &Bits, of: &Bits) -> bool {
    bits.iter().zip(of).all(|(bit, of)| bit & !of == 0)
}
