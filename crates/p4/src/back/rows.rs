//! Stages with their entries. Each node is a list of cases in their order: its number, what it looks at, a table's entry. A case of
//! which all of the key is given lies in the exact memory, unless an earlier one that overlaps it does not.

use super::homes::{Homes, Piece};
use super::{Plan, leaves_of, too_much};
use crate::interpret::code::{Code, Match};
use crate::interpret::tables::Rows;
use crate::interpret::value::Value;
use crate::ir::{Alt, Bits, Graph, Leaf, Loc, LocInfo, Seg, Src, Test, Tree};
use crate::middle::value::bits_of;
use crate::middle::{Refusal, RefusalKind};
use sluice_object::linker::spaces::Region;
use sluice_rmt::phv::{Container, Word};
use sluice_rmt::program::Stage;
use sluice_rmt::stage::{
    CONDITION_AT, Exact, Key, KeySpec, Leads, Left, PIECE_AT, Predicate, Right, TRUTH_P0, TRUTH_P1, Tables, Ternary,
};
use sluice_rmt::state::Relation;
use sluice_rmt::target::{NUMBERS, Target};
use std::collections::{BTreeMap, BTreeSet};

/// Why a stage has no key.
pub(super) enum KeyRefused {
    /// A variable that would have to lie in another size.
    Move(Loc),
    Refused(Refusal),
}

/// The key of a stage, and the comparisons whose results are among it.
#[derive(Debug, Default)]
pub(crate) struct StageKey {
    pieces: [Option<u8>; 6],
    tests: Vec<Test>,
    predicates: Vec<Predicate>,
    used: bool,
}

impl StageKey {
    /// Bit of the key for a bit of a container.
    fn bit(&self, container: Container, bit: u32) -> Option<u32> {
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
        key.pieces[0] = Some(homes.node % 8);
        let refuse = |what: &str| {
            KeyRefused::Refused(Refusal { span: graph.spans[at], kind: RefusalKind::TooMuch, what: what.to_string() })
        };
        let mut read = Vec::new();
        looked_at(&node.tree, &mut read, &mut key.tests);
        for (loc, low, width) in read {
            for Piece { container, .. } in homes.of(loc, low, width) {
                let (class, place) = (usize::from(container.0 / 8), container.0 % 8);
                let mut places = 2 * class..2 * class + 2;
                if places.clone().any(|i| key.pieces[i] == Some(place)) {
                    continue;
                }
                match places.find(|i| key.pieces[*i].is_none()) {
                    Some(i) => key.pieces[i] = Some(place),
                    None => return Err(KeyRefused::Move(loc)),
                }
            }
        }
        if key.tests.len() > 2 {
            return Err(refuse("a stage with more than two comparisons"));
        }
        while key.predicates.len() < key.tests.len() {
            let Test::Compare { equal, a, b } = &key.tests[key.predicates.len()] else { break };
            match predicate(*equal, a, b, homes, graph) {
                Some(predicate) => key.predicates.push(predicate),
                None => return Err(refuse("a comparison of values that lie at different bits of their containers")),
            }
        }
    }
    Ok(keys)
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
        Tree::Leaf(_) => {}
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
    // Zeros above a word are those of the container beside it.
    let depth = |bits: &Bits| match &bits.segs[..] {
        [seg] | [Seg { src: Src::Const(0), .. }, seg] if seg.width == 16 => {
            matches!(seg.src, Src::Loc(loc, 0) if *graph.locs.info(loc) == LocInfo::QueueDepth)
        }
        _ => false,
    };
    let word = |other: &Bits, less| {
        let b = match (place(other), other.known()) {
            (Some(piece), _) if piece.at == 0 => Right::Container(piece.container),
            (None, Some(k)) => Right::Imm(k as u64),
            _ => return None,
        };
        let (mask, relation) = ((1u64 << other.width()) - 1, if equal { Relation::Eq } else { less });
        Some(Predicate { a: Left::Word(Word::QueueDepth as u8), b, mask, relation })
    };
    match (depth(a), depth(b)) {
        (true, true) => return None,
        (true, false) => return word(b, Relation::Lt),
        (false, true) => return word(a, Relation::Gt),
        (false, false) => {}
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

/// A case: what its key has to have, and what it leads to.
#[derive(Clone, Debug)]
struct Case {
    value: Key,
    mask: Key,
    leaf: Leaf,
    data: [u8; 16],
    /// Counter of the entry, if that of its table is read.
    number: Option<u16>,
}

struct Cases<'a> {
    plan: &'a Plan,
    key: &'a StageKey,
    code: &'a Code,
    tables: &'a [Rows],
    all: Vec<Case>,
    /// Counters of entries, by table and entry.
    numbers: &'a BTreeMap<(usize, usize), u16>,
    /// An entry that asks for a cell or a group that is not there.
    beyond: Option<String>,
}

impl Cases<'_> {
    /// The key with more bits given; nothing if it already has others.
    fn with(&self, key: &(Key, Key), bits: &Bits, value: &Bits, mask: &Bits) -> Option<(Key, Key)> {
        let (mut values, mut masks) = *key;
        let width = bits.width();
        let mut top = width;
        for seg in &bits.segs {
            top -= seg.width;
            for i in 0..seg.width {
                if mask.slice(top + i, 1).known() == Some(0) {
                    continue;
                }
                let wanted = value.slice(top + i, 1).known()? as u64;
                let at = match seg.src {
                    Src::Const(k) if (k >> i & 1) as u64 == wanted => continue,
                    Src::Const(_) => return None,
                    Src::Loc(loc, low) => {
                        let piece = *self.plan.homes.of(loc, low + i, 1).first()?;
                        self.key.bit(piece.container, piece.at)?
                    }
                    _ => return None,
                };
                (values, masks) = given(values, masks, at, wanted)?;
            }
        }
        Some((values, masks))
    }

