//! Run-time operations on single entries of the running program.

use super::loads::entry_row;
use super::spaces::Slot;
use super::tenants::Tenant;
use super::writer::Writer;
use super::{LinkError, Linker};
use crate::KeyBytes;
use crate::action::Action;
use crate::key::{KeySpec, describe};
use crate::load::Load;
use sluice_formats::rows::EntryRow;

impl Linker {
    /// Adds an entry. Entries that make room move by copy, then delete: none is missed.
    pub fn insert(&mut self, id: u16, key: &KeyBytes, action: &Action) -> Result<Load, LinkError> {
        let (tenant, spec) = self.entry_op(id, "insert", key)?;
        let wrong = |found: String, allowed: &str| Err(entry_error(&tenant, "insert", &spec, key, found, allowed));
        if self.find_entry(&tenant, key).is_some() {
            return wrong("the key is there".to_owned(), "modify it, or delete it first");
        }
        let bank = tenant.bank(self.generations[usize::from(tenant.module)]);
        let Some(bank) = bank.filter(|_| spec.kind != sluice_formats::rows::KeyKind::None) else {
            return wrong("the program looks nothing up".to_owned(), "a program with a key takes entries");
        };
        let count = self.table.rows_of(bank).count() as u32;
        if count >= tenant.spec.max_entries {
            let allowed = format!("{} are granted; delete one first", tenant.spec.max_entries);
            return wrong(format!("{count} entries are there"), &allowed);
        }
        let row = self.new_row(&tenant, "insert", key, action)?;
        let mut next = self.clone();
        let path = next.table.path_to_room(bank, key);
        let path = path.ok_or_else(|| self.no_place(&tenant, bank, &spec, key))?;
        let mut w = Writer::default();
        next.table.make_room(&path, |from, to, row| w.move_entry(from, to, row));
        next.table.set(path[0], Some(row));
        w.entry(path[0], Some(&row));
        self.adopt(next, &tenant, "insert", w)
    }

    /// Gives an entry another action, in one write.
    pub fn modify(&mut self, id: u16, key: &KeyBytes, action: &Action) -> Result<Load, LinkError> {
        let (tenant, spec) = self.entry_op(id, "modify", key)?;
        let slot = self.present(&tenant, "modify", &spec, key)?;
        let row = self.new_row(&tenant, "modify", key, action)?;
        let mut next = self.clone();
        next.table.set(slot, Some(row));
        let mut w = Writer::default();
        w.entry(slot, Some(&row));
        self.adopt(next, &tenant, "modify", w)
    }

    /// Takes an entry out, in one write.
    pub fn delete(&mut self, id: u16, key: &KeyBytes) -> Result<Load, LinkError> {
        let (tenant, spec) = self.entry_op(id, "delete", key)?;
        let slot = self.present(&tenant, "delete", &spec, key)?;
        let mut next = self.clone();
        next.table.set(slot, None);
        let mut w = Writer::default();
        w.entry(slot, None);
        self.adopt(next, &tenant, "delete", w)
    }

    fn adopt(&mut self, next: Self, tenant: &Tenant, verb: &str, w: Writer) -> Result<Load, LinkError> {
        let load = w.load(&next, tenant.spec.id, format!("{verb} {}", tenant.spec.name));
        self.check(&load)?;
        *self = next;
        Ok(load)
    }

    fn entry_op(&self, id: u16, verb: &'static str, key: &KeyBytes) -> Result<(Tenant, KeySpec), LinkError> {
        let (tenant, running) = self.running(id, verb)?;
        let wrong = |error| LinkError::Object { object: running.object.clone(), error };
        running.key.check_key(key).map_err(wrong)?;
        Ok((tenant.clone(), running.key))
    }

    fn find_entry(&self, tenant: &Tenant, key: &KeyBytes) -> Option<Slot> {
        let generation = self.generations[usize::from(tenant.module)];
        self.table.find(tenant.bank(generation)?, key)
    }

    fn present(&self, t: &Tenant, verb: &'static str, spec: &KeySpec, key: &KeyBytes) -> Result<Slot, LinkError> {
        let missing = || entry_error(t, verb, spec, key, "there is no such entry".to_owned(), "insert it first");
        self.find_entry(t, key).ok_or_else(missing)
    }

    fn new_row(&self, t: &Tenant, verb: &str, key: &KeyBytes, action: &Action) -> Result<EntryRow, LinkError> {
        let action = self.action_row(t, &format!("tenant `{}`: {verb}", t.spec.name), action)?;
        Ok(entry_row(t.module, self.generations[usize::from(t.module)], key, action))
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
