//! Tables with their names, and the cases of each stage: what the object has of a program, and what makes rows of entries. A node is a
//! list of cases in its order: its number, what it looks at, a table.
//!
//! Before: trees of visits. After: cases of stages. It keeps: the order in which tests and entries win. Verifier: `back/verify/rows.rs`.

use super::phv_allocation::Piece;
use super::rows::StageKey;
use super::spelt::spelt;
use super::{Plan, too_much};
use crate::compiler::ir::{Alt, Bits, Leaf, Src, Test, Tree};
use crate::compiler::middle::Refusal;
use crate::compiler::middle::value::bits_of;
use crate::front::info::table_aliases;
use crate::front::interpret::Shape;
use crate::front::interpret::code::{Code, Entry, Key, Match, MatchKind, Table};
use crate::front::interpret::tables::{Rows, rank_of};
use crate::front::interpret::value::Value;
use crate::front::source::Span;
use num_bigint::BigUint;
use sluice_formats::row::Wide;
use sluice_object::rmt::logical::{
    LogicalAction, LogicalCall, LogicalCase, LogicalEntry, LogicalKey, LogicalKind, LogicalLeads, LogicalLookup,
    LogicalMatch, LogicalOutcome, LogicalParameter, LogicalPiece,
};
use sluice_object::rmt::{Logical, LogicalTable, LogicalValue};
use sluice_rmt::action::Action;
use sluice_rmt::phv::Container;
use sluice_rmt::stage::CONDITION_AT;
use std::collections::BTreeSet;

/// Widest key and parameter of a table.
const MOST_BITS: u32 = 200;
/// Widest key that is compared with a range.
const MOST_RANGE: u32 = 64;

/// Bits of a stage's key, and which count.
type Asked = (LogicalValue, LogicalValue);

fn given((mut value, mut mask): Asked, at: u32, wanted: bool) -> Option<Asked> {
    if mask.bit(at) && value.bit(at) != wanted {
        return None;
    }
    mask = mask.with(at);
    if wanted {
        value = value.with(at);
    }
    Some((value, mask))
}

/// The cases of one stage so far.
struct Cases<'a> {
    plan: &'a Plan,
    key: &'a StageKey,
    node: usize,
    span: Span,
    actions: &'a mut Vec<Action>,
    all: Vec<LogicalCase>,
}

impl Plan {
    /// The tables without their entries, and the cases of all stages; then the actions of each stage.
    pub(super) fn logical(&self, code: &Code) -> Result<(Logical, Vec<Vec<Action>>), Refusal> {
        let aliases = table_aliases(code.tables.iter().map(|table| table.name.as_str()));
        let tables = code.tables.iter().zip(aliases).map(|(table, alias)| described(code, table, alias));
        let mut logical = Logical { tables: tables.collect(), ..Logical::default() };
        let mut actions = vec![Vec::new(); self.target.stages];
        let mut looked = BTreeSet::new();
        for (number, key) in self.keys.iter().enumerate().filter(|(_, key)| key.used) {
            let mut all = Vec::new();
            for (at, node) in self.graph.nodes.iter().enumerate().filter(|(at, _)| self.stages[*at] == number) {
                let (span, actions) = (self.graph.spans[at], &mut actions[number]);
                let mut cases = Cases { plan: self, key, node: at, span, actions, all };
                let place = key.bit(Container(self.homes.node), 0).unwrap_or(0);
                let numbered = if self.graph.is_system { 0..0 } else { 0..self.homes.number };
                let begin = numbered.into_iter().try_fold(Asked::default(), |asked, bit| {
                    given(asked, place + bit, (at as u64 + 1) >> bit & 1 == 1)
                });
                cases.walk(code, &node.tree, begin.unwrap_or_default())?;
                all = cases.all;
            }
            looked.extend(all.iter().filter_map(|case| match case {
                LogicalCase::Looks(lookup) => Some(usize::from(lookup.table)),
                LogicalCase::Leads(_) | LogicalCase::Hashes(_) => None,
            }));
            if super::hash::in_stage(&self.graph, &self.stages, number) {
                let hashed = key.looked.iter().fold(LogicalValue::default(), |all, bit| all.with(*bit));
                all.push(LogicalCase::Hashes(hashed));
            }
            logical.stages.insert(number as u8, spelt(all));
        }
        // Entries of tables that no packet comes to lead nowhere.
        for (_, table) in logical.tables.iter_mut().enumerate().filter(|(at, _)| !looked.contains(at)) {
            table.keys.clear();
            table.actions.iter_mut().for_each(|action| action.parameters.clear());
        }
        Ok((logical, actions))
    }
}

