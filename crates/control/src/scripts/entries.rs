//! Entries of P4 programs that run.

use super::ScriptFailure;
use super::runner::Runner;
use super::tables::running;
use sluice_frontends::TableChange;
use sluice_object::Object;

impl Runner<'_> {
    /// Changes an entry of a P4 program while packets pass: in its row, if it is one, otherwise with all others in the other
    /// generation. Its state goes on.
    pub fn entry(&mut self, tenant: &str, entry: &str) -> Result<(), ScriptFailure> {
        let id = self.id(tenant)?;
        let change = running(&mut self.p4, tenant)?.change(entry)?;
        let done = self.changed(tenant, id, &change);
        if done.is_err() {
            running(&mut self.p4, tenant)?.undo(change);
        }
        done
    }

    fn changed(&mut self, tenant: &str, id: u16, change: &TableChange) -> Result<(), ScriptFailure> {
        self.linker.check_entry_sends(id, &change.sends)?;
        let changed = |operations: &Vec<_>| self.linker.change_entries(id, operations);
        let in_rows = change.operations.as_ref().map(changed).transpose()?.flatten();
        if let Some(part) = self.programs.get_mut(tenant).and_then(|object| object.parts.rmt.as_mut()) {
            part.keep_state = true;
        }
        match in_rows {
            Some(load) => self.run_load(&load),
            None => {
                let object = self.program_of(tenant)?;
                object.map_or(Ok(()), |object| self.put(tenant, &object))
            }
        }
    }

    /// What a tenant runs beside rules, or could; a P4 program with the entries that it has now.
    pub fn program_of(&self, tenant: &str) -> Result<Option<Object>, ScriptFailure> {
        let (Some(tables), Some(begun)) = (self.p4.get(tenant), self.programs.get(tenant)) else {
            return Ok(self.programs.get(tenant).cloned());
        };
        let mut object = tables.object()?;
        if let (Some(part), Some(before)) = (&mut object.parts.rmt, &begun.parts.rmt) {
            part.keep_state |= before.keep_state;
        }
        Ok(Some(object))
    }
}
