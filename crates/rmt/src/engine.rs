//! The fast model as an engine of a NIC: the entrance's two refusals, then the pipeline.

use crate::fast::{Buffers, Fast};
use crate::pipeline::Arrival;
use sluice_device::{Answer, Engine, Packet, Route, headers};
use sluice_formats::limits::LEAST_PACKET_BYTES;
use sluice_formats::rmt::tables::Event;
use sluice_formats::{EngineId, Node, Reason, Status, Table, Target};

/// The rmt pipeline of a NIC's model.
#[derive(Debug)]
pub struct RmtEngine {
    fast: Fast,
    buffers: Buffers,
    /// Snapshots that were taken: the pipeline knows them by a number that changes.
    epoch: u32,
    /// Fewest bytes of a packet that leaves.
    least: usize,
}

impl RmtEngine {
    /// A pipeline after reset.
    pub fn new(target: &Target) -> Self {
        let least = LEAST_PACKET_BYTES as usize;
        Self { fast: Fast::new(target.rmt), buffers: Buffers::default(), epoch: 0, least }
    }
}

impl Engine for RmtEngine {
    fn id(&self) -> EngineId {
        EngineId::RMT
    }

    fn write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> Status {
        self.fast.write(node, table, index, words)
    }

    fn read(&self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        self.fast.read(node, table, index)
    }

    fn snapshot(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.fast.set_epoch(self.epoch);
    }

    fn ports_take(&mut self, shortest: u32) {
        self.least = shortest.min(LEAST_PACKET_BYTES) as usize;
    }

    fn run(&mut self, packet: &mut Packet) -> Answer {
        if !packet.conform {
            return Answer::Drop(Reason::Rate);
        }
        let bytes = packet.frame.bytes();
        if headers::headers(bytes).reconfig {
            return Answer::Drop(Reason::Reconfig);
        }
        let arrival = Arrival {
            packet: bytes,
            module: packet.module,
            generation: packet.stamped.generation,
            system_generation: packet.stamped.system_generation,
            tenant: packet.tenant,
            port: packet.port,
            arrival: packet.arrival,
            queueing: packet.stamp,
        };
        if let Err(reason) = self.fast.pass(&arrival, &mut self.buffers) {
            return Answer::Drop(reason);
        }
        if self.buffers.packet.len() < self.least {
            return Answer::Drop(Reason::DeparseShort);
        }
        packet.frame.replace(&self.buffers.packet);
        let mut route = Route::default();
        for copy in &self.buffers.copies {
            route.destinations |= 1u8.checked_shl(copy.destination.into()).unwrap_or(0);
            route.queue = copy.queue;
            route.tags[usize::from(copy.destination & 7)] = copy.tag;
        }
        Answer::To(route)
    }

    fn is_stateful(&self, module: u8) -> bool {
        self.fast.has_state(module)
    }

    fn changed_by(&self, node: Node, table: Table, index: u32) -> Option<u8> {
        let word = (table == Table::StateWord).then_some(index as usize)?;
        self.fast.owner_of_word(usize::from(node.index()), word)
    }

    fn count(&mut self, module: u8, reason: Reason) {
        if let Some(event) = reason.event() {
            self.fast.count(module, event, 1);
        }
    }

    fn counted(&self, module: u8, reason: Reason) -> u64 {
        reason.event().map_or(0, |event| self.fast.counted(module, event))
    }

    fn count_copies(&mut self, module: u8, copies: u64) -> bool {
        self.fast.count(module, Event::Copies, copies);
        true
    }

    fn copies(&self, module: u8) -> u64 {
        self.fast.counted(module, Event::Copies)
    }
}
