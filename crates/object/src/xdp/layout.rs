//! Where the values of a part's maps lie in its module's addresses, on a device whose XDP engine is hardware.
//!
//! Linker and device both count on it: pages of 64 KiB, those that programs write from 0x4000_0000 on, those that they only read from
//! 0x8000_0000 on. A map of more than 1 MiB, or one that finds no room before, begins where 16 MiB begin, behind the first 16 MiB of its kind, and
//! nobody else has a part of its last ones. So a row of the region table is for 64 KiB before and for 16 MiB behind.

use super::{XdpMap, entry};
use sluice_formats::xdp::codes::XdpMapKind;
use sluice_formats::xdp::map::MapShape;
use sluice_formats::xdp::target::Target as Engine;
use std::collections::BTreeMap;

/// Bytes of a page of addresses.
pub const REGION_BYTES: u64 = 1 << 16;
/// Bytes of a page of addresses of large maps.
pub const LARGE_BYTES: u64 = 1 << 24;
/// Bytes of a page of value memory.
pub const VALUE_PAGE_BYTES: u64 = 4096;
/// Bytes of a unit of external memory.
pub const OUTSIDE_UNIT_BYTES: u64 = 1 << 16;

/// Bytes in which the memory of values is counted that a map lies in.
pub const fn value_unit(outside: bool) -> u64 {
    if outside { OUTSIDE_UNIT_BYTES } else { VALUE_PAGE_BYTES }
}

/// Pages of 64 KiB of one of 16 MiB.
const LARGE_PAGES: u32 = (LARGE_BYTES / REGION_BYTES) as u32;
/// Most pages of a map that is not large.
const MOST_SMALL: u32 = 16;

/// First address of values that programs write, and of those that they only read.
const FIRST: [u32; 2] = [0x4000_0000, 0x8000_0000];
/// `BPF_F_RDONLY_PROG`, `BPF_F_WRONLY_PROG`.
const RDONLY_PROG: u32 = 1 << 7;
const WRONLY_PROG: u32 = 1 << 8;

/// What the engine makes of a kind (`enum bpf_map_type`): its own kind, and whether values are per-CPU and whether it is an LRU map.
fn kind_of(kind: u32) -> Option<(XdpMapKind, bool, bool)> {
    Some(match kind {
        1 => (XdpMapKind::Hash, false, false),
        2 => (XdpMapKind::Array, false, false),
        3 => (XdpMapKind::Programs, false, false),
        5 => (XdpMapKind::Hash, true, false),
        6 => (XdpMapKind::Array, true, false),
        9 => (XdpMapKind::Hash, false, true),
        10 => (XdpMapKind::Hash, true, true),
        11 => (XdpMapKind::Trie, false, false),
        12 => (XdpMapKind::Maps, false, false),
        13 => (XdpMapKind::KeyedMaps, false, false),
        14 => (XdpMapKind::Devices, false, false),
        16 | 17 => (XdpMapKind::References, false, false),
        22 => (XdpMapKind::Queue, false, false),
        23 => (XdpMapKind::Stack, false, false),
        25 => (XdpMapKind::KeyedReferences, false, false),
        _ => return None,
    })
}

/// Whether the engine has maps of this kind (`enum bpf_map_type`).
pub fn has_kind(kind: u32) -> bool {
    kind_of(kind).is_some()
}

/// What an engine makes of a map; none of kinds that it has not.
pub fn shape(map: &XdpMap, engine: &Engine) -> Option<MapShape> {
    let (kind, per_cpu, lru) = kind_of(map.kind)?;
    Some(MapShape {
        kind,
        per_cpu,
        lru,
        constant: map.flags & RDONLY_PROG != 0,
        key_bytes: map.key_size,
        value_bytes: if entry::is_host_kept(map.kind) { entry::BYTES } else { map.value_size },
        entries: map.max_entries,
        contexts: engine.processors() as u32,
        lock: map.spin_lock,
        wide: engine.has_outside(),
    })
}

/// Values of one map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaidMap {
    /// What it is.
    pub shape: MapShape,
    /// Programs only read them.
    pub read_only: bool,
    /// Programs have no address of them.
    pub hidden: bool,
    /// First page of 64 KiB among those of its kind.
    pub page: u32,
    /// Values lie every 2^shift bytes.
    pub shift: u8,
    /// Bytes of a value that programs may read.
    pub readable: u16,
    /// Bytes of a value that programs may write.
    pub writable: u16,
}

impl LaidMap {
    /// Bytes of value memory: all values with what lies between them, and what the engine keeps behind them.
    pub fn bytes(&self) -> u64 {
        self.shape.value_memory()
    }

    /// Bytes that have an address.
    pub fn addressed(&self) -> u64 {
        self.shape.all_values()
    }

