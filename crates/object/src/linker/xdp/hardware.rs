//! Space of an XDP engine in hardware: pages of instructions, rows of regions and maps, value memory.
//!
//! A program lies beside the one that it replaces, and shares the values of the maps that it keeps: such a map has a row of
//! its own in each generation, over the same memory. What only the old generation had is free when that has drained.

mod compiled;
mod take;

use super::bays::Bays;
use super::error::XdpError;
use super::maps::{self, Referents, write};
use super::places::MapPlace;
use super::values::{self, Place, Values, search_unit};
use super::warp;
use crate::destination::Destination;
use crate::linker::LinkError;
use crate::linker::engine::At;
use crate::linker::ranges::RangeSpace;
use crate::linker::rmt::RowWrite;
use crate::linker::secrets::Secrets;
use crate::object::Object;
use crate::xdp::interfaces::ifindex_of;
use crate::xdp::layout::VALUE_PAGE_BYTES;
use crate::xdp::{Layout, PlacedXdp, Xdp, XdpCompiler, XdpMap, XdpMapPlace, XdpMemory};
use sluice_formats::xdp::map::MapPlacement;
use sluice_formats::xdp::rows::{XdpInterfacesRow, XdpMapRow, XdpPageRow, XdpProgramRow, XdpRegionRow};
use sluice_formats::xdp::target::{PAGE_ROWS, Target as Engine};
use sluice_formats::{Table, Target};
use std::collections::{BTreeMap, BTreeSet};

/// What is free, and who has the rest.
#[derive(Clone, Debug)]
pub(super) struct Hardware {
    pub engine: Engine,
    /// What tenants own of the cores.
    pub bays: Bays,
    compile: XdpCompiler,
    names: BTreeMap<u8, String>,
    pages: BTreeSet<u32>,
    regions: RangeSpace,
    maps: BTreeSet<u32>,
    values: Values,
    search: RangeSpace,
    held: BTreeMap<u8, [Option<Held>; 2]>,
    /// Seeds of maps are of these.
    pub secrets: Secrets,
}

/// What a program in a generation has.
#[derive(Clone, Debug, Default)]
struct Held {
    pages: Vec<u32>,
    /// First row of the region table, and how many.
    regions: (u32, u32),
    maps: Vec<u32>,
    /// Where its maps have their addresses.
    layout: Layout,
    /// Ports of interface indices.
    interfaces: BTreeMap<u32, u8>,
    /// By position of the map; of a kept one the same as in the other generation.
    values: BTreeMap<u32, Place>,
    /// Search memory, by position of the map; of a kept one the same as in the other generation.
    search: BTreeMap<u32, Searched>,
    /// Maps that its code stores to other than by atomic operations, by position.
    stored: BTreeSet<u32>,
    /// Leaves of its table; 0 without one.
    leaves: usize,
}

/// A map's part of search memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Searched {
    /// First row, as the host counts them.
    pub first: u32,
    rows: u32,
    pub seed: u32,
    /// Its units of external memory, if it lies there.
    pub outside: Option<Place>,
}

impl Held {
    fn has_search(&self, row: u32) -> bool {
        self.search.values().any(|s| (s.first..s.first + s.rows).contains(&row))
    }

    /// All that it has of external memory.
    fn outside(&self) -> impl Iterator<Item = &Place> {
        let searched = self.search.values().filter_map(|search| search.outside.as_ref());
        self.values.values().filter(|place| place.outside).chain(searched)
    }

    /// Pages or units that it has of one of both memories.
    fn values_of(&self, outside: bool) -> u64 {
        let on_chip = || self.values.values().filter(|place| !place.outside);
        let count = |place: &Place| u64::from(place.count);
        if outside { self.outside().map(count).sum() } else { on_chip().map(count).sum() }
    }

    fn has_region(&self, row: u32) -> bool {
        (self.regions.0..self.regions.0 + self.regions.1).contains(&row)
    }
}

