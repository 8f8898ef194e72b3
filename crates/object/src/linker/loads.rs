//! Programs: first load, hitless replacement, unload.

use super::spaces::Region;
use super::tenants::{Running, Tenant};
use super::writer::Writer;
use super::{LinkError, Linker};
use crate::action::Action;
use crate::key::{KeySpec, describe};
use crate::load::{Load, PlacedXdp};
use crate::object::{Object, TargetNeed};
use sluice_formats::rows::{ActionRow, EntryRow, KeyKind, OverlayRow};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Linker {
    /// The tenant's first program.
    pub fn load(&mut self, id: u16, object: &Object) -> Result<Load, LinkError> {
        let tenant = self.tenant(id)?;
        if let Some(running) = &tenant.running {
            let found = format!("`{}` is running", running.object);
            return Err(tenant.state("load", found, "replace it, or unload it first"));
        }
        self.install(id, object, "load")
    }

    /// Another program in place of the running one: every packet sees all of the old one or
    /// all of the new one, and none is lost.
    pub fn replace(&mut self, id: u16, object: &Object) -> Result<Load, LinkError> {
        self.running(id, "replace")?;
        self.install(id, object, "replace")
    }

    /// No program any more; the tenant's packets are dropped (`no_module`).
    pub fn unload(&mut self, id: u16) -> Result<Load, LinkError> {
        self.running(id, "unload")?;
        let mut next = self.clone();
        let mut w = Writer::default();
        next.stop(id, &mut w)?;
        let load = w.load(&next, id, format!("unload {}", next.tenant(id)?.spec.name));
        self.check(&load)?;
        *self = next;
        Ok(load)
    }

    pub(super) fn running(&self, id: u16, operation: &'static str) -> Result<(&Tenant, &Running), LinkError> {
        let tenant = self.tenant(id)?;
        let idle = || tenant.state(operation, "nothing is running".to_owned(), "load a program first");
        Ok((tenant, tenant.running.as_ref().ok_or_else(idle)?))
    }

    fn install(&mut self, id: u16, object: &Object, verb: &str) -> Result<Load, LinkError> {
        let mut next = self.clone();
        let mut w = Writer::default();
        next.switch_to(id, object, &mut w)?;
        let load = w.load(&next, id, format!("{verb} {}", next.tenant(id)?.spec.name));
        self.check(&load)?;
        *self = next;
        Ok(load)
    }

    fn switch_to(&mut self, id: u16, object: &Object, w: &mut Writer) -> Result<(), LinkError> {
        object.check().map_err(|error| LinkError::Object { object: object.name.clone(), error })?;
        let tenant = self.tenant(id)?.clone();
        self.check_demands(&tenant, object)?;
        let module = tenant.module;
        let new = 1 - self.generations[usize::from(module)];
        let overlay = self.overlay_row(&tenant, object, new)?;

        w.drained(module, new);
        self.place(&tenant, object, new)?;
        if let Some(bank) = tenant.bank(new) {
            self.table.rows_of(bank).for_each(|(slot, row)| w.entry(slot, Some(row)));
        }
        w.overlay(module, new, &overlay);
        if let Some(program) = placed_xdp(&tenant, object)? {
            w.program(module, new, Some(program));
        }
        self.commit(&tenant, w);
        let xdp = object.xdp.as_deref().map(|xdp| Arc::new(xdp.clone()));
        let running = Running { object: object.name.clone(), key: object.key, xdp };
        if let Some(t) = self.tenants.get_mut(&id) {
            t.running = Some(running);
        }
        Ok(())
    }

    /// Commits to the empty overlay bank and clears the rest.
    pub(super) fn stop(&mut self, id: u16, w: &mut Writer) -> Result<(), LinkError> {
        let tenant = self.tenant(id)?.clone();
        let new = 1 - self.generations[usize::from(tenant.module)];
        w.drained(tenant.module, new);
        w.overlay(tenant.module, new, &OverlayRow::default());
        self.commit(&tenant, w);
        if let Some(t) = self.tenants.get_mut(&id) {
            t.running = None;
        }
        Ok(())
    }

    /// Commits the other generation, waits until the present one is unused, and clears it.
    fn commit(&mut self, tenant: &Tenant, w: &mut Writer) {
        let current = &mut self.generations[usize::from(tenant.module)];
        let old = *current;
        *current = 1 - old;
        w.commit(tenant.module, 1 - old);
        w.drained(tenant.module, old);
        if let Some(bank) = tenant.bank(old) {
            let slots: Vec<_> = self.table.rows_of(bank).map(|(slot, _)| slot).collect();
            for slot in slots {
                w.entry(slot, None);
                self.table.set(slot, None);
            }
        }
        w.overlay(tenant.module, old, &OverlayRow::default());
        if tenant.running.as_ref().is_some_and(|r| r.xdp.is_some()) {
            w.program(tenant.module, old, None);
        }
    }

    /// Finds a place for every entry in the new generation's sets. Rows move freely: none is
    /// written yet.
    fn place(&mut self, tenant: &Tenant, object: &Object, new: u8) -> Result<(), LinkError> {
        let Some(bank) = tenant.bank(new) else { return Ok(()) };
        for (i, entry) in object.entries.iter().enumerate() {
            let action = self.action_row(tenant, &format!("object `{}`, entries[{i}]", object.name), &entry.action)?;
            let path = self.table.path_to_room(bank, &entry.key);
            let path = path.ok_or_else(|| self.no_place(tenant, bank, &object.key, &entry.key))?;
            self.table.make_room(&path, |_, _, _| {});
            let row = entry_row(tenant.module, new, &entry.key, action);
            self.table.set(path[0], Some(row));
        }
        Ok(())
    }

    pub(super) fn no_place(&self, tenant: &Tenant, bank: Region, spec: &KeySpec, key: &crate::KeyBytes) -> LinkError {
        let slots = bank.slots(key);
        LinkError::NoPlace {
            tenant: tenant.spec.name.clone(),
            key: describe(spec, key),
            set0: slots[0].set,
            set1: slots[2].set,
            used: self.table.rows_of(bank).count() as u32,
            rows: bank.rows(),
        }
    }

    fn overlay_row(&self, tenant: &Tenant, object: &Object, generation: u8) -> Result<OverlayRow, LinkError> {
        let (base, bits) = tenant.bank(generation).map_or((0, 0), |r| (r.base, r.bits));
        let row = OverlayRow {
            valid: true,
            key_kind: object.key.kind as u8,
            key_mask: object.key.mask,
            set_base: base as u16,
            set_bits: bits as u8,
            ..OverlayRow::default()
        };
        let what = format!("object `{}`, default", object.name);
        Ok(row.with_action(self.action_row(tenant, &what, &object.default)?))
    }

    /// The action's row, if the tenant may send there.
    pub(super) fn action_row(&self, tenant: &Tenant, what: &str, action: &Action) -> Result<ActionRow, LinkError> {
        action.check().map_err(|error| LinkError::Object { object: what.to_owned(), error })?;
        self.check_granted(tenant, what, action.to)?;
        action.row(self.target).map_err(|d| self.no_destination(what.to_owned(), d))
    }

    fn check_granted(&self, tenant: &Tenant, what: &str, to: crate::Destinations) -> Result<(), LinkError> {
        for found in to.iter() {
            if found.number(self.target).is_none() {
                return Err(self.no_destination(what.to_owned(), found));
            }
            if !tenant.spec.queues.contains_key(&found) {
                let allowed = tenant.spec.destinations().to_string();
                let (what, tenant) = (what.to_owned(), tenant.spec.name.clone());
                return Err(LinkError::NotGranted { what, found, tenant, allowed });
            }
        }
        Ok(())
    }

    fn check_demands(&self, tenant: &Tenant, object: &Object) -> Result<(), LinkError> {
        if let TargetNeed::Exact { name, hash } = &object.target
            && *hash != self.target.hash()
        {
            return Err(LinkError::Target {
                object: object.name.clone(),
                found: format!("{name} ({hash:08x})"),
                allowed: format!("{} ({:08x})", self.target.name, self.target.hash()),
            });
        }
        let spec = &tenant.spec;
        self.check_granted(
            tenant,
            &format!("object `{}`, demands.queues", object.name),
            object.demands.destinations(),
        )?;
        let lacking = |what: String, asked: u64, given: u64| {
            let (object, tenant) = (object.name.clone(), spec.name.clone());
            Err(LinkError::Demand { object, what, asked, tenant, given })
        };
        let demands = &object.demands;
        if demands.entries > spec.max_entries {
            return lacking("entries".to_owned(), demands.entries.into(), spec.max_entries.into());
        }
        if object.key.kind != KeyKind::None && tenant.region.is_none() {
            return lacking("match sets at least".to_owned(), 1, 0);
        }
        for (d, cells) in &demands.queues {
            let given = spec.queues.get(d).copied().unwrap_or(0);
            if *cells > given {
                return lacking(format!("cells at {d}"), (*cells).into(), given.into());
            }
        }
        if demands.quantum > spec.quantum {
            return lacking("bytes of quantum".to_owned(), demands.quantum.into(), spec.quantum.into());
        }
        match (demands.rate, spec.rate) {
            (Some(asked), Some(given)) if asked.bits_per_second > given.bits_per_second => {
                lacking("bits per second".to_owned(), asked.bits_per_second, given.bits_per_second)
            }
            (Some(asked), Some(given)) if asked.burst_bytes > given.burst_bytes => {
                lacking("bytes of burst".to_owned(), asked.burst_bytes.into(), given.burst_bytes.into())
            }
            _ => Ok(()),
        }
    }
}

