//! One entry of a program that runs, without its object: the operation on the object's tables that a reference has done.

use super::back::logical::{call_of, entry_of};
use super::compile::{Compiled, errors};
use super::middle::RefusalKind;
use super::reserve::Reservation;
use crate::Reference;
use crate::error::P4Errors;
use crate::front::interpret::Value;
use crate::front::source::Span;
use crate::front::stf::{Changed, EntryChange};
use sluice_object::Destination;
use sluice_object::rmt::logical::LogicalChange;

impl Compiled {
    /// What a reference has done with an entry, as operations on the tables of the object that was made of it: none where no packet comes to
    /// the table, and nothing where the entry stands among others now, so that the object has to be made anew.
    pub fn changed(&self, of: &Reference, change: &EntryChange) -> Result<Option<Vec<LogicalChange>>, P4Errors> {
        let at = change.table;
        let (table, described) = (&self.plan.logical.tables[at], &of.switch.code.tables[at]);
        let rows = &of.switch.machine.tables[at];
        let refused = |what| self.refused(Span::default(), RefusalKind::NotThere, what);
        let mut call = None;
        if let Some((action, data)) = change.call(of) {
            // The last position that there may be: an entry keeps the lowest that is free.
            let position = (!matches!(change.changed, Changed::Default(_))).then(|| rows.all().len() - 1);
            let within = self.plan.within_cells_of(&of.switch.code, at, (action, data), position);
            within.map_err(|refusal| errors(refusal, &self.sources))?;
            self.check_clones(of, (at, action, data))?;
            let with = call.insert(call_of(table, action, data));
            self.ports.translate_call(at, table, with).map_err(refused)?;
        }
        let number = at as u16;
        let one = match (&change.changed, call) {
            (Changed::Default(_), Some(call)) => LogicalChange::Default { table: number, call },
            // Entries of tables that no packet comes to are in no row.
            _ if table.keys.is_empty() => return Ok(Some(Vec::new())),
            (Changed::Added(place), Some(call)) => {
                let mut entry = entry_of(table, described, &rows.row(*place).entry);
                entry.call = call;
                self.ports.translate_keys(at, table, &mut entry).map_err(refused)?;
                LogicalChange::Insert { table: number, at: *place, entry }
            }
            (Changed::Removed(place, _), _) => LogicalChange::Delete { table: number, at: *place },
            (Changed::Called(place, _), Some(call)) => LogicalChange::Modify { table: number, at: *place, call },
            _ => return Ok(None),
        };
        Ok(Some(vec![one]))
    }

    /// Refuses an entry that sends packets to a port to which clones go beside them.
    fn check_clones(&self, of: &Reference, (table, action, data): (usize, usize, &[Value])) -> Result<(), P4Errors> {
        for (session, clones) in self.plan.clones().iter().filter(|(_, clones)| clones.are_beside) {
            let ports = of.switch.replication.clones((*session).into());
            let goes = |port: u16| self.ports.goals_of(table, action, data).any(|goal| goal == port);
            if let Some((port, _)) = ports.into_iter().find(|(port, _)| goes(*port)) {
                return Err(self.beside(*session, port, clones.span));
            }
        }
        Ok(())
    }

    /// Destinations that packets go to by an entry of a reference.
    pub fn sends(&self, of: &Reference, change: &EntryChange) -> Vec<Destination> {
        let Some((action, data)) = change.call(of) else { return Vec::new() };
        self.ports.goals_of(change.table, action, data).filter_map(|port| self.destination(port)).collect()
    }

    /// Whether an entry needs no more rows than those that were reserved.
    pub fn is_reserved(&self, of: &Reference, change: &EntryChange, reserved: &[Reservation]) -> bool {
        let name = &self.plan.logical.tables[change.table].name;
        match change.changed {
            Changed::Removed(..) | Changed::Called(..) | Changed::Moved(..) => true,
            Changed::Added(_) => {
                let there = of.switch.machine.tables[change.table].all().len();
                reserved.iter().any(|one| one.table == *name && there <= one.reserved as usize)
            }
            // Misses may take more rows by one action than by another.
            Changed::Default(_) => false,
        }
    }
}
