//! The engine in a NIC's model: its rows and counters, and what becomes of packets that come to it behind the queues.

use crate::engine::{self, Fate};
use crate::follow::Following;
use crate::host::Host;
use crate::receive::Delivery;
use crate::tables::Tables;
use sluice_device::{Answer, Behind, DeviceError, Engine, Followed, Packet, RingDriver, RingError, RingHost, Rings};
use sluice_formats::address::{Access, SLICE_INDEX_BIT, SLICE_WORDS, SNAPSHOT_INDEX_BIT};
use sluice_formats::l7::L7Event;
use sluice_formats::l7::rows::{L7PortRow, L7QuotaRow, L7SecretRow, L7ShareRow};
use sluice_formats::l7::target::{TABLE_HASHES, Target as Sizes, WEIGHT};
use sluice_formats::{EngineId, Node, Reason, Row, Status, Table, Target};

/// Kinds of events of a module.
const KINDS: usize = 16;

/// The l7 engine of a NIC's model, as after a reset. It has no staging buffer: a packet's message is decided at once.
#[derive(Debug)]
pub struct L7Engine {
    pub(crate) tables: Tables,
    pub(crate) engine: engine::Engine,
    shares: Vec<L7ShareRow>,
    quotas: Vec<L7QuotaRow>,
    secrets: Vec<L7SecretRow>,
    /// Drops and events by module and kind.
    counts: Vec<u64>,
    /// Bytes that left (0) or went into buffers (1), by module * 2 + which.
    bytes: Vec<u64>,
    /// Both at the last snapshot.
    frozen: [Vec<u64>; 2],
    pub(crate) host: Host,
    now: u64,
    /// Steps of the last packet.
    cost: u32,
    pub(crate) following: Following,
}

/// What the engine says of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What becomes of it.
    pub delivery: Delivery,
    /// Its message's program was a fault.
    pub fault: bool,
    /// Steps that its rules were charged, where it begins a message whose type has some.
    pub steps: Option<u32>,
}

impl L7Engine {
    /// As after a reset.
    pub fn new(target: &Target) -> Self {
        let (sizes, modules) = (Sizes::by_name(target.name), target.modules as usize);
        let mut engine = engine::Engine::new(sizes);
        engine.ports = vec![L7PortRow::default(); sizes.ports].into();
        let [counts, bytes] = [Table::L7Drops, Table::L7Bytes].map(|table| vec![0; table.rows(target) as usize]);
        Self {
            tables: Tables {
                rows: vec![Default::default(); sizes.rows],
                starts: vec![Default::default(); sizes.starts],
                groups: vec![Default::default(); sizes.groups],
                shape: sizes.match_shape(),
            },
            engine,
            shares: vec![L7ShareRow::default(); modules],
            quotas: vec![L7QuotaRow::default(); modules],
            secrets: vec![L7SecretRow::default(); TABLE_HASHES],
            frozen: [counts.clone(), bytes.clone()],
            counts,
            bytes,
            host: Host::new(sizes),
            now: 0,
            cost: 0,
            following: Following::default(),
        }
    }

