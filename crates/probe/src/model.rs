//! The model of the probe.

use sluice_device::{Answer, Engine, Packet};
use sluice_formats::address::SNAPSHOT_INDEX_BIT;
use sluice_formats::{EngineId, Node, Reason, Status, Table, Target};
use std::collections::BTreeMap;

/// Cycles that a packet is held at least, from its stamp on.
const HOLD_TICKS: u64 = 400;
/// Of so many packets of a module that are let through one is held.
const HELD: u64 = 8;

/// Counters by table and row.
type Counts = BTreeMap<(Table, u32), u64>;

/// The probe after a reset, as packets and the host see it.
#[derive(Debug)]
pub struct Probe {
    /// By 2 * module + generation.
    limits: Vec<u32>,
    /// Packets let through, by module.
    packets: Vec<u64>,
    counts: Counts,
    /// The counters when the epoch began.
    frozen: Counts,
    /// Held packets, with the ticks at which they go on.
    held: BTreeMap<u32, u64>,
}

impl Probe {
    /// A probe after reset.
    pub fn new(target: &Target) -> Self {
        let modules = target.modules as usize;
        Self {
            limits: vec![0; 2 * modules],
            packets: vec![0; modules],
            counts: Counts::new(),
            frozen: Counts::new(),
            held: BTreeMap::new(),
        }
    }

    fn counter(&mut self, table: Table, row: u32) -> &mut u64 {
        self.counts.entry((table, row)).or_default()
    }

    fn copies_row(module: u8) -> u32 {
        EngineId::PROBE.copies(module.into()).map_or(0, |(_, row)| row)
    }
}

impl Engine for Probe {
    fn id(&self) -> EngineId {
        EngineId::PROBE
    }

    fn write(&mut self, _: Node, table: Table, index: u32, words: &[u32]) -> Status {
        match (table, self.limits.get_mut(index as usize), words) {
            (Table::ProbeLimit, Some(limit), [word]) => *limit = *word,
            _ => return Status::BadAddress,
        }
        Status::Ok
    }

    fn read(&self, _: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        if table == Table::ProbeLimit {
            return self.limits.get(index as usize).map(|limit| vec![*limit]).ok_or(Status::BadAddress);
        }
        let counts = if index >> SNAPSHOT_INDEX_BIT & 1 == 1 { &self.frozen } else { &self.counts };
        let value = counts.get(&(table, index & !(1 << SNAPSHOT_INDEX_BIT))).copied().unwrap_or(0);
        Ok(vec![value as u32, (value >> 32) as u32])
    }

    fn snapshot(&mut self) {
        self.frozen = self.counts.clone();
    }

    fn run(&mut self, packet: &mut Packet) -> Answer {
        let module = u32::from(packet.module);
        let length = packet.frame.bytes().len() as u64;
        let limit = u64::from(self.limits[(2 * module + u32::from(packet.stamped.generation)) as usize]);
        let total = self.counter(Table::LetThrough, module);
        if limit != 0 && *total + length > limit {
            return Answer::Drop(Reason::ProbeLimit);
        }
        *total += length;
        let packets = &mut self.packets[module as usize];
        *packets += 1;
        if !packets.is_multiple_of(HELD) {
            return Answer::Next;
        }
        self.held.insert(packet.id, packet.stamp + HOLD_TICKS);
        Answer::Held
    }

    fn late(&mut self, now: u64) -> Option<(u32, Answer)> {
        let (&id, _) = self.held.iter().filter(|(_, at)| **at <= now).min_by_key(|(_, at)| **at)?;
        self.held.remove(&id);
        Some((id, Answer::Next))
    }

    fn release(&mut self, id: u32, now: u64) -> Option<Answer> {
        let at = *self.held.get(&id)?;
        (at <= now).then(|| self.held.remove(&id)).map(|_| Answer::Next)
    }

    fn next_event(&self) -> Option<u64> {
        self.held.values().min().copied()
    }

    fn count(&mut self, module: u8, reason: Reason) {
        *self.counter(reason.table(), reason.row(module.into())) += 1;
    }

    fn counted(&self, module: u8, reason: Reason) -> u64 {
        self.counts.get(&(reason.table(), reason.row(module.into()))).copied().unwrap_or(0)
    }

    fn count_copies(&mut self, module: u8, copies: u64) -> bool {
        *self.counter(Table::ProbeEvents, Self::copies_row(module)) += copies;
        true
    }

    fn copies(&self, module: u8) -> u64 {
        self.counts.get(&(Table::ProbeEvents, Self::copies_row(module))).copied().unwrap_or(0)
    }
}
