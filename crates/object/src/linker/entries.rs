//! Run-time operations on single entries of the running program.

use super::rmt::change::Unchanged;
use super::rmt::entries::Done;
use super::rmt::{Batches, EntryAt, EntryKey, EntryLeads, Placer, RmtError};
use super::tenants::{Running, Tenant};
use super::writer::Writer;
use super::{LinkError, Linker, grants};
use crate::KeyBytes;
use crate::action::Action;
use crate::key::{KeyKind, KeySpec, describe};
use crate::load::Load;
use crate::lower;
use crate::object::Entry;
use crate::rmt::RmtGroup;
use crate::rmt::logical::LogicalChange;
use sluice_formats::EngineId;

impl Linker {
    /// Adds an entry to the running table. Entries that make room move by copy, then delete: none is missed.
    pub fn insert(&mut self, id: u16, key: &KeyBytes, action: &Action) -> Result<Load, LinkError> {
        let spec = self.table_op(id, "insert", key)?;
        let tenant = self.tenant(id)?;
        if spec.kind == KeyKind::None {
            let found = "the program looks nothing up".to_owned();
            return Err(entry_error(tenant, "insert", &spec, key, found, "a program with a key takes entries"));
        }
        let (module, generation, stage) = (tenant.module, self.generation(id)?, lower::stage_of(self.target));
        let at = EntryAt { module, generation, stage, key: EntryKey::Exact(lower::key_bits(&spec, key)) };
        let (most, (count, is_there)) = (tenant.spec.max_entries, self.engines.rmt.exact_entries(at)?);
        if count >= most && !is_there {
            let allowed = format!("{most} are granted; delete one first");
            let found = format!("{count} entries are there");
            return Err(entry_error(tenant, "insert", &spec, key, found, &allowed));
        }
        let leads = self.leads(tenant, "insert", action)?;
        self.table_load(id, "insert", &spec, key, |placer, at, done| placer.insert_into(at, &leads, None, done))
    }

    /// Gives an entry of the running table another action, in one write.
    pub fn modify(&mut self, id: u16, key: &KeyBytes, action: &Action) -> Result<Load, LinkError> {
        let spec = self.table_op(id, "modify", key)?;
        let leads = self.leads(self.tenant(id)?, "modify", action)?;
        self.table_load(id, "modify", &spec, key, |placer, at, done| placer.modify_into(at, &leads, done))
    }

    /// Takes an entry out of the running table.
    pub fn delete(&mut self, id: u16, key: &KeyBytes) -> Result<Load, LinkError> {
        let spec = self.table_op(id, "delete", key)?;
        self.table_load(id, "delete", &spec, key, Placer::delete_into)
    }

    /// Entries of the running table, by key; none of a program of the rmt pipeline.
    pub fn entries(&self, id: u16) -> Result<Vec<Entry>, LinkError> {
        let tenant = self.tenant(id)?;
        let Some(running) = tenant.running.as_ref().filter(|r| !r.is_rmt()) else { return Ok(Vec::new()) };
        let rows = self.engines.rmt.entries(tenant.module, self.generation(id)?, lower::stage_of(self.target));
        let entry = |(key, leads): (EntryKey, EntryLeads)| match key {
            EntryKey::Exact(bits) => Some(Entry {
                key: lower::key_bytes(&running.key, &bits),
                action: lower::action_of(&leads.data, self.target),
            }),
            EntryKey::Ternary { .. } => None,
        };
        let mut all: Vec<Entry> = rows.into_iter().filter_map(entry).collect();
        all.sort_by_key(|e| e.key);
        Ok(all)
    }

    /// Adds an entry to a stage of the running rmt program; see [`Placer::insert`].
    pub fn rmt_insert(
        &mut self,
        id: u16,
        stage: u8,
        key: EntryKey,
        leads: &EntryLeads,
        before: Option<usize>,
    ) -> Result<Load, LinkError> {
        self.rmt_load(id, "insert", stage, key, |placer, at, done| placer.insert_into(at, leads, before, done))
    }

    /// Lets an entry of the running rmt program lead elsewhere.
    pub fn rmt_modify(&mut self, id: u16, stage: u8, key: EntryKey, leads: &EntryLeads) -> Result<Load, LinkError> {
        self.rmt_load(id, "modify", stage, key, |placer, at, done| placer.modify_into(at, leads, done))
    }

    /// Takes an entry out of the running rmt program.
    pub fn rmt_delete(&mut self, id: u16, stage: u8, key: EntryKey) -> Result<Load, LinkError> {
        self.rmt_load(id, "delete", stage, key, Placer::delete_into)
    }

    /// Operations on the entries of the running P4 program, one after the other, each in its row, while packets pass; all of them, or none.
    /// Nothing where one of them is more than that, or has no room: then [`Linker::replace`] puts all entries in place at once.
    pub fn change_entries(&mut self, id: u16, changes: &[LogicalChange]) -> Result<Option<Load>, LinkError> {
        let (tenant, running) = self.running(id, "change the entries of")?;
        let (module, label) = (tenant.module, format!("entries of {}", tenant.spec.name));
        let object = running.object.clone();
        let generation = self.generation(id)?;
        let mut changed = match self.engines.rmt.change(module, generation, changes) {
            Ok(changed) => changed,
            Err(Unchanged::More) => return Ok(None),
            Err(Unchanged::Wrong(error)) => return Err(LinkError::Object { object, error }),
        };
        let load = self.batches(id, label, std::mem::take(&mut changed.done.batches));
        if let Err(error) = self.check(&load) {
            self.engines.rmt.unchange(changed);
            return Err(error);
        }
        Ok(Some(load))
    }

