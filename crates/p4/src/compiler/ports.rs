//! Numbers of ports: a program and its script may have any of 0 to 510, a pipeline has 0 to 7.

use crate::compiler::back::logical::number;
use crate::front::interpret::tables::Rows;
use crate::front::interpret::{DROP, Sent, Value};
use sluice_object::rmt::logical::{LogicalCall, LogicalEntry, LogicalMatch};
use sluice_object::rmt::{Logical, LogicalTable, LogicalValue};
use std::collections::BTreeSet;

/// Bits of a port's number in v1model.
pub(crate) const PORT_BITS: u32 = 9;
/// The number that drops, here as there.
pub(crate) const DROP_PORT: u16 = DROP as u16;
/// Ports that the pipeline has.
pub(crate) const PIPELINE_PORTS: u16 = 8;

/// Which port of the pipeline each of a program's is: one for each number, so that two are equal here if they are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortMap {
    /// The pipeline's number of each; empty if each has its own.
    numbers: Vec<u16>,
    /// Ports of the program that are ports of the pipeline, where a number is another one.
    used: BTreeSet<u16>,
}

impl PortMap {
    /// Has ports 0 to 7 keep their numbers, and gives the others those that are left; nothing if there are too many.
    pub(crate) fn of(used: &BTreeSet<u16>) -> Option<PortMap> {
        let used: BTreeSet<u16> = used.iter().copied().filter(|port| *port != DROP_PORT).collect();
        if used.iter().all(|port| *port < PIPELINE_PORTS) {
            return Some(PortMap::default());
        }
        if used.len() > usize::from(PIPELINE_PORTS) {
            return None;
        }
        let mut numbers: Vec<u16> = (0..=DROP_PORT).collect();
        let mut free = (0..PIPELINE_PORTS).filter(|port| !used.contains(port));
        for port in used.iter().filter(|port| **port >= PIPELINE_PORTS) {
            numbers.swap(usize::from(*port), usize::from(free.next()?));
        }
        Some(PortMap { numbers, used })
    }

    /// Whether each port has its own number.
    pub fn is_plain(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Ports of the program, with their numbers on the pipeline; none if each has its own.
    pub fn pairs(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        self.used.iter().map(|port| (*port, self.to_pipeline(*port)))
    }

    /// The pipeline's number of a program's port; 8 and more is none that there is.
    pub fn to_pipeline(&self, port: u16) -> u16 {
        self.numbers.get(usize::from(port)).copied().unwrap_or(port)
    }

    /// Packets that left the pipeline, at the program's ports and in their order.
    pub fn sent(&self, mut all: Vec<Sent>) -> Vec<Sent> {
        if !self.is_plain() {
            all.iter_mut().for_each(|sent| sent.port = self.to_program(sent.port));
            all.sort_by_key(|sent| sent.port);
        }
        all
    }

    /// The program's number of a port of the pipeline.
    pub fn to_program(&self, port: u16) -> u16 {
        // Pairs change places.
        self.to_pipeline(port)
    }
}

/// A value whose lowest bits are a port, as a number.
pub(crate) fn port_of(value: &LogicalValue) -> u16 {
    (0..PORT_BITS).filter(|at| value.bit(*at)).fold(0, |all, at| all | 1 << at)
}

impl PortMap {
    /// A value whose lowest bits are a port.
    fn value(&self, value: &LogicalValue) -> LogicalValue {
        let mut other = *value;
        for at in 0..PORT_BITS {
            let (byte, bit) = ((at / 8) as usize, 1 << (at % 8));
            other.0.0[byte] &= !bit;
            other.0.0[byte] |= if self.to_pipeline(port_of(value)) >> at & 1 == 1 { bit } else { 0 };
        }
        other
    }

    /// What is asked of a port; nothing if some of its bits are looked at, or several ports in a row.
    pub(crate) fn asked(&self, asked: &LogicalMatch, bits: u32) -> Option<LogicalMatch> {
        match asked {
            LogicalMatch::Masked { value, mask } => match port_of(mask) {
                0 => Some(*asked),
                DROP_PORT => Some(LogicalMatch::Masked { value: self.value(value), mask: *mask }),
                _ => None,
            },
            LogicalMatch::Range { low, high } if low == high => {
                let port = self.value(low);
                Some(LogicalMatch::Range { low: port, high: port })
            }
            LogicalMatch::Range { low, high } => (low.is_zero() && *high == LogicalValue::ones(bits)).then_some(*asked),
        }
    }
}

/// What of a compiled program are ports, and their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ports {
    pub map: PortMap,
    /// Parameters by table, action among those of the table, and number; some of them are where packets go.
    pub params: BTreeSet<(usize, usize, u32)>,
    pub goals: BTreeSet<(usize, usize, u32)>,
    /// Ports that the program sends to by their numbers.
    pub named: BTreeSet<u16>,
    /// Keys by table and number.
    pub keys: BTreeSet<(usize, usize)>,
    /// Whether ports at which packets arrive have other numbers, too.
    pub moved: bool,
}

