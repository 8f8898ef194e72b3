//! Entries for tables, made where packets look for them, within what visits may take from an entry.

use super::run::{Stop, World};
use super::value::{Value, number, of, slice};
use crate::compiler::ir::{Alt, Array, Bits, Bound, Graph, Src, Tree};
use crate::front::interpret::code::{Code, Entry, Match, MatchKind};
use crate::front::interpret::tables::Rows;
use crate::front::interpret::value::{Number, Value as Given};
use crate::front::interpret::{HashLayouts, Shape, rank_of};
use num_bigint::BigUint;
use sluice_formats::random::Rng;
use sluice_rmt::stage::Key;
use std::collections::BTreeMap;

/// Most entries that a table gets.
const MOST_ENTRIES: usize = 6;
/// Bits of an entry's position.
const POSITION: u32 = 16;

/// A value of the program as bits.
pub(crate) fn bits_of(value: &Given, width: u32) -> Value {
    match value {
        Given::Wide(_) => {
            let big = value.big();
            (0..u64::from(width)).map(|at| big.bit(at)).collect()
        }
        value => of(width, value.bits()),
    }
}

/// Bits as a value of the program.
pub(crate) fn given(bits: &[bool], shape: &Shape) -> Given {
    match shape {
        Shape::Bool => Given::Bool(bits.first() == Some(&true)),
        _ if bits.len() > 128 => {
            let mut big = BigUint::default();
            bits.iter().enumerate().for_each(|(at, bit)| big.set_bit(at as u64, *bit));
            Given::of_big(big, bits.len() as u32)
        }
        _ => Given::Bits(number(bits)),
    }
}

/// What visits ask of entries' data, by table and what it comes to.
pub(crate) type Bounds = BTreeMap<(usize, Alt), Vec<(Bits, Bound)>>;

/// Values of an action's parameters that come from an entry, within bounds; nothing if none is found.
pub(crate) fn values(code: &Code, (table, alt): (usize, Alt), bounds: &Bounds, rng: &mut Rng) -> Option<Vec<Value>> {
    let action = alt.action;
    let listed = &code.tables[table].actions[action];
    let parameters = &code.actions[listed.action].parameters[listed.bound.len()..];
    let mut all = Vec::new();
    for parameter in parameters {
        let width = match &parameter.shape {
            Shape::Bool => 1,
            Shape::Number(Number { width, .. }) if *width > 0 => *width,
            _ => return None,
        };
        // Nine bits are a port, as often as not.
        let port = width == 9 && rng.chance(3, 4);
        all.push(if port { of(9, rng.below(8).into()) } else { super::vars::any(rng, width) });
    }
    let bounds = bounds.get(&(table, alt)).map_or(&[][..], Vec::as_slice);
    within(bounds, &mut all, rng).then_some(all)
}

/// What all visits ask of entries' data.
pub(crate) fn bounds(graph: &Graph) -> Bounds {
    let mut all = Bounds::new();
    for node in &graph.nodes {
        each_table(&node.tree, &mut |table, found| {
            for (alt, tree) in found {
                let own = all.entry((table, *alt)).or_default();
                tree.each_leaf(&mut |leaf| own.extend(leaf.bounds.iter().cloned()));
            }
        });
    }
    all
}

/// What is told of a table: its number, and what it comes to.
type Seen<'s> = dyn FnMut(usize, &[(Alt, Tree)]) + 's;

/// All tables that a visit looks up.
pub(crate) fn each_table(tree: &Tree, see: &mut Seen<'_>) {
    match tree {
        Tree::Test(_, yes, no) => {
            each_table(yes, see);
            each_table(no, see);
        }
        Tree::Table(table, _, all) => {
            see(*table, all);
            all.iter().for_each(|(_, tree)| each_table(tree, see));
        }
        Tree::Leaf(_) => {}
    }
}

/// Brings values within bounds; false if there are some that it does not find.
pub(crate) fn within(bounds: &[(Bits, Bound)], all: &mut [Value], rng: &mut Rng) -> bool {
    for (bits, bound) in bounds {
        let [seg] = &bits.segs[..] else { return false };
        let Src::Param(at, low) = seg.src else { return false };
        // The position of an entry is not chosen.
        let Some(value) = all.get_mut(at as usize) else { continue };
        let most = if seg.width < 16 { (1 << seg.width) - 1 } else { u64::from(u16::MAX) };
        let chosen: u128 = match bound {
            Bound::Within(range) => {
                rng.range(range.start as u64, (range.end as u64 - 1).min(most).min(range.start as u64 + 3)).into()
            }
            Bound::PowerOfTwo => 1 << rng.below(seg.width.min(16).into()),
        };
        value.iter_mut().skip(low as usize).zip(of(seg.width, chosen)).for_each(|(bit, wanted)| *bit = wanted);
    }
    bounds.iter().all(|(bits, bound)| match bits.segs[0].src {
        Src::Param(at, low) => {
            all.get(at as usize).is_none_or(|value| bound.broken_by(number(&slice(value, low, bits.width()))).is_none())
        }
        _ => false,
    })
}

