//! Contexts of the XDP engine's cores that tenants own, each with a bay of packet memory.
//!
//! Bays lie at the end of each core's packet memory, a module's side by side; what is in front of the first one is for all. A module that
//! leaves gives its bays back: the next one that fits takes the place.

use super::maps::write;
use crate::linker::LinkError;
use crate::linker::rmt::RowWrite;
use crate::linker::spaces::Holder;
use crate::linker::tenants::{Tenant, TenantSpec};
use crate::object::Object;
use sluice_formats::Table;
use sluice_formats::xdp::rows::{XdpPoolRow, XdpProgramRow, XdpShareRow};
use sluice_formats::xdp::target::{BORROW_WORK, FRAME_ROW, GROWN_ROWS, PACKET_UNITS, Target as Engine, UNIT_ROWS};
use std::collections::BTreeMap;

/// Rows of modules' shares as they are written.
#[derive(Clone, Debug, Default)]
pub(super) struct Bays(BTreeMap<u8, XdpShareRow>);

impl Bays {
    /// Takes a module's bays; the rows that say so. The pool becomes smaller before its contexts do.
    pub fn admit(&mut self, engine: &Engine, module: u8, spec: &TenantSpec) -> Result<Vec<RowWrite>, LinkError> {
        let share = spec.xdp_share.unwrap_or_default();
        let contexts = share.contexts / engine.cores as u8;
        let row = XdpShareRow {
            weight: spec.xdp_share.map_or(0, |share| share.weight),
            rows: share.rows,
            contexts,
            first: if contexts > 0 { self.place(engine, spec, contexts, share.memory)? } else { 0 },
            units: share.memory_each(),
            borrows: spec.packet_work() <= BORROW_WORK,
        };
        if row == XdpShareRow::default() {
            return Ok(Vec::new());
        }
        let before = self.reserved(engine, None);
        self.0.insert(module, row);
        let mut rows = self.pool(engine, before);
        rows.push(write(Table::XdpShare, module.into(), &row));
        Ok(rows)
    }

    /// Gives them back, once no packet of the module is there.
    pub fn release(&mut self, engine: &Engine, module: u8) -> Vec<RowWrite> {
        let before = self.reserved(engine, None);
        let Some(_) = self.0.remove(&module) else { return Vec::new() };
        let mut rows = vec![write(Table::XdpShare, module.into(), &XdpShareRow::default())];
        rows.extend(self.pool(engine, before));
        rows
    }

    /// A module's row; of one that has none it is zero.
    pub fn row(&self, module: u8) -> XdpShareRow {
        self.0.get(&module).copied().unwrap_or_default()
    }

    /// Units at the end of each core's packet memory in which bays of modules but for one lie.
    pub fn reserved(&self, engine: &Engine, except: Option<u8>) -> u16 {
        let others = self.0.iter().filter(|(module, row)| row.contexts > 0 && Some(**module) != except);
        let units = engine.memory_units();
        units - others.map(|(_, row)| row.first).min().unwrap_or(units)
    }

    /// Refuses a program of which no packet fits into a bay: its tenant's contexts would be for nothing.
    pub fn check(&self, tenant: &Tenant, object: &Object, program: &XdpProgramRow) -> Result<(), LinkError> {
        let row = self.row(tenant.module);
        let frame = if program.grows { GROWN_ROWS } else { FRAME_ROW + 1 };
        let need = (frame + 8 * usize::from(program.frames + program.records)).div_ceil(UNIT_ROWS);
        if row.contexts > 0 && need > usize::from(row.units) {
            let allowed = format!("at least {need} KiB, which a packet of object `{}` needs", object.name);
            return Err(tenant.spec.wrong("xdp_share.memory", row.units, allowed));
        }
        Ok(())
    }

    fn pool(&self, engine: &Engine, before: u16) -> Vec<RowWrite> {
        let reserved = self.reserved(engine, None);
        let row = (reserved != before).then(|| write(Table::XdpPool, 0, &XdpPoolRow { reserved }));
        row.into_iter().collect()
    }

    /// The last place with room for a module's bays that leaves a largest packet's place to all.
    fn place(&self, engine: &Engine, spec: &TenantSpec, contexts: u8, memory: u8) -> Result<u16, LinkError> {
        let need = u16::from(contexts) * u16::from(memory);
        let apart = |first: u16| {
            self.0.values().filter(|row| row.contexts > 0).all(|row| {
                let past = row.first + u16::from(row.contexts) * u16::from(row.units);
                first + need <= row.first || past <= first
            })
        };
        let least = PACKET_UNITS as u16;
        let last = engine.memory_units().checked_sub(need);
        let first = last.into_iter().flat_map(|last| (least..=last).rev()).find(|first| apart(*first));
        let free = engine.memory_units().saturating_sub(least).saturating_sub(self.reserved(engine, None));
        first.ok_or_else(|| no_memory(engine, spec, contexts.into(), free.into()))
    }
}

/// Contexts of each core that tenants may own: at least so many are left that all together have four, or one of each core.
fn ownable(engine: &Engine) -> u32 {
    let left = if engine.contexts * engine.cores > 4 { 4usize.div_ceil(engine.cores) } else { 1 };
    (engine.contexts - left) as u32
}

fn no_memory(engine: &Engine, spec: &TenantSpec, contexts: u32, free: u32) -> LinkError {
    let (memory, all) = (spec.xdp_share.unwrap_or_default().memory, engine.memory_units());
    LinkError::Setting {
        what: format!("tenant `{}`: xdp_share.memory", spec.name),
        found: format!("{memory} KiB for each of {contexts} contexts of a core"),
        allowed: format!("at most {free} KiB in all: {PACKET_UNITS} of {all} stay for all, others have the rest"),
    }
}

/// Refuses contexts that nobody can be given, or that others hold: contexts, and KiB of packet memory of each core.
pub(super) fn check(
    engine: &Engine,
    spec: &TenantSpec,
    (held, memory): (u32, u32),
    holders: impl FnOnce() -> Vec<Holder>,
) -> Result<(), LinkError> {
    let Some(share) = spec.xdp_share.filter(|share| share.contexts > 0) else { return Ok(()) };
    let (cores, all) = (engine.cores as u32, ownable(engine) * engine.cores as u32);
    let asked = u32::from(share.contexts);
    if asked > all || asked % cores != 0 {
        let allowed = format!("a multiple of {cores} (the engine's cores) up to {all}");
        return Err(spec.wrong("xdp_share.contexts", asked, allowed));
    }
    let most = PACKET_UNITS as u8;
    if !(1..=most).contains(&share.memory) {
        return Err(spec.wrong("xdp_share.memory", share.memory, format!("1 to {most} KiB")));
    }
    let left = all.saturating_sub(held);
    if asked > left {
        let resource = "contexts of the XDP cores";
        return Err(LinkError::NoRoom { resource, asked, left: left.to_string(), holders: holders() });
    }
    let free = u32::from(engine.memory_units()).saturating_sub(u32::from(most) + memory);
    if asked / cores * u32::from(share.memory) > free {
        return Err(no_memory(engine, spec, asked / cores, free));
    }
    Ok(())
}
