//! A program's table for the warp engine, which knows no address yet: docs/decisions/xdp-warp.md.

pub mod matcher;
pub mod tables;

use super::code::{XdpMapPlace, row_at};
use sluice_formats::xdp::codes::XdpWarpKind;
use sluice_formats::xdp::rows::{XdpWarpChunkRow, XdpWarpKeyRow, XdpWarpLeafRow, XdpWarpPredicatesRow, XdpWarpStepRow};

pub use sluice_formats::xdp::target::{
    WARP_CHUNK_VALUES as CHUNK_VALUES, WARP_CHUNKS as CHUNKS, WARP_RULES as RULES, WARP_STEPS as STEPS,
};

/// Lanes of a key, each a byte.
pub const LANES: usize = 14;
/// Predicates of a key.
pub const PREDICATES: usize = 8;
/// Bits of a key in a chunk.
pub const CHUNK_BITS: usize = 5;
/// Address that a count's counts from.
const VALUES: u32 = 0x4000_0000;

// The lanes are the lowest bits of a key, lane 0 first; the predicates stand behind them.
const _: () = assert!(CHUNK_VALUES == 1 << CHUNK_BITS && CHUNKS == (LANES * 8 + PREDICATES).div_ceil(CHUNK_BITS));

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct XdpWarp {
    /// What is gathered.
    pub key: XdpWarpKeyRow,
    /// Predicates.
    pub predicates: [XdpWarpPredicatesRow; 2],
    /// By chunk and value, [`CHUNK_VALUES`] of each chunk.
    pub chunks: Vec<XdpWarpChunkRow>,
    /// By rule. A lookup's map is its position in the part.
    pub leaves: Vec<XdpWarpLeafRow>,
    /// Steps.
    pub steps: Vec<XdpWarpStepRow>,
    /// What leaves count.
    pub counts: Vec<XdpWarpCount>,
}

/// Where a leaf counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XdpWarpCount {
    /// The leaf.
    pub leaf: usize,
    /// Which of its counts.
    pub count: usize,
    /// The map's position in the part, an array.
    pub map: u32,
    /// Which value.
    pub index: u32,
    /// Bytes from its begin.
    pub offset: u32,
}

impl XdpWarp {
    /// The rule of a packet.
    pub fn rule(&self, seen: &matcher::Seen) -> Option<usize> {
        let rules =
            |chunk: usize, value: usize| self.chunks.get(CHUNK_VALUES * chunk + value).map_or(0, |chunk| chunk.rules);
        matcher::rule(&self.key, &self.predicates, rules, seen)
    }

    /// The table of a program that lies behind so many rows. None if a row's number has no room.
    pub(super) fn behind(mut self, rows: u32) -> Option<Self> {
        for leaf in self.leaves.iter_mut().filter(|leaf| leaf.kind == XdpWarpKind::Resume.code()) {
            leaf.start = u16::try_from(u32::from(leaf.start) + rows).ok()?;
            if leaf.counts[0].valid {
                leaf.counts[0].address += rows;
            }
        }
        Some(self)
    }

    /// The leaves for these pages of the program's rows, and maps. None if one names a row or map that is not there.
    pub fn placed(&self, pages: &[u32], map: impl Fn(u32) -> Option<XdpMapPlace>) -> Option<Vec<XdpWarpLeafRow>> {
        let mut leaves = self.leaves.clone();
        for leaf in &mut leaves {
            if leaf.kind == XdpWarpKind::Resume.code() {
                leaf.start = u16::try_from(row_at(pages, leaf.start.into())?).ok()?;
                if leaf.counts[0].valid {
                    leaf.counts[0].address = row_at(pages, leaf.counts[0].address)?;
                }
            }
            if leaf.looks_up {
                leaf.map = map(leaf.map.into())?.number;
            }
        }
        for count in &self.counts {
            let place = map(count.map)?;
            let address = place.first.checked_add(count.index << place.shift)?.checked_add(count.offset)?;
            leaves.get_mut(count.leaf)?.counts.get_mut(count.count)?.address = address.checked_sub(VALUES)?;
        }
        Some(leaves)
    }
}
