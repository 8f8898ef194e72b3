//! Whether a load's rows of an XDP engine in hardware are its tenant's.

use super::hardware::Hardware;
use super::maps::PAGE_VALUE_ROWS;
use super::values::search_unit;
use super::warp;
use crate::linker::check::{Refusal, no_module, unpack};
use crate::linker::engine::CheckedRow;
use crate::linker::tenants::Tenant;
use crate::xdp::layout::value_unit;
use sluice_formats::xdp::codes::XdpMapKind;
use sluice_formats::xdp::map::search_row;
use sluice_formats::xdp::rows::{
    XdpMapRow, XdpOutsideRow, XdpPageRow, XdpPoolRow, XdpProgramRow, XdpRegionRow, XdpShareRow,
};
use sluice_formats::xdp::target::{PACKET_UNITS, PAGE_ROWS, Target as Engine};
use sluice_formats::{Table, Target};

/// Refuses a row that is another's, or that leads to what is another's. The generation that the row is of; none if it is free.
pub(super) fn check(
    hardware: &Hardware,
    target: &Target,
    tenant: Option<&Tenant>,
    live: Option<u8>,
    row: CheckedRow,
) -> Result<Option<u8>, Refusal> {
    let tenant = tenant.ok_or_else(no_module)?;
    let own = Own { hardware, tenant };
    match row.table {
        Table::XdpProgram => own.program(target, &unpack(row.words)?)?,
        Table::XdpPage => own.page(&unpack(row.words)?)?,
        Table::XdpRegion => own.region(&unpack(row.words)?)?,
        Table::XdpShare => own.share(row.index, &unpack(row.words)?)?,
        Table::XdpOutside => return own.outside(live, row.index, &unpack(row.words)?),
        Table::XdpPool => own.pool(&unpack(row.words)?)?,
        Table::XdpMap => own.map(Engine::by_name(target.name).processors() as u64, &unpack(row.words)?)?,
        Table::XdpWarpLeaf => warp::check_leaf(hardware, (tenant.module, &tenant.spec.name), row)?,
        _ => {}
    }
    if let Some((module, generation)) = warp::owner(target, row.table, row.index) {
        own.module(true, module)?;
        return Ok(Some(generation));
    }
    match row.table {
        Table::XdpProgram | Table::XdpInterfaces => {
            own.module(true, (row.index / 2) as u8)?;
            Ok(Some((row.index % 2) as u8))
        }
        Table::XdpPage | Table::XdpCode | Table::XdpRegion | Table::XdpMap | Table::XdpValue | Table::XdpSearch => {
            let generations = own.row(row.table, row.index)?;
            // What both have is what packets of now have.
            Ok(generations.iter().copied().find(|g| Some(*g) == live).or(generations.first().copied()))
        }
        // Packets of both generations wait in one queue.
        Table::XdpShare | Table::XdpPool => Ok(None),
        table => Err(Refusal::Space(format!("table {} is not written", table.name()))),
    }
}

struct Own<'a> {
    hardware: &'a Hardware,
    tenant: &'a Tenant,
}