impl Ports {
    /// Whether packets may go to a port of the program, with these entries.
    pub fn may_be(&self, port: u16, tables: &[Rows]) -> bool {
        let goes = |table: usize, action: usize, data: &[Value]| {
            let is_goal = |number: usize| self.goals.contains(&(table, action, number as u32));
            let mut ports = data.iter().enumerate().filter(|(number, _)| is_goal(*number));
            ports.any(|(_, value)| port_of(&number(value, PORT_BITS)) == port)
        };
        let of = |(table, rows): (usize, &Rows)| rows.calls().any(|(action, data)| goes(table, action, data));
        self.named.contains(&port) || tables.iter().enumerate().any(of)
    }

    /// Ports of the program that entries and default actions send to.
    pub fn goals(&self, tables: &[Rows]) -> BTreeSet<u16> {
        let mut all = BTreeSet::new();
        for (table, rows) in tables.iter().enumerate() {
            rows.calls().for_each(|(action, data)| all.extend(self.goals_of(table, action, data)));
        }
        all
    }

    /// Ports of the program that an action of a table sends to with this data.
    pub fn goals_of<'a>(&'a self, table: usize, action: usize, data: &'a [Value]) -> impl Iterator<Item = u16> + 'a {
        let is_goal = move |at: usize| self.goals.contains(&(table, action, at as u32));
        let goals = data.iter().enumerate().filter(move |(at, _)| is_goal(*at));
        goals.map(|(_, value)| port_of(&number(value, PORT_BITS))).filter(|port| *port != DROP_PORT)
    }

    /// Gives ports in entries their numbers; or says which entry has none.
    pub fn translate(&self, logical: &mut Logical) -> Result<(), String> {
        for (at, table) in logical.tables.iter_mut().enumerate() {
            let mut entries = std::mem::take(&mut table.entries);
            let mut default = std::mem::take(&mut table.default);
            entries.iter_mut().try_for_each(|entry| self.translate_call(at, table, &mut entry.call))?;
            self.translate_call(at, table, &mut default)?;
            entries.iter_mut().try_for_each(|entry| self.translate_keys(at, table, entry))?;
            (table.entries, table.default) = (entries, default);
        }
        Ok(())
    }

    /// The same of an action's data.
    pub fn translate_call(&self, at: usize, table: &LogicalTable, call: &mut LogicalCall) -> Result<(), String> {
        let action = usize::from(call.action);
        for (number, value) in call.values.iter_mut().enumerate() {
            let param = (at, action, number as u32);
            let port = port_of(value);
            let goes = self.map.to_pipeline(port);
            if self.goals.contains(&param) && goes >= PIPELINE_PORTS && goes != DROP_PORT {
                return Err(format!("port {port} in table `{}`; the pipeline has ports 0 to 7", table.name));
            }
            if self.params.contains(&param) {
                *value = self.map.value(value);
            }
        }
        Ok(())
    }

    /// The same of what an entry asks for.
    pub fn translate_keys(&self, at: usize, table: &LogicalTable, entry: &mut LogicalEntry) -> Result<(), String> {
        for (key, asked) in entry.matches.iter_mut().enumerate().filter(|(key, _)| self.keys.contains(&(at, *key))) {
            let bits = table.keys.get(key).map_or(PORT_BITS, |key| key.bits.into());
            match self.map.asked(asked, bits) {
                Some(other) => *asked = other,
                None => return Err(format!("{SOME_PORTS} in table `{}`", table.name)),
            }
        }
        Ok(())
    }
}

/// What an entry may not ask for where ports have other numbers.
pub(crate) const SOME_PORTS: &str = "an entry for ports that agree in some bits, or lie in a row,";

impl std::fmt::Display for PortMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, (port, number)) in self.pairs().enumerate() {
            write!(f, "{}{port} is {number}", if at > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ports: &[u16]) -> Option<PortMap> {
        PortMap::of(&ports.iter().copied().collect())
    }

    #[test]
    fn ports_of_the_pipeline_keep_their_numbers_and_others_get_those_that_are_left() {
        let map = of(&[0, 2, 9, 100, 510, 511]).unwrap();
        assert_eq!(map.pairs().collect::<Vec<_>>(), [(0, 0), (2, 2), (9, 1), (100, 3), (510, 4)]);
        assert_eq!(map.to_string(), "0 is 0, 2 is 2, 9 is 1, 100 is 3, 510 is 4");
        let mut all: Vec<u16> = (0..=DROP_PORT).map(|port| map.to_pipeline(port)).collect();
        assert!((0..=DROP_PORT).all(|port| map.to_program(map.to_pipeline(port)) == port));
        all.sort_unstable();
        all.dedup();
        assert_eq!((all.len(), map.to_pipeline(DROP_PORT)), (512, DROP_PORT));
        assert!(of(&[0, 7, 511]).unwrap().is_plain());
        assert!(of(&[0, 1, 2, 3, 4, 5, 6, 7]).unwrap().is_plain());
        assert!(of(&[8, 9, 10, 11, 12, 13, 14, 15]).is_some());
        assert_eq!(of(&[0, 1, 2, 3, 4, 5, 6, 7, 8]), None);
    }
}
