//! Rows of the deparser: what of the outgoing headers is still where it was, and what containers bring.

use super::{homes::Homes, too_much};
use crate::ir::{Deparse, Loc, Out};
use crate::middle::Refusal;
use crate::source::Span;
use sluice_rmt::deparser::{DeparseRow, Pattern, Update};
use sluice_rmt::parser::Path;
use sluice_rmt::target::PATTERNS;
use std::collections::BTreeSet;

/// Bytes of the shortest packet that leaves through a row that shrinks packets.
const SHRUNK: u32 = 12;
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
pub(crate) fn shape(end: &Deparse, written: &BTreeSet<Loc>) -> Result<Shape, Refusal> {
    let length = end.outs.iter().map(|out| out.width).sum::<u32>() / 8;
    let delta = length as i32 - end.parsed as i32;
    if delta % 2 != 0 || delta.abs() > 64 {
        let what = format!("packets that grow or shrink by {delta} bytes; an even number up to 64 is possible");
        return too_much(Span::default(), what);
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

/// Which packets leave through which row: by the word `headers`, and by the parser's path where a row would not do for others.
pub(crate) fn patterns(
    rows: &[DeparseRow],
    paths: &[Path],
    reached: &[BTreeSet<usize>],
) -> Result<Vec<Pattern>, Refusal> {
    let mut all = Vec::new();
    for (number, (row, reached)) in rows.iter().zip(reached).enumerate() {
        let leaves = |path: &Path| i32::from(path.least) + i32::from(row.delta);
        for path in reached.iter().map(|at| &paths[*at]) {
            // No packet comes without a byte.
            let from = i32::from(path.least.max(1)) + i32::from(row.delta);
            if from < i32::from(row.least) {
                let least = row.least;
                let what = format!("packets of {from} bytes that leave where {least} are the fewest");
                return too_much(Span::default(), what);
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
        return too_much(Span::default(), what);
    }
    Ok(all)
}

impl Shape {
    /// Whether both are one row.
    pub fn is_like(&self, other: &Shape) -> bool {
        // Bytes behind those that are brought are the packet's in both.
        let put = |shape: &Shape| -> Vec<usize> { (0..shape.bytes.len()).filter(|at| shape.bytes[*at]).collect() };
        (self.delta, self.split, &self.sums, put(self), &self.brought)
            == (other.delta, other.split, &other.sums, put(other), &other.brought)
    }

    pub fn row(&self, homes: &Homes) -> Result<DeparseRow, Refusal> {
        let mut row = DeparseRow { delta: self.delta as i8, split: self.split as u8, ..DeparseRow::default() };
        let shortest = if self.delta < 0 { SHRUNK } else { LEAST };
        let mut least = shortest.max(self.split + self.delta.max(0) as u32);
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
                        return too_much(
                            Span::default(),
                            "a field that goes out at another bit of a byte than it is kept",
                        );
                    }
                    let lane = (piece.container, (piece.container.bytes() as u32 - 1 - at / 8) as u8);
                    match row.lanes[byte as usize] {
                        Some(other) if other != lane => {
                            return too_much(Span::default(), "fields of one outgoing byte that are kept apart");
                        }
                        _ => row.lanes[byte as usize] = Some(lane),
                    }
                    least = least.max(byte + 1);
                }
            }
            bit += out.width;
        }
        for (at, brought) in self.bytes.iter().enumerate() {
            if *brought && row.lanes[at].is_none() {
                return too_much(Span::default(), "an outgoing byte that nothing holds");
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