    /// Pages of 64 KiB.
    pub fn pages(&self) -> u32 {
        u32::try_from(self.addressed().div_ceil(REGION_BYTES)).unwrap_or(u32::MAX)
    }

    /// Whether its pages of addresses are those of large maps.
    pub fn is_large(&self) -> bool {
        self.page >= LARGE_PAGES
    }

    /// Bytes that a row of the region table covers.
    pub fn row_bytes(&self) -> u64 {
        if self.is_large() { LARGE_BYTES } else { REGION_BYTES }
    }

    /// Rows of the region table.
    pub fn rows(&self) -> u32 {
        u32::try_from(self.addressed().div_ceil(self.row_bytes())).unwrap_or(u32::MAX)
    }

    /// Pages of 64 KiB that nobody else may have: of a large map up to where 16 MiB end.
    fn taken(&self) -> (u32, u32) {
        let pages = if self.is_large() { self.rows().saturating_mul(LARGE_PAGES) } else { self.pages() };
        (self.page, self.page.saturating_add(pages))
    }

    /// Units of external memory.
    pub fn outside_units(&self) -> u32 {
        u32::try_from(self.bytes().div_ceil(OUTSIDE_UNIT_BYTES)).unwrap_or(u32::MAX)
    }

    /// Pages of value memory.
    pub fn value_pages(&self) -> u32 {
        u32::try_from(self.bytes().div_ceil(VALUE_PAGE_BYTES)).unwrap_or(u32::MAX)
    }

    /// Address of the first value.
    pub fn first(&self) -> u32 {
        FIRST[usize::from(self.read_only)].wrapping_add(self.page << 16)
    }
}

/// A map that has no page yet.
fn laid(map: &XdpMap, engine: &Engine) -> Option<LaidMap> {
    let shape = shape(map, engine)?;
    let hidden = entry::is_host_kept(map.kind);
    let read_only = shape.constant || hidden || shape.kind.names_interfaces();
    let size = map.value_size as u16;
    let readable = if (map.flags & WRONLY_PROG == 0 || shape.kind.is_queue()) && !hidden { size } else { 0 };
    let writable = if read_only { 0 } else { size };
    Some(LaidMap { shape, read_only, hidden, page: 0, shift: shape.shift(), readable, writable })
}

/// The first of so many free pages in a row, from this one on, beside those that are used: as first ones and ends.
fn first_fit(used: &mut [(u32, u32)], from: u32, pages: u32) -> u32 {
    used.sort_unstable();
    let mut first = from;
    for (begin, end) in used {
        if begin.saturating_sub(first) >= pages {
            break;
        }
        first = first.max(*end);
    }
    first
}

/// The first page of a map of so many: small ones before where large ones begin, if there is room.
fn place(used: &mut [(u32, u32)], pages: u32) -> u32 {
    let small = first_fit(used, 0, pages);
    if pages <= MOST_SMALL && small + pages <= LARGE_PAGES {
        return small;
    }
    first_fit(used, LARGE_PAGES, pages.div_ceil(LARGE_PAGES).saturating_mul(LARGE_PAGES))
}

/// Counts a map among pages of addresses: of small ones up to its end, of large ones by 16 MiB.
fn count(pages: &mut u32, large: &mut u32, map: &LaidMap) {
    let end = map.taken().1;
    if map.is_large() { *large = (*large).max(end / LARGE_PAGES - 1) } else { *pages = (*pages).max(end) }
}

/// All maps of a part by position; none for those of kinds that the engine has not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The maps.
    pub maps: Vec<Option<LaidMap>>,
    /// Pages of 64 KiB that programs write, and that they only read, before those of large maps.
    pub pages: [u32; 2],
    /// Pages of 16 MiB that programs write, and that they only read.
    pub large: [u32; 2],
}

impl Layout {
    /// Lays the maps of a part, for an engine: beside those of the program before, of which it keeps some, by position.
    ///
    /// As in the interpreter a map takes its pages where they first fit among those that its module has in use, and a kept one has those that it
    /// had. Maps that programs have no address of come behind, on pages that nobody else of this layout has.
    pub fn of(maps: &[XdpMap], engine: &Engine, before: Option<&Self>, kept: &BTreeMap<u32, u32>) -> Self {
        let mut used: [Vec<(u32, u32)>; 2] = Default::default();
        for old in before.iter().flat_map(|before| before.maps.iter().flatten()).filter(|old| !old.hidden) {
            used[usize::from(old.read_only)].push(old.taken());
        }
        let mut layout =
            Self { maps: maps.iter().map(|map| laid(map, engine)).collect(), pages: [0; 2], large: [0; 2] };
        let old = |index: u32| (*before?.maps.get(*kept.get(&index)? as usize)?).filter(|old| !old.hidden);
        for (index, map) in (0..).zip(&mut layout.maps) {
            let Some(map) = map.as_mut().filter(|map| !map.hidden) else { continue };
            let kind = usize::from(map.read_only);
            map.page = old(index).map_or_else(|| place(&mut used[kind], map.pages()), |old| old.page);
            used[kind].push(map.taken());
            count(&mut layout.pages[kind], &mut layout.large[kind], map);
        }
        for map in layout.maps.iter_mut().flatten().filter(|map| map.hidden) {
            let kind = usize::from(map.read_only);
            let (small, large) = (layout.pages[kind], layout.large[kind]);
            let is_small = map.pages() <= MOST_SMALL && small + map.pages() <= LARGE_PAGES;
            map.page = if is_small { small } else { (1 + large).saturating_mul(LARGE_PAGES) };
            count(&mut layout.pages[kind], &mut layout.large[kind], map);
        }
        layout
    }

