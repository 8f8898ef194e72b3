//! Stages: what each looks at, and its entries. Those of which all of the key is given lie in the exact memory, unless an earlier one
//! that overlaps them does not.
//!
//! Before: visits in stages, with homes. After: what each stage looks at, and its rows. It keeps: a visit finds the rows of its own number only, and
//! of them those to which its tree leads. Verifier: `back/verify/rows.rs`.

use super::phv_allocation::{Homes, Piece};
use super::{Plan, names, too_much};
use crate::compiler::ir::{Bits, Graph, Loc, LocInfo, Seg, Src, Test, Tree};
use crate::compiler::middle::Refusal;
use crate::front::source::Span;
use sluice_object::linker::spaces::Region;
use sluice_object::rmt::{Logical, LogicalRow};
use sluice_rmt::phv::{Container, Word};
use sluice_rmt::program::Stage;
use sluice_rmt::stage::{
    CONDITION_AT, Exact, Key, KeySpec, Leads, Left, PIECE_AT, Predicate, Right, TRUTH_P0, TRUTH_P1, Ternary,
};
use sluice_rmt::state::Relation;
use sluice_rmt::target::Target;
use std::collections::BTreeSet;

/// Bits of a word.
const WORD: u32 = 16;

/// Why a stage has no key.
pub(super) enum KeyRefused {
    /// A visit, and variables of one size of which one would have to lie in another: the one that is too many first.
    Move(usize, Vec<Loc>),
    /// A visit with more comparisons than its stage has, those of others there among them.
    Compares(usize),
    /// A visit that compares values which lie at different bits of their containers.
    Apart(usize, Box<Test>),
}

/// The key of a stage, and the comparisons whose results are among it.
#[derive(Debug, Default)]
pub(crate) struct StageKey {
    pieces: [Option<u8>; 6],
    pub(super) tests: Vec<Test>,
    predicates: Vec<Predicate>,
    /// Bits of the key that visits look at, but for their number.
    pub(super) looked: BTreeSet<u32>,
    pub(super) used: bool,
}

impl StageKey {
    /// Bit of the key for a bit of a container.
    pub(super) fn bit(&self, container: Container, bit: u32) -> Option<u32> {
        let (class, place) = (usize::from(container.0 / 8), container.0 % 8);
        let i = (2 * class..2 * class + 2).find(|i| self.pieces[*i] == Some(place))?;
        Some(PIECE_AT[i] + bit)
    }
}

/// Keys of all stages.
pub(super) fn keys(
    graph: &Graph,
    homes: &Homes,
    stages: &[usize],
    target: &Target,
) -> Result<Vec<StageKey>, KeyRefused> {
    let mut keys: Vec<StageKey> = (0..target.stages).map(|_| StageKey::default()).collect();
    for (at, node) in graph.nodes.iter().enumerate() {
        let key = &mut keys[stages[at]];
        key.used = true;
        if !graph.is_system {
            key.pieces[0] = Some(homes.node % 8);
        }
        let mut read = Vec::new();
        looked_at(&node.tree, &mut read, &mut key.tests);
        for &(loc, low, width) in &read {
            for Piece { container, at: at_bit, width, .. } in homes.of(loc, low, width) {
                let (class, place) = (usize::from(container.0 / 8), container.0 % 8);
                let mut places = 2 * class..2 * class + 2;
                let have = places.clone().find(|i| key.pieces[*i] == Some(place));
                match have.or_else(|| places.find(|i| key.pieces[*i].is_none())) {
                    Some(i) => {
                        key.pieces[i] = Some(place);
                        key.looked.extend((at_bit..at_bit + width).map(|bit| PIECE_AT[i] + bit));
                    }
                    None => {
                        let beside = |other: &&(Loc, u32, u32)| {
                            let pieces = homes.of(other.0, other.1, other.2);
                            pieces.iter().any(|piece| usize::from(piece.container.0 / 8) == class)
                        };
                        let others = read.iter().filter(beside).map(|(other, ..)| *other);
                        return Err(KeyRefused::Move(at, std::iter::once(loc).chain(others).collect()));
                    }
                }
            }
        }
        if key.tests.len() > 2 {
            return Err(KeyRefused::Compares(at));
        }
        while key.predicates.len() < key.tests.len() {
            let Test::Compare { equal, a, b } = &key.tests[key.predicates.len()] else { break };
            match predicate(*equal, a, b, homes, graph) {
                Some(predicate) => key.predicates.push(predicate),
                None => return Err(KeyRefused::Apart(at, Box::new(key.tests[key.predicates.len()].clone()))),
            }
        }
    }
    Ok(keys)
}