impl Cases<'_> {
    fn walk(&mut self, code: &Code, tree: &Tree, asked: Asked) -> Result<(), Refusal> {
        match tree {
            Tree::Table(table, keys, trees) => {
                let lookup = self.lookup(code, *table, keys, trees, asked)?;
                self.all.push(LogicalCase::Looks(lookup));
            }
            Tree::Leaf(leaf) => {
                let leads = self.leads(leaf, asked);
                self.all.extend(leads.map(LogicalCase::Leads));
            }
            Tree::Test(test, yes, no) => {
                let (with, without) = self.tested(test, asked);
                if let Some(with) = with {
                    self.walk(code, yes, with)?;
                }
                if let Some(without) = without {
                    self.walk(code, no, without)?;
                }
            }
        }
        Ok(())
    }

    /// What is asked of the key where a test is met, and where it is not; the former comes first.
    fn tested(&self, test: &Test, asked: Asked) -> (Option<Asked>, Option<Asked>) {
        match test {
            Test::Is(bits, value) => {
                let with = self.with(asked, bits, value);
                (with, Some(asked).filter(|asked| with != Some(*asked)))
            }
            Test::Compare { .. } => {
                let at = CONDITION_AT + self.key.tests.iter().position(|other| other == test).unwrap_or(0) as u32;
                (given(asked, at, true), given(asked, at, false))
            }
        }
    }

    /// What is asked, with these bits having this value; nothing if that cannot be.
    fn with(&self, asked: Asked, bits: &Bits, value: &Bits) -> Option<Asked> {
        let mut asked = asked;
        let mut top = bits.width();
        for seg in &bits.segs {
            top -= seg.width;
            for i in 0..seg.width {
                let wanted = value.slice(top + i, 1).known()? == 1;
                match seg.src {
                    Src::Const(k) if (k >> i & 1 == 1) == wanted => {}
                    Src::Loc(loc, low) => {
                        let piece = *self.plan.homes.of(loc, low + i, 1).first()?;
                        asked = given(asked, self.key.bit(piece.container, piece.at)?, wanted)?;
                    }
                    _ => return None,
                }
            }
        }
        Some(asked)
    }

    fn lookup(
        &mut self,
        code: &Code,
        table: usize,
        keys: &[Bits],
        trees: &[(Alt, Tree)],
        asked: Asked,
    ) -> Result<LogicalLookup, Refusal> {
        let described = &code.tables[table];
        for key in &described.keys {
            let bits = key.shape.bits().unwrap_or(0);
            let most = if key.kind == MatchKind::Range { MOST_RANGE } else { MOST_BITS };
            if bits > most {
                return too_much(self.span, format!("a key of {bits} bits, `{}`; at most {most}", key.name));
            }
        }
        let actions = described.actions.iter();
        for parameter in actions.flat_map(|listed| &code.actions[listed.action].parameters[listed.bound.len()..]) {
            let bits = parameter.shape.bits().unwrap_or(0);
            if bits > MOST_BITS {
                let what = format!("a parameter of {bits} bits, `{}`; at most {MOST_BITS}", parameter.name);
                return too_much(self.span, what);
            }
        }
        let pieces = keys.iter().map(|key| self.pieces(key)).collect::<Result<_, _>>()?;
        let mut outcomes = Vec::new();
        for (alt, tree) in trees {
            let mut leads = Vec::new();
            self.below(tree, asked, &mut leads)?;
            outcomes.push(LogicalOutcome { hit: alt.hit, action: alt.action as u16, leads });
        }
        let (value, mask) = (asked.0.0, asked.1.0);
        Ok(LogicalLookup { value, mask, table: table as u16, keys: pieces, outcomes })
    }

    /// Where bits of a table's key lie in the stage's.
    fn pieces(&self, key: &Bits) -> Result<Vec<LogicalPiece>, Refusal> {
        let mut pieces = Vec::new();
        let mut top = key.width();
        for seg in &key.segs {
            top -= seg.width;
            match seg.src {
                Src::Const(known) => {
                    let (low, bits) = (top as u16, seg.width as u16);
                    pieces.push(LogicalPiece { low, bits, at: None, known });
                }
                Src::Loc(loc, low) => {
                    for Piece { low: from, width, container, at } in self.plan.homes.of(loc, low, seg.width) {
                        let Some(bit) = self.key.bit(container, at) else {
                            return too_much(self.span, "a key that lies outside of what its stage looks at");
                        };
                        let low = (top + from - low) as u16;
                        pieces.push(LogicalPiece { low, bits: width as u16, at: Some(bit as u8), known: 0 });
                    }
                }
                _ => return too_much(self.span, "a key that is computed where it is looked up"),
            }
        }
        Ok(pieces)
    }

    /// Leaves below a table, with what they ask for.
    fn below(&mut self, tree: &Tree, asked: Asked, into: &mut Vec<LogicalLeads>) -> Result<(), Refusal> {
        match tree {
            Tree::Table(..) => return too_much(self.span, "two tables in one visit"),
            Tree::Leaf(leaf) => into.extend(self.leads(leaf, asked)),
            Tree::Test(test, yes, no) => {
                let (with, without) = self.tested(test, asked);
                if let Some(with) = with {
                    self.below(yes, with, into)?;
                }
                if let Some(without) = without {
                    self.below(no, without, into)?;
                }
            }
        }
        Ok(())
    }

    fn leads(&mut self, leaf: &Leaf, (value, mask): Asked) -> Option<LogicalLeads> {
        let made = self.plan.made[self.node].get(leaf)?;
        let action = match self.actions.iter().position(|action| *action == made.action) {
            Some(action) => action,
            None => {
                self.actions.push(made.action.clone());
                self.actions.len() - 1
            }
        };
        let (data, moves) = made.data();
        Some(LogicalLeads { value: value.0, mask: mask.0, action: action as u16, data: Wide(data), moves })
    }
}

