//! Programs compiled for the cores of an XDP engine in hardware: rows that know no address yet.
//!
//! Who makes a linker for a device with such an engine hands it the compiler: docs/decisions/xdp-on-rtl.md.

use super::{Xdp, XdpWarp, entry};
use sluice_formats::xdp::codes::XdpOp;
use sluice_formats::xdp::rows::{XdpCodeRow, XdpLanePart};
use sluice_formats::xdp::target::PAGE_ROWS;
use std::collections::BTreeSet;

/// Makes rows of the programs of a part, and the main program's table if there is room for one.
pub type XdpCompiler = fn(&Xdp, Option<XdpWarpRoom>) -> Result<XdpCode, XdpRefusal>;

/// What a program may have of a warp engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XdpWarpRoom {
    /// Rules.
    pub rules: usize,
    /// Steps.
    pub steps: usize,
}

/// Says by how many bytes the programs of a part make a frame longer at most, where that is known.
pub type XdpBound = fn(&Xdp) -> Option<u16>;

/// Rows of programs, one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct XdpCode {
    /// First row of each program, by its position.
    pub starts: Vec<u32>,
    /// Rows; branches name rows of the whole.
    pub rows: Vec<XdpCodeRow>,
    /// What depends on where things lie.
    pub fixes: Vec<XdpFix>,
    /// One may make frames longer.
    pub grows: bool,
    /// One is flow-serial: packets of a flow may not be executed at the same time.
    pub serial: bool,
    /// A packet of one may wait for another packet of it, in their flow or for a lock.
    pub waits: bool,
    /// Frames of functions of the longest chain of calls.
    pub frames: u8,
    /// Room for a record, in 512 bytes.
    pub records: u8,
    /// The main program's table, if it has one.
    pub warp: Option<XdpWarp>,
    /// Maps whose values programs store to other than by atomic operations, by their position.
    pub stored: BTreeSet<u32>,
}

/// A lane that depends on where things lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XdpFix {
    /// Row of the program.
    pub row: u32,
    /// Lane.
    pub lane: u8,
    /// What is put in.
    pub put: XdpPut,
}

/// What the linker puts into a lane. Maps are named by their position in the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XdpPut {
    /// The row that `off` names, in the program that begins with this one.
    Row(u32),
    /// A constant: the address of the function that begins with this row of the program.
    Function(u32),
    /// A constant: an address in the first value of an array.
    Value {
        /// Map.
        map: u32,
        /// Bytes from the value's begin.
        offset: u32,
    },
    /// A constant: the address of an array's value.
    Element {
        /// Map.
        map: u32,
        /// Index of the value.
        index: u32,
    },
    /// How far a processor's copies lie behind those of the one before, of a per-CPU map.
    Copy {
        /// Map.
        map: u32,
    },
    /// A constant: the handle of a map.
    Handle {
        /// Map.
        map: u32,
    },
    /// The map's number in the upper half of the immediate.
    Map {
        /// Map.
        map: u32,
    },
}

/// Where a map lies, as a module sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XdpMapPlace {
    /// Row of the table of maps.
    pub number: u16,
    /// Address of its first value.
    pub first: u32,
    /// Values lie every 2^shift bytes.
    pub shift: u8,
    /// Slots from one copy of a per-CPU map's values to the next; 0 of others.
    pub copies: u32,
}

/// Address of the function at row 0; that at row n is n above.
const FUNCTIONS: u64 = 0xb000_0000;

/// Why the engine in hardware cannot run a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct XdpRefusal {
    /// Code for `sluice explain`.
    pub code: &'static str,
    /// Program, instruction and what is missing.
    pub what: String,
    /// The slot, where it is one instruction.
    pub slot: Option<u32>,
}

impl XdpCode {
    /// Pages of instruction memory that the rows take.
    pub fn pages(&self) -> usize {
        self.rows.len().div_ceil(PAGE_ROWS)
    }

    /// Rows of a further program behind these.
    pub fn append(&mut self, other: Self) {
        let behind = self.rows.len() as u32;
        self.starts.extend(other.starts.iter().map(|start| behind + start));
        self.rows.extend(other.rows);
        self.fixes.extend(other.fixes.into_iter().map(|fix| {
            let put = match fix.put {
                XdpPut::Row(first) => XdpPut::Row(behind + first),
                XdpPut::Function(row) => XdpPut::Function(behind + row),
                put => put,
            };
            XdpFix { row: behind + fix.row, put, ..fix }
        }));
        self.grows |= other.grows;
        self.serial |= other.serial;
        self.waits |= other.waits;
        self.frames = self.frames.max(other.frames);
        self.records = self.records.max(other.records);
        self.stored.extend(other.stored);
        self.warp = self.warp.take().or_else(|| other.warp?.behind(behind));
    }

    /// First row of a program in these pages; none if there is no such program.
    pub fn start(&self, program: usize, pages: &[u32]) -> Option<u16> {
        u16::try_from(row_at(pages, *self.starts.get(program)?)?).ok()
    }

    /// The rows for these pages, one for each 64 rows, and maps. None if a fix names a row, lane, page or map that is not
    /// there.
    pub fn placed(&self, pages: &[u32], map: impl Fn(u32) -> Option<XdpMapPlace>) -> Option<Vec<XdpCodeRow>> {
        let mut rows = self.rows.clone();
        for fix in &self.fixes {
            let part = rows.get_mut(fix.row as usize)?.lanes.get_mut(usize::from(fix.lane))?;
            match fix.put {
                XdpPut::Row(first) => part.off = u16::try_from(row_at(pages, first + u32::from(part.off))?).ok()?,
                XdpPut::Function(row) => put_number(part, FUNCTIONS + u64::from(row_at(pages, row)?)),
                XdpPut::Value { map: index, offset } => {
                    put_number(part, u64::from(map(index)?.first) + u64::from(offset))
                }
                XdpPut::Element { map: index, index: entry } => {
                    let place = map(index)?;
                    let copies = u64::from(place.copies << place.shift);
                    put_number(part, copies << 32 | (u64::from(place.first) + (u64::from(entry) << place.shift)));
                    if place.copies > 0 {
                        part.op = XdpOp::Element.code();
                    }
                }
                XdpPut::Copy { map: index } => {
                    let place = map(index)?;
                    put_number(part, u64::from(place.copies << place.shift) << 32);
                    part.op = XdpOp::Element.code();
                }
                XdpPut::Handle { map: index } => {
                    put_number(part, u64::from(entry::HANDLES) + u64::from(map(index)?.number))
                }
                XdpPut::Map { map: index } => part.imm = part.imm & 0xffff | u32::from(map(index)?.number) << 16,
            }
        }
        Some(rows)
    }
}

/// A row of the whole in its page.
pub(super) fn row_at(pages: &[u32], row: u32) -> Option<u32> {
    Some(pages.get(row as usize / PAGE_ROWS)? * PAGE_ROWS as u32 + row % PAGE_ROWS as u32)
}

/// The 64-bit number of a lane that loads one: bits 79:16.
fn put_number(part: &mut XdpLanePart, number: u64) {
    let bit = |at: u32| number >> at & 1 == 1;
    part.b = (number & 0xf) as u8;
    (part.immediate, part.wide, part.extra, part.spare) = (bit(4), bit(5), bit(6), bit(7));
    part.off = (number >> 8) as u16;
    part.imm = (number >> 24) as u32;
    part.high = (number >> 56) as u8;
}