/// Bits of the stage's key that a visit looks at, but for its number.
pub(super) fn asked(plan: &Plan, at: usize) -> BTreeSet<u32> {
    let (mut read, mut tests) = (Vec::new(), Vec::new());
    looked_at(&plan.graph.nodes[at].tree, &mut read, &mut tests);
    let key = &plan.keys[plan.stages[at]];
    let pieces = read.into_iter().flat_map(|(loc, low, width)| plan.homes.of(loc, low, width));
    let bits = pieces.flat_map(|piece| (piece.at..piece.at + piece.width).map(move |bit| (piece.container, bit)));
    let compared = tests.iter().filter_map(|test| key.tests.iter().position(|other| other == test));
    let compared = compared.map(|test| CONDITION_AT + test as u32);
    bits.filter_map(|(container, bit)| key.bit(container, bit)).chain(compared).collect()
}

/// Bits that a node's key has, and its comparisons.
fn looked_at(tree: &Tree, read: &mut Vec<(Loc, u32, u32)>, tests: &mut Vec<Test>) {
    let mut see = |bits: &Bits| {
        for seg in &bits.segs {
            if let Src::Loc(loc, low) = seg.src {
                read.push((loc, low, seg.width));
            }
        }
    };
    match tree {
        Tree::Test(test, yes, no) => {
            match test {
                Test::Is(bits, _) => see(bits),
                Test::Compare { .. } if tests.contains(test) => {}
                Test::Compare { .. } => tests.push(test.clone()),
            }
            looked_at(yes, read, tests);
            looked_at(no, read, tests);
        }
        Tree::Table(_, keys, all) => {
            keys.iter().for_each(&mut see);
            all.iter().for_each(|(_, tree)| looked_at(tree, read, tests));
        }
        Tree::Leaf(leaf) => leaf.assigns.values().flat_map(Bits::hashed).for_each(see),
    }
}