    fn walk(&mut self, tree: &Tree, key: (Key, Key), (data, number): (&[Bits], Option<u16>)) {
        match tree {
            Tree::Leaf(leaf) => {
                for (bits, range) in &leaf.bounds {
                    let at = substituted(bits, data);
                    if usize::try_from(at).map_or(true, |at| !range.contains(&at)) {
                        let what = format!("an entry for {at}, and there are {} to {}", range.start, range.end - 1);
                        self.beyond.get_or_insert(what);
                    }
                }
                let made = self.plan.made.get(leaf);
                let data = made.map_or([0; 16], |made| made.data(data));
                self.all.push(Case { value: key.0, mask: key.1, leaf: leaf.clone(), data, number });
            }
            Tree::Test(Test::Is(bits, value), yes, no) => {
                let all = ones(bits.width());
                if let Some(with) = self.with(&key, bits, value, &all) {
                    self.walk(yes, with, (data, number));
                    if with == key {
                        return;
                    }
                }
                self.walk(no, key, (data, number));
            }
            Tree::Test(test, yes, no) => {
                let at = CONDITION_AT + self.key.tests.iter().position(|other| other == test).unwrap_or(0) as u32;
                for (tree, value) in [(yes, 1), (no, 0)] {
                    if let Some(with) = given(key.0, key.1, at, value) {
                        self.walk(tree, with, (data, number));
                    }
                }
            }
            Tree::Table(table, keys, trees) => {
                let rows = &self.tables[*table];
                let described = &self.code.tables[*table];
                let values = |alt: Alt, data: &[Value]| -> Vec<Bits> {
                    let listed = &described.actions[alt.action];
                    let parameters = &self.code.actions[listed.action].parameters[listed.bound.len()..];
                    let pairs = parameters.iter().zip(data);
                    pairs.map(|(p, value)| bits_of(value, p.shape.bits().unwrap_or(0))).collect()
                };
                for (at, row) in if keys.is_empty() { &[] } else { rows.all() }.iter().enumerate() {
                    let mut with = vec![key];
                    for ((found, bits), of) in row.entry.matches.iter().zip(keys).zip(&described.keys) {
                        let patterns = patterns(found, bits.width(), of.shape.number().signed);
                        let mut next = Vec::new();
                        for key in &with {
                            next.extend(patterns.iter().filter_map(|(v, m)| self.with(key, bits, v, m)));
                        }
                        with = next;
                    }
                    let alt = Alt { hit: true, action: row.entry.action };
                    let Some((_, tree)) = trees.iter().find(|(other, _)| *other == alt) else { continue };
                    let mut data = values(alt, &row.entry.data);
                    data.push(Bits::constant(16, at as u128));
                    let number = self.numbers.get(&(*table, at)).copied();
                    for key in with {
                        self.walk(tree, key, (&data, number));
                    }
                }
                let alt = Alt { hit: false, action: rows.default.0 };
                if let Some((_, tree)) = trees.iter().find(|(other, _)| *other == alt) {
                    let data = values(alt, &rows.default.1);
                    self.walk(tree, key, (&data, None));
                }
            }
        }
    }
}

