//! Applying tables.

use super::{Event, Machine, Run};
use crate::front::interpret::code::{Code, MatchKind, Table};
use crate::front::interpret::value::Value;

impl Machine {
    /// Finds an entry and runs its action; what comes back is whether it hit, and the action's number in the table.
    pub fn apply(&mut self, code: &Code, at: usize) -> Run<Value> {
        self.step()?;
        let table = &code.tables[at];
        let mut keys = Vec::with_capacity(table.keys.len());
        for key in &table.keys {
            keys.push(self.value(code, &key.value)?);
        }
        let row = if table.keys.is_empty() { None } else { self.tables[at].find(&keys, table) };
        let choice = match row {
            Some(row) if !self.tables[at].row(row).more.is_empty() => self.chosen(at, row, &keys, table),
            _ => 0,
        };
        if let Some(row) = row {
            self.count(at, row, table);
        }
        let rows = &self.tables[at];
        let (action, data) = match row.map(|row| rows.row(row)) {
            Some(row) if choice > 0 => (row.more[choice - 1].0, &row.more[choice - 1].1),
            Some(row) => (row.entry.action, &row.entry.data),
            None => (rows.default.0, &rows.default.1),
        };
        let data = data.clone();
        self.requests.row = row.map(|at_row| self.tables[at].row(at_row).handle);
        self.event(|| Event::Table(at, row.is_some(), table.actions[action].action));
        self.run_action(code, table, action, data)?;
        Ok(Value::Struct(Box::new([Value::Bool(row.is_some()), Value::Bits(action as u128)])))
    }

    fn run_action(&mut self, code: &Code, table: &Table, action: usize, data: Vec<Value>) -> Run<()> {
        let listed = &table.actions[action];
        let action = &code.actions[listed.action];
        self.invoke(code, &action.parameters, &listed.bound, |machine| {
            for (parameter, value) in action.parameters[listed.bound.len()..].iter().zip(data) {
                machine.slots[parameter.slot] = value;
            }
            machine.statements(code, &action.body)
        })
    }

    /// Which of a group's actions the selector's keys lead to.
    fn chosen(&mut self, at: usize, row: usize, keys: &[Value], table: &Table) -> usize {
        let mut bits = crate::front::interpret::bits::Bits::default();
        for (key, value) in table.keys.iter().zip(keys) {
            if key.kind == MatchKind::Selector {
                key.shape.pack(value, &mut bits);
            }
        }
        let count = self.tables[at].row(row).more.len() + 1;
        let hash = crate::front::interpret::v1model::crc16(bits.bytes());
        usize::from(hash) % count
    }

    /// Direct counters count each packet that finds an entry.
    fn count(&mut self, at: usize, row: usize, table: &Table) {
        if !table.direct.is_empty() {
            let bytes = self.packet.length() as u64;
            let row = self.tables[at].row_mut(row);
            row.packets += 1;
            row.bytes += bytes;
        }
    }
}
