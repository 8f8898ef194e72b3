//! Loads for the tenants of one rmt pipeline, in an order that packets in flight do not notice.

use super::entries::{Batches, EntryAt, EntryKey, EntryLeads};
use super::error::RmtError;
use super::place::RowWrite;
use super::placer::Placer;
use super::quota::Quota;
use crate::error::bad;
use crate::linker::error::LinkError;
use crate::load::{Load, Step};
use crate::object::{Object, TargetNeed, check_name};
use crate::rmt::{RmtGroup, RmtPart};
use sluice_formats::limits::{FORMAT_VERSION, SYSTEM_TENANT, TENANT_BITS};
use sluice_formats::rmt::target::Target;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Places objects and run-time operations of all tenants of one rmt pipeline. As [`crate::Linker`]: operations
/// change it only when they succeed, and a new one stands for a device after reset.
#[derive(Clone, Debug)]
pub struct RmtLinker {
    pub(super) placer: Placer,
    pub(super) tenants: BTreeMap<u16, RmtTenant>,
    /// Current generation by module. It outlives the module's owner, as in the device.
    pub(super) generations: Vec<u8>,
}

/// An admitted tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RmtTenant {
    /// ID; 0 is the system tenant, owner of module 0.
    pub id: u16,
    /// Name for people, each once.
    pub name: String,
    /// Its module.
    pub module: u8,
    /// Name of the object that it runs.
    pub running: Option<String>,
}

/// Steps of a load under construction.
#[derive(Default)]
pub(super) struct Steps(Vec<Step>);

impl Steps {
    pub fn write(&mut self, w: RowWrite) {
        let RowWrite { node, table, index, words } = w;
        self.0.push(Step::Row { node, table, index, words });
    }

    pub fn writes(&mut self, all: impl IntoIterator<Item = RowWrite>) {
        all.into_iter().for_each(|w| self.write(w));
    }

    pub fn push(&mut self, step: Step) {
        self.0.push(step);
    }
}

impl RmtLinker {
    /// A linker for a pipeline of this target after reset.
    pub fn new(target: Target) -> Self {
        Self { placer: Placer::new(target), tenants: BTreeMap::new(), generations: vec![0; target.modules] }
    }

    /// Where things lie.
    pub fn placer(&self) -> &Placer {
        &self.placer
    }

    /// Admitted tenants by ID.
    pub fn tenants(&self) -> impl Iterator<Item = &RmtTenant> {
        self.tenants.values()
    }

    /// One tenant.
    pub fn tenant(&self, id: u16) -> Result<&RmtTenant, RmtError> {
        let names: Vec<String> = self.tenants.values().map(|t| format!("{} ({})", t.id, t.name)).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        self.tenants.get(&id).ok_or(RmtError::Link(LinkError::NoTenant { id, known }))
    }

    /// Generation that new packets of the tenant are stamped with.
    pub fn generation(&self, id: u16) -> Result<u8, RmtError> {
        Ok(self.generations[usize::from(self.tenant(id)?.module)])
    }

    /// Which stages are the system module's; once, before the first packet.
    pub fn setup(&self) -> Load {
        let mut steps = Steps::default();
        steps.writes(self.placer.stage_owners());
        self.finish(SYSTEM_TENANT, "rmt stages".to_owned(), steps)
    }

    /// Takes a tenant in, with the lowest free module. Programs within the quota always find room.
    pub fn admit(&mut self, id: u16, name: &str, quota: Quota) -> Result<Load, RmtError> {
        let wrong = |error| RmtError::Part { object: format!("tenant {id}"), error };
        check_name("name", name).map_err(wrong)?;
        if u32::from(id) >> TENANT_BITS != 0 {
            return Err(wrong(bad("ID", id, "0 to 4095")));
        }
        if let Some(holder) = self.tenants.get(&id).map(|t| t.name.clone()) {
            let (name, what) = (name.to_owned(), "the ID".to_owned());
            return Err(RmtError::Link(LinkError::Taken { id, name, what, holder }));
        }
        let module = if id == SYSTEM_TENANT { 0 } else { self.free_module(name)? };
        let mut next = self.clone();
        let mut steps = Steps::default();
        steps.writes(next.placer.admit(module, name, quota)?);
        next.tenants.insert(id, RmtTenant { id, name: name.to_owned(), module, running: None });
        let load = next.finish(id, format!("admit {name}"), steps);
        next.check(&load)?;
        *self = next;
        Ok(load)
    }

