//! Maps of a program on an XDP engine in hardware: value memory, rows of regions and maps, first contents.

use super::error::Fit;
use super::hardware::Searched;
use super::values::{self, Place};
use crate::linker::rmt::RowWrite;
use crate::xdp::entry::NoWord;
use crate::xdp::interfaces::sent_to;
use crate::xdp::layout::VALUE_PAGE_BYTES;
use crate::xdp::trie::{Trie, TrieRefusal};
use crate::xdp::{LaidMap, Xdp, XdpMap, entry};
use sluice_formats::xdp::codes::XdpMapKind;
use sluice_formats::xdp::map::{MapLimit, MapPlacement};
use sluice_formats::xdp::rows::{XdpSearchRow, XdpValueRow};
use sluice_formats::xdp::target::{KEY_BYTES, VALUE_BYTES};
use sluice_formats::{Node, Row, Table, Target};
use std::collections::BTreeMap;

/// Bytes of a row of value memory.
const ROW_BYTES: usize = 32;
/// Rows of a page of value memory.
pub(super) const PAGE_VALUE_ROWS: u32 = VALUE_PAGE_BYTES as u32 / ROW_BYTES as u32;

/// What is wrong with a map: what, found, allowed.
type Wrong = (&'static str, String, String);

/// What is wrong with a map, if anything.
pub(super) fn check(map: &XdpMap, laid: &LaidMap) -> Result<(), Wrong> {
    let hardware = |what: &str| format!("{what} in hardware");
    laid.shape.check().map_err(|limit| match limit {
        MapLimit::Key(found) => ("key size", found.to_string(), hardware(&format!("1 to {KEY_BYTES} bytes"))),
        MapLimit::Value(found) => ("value size", found.to_string(), hardware(&format!("1 to {VALUE_BYTES} bytes"))),
        MapLimit::Slots(found, most) => ("slots of values", found.to_string(), hardware(&format!("at most {most}"))),
    })?;
    if let Some(offset) = map.spin_lock {
        let plain =
            matches!(laid.shape.kind, XdpMapKind::Array | XdpMapKind::Hash) && !laid.shape.per_cpu && !laid.shape.lru;
        let fits = offset % 4 == 0 && u64::from(offset) + 4 <= laid.writable.into();
        if !plain || !fits || laid.readable != laid.writable {
            let found = format!("one at byte {offset} of {}", map.value_size);
            return Err(("spin lock", found, hardware("4 aligned bytes in values of hash and array maps")));
        }
    }
    let indexed = !laid.shape.searched();
    let key = match laid.shape.kind {
        XdpMapKind::Trie => 5,
        kind if kind.is_queue() => 0,
        _ => 1,
    };
    if (indexed && map.key_size != 4) || map.key_size < key || map.max_entries == 0 {
        let found = format!("{} bytes, {} entries", map.key_size, map.max_entries);
        let allowed = if indexed {
            "4 bytes, 1 entry or more".to_owned()
        } else {
            format!("{key} bytes or more, 1 entry or more")
        };
        return Err(("key size and entries", found, allowed));
    }
    Ok(())
}

/// The number of entries with which a map fits into so many pages of value memory.
pub(super) fn fit(map: &XdpMap, laid: &LaidMap, pages: u32) -> Fit {
    let slots = ((u64::from(pages) * VALUE_PAGE_BYTES) >> laid.shift) / u64::from(laid.shape.copies());
    let entries = slots.saturating_sub(u64::from(laid.shape.slots() - laid.shape.entries));
    Fit(Some((map.name.clone(), entries.min(map.max_entries.into()) as u32)))
}

/// What entries of maps of references become.
pub(super) struct Referents<'a> {
    pub target: &'static Target,
    /// First rows of programs, by position.
    pub programs: &'a [u16],
    /// Numbers of maps, by position.
    pub maps: &'a BTreeMap<u32, u16>,
}

