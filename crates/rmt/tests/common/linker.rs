//! The NIC's linker, with tenants that have a quota of the pipeline and little else.

use sluice_object::linker::rmt::{EntryKey, EntryLeads, Placer, Quota};
use sluice_object::{Destinations, LinkError, Linker, Load, Object, RmtGroup, TenantSpec};
use sluice_rmt::target::Target;

/// Cells at every destination that a tenant may send to.
const CELLS: u16 = 4;

#[derive(Clone, Debug)]
pub struct Tenants(pub Linker);

impl Tenants {
    pub fn new(target: Target) -> Self {
        Self(Linker::new(target.nic()))
    }

    pub fn admit(&mut self, id: u16, name: &str, quota: Quota) -> Result<Load, LinkError> {
        let queues = Destinations::from_mask(quota.destinations, self.0.target());
        let queues = queues.iter().map(|d| (d, CELLS)).collect();
        self.0.admit(TenantSpec { queues, rmt: Some(quota), ..TenantSpec::new(id, name) })
    }

    /// The first program, or another one in its place.
    pub fn load(&mut self, id: u16, object: &Object) -> Result<Load, LinkError> {
        match self.0.tenant(id)?.running {
            Some(_) => self.0.replace(id, object),
            None => self.0.load(id, object),
        }
    }

    pub fn unload(&mut self, id: u16) -> Result<Load, LinkError> {
        self.0.unload(id)
    }

    pub fn remove(&mut self, id: u16) -> Result<Load, LinkError> {
        self.0.remove(id)
    }

    pub fn insert(
        &mut self,
        id: u16,
        stage: u8,
        key: EntryKey,
        leads: &EntryLeads,
        before: Option<usize>,
    ) -> Result<Load, LinkError> {
        self.0.rmt_insert(id, stage, key, leads, before)
    }

    pub fn modify(&mut self, id: u16, stage: u8, key: EntryKey, leads: &EntryLeads) -> Result<Load, LinkError> {
        self.0.rmt_modify(id, stage, key, leads)
    }

    pub fn delete(&mut self, id: u16, stage: u8, key: EntryKey) -> Result<Load, LinkError> {
        self.0.rmt_delete(id, stage, key)
    }

    pub fn set_group(&mut self, id: u16, number: u16, group: RmtGroup) -> Result<Load, LinkError> {
        self.0.set_group(id, number, group)
    }

    pub fn entries(&self, id: u16, stage: u8) -> Vec<(EntryKey, EntryLeads)> {
        self.0.rmt_entries(id, stage).unwrap()
    }

    pub fn module(&self, id: u16) -> Option<u8> {
        self.0.tenant(id).ok().map(|t| t.module)
    }

    pub fn generation(&self, id: u16) -> u8 {
        self.0.generation(id).unwrap()
    }

    pub fn check(&self, load: &Load) -> Result<(), LinkError> {
        self.0.check(load)
    }

    pub fn placer(&self) -> &Placer {
        self.0.placer()
    }
}