/// Rows of a program: those of values go first.
#[derive(Debug, Default)]
pub(super) struct HardwareRows {
    pub values: Vec<RowWrite>,
    pub rows: Vec<RowWrite>,
    /// First rows of programs.
    pub starts: Vec<u16>,
}

/// What the other maps of a program take: pages of value memory and rows of search memory.
#[derive(Clone, Copy, Debug, Default)]
struct Others {
    /// All of them.
    all: (u32, u32),
    /// Those that are placed later.
    later: (u32, u32),
}

impl Others {
    fn of(layout: &Layout, map: u32, begins_anew: &impl Fn(u32) -> bool) -> Self {
        let mut others = Self::default();
        for (index, laid) in (0..).zip(&layout.maps).filter(|(index, _)| *index != map && begins_anew(*index)) {
            let Some(laid) = laid else { continue };
            let add = |sum: &mut (u32, u32)| {
                *sum = (sum.0.saturating_add(laid.value_pages()), sum.1.saturating_add(laid.shape.search_rows(false)));
            };
            add(&mut others.all);
            if index > map {
                add(&mut others.later);
            }
        }
        others
    }
}

impl Hardware {
    /// An engine after reset.
    pub fn new(target: &'static Target, compile: XdpCompiler) -> Self {
        let engine = *Engine::by_name(target.name);
        Self {
            engine,
            bays: Bays::default(),
            compile,
            names: BTreeMap::new(),
            pages: (0..engine.pages() as u32).collect(),
            regions: RangeSpace::new(engine.regions as u32),
            maps: (0..engine.maps as u32).collect(),
            values: Values::new(&engine),
            search: RangeSpace::new(engine.search as u32),
            held: BTreeMap::new(),
            secrets: Secrets::default(),
        }
    }

