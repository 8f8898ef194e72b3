//! Where values of maps lie: value memory of the engine, and external memory.

use super::maps::{self, PAGE_VALUE_ROWS};
use crate::linker::ranges::RangeSpace;
use crate::linker::rmt::RowWrite;
use crate::xdp::entry::{self, first_entries};
use crate::xdp::layout::{OUTSIDE_UNIT_BYTES, VALUE_PAGE_BYTES, value_unit};
use crate::xdp::{LaidMap, Xdp, XdpMemory};
use sluice_formats::Table;
use sluice_formats::xdp::map::MapShape;
use sluice_formats::xdp::rows::{XdpOutsideRow, XdpRegionRow};
use sluice_formats::xdp::target::{OUTSIDE_SEARCH, Target as Engine};

/// Rows of search memory of a unit of external memory.
pub(super) const UNIT_SEARCH_ROWS: u32 = (OUTSIDE_UNIT_BYTES / 16) as u32;
/// The unit of external memory in which a row of search memory lies; none on the chip.
pub(super) fn search_unit(row: u32) -> Option<u32> {
    row.checked_sub(OUTSIDE_SEARCH).map(|row| row / UNIT_SEARCH_ROWS)
}

/// Units of which rows of search memory have a number, but for the last.
const SEARCH_UNITS: u32 = OUTSIDE_SEARCH / UNIT_SEARCH_ROWS - 1;

/// The values of a map: in one piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// In external memory, by 64 KiB; otherwise in value memory, by 4 KiB.
    pub outside: bool,
    pub first: u32,
    pub count: u32,
}

impl Place {
    fn has(&self, outside: bool, number: u32) -> bool {
        self.outside == outside && (self.first..self.first + self.count).contains(&number)
    }

    /// Whether a row of the table of values is of it.
    pub fn has_row(&self, row: u32) -> bool {
        self.has(false, row / PAGE_VALUE_ROWS)
    }

    /// Whether a unit of external memory is of it.
    pub fn has_unit(&self, unit: u32) -> bool {
        self.has(true, unit)
    }
}

/// What is free of both memories.
#[derive(Clone, Debug)]
pub(super) struct Values {
    pub on_chip: RangeSpace,
    pub outside: RangeSpace,
    outside_units: u32,
}

impl Values {
    pub fn new(engine: &Engine) -> Self {
        let outside_units = (engine.outside as u64 / OUTSIDE_UNIT_BYTES) as u32;
        let on_chip = RangeSpace::new(engine.values as u32 / VALUE_PAGE_BYTES as u32);
        Self { on_chip, outside: RangeSpace::new(outside_units), outside_units }
    }

    /// Units of external memory.
    pub fn outside_units(&self) -> u32 {
        self.outside_units
    }

    /// Whether a map may lie in external memory: by itself, and as nobody says that it lies on the chip.
    pub fn may_lie_outside(&self, xdp: &Xdp, index: u32, laid: &LaidMap) -> bool {
        let asked = xdp.maps[index as usize].place;
        self.outside_units > 0 && asked != Some(XdpMemory::Chip) && stays(xdp, index, &laid.shape).is_none()
    }

    /// Takes memory for a map where somebody says that it lies, otherwise on the chip while it fits, else outside. None if there is too
    /// little.
    pub fn take(&mut self, xdp: &Xdp, index: u32, laid: &LaidMap) -> Option<Place> {
        let count = laid.value_pages();
        let asked = xdp.maps[index as usize].place;
        let on_chip = (asked != Some(XdpMemory::Outside)).then(|| self.on_chip.take(count)).flatten();
        if let Some(first) = on_chip {
            return Some(Place { outside: false, first, count });
        }
        let count = laid.outside_units();
        let first = self.may_lie_outside(xdp, index, laid).then(|| self.outside.take(count)).flatten()?;
        Some(Place { outside: true, first, count })
    }

    /// Takes units of external memory for rows of search memory: the last of those that rows have numbers for.
    pub fn take_search(&mut self, count: u32) -> Option<Place> {
        let first = self.outside.take_last(count, self.outside_units.min(SEARCH_UNITS))?;
        Some(Place { outside: true, first, count })
    }

    pub fn give_back(&mut self, place: Place) {
        let memory = if place.outside { &mut self.outside } else { &mut self.on_chip };
        memory.give_back(place.first, place.count);
    }
}

/// Why a map stays on the chip, whatever memory there is; none of those that may lie outside. A map that begins with entries stays: a load
/// writes them there.
pub(super) fn stays(xdp: &Xdp, index: u32, shape: &MapShape) -> Option<&'static str> {
    let map = &xdp.maps[index as usize];
    if entry::is_host_kept(map.kind) {
        return Some("a map that only the host changes");
    }
    if !shape.may_lie_outside() {
        return Some("a map of this kind");
    }
    let begins_empty = map.contents.is_none() && first_entries(xdp, index).is_empty();
    (!begins_empty).then_some("a map that begins with entries")
}

/// Makes a map's values in external memory zero, whoever had it before.
pub(super) fn cleared(place: &Place) -> RowWrite {
    let row = XdpOutsideRow { count: place.count, ..XdpOutsideRow::default() };
    maps::write(Table::XdpOutside, place.first, &row)
}

/// Rows of the region table of a map, from this one on.
pub(super) fn region_rows(module: u8, laid: &LaidMap, place: &Place, first: u32) -> Vec<RowWrite> {
    let row = |at: u32| {
        let before = u64::from(at) * laid.row_bytes();
        let bytes = laid.addressed().saturating_sub(before).min(laid.row_bytes()) as u32;
        let base = (u64::from(place.first) + before / value_unit(place.outside)) as u16;
        let LaidMap { shift, readable, writable, .. } = *laid;
        let (outside, lock) = (place.outside, laid.shape.lock_word());
        let row =
            XdpRegionRow { valid: true, module_id: module, outside, base, bytes, shift, readable, writable, lock };
        maps::write(Table::XdpRegion, first + at, &row)
    };
    (0..laid.rows()).map(row).collect()
}