fn described(code: &Code, table: &Table, alias: String) -> LogicalTable {
    let kind = |kind: MatchKind| match kind {
        MatchKind::Exact | MatchKind::Selector => LogicalKind::Exact,
        MatchKind::Lpm => LogicalKind::Lpm,
        MatchKind::Ternary => LogicalKind::Ternary,
        MatchKind::Range => LogicalKind::Range,
        MatchKind::Optional => LogicalKind::Optional,
    };
    let keys = table.keys.iter().map(|key| LogicalKey {
        name: key.name.clone(),
        kind: kind(key.kind),
        bits: key.shape.bits().unwrap_or(0) as u16,
    });
    let actions = table.actions.iter().map(|listed| {
        let parameters = code.actions[listed.action].parameters[listed.bound.len()..].iter();
        LogicalAction {
            name: code.actions[listed.action].name.clone(),
            parameters: parameters
                .map(|p| LogicalParameter { name: p.name.to_string(), bits: p.shape.bits().unwrap_or(0) as u16 })
                .collect(),
            default_only: listed.default_only,
            table_only: listed.table_only,
        }
    });
    LogicalTable {
        name: table.name.clone(),
        alias,
        keys: keys.collect(),
        actions: actions.collect(),
        size: table.size.map_or(0, |size| u32::try_from(size).unwrap_or(u32::MAX)),
        constant: table.constant,
        default_constant: table.default_constant,
        counted: !table.direct.is_empty(),
        ..LogicalTable::default()
    }
}

/// The tables with the entries that the reference has.
pub(super) fn with_entries(logical: &Logical, code: &Code, rows: &[Rows]) -> Logical {
    let mut logical = logical.clone();
    for ((table, described), rows) in logical.tables.iter_mut().zip(&code.tables).zip(rows) {
        table.default = call_of(table, rows.default.0, &rows.default.1);
        let entries = rows.all().filter(|_| !table.keys.is_empty()).map(|row| entry_of(table, described, &row.entry));
        table.entries = entries.collect();
    }
    logical
}

/// An action with its data, as tables of objects have it.
pub(crate) fn call_of(table: &LogicalTable, action: usize, values: &[Value]) -> LogicalCall {
    let values = table.actions[action].parameters.iter().zip(values).map(|(p, v)| number(v, p.bits.into()));
    LogicalCall { action: action as u16, values: values.collect() }
}

/// An entry of the reference, as tables of objects have it.
pub(crate) fn entry_of(table: &LogicalTable, described: &Table, entry: &Entry) -> LogicalEntry {
    let keys = entry.matches.iter().zip(&described.keys);
    let matches = keys.map(|(found, key)| asked(found, key.shape.bits().unwrap_or(0)));
    LogicalEntry { matches: matches.collect(), call: call_of(table, entry.action, &entry.data) }
}

pub(crate) fn number(value: &Value, width: u32) -> LogicalValue {
    match value {
        Value::Bits(bits) if width < u128::BITS => LogicalValue::of(bits & ((1 << width) - 1)),
        value => {
            let bits = bits_of(value, width);
            let set = (0..width).filter(|at| bits.slice(*at, 1).known() == Some(1));
            set.fold(LogicalValue::default(), LogicalValue::with)
        }
    }
}

/// An entry of such rows as the reference has it.
pub(crate) fn entry(entry: &LogicalEntry, table: &Table, code: &Code, rank: i64) -> Entry {
    let keys = entry.matches.iter().zip(&table.keys);
    let matches: Vec<Match> = keys.map(|(found, key)| found_by(found, key)).collect();
    let action = usize::from(entry.call.action);
    let listed = &table.actions[action];
    let parameters = &code.actions[listed.action].parameters[listed.bound.len()..];
    let data = parameters.iter().zip(&entry.call.values).map(|(p, value)| value_of(value, &p.shape)).collect();
    Entry { rank: rank_of(&table.keys, &matches, rank), matches, action, data }
}