    /// Puts a program beside what the module's other generation has.
    pub fn place(&mut self, at: &At, object: &Object, placed: &PlacedXdp) -> Result<HardwareRows, LinkError> {
        let PlacedXdp { xdp, kept, .. } = placed;
        let (module, tenant) = (at.tenant.module, at.tenant.spec.name.clone());
        self.names.insert(module, tenant.clone());
        let old = self.held.get(&module).and_then(|held| held[usize::from(1 - at.generation)].clone());
        let before = old.as_ref().map(|old| &old.layout);
        let layout = Layout::of(&xdp.maps, &self.engine, before, kept);
        let wrong = |map: &XdpMap, (what, found, allowed)| {
            let (tenant, object, map) = (tenant.clone(), object.name.clone(), map.name.clone());
            LinkError::from(XdpError::Map { tenant, object, map, what, found, allowed })
        };
        for (map, laid) in xdp.maps.iter().zip(&layout.maps).filter_map(|(map, laid)| Some((map, laid.as_ref()?))) {
            maps::check(map, laid).map_err(|what| wrong(map, what))?;
        }
        self.writable(at, object, &layout)?;
        let refused = |refusal| {
            let (tenant, object) = (tenant.clone(), object.name.clone());
            LinkError::from(XdpError::Refused { tenant, object, refusal })
        };
        let code = self.compiled(at, xdp, |index| Some((old.as_ref()?, *kept.get(&index)?))).map_err(refused)?;

        let (interfaces_of, stored) = (xdp.interfaces.clone(), code.stored.clone());
        let mut held = Held { interfaces: interfaces_of, layout: layout.clone(), stored, ..Held::default() };
        let mut rows = HardwareRows::default();
        held.pages = self.take_pages(at, object, code.pages() as u32, code.rows.len())?;
        held.regions = self.take_regions(at, object, xdp, &layout)?;
        let mut places = BTreeMap::new();
        let begins_anew = |index: u32| old.is_none() || !kept.contains_key(&index);
        let may_be_on_chip =
            |index: u32| begins_anew(index) && xdp.maps[index as usize].place != Some(XdpMemory::Outside);
        let others = |index: u32| Others::of(&layout, index, &may_be_on_chip);
        let mut numbers = BTreeMap::new();
        for (index, map) in (0..).zip(&xdp.maps).filter(|(index, _)| layout.maps[*index as usize].is_some()) {
            let number = self.take_map(at, object, map)?;
            held.maps.push(number);
            numbers.insert(index, number as u16);
        }
        let fault = |what: &str| {
            let what = format!("the compiler named {what} that the program has not: a fault of ours");
            refused(crate::xdp::XdpRefusal { code: "E0803", what, slot: None })
        };
        let starts: Option<Vec<u16>> = (0..code.starts.len()).map(|program| code.start(program, &held.pages)).collect();
        let starts = starts.ok_or_else(|| fault("a first row"))?;
        let referents = Referents { target: at.target, programs: &starts, maps: &numbers };
        // What is said to lie on the chip takes its room before others do.
        let mut order: Vec<u32> = (0..layout.maps.len() as u32).collect();
        order.sort_by_key(|index| xdp.maps[*index as usize].place != Some(XdpMemory::Chip));
        for index in order {
            let (Some(laid), map) = (&layout.maps[index as usize], &xdp.maps[index as usize]) else { continue };
            let number = u32::from(numbers[&index]);
            if holds_maps(map) && kept.contains_key(&index) {
                let what = (
                    "what it keeps",
                    "maps of the program before".to_owned(),
                    "no map of maps that is kept in hardware".to_owned(),
                );
                return Err(wrong(map, what));
            }
            // Where a redirect to all of its entries goes was made with the interfaces of the program before.
            let interfaces = old.as_ref().filter(|_| laid.shape.sent_to_slot().is_some() && kept.contains_key(&index));
            if interfaces.is_some_and(|old| old.interfaces != xdp.interfaces) {
                let what = (
                    "interfaces of a devmap that is kept",
                    "others than those of the program before".to_owned(),
                    "the same in hardware, or a devmap that begins anew".to_owned(),
                );
                return Err(wrong(map, what));
            }
            let kept = kept.get(&index).and_then(|before| {
                let old = old.as_ref()?;
                Some((*old.values.get(before)?, *old.search.get(before)?))
            });
            let (values, search) = match kept {
                Some(both) => {
                    let mut lies = lies(&both.0, &both.1);
                    if let Some(place) = map.place.filter(|place| lies.any(|memory| memory != *place)) {
                        let (tenant, object, map) = (tenant.clone(), object.name.clone(), map.name.clone());
                        let (found, allowed) =
                            ("a map that is kept from the program before and lies elsewhere", "where it lies");
                        return Err(XdpError::Place {
                            tenant,
                            object,
                            map,
                            place,
                            found: found.into(),
                            allowed: allowed.into(),
                        }
                        .into());
                    }
                    both
                }
                None => {
                    let values = self.take_values(at, object, (xdp, index), laid, others(index))?;
                    let search = self.take_search(at, object, (xdp, index), laid, others(index))?;
                    let search = Searched { seed: self.secrets.map(module, number), ..search };
                    let all = maps::value_rows(xdp, index, laid, &values, &search, &referents);
                    rows.values.extend(all.map_err(|what| wrong(map, what))?);
                    (values, search)
                }
            };
            held.search.insert(index, search);
            let (outside, base) = (values.outside, values.first as u16);
            let (first, seed) = (laid.first(), search.seed);
            let placement = MapPlacement { module, first, outside, base, search: search.first, seed };
            rows.rows.push(maps::map_row(laid, number as u16, &placement));
            let copies = if laid.shape.per_cpu { laid.shape.slots() } else { 0 };
            let place = XdpMapPlace { number: number as u16, first, shift: laid.shift, copies };
            rows.rows.extend(values::region_rows(module, laid, &values, held.regions.0 + layout.region(laid)));
            held.values.insert(index, values);
            places.insert(index, place);
        }
        let code_rows = code.placed(&held.pages, |map| places.get(&map).copied());
        let code_rows = code_rows.ok_or_else(|| fault("a row or a map"))?;
        for (row, code) in (0..).zip(&code_rows) {
            let page = held.pages[row / PAGE_ROWS];
            rows.rows.push(write(Table::XdpCode, page * PAGE_ROWS as u32 + (row % PAGE_ROWS) as u32, code));
        }
        for (i, page) in held.pages.iter().enumerate() {
            let next = *held.pages.get(i + 1).unwrap_or(page) as u8;
            rows.rows.push(write(Table::XdpPage, *page, &XdpPageRow { valid: true, module_id: module, next }));
        }
        let bank = 2 * u32::from(module) + u32::from(at.generation);
        rows.rows.push(write(Table::XdpInterfaces, bank, &interfaces(xdp, at.target)));
        let exists = |d: Destination| crate::linker::grants::no_destination(at.target, object.name.clone(), d);
        let pass = placed.pass.map(|d| d.number(at.target).ok_or_else(|| exists(d))).transpose()?;
        let program = XdpProgramRow {
            valid: true,
            start: starts.get(xdp.main as usize).copied().ok_or_else(|| fault("a main program"))?,
            pass_valid: pass.is_some(),
            pass: pass.unwrap_or(0),
            granted: placed.granted.mask(at.target).map_err(exists)?,
            work: at.tenant.spec.packet_work(),
            grows: code.grows,
            serial: code.serial,
            regions: held.regions.0 as u16,
            writable: layout.pages[0] as u16,
            large_writable: layout.large[0] as u8,
            read_only: layout.pages[1] as u16,
            large_read_only: layout.large[1] as u8,
            frames: code.frames,
            records: code.records,
            growth: placed.growth.map_or(0, |bytes| bytes + 1),
            waits: code.waits,
        };
        self.bays.check(at.tenant, object, &program)?;
        rows.rows.push(write(Table::XdpProgram, bank, &program));
        let of = (module, at.generation);
        let leaves = code.warp.as_ref().and_then(|table| table.placed(&held.pages, |map| places.get(&map).copied()));
        held.leaves = leaves.as_ref().map_or(0, Vec::len);
        rows.rows.extend(warp::rows((at.target, &self.engine), of, code.warp.as_ref().zip(leaves.as_deref())));
        rows.starts = starts;
        self.held.entry(module).or_default()[usize::from(at.generation & 1)] = Some(held);
        Ok(rows)
    }

