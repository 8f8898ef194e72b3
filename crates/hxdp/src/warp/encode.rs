//! A table as rows of the warp engine.

use super::extract::{Extract, Part};
use super::key::{Key, Limit, Predicate};
use super::peel::{Entry, STACK_SET};
use super::value::More;
use super::{Action, Leaf, Rule, Table};
use sluice_formats::row::Row;
use sluice_formats::xdp::codes::XdpWarpKind;
use sluice_formats::xdp::rows::{
    XdpWarpChunkRow, XdpWarpCountPart, XdpWarpKeyRow, XdpWarpLeafRow, XdpWarpPart, XdpWarpPredicatePart,
    XdpWarpPredicatesRow, XdpWarpStepRow,
};
use sluice_object::xdp::warp::{CHUNK_BITS, CHUNK_VALUES, CHUNKS, XdpWarp, XdpWarpCount};

/// First target of a step that is a word of the stack: that 128 bytes before its end.
const STACK_WORDS: u8 = 16;
/// First target of a step that is a word of the key.
const KEY_WORDS: u8 = 32;

/// The rows.
pub fn encode(table: &Table) -> XdpWarp {
    let mut warp = XdpWarp { key: key(&table.key), predicates: predicates(&table.key), ..XdpWarp::default() };
    warp.chunks = chunks(&table.leaves);
    for (at, leaf) in table.leaves.iter().enumerate() {
        let row = match &leaf.action {
            Action::Plain => XdpWarpLeafRow::default(),
            Action::Verdict { r0, counts } => {
                let mut row = XdpWarpLeafRow {
                    kind: XdpWarpKind::Verdict.code(),
                    verdict: *r0 as u8 & 3,
                    ..XdpWarpLeafRow::default()
                };
                for (count, (part, found)) in row.counts.iter_mut().zip(counts).enumerate() {
                    let (length, number) = match found.more {
                        More::Number(number) => (false, number as u8),
                        More::Length => (true, 0),
                    };
                    *part = XdpWarpCountPart { valid: true, wide: found.cell.bytes == 8, length, number, address: 0 };
                    let cell = found.cell;
                    warp.counts.push(XdpWarpCount {
                        leaf: at,
                        count,
                        map: cell.map,
                        index: cell.index,
                        offset: cell.offset,
                    });
                }
                row
            }
            Action::Resume { row, missed, entry } => {
                let first = warp.steps.len();
                warp.steps.extend(steps(entry));
                let lookup = entry.lookup.as_ref();
                let missed = XdpWarpCountPart {
                    valid: missed.is_some(),
                    address: missed.unwrap_or_default(),
                    ..XdpWarpCountPart::default()
                };
                XdpWarpLeafRow {
                    counts: [missed, XdpWarpCountPart::default()],
                    kind: XdpWarpKind::Resume.code(),
                    start: *row as u16,
                    work: leaf.work as u8,
                    step: first as u8,
                    steps: (warp.steps.len() - first) as u8,
                    looks_up: lookup.is_some(),
                    map: lookup.map_or(0, |lookup| lookup.map as u16),
                    key_bytes: lookup.map_or(0, |lookup| lookup.bytes as u8),
                    ..XdpWarpLeafRow::default()
                }
            }
        };
        warp.leaves.push(XdpWarpLeafRow { work: leaf.work as u8, ..row });
    }
    warp
}

fn key(key: &Key) -> XdpWarpKeyRow {
    XdpWarpKeyRow { valid: true, lanes: key.lanes.map(Option::unwrap_or_default) }
}

fn predicates(key: &Key) -> [XdpWarpPredicatesRow; 2] {
    let of = |predicate: &Predicate| XdpWarpPredicatePart {
        pair: predicate.pair,
        mask: predicate.mask,
        down: predicate.down as u8 & 31,
        add: predicate.add,
        limit: match predicate.limit {
            Limit::Number(limit) => limit,
            Limit::Length => 0,
        },
        length: predicate.limit == Limit::Length,
    };
    let mut rows = [XdpWarpPredicatesRow::default(); 2];
    for (at, predicate) in key.predicates.iter().enumerate() {
        let [a, b] = &mut rows;
        let row = if at < 4 { a } else { b };
        row.predicates[at % 4] = of(predicate);
    }
    rows
}