/// A key that an entry asks for.
fn asked(kind: MatchKind, shape: &Shape, key: &[bool], rng: &mut Rng) -> Match {
    let width = key.len() as u32;
    let number = Shape::Number(Number { width, signed: false });
    let masked = |mask: &[bool]| -> Value { key.iter().zip(mask).map(|(key, mask)| key & mask).collect() };
    match kind {
        MatchKind::Exact | MatchKind::Selector => Match::Exact(given(key, shape)),
        MatchKind::Optional if rng.chance(1, 3) => Match::Any,
        MatchKind::Optional => Match::Exact(given(key, shape)),
        MatchKind::Lpm => {
            let length = if rng.chance(1, 2) { width } else { rng.below(u64::from(width) + 1) as u32 };
            let mask: Value = (0..width).map(|at| at >= width - length).collect();
            Match::Prefix(given(&masked(&mask), &number), given(&mask, &number), length)
        }
        MatchKind::Ternary if rng.chance(1, 4) => Match::Any,
        MatchKind::Ternary => {
            let all = rng.chance(1, 2);
            let mask: Value = (0..width).map(|_| all || rng.chance(1, 2)).collect();
            Match::Masked(given(&masked(&mask), &number), given(&mask, &number))
        }
        MatchKind::Range => {
            let is_signed = shape.number().signed;
            let value = super::value::number(key);
            let most = if width >= 128 { u128::MAX } else { (1 << width) - 1 };
            let (below, above) = match is_signed || width > 64 {
                true => (0, 0),
                false => (rng.below(4).into(), rng.below(4).into()),
            };
            let end = |value: u128| given(&of(width, value), shape);
            match width > 128 {
                true => Match::Any,
                false => Match::Range(end(value.saturating_sub(below)), end(value.saturating_add(above).min(most))),
            }
        }
    }
}

/// The entries of a program, and cells of its own.
pub(crate) struct Entries<'e> {
    pub code: &'e Code,
    pub rows: &'e mut Vec<Rows>,
    pub layouts: &'e HashLayouts,
    pub bounds: &'e Bounds,
    /// When the packet came, in ticks, and its bytes.
    pub arrival: (u64, u16),
    pub cells: BTreeMap<(Array, usize), u32>,
    /// Whether entries are made for what is not found.
    pub grow: Option<Rng>,
}

impl Entries<'_> {
    fn made(&mut self, table: usize, keys: &[Value], all: &[(Alt, Tree)]) {
        let Some(rng) = &mut self.grow else { return };
        let described = &self.code.tables[table];
        if !rng.chance(1, 2) {
            return;
        }
        let hits: Vec<&(Alt, Tree)> =
            all.iter().filter(|(alt, _)| alt.hit && !described.actions[alt.action].default_only).collect();
        let Some((alt, _)) = rng.choose(&hits).copied() else { return };
        let full = self.rows[table].all().len() >= MOST_ENTRIES;
        if described.constant || described.has_selector || full || described.implementation.is_some() {
            return;
        }
        let matches: Vec<Match> =
            described.keys.iter().zip(keys).map(|(key, value)| asked(key.kind, &key.shape, value, rng)).collect();
        let action = alt.action;
        let Some(data) = values(self.code, (table, *alt), self.bounds, rng) else { return };
        let listed = &described.actions[action];
        let parameters = &self.code.actions[listed.action].parameters[listed.bound.len()..];
        let data = data.iter().zip(parameters).map(|(value, parameter)| given(value, &parameter.shape)).collect();
        let rank = rank_of(&described.keys, &matches, 1 + rng.below(100) as i64);
        // One that is there is no matter.
        let _ = self.rows[table].add(described, Entry { matches, rank, action, data });
    }

    fn found(&self, table: usize, keys: &[Value]) -> (Alt, Vec<Value>) {
        let described = &self.code.tables[table];
        let keys: Vec<Given> = described.keys.iter().zip(keys).map(|(key, value)| given(value, &key.shape)).collect();
        let rows = &self.rows[table];
        let row = if keys.is_empty() { None } else { rows.find(&keys, described) };
        let (action, data) = match row {
            Some(at) => (rows.row(at).entry.action, &rows.row(at).entry.data),
            None => (rows.default.0, &rows.default.1),
        };
        let listed = &described.actions[action];
        let parameters = &self.code.actions[listed.action].parameters[listed.bound.len()..];
        let width = |shape: &Shape| shape.bits().unwrap_or(0);
        let mut values: Vec<Value> =
            parameters.iter().zip(data).map(|(p, value)| bits_of(value, width(&p.shape))).collect();
        values.extend(row.map(|at| of(POSITION, at as u128)));
        (Alt { hit: row.is_some(), action }, values)
    }
}

impl World for Entries<'_> {
    fn look(&mut self, table: usize, keys: &[Value], all: &[(Alt, Tree)]) -> Result<(Alt, Vec<Value>), Stop> {
        let found = self.found(table, keys);
        if found.0.hit || self.grow.is_none() {
            return Ok(found);
        }
        self.made(table, keys, all);
        Ok(self.found(table, keys))
    }

    fn hash(&self, bits: &[bool]) -> u32 {
        hash(self.layouts, bits)
    }

    fn cell(&mut self, array: Array, at: usize) -> u32 {
        self.cells.get(&(array, at)).copied().unwrap_or(0)
    }

    fn set_cell(&mut self, array: Array, at: usize, value: u32) {
        self.cells.insert((array, at), value);
    }

    fn arrival(&self) -> (u64, u16) {
        self.arrival
    }
}

/// The target's hash of bits that lie there in a key.
pub(crate) fn hash(layouts: &HashLayouts, bits: &[bool]) -> u32 {
    let Some(places) = layouts.get(&bits.len()) else { return 0 };
    let mut key = Key::default();
    for (place, bit) in places.iter().zip(bits) {
        if let Some(place) = place {
            key.put((*place).into(), 1, u64::from(*bit));
        }
    }
    key.hash()
}