impl Referents<'_> {
    /// An entry as the engine keeps it.
    fn kept(&self, map: &XdpMap, key: &[u8], value: &[u8]) -> Result<Vec<u8>, Wrong> {
        let program = |position: u32| self.programs.get(position as usize).copied();
        let inner = |position: u32| self.maps.get(&position).copied();
        let word = entry::word(map.kind, (key, value), self.target, program, inner).map_err(|error| match error {
            NoWord::Short(bytes) => {
                ("value of an entry that it begins with", format!("{bytes} bytes"), "4 bytes or more".to_owned())
            }
            NoWord::Program(position) => {
                let allowed = format!("0 to {}", self.programs.len().saturating_sub(1));
                ("program of an entry that it begins with", position.to_string(), allowed)
            }
            NoWord::Map(position) => {
                let allowed = "the position of a map that the engine has".to_owned();
                ("map of an entry that it begins with", position.to_string(), allowed)
            }
        })?;
        Ok(word.to_vec())
    }
}

/// Values of a map, and its rows of search memory by their distance from the first.
type Contents = (Vec<u8>, Vec<(u32, XdpSearchRow)>);

/// What a map begins with; or what is wrong with it: what, found, allowed.
fn contents(xdp: &Xdp, index: u32, laid: &LaidMap, seed: u32, referents: &Referents) -> Result<Contents, Wrong> {
    let (map, shape) = (&xdp.maps[index as usize], &laid.shape);
    let mut trie = Trie::new(map.key_size, map.max_entries);
    let mut bytes = vec![0; laid.bytes() as usize];
    if let Some(first) = &map.contents {
        bytes[..first.len()].copy_from_slice(first);
    }
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut pushed = 0;
    for (key, mut value) in entry::first_entries(xdp, index) {
        if entry::is_host_kept(map.kind) {
            value = referents.kept(map, &key, &value)?;
        }
        let size = shape.value_bytes as usize;
        let each = if shape.per_cpu { size.next_multiple_of(8) } else { size };
        let found = || format!("{} bytes", value.len());
        // Of a per-CPU map an object has as many copies as its maker knew processors: those that the engine has more begin with zeros.
        let copies = value.chunks_exact(each.max(1));
        if copies.len() == 0 || !copies.remainder().is_empty() || (!shape.per_cpu && copies.len() > 1) {
            let allowed = if shape.per_cpu { format!("{each} for each processor") } else { each.to_string() };
            return Err(("value of an entry that it begins with", found(), allowed));
        }
        let has = shape.copies() as usize;
        if copies.clone().skip(has).flatten().any(|byte| *byte != 0) {
            let allowed = format!("zeros behind the {} of the engine's {has} processors", each * has);
            return Err(("value of an entry that it begins with", found(), allowed));
        }
        let slot = match shape.kind {
            _ if !shape.searched() => {
                let key = key.first_chunk().map_or(u32::MAX, |bytes| u32::from_le_bytes(*bytes));
                if key >= map.max_entries {
                    let allowed = format!("0 to {}", map.max_entries - 1);
                    return Err(("index of an entry that it begins with", key.to_string(), allowed));
                }
                key
            }
            kind if kind.is_queue() => {
                pushed += 1;
                if pushed > map.max_entries {
                    return Err(("elements that it begins with", pushed.to_string(), map.max_entries.to_string()));
                }
                pushed - 1
            }
            XdpMapKind::Trie => trie.update(&key, 0).map_err(|refusal| prefix_wrong(map, &key, refusal))?,
            _ => {
                if key.len() != map.key_size as usize {
                    let found = format!("{} bytes", key.len());
                    return Err(("key of an entry that it begins with", found, map.key_size.to_string()));
                }
                let known = keys.iter().position(|known| *known == key);
                let at = known.unwrap_or_else(|| {
                    keys.push(key.clone());
                    keys.len() - 1
                });
                if keys.len() > map.max_entries as usize {
                    return Err(("entries that it begins with", keys.len().to_string(), map.max_entries.to_string()));
                }
                shape.asides() + at as u32
            }
        };
        for (copy, value) in (0..).zip(copies.take(has)) {
            let at = ((copy * shape.slots() + slot) as usize) << laid.shift;
            bytes[at..at + size].copy_from_slice(&value[..size]);
        }
    }
    if let Some(slot) = shape.sent_to_slot() {
        let first = |value: &[u8]| u32::from_le_bytes([value[0], value[1], value[2], value[3]]);
        let named = bytes.chunks_exact(1 << laid.shift).take(slot as usize).map(first);
        let all = sent_to(named, &xdp.interfaces, referents.target);
        bytes[(slot as usize) << laid.shift] = all;
    }
    let search = match shape.kind {
        XdpMapKind::Trie => trie.rows(shape),
        kind if kind.is_queue() => shape.filled(pushed),
        _ => shape.holding(&keys, seed),
    };
    Ok((bytes, search))
}