    /// What becomes of a packet, without the NIC around. All but a drop is counted.
    pub fn judge(&mut self, module: u8, generation: bool, frame: &[u8]) -> Judged {
        let (tables, mut steps) = (&self.tables, None);
        let arrived = self.engine.arrive(frame, module, generation, |job| {
            let verdict = job.run(tables);
            steps = verdict.filter(|_| u16::from(job.message_type) < job.port.types).map(|verdict| verdict.steps);
            verdict
        });
        let fault = arrived.outcome.fault;
        let delivery = self.host.take(&mut self.engine, &arrived, frame, self.now);
        self.count_decided(module, delivery, fault, frame.len());
        Judged { delivery, fault, steps }
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
            _ => self.host.read(table, i, false),
        }
    }

    fn event(&self, module: u8, event: L7Event) -> usize {
        usize::from(module) * KINDS + event as usize
    }

    /// Counts what became of a packet, but for its drop.
    pub(crate) fn count_decided(&mut self, module: u8, delivery: Delivery, fault: bool, length: usize) {
        if fault {
            let at = self.event(module, L7Event::Faults);
            self.counts[at] += 1;
        }
        let (event, which) = match delivery {
            Delivery::Dropped(_) | Delivery::Left(Fate::Dropped(_)) => return,
            Delivery::Consumed(_) => (L7Event::Consumed, 1),
            Delivery::Left(_) => (L7Event::Left, 0),
        };
        let at = self.event(module, event);
        self.counts[at] += 1;
        self.bytes[2 * usize::from(module) + which] += length as u64;
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
            Table::L7Port => self.engine.ports.set(i, L7PortRow::of_words(words)),
            Table::L7Share => store(&mut self.shares, i, words),
            Table::L7Quota => store(&mut self.quotas, i, words).map(|()| {
                self.engine.table.set_quota(index as u8, self.quotas[i].messages);
            }),
            Table::L7Secret => store(&mut self.secrets, i, words).map(|()| {
                self.engine.table.set_secret(i, &self.secrets[i]);
            }),
            Table::L7Ring | Table::L7Doorbell => {
                let status = self.host.write(table, i, words);
                if (table, status) == (Table::L7Ring, Status::Ok) {
                    self.following.opened(index as u8);
                }
                return status;
            }
            _ => None,
        };
        stored.map_or(Status::BadAddress, |()| Status::Ok)
    }

    fn read(&self, _: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        if table.access() == Access::Counter {
            let (snapshot, i) = (index >> SNAPSHOT_INDEX_BIT & 1 == 1, (index & !(1 << SNAPSHOT_INDEX_BIT)) as usize);
            if table == Table::L7Rings {
                return self.host.read(table, i, snapshot).ok_or(Status::BadAddress);
            }
            let counts = match (table, snapshot) {
                (Table::L7Bytes, false) => &self.bytes,
                (Table::L7Bytes, true) => &self.frozen[1],
                (_, false) => &self.counts,
                (_, true) => &self.frozen[0],
            };
            let value = counts.get(i).ok_or(Status::BadAddress)?;
            return Ok(vec![*value as u32, (*value >> 32) as u32]);
        }
        let slice = (index >> SLICE_INDEX_BIT) as usize;
        let row = self.row(table, (index & ((1 << SLICE_INDEX_BIT) - 1)) as usize).ok_or(Status::BadAddress)?;
        Ok(row.chunks(SLICE_WORDS).nth(slice).ok_or(Status::BadAddress)?.to_vec())
    }

    fn snapshot(&mut self) {
        self.frozen[0].clone_from(&self.counts);
        self.frozen[1].clone_from(&self.bytes);
        self.host.snapshot();
    }

    /// The queue of the route is the ring that its message goes to; that of a frame stays.
    fn run(&mut self, packet: &mut Packet) -> Answer {
        let generation = packet.stamped.generation == 1;
        let judged = self.judge(packet.module, generation, packet.frame.bytes());
        self.cost = judged.steps.unwrap_or(0);
        match judged.delivery {
            Delivery::Dropped(reason) | Delivery::Left(Fate::Dropped(reason)) => Answer::Drop(reason),
            Delivery::Consumed(ring) => Answer::Consumed(ring),
            Delivery::Left(Fate::Frame) => Answer::Next,
            Delivery::Left(Fate::Queue(ring)) => {
                packet.route.queue = ring;
                Answer::Next
            }
        }
    }

    fn elapse(&mut self, now: u64) {
        self.now = now;
        self.host.elapse(&mut self.engine, now);
    }

    fn next_event(&self) -> Option<u64> {
        self.host.next_event()
    }

    fn behind(&self, module: u8) -> Behind {
        let of = |event| self.counts[self.event(module, event)];
        let left_bytes = self.bytes[2 * usize::from(module)];
        Behind { left: of(L7Event::Left), left_bytes, consumed: of(L7Event::Consumed) }
    }

    fn cost(&self) -> u32 {
        self.cost
    }

    fn weight(&self, module: u8) -> u16 {
        match self.shares.get(usize::from(module)).map_or(0, |share| share.weight) {
            0 => WEIGHT,
            weight => weight,
        }
    }

    fn followed(&mut self) -> Option<&mut dyn Followed> {
        Some(self)
    }

    fn rings(&mut self) -> Option<&mut dyn Rings> {
        Some(self)
    }

    fn count(&mut self, module: u8, reason: Reason) {
        let at = self.counter(module, reason);
        self.counts[at] += 1;
    }

    fn counted(&self, module: u8, reason: Reason) -> u64 {
        self.counts[self.counter(module, reason)]
    }
}

impl RingHost for L7Engine {
    fn ring_driver(&mut self) -> &mut RingDriver {
        &mut self.host.driver
    }

    fn write_row(&mut self, table: Table, index: u32, words: &[u32]) -> Result<(), DeviceError> {
        match self.write(Node::L7, table, index, words) {
            Status::Ok => Ok(()),
            status => Err(RingError::Row { table, index, status }.into()),
        }
    }

    fn row(&mut self, table: Table, index: u32) -> Result<Vec<u32>, DeviceError> {
        let row = self.host.read(table, index as usize, false);
        row.ok_or_else(|| RingError::Row { table, index, status: Status::BadAddress }.into())
    }

    fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.host.memory.write(address, bytes);
        Ok(())
    }

    fn read_memory(&mut self, address: u64, count: usize) -> Result<Vec<u8>, DeviceError> {
        Ok(self.host.memory.read(address, count))
    }
}
