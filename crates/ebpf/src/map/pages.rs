//! Addresses of map values: pages of 64 KiB, each of one map, and the memory behind them.
//!
//! A map of more than 16 pages, or one that finds no room before, begins at a multiple of 16 MiB behind the first 16 MiB of its kind, so that hardware
//! finds it with one row for each of them (docs/design/xdp-maps.md).
//!
//! A map's values lie at `base + slot * stride`; the stride is a power of two, so that slot and
//! offset are a shift and a mask, here as in hardware. Memory is zero when a map is made and the
//! operating system gives it when it is first touched. Each page knows whether it was ever written,
//! so that a large map is listed by what was touched.

use crate::address::{MAP_VALUES, PAGE_BYTES, READ_ONLY, RECORDS};

/// Bytes of address space for values that programs write.
pub const WRITABLE_BYTES: u64 = (READ_ONLY - MAP_VALUES) as u64;
/// Bytes of address space for values that programs only read.
pub const READ_ONLY_BYTES: u64 = (RECORDS - READ_ONLY) as u64;

const PAGE_SHIFT: u32 = PAGE_BYTES.trailing_zeros();
/// Pages of one region of 256 MiB.
const REGION_PAGES: u32 = 1 << (28 - PAGE_SHIFT);
/// Pages of 16 MiB.
const LARGE_PAGES: u32 = 1 << (24 - PAGE_SHIFT);
/// Pages of a map that is not large.
const MOST_SMALL: u64 = 16;
/// Regions 4 to 8, by the top four bits of the address.
const REGIONS: usize = 5;

/// One page. An unused one holds no values: `value_size` is 0.
#[derive(Clone, Copy, Debug, Default)]
struct Page {
    /// Map, as an index of `memory`.
    map: u32,
    /// Address of the map's slot 0.
    first: u32,
    /// Stride of the slots less one.
    mask: u32,
    /// Bytes of a value that programs may read.
    readable: u32,
    /// Bytes of a value that programs may write.
    writable: u32,
    /// Bytes of a value; 0 where there is no map.
    value_size: u32,
}

/// The memory of one map.
#[derive(Debug, Default)]
struct Memory {
    bytes: Vec<u8>,
    /// By page, whether it was written: pages that were not hold zeros only.
    touched: Vec<bool>,
}

impl Memory {
    /// Marks the pages of some bytes as written.
    fn touch(&mut self, at: usize, bytes: usize) {
        touch(&mut self.touched, at, bytes);
    }
}

/// Marks the pages of some bytes as written.
fn touch(touched: &mut [bool], at: usize, bytes: usize) {
    let last = (at + bytes.saturating_sub(1)) >> PAGE_SHIFT;
    if let Some(touched) = touched.get_mut(at >> PAGE_SHIFT..=last) {
        touched.fill(true);
    }
}

/// Where a map's values lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// Address of slot 0; 0 when the map has no values in memory.
    pub first: u32,
    /// The stride is `1 << shift`.
    pub shift: u32,
}

impl Place {
    /// Address of a slot.
    pub fn address(self, slot: u32) -> u32 {
        self.first + (slot << self.shift)
    }

    /// Place of a slot in the map's memory.
    pub fn offset(self, slot: u32) -> usize {
        (slot as usize) << self.shift
    }
}

/// What a map asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Demand {
    pub slots: u64,
    pub value_size: u32,
    pub program_reads: bool,
    pub program_writes: bool,
    /// The read-only region, for values that no program may ever write.
    pub read_only: bool,
}

/// All pages of one tenant, and the memory of its maps by map number.
#[derive(Debug, Default)]
pub(super) struct Pages {
    tables: [Vec<Page>; REGIONS],
    memory: Vec<Memory>,
}

/// Bytes between two slots, as a shift.
pub fn stride_shift(value_size: u32) -> u32 {
    u64::from(value_size.max(8)).next_power_of_two().trailing_zeros()
}

impl Pages {
    /// Finds room for map `map`; `Err` holds the bytes asked, left and in all.
    pub fn allocate(&mut self, map: u32, demand: Demand) -> Result<Place, (u64, u64, u64)> {
        let shift = stride_shift(demand.value_size);
        let asked = demand.slots.saturating_mul(1 << shift);
        let pages = asked.div_ceil(u64::from(PAGE_BYTES));
        let (start, all) = if demand.read_only { (4 * REGION_PAGES, READ_ONLY_BYTES) } else { (0, WRITABLE_BYTES) };
        let end = start + (all >> PAGE_SHIFT) as u32;
        let first_page = self.room(start, end, pages).ok_or_else(|| {
            let used = (start..end).filter(|&p| self.page(p).value_size != 0).count() as u64;
            (asked, all - used * u64::from(PAGE_BYTES), all)
        })?;
        let first = MAP_VALUES + (first_page << PAGE_SHIFT);
        let page = Page {
            map,
            first,
            mask: ((1u64 << shift) - 1) as u32,
            readable: if demand.program_reads { demand.value_size } else { 0 },
            writable: if demand.program_writes && !demand.read_only { demand.value_size } else { 0 },
            value_size: demand.value_size,
        };
        for number in first_page..first_page + pages as u32 {
            let table = &mut self.tables[(number / REGION_PAGES) as usize];
            let index = (number % REGION_PAGES) as usize;
            if table.len() <= index {
                table.resize(index + 1, Page::default());
            }
            table[index] = page;
        }
        let map = map as usize;
        if self.memory.len() <= map {
            self.memory.resize_with(map + 1, Memory::default);
        }
        // Zeroed by the operating system, page by page when they are touched.
        self.memory[map] = Memory { bytes: vec![0; asked as usize], touched: vec![false; pages as usize] };
        Ok(Place { first, shift })
    }