impl Own<'_> {
    fn module(&self, valid: bool, module: u8) -> Result<(), Refusal> {
        let (name, own) = (&self.tenant.spec.name, self.tenant.module);
        if valid && module != own {
            return Err(Refusal::Space(format!("a row for module {module}, tenant `{name}` has module {own}")));
        }
        Ok(())
    }

    /// Generations of the tenant that have a row.
    fn row(&self, table: Table, index: u32) -> Result<Vec<u8>, Refusal> {
        self.hardware.owners(self.tenant.module, table, index).map_err(|module| {
            let name = &self.tenant.spec.name;
            Refusal::Space(format!("row {index} of {} is module {module}'s, not tenant `{name}`'s", table.name()))
        })
    }

    fn program(&self, target: &Target, row: &XdpProgramRow) -> Result<(), Refusal> {
        if !row.valid {
            return Ok(());
        }
        let given = self.tenant.spec.packet_work();
        if row.work > given {
            let name = &self.tenant.spec.name;
            return Err(Refusal::Space(format!("work of {} a packet, tenant `{name}` is given {given}", row.work)));
        }
        let (given, found) = (self.tenant.spec.xdp_growth.map_or(0, |bytes| bytes + 1), row.growth);
        if found.wrapping_sub(1) > given.wrapping_sub(1) {
            let name = &self.tenant.spec.name;
            let what = if found == 0 { "any number of".to_owned() } else { (found - 1).to_string() };
            return Err(Refusal::Space(format!(
                "frames that gain {what} bytes, tenant `{name}` is given {} (xdp_growth)",
                given.wrapping_sub(1)
            )));
        }
        self.row(Table::XdpCode, row.start.into())?;
        let first = u32::from(row.regions);
        let large = u32::from(row.large_writable) + u32::from(row.large_read_only);
        for region in first..first + u32::from(row.writable) + u32::from(row.read_only) + large {
            self.row(Table::XdpRegion, region)?;
        }
        let granted = self.tenant.spec.destinations().mask(target).unwrap_or(0);
        let pass = if row.pass_valid { 1u8 << row.pass } else { 0 };
        if (row.granted | pass) & !granted != 0 {
            let what = format!(
                "destinations {:#04x}, tenant `{}` may use {granted:#04x}",
                row.granted | pass,
                self.tenant.spec.name
            );
            return Err(Refusal::Space(what));
        }
        Ok(())
    }

    /// What the tenant is given, or nothing.
    fn share(&self, index: u32, row: &XdpShareRow) -> Result<(), Refusal> {
        self.module(true, index as u8)?;
        let given = self.hardware.bays.row(self.tenant.module);
        if *row != given && *row != XdpShareRow::default() {
            let name = &self.tenant.spec.name;
            return Err(Refusal::Space(format!("share {row:?} of the queues, tenant `{name}` is given {given:?}")));
        }
        Ok(())
    }

    /// Bays of all others stay out of what is for all, and that has a largest packet's place.
    fn pool(&self, row: &XdpPoolRow) -> Result<(), Refusal> {
        let engine = &self.hardware.engine;
        let least = self.hardware.bays.reserved(engine, Some(self.tenant.module));
        let most = engine.memory_units() - PACKET_UNITS as u16;
        if !(least..=most).contains(&row.reserved) {
            let found = row.reserved;
            return Err(Refusal::Space(format!("{found} KiB of packet memory for bays, {least} to {most} may be")));
        }
        Ok(())
    }

    fn page(&self, row: &XdpPageRow) -> Result<(), Refusal> {
        self.module(row.valid, row.module_id)?;
        if row.valid {
            self.row(Table::XdpCode, u32::from(row.next) * PAGE_ROWS as u32)?;
        }
        Ok(())
    }

    /// All that the map engine reaches by a row: values, and rows of search memory.
    fn map(&self, processors: u64, row: &XdpMapRow) -> Result<(), Refusal> {
        self.module(row.valid, row.module_id)?;
        if !row.valid {
            return Ok(());
        }
        let copies = if row.per_cpu { processors } else { 1 };
        // By index entries count, by key slots do.
        let kept = XdpMapKind::from_code(row.kind).is_some_and(XdpMapKind::names_interfaces);
        let values = (u64::from(row.slots.max(row.entries)) + u64::from(kept)) * copies;
        let pages = (u128::from(values) << row.shift).div_ceil(value_unit(row.outside).into());
        let all = if row.outside { self.hardware.outside_units() } else { self.hardware.value_pages() };
        if pages + u128::from(row.base) > u128::from(all) {
            return Err(Refusal::Space(format!(
                "a map with {pages} pages of values from {} on, there are {all}",
                row.base
            )));
        }
        self.values(row.outside, row.base, pages as u32)?;
        let (slots, entries) = (u64::from(row.slots), u64::from(row.entries));
        let chains = XdpMapKind::from_code(row.kind).is_some_and(XdpMapKind::has_chains);
        let trie = row.kind == XdpMapKind::Trie.code();
        let mut parts = Vec::new();
        if chains || trie {
            let count = if trie { 2 * entries } else { slots };
            parts.extend([(row.state, 1), (row.entry, count << row.entry_shift)]);
        }
        if chains {
            let asides = if row.per_cpu { 0 } else { processors.div_ceil(4) };
            parts.extend([(row.state, 1 + asides), (row.bucket, (1u64 << row.bucket_bits).div_ceil(4))]);
        }
        if row.lru {
            parts.push((row.clock, slots.div_ceil(64)));
        }
        for (first, rows) in parts {
            let first = search_row(first);
            if let Some(unit) = search_unit(first) {
                let last = search_unit(first + rows.max(1) as u32 - 1).unwrap_or(unit);
                for unit in unit..=last {
                    self.row(Table::XdpOutside, unit)?;
                }
                continue;
            }
            let what = match self.hardware.other_search(self.tenant.module, first.into(), rows) {
                Ok(None) => continue,
                Ok(Some(module)) => format!("of which module {module} has some"),
                Err(all) => format!("there are {all}"),
            };
            return Err(Refusal::Space(format!(
                "a map that reaches {rows} rows of search memory from {first} on, {what}"
            )));
        }
        Ok(())
    }

    fn region(&self, row: &XdpRegionRow) -> Result<(), Refusal> {
        self.module(row.valid, row.module_id)?;
        let pages = u64::from(row.bytes).div_ceil(value_unit(row.outside)) as u32;
        self.values(row.outside, row.base, if row.valid { pages } else { 0 })
    }

    /// Pages of value memory, or units of external memory, are the tenant's.
    fn values(&self, outside: bool, first: u16, count: u32) -> Result<(), Refusal> {
        for page in (u32::from(first)..).take(count as usize) {
            let (table, row) =
                if outside { (Table::XdpOutside, page) } else { (Table::XdpValue, page * PAGE_VALUE_ROWS) };
            self.row(table, row)?;
        }
        Ok(())
    }

    /// What becomes zero of external memory; the generation that has it, first the live one.
    fn outside(&self, live: Option<u8>, first: u32, row: &XdpOutsideRow) -> Result<Option<u8>, Refusal> {
        let mut has = None;
        for unit in (first..).take(row.count as usize) {
            let generations = self.row(Table::XdpOutside, unit)?;
            has = generations.iter().copied().find(|g| Some(*g) == live).or(has).or(generations.first().copied());
        }
        Ok(has)
    }
}
