//! The counters of the NIC, indexed as in the address map; those of engines are the engines'.

use crate::tables::check_address;
use sluice_device::{Engines, ModuleCounters};
use sluice_formats::address::SNAPSHOT_INDEX_BIT;
use sluice_formats::{Node, Reason, Status, Table, Target};
use std::collections::BTreeMap;

/// Counters are 48 bits wide and wrap.
const COUNTER_MASK: u64 = (1 << 48) - 1;
const PORT_DROP_KINDS: usize = 8;
const QUEUE_DROP_KINDS: usize = 4;

/// Every counter of one NIC but those of its engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterBank {
    target: Target,
    port_packets: Vec<u64>,
    port_bytes: Vec<u64>,
    port_drops: Vec<u64>,
    queue_drops: Vec<u64>,
    queue_packets: Vec<u64>,
    queue_bytes: Vec<u64>,
}

impl CounterBank {
    /// All zero.
    pub fn new(target: Target) -> Self {
        let (modules, ports) = (target.modules as usize, target.ports as usize);
        let queues = target.destinations() as usize * modules;
        Self {
            target,
            port_packets: vec![0; ports * modules],
            port_bytes: vec![0; ports * modules],
            port_drops: vec![0; ports * modules * PORT_DROP_KINDS],
            queue_drops: vec![0; queues * QUEUE_DROP_KINDS],
            queue_packets: vec![0; queues],
            queue_bytes: vec![0; queues],
        }
    }

    fn of_port(&self, port: u8, module: u8) -> usize {
        usize::from(port) * self.target.modules as usize + usize::from(module)
    }

    /// A frame of `length` bytes has arrived whole.
    pub fn arrived(&mut self, port: u8, owner: u8, length: usize) {
        let at = self.of_port(port, owner);
        self.port_packets[at] += 1;
        self.port_bytes[at] += length as u64;
    }

    /// It was dropped at the port.
    pub fn dropped_at_port(&mut self, port: u8, owner: u8, reason: Reason) {
        let at = self.of_port(port, owner);
        self.port_drops[at * PORT_DROP_KINDS + reason.kind() as usize] += 1;
    }

    /// A copy was dropped at its queue.
    pub fn dropped_at_queue(&mut self, queue: usize, reason: Reason) {
        self.queue_drops[queue * QUEUE_DROP_KINDS + reason.kind() as usize] += 1;
    }

    /// A copy of `length` bytes has left its queue.
    pub fn left(&mut self, queue: usize, length: usize) {
        self.queue_packets[queue] += 1;
        self.queue_bytes[queue] += length as u64;
    }

    /// A counter's value by its address; the snapshot bit is not looked at.
    pub fn value(&self, node: Node, table: Table, index: u32) -> Result<u64, Status> {
        check_address(&self.target, node, table, index)?;
        let (modules, port) = (self.target.modules as usize, usize::from(node.index()));
        let i = (index & !(1 << SNAPSHOT_INDEX_BIT)) as usize;
        let value = match table {
            Table::PortPackets => self.port_packets[port * modules + i],
            Table::PortBytes => self.port_bytes[port * modules + i],
            Table::PortDrops => self.port_drops[port * modules * PORT_DROP_KINDS + i],
            Table::QueueDrops => self.queue_drops[i],
            Table::QueuePackets => self.queue_packets[i],
            Table::QueueBytes => self.queue_bytes[i],
            _ => return Err(Status::BadAddress),
        };
        Ok(value & COUNTER_MASK)
    }

    /// The counters by module, with what each has in flight and what its engines counted; modules
    /// without packets are absent.
    pub fn modules(&self, in_flight: &BTreeMap<u8, u64>, engines: &Engines) -> BTreeMap<u8, ModuleCounters> {
        (0..self.target.modules as u8)
            .map(|m| (m, self.module(m, in_flight.get(&m).copied().unwrap_or(0), engines)))
            .filter(|(_, c)| *c != ModuleCounters::default())
            .collect()
    }

    fn module(&self, module: u8, in_flight: u64, engines: &Engines) -> ModuleCounters {
        let (modules, m) = (self.target.modules as usize, usize::from(module));
        let mut c = ModuleCounters { in_flight, ..ModuleCounters::default() };
        for port in 0..self.target.ports as u8 {
            let at = self.of_port(port, module);
            c.offered += self.port_packets[at];
            c.offered_bytes += self.port_bytes[at];
        }
        for destination in 0..self.target.destinations() {
            let queue = destination as usize * modules + m;
            let (packets, bytes) = if destination < self.target.ports {
                (&mut c.forwarded, &mut c.forwarded_bytes)
            } else {
                (&mut c.delivered, &mut c.delivered_bytes)
            };
            *packets += self.queue_packets[queue];
            *bytes += self.queue_bytes[queue];
        }
        // What has left the last host queue has come to the engine behind it, and to the host only from there.
        if let Some(behind) = engines.counted_behind(module) {
            let last = (self.target.destinations() as usize - 1) * modules + m;
            c.delivered = c.delivered - self.queue_packets[last] + behind.left;
            c.delivered_bytes = c.delivered_bytes - self.queue_bytes[last] + behind.left_bytes;
            c.consumed = behind.consumed;
        }
        for reason in Reason::ALL {
            let kind = reason.kind() as usize;
            let count: u64 = match reason.table() {
                Table::PortDrops => (0..self.target.ports as u8)
                    .map(|p| self.port_drops[self.of_port(p, module) * PORT_DROP_KINDS + kind])
                    .sum(),
                Table::QueueDrops => (0..self.target.destinations() as usize)
                    .map(|d| self.queue_drops[(d * modules + m) * QUEUE_DROP_KINDS + kind])
                    .sum(),
                _ => engines.counted(module, reason).unwrap_or(0),
            };
            if count != 0 {
                c.dropped.insert(reason, count);
            }
        }
        c.copies = engines.copies(module);
        c
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::target::TINY;

    #[test]
    fn a_modules_counters_are_the_sum_over_ports_and_queues() {
        let mut bank = CounterBank::new(TINY);
        bank.arrived(0, 5, 60);
        bank.arrived(3, 5, 100);
        bank.arrived(3, 5, 64);
        bank.dropped_at_port(3, 5, Reason::Runt);
        bank.left(5, 60);
        bank.left(4 * 8 + 5, 60);
        bank.dropped_at_queue(7 * 8 + 5, Reason::TailLimit);
        let mut engines = crate::engines::all(&TINY);
        engines.count_copies(5, 1);
        (0..3).for_each(|_| engines.count(6, Reason::Discard));
        let modules = bank.modules(&BTreeMap::new(), &engines);
        assert_eq!(modules.keys().copied().collect::<Vec<_>>(), [5, 6]);
        assert_eq!(modules[&6].dropped, BTreeMap::from([(Reason::Discard, 3)]));
        let c = &modules[&5];
        assert_eq!((c.offered, c.offered_bytes, c.copies, c.forwarded, c.delivered), (3, 224, 1, 1, 1));
        assert_eq!(c.dropped, BTreeMap::from([(Reason::Runt, 1), (Reason::TailLimit, 1)]));
        assert!(c.closes());
        assert_eq!(bank.value(Node::Port(3), Table::PortPackets, 5), Ok(2));
        assert_eq!(bank.value(Node::Port(3), Table::PortPackets, 5 | 1 << 23), Ok(2));
        assert_eq!(bank.value(Node::Egress, Table::QueueDrops, 61 * 4), Ok(1));
    }
}
