//! Rows of the deparser: what of the outgoing headers is still where it was, and what containers bring.
//!
//! Before: an end, and what is written anywhere. After: a row and its patterns; ends with one row are one. It keeps: the bytes that go out. Verifiers:
//! `back/verify/deparse.rs`, of ends that are one `ends.rs`.

use super::{Plan, names, phv_allocation::Homes, too_much};
use crate::compiler::ir::{Deparse, Graph, Loc, LocInfo, Out};
use crate::compiler::middle::{Refusal, RefusalKind};
use crate::front::interpret::code::Code;
use crate::front::source::Span;
use sluice_rmt::deparser::{DeparseRow, Pattern, Update};
use sluice_rmt::parser::Path;
use sluice_rmt::target::{DELTA, PATTERNS};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of the header that a packet may leave with.
const WINDOW: i32 = 128;
/// Bytes of the shortest packet that the pipeline sends.
const LEAST: u32 = 1;

/// A row without containers yet.
#[derive(Debug)]
pub(crate) struct Shape {
    delta: i32,
    split: u32,
    /// For each outgoing byte, whether a container brings it.
    bytes: Vec<bool>,
    outs: Vec<Out>,
    /// What containers bring, whole or in part: the first bit that goes out, the variable, its bits.
    brought: Vec<(u32, Loc, u32)>,
    pub carried: BTreeSet<Loc>,
    sums: Vec<(u32, u32, u32)>,
}

/// How the row of an end looks, where these variables are written somewhere.
pub(crate) fn shape(end: &Deparse, written: &BTreeSet<Loc>) -> Result<Shape, String> {
    let length = end.outs.iter().map(|out| out.width).sum::<u32>() / 8;
    let delta = length as i32 - end.parsed as i32;
    if delta.abs() > DELTA {
        return Err(format!("packets that grow or shrink by {delta} bytes; up to {DELTA} are possible"));
    }
    // For each byte where it comes from, if nothing of it is written anywhere.
    let summed = |byte: u32| end.sums.iter().any(|(_, _, at)| byte == *at || byte == at + 1);
    let mut from: Vec<Option<Option<u32>>> = vec![None; length as usize];
    let mut bit = 0;
    for out in &end.outs {
        for i in 0..out.width {
            let byte = ((bit + i) / 8) as usize;
            let here = match out.from {
                Some(first) if !written.contains(&out.loc) && (first + i) % 8 == (bit + i) % 8 => Some((first + i) / 8),
                _ => None,
            };
            from[byte] = match from[byte] {
                None => Some(here),
                Some(before) if before == here => Some(here),
                Some(_) => Some(None),
            };
        }
        bit += out.width;
    }
    let brought = |split: u32| -> Vec<bool> {
        (0..length)
            .map(|at| {
                let grows = delta > 0 && at >= split && (at as i32) < split as i32 + delta;
                let source = if at < split || delta == 0 { at as i32 } else { at as i32 - delta };
                let stays = from[at as usize] == Some(Some(source as u32)) && source >= 0;
                grows || !(stays || summed(at))
            })
            .collect()
    };
    let most = if delta == 0 { 0 } else { length.min(end.parsed) };
    let count = |split: u32| brought(split).iter().filter(|brought| **brought).count();
    let split = (0..=most).rev().min_by_key(|split| count(*split)).unwrap_or(0);
    let bytes = brought(split);
    let mut brought = Vec::new();
    let mut bit = 0;
    for out in &end.outs {
        if (bit / 8..(bit + out.width).div_ceil(8)).any(|byte| bytes[byte as usize]) {
            brought.push((bit, out.loc, out.width));
        }
        bit += out.width;
    }
    let carried = brought.iter().map(|(_, loc, _)| *loc).collect();
    Ok(Shape { delta, split, bytes, outs: end.outs.clone(), brought, carried, sums: end.sums.clone() })
}