    /// Entries of the running program in a stage, exact ones first, the ternary ones in their order.
    pub fn rmt_entries(&self, id: u16, stage: u8) -> Result<Vec<(EntryKey, EntryLeads)>, LinkError> {
        Ok(self.engines.rmt.entries(self.tenant(id)?.module, self.generation(id)?, stage))
    }

    /// Other destinations or tags for a group of the tenant's, in one write that packets see at once.
    pub fn set_group(&mut self, id: u16, number: u16, group: RmtGroup) -> Result<Load, LinkError> {
        let tenant = self.tenant(id)?;
        let (module, label) = (tenant.module, format!("group {number} of {}", tenant.spec.name));
        let mut next = self.clone();
        let mut w = Writer::default();
        w.rows([next.engines.rmt.set_group(module, number, group)?]);
        let load = w.load(&next, id, label);
        self.check(&load)?;
        *self = next;
        Ok(load)
    }

    fn table_op(&self, id: u16, verb: &'static str, key: &KeyBytes) -> Result<KeySpec, LinkError> {
        let (tenant, running) = self.running(id, verb)?;
        if running.is_rmt() {
            let found = format!("`{}` is a program of the rmt pipeline", running.object);
            return Err(tenant.state(verb, found, "entries of a stage for it, and these for a table"));
        }
        let wrong = |error| LinkError::Object { object: running.object.clone(), error };
        running.key.check_key(key).map_err(wrong)?;
        Ok(running.key)
    }

    fn leads(&self, t: &Tenant, verb: &str, action: &Action) -> Result<EntryLeads, LinkError> {
        grants::check_action(self.target, &t.spec, &format!("tenant `{}`: {verb}", t.spec.name), action)?;
        Ok(EntryLeads { action: 0, number: lower::ENTRY_NUMBER, data: lower::data_of(action, self.target) })
    }

    fn table_load(
        &mut self,
        id: u16,
        verb: &'static str,
        spec: &KeySpec,
        key: &KeyBytes,
        change: impl FnOnce(&mut Placer, EntryAt, &mut Done) -> Result<(), RmtError>,
    ) -> Result<Load, LinkError> {
        let bits = EntryKey::Exact(lower::key_bits(spec, key));
        let load = self.entry_load(id, verb, lower::stage_of(self.target), bits, change);
        load.map_err(|e| match (e, self.tenant(id)) {
            (LinkError::Rmt(RmtError::Entry { found, allowed, .. }), Ok(tenant)) => {
                entry_error(tenant, verb, spec, key, found, &allowed)
            }
            (e, _) => e,
        })
    }

    fn rmt_load(
        &mut self,
        id: u16,
        verb: &'static str,
        stage: u8,
        key: EntryKey,
        change: impl FnOnce(&mut Placer, EntryAt, &mut Done) -> Result<(), RmtError>,
    ) -> Result<Load, LinkError> {
        let (tenant, running) = self.running(id, verb)?;
        if !running.is_rmt() {
            let found = format!("`{}` is a table", running.object);
            return Err(tenant.state(verb, found, "entries of the table for it, and these for an rmt program"));
        }
        self.entry_load(id, verb, stage, key, change)
    }

    /// What is refused changes nothing: room is found before anything is done.
    fn entry_load(
        &mut self,
        id: u16,
        verb: &str,
        stage: u8,
        key: EntryKey,
        change: impl FnOnce(&mut Placer, EntryAt, &mut Done) -> Result<(), RmtError>,
    ) -> Result<Load, LinkError> {
        let tenant = self.tenant(id)?;
        let (module, label) = (tenant.module, format!("{verb} {}", tenant.spec.name));
        let generation = self.generation(id)?;
        let mut done = Done::default();
        change(&mut self.engines.rmt, EntryAt { module, generation, stage, key }, &mut done)?;
        let load = self.batches(id, label, std::mem::take(&mut done.batches));
        if let Err(error) = self.check(&load) {
            self.engines.rmt.undo(done);
            return Err(error);
        }
        Ok(load)
    }

    fn batches(&self, id: u16, label: String, batches: Batches) -> Load {
        let mut w = Writer::default();
        for (i, batch) in batches.into_iter().enumerate() {
            if i > 0 {
                w.barrier();
            }
            w.rows(batch);
        }
        w.load(self, id, label)
    }
}

impl Running {
    /// Whether it is a program of the rmt pipeline, and not a table that was lowered to one.
    fn is_rmt(&self) -> bool {
        self.engines.contains(&EngineId::RMT)
    }
}

fn entry_error(
    tenant: &Tenant,
    operation: &'static str,
    spec: &KeySpec,
    key: &KeyBytes,
    found: String,
    allowed: &str,
) -> LinkError {
    let (tenant, key) = (tenant.spec.name.clone(), describe(spec, key));
    LinkError::Entry { tenant, operation, key, found, allowed: allowed.to_owned() }
}