    fn free_module(&self, name: &str) -> Result<u8, RmtError> {
        let modules = self.placer.target().modules as u8;
        let free = (1..modules).find(|m| self.tenants.values().all(|t| t.module != *m));
        free.ok_or_else(|| {
            let holder = |t: &RmtTenant| crate::linker::spaces::Holder { tenant: t.name.clone(), amount: 1 };
            RmtError::NoRoom {
                place: "the pipeline".to_owned(),
                resource: "modules",
                tenant: name.to_owned(),
                asked: 1,
                left: "0".to_owned(),
                holders: self.tenants.values().filter(|t| t.module != 0).map(holder).collect(),
            }
        })
    }

    /// The tenant's first program, or another one in place of the running one: every packet sees all of the old one
    /// or all of the new one, and none is lost.
    pub fn load(&mut self, id: u16, object: &Object) -> Result<Load, RmtError> {
        let tenant = self.tenant(id)?.clone();
        let part = self.part_of(&tenant, object)?;
        let (module, old) = (tenant.module, self.generations[usize::from(tenant.module)]);
        let new = 1 - old;
        let mut next = self.clone();
        let placed = next.placer.place(module, new, &part)?;
        let mut steps = Steps::default();
        steps.push(Step::WaitDrained { module, generation: new });
        if !placed.zero.is_empty() {
            steps.writes(placed.zero);
            steps.push(Step::Barrier);
        }
        steps.writes(placed.rows);
        let verb = if tenant.running.is_some() { "replace" } else { "load" };
        next.switch(id, new, Some(object.name.clone()), &mut steps)?;
        let load = next.finish(id, format!("{verb} {}", tenant.name), steps);
        self.check(&load)?;
        *self = next;
        Ok(load)
    }

    /// No program any more; the tenant's packets are dropped (`no_module`).
    pub fn unload(&mut self, id: u16) -> Result<Load, RmtError> {
        let mut next = self.clone();
        let mut steps = Steps::default();
        next.stop(id, &mut steps)?;
        let load = next.finish(id, format!("unload {}", next.tenant(id)?.name), steps);
        self.check(&load)?;
        *self = next;
        Ok(load)
    }

    /// Lets a tenant go; none of its packets come any more.
    pub fn remove(&mut self, id: u16) -> Result<Load, RmtError> {
        let tenant = self.tenant(id)?.clone();
        let module = tenant.module;
        let mut next = self.clone();
        let mut steps = Steps::default();
        if tenant.running.is_some() {
            next.stop(id, &mut steps)?;
        }
        steps.push(Step::WaitQueuesEmpty { module });
        (0..2).for_each(|generation| steps.push(Step::WaitDrained { module, generation }));
        steps.writes(next.placer.release(module)?);
        next.tenants.remove(&id);
        let load = next.finish(id, format!("remove {}", tenant.name), steps);
        self.check(&load)?;
        *self = next;
        Ok(load)
    }

    /// Other destinations or tags for a group of the tenant's, in one write that packets see at once.
    pub fn set_group(&mut self, id: u16, number: u16, group: RmtGroup) -> Result<Load, RmtError> {
        let tenant = self.tenant(id)?.clone();
        let mut next = self.clone();
        let mut steps = Steps::default();
        steps.write(next.placer.set_group(tenant.module, number, group)?);
        let load = next.finish(id, format!("group {number} of {}", tenant.name), steps);
        self.check(&load)?;
        *self = next;
        Ok(load)
    }

    /// Adds an entry to the running program; see [`Placer::insert`].
    pub fn insert(
        &mut self,
        id: u16,
        stage: u8,
        key: EntryKey,
        leads: &EntryLeads,
        before: Option<usize>,
    ) -> Result<Load, RmtError> {
        self.entry_load(id, "insert", stage, key, |placer, at| placer.insert(at, leads, before))
    }

    /// Lets an entry of the running program lead elsewhere.
    pub fn modify(&mut self, id: u16, stage: u8, key: EntryKey, leads: &EntryLeads) -> Result<Load, RmtError> {
        self.entry_load(id, "modify", stage, key, |placer, at| placer.modify(at, leads))
    }

    /// Takes an entry out of the running program.
    pub fn delete(&mut self, id: u16, stage: u8, key: EntryKey) -> Result<Load, RmtError> {
        self.entry_load(id, "delete", stage, key, |placer, at| placer.delete(at))
    }