/// The refusal of packets that change their length in a way that no row can: at the header that is new, or at one that is left out.
pub(crate) fn growth(graph: &Graph, code: &Code, end: &Deparse, what: String) -> Refusal {
    let lines = &graph.locs.lines;
    let mut new: BTreeMap<String, (u32, Span)> = BTreeMap::new();
    let mut emitted = BTreeSet::new();
    for out in &end.outs {
        let (LocInfo::Leaf(slot, path) | LocInfo::Element(slot, path, ..)) = graph.locs.info(out.loc) else { continue };
        let owner = names::owner(graph, out.loc, code);
        emitted.insert(owner.clone());
        if lines.taken(*slot, path).is_none() {
            new.entry(owner).or_insert((0, names::emitted(graph, out.loc))).0 += out.width;
        }
    }
    let most = new.iter().max_by_key(|(_, (bits, _))| *bits);
    if let Some((name, (bits, span))) = most {
        return Refusal::new(*span, RefusalKind::TooMuch, format!("{what}; `{name}` is new, {} bytes", bits / 8));
    }
    let left = graph.paths.iter().filter(|path| path.least == end.parsed).flat_map(|path| path.taken.keys());
    // What is only looked at ahead is no header.
    let is_header = |loc: &Loc| !matches!(graph.locs.info(*loc), LocInfo::Look(..));
    let left = left.copied().find(|loc| is_header(loc) && !emitted.contains(&names::owner(graph, *loc, code)));
    match left {
        Some(loc) => {
            let what = format!("{what}; `{}` does not go out", names::owner(graph, loc, code));
            Refusal::new(graph.locs.line(loc, None).unwrap_or_default(), RefusalKind::TooMuch, what)
        }
        None => Refusal::new(way(graph, end.parsed), RefusalKind::TooMuch, what),
    }
}

/// Where the parser is left by packets of so many bytes.
fn way(graph: &Graph, least: u32) -> Span {
    graph.paths.iter().find(|path| path.least == least).or(graph.paths.last()).map_or(Span::default(), |path| path.span)
}

/// The refusal of rows that are too many: at the header that is in some of them and not in others.
fn too_many(graph: &Graph, code: &Code, ends: &[Deparse], what: String) -> Refusal {
    let mut rows: BTreeMap<String, (BTreeSet<usize>, Loc)> = BTreeMap::new();
    for (at, end) in ends.iter().enumerate() {
        for out in &end.outs {
            rows.entry(names::owner(graph, out.loc, code)).or_insert((BTreeSet::new(), out.loc)).0.insert(at);
        }
    }
    let mut parted: Vec<(String, usize, Loc)> =
        rows.into_iter().map(|(name, (rows, loc))| (name, rows.len().min(ends.len() - rows.len()), loc)).collect();
    parted.sort_by_key(|(name, parted, _)| (std::cmp::Reverse(*parted), name.clone()));
    let Some((_, _, loc)) = parted.first() else { return Refusal::new(Span::default(), RefusalKind::TooMuch, what) };
    let span = names::emitted(graph, *loc);
    let some = names::listed(parted.into_iter().filter(|(_, parted, _)| *parted > 0).map(|(name, ..)| name));
    let what = if some.is_empty() { what } else { format!("{what}; {some} in some of them and not in others") };
    Refusal::new(span, RefusalKind::TooMuch, what)
}

/// Which packets leave through which row: by the word `headers`, and by the parser's path where a row would not do for others.
pub(crate) fn patterns(plan: &Plan, code: &Code) -> Result<Vec<Pattern>, Refusal> {
    let (rows, paths) = (&plan.rows, &plan.parser.paths);
    let mut all = Vec::new();
    for (number, (row, reached)) in rows.iter().zip(&plan.reached()).enumerate() {
        let leaves = |path: &Path| i32::from(path.least) + i32::from(row.delta);
        for path in reached.iter().map(|at| &paths[*at]) {
            // No packet comes without a byte.
            let from = i32::from(path.least.max(1)) + i32::from(row.delta);
            if from < i32::from(row.least) {
                let least = row.least;
                let what = match from < 0 {
                    true => format!("packets of {} bytes, of which {} are left out", path.least.max(1), -row.delta),
                    false => format!("packets of {from} bytes that leave where {least} are the fewest"),
                };
                // What is brought from containers makes a row long; else it is one that shrinks packets.
                let brought = (0..plan.ends[number].outs.len()).rev().map(|at| &plan.ends[number].outs[at]);
                let brought = brought.filter(|out| !plan.homes.of(out.loc, 0, out.width).is_empty()).map(|out| out.loc);
                let span = match brought.into_iter().next().filter(|_| row.delta >= 0) {
                    Some(loc) => names::emitted(&plan.graph, loc),
                    None => way(&plan.graph, path.least.into()),
                };
                return too_much(span, what);
            }
        }
        let value = (number as u32 + 1) << 4;
        let row_number = number as u8;
        if paths.iter().all(|path| (0..=WINDOW).contains(&leaves(path))) {
            all.push(Pattern { value, mask: 0xf_fff0, row: row_number });
            continue;
        }
        let of = reached.iter().map(|path| Pattern { value: value | *path as u32, mask: 0xf_ffff, row: row_number });
        all.extend(of);
    }
    if all.len() > PATTERNS {
        let what = format!("{} ways to put packets together, and there are {PATTERNS}", all.len());
        return Err(too_many(&plan.graph, code, &plan.ends, what));
    }
    Ok(all)
}