/// Bits of an entry's data as a number.
fn substituted(bits: &Bits, data: &[Bits]) -> u128 {
    let mut all = Bits::default();
    for seg in &bits.segs {
        all = all.concat(match seg.src {
            Src::Param(number, low) => data
                .get(number as usize)
                .map_or_else(|| Bits::constant(seg.width, 0), |value| value.slice(low, seg.width)),
            _ => Bits { segs: vec![seg.clone()] },
        });
    }
    all.known().unwrap_or(u128::MAX)
}

/// Tables that a visit looks into.
fn applied(tree: &Tree, into: &mut BTreeSet<usize>) {
    match tree {
        Tree::Test(_, yes, no) => {
            applied(yes, into);
            applied(no, into);
        }
        Tree::Table(table, _, all) => {
            into.insert(*table);
            all.iter().for_each(|(_, tree)| applied(tree, into));
        }
        Tree::Leaf(_) => {}
    }
}

fn ones(width: u32) -> Bits {
    Bits::constant_of(width, &vec![0xff; width.div_ceil(8) as usize])
}

fn given(mut value: Key, mut mask: Key, at: u32, wanted: u64) -> Option<(Key, Key)> {
    let (byte, bit) = ((at / 8) as usize, at % 8);
    if mask.0[byte] >> bit & 1 == 1 && u64::from(value.0[byte] >> bit & 1) != wanted {
        return None;
    }
    mask.put(at, 1, 1);
    value.put(at, 1, wanted);
    Some((value, mask))
}

/// Values and masks that together are what an entry asks of a key.
fn patterns(found: &Match, width: u32, signed: bool) -> Vec<(Bits, Bits)> {
    let zero = || Bits::constant(width, 0);
    match found {
        Match::Any => vec![(zero(), zero())],
        Match::Exact(value) => vec![(bits_of(value, width), ones(width))],
        Match::Masked(value, mask) | Match::Prefix(value, mask, _) => {
            vec![(bits_of(value, width), bits_of(mask, width))]
        }
        Match::Range(low, high) if width <= 64 && !signed => {
            let (mut low, high) = (low.bits(), high.bits());
            let mut all = Vec::new();
            while low <= high {
                let mut size = if low == 0 { width } else { low.trailing_zeros().min(width) };
                while low + (1u128 << size) - 1 > high {
                    size -= 1;
                }
                let mask = Bits::operate(crate::ir::Op::Xor, &ones(width), &Bits::constant(width, (1u128 << size) - 1));
                all.push((Bits::constant(width, low), mask));
                low += 1u128 << size;
            }
            all
        }
        Match::Range(..) => Vec::new(),
    }
}

impl Plan {
    /// The counters of a stage's entries: for each entry of a table with a direct counter, in their order.
    pub(crate) fn numbers(&self, stage: usize, code: &Code, tables: &[Rows]) -> BTreeMap<(usize, usize), u16> {
        let mut found = BTreeSet::new();
        for (at, node) in self.graph.nodes.iter().enumerate() {
            if self.stages[at] == stage {
                applied(&node.tree, &mut found);
            }
        }
        found.retain(|table| !code.tables[*table].direct.is_empty());
        let entries = found.into_iter().flat_map(|table| (0..tables[table].all().len()).map(move |at| (table, at)));
        entries.zip(0..NUMBERS as u16 - 1).collect()
    }