    /// Takes a generation's program away: nothing leads to its rows any more, and what nobody keeps is free.
    pub fn clear(&mut self, module: u8, generation: u8) -> Vec<RowWrite> {
        let Some(both) = self.held.get_mut(&module) else { return Vec::new() };
        let Some(held) = both[usize::from(generation & 1)].take() else { return Vec::new() };
        let other = both[usize::from(1 - (generation & 1))].clone();
        if other.is_none() {
            self.held.remove(&module);
        }
        let bank = 2 * u32::from(module) + u32::from(generation);
        let mut rows = warp::none(&self.engine, (module, generation));
        rows.push(write(Table::XdpProgram, bank, &XdpProgramRow::default()));
        rows.push(write(Table::XdpInterfaces, bank, &XdpInterfacesRow::default()));
        rows.extend(held.pages.iter().map(|page| write(Table::XdpPage, *page, &XdpPageRow::default())));
        rows.extend(held.maps.iter().map(|map| write(Table::XdpMap, *map, &XdpMapRow::default())));
        let regions = held.regions.0..held.regions.0 + held.regions.1;
        rows.extend(regions.map(|row| write(Table::XdpRegion, row, &XdpRegionRow::default())));
        let kept = |place: &&Place| other.as_ref().is_some_and(|o| o.values.values().any(|p| p == *place));
        held.values.values().filter(|place| !kept(place)).for_each(|place| self.values.give_back(*place));
        let shared = |search: &Searched| other.as_ref().is_some_and(|o| o.search.values().any(|s| s == search));
        for search in held.search.values().filter(|s| !shared(s)) {
            match search.outside {
                Some(place) => self.values.give_back(place),
                None => self.search.give_back(search.first, search.rows),
            }
        }
        self.pages.extend(&held.pages);
        self.maps.extend(&held.maps);
        self.regions.give_back(held.regions.0, held.regions.1);
        rows
    }

