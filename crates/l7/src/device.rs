//! The engine in a NIC's model: its rows and counters, and what becomes of packets that come to it behind the queues.

use crate::engine::{self, Fate};
use crate::tables::Tables;
use sluice_device::{Answer, Engine, Packet};
use sluice_formats::address::{SLICE_INDEX_BIT, SLICE_WORDS, SNAPSHOT_INDEX_BIT};
use sluice_formats::l7::L7Event;
use sluice_formats::l7::rows::{L7QuotaRow, L7SecretRow, L7ShareRow};
use sluice_formats::l7::target::{TABLE_HASHES, Target as Sizes};
use sluice_formats::{EngineId, Node, Reason, Row, Status, Table, Target};

/// Kinds of events of a module.
const KINDS: usize = 16;

/// The l7 engine of a NIC's model, as after a reset. It has no staging buffer: a packet's message is decided at once.
#[derive(Debug)]
pub struct L7Engine {
    tables: Tables,
    engine: engine::Engine,
    shares: Vec<L7ShareRow>,
    quotas: Vec<L7QuotaRow>,
    secrets: Vec<L7SecretRow>,
    /// Drops and events by module and kind.
    counts: Vec<u64>,
    /// The same at the last snapshot.
    frozen: Vec<u64>,
}

impl L7Engine {
    /// As after a reset.
    pub fn new(target: &Target) -> Self {
        let (sizes, modules) = (Sizes::by_name(target.name), target.modules as usize);
        let mut engine = engine::Engine::new(sizes);
        engine.ports = vec![Default::default(); sizes.ports];
        let counts = vec![0; Table::L7Drops.rows(target) as usize];
        Self {
            tables: Tables {
                rows: vec![Default::default(); sizes.rows],
                starts: vec![Default::default(); sizes.starts],
                groups: vec![Default::default(); sizes.groups],
            },
            engine,
            shares: vec![L7ShareRow::default(); modules],
            quotas: vec![L7QuotaRow::default(); modules],
            secrets: vec![L7SecretRow::default(); TABLE_HASHES],
            frozen: counts.clone(),
            counts,
        }
    }

    fn row(&self, table: Table, i: usize) -> Option<Vec<u32>> {
        fn packed<R: Row>(rows: &[R], i: usize) -> Option<Vec<u32>> {
            rows.get(i)?.pack().ok()
        }
        match table {
            Table::L7Match => packed(&self.tables.rows, i),
            Table::L7Start => packed(&self.tables.starts, i),
            Table::L7Group => packed(&self.tables.groups, i),
            Table::L7Port => packed(&self.engine.ports, i),
            Table::L7Share => packed(&self.shares, i),
            Table::L7Quota => packed(&self.quotas, i),
            Table::L7Secret => packed(&self.secrets, i),
            _ => None,
        }
    }

    fn counter(&self, module: u8, reason: Reason) -> usize {
        reason.row(module.into()) as usize
    }
}

fn store<R: Row + Default>(rows: &mut [R], i: usize, words: &[u32]) -> Option<()> {
    *rows.get_mut(i)? = R::of_words(words);
    Some(())
}

impl Engine for L7Engine {
    fn id(&self) -> EngineId {
        EngineId::L7
    }

    fn write(&mut self, _: Node, table: Table, index: u32, words: &[u32]) -> Status {
        let i = index as usize;
        let stored = match table {
            Table::L7Match => store(&mut self.tables.rows, i, words),
            Table::L7Start => store(&mut self.tables.starts, i, words),
            Table::L7Group => store(&mut self.tables.groups, i, words),
            Table::L7Port => store(&mut self.engine.ports, i, words),
            Table::L7Share => store(&mut self.shares, i, words),
            Table::L7Quota => store(&mut self.quotas, i, words).map(|()| {
                self.engine.table.set_quota(index as u8, self.quotas[i].messages);
            }),
            Table::L7Secret => store(&mut self.secrets, i, words).map(|()| {
                self.engine.table.set_secret(i, &self.secrets[i]);
            }),
            _ => None,
        };
        stored.map_or(Status::BadAddress, |()| Status::Ok)
    }

    fn read(&self, _: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        if table == Table::L7Drops {
            let counts = if index >> SNAPSHOT_INDEX_BIT & 1 == 1 { &self.frozen } else { &self.counts };
            let value = counts.get((index & !(1 << SNAPSHOT_INDEX_BIT)) as usize).ok_or(Status::BadAddress)?;
            return Ok(vec![*value as u32, (*value >> 32) as u32]);
        }
        let slice = (index >> SLICE_INDEX_BIT) as usize;
        let row = self.row(table, (index & ((1 << SLICE_INDEX_BIT) - 1)) as usize).ok_or(Status::BadAddress)?;
        Ok(row.chunks(SLICE_WORDS).nth(slice).ok_or(Status::BadAddress)?.to_vec())
    }

    fn snapshot(&mut self) {
        self.frozen.clone_from(&self.counts);
    }

    /// The queue of the route is the ring that its message goes to; that of a frame stays.
    fn run(&mut self, packet: &mut Packet) -> Answer {
        let (module, generation) = (packet.module, packet.stamped.generation == 1);
        let tables = &self.tables;
        let outcome = self.engine.packet(packet.frame.bytes(), module, generation, |job| job.run(tables));
        if outcome.fault {
            self.counts[usize::from(module) * KINDS + L7Event::Faults as usize] += 1;
        }
        match outcome.fate {
            Fate::Frame => Answer::Next,
            Fate::Queue(ring) => {
                packet.route.queue = ring;
                Answer::Next
            }
            Fate::Dropped(reason) => Answer::Drop(reason),
        }
    }

    fn count(&mut self, module: u8, reason: Reason) {
        let at = self.counter(module, reason);
        self.counts[at] += 1;
    }

    fn counted(&self, module: u8, reason: Reason) -> u64 {
        self.counts[self.counter(module, reason)]
    }
}