    /// The rows of a stage, with these entries.
    pub(super) fn stage(&self, number: usize, code: &Code, tables: &[Rows]) -> Result<Option<Stage>, Refusal> {
        let key = &self.keys[number];
        if !key.used {
            return Ok(None);
        }
        let numbers = self.numbers(number, code, tables);
        let mut cases = Cases { plan: self, key, code, tables, all: Vec::new(), numbers: &numbers, beyond: None };
        let mut stage = Stage { pages: super::cells::pages(&self.cells, number), ..Stage::default() };
        let mut spans = Vec::new();
        for (at, node) in self.graph.nodes.iter().enumerate() {
            if self.stages[at] != number {
                continue;
            }
            let place = key.bit(Container(self.homes.node), 0).unwrap_or(0);
            let mut begin = (Key::default(), Key::default());
            for bit in 0..16 {
                if let Some(with) = given(begin.0, begin.1, place + bit, (at as u64 + 1) >> bit & 1) {
                    begin = with;
                }
            }
            cases.walk(&node.tree, begin, (&[], None));
            spans.push(self.graph.spans[at]);
            let mut leaves = Vec::new();
            leaves_of(&node.tree, &mut leaves);
        }
        let span = spans.first().copied().unwrap_or_default();
        if let Some(beyond) = cases.beyond {
            return too_much(span, beyond);
        }
        let mut mask = Key::default();
        for case in &cases.all {
            mask = Key(std::array::from_fn(|i| mask.0[i] | case.mask.0[i]));
        }
        let mut predicates = [None, None];
        for (place, predicate) in predicates.iter_mut().zip(&key.predicates) {
            *place = Some(*predicate);
        }
        stage.key = KeySpec {
            pieces: key.pieces.map(|piece| piece.unwrap_or(0)),
            mask,
            predicates,
            truth: [
                if key.predicates.is_empty() { 0 } else { TRUTH_P0 },
                if key.predicates.len() < 2 { 0 } else { TRUTH_P1 },
            ],
        };
        let mut listed: Vec<(Key, Key)> = Vec::new();
        let mut open: Vec<(Key, Key)> = Vec::new();
        let mut exacts = Tables::default();
        for case in &cases.all {
            let this = (case.value, case.mask);
            if listed.contains(&this) {
                continue;
            }
            listed.push(this);
            let Some(made) = self.made.get(&case.leaf) else { continue };
            let action = match stage.actions.iter().position(|action| *action == made.action) {
                Some(action) => action,
                None => {
                    stage.actions.push(made.action.clone());
                    stage.actions.len() - 1
                }
            };
            // Rows that nobody counts share the last counter.
            let number = case.number.unwrap_or(NUMBERS as u16 - 1);
            let leads = Leads { action: action as u16, data: case.data, number };
            let overlaps = |other: &(Key, Key)| case.value.agrees(&other.0, &case.mask.and(&other.1));
            if case.mask == mask && !open.iter().any(overlaps) {
                exacts.exact.push(Exact { key: case.value, leads });
            } else {
                exacts.ternary.push(Ternary { value: case.value, mask: case.mask, leads });
                open.push(this);
            }
        }
        stage.tables = exacts;
        let target = &self.target;
        for (what, found, there) in [
            ("actions", stage.actions.len(), target.actions),
            // Both kinds are there twice, for a replacement while packets go on.
            ("exact entries", stage.tables.exact.len(), Region::most_entries(target.sets().ilog2()) as usize),
            ("ternary entries", stage.tables.ternary.len(), target.ternary / 2),
        ] {
            if found > there {
                return too_much(span, format!("{found} {what} in stage {number}, and there are {there}"));
            }
        }
        Ok(Some(stage))
    }
}
