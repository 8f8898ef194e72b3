//! Maps of a program on an XDP engine in hardware: value memory, rows of regions and maps, first contents.

use super::error::Fit;
use crate::linker::ranges::RangeSpace;
use crate::linker::rmt::RowWrite;
use crate::xdp::layout::{MOST_VALUE_BYTES, REGION_BYTES, VALUE_PAGE_BYTES};
use crate::xdp::{LaidMap, Xdp, XdpMap, XdpMapPlace};
use sluice_formats::xdp::rows::{XdpMapRow, XdpRegionRow, XdpValueRow};
use sluice_formats::{Node, Row, Table};

/// Pages of value memory behind one page of addresses.
const PIECE: u32 = (REGION_BYTES / VALUE_PAGE_BYTES) as u32;
/// Bytes of a row of value memory.
const ROW_BYTES: usize = 32;
/// Rows of a page of value memory.
pub(super) const PAGE_VALUE_ROWS: u32 = VALUE_PAGE_BYTES as u32 / ROW_BYTES as u32;

/// Value memory of a map: pages for each 64 KiB of addresses, as first one and number.
pub(super) type Pieces = Vec<(u32, u32)>;

/// What is wrong with a map, if anything: what, found, allowed.
pub(super) fn check(map: &XdpMap) -> Result<(), (&'static str, String, String)> {
    if !(1..=MOST_VALUE_BYTES).contains(&map.value_size) {
        return Err(("value size", map.value_size.to_string(), format!("1 to {MOST_VALUE_BYTES} bytes in hardware")));
    }
    if map.key_size != 4 || map.max_entries == 0 {
        let found = format!("{} bytes, {} entries", map.key_size, map.max_entries);
        return Err(("key size and entries", found, "4 bytes, 1 entry or more".to_owned()));
    }
    Ok(())
}

/// Takes value memory for a map; none if there is too little.
pub(super) fn take(values: &mut RangeSpace, laid: &LaidMap) -> Option<Pieces> {
    let mut left = laid.value_pages();
    let mut pieces = Pieces::new();
    while left > 0 {
        let pages = left.min(PIECE);
        match values.take(pages) {
            Some(first) => pieces.push((first, pages)),
            None => {
                pieces.into_iter().for_each(|(first, pages)| values.give_back(first, pages));
                return None;
            }
        }
        left -= pages;
    }
    Some(pieces)
}

/// Pages that one map may have of what is free: whole pieces, and one that is shorter.
pub(super) fn most_pages(values: &RangeSpace) -> u32 {
    let whole: u32 = values.lengths().map(|n| n / PIECE * PIECE).sum();
    whole + values.lengths().map(|n| n % PIECE).max().unwrap_or(0)
}

/// The number of entries with which a map fits into so many pages of value memory.
pub(super) fn fit(map: &XdpMap, laid: &LaidMap, pages: u32) -> Fit {
    let entries = (u64::from(pages) * VALUE_PAGE_BYTES) >> laid.shift;
    Fit(Some((map.name.clone(), entries.min(map.max_entries.into()) as u32)))
}

/// First contents of a map, or what is wrong with them: what, found, allowed.
fn contents(xdp: &Xdp, index: u32, laid: &LaidMap) -> Result<Vec<u8>, (&'static str, String, String)> {
    let map = &xdp.maps[index as usize];
    let mut bytes = vec![0; laid.bytes() as usize];
    if let Some(first) = &map.contents {
        bytes[..first.len()].copy_from_slice(first);
    }
    for entry in xdp.entries.iter().filter(|entry| entry.map == index) {
        let key = entry.key.first_chunk().map_or(u32::MAX, |key| u32::from_le_bytes(*key));
        if key >= map.max_entries {
            let allowed = format!("0 to {}", map.max_entries - 1);
            return Err(("index of an entry that it begins with", key.to_string(), allowed));
        }
        if entry.value.len() != map.value_size as usize {
            let (found, allowed) = (format!("{} bytes", entry.value.len()), format!("{}", map.value_size));
            return Err(("value of an entry that it begins with", found, allowed));
        }
        let at = (key as usize) << laid.shift;
        bytes[at..at + entry.value.len()].copy_from_slice(&entry.value);
    }
    Ok(bytes)
}

/// Rows of value memory with a map's first contents; what nobody gives is zero, whoever had it before.
pub(super) fn value_rows(
    xdp: &Xdp,
    index: u32,
    laid: &LaidMap,
    pieces: &Pieces,
) -> Result<Vec<RowWrite>, (&'static str, String, String)> {
    let bytes = contents(xdp, index, laid)?;
    let mut rows = Vec::new();
    for (piece, all) in pieces.iter().zip(bytes.chunks(REGION_BYTES as usize)) {
        let first = piece.0 * PAGE_VALUE_ROWS;
        for (row, chunk) in (first..).zip(all.chunks(ROW_BYTES)) {
            let mut padded = [0; ROW_BYTES];
            padded[..chunk.len()].copy_from_slice(chunk);
            let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| padded[8 * at + i]));
            let words = std::array::from_fn(word);
            rows.push(write(Table::XdpValue, row, &XdpValueRow { words }));
        }
    }
    Ok(rows)
}

/// Rows of the region table of a map, from this one on.
pub(super) fn region_rows(module: u8, laid: &LaidMap, pieces: &Pieces, first: u32) -> Vec<RowWrite> {
    let row = |(at, (base, _)): (u32, &(u32, u32))| {
        let bytes = (laid.bytes() - u64::from(at) * REGION_BYTES).min(REGION_BYTES) as u32;
        let LaidMap { shift, readable, writable, .. } = *laid;
        let row = XdpRegionRow { valid: true, module_id: module, base: *base as u16, bytes, shift, readable, writable };
        write(Table::XdpRegion, first + at, &row)
    };
    (0..).zip(pieces).map(row).collect()
}

/// The row of a map.
pub(super) fn map_row(module: u8, laid: &LaidMap, place: &XdpMapPlace) -> RowWrite {
    let XdpMapPlace { number, first, shift } = *place;
    let row = XdpMapRow { valid: true, module_id: module, shift, entries: laid.entries, first };
    write(Table::XdpMap, number.into(), &row)
}

/// A row of the engine.
pub(super) fn write(table: Table, index: u32, row: &impl Row) -> RowWrite {
    RowWrite::new(Node::Xdp, table, index, row)
}