/// The program for the device, with the maps that it takes over from the running one.
fn placed_xdp(tenant: &Tenant, object: &Object) -> Result<Option<PlacedXdp>, LinkError> {
    let Some(xdp) = object.xdp.as_deref() else { return Ok(None) };
    let running = tenant.running.as_ref().and_then(|r| r.xdp.as_deref());
    let mut kept = BTreeMap::new();
    for (new, map) in xdp.maps.iter().enumerate().filter(|(i, _)| xdp.keeps(*i)) {
        let olds = running.iter().flat_map(|old| old.maps.iter().enumerate());
        let Some((old, before)) = olds.into_iter().find(|(_, old)| old.name == map.name) else { continue };
        if let Some(difference) = map.differs(before).map(Box::new) {
            let (tenant, object, map) = (tenant.spec.name.clone(), object.name.clone(), map.name.clone());
            return Err(LinkError::KeptMap { tenant, object, map, difference });
        }
        kept.insert(new as u32, old as u32);
    }
    // Its default action, which was checked, is one destination.
    let pass = object.default.to.iter().next();
    let granted = tenant.spec.destinations();
    Ok(pass.map(|pass| PlacedXdp { xdp: xdp.clone(), kept, pass, granted }))
}

pub(super) fn entry_row(module: u8, generation: u8, key: &crate::KeyBytes, action: ActionRow) -> EntryRow {
    let row = EntryRow {
        generations: 1 << generation,
        module_id: module,
        key: EntryRow::key_from_bytes(key),
        ..EntryRow::default()
    };
    row.with_action(action)
}

impl Tenant {
    fn state(&self, operation: &'static str, found: String, allowed: &'static str) -> LinkError {
        LinkError::State { tenant: self.spec.name.clone(), operation, found, allowed }
    }
}
