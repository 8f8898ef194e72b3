//! Entries of tables and cases of `select` that never match: one that is met before them matches all that they do.

use super::covered::{Match, Met};
use super::{Looked, Warned, constants, is_silenced};
use crate::error::place;
use crate::front::check::{Facts, Kind, Type, wrap};
use crate::front::source::Span;
use crate::front::syntax::ast::{
    DeclarationKind, Entry, Expr, ExprKind, KeyElement, Property, PropertyValue, SelectCase, Transition,
    annotated_priority,
};
use num_bigint::BigInt;

pub(super) fn look(looked: &mut Looked<'_>) {
    for block in looked.blocks() {
        let Some(body) = &block.body else { continue };
        for state in &body.states {
            if let Some(Transition::Select { keys, cases, .. }) = &state.transition {
                of_select(looked, keys, cases);
            }
        }
        for local in &body.locals {
            let DeclarationKind::Table { properties, .. } = &local.kind else { continue };
            if !is_silenced(&local.annotations, "unreachable-entry") {
                of_table(looked, properties);
            }
        }
    }
}

fn of_select(looked: &mut Looked<'_>, keys: &[Expr], cases: &[SelectCase]) {
    let types: Vec<Type> = keys.iter().filter_map(|key| looked.facts.types.get(key.at.id as usize).cloned()).collect();
    let mut before = Met::default();
    let span = |case: &SelectCase| case.values.first().map_or(case.state.span, |value| value.at.span);
    for (at, case) in cases.iter().enumerate() {
        let matches = matches(looked.facts, &case.values, &types);
        let first = before.first_that_covers(&matches, &[]).map(|first| span(&cases[first]));
        if !tell(looked, "this case", span(case), &matches, first) {
            before.add(at, &matches);
        }
    }
}

fn of_table(looked: &mut Looked<'_>, properties: &[Property]) {
    let value = |name: &str| {
        properties.iter().find(|p| &*p.name.text == name).and_then(|p| match &p.value {
            PropertyValue::Value(value) => constants::value(looked.facts, value),
            _ => None,
        })
    };
    let keys = properties.iter().find_map(|p| match &p.value {
        PropertyValue::Key(keys) => Some(keys),
        _ => None,
    });
    let entries = properties.iter().find_map(|p| match &p.value {
        PropertyValue::Entries(entries) => Some((p.constant, entries)),
        _ => None,
    });
    let (Some(keys), Some((constant, entries))) = (keys, entries) else { return };
    let largest = value("largest_priority_wins").is_none_or(|value| value != 0.into());
    let delta = value("priority_delta").unwrap_or_else(|| 1.into());
    // Without a key of these kinds nothing but the prefix is looked at, and the order.
    let ranked = keys.iter().any(|key| matches!(&*key.kind.text, "ternary" | "range" | "optional"));
    let ranks = match ranked {
        true => ranks(looked.facts, entries, constant, largest, &delta),
        false => Some(vec![BigInt::default(); entries.len()]),
    };
    let Some(ranks) = ranks else { return };
    let types: Vec<Type> =
        keys.iter().filter_map(|key| looked.facts.types.get(key.value.at.id as usize).cloned()).collect();
    // The longer prefix wins, whatever the order.
    let prefix: Vec<bool> = keys.iter().map(|key: &KeyElement| &*key.kind.text == "lpm").collect();
    let span = |at: usize| entries[at].values.first().map_or(entries[at].span, |value| value.at.span);
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|one, two| ranks[*one].cmp(&ranks[*two]));
    let mut before = Met::default();
    for at in order {
        let these = matches(looked.facts, &entries[at].values, &types);
        let first = before.first_that_covers(&these, &prefix).map(span);
        if !tell(looked, "this entry", span(at), &these, first) {
            before.add(at, &these);
        }
    }
}

/// Warns of what never matches: it is empty, or another one matches before it. Whether it is empty.
fn tell(looked: &mut Looked<'_>, what: &str, span: Span, matches: &[Match], first: Option<Span>) -> bool {
    let empty = matches.iter().any(|one| matches!(one, Match::Range(low, high) if low > high));
    let why = match first {
        _ if empty => "its range ends before it begins".to_string(),
        Some(first) => format!("what it matches, the one at {} matches before it", place(first, looked.sources)),
        None => return false,
    };
    looked.warn(span, Warned::Unreachable { what: what.to_string(), why });
    empty
}

/// In which order entries are met: a lower rank first.
fn ranks(facts: &Facts, entries: &[Entry], constant: bool, largest: bool, delta: &BigInt) -> Option<Vec<BigInt>> {
    if constant || entries.iter().all(|entry| entry.priority.is_none()) {
        let given = |entry: &Entry| annotated_priority(&entry.action.annotations);
        let all = entries.iter().enumerate();
        return Some(all.map(|(at, entry)| given(entry).map_or(BigInt::from(at + 1), BigInt::from)).collect());
    }
    let mut all: Vec<BigInt> = Vec::with_capacity(entries.len());
    for entry in entries {
        let rank = match (&entry.priority, all.last()) {
            (Some(priority), _) => {
                let priority = constants::value(facts, priority)?;
                if largest { -priority } else { priority }
            }
            (None, Some(last)) => last + delta,
            (None, None) => return None,
        };
        all.push(rank);
    }
    Some(all)
}

/// What each key is compared with.
fn matches(facts: &Facts, values: &[Expr], types: &[Type]) -> Vec<Match> {
    match values {
        [Expr { kind: ExprKind::List(values), .. }] if types.len() != 1 => return matches(facts, values, types),
        [Expr { kind: ExprKind::Any | ExprKind::Default, .. }] => return vec![Match::Any; types.len()],
        _ if values.len() != types.len() => return vec![Match::Unknown; types.len()],
        _ => {}
    }
    values.iter().zip(types).map(|(value, ty)| one(facts, value, ty).unwrap_or(Match::Unknown)).collect()
}

fn one(facts: &Facts, value: &Expr, ty: &Type) -> Option<Match> {
    let held = held(facts, ty);
    let number = |value: &Expr| constants::value(facts, value).map(|number| wrap(number, &held));
    let bits = |number: BigInt| if number.sign() == num_bigint::Sign::Minus { unsigned(number, &held) } else { number };
    let all = || match &held {
        Type::Bit(width) | Type::Signed(width) => (BigInt::from(1) << *width) - 1,
        _ => (BigInt::from(1) << 64) - 1,
    };
    Some(match &value.kind {
        ExprKind::Any | ExprKind::Default => Match::Any,
        ExprKind::Mask(value, mask) => {
            let (value, mask) = (bits(number(value)?), bits(number(mask)?));
            Match::Bits(value & &mask, mask)
        }
        ExprKind::Range(low, high) => {
            let (begin, end) = (number(low)?, number(high)?);
            // One that is empty because an end was cut is told of already.
            let cut = begin > end && constants::value(facts, low)? <= constants::value(facts, high)?;
            if cut { Match::Unknown } else { Match::Range(begin, end) }
        }
        _ => Match::Bits(bits(number(value)?), all()),
    })
}

/// The type of numbers that stands behind one.
fn held(facts: &Facts, ty: &Type) -> Type {
    let mut ty = ty.clone();
    while let Some(of) = facts.represented(&ty) {
        ty = of;
    }
    match &ty {
        Type::Named(id, _) if matches!(facts.definition(*id).kind, Kind::Enum { .. }) => Type::Int,
        _ => ty,
    }
}

fn unsigned(number: BigInt, ty: &Type) -> BigInt {
    match ty {
        Type::Signed(width) => wrap(number, &Type::Bit(*width)),
        _ => number,
    }
}