    /// Entries of the running program in a stage, exact ones first, the ternary ones in their order.
    pub fn entries(&self, id: u16, stage: u8) -> Result<Vec<(EntryKey, EntryLeads)>, RmtError> {
        Ok(self.placer.entries(self.tenant(id)?.module, self.generation(id)?, stage))
    }

    fn entry_load(
        &mut self,
        id: u16,
        verb: &str,
        stage: u8,
        key: EntryKey,
        change: impl FnOnce(&mut Placer, EntryAt) -> Result<Batches, RmtError>,
    ) -> Result<Load, RmtError> {
        let (module, generation) = (self.tenant(id)?.module, self.generation(id)?);
        let label = format!("{verb} {}", self.tenant(id)?.name);
        let mut next = self.clone();
        let batches = change(&mut next.placer, EntryAt { module, generation, stage, key })?;
        let mut steps = Steps::default();
        for (i, batch) in batches.into_iter().enumerate() {
            if i > 0 {
                steps.push(Step::Barrier);
            }
            steps.writes(batch);
        }
        let load = next.finish(id, label, steps);
        self.check(&load)?;
        *self = next;
        Ok(load)
    }

    fn stop(&mut self, id: u16, steps: &mut Steps) -> Result<(), RmtError> {
        let tenant = self.tenant(id)?.clone();
        if tenant.running.is_none() {
            let (found, allowed) = ("nothing is running".to_owned(), "load a program first".to_owned());
            return Err(RmtError::Module { module: tenant.module, operation: "unload", found, allowed });
        }
        let new = 1 - self.generations[usize::from(tenant.module)];
        steps.push(Step::WaitDrained { module: tenant.module, generation: new });
        self.switch(id, new, None, steps)
    }

    /// Commits a generation, waits until the other one is unused, and clears it.
    fn switch(&mut self, id: u16, new: u8, running: Option<String>, steps: &mut Steps) -> Result<(), RmtError> {
        let module = self.tenant(id)?.module;
        steps.push(Step::Commit { module, generation: new });
        steps.push(Step::WaitDrained { module, generation: 1 - new });
        steps.writes(self.placer.clear(module, 1 - new)?);
        self.generations[usize::from(module)] = new;
        if let Some(t) = self.tenants.get_mut(&id) {
            t.running = running;
        }
        Ok(())
    }

    /// The object's part, if the tenant may run it here.
    fn part_of(&self, tenant: &RmtTenant, object: &Object) -> Result<Arc<RmtPart>, RmtError> {
        let name = &object.name;
        object.check().map_err(|error| RmtError::Part { object: name.clone(), error })?;
        let target = self.placer.target();
        if let TargetNeed::Exact { name: found, hash } = &object.target
            && *hash != target.hash()
        {
            return Err(RmtError::Link(LinkError::Target {
                object: name.clone(),
                found: format!("{found} ({hash:08x})"),
                allowed: format!("{} ({:08x})", target.name, target.hash()),
            }));
        }
        let Some(part) = &object.rmt else {
            let error = bad("rmt", "nothing", "the rows of a program for the rmt pipeline");
            return Err(RmtError::Part { object: name.clone(), error });
        };
        let granted = self.placer.granted(tenant.module);
        let nic = target.nic();
        let wanted = object.demands.destinations();
        let not_there = |d| {
            let error = bad("demands.queues", d, format!("destinations of target {}", target.name));
            RmtError::Part { object: name.clone(), error }
        };
        let missing = wanted.mask(nic).map_err(not_there)? & !granted;
        if missing != 0 {
            let what = format!("object `{name}`, demands.queues");
            let allowed = crate::Destinations::from_mask(granted, nic).to_string();
            let first = crate::Destinations::from_mask(missing, nic).iter().next();
            let tenant = tenant.name.clone();
            return Err(match first {
                Some(found) => RmtError::Link(LinkError::NotGranted { what, found, tenant, allowed }),
                None => not_there(crate::Destination::Port(7)),
            });
        }
        Ok(Arc::new((**part).clone()))
    }

    pub(super) fn finish(&self, tenant: u16, label: String, steps: Steps) -> Load {
        let target_hash = self.placer.target().hash();
        Load { format_version: FORMAT_VERSION, target_hash, tenant, label, steps: steps.0 }
    }
}