/// What is wrong with a prefix that a trie begins with.
fn prefix_wrong(map: &XdpMap, key: &[u8], refusal: TrieRefusal) -> Wrong {
    let size = map.key_size as usize;
    match key.first_chunk().filter(|_| key.len() == size) {
        _ if refusal == TrieRefusal::Full => {
            let allowed = map.max_entries.to_string();
            ("entries that it begins with", format!("{} or more", u64::from(map.max_entries) + 1), allowed)
        }
        None => ("key of an entry that it begins with", format!("{} bytes", key.len()), size.to_string()),
        Some(bits) => {
            let (found, most) = (u32::from_le_bytes(*bits), 8 * (size - 4));
            ("prefix of an entry that it begins with", format!("{found} bits"), format!("0 to {most}"))
        }
    }
}

/// Rows of search memory and of value memory with a map's first contents; what nobody gives is zero, whoever had it before.
pub(super) fn value_rows(
    xdp: &Xdp,
    index: u32,
    laid: &LaidMap,
    place: &Place,
    search: &Searched,
    referents: &Referents,
) -> Result<Vec<RowWrite>, Wrong> {
    let of_search = |rows: Vec<(u32, XdpSearchRow)>| -> Vec<RowWrite> {
        rows.iter().map(|(at, row)| write(Table::XdpSearch, search.first + at, row)).collect()
    };
    let mut rows: Vec<RowWrite> = search.outside.iter().map(values::cleared).collect();
    if place.outside {
        let empty = if search.outside.is_some() { laid.shape.first_rows() } else { laid.shape.empty() };
        rows.extend(of_search((0..).zip(empty).collect()));
        rows.push(values::cleared(place));
        return Ok(rows);
    }
    let (bytes, searched) = match search.outside {
        // It begins without entries.
        Some(_) => (vec![0; laid.bytes() as usize], (0..).zip(laid.shape.first_rows()).collect()),
        None => contents(xdp, index, laid, search.seed, referents)?,
    };
    rows.extend(of_search(searched));
    for (row, chunk) in (place.first * PAGE_VALUE_ROWS..).zip(bytes.chunks(ROW_BYTES)) {
        let mut padded = [0; ROW_BYTES];
        padded[..chunk.len()].copy_from_slice(chunk);
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| padded[8 * at + i]));
        let words = std::array::from_fn(word);
        rows.push(write(Table::XdpValue, row, &XdpValueRow { words }));
    }
    Ok(rows)
}

/// The row of a map.
pub(super) fn map_row(laid: &LaidMap, number: u16, place: &MapPlacement) -> RowWrite {
    write(Table::XdpMap, number.into(), &laid.shape.row(place))
}

/// A row of the engine.
pub(super) fn write(table: Table, index: u32, row: &impl Row) -> RowWrite {
    RowWrite::new(Node::Xdp, table, index, row)
}