fn predicate(equal: bool, a: &Bits, b: &Bits, homes: &Homes, graph: &Graph) -> Option<Predicate> {
    if let [seg] = &a.segs[..]
        && let Src::Loc(loc, _) = seg.src
        && *graph.locs.info(loc) == LocInfo::Bad
    {
        // Bit 0 of the status word.
        let (a, b) = (Left::Word(Word::Status as u8), Right::Imm(1));
        return Some(Predicate { a, b, mask: 1, relation: Relation::Eq });
    }
    let place = |bits: &Bits| match &bits.segs[..] {
        [seg] => match seg.src {
            Src::Loc(loc, low) => match homes.of(loc, low, seg.width)[..] {
                [piece] => Some(piece),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    let mask = |piece: &Piece| ((1u64 << piece.width) - 1) << piece.at;
    // Bits of a word, from which on; zeros above a word's end are those of the container beside it.
    let word = |bits: &Bits| match &bits.segs[..] {
        [seg] | [Seg { src: Src::Const(0), .. }, seg] => match seg.src {
            Src::Loc(loc, from) => match graph.locs.info(loc) {
                LocInfo::Word(word, low) => {
                    let low = low + from;
                    (bits.segs.len() == 1 || low + seg.width == WORD).then_some((*word as u8, low))
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    let with = |(word, low): (u8, u32), other: &Bits, less| {
        let b = match (place(other), other.known()) {
            (Some(piece), _) if piece.at == low => Right::Container(piece.container),
            (None, Some(k)) => Right::Imm((k as u64) << low),
            _ => return None,
        };
        let (mask, relation) = (((1u64 << other.width()) - 1) << low, if equal { Relation::Eq } else { less });
        Some(Predicate { a: Left::Word(word), b, mask, relation })
    };
    match (word(a), word(b)) {
        (Some(_), Some(_)) => return None,
        (Some(word), None) => return with(word, b, Relation::Lt),
        (None, Some(word)) => return with(word, a, Relation::Gt),
        (None, None) => {}
    }
    Some(match (place(a), place(b), a.known(), b.known()) {
        (Some(p), Some(q), ..) if p.at == q.at => Predicate {
            a: Left::Container(p.container),
            b: Right::Container(q.container),
            mask: mask(&p),
            relation: if equal { Relation::Eq } else { Relation::Lt },
        },
        (Some(p), _, _, Some(k)) => Predicate {
            a: Left::Container(p.container),
            b: Right::Imm((k as u64) << p.at),
            mask: mask(&p),
            relation: if equal { Relation::Eq } else { Relation::Lt },
        },
        // k < x is x > k.
        (_, Some(q), Some(k), _) => Predicate {
            a: Left::Container(q.container),
            b: Right::Imm((k as u64) << q.at),
            mask: mask(&q),
            relation: if equal { Relation::Eq } else { Relation::Gt },
        },
        _ => return None,
    })
}

impl Plan {
    /// The rows of a stage, with the entries that the tables have.
    pub(super) fn stage(&self, number: usize, logical: &Logical) -> Result<Option<Stage>, Refusal> {
        let key = &self.keys[number];
        if !key.used {
            return Ok(None);
        }
        let pages = super::cells::pages(&self.cells, number);
        let mut stage = Stage { actions: self.actions[number].clone(), pages, ..Stage::default() };
        let (span, whose) = self.largest(number, logical);
        let rows = match logical.rows(number as u8) {
            Ok(rows) => rows,
            Err(error) => return too_much(span, format!("{error}{whose}")),
        };
        let mut predicates = [None, None];
        for (place, predicate) in predicates.iter_mut().zip(&key.predicates) {
            *place = Some(*predicate);
        }
        stage.key = KeySpec {
            pieces: key.pieces.map(|piece| piece.unwrap_or(0)),
            mask: Key(rows.mask.0),
            predicates,
            truth: [
                if key.predicates.is_empty() { 0 } else { TRUTH_P0 },
                if key.predicates.len() < 2 { 0 } else { TRUTH_P1 },
            ],
        };
        let leads = |row: &LogicalRow| Leads { action: row.action, data: row.data.0, number: row.number };
        let exact = |row: &LogicalRow| Exact { key: Key(row.value.0), leads: leads(row) };
        let ternary = |row: &LogicalRow| Ternary { value: Key(row.value.0), mask: Key(row.mask.0), leads: leads(row) };
        stage.tables.exact = rows.exact.iter().map(exact).collect();
        stage.tables.ternary = rows.ternary.iter().map(ternary).collect();
        let target = &self.target;
        for (what, found, there) in [
            ("actions", stage.actions.len(), target.actions / 2),
            // Both kinds are there twice, for a replacement while packets go on.
            ("exact entries", stage.tables.exact.len(), Region::most_entries(target.sets().ilog2()) as usize),
            ("ternary entries", stage.tables.ternary.len(), target.ternary / 2),
        ] {
            if found > there {
                return too_much(span, format!("{found} {what} in stage {number}, and there are {there}{whose}"));
            }
        }
        Ok(Some(stage))
    }

    /// The table of a stage that has most entries: where it is applied, and in words whose they are.
    pub(super) fn largest(&self, stage: usize, logical: &Logical) -> (Span, String) {
        let nodes = (0..self.graph.nodes.len()).filter(|at| self.stages[*at] == stage);
        let entries = |table: usize| logical.tables.get(table).map_or(0, |table| table.entries.len());
        let first = nodes.clone().next().map_or(Span::default(), |at| self.graph.spans[at]);
        let tables = nodes.flat_map(|at| names::tables(&self.graph, at).into_iter().map(move |table| (at, table)));
        match tables.max_by_key(|(at, table)| (entries(*table), std::cmp::Reverse(*at))) {
            Some((at, table)) => {
                let whose = format!("; table `{}` has {}", logical.tables[table].name, entries(table));
                (self.graph.locs.lines.applied(table).unwrap_or(self.graph.spans[at]), whose)
            }
            None => (first, String::new()),
        }
    }
}