fn value_of(value: &LogicalValue, shape: &Shape) -> Value {
    let width = shape.bits().unwrap_or(0);
    let big = (0..width).rev().fold(BigUint::default(), |all, at| (all << 1) + u8::from(value.bit(at)));
    match shape {
        Shape::Bool => Value::Bool(value.bit(0)),
        _ => Value::of_big(big, width),
    }
}

/// What such a row asks of a key, as an entry says it.
fn found_by(found: &LogicalMatch, key: &Key) -> Match {
    let value = |value: &LogicalValue| value_of(value, &key.shape);
    match found {
        LogicalMatch::Range { low, high } => Match::Range(value(low), value(high)),
        LogicalMatch::Masked { value: wanted, mask } => {
            let ones = (0..key.shape.bits().unwrap_or(0)).filter(|at| mask.bit(*at)).count() as u32;
            match key.kind {
                MatchKind::Lpm => Match::Prefix(value(wanted), value(mask), ones),
                _ if ones == 0 => Match::Any,
                MatchKind::Exact | MatchKind::Optional => Match::Exact(value(wanted)),
                _ => Match::Masked(value(wanted), value(mask)),
            }
        }
    }
}

/// What an entry asks of a key.
pub(crate) fn asked(found: &Match, width: u32) -> LogicalMatch {
    let masked = |value: LogicalValue, mask: LogicalValue| {
        let both = (0..width).filter(|at| mask.bit(*at) && value.bit(*at));
        LogicalMatch::Masked { value: both.fold(LogicalValue::default(), LogicalValue::with), mask }
    };
    match found {
        Match::Any => masked(LogicalValue::default(), LogicalValue::default()),
        Match::Exact(value) => masked(number(value, width), LogicalValue::ones(width)),
        Match::Masked(value, mask) | Match::Prefix(value, mask, _) => masked(number(value, width), number(mask, width)),
        // From a negative number to another one it goes past the largest.
        Match::Range(low, high) => LogicalMatch::Range { low: number(low, width), high: number(high, width) },
    }
}

impl Plan {
    /// Refuses entries that ask for a cell or a group that is not there.
    pub(super) fn within_cells(&self, code: &Code, rows: &[Rows]) -> Result<(), Refusal> {
        for (table, rows) in rows.iter().enumerate() {
            for (at, row) in rows.all().enumerate() {
                self.within_cells_of(code, table, (row.entry.action, &row.entry.data), Some(at))?;
            }
            let (action, data) = &rows.default;
            self.within_cells_of(code, table, (*action, data), None)?;
        }
        Ok(())
    }

    /// The same of an action with its data: of the entry at a position, or of the default.
    pub(crate) fn within_cells_of(
        &self,
        code: &Code,
        table: usize,
        (action, data): (usize, &[Value]),
        position: Option<usize>,
    ) -> Result<(), Refusal> {
        let described = &code.tables[table];
        let listed = &described.actions[action];
        let parameters = &code.actions[listed.action].parameters[listed.bound.len()..];
        let alt = Alt { hit: position.is_some(), action };
        let mut all: Vec<Bits> = Vec::new();
        for (node, span) in self.graph.nodes.iter().zip(&self.graph.spans) {
            let mut found = None;
            each_table(&node.tree, &mut |other, trees| {
                let tree = trees.iter().find(|(one, _)| other == table && *one == alt);
                let leaves = tree.map_or_else(Vec::new, |(_, tree)| super::leaves_of(tree));
                for (bits, bound) in leaves.iter().flat_map(|leaf| &leaf.bounds) {
                    if all.is_empty() {
                        all.extend(parameters.iter().zip(data).map(|(p, v)| bits_of(v, p.shape.bits().unwrap_or(0))));
                        all.extend(position.map(|at| Bits::constant(16, at as u128)));
                    }
                    let at = substituted(bits, &all);
                    if let Some(allowed) = bound.broken_by(at) {
                        let line = self.graph.locs.lines.applied(table).unwrap_or(*span);
                        let name = &described.name;
                        found.get_or_insert((line, format!("an entry of table `{name}` for {at}, and {allowed}")));
                    }
                }
            });
            if let Some((line, what)) = found {
                return too_much(line, what);
            }
        }
        Ok(())
    }
}

/// What is told of a table: its number, and what it comes to.
type Seen<'s> = dyn FnMut(usize, &[(Alt, Tree)]) + 's;

fn each_table(tree: &Tree, see: &mut Seen<'_>) {
    match tree {
        Tree::Test(_, yes, no) => {
            each_table(yes, see);
            each_table(no, see);
        }
        Tree::Table(table, _, trees) => see(*table, trees),
        Tree::Leaf(_) => {}
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
            _ => Bits::one(seg.clone()),
        });
    }
    all.known().unwrap_or(u128::MAX)
}