    /// Frees a map's pages and memory.
    pub fn free(&mut self, map: u32) {
        for table in &mut self.tables {
            table.iter_mut().filter(|p| p.value_size != 0 && p.map == map).for_each(|p| *p = Page::default());
            let used = table.iter().rposition(|p| p.value_size != 0).map_or(0, |last| last + 1);
            table.truncate(used);
        }
        if let Some(memory) = self.memory.get_mut(map as usize) {
            *memory = Memory::default();
        }
    }

    /// A map's memory, slot after slot.
    pub fn memory(&self, map: u32) -> &[u8] {
        self.memory.get(map as usize).map_or(&[], |memory| &memory.bytes)
    }

    /// Bytes of a map's memory, to write.
    #[inline]
    pub fn bytes_mut(&mut self, map: u32, at: usize, bytes: usize) -> &mut [u8] {
        let memory = &mut self.memory[map as usize];
        memory.touch(at, bytes);
        &mut memory.bytes[at..at + bytes]
    }

    /// A map's memory and its marks of written pages, for who has an address in a value.
    pub fn native(&mut self, map: u32) -> Option<(&mut [u8], &mut [bool])> {
        self.memory.get_mut(map as usize).map(|memory| (&mut memory.bytes[..], &mut memory.touched[..]))
    }

    /// The first place at or behind `at` in a map's memory that may hold anything but zeros; its end
    /// if there is none.
    pub fn next_touched(&self, map: u32, at: usize) -> usize {
        let Some(memory) = self.memory.get(map as usize) else { return 0 };
        let page_bytes = PAGE_BYTES as usize;
        let mut at = at;
        while at < memory.bytes.len() && !memory.touched[at >> PAGE_SHIFT] {
            at = (at & !(page_bytes - 1)) + page_bytes;
        }
        at.min(memory.bytes.len())
    }

    /// Whether a devmap's value names an interface.
    pub fn holds_interface(&self, map: u32, at: usize) -> bool {
        self.memory(map).get(at..at + 4).is_some_and(|bytes| bytes != [0; 4])
    }

    /// Program side: bytes in one value.
    #[inline]
    pub fn read(&self, address: u64, bytes: usize) -> Option<&[u8]> {
        let page = self.page_of(address)?;
        let relative = address as u32 - page.first;
        if bytes > page.readable.checked_sub(relative & page.mask)? as usize {
            return None;
        }
        let relative = relative as usize;
        self.memory.get(page.map as usize)?.bytes.get(relative..relative + bytes)
    }

    /// Program side: bytes in one value, to write.
    #[inline]
    pub fn write(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        let page = *self.page_of(address)?;
        let relative = address as u32 - page.first;
        if bytes > page.writable.checked_sub(relative & page.mask)? as usize {
            return None;
        }
        let relative = relative as usize;
        let memory = self.memory.get_mut(page.map as usize)?;
        let held = memory.bytes.get_mut(relative..relative + bytes)?;
        if let Some(touched) = memory.touched.get_mut(relative >> PAGE_SHIFT) {
            *touched = true;
        }
        if (relative & (PAGE_BYTES as usize - 1)) + bytes > PAGE_BYTES as usize {
            // Of a value that is longer than a page.
            touch(&mut memory.touched, relative, bytes);
        }
        Some(held)
    }

    /// Map and offset in the value.
    pub fn owner(&self, address: u64) -> Option<(u32, u32)> {
        let page = self.page_of(address)?;
        let relative = address as u32 - page.first;
        let offset = relative & page.mask;
        let held = (relative as usize) < self.memory(page.map).len();
        (offset < page.value_size && held).then_some((page.map, offset))
    }

    #[inline]
    fn page_of(&self, address: u64) -> Option<&Page> {
        let region = (address >> 28).wrapping_sub(4);
        let table = self.tables.get(usize::try_from(region).ok()?)?;
        let page = table.get((address >> PAGE_SHIFT) as usize & (REGION_PAGES as usize - 1))?;
        (page.value_size != 0).then_some(page)
    }

    fn page(&self, number: u32) -> Page {
        let table = &self.tables[(number / REGION_PAGES) as usize];
        table.get((number % REGION_PAGES) as usize).copied().unwrap_or_default()
    }

