//! Programs: first load, hitless replacement, unload.

use super::engine::At;
use super::error::SENDER;
use super::tenants::{Running, Tenant};
use super::writer::Writer;
use super::{LinkError, Linker, grants};
use crate::destination::Destination;
use crate::key::KeyKind;
use crate::load::Load;
use crate::object::{Object, TargetNeed};
use sluice_formats::EngineId;

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

    pub(super) fn switch_to(&mut self, id: u16, object: &Object, w: &mut Writer) -> Result<(), LinkError> {
        object.check().map_err(|error| LinkError::Object { object: object.name.clone(), error })?;
        let tenant = self.tenant(id)?.clone();
        self.check_demands(&tenant, object)?;
        let module = tenant.module;
        let new = 1 - self.generations[usize::from(module)];

        w.drained(module, new);
        let at = At { target: self.target, tenant: &tenant, generation: new };
        for space in self.engines.all_mut() {
            let placed = space.place(&at, object)?;
            if !placed.zero.is_empty() {
                w.rows(placed.zero);
                w.barrier();
            }
            w.rows(placed.rows);
            if placed.install.is_some() {
                w.install(space.engine(), module, new, placed.install);
            }
        }
        // What the new program may add to packets is paid for before the first of them comes.
        self.write_shares(w)?;
        self.commit(&tenant, w)?;
        let running = Running { object: object.name.clone(), key: object.key, engines: object.parts.engines() };
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
        for space in self.engines.all_mut() {
            let cleared = space.clear(tenant.module, old)?;
            w.rows(cleared.rows);
            if cleared.installed {
                w.install(space.engine(), tenant.module, old, None);
            }
        }
        Ok(())
    }

    /// The device has every engine that the object has a part for; a table is a program of the rmt pipeline.
    fn check_engines(&self, object: &Object) -> Result<(), LinkError> {
        let mut needed = object.parts.engines();
        if needed.is_empty() {
            needed.push(EngineId::RMT);
        }
        match needed.into_iter().find(|engine| !self.engines.has(*engine)) {
            Some(engine) => {
                let has: Vec<String> = self.engines.all().map(|space| space.engine().to_string()).collect();
                Err(LinkError::NoEngine { object: object.name.clone(), engine, has: has.join(", ") })
            }
            None => Ok(()),
        }
    }

    /// Refuses destinations that an object or its entries send to and where the tenant has no queue.
    pub fn check_sends(&self, id: u16, object: &Object) -> Result<(), LinkError> {
        self.check_sends_of(self.tenant(id)?, object)
    }

    /// The same of an entry of the P4 program that runs.
    pub fn check_entry_sends(&self, id: u16, to: &[Destination]) -> Result<(), LinkError> {
        let (tenant, running) = self.running(id, "change the entries of")?;
        let what = format!("object `{}`, {SENDER}", running.object);
        grants::check(self.target, &tenant.spec, &what, to.iter().copied().collect())
    }

    fn check_sends_of(&self, tenant: &Tenant, object: &Object) -> Result<(), LinkError> {
        let name = &object.name;
        let is_p4 = object.parts.rmt.as_ref().is_some_and(|part| part.logical.is_some());
        let what = match is_p4 {
            true => format!("object `{name}`, {SENDER}"),
            false => format!("object `{name}`, demands.queues"),
        };
        grants::check(self.target, &tenant.spec, &what, object.demands.destinations())
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
        self.check_engines(object)?;
        let spec = &tenant.spec;
        self.check_sends_of(tenant, object)?;
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

impl Tenant {
    pub(super) fn state(&self, operation: &'static str, found: String, allowed: &'static str) -> LinkError {
        LinkError::State { tenant: self.spec.name.clone(), operation, found, allowed }
    }
}