impl Shape {
    /// The outgoing bits at which fields begin that containers bring, whole or in part.
    pub fn brought_bits(&self) -> BTreeSet<u32> {
        self.brought.iter().map(|(bit, ..)| *bit).collect()
    }

    /// Whether both are one row.
    pub fn is_like(&self, other: &Shape) -> bool {
        // Bytes behind those that are brought are the packet's in both.
        let put = |shape: &Shape| -> Vec<usize> { (0..shape.bytes.len()).filter(|at| shape.bytes[*at]).collect() };
        (self.delta, self.split, &self.sums, put(self), &self.brought)
            == (other.delta, other.split, &other.sums, put(other), &other.brought)
    }

    /// The row, where so many bytes go out at a time; or a field that goes out and what is wrong with it.
    pub fn row(&self, homes: &Homes, beat: u32) -> Result<DeparseRow, (Loc, &'static str)> {
        // By how much a container is turned in a beat.
        let mut turned = BTreeMap::new();
        let mut row = DeparseRow { delta: self.delta as i8, split: self.split as u8, ..DeparseRow::default() };
        let mut least = LEAST.max(self.split + self.delta.max(0) as u32);
        let mut bit = 0;
        for out in &self.outs {
            for piece in homes.of(out.loc, 0, out.width) {
                // From the highest bit of the piece down.
                for i in (0..piece.width).rev() {
                    let outgoing = bit + out.width - 1 - (piece.low + i);
                    let (byte, in_byte) = (outgoing / 8, 7 - outgoing % 8);
                    if !self.bytes[byte as usize] {
                        continue;
                    }
                    let at = piece.at + i;
                    if at % 8 != in_byte {
                        return Err((out.loc, "a field that goes out at another bit of a byte than it is kept"));
                    }
                    let lane = (piece.container, (piece.container.bytes() as u32 - 1 - at / 8) as u8);
                    match row.lanes[byte as usize] {
                        Some(other) if other != lane => {
                            return Err((out.loc, "fields of one outgoing byte that are kept apart"));
                        }
                        _ => row.lanes[byte as usize] = Some(lane),
                    }
                    let size = lane.0.bytes() as u32;
                    let turn = (byte + size - u32::from(lane.1)) % size;
                    if *turned.entry((byte / beat, lane.0)).or_insert(turn) != turn {
                        return Err((out.loc, "a value that goes out twice, or beside another one in another order"));
                    }
                    least = least.max(byte + 1);
                }
            }
            bit += out.width;
        }
        for (at, brought) in self.bytes.iter().enumerate() {
            if *brought && row.lanes[at].is_none() {
                let loc = self.brought.first().map_or(Loc(0), |(_, loc, _)| *loc);
                return Err((loc, "an outgoing byte that nothing holds"));
            }
        }
        for (slot, (start, words, at)) in row.checksums.iter_mut().zip(&self.sums) {
            *slot = Some(Update { start: *start as u8, words: *words as u8, at: *at as u8 });
            least = least.max(start + 2 * words);
        }
        row.least = least as u8;
        Ok(row)
    }
}
