//! Which container holds which bits.

use super::too_much;
use crate::interpret::Shape;
use crate::interpret::code::Code;
use crate::ir::{Graph, Loc, LocInfo};
use crate::middle::Refusal;
use crate::source::Span;
use sluice_rmt::phv::{Class, Container};
use std::collections::{BTreeMap, BTreeSet};

/// Some bits of a variable, and their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Lowest bit of the variable.
    pub low: u32,
    pub width: u32,
    pub container: Container,
    /// Lowest bit of the container.
    pub at: u32,
}

/// A container that holds bytes of a header at its upper end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    pub container: Container,
    /// A variable in it, by which the header is found in a packet, and the bits between the chunk's begin and its own.
    pub by: Loc,
    pub before: i32,
}

#[derive(Debug, Default)]
pub(crate) struct Homes {
    pub pieces: BTreeMap<Loc, Vec<Piece>>,
    pub chunks: Vec<Chunk>,
    pub node: u8,
    pub port: Option<u8>,
    pub length: Option<u8>,
    used: [u8; 3],
}

/// Where a field stands in its header: which header, and its first bit.
fn field(code: &Code, graph: &Graph, loc: Loc) -> Option<((usize, Vec<u32>), u32)> {
    match graph.locs.info(loc) {
        // A header of its own: not every way that looks at these bytes looks at as many.
        LocInfo::Look(at, width) => Some(((usize::MAX, vec![*at, *width]), *at)),
        LocInfo::Leaf(slot, path) => {
            let parameter = &code.parsers[code.pipeline.parser].parameters[1];
            if parameter.slot != *slot {
                return None;
            }
            // The innermost header on the path.
            let mut shape = &parameter.shape;
            for (depth, at) in path.iter().enumerate() {
                if let Shape::Header(_) = shape {
                    let mut bit = 0;
                    for step in &path[depth..] {
                        let fields = shape.fields()?;
                        bit += fields.shapes[..*step as usize].iter().map(|s| s.bits().unwrap_or(0)).sum::<u32>();
                        shape = shape.part(*step);
                    }
                    return Some(((*slot, path[..depth].to_vec()), bit));
                }
                shape = shape.part(*at);
            }
            None
        }
        _ => None,
    }
}

/// A field of a header: its first bit there, its width, its variable.
type Field = (u32, u32, Loc);

impl Homes {
    /// A container for each variable; those in `larger` do not lie in the smallest class that holds them.
    pub fn new(code: &Code, graph: &Graph, wanted: &BTreeSet<Loc>, larger: &BTreeSet<Loc>) -> Result<Homes, Refusal> {
        let mut homes = Homes::default();
        homes.node = homes.take(2, false)?.0;
        let mut headers: BTreeMap<(usize, Vec<u32>), Vec<Field>> = BTreeMap::new();
        let mut others = Vec::new();
        for loc in wanted {
            let width = graph.locs.width(*loc);
            match (graph.locs.info(*loc), field(code, graph, *loc)) {
                (LocInfo::Port, _) => {
                    let container = homes.take(2, false)?;
                    homes.port = Some(container.0);
                    homes.pieces.insert(*loc, vec![Piece { low: 0, width, container, at: 0 }]);
                }
                // The status word has it.
                (LocInfo::Bad, _) => {}
                (LocInfo::Length, _) => {
                    let container = homes.take(2, false)?;
                    homes.length = Some(container.0);
                    homes.pieces.insert(*loc, vec![Piece { low: 0, width, container, at: 0 }]);
                }
                (_, Some((header, bit))) => headers.entry(header).or_default().push((bit, width, *loc)),
                _ => others.push(*loc),
            }
        }
        for mut fields in headers.into_values() {
            fields.sort();
            let mut group: Vec<Field> = Vec::new();
            for field in fields {
                let end = group.iter().map(|(bit, width, _)| (bit + width).div_ceil(8)).max().unwrap_or(0);
                if !group.is_empty() && field.0 / 8 >= end {
                    homes.group(&std::mem::take(&mut group), larger)?;
                }
                group.push(field);
            }
            homes.group(&group, larger)?;
        }
        for loc in others {
            let mut left = graph.locs.width(loc);
            let mut pieces = Vec::new();
            while left > 0 {
                let width = left.min(48);
                left -= width;
                let container = homes.take(width.div_ceil(8), larger.contains(&loc))?;
                pieces.push(Piece { low: left, width, container, at: 0 });
            }
            homes.pieces.insert(loc, pieces);
        }
        Ok(homes)
    }

    /// Fields that share bytes.
    fn group(&mut self, fields: &[(u32, u32, Loc)], larger: &BTreeSet<Loc>) -> Result<(), Refusal> {
        let Some(first) = fields.first() else { return Ok(()) };
        let begin = first.0 / 8;
        let end = fields.iter().map(|(bit, width, _)| (bit + width).div_ceil(8)).max().unwrap_or(begin);
        let up = fields.iter().any(|(_, _, loc)| larger.contains(loc));
        let mut at = begin;
        while at < end {
            let bytes = (end - at).min(6);
            let container = self.take(bytes, up)?;
            let size = container.bytes() as u32;
            let before = first.0 as i32 - 8 * at as i32;
            self.chunks.push(Chunk { container, by: first.2, before });
            for (bit, width, loc) in fields {
                let (from, to) = ((*bit).max(8 * at), (bit + width).min(8 * (at + bytes)));
                if from < to {
                    let piece =
                        Piece { low: bit + width - to, width: to - from, container, at: 8 * size - (to - 8 * at) };
                    self.pieces.entry(*loc).or_default().push(piece);
                }
            }
            at += bytes;
        }
        Ok(())
    }

    fn take(&mut self, bytes: u32, larger: bool) -> Result<Container, Refusal> {
        let smallest = (bytes.div_ceil(2) - 1) as usize;
        let from = if larger && smallest < 2 { smallest + 1 } else { smallest };
        for class in (from..3).chain(smallest..from) {
            if self.used[class] < 8 {
                self.used[class] += 1;
                return Ok(Container::of(Class::ALL[class], self.used[class] - 1));
            }
        }
        too_much(Span::default(), "more values at a time than there are containers (8 of 2, 4 and 6 bytes each)")
    }

    /// Where some bits of a variable lie, the highest first.
    pub fn of(&self, loc: Loc, low: u32, width: u32) -> Vec<Piece> {
        let mut out = Vec::new();
        for piece in self.pieces.get(&loc).map_or(&[][..], Vec::as_slice) {
            let (from, to) = (piece.low.max(low), (piece.low + piece.width).min(low + width));
            if from < to {
                let at = piece.at + from - piece.low;
                out.push(Piece { low: from, width: to - from, container: piece.container, at });
            }
        }
        out.sort_by_key(|piece| std::cmp::Reverse(piece.low));
        out
    }

    /// Byte of the packet at which a chunk's container is taken, if its header is there.
    pub fn taken(&self, chunk: &Chunk, taken: &BTreeMap<Loc, u32>) -> Option<u32> {
        let first = *taken.get(&chunk.by)? as i32 - chunk.before;
        u32::try_from(first).ok().map(|bit| bit / 8)
    }
}