    /// The first room for so many pages: small maps in the first 16 MiB, large ones and those that find no room there behind.
    fn room(&self, start: u32, end: u32, pages: u64) -> Option<u32> {
        let small = start + LARGE_PAGES;
        let fits = if pages <= MOST_SMALL { self.first_fit(start, small, pages) } else { None };
        if fits.is_some() {
            return fits;
        }
        // Others begin where 16 MiB do, and nobody else has a part of those.
        let is_free = |large: u64| {
            let first = small + large as u32 * LARGE_PAGES;
            first < end && self.page(first).value_size == 0
        };
        let asked = pages.div_ceil(LARGE_PAGES.into());
        let all = u64::from((end - small) / LARGE_PAGES);
        let first = (0..=all.checked_sub(asked)?).find(|first| (*first..first + asked).all(is_free))?;
        Some(small + first as u32 * LARGE_PAGES)
    }

    fn first_fit(&self, start: u32, end: u32, pages: u64) -> Option<u32> {
        let mut run = 0;
        for number in start..end {
            run = if self.page(number).value_size == 0 { run + 1 } else { 0 };
            if run == pages {
                return Some(number + 1 - run as u32);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(slots: u64, value_size: u32) -> Demand {
        Demand { slots, value_size, program_reads: true, program_writes: true, read_only: false }
    }

    #[test]
    fn an_access_stays_in_one_value() {
        let mut pages = Pages::default();
        let place = pages.allocate(0, demand(3, 12)).unwrap();
        assert_eq!(place, Place { first: MAP_VALUES, shift: 4 });
        let second = u64::from(place.address(1));
        assert!(pages.write(second, 12).is_some());
        assert!(pages.write(second, 13).is_none());
        assert!(pages.read(second + 12, 1).is_none(), "padding");
        assert!(pages.read(second + 13, 0).is_none());
        assert!(pages.read(second + 11, 1).is_some() && pages.read(second - 1, 1).is_none());
        assert!(pages.read(second, usize::MAX).is_none());
        assert!(pages.read(u64::from(place.address(3)), 1).is_none(), "behind the last slot");
        assert!(pages.read(second + (1 << 32), 1).is_none(), "above 32 bits");
        assert_eq!(pages.owner(second + 3), Some((0, 3)));
        assert_eq!(pages.owner(second + 12), None);
    }

    #[test]
    fn every_page_has_one_map_and_comes_back_zeroed() {
        let mut pages = Pages::default();
        let a = pages.allocate(0, demand(8193, 8)).unwrap();
        let b = pages.allocate(1, demand(1, 1)).unwrap();
        assert_eq!(b.first, a.first + 2 * PAGE_BYTES);
        pages.write(u64::from(a.first), 8).unwrap().fill(0xff);
        pages.free(0);
        assert!(pages.read(u64::from(a.first), 1).is_none());
        let again = pages.allocate(2, demand(4, 8)).unwrap();
        assert_eq!(again.first, a.first);
        assert_eq!(pages.read(u64::from(again.first), 8), Some(&[0; 8][..]));
        assert_eq!(pages.owner(u64::from(b.first)), Some((1, 0)));
    }

    #[test]
    fn values_may_span_pages_and_regions() {
        let mut pages = Pages::default();
        let place = pages.allocate(0, demand(2, 250 << 20)).unwrap();
        assert_eq!(place.first, MAP_VALUES + (16 << 20));
        let far = u64::from(place.address(1));
        assert_eq!(pages.read(far - (4 << 20), 8), None, "behind the value");
        assert_eq!(pages.read(far + (240 << 20) - 4, 8), Some(&[0; 8][..]));
        assert_eq!(pages.owner(far + (240 << 20)), Some((0, 240 << 20)));
    }

    #[test]
    fn space_is_bounded_and_the_rest_is_said() {
        let mut pages = Pages::default();
        pages.allocate(0, demand(1, 1 << 29)).unwrap();
        assert_eq!(pages.allocate(1, demand(3, 1 << 28)), Err((3 << 28, 1 << 29, 1 << 30)));
        // The first 16 MiB are for small maps, which else take a place of large ones.
        pages.allocate(3, demand(30, 1 << 24)).unwrap();
        for map in 4..20 {
            pages.allocate(map, demand(16, 1 << 16)).unwrap();
        }
        let behind = pages.allocate(20, demand(1, 8)).unwrap();
        assert_eq!(behind.first, MAP_VALUES + (63 << 24));
        assert_eq!(pages.allocate(21, demand(1, 8)), Err((8, (1 << 24) - (1 << 16), 1 << 30)));
        assert!(pages.allocate(1, demand(u64::MAX, 8)).is_err());
        let fixed = Demand { read_only: true, ..demand(1, 8) };
        let place = pages.allocate(2, fixed).unwrap();
        assert_eq!(place.first, READ_ONLY);
        assert!(pages.read(u64::from(READ_ONLY), 8).is_some() && pages.write(u64::from(READ_ONLY), 8).is_none());
    }
}