    /// Whether a row of the table, of external memory a unit, is free or the module's, and the generations that have it.
    pub fn owners(&self, module: u8, table: Table, index: u32) -> Result<Vec<u8>, u8> {
        let has = |held: &Held| match table {
            Table::XdpPage => held.pages.contains(&index),
            Table::XdpCode => held.pages.contains(&(index / PAGE_ROWS as u32)),
            Table::XdpRegion => held.has_region(index),
            Table::XdpMap => held.maps.contains(&index),
            Table::XdpSearch => match search_unit(index) {
                Some(unit) => held.outside().any(|place| place.has_unit(unit)),
                None => held.has_search(index),
            },
            Table::XdpValue => held.values.values().any(|place| place.has_row(index)),
            Table::XdpOutside => held.outside().any(|place| place.has_unit(index)),
            _ => false,
        };
        let mut own = Vec::new();
        for (holder, both) in &self.held {
            for (generation, _) in (0..).zip(both).filter(|(_, held)| held.as_ref().is_some_and(has)) {
                if *holder != module {
                    return Err(*holder);
                }
                own.push(generation);
            }
        }
        Ok(own)
    }

    /// Who else has one of these rows of search memory on the chip; an error where they are beyond its end.
    pub fn other_search(&self, module: u8, first: u64, rows: u64) -> Result<Option<u8>, u64> {
        let all = self.engine.search as u64;
        if first + rows > all {
            return Err(all);
        }
        let meets = |s: &Searched| u64::from(s.first) < first + rows && first < u64::from(s.first) + u64::from(s.rows);
        let has = |both: &[Option<Held>; 2]| both.iter().flatten().any(|held| held.search.values().any(meets));
        Ok(self.held.iter().find(|(holder, both)| **holder != module && has(both)).map(|(holder, _)| *holder))
    }

    /// Where maps of a module's program lie, by their position: values, and search rows of those that have some.
    pub fn places(&self, module: u8, generation: u8) -> BTreeMap<u32, MapPlace> {
        let held = self.held.get(&module).and_then(|both| both[usize::from(generation & 1)].as_ref());
        let place = |held: &Held, index: u32, values: &Place| {
            let laid = held.layout.maps.get(index as usize).copied().flatten()?;
            let searched = held.search.get(&index).filter(|search| search.rows > 0);
            let search = searched.map(|search| (memory(search.outside.is_some()), search.rows));
            Some((index, MapPlace { values: memory(values.outside), bytes: laid.bytes(), search }))
        };
        held.iter()
            .flat_map(|held| held.values.iter().filter_map(|(index, values)| place(held, *index, values)))
            .collect()
    }

    /// Leaves of the table that a module's program has; 0 without one.
    pub fn leaves(&self, module: u8, generation: u8) -> usize {
        let held = self.held.get(&module).and_then(|both| both[usize::from(generation & 1)].as_ref());
        held.map_or(0, |held| held.leaves)
    }

    /// Pages of value memory.
    pub fn value_pages(&self) -> u64 {
        self.engine.values as u64 / VALUE_PAGE_BYTES
    }

    /// Units of external memory.
    pub fn outside_units(&self) -> u64 {
        self.values.outside_units().into()
    }
}

fn memory(outside: bool) -> XdpMemory {
    if outside { XdpMemory::Outside } else { XdpMemory::Chip }
}

/// Memories in which a map lies.
fn lies(values: &Place, search: &Searched) -> impl Iterator<Item = XdpMemory> {
    let searched = (search.rows > 0).then(|| memory(search.outside.is_some()));
    [memory(values.outside)].into_iter().chain(searched)
}

/// Whether entries are maps.
fn holds_maps(map: &XdpMap) -> bool {
    map.inner.is_some()
}

/// Interface index of each destination: ports have the one that is said, or their number and one.
fn interfaces(xdp: &Xdp, target: &Target) -> XdpInterfacesRow {
    let mut row = XdpInterfacesRow::default();
    for port in 0..target.ports as u8 {
        row.ifindex[usize::from(port)] = ifindex_of(port, &xdp.interfaces);
    }
    row
}