    /// Rows of the region table: pages that programs write and large ones, then those that they only read.
    pub fn rows(&self) -> u32 {
        let [writable, read_only] = self.pages;
        let [large, large_read_only] = self.large;
        [large, read_only, large_read_only].iter().fold(writable, |sum, rows| sum.saturating_add(*rows))
    }

    /// Row of the region table at which a map begins, behind the first one of its program.
    pub fn region(&self, map: &LaidMap) -> u32 {
        let kind = usize::from(map.read_only);
        let before = if map.read_only { self.pages[0].saturating_add(self.large[0]) } else { 0 };
        let within =
            if map.is_large() { self.pages[kind].saturating_add(map.page / LARGE_PAGES - 1) } else { map.page };
        before.saturating_add(within)
    }

    /// Bytes of all values that programs write.
    pub fn writable_bytes(&self) -> u64 {
        let written = self.maps.iter().flatten().filter(|map| !map.read_only);
        written.fold(0, |sum: u64, map| sum.saturating_add(map.addressed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `BPF_MAP_TYPE_ARRAY`.
    use sluice_formats::xdp::target::DEFAULT as ENGINE;

    const ARRAY: u32 = 2;

    fn array(value_size: u32, max_entries: u32, flags: u32) -> XdpMap {
        XdpMap { name: "map".to_owned(), kind: ARRAY, key_size: 4, value_size, max_entries, flags, ..XdpMap::default() }
    }

    #[test]
    fn maps_that_are_written_come_first_and_each_begins_a_page_of_its_own() {
        let ring = XdpMap { kind: 27, ..array(8, 4, 0) };
        let maps = [array(4, 1, RDONLY_PROG), array(12, 8192, 0), ring, array(1, 1, 0), array(8, 1, WRONLY_PROG)];
        let layout = Layout::of(&maps, &ENGINE, None, &BTreeMap::new());
        assert_eq!(layout.pages, [4, 1]);
        let laid: Vec<_> = layout.maps.iter().flatten().collect();
        let firsts: Vec<u32> = laid.iter().map(|map| map.first()).collect();
        assert_eq!(firsts, [0x8000_0000, 0x4000_0000, 0x4002_0000, 0x4003_0000]);
        let regions: Vec<u32> = laid.iter().map(|map| layout.region(map)).collect();
        assert_eq!((regions, layout.maps[2]), (vec![4, 0, 2, 3], None));
        assert_eq!((laid[1].shift, laid[1].pages(), laid[1].value_pages()), (4, 2, 32));
        assert_eq!((laid[0].readable, laid[0].writable, laid[3].readable, laid[3].writable), (4, 0, 0, 8));
    }

    #[test]
    fn a_kept_map_keeps_its_page_and_others_take_the_first_that_the_module_has_not_in_use() {
        let pages =
            |layout: &Layout| layout.maps.iter().flatten().map(|map| (map.page, map.read_only)).collect::<Vec<_>>();
        let programs = XdpMap { kind: entry::PROG_ARRAY, ..array(4, 4, 0) };
        let maps = [programs.clone(), array(8, 8192, 0), array(8, 1, 0), array(4, 1, RDONLY_PROG)];
        let first = Layout::of(&maps, &ENGINE, None, &BTreeMap::new());
        assert_eq!((pages(&first), first.pages), (vec![(1, true), (0, false), (1, false), (0, true)], [2, 2]));
        // The second array is kept, as the first map.
        let maps = [array(8, 1, 0), array(8, 1, 0), array(8, 16384, 0), array(4, 1, RDONLY_PROG), programs];
        let second = Layout::of(&maps, &ENGINE, Some(&first), &BTreeMap::from([(0, 2)]));
        assert_eq!(pages(&second), [(1, false), (2, false), (3, false), (1, true), (2, true)]);
        assert_eq!(second.pages, [5, 3]);
        // The first program has gone: its pages are free again.
        let third = Layout::of(&maps, &ENGINE, Some(&second), &BTreeMap::from([(0, 0), (2, 2)]));
        assert_eq!(pages(&third), [(1, false), (0, false), (3, false), (0, true), (1, true)]);
    }
}