/// A rule's mask and value over the key.
fn ternary(rule: &Rule) -> (u128, u128) {
    let mut both = (0, 0);
    for (at, (mask, value)) in rule.lanes.iter().enumerate() {
        both.0 |= u128::from(*mask) << (8 * at);
        both.1 |= u128::from(*value) << (8 * at);
    }
    let behind = 8 * rule.lanes.len();
    (both.0 | u128::from(rule.predicates.0) << behind, both.1 | u128::from(rule.predicates.1) << behind)
}

fn chunks(leaves: &[Leaf]) -> Vec<XdpWarpChunkRow> {
    let rules: Vec<(u128, u128)> = leaves.iter().map(|leaf| ternary(&leaf.rule)).collect();
    let mut rows = Vec::with_capacity(CHUNKS * CHUNK_VALUES);
    for chunk in 0..CHUNKS {
        let part = |bits: u128| (bits >> (CHUNK_BITS * chunk)) as usize % CHUNK_VALUES;
        for value in 0..CHUNK_VALUES {
            let agrees = |(mask, wanted): &(u128, u128)| value & part(*mask) == part(*wanted);
            let bit = |(at, rule): (usize, &(u128, u128))| u64::from(agrees(rule)) << at;
            rows.push(XdpWarpChunkRow { rules: rules.iter().enumerate().map(bit).fold(0, |all, bit| all | bit) });
        }
    }
    rows
}

/// Words of the key stand between those for a core: two of them in one pair take two cycles.
fn steps(entry: &Entry) -> Vec<XdpWarpStepRow> {
    let registers = entry.registers.iter().map(|(register, from)| (*register, from));
    let stack = entry.stack.iter().map(|(offset, from)| (STACK_WORDS + ((offset + STACK_SET) / 8) as u8, from));
    let mut words = registers.chain(stack);
    let mut keys = entry.lookup.iter().flat_map(|lookup| (KEY_WORDS..).zip(&lookup.key));
    let mut rows = Vec::new();
    loop {
        let both = [words.next(), keys.next()];
        if both == [None, None] {
            return rows;
        }
        rows.extend(both.into_iter().flatten().flat_map(|(target, from)| of_target(target, from)));
    }
}

/// Cycles that a packet with these steps takes the engine, of which the first is that row of its table: one for each pair, and one more for each in which two words of the key end.
pub fn cycles(steps: &[XdpWarpStepRow], first: usize) -> u64 {
    let ends = |at: usize| steps.get(at + 1).is_none_or(|next| next.target != steps[at].target);
    let is_key = |at: usize| steps[at].target >= KEY_WORDS;
    let pairs = (first / 2..(first + steps.len()).div_ceil(2)).map(|pair| {
        let [a, b] = [0, 1].map(|n| (2 * pair + n).checked_sub(first).filter(|at| *at < steps.len()));
        let two_keys =
            a.zip(b).is_some_and(|both| <[usize; 2]>::from(both).into_iter().all(|at| ends(at) && is_key(at)));
        1 + u64::from(two_keys)
    });
    pairs.sum()
}

fn of_target(target: u8, from: &Extract) -> Vec<XdpWarpStepRow> {
    let mut rows: Vec<XdpWarpStepRow> =
        from.parts.iter().map(|part| XdpWarpStepRow { constant: false, target, number: number(part) }).collect();
    if from.constant != 0 || rows.is_empty() {
        rows.push(XdpWarpStepRow { constant: true, target, number: from.constant });
    }
    rows
}

/// A part as a step's number.
fn number(part: &Part) -> u64 {
    let row = XdpWarpPart {
        offset: part.offset,
        bytes: part.bytes - 1,
        swap: part.swap,
        down: part.down,
        width: part.width - 1,
        up: part.up,
    };
    // All fields have room for what a part can be.
    row.pack().map_or(0, |words| words.first().copied().unwrap_or(0).into())
}
