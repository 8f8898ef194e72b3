//! Programs: first load, hitless replacement, unload.

use super::rmt::RmtError;
use super::tenants::{Running, Tenant};
use super::writer::Writer;
use super::{LinkError, Linker};
use crate::action::Action;
use crate::key::{KeyKind, describe};
use crate::load::{Load, PlacedXdp};
use crate::lower;
use crate::object::{Object, TargetNeed};
use crate::rmt::RmtPart;
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
        let part = self.part(&tenant, object)?;
        let module = tenant.module;
        let new = 1 - self.generations[usize::from(module)];

        w.drained(module, new);
        let placed = self.placer.place(module, new, &part).map_err(|e| in_table_terms(e, object))?;
        if !placed.zero.is_empty() {
            w.rows(placed.zero);
            w.barrier();
        }
        w.rows(placed.rows);
        if let Some(program) = placed_xdp(&tenant, object)? {
            w.program(module, new, Some(program));
        }
        self.commit(&tenant, w)?;
        let xdp = object.xdp.as_deref().map(|xdp| Arc::new(xdp.clone()));
        let running = Running { object: object.name.clone(), key: object.key, xdp, rmt: object.rmt.is_some() };
        if let Some(t) = self.tenants.get_mut(&id) {
            t.running = Some(running);
        }
        Ok(())
    }

    /// Commits to the empty generation and clears the rest.
    pub(super) fn stop(&mut self, id: u16, w: &mut Writer) -> Result<(), LinkError> {
        let tenant = self.tenant(id)?.clone();
        w.drained(tenant.module, 1 - self.generations[usize::from(tenant.module)]);
        self.commit(&tenant, w)?;
        if let Some(t) = self.tenants.get_mut(&id) {
            t.running = None;
        }
        Ok(())
    }

    /// Commits the other generation, waits until the present one is unused, and clears it.
    fn commit(&mut self, tenant: &Tenant, w: &mut Writer) -> Result<(), LinkError> {
        let current = &mut self.generations[usize::from(tenant.module)];
        let old = *current;
        *current = 1 - old;
        w.commit(tenant.module, 1 - old);
        w.drained(tenant.module, old);
        w.rows(self.placer.clear(tenant.module, old)?);
        if tenant.running.as_ref().is_some_and(|r| r.xdp.is_some()) {
            w.program(tenant.module, old, None);
        }
        Ok(())
    }

    /// The object's program for the pipeline: its own, or its table as one.
    fn part(&self, tenant: &Tenant, object: &Object) -> Result<Arc<RmtPart>, LinkError> {
        if let Some(part) = &object.rmt {
            return Ok(Arc::new((**part).clone()));
        }
        self.check_action(tenant, &format!("object `{}`, default", object.name), &object.default)?;
        for (i, entry) in object.entries.iter().enumerate() {
            self.check_action(tenant, &format!("object `{}`, entries[{i}]", object.name), &entry.action)?;
        }
        let systems = self.placer.shared();
        lower::lower(object, self.target, &systems).map(Arc::new).ok_or_else(|| {
            let found = format!("the system program exchanges {} containers", systems.len());
            let allowed = "at least two of each size left, for the key and the action of a table".to_owned();
            RmtError::Shared { tenant: tenant.spec.name.clone(), found, allowed }.into()
        })
    }

    /// Refuses an action that the tenant may not have.
    pub(super) fn check_action(&self, tenant: &Tenant, what: &str, action: &Action) -> Result<(), LinkError> {
        action.check().map_err(|error| LinkError::Object { object: what.to_owned(), error })?;
        self.check_granted(tenant, what, action.to)
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
        if object.key.kind != KeyKind::None && spec.max_entries == 0 {
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

/// A refusal of an entry's place, with the key as the object names it.
fn in_table_terms(error: RmtError, object: &Object) -> LinkError {
    match error {
        RmtError::NoPlace { tenant, key, set0, set1, used, rows, .. } if object.rmt.is_none() => {
            let key = describe(&object.key, &lower::key_bytes(&object.key, &key));
            LinkError::NoPlace { tenant, key, set0, set1, used, rows }
        }
        error => error.into(),
    }
}

impl Tenant {
    pub(super) fn state(&self, operation: &'static str, found: String, allowed: &'static str) -> LinkError {
        LinkError::State { tenant: self.spec.name.clone(), operation, found, allowed }
    }
}
