//! What a program takes of an XDP engine in hardware, and what is said when there is too little.

use super::{Hardware, Held, Others, Searched};
use crate::linker::LinkError;
use crate::linker::engine::At;
use crate::linker::spaces::Holder;
use crate::linker::xdp::error::{Fit, XdpError};
use crate::linker::xdp::maps;
use crate::linker::xdp::values::{Place, UNIT_SEARCH_ROWS};
use crate::object::Object;
use crate::xdp::layout::{LARGE_BYTES, OUTSIDE_UNIT_BYTES, VALUE_PAGE_BYTES, value_unit};
use crate::xdp::{LaidMap, Layout, Xdp, XdpMap, XdpMemory};
use sluice_formats::xdp::map::MapShape;
use sluice_formats::xdp::target::{OUTSIDE_SEARCH, PAGE_ROWS};

/// Most pages of addresses of a kind: the field of the program's row.
const MOST_REGIONS: u32 = (1 << 9) - 1;

/// Most bytes of values that a tenant's programs write.
const WRITABLE_BYTES: u64 = 1 << 30;
/// Most pages of addresses of large maps: those that programs write, and that they only read.
const MOST_LARGE: [u32; 2] = [63, 15];

/// A resource that is counted.
struct Asked<'a> {
    resource: String,
    asked: u64,
    /// In one piece, where it has to be.
    left: u64,
    /// In all.
    free: u64,
    all: u64,
    amount: &'a dyn Fn(&Held) -> u64,
    fit: Fit,
}

impl Hardware {
    pub(super) fn take_pages(
        &mut self,
        at: &At,
        object: &Object,
        pages: u32,
        rows: usize,
    ) -> Result<Vec<u32>, LinkError> {
        let (left, all) = (self.pages.len() as u64, self.engine.pages() as u64);
        self.room(
            at,
            object,
            Asked {
                resource: format!("pages of {PAGE_ROWS} rows of instructions for {rows} rows"),
                asked: pages.into(),
                left,
                free: left,
                all,
                amount: &|held| held.pages.len() as u64,
                fit: Fit::default(),
            },
        )?;
        Ok((0..pages).map_while(|_| self.pages.pop_first()).collect())
    }

    pub(super) fn take_map(&mut self, at: &At, object: &Object, map: &XdpMap) -> Result<u32, LinkError> {
        let (left, all) = (self.maps.len() as u64, self.engine.maps as u64);
        self.room(
            at,
            object,
            Asked {
                resource: format!("maps, `{}` among them", map.name),
                asked: 1,
                left,
                free: left,
                all,
                amount: &|held| held.maps.len() as u64,
                fit: Fit::default(),
            },
        )?;
        Ok(self.maps.pop_first().unwrap_or(0))
    }

    /// A tenant has at most 1 GiB of values that its programs write: their addresses.
    pub(super) fn writable(&self, at: &At, object: &Object, layout: &Layout) -> Result<(), LinkError> {
        let (asked, all) = (layout.writable_bytes(), WRITABLE_BYTES);
        let fits = asked <= all && layout.large[0] <= MOST_LARGE[0] && layout.large[1] <= MOST_LARGE[1];
        if self.values.outside_units() == 0 || fits {
            return Ok(());
        }
        let (tenant, object) = (at.tenant.spec.name.clone(), object.name.clone());
        let resource = "bytes of addresses of map values, each of more than 1 MiB from 16 MiB to 16 MiB".to_owned();
        let asked = asked.max(u64::from(layout.large[0]) * LARGE_BYTES);
        Err(XdpError::TooMuch { tenant, object, resource, asked, target: at.target.name, all, fit: Fit::default() }
            .into())
    }

    /// Rows for the pages of addresses, one behind the other.
    pub(super) fn take_regions(
        &mut self,
        at: &At,
        object: &Object,
        xdp: &Xdp,
        layout: &Layout,
    ) -> Result<(u32, u32), LinkError> {
        let asked = layout.rows();
        let all = (self.engine.regions as u32).min(MOST_REGIONS);
        // The map that takes most may have what is left beside the others.
        let laid = xdp.maps.iter().zip(&layout.maps).filter_map(|(map, laid)| Some((map, laid.as_ref()?)));
        let largest = laid.max_by_key(|(_, laid)| laid.rows());
        let fit = |left: u32| match largest {
            Some((map, laid)) => {
                let own = left.saturating_sub(asked - laid.rows());
                maps::fit(map, laid, own.saturating_mul((laid.row_bytes() / VALUE_PAGE_BYTES) as u32))
            }
            None => Fit::default(),
        };
        let left = self.regions.longest().min(MOST_REGIONS);
        self.room(
            at,
            object,
            Asked {
                resource: match largest {
                    Some((map, laid)) => format!(
                        "pages of addresses of map values, one behind the other, {} of them for map `{}`",
                        laid.rows(),
                        map.name
                    ),
                    None => "pages of addresses of map values, one behind the other".to_owned(),
                },
                asked: asked.into(),
                left: left.into(),
                free: self.regions.free().into(),
                all: all.into(),
                amount: &|held| held.regions.1.into(),
                fit: if asked > all { fit(all) } else { fit(left) },
            },
        )?;
        Ok((self.regions.take(asked).unwrap_or(0), asked))
    }

    pub(super) fn take_values(
        &mut self,
        at: &At,
        object: &Object,
        (xdp, index): (&Xdp, u32),
        laid: &LaidMap,
        others: Others,
    ) -> Result<Place, LinkError> {
        if let Some(place) = self.values.take(xdp, index, laid) {
            return Ok(place);
        }
        let map = &xdp.maps[index as usize];
        let outside = self.values.may_lie_outside(xdp, index, laid);
        let asked = laid.bytes().div_ceil(value_unit(outside));
        let (what, memory, all) = match outside {
            true => ("units of 64 KiB of external memory", &self.values.outside, self.outside_units()),
            false => ("pages of 4 KiB of value memory", &self.values.on_chip, self.value_pages()),
        };
        let left = memory.longest();
        let fit = match outside {
            true => {
                let units = if asked > all { all as u32 } else { left };
                maps::fit(map, laid, units.saturating_mul((OUTSIDE_UNIT_BYTES / VALUE_PAGE_BYTES) as u32))
            }
            false => self.fit(map, laid, others, asked > all),
        };
        let asked = Asked {
            resource: format!("{what} for map `{}`", map.name),
            asked,
            left: left.into(),
            free: memory.free().into(),
            all,
            amount: &|held| held.values_of(outside),
            fit,
        };
        self.room(at, object, asked).map(|()| Place::default())
    }

    /// With how many entries a map has room for its values and in search memory, beside the other maps of its program. Where it
    /// would not fit into an empty engine either, that is meant, else what is free.
    fn fit(&self, map: &XdpMap, laid: &LaidMap, others: Others, empty: bool) -> Fit {
        let (pages, rows, beside) = if empty {
            let pages = (self.engine.values as u64 / VALUE_PAGE_BYTES) as u32;
            (pages, self.engine.search as u32, others.all)
        } else {
            (self.values.on_chip.longest(), self.search.longest(), others.later)
        };
        let Fit(by_values) = maps::fit(map, laid, pages.saturating_sub(beside.0));
        let rows = rows.saturating_sub(beside.1);
        // As many entries as rows allow, a little less than in proportion.
        let fits = |entries: &u32| MapShape { entries: *entries, ..laid.shape }.search_rows(false) <= rows;
        let most = by_values.map_or(0, |(_, entries)| entries);
        let most = if laid.shape.searched() { most.min(rows) } else { most };
        Fit(Some((map.name.clone(), (1..=most).rev().find(fits).unwrap_or(0))))
    }

    /// Rows of search memory of a map: on the chip while they fit, else outside.
    pub(super) fn take_search(
        &mut self,
        at: &At,
        object: &Object,
        (xdp, index): (&Xdp, u32),
        laid: &LaidMap,
        others: Others,
    ) -> Result<Searched, LinkError> {
        let map = &xdp.maps[index as usize];
        let rows = laid.shape.search_rows(false);
        let on_chip = (rows == 0 || map.place != Some(XdpMemory::Outside)).then(|| self.search.take(rows)).flatten();
        if let Some(first) = on_chip {
            return Ok(Searched { first, rows, seed: 0, outside: None });
        }
        if self.values.may_lie_outside(xdp, index, laid) {
            let rows = laid.shape.search_rows(true);
            if let Some(place) = self.values.take_search(rows.div_ceil(UNIT_SEARCH_ROWS)) {
                let first = OUTSIDE_SEARCH + place.first * UNIT_SEARCH_ROWS;
                return Ok(Searched { first, rows, seed: 0, outside: Some(place) });
            }
            if map.place == Some(XdpMemory::Outside) {
                let (units, all) = (rows.div_ceil(UNIT_SEARCH_ROWS), self.outside_units());
                let asked = Asked {
                    resource: format!("units of 64 KiB of external memory for search rows of map `{}`", map.name),
                    asked: units.into(),
                    left: self.values.outside.longest().min(units - 1).into(),
                    free: self.values.outside.free().into(),
                    all,
                    amount: &|held| held.values_of(true),
                    fit: Fit::default(),
                };
                self.room(at, object, asked)?;
            }
        }
        let (left, all) = (self.search.longest(), self.engine.search as u32);
        self.room(
            at,
            object,
            Asked {
                resource: format!("rows of search memory, one behind the other, for map `{}`", map.name),
                asked: rows.into(),
                left: left.into(),
                free: self.search.free().into(),
                all: all.into(),
                amount: &|held| held.search.values().map(|s| u64::from(s.rows)).sum(),
                fit: self.fit(map, laid, others, rows > all),
            },
        )?;
        Ok(Searched { first: 0, rows: 0, seed: 0, outside: None })
    }

    /// Refuses what does not fit: says what, how much, what is left and who holds the rest.
    fn room(&self, at: &At, object: &Object, asked: Asked) -> Result<(), LinkError> {
        let Asked { resource, asked, left, free, all, amount, fit } = asked;
        if asked <= left {
            return Ok(());
        }
        let (tenant, object) = (at.tenant.spec.name.clone(), object.name.clone());
        if asked > all {
            let target = at.target.name;
            return Err(XdpError::TooMuch { tenant, object, resource, asked, target, all, fit }.into());
        }
        let holder = |(module, both): (&u8, &[Option<Held>; 2])| Holder {
            tenant: self.names.get(module).cloned().unwrap_or_default(),
            amount: both.iter().flatten().map(amount).sum::<u64>() as u32,
        };
        let holders = Holder::most_first(self.held.iter().map(holder));
        let others: u64 = holders.iter().map(|holder| u64::from(holder.amount)).sum();
        let own = all.saturating_sub(free + others);
        Err(XdpError::NoRoom { tenant, object, resource, asked, left, all, own, holders, fit }.into())
    }
}
