//! v1model: parser, ingress, traffic manager, egress and deparser, in the order of BMv2's simple switch.

mod cells;
mod hash;
mod keep;
mod natives;
mod replication;

pub(crate) use cells::{Cells, MeterRates};
pub(crate) use hash::{HashLayouts, by_name as hash_by_name, crc16, target_from as target_hash_from};
pub(crate) use keep::Keep;
pub(crate) use replication::{Node, Replication, Session};

use super::code::{Code, ObjectKind};
use super::run::{Flow, Machine, Packet, Run, Stop};
use super::shape::Shape;
use super::value::Value;
use crate::compiler::ir::{Array, CELL};
use crate::front::source::Span;
use natives::set;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// `egress_spec` of a packet that is dropped.
pub(crate) const DROP: u128 = 511;
/// Metadata that say when the packet arrived, in ticks; and their bits.
pub(crate) const TIMES: [&str; 2] = ["ingress_global_timestamp", "egress_global_timestamp"];
pub(crate) const TIME_BITS: u32 = 48;
/// Nanoseconds of a tick.
pub(crate) const TICK: u64 = 4;
/// How often a packet may come back to ingress, or be cloned again.
const MOST_ROUNDS: u32 = 1000;
/// Most copies that are made of a packet, with copies of copies.
const MOST_COPIES: usize = 100_000;

/// Values of `instance_type`.
mod instance {
    pub const NORMAL: u128 = 0;
    pub const INGRESS_CLONE: u128 = 1;
    pub const EGRESS_CLONE: u128 = 2;
    pub const RECIRCULATED: u128 = 4;
    pub const REPLICATION: u128 = 5;
    pub const RESUBMITTED: u128 = 6;
}

/// What a packet asks of the architecture while a block runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    pub clone: Option<(u32, Keep)>,
    pub resubmit: Option<Keep>,
    pub recirculate: Option<Keep>,
    pub truncate: Option<u128>,
    pub checksum_error: bool,
    pub drop: bool,
    /// Whether a group may be asked for: in ingress.
    pub of_ingress: bool,
    /// A group that the packet goes to, and whether the port of arrival gets no copy.
    pub multicast: Option<(u16, bool)>,
    /// Number of the entry that the last table found.
    pub row: Option<u64>,
}

/// A packet that left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Number of the port.
    pub port: u16,
    /// The packet.
    pub bytes: Vec<u8>,
}

/// Why a packet was not carried to its end.
#[derive(Clone, Debug)]
pub(crate) struct Stopped {
    pub span: Span,
    pub what: String,
}

/// A packet before ingress, or before egress.
#[derive(Debug)]
struct Job {
    stage: Stage,
    bytes: Rc<[u8]>,
    /// User's and standard metadata.
    meta: Value,
    standard: Value,
    rounds: u32,
}

#[derive(Debug)]
enum Stage {
    Ingress,
    /// Headers, bits that were parsed, and how long the packet may be.
    Egress {
        headers: Value,
        parsed: usize,
        truncate: Option<u128>,
    },
}

/// A program on v1model, with its tables and all that it keeps.
#[derive(Debug)]
pub(crate) struct Switch {
    pub code: Code,
    pub machine: Machine,
    pub replication: Replication,
    /// Ports that there are; all, if nobody has said it.
    pub ports: Option<BTreeSet<u16>>,
    /// Copies that went to others.
    pub nowhere: u64,
    jobs: VecDeque<Job>,
    copies: usize,
}

impl Switch {
    pub fn new(code: Code, seed: u64, random: bool) -> Switch {
        let machine = Machine::new(&code, seed, random);
        Switch {
            code,
            machine,
            replication: Replication::default(),
            ports: None,
            nowhere: 0,
            jobs: VecDeque::new(),
            copies: 0,
        }
    }

    /// Carries a packet and all of its copies through the switch.
    pub fn packet(&mut self, port: u16, bytes: &[u8]) -> Result<Vec<Sent>, Stopped> {
        let mut standard = self.standard().zero();
        self.arrived(&mut standard, port.into());
        self.machine.steps = 0;
        self.copies = 0;
        self.jobs.clear();
        let meta = self.meta().zero();
        self.push(Job { stage: Stage::Ingress, bytes: bytes.into(), meta, standard, rounds: 0 })?;
        let mut sent = Vec::new();
        while let Some(job) = self.jobs.pop_front() {
            let done = match job.stage {
                Stage::Ingress => self.ingress(job),
                Stage::Egress { .. } => self.egress(job, &mut sent),
            };
            done.map_err(|stop| match stop {
                Stop::Fatal(why) => Stopped { span: why.0, what: why.1 },
                Stop::Exit | Stop::Parser(_) | Stop::Drop => {
                    Stopped { span: Span::default(), what: "a block ended in a way that it cannot".to_string() }
                }
            })?;
        }
        Ok(sent)
    }

    fn push(&mut self, job: Job) -> Result<(), Stopped> {
        self.copies += 1;
        let what = match (job.rounds > MOST_ROUNDS, self.copies > MOST_COPIES) {
            (true, _) => format!("a packet is resubmitted, recirculated or cloned more than {MOST_ROUNDS} times"),
            (_, true) => format!("a packet has more than {MOST_COPIES} copies"),
            _ => {
                self.jobs.push_back(job);
                return Ok(());
            }
        };
        Err(Stopped { span: Span::default(), what })
    }

    fn send_on(&mut self, job: Job) -> Run<()> {
        self.push(job).map_err(|why| Stop::Fatal(Box::new((why.span, why.what))))
    }

    /// A cell of a register or counter as the pipeline's word has it.
    pub fn cell(&self, array: Array, at: usize) -> u32 {
        match &self.machine.objects[array.object] {
            Cells::Register(cells) => cells.get(at).map_or(0, |value| (value.bits() >> (CELL * array.part)) as u32),
            Cells::Police(_, cells) => cells.get(at).copied().unwrap_or(0),
            Cells::Counter(cells) if !cells.is_empty() => {
                cells.get(at).map_or(0, |(packets, bytes)| if array.part == 1 { *bytes } else { *packets } as u32)
            }
            // A direct counter's are those of its table's entries.
            Cells::Counter(_) => {
                let rows = self.direct(array).map(|table| self.machine.tables[table].all());
                rows.and_then(|mut rows| rows.nth(at)).map_or(0, |row| row.bytes as u32)
            }
            _ => 0,
        }
    }

    /// The bits of such a word that count.
    pub fn cell_mask(&self, array: Array) -> u32 {
        let width = match &self.code.objects[array.object].kind {
            ObjectKind::Register { shape, .. } => shape.bits().unwrap_or(0).saturating_sub(CELL * array.part).min(CELL),
            _ => CELL,
        };
        ((1u64 << width) - 1) as u32
    }

    /// Sets it from such a word.
    pub fn set_cell(&mut self, array: Array, at: usize, word: u32) {
        if let Cells::Police(_, cells) = &mut self.machine.objects[array.object] {
            if let Some(cell) = cells.get_mut(at) {
                *cell = word;
            }
            return;
        }
        if let ObjectKind::Register { shape, .. } = &self.code.objects[array.object].kind {
            let word = word & self.cell_mask(array);
            let is_bool = matches!(shape, Shape::Bool);
            if let Cells::Register(cells) = &mut self.machine.objects[array.object]
                && let Some(cell) = cells.get_mut(at)
            {
                let others = cell.bits() & !(u128::from(u32::MAX) << (CELL * array.part));
                *cell = match is_bool {
                    true => Value::Bool(word == 1),
                    false => Value::Bits(others | u128::from(word) << (CELL * array.part)),
                };
            }
            return;
        }
        if let Cells::Counter(cells) = &mut self.machine.objects[array.object]
            && let Some((packets, bytes)) = cells.get_mut(at)
        {
            *(if array.part == 1 { bytes } else { packets }) = word.into();
            return;
        }
        if let Some(table) = self.direct(array)
            && at < self.machine.tables[table].all().len()
        {
            self.machine.tables[table].row_mut(at).bytes = word.into();
        }
    }

    /// The table that a direct counter belongs to.
    fn direct(&self, array: Array) -> Option<usize> {
        self.code.tables.iter().position(|table| table.direct.contains(&array.object))
    }

    fn meta(&self) -> &Shape {
        &self.code.parsers[self.code.pipeline.parser].parameters[2].shape
    }

    fn standard(&self) -> &Shape {
        &self.code.parsers[self.code.pipeline.parser].parameters[3].shape
    }

    /// Where and when the packet arrived.
    fn arrived(&self, standard: &mut Value, port: u128) {
        self.set(standard, "ingress_port", port);
        for name in TIMES {
            self.set(standard, name, u128::from(self.machine.time / TICK) & ((1 << TIME_BITS) - 1));
        }
    }

    fn set(&self, standard: &mut Value, name: &str, value: u128) {
        set(standard, self.standard(), name, value);
    }

    fn get(&self, standard: &Value, name: &str) -> u128 {
        let at = self.standard().fields().and_then(|fields| fields.names.iter().position(|field| &**field == name));
        at.and_then(|at| standard.parts().get(at)).map_or(0, Value::bits)
    }

    /// Runs a control on values, which come back changed.
    fn control(&mut self, at: usize, values: &mut [&mut Value]) -> Run<()> {
        let parameters = &self.code.controls[at].parameters;
        for (parameter, value) in parameters.iter().zip(values.iter_mut()) {
            self.machine.slots[parameter.slot] = std::mem::replace(*value, Value::None);
        }
        let ended = self.machine.control(&self.code, at);
        for (parameter, value) in parameters.iter().zip(values.iter_mut()) {
            **value = std::mem::replace(&mut self.machine.slots[parameter.slot], Value::None);
        }
        match ended {
            Ok(Flow::Next | Flow::Return | Flow::Break | Flow::Continue) | Err(Stop::Exit) => Ok(()),
            Err(stop) => Err(stop),
        }
    }

    /// Runs a control whose parameters are in their slots, for a packet of so many bytes; whether it came to its end.
    pub fn run_control(&mut self, at: usize, length: usize) -> bool {
        self.machine.packet = Packet { bytes: vec![0; length].into(), ..Packet::default() };
        matches!(self.machine.control(&self.code, at), Ok(_) | Err(Stop::Exit))
    }

    /// Parses a packet; an error of the parser does not drop it.
    fn parse(&mut self, bytes: &Rc<[u8]>, meta: &mut Value, standard: &mut Value) -> Run<Value> {
        let pipeline = self.code.pipeline;
        self.machine.packet = Packet { bytes: bytes.clone(), ..Packet::default() };
        self.set(standard, "packet_length", bytes.len() as u128);
        let parameters = &self.code.parsers[pipeline.parser].parameters;
        let [headers_at, meta_at, standard_at] = [1, 2, 3].map(|at| parameters[at].slot);
        self.machine.slots[headers_at] = parameters[1].shape.fresh(&mut self.machine.noise);
        self.machine.slots[meta_at] = std::mem::replace(meta, Value::None);
        self.machine.slots[standard_at] = std::mem::replace(standard, Value::None);
        let parsed = self.machine.parse(&self.code, pipeline.parser);
        let mut take = |slot: usize| std::mem::replace(&mut self.machine.slots[slot], Value::None);
        let headers = take(headers_at);
        *meta = take(meta_at);
        *standard = take(standard_at);
        match parsed {
            Ok(()) | Err(Stop::Exit) => {}
            Err(Stop::Parser(error)) => self.set(standard, "parser_error", u128::from(error)),
            Err(stop) => return Err(stop),
        }
        Ok(headers)
    }

    fn ingress(&mut self, job: Job) -> Run<()> {
        let Job { bytes, mut meta, mut standard, rounds, .. } = job;
        let pipeline = self.code.pipeline;
        self.machine.requests = Requests { of_ingress: true, ..Requests::default() };
        let mut headers = match self.parse(&bytes, &mut meta, &mut standard) {
            Err(Stop::Drop) => return Ok(()),
            parsed => parsed?,
        };
        self.control(pipeline.verify, &mut [&mut headers, &mut meta])?;
        if self.machine.requests.checksum_error {
            self.set(&mut standard, "checksum_error", 1);
        }
        let ingress_port = self.get(&standard, "ingress_port");
        self.control(pipeline.ingress, &mut [&mut headers, &mut meta, &mut standard])?;
        let requests = std::mem::take(&mut self.machine.requests);
        let parsed = self.machine.packet.at;
        if requests.drop {
            self.set(&mut standard, "egress_spec", DROP);
            self.set(&mut standard, "mcast_grp", 0);
        }
        if let Some((session, keep)) = &requests.clone {
            for (port, rid) in self.replication.clones(*session) {
                let (mut kept, mut fresh) = self.kept(keep, pipeline.ingress, &meta, &standard);
                self.arrived(&mut fresh, ingress_port);
                // The clone is the packet as it came in.
                let headers = self.parse(&bytes, &mut kept, &mut fresh)?;
                let (bytes, parsed) = (bytes.clone(), self.machine.packet.at);
                self.forward(
                    Job {
                        stage: Stage::Egress { headers, parsed, truncate: requests.truncate },
                        bytes,
                        meta: kept,
                        standard: fresh,
                        rounds,
                    },
                    port,
                    rid,
                    instance::INGRESS_CLONE,
                )?;
            }
        }
        if let Some(keep) = &requests.resubmit {
            let (meta, mut fresh) = self.kept(keep, pipeline.ingress, &meta, &standard);
            self.arrived(&mut fresh, ingress_port);
            self.set(&mut fresh, "instance_type", instance::RESUBMITTED);
            return self.send_on(Job { stage: Stage::Ingress, bytes, meta, standard: fresh, rounds: rounds + 1 });
        }
        let (group, except_arrival) = match requests.multicast {
            Some(asked) => asked,
            None => (self.get(&standard, "mcast_grp") as u16, false),
        };
        if group != 0 {
            for (port, rid) in self.replication.copies(group) {
                if except_arrival && u128::from(port) == ingress_port {
                    continue;
                }
                let stage = Stage::Egress { headers: headers.clone(), parsed, truncate: requests.truncate };
                let (meta, standard) = (meta.clone(), standard.clone());
                let job = Job { stage, bytes: bytes.clone(), meta, standard, rounds };
                self.forward(job, port, rid, instance::REPLICATION)?;
            }
            return Ok(());
        }
        let spec = self.get(&standard, "egress_spec");
        if spec == DROP {
            return Ok(());
        }
        let stage = Stage::Egress { headers, parsed, truncate: requests.truncate };
        self.forward(Job { stage, bytes, meta, standard, rounds }, spec as u16, 0, instance::NORMAL)
    }

    fn forward(&mut self, mut job: Job, port: u16, rid: u16, instance: u128) -> Run<()> {
        self.set(&mut job.standard, "egress_port", u128::from(port));
        self.set(&mut job.standard, "egress_rid", u128::from(rid));
        self.set(&mut job.standard, "instance_type", instance);
        self.send_on(job)
    }

    fn egress(&mut self, job: Job, sent: &mut Vec<Sent>) -> Run<()> {
        let Job { stage, bytes, mut meta, mut standard, rounds } = job;
        let Stage::Egress { mut headers, parsed, truncate } = stage else { return Ok(()) };
        let pipeline = self.code.pipeline;
        self.machine.requests = Requests { truncate, ..Requests::default() };
        self.machine.packet = Packet { bytes: bytes.clone(), at: parsed, ..Packet::default() };
        // A program that never says where to is dropped in ingress only.
        self.set(&mut standard, "egress_spec", 0);
        let port = self.get(&standard, "egress_port") as u16;
        self.control(pipeline.egress, &mut [&mut headers, &mut meta, &mut standard])?;
        let requests = std::mem::take(&mut self.machine.requests);
        if let Some((session, keep)) = &requests.clone {
            for (port, rid) in self.replication.clones(*session) {
                let (kept, fresh) = self.kept(keep, pipeline.egress, &meta, &standard);
                let mut fresh = fresh;
                self.set(&mut fresh, "packet_length", bytes.len() as u128);
                let stage = Stage::Egress { headers: headers.clone(), parsed, truncate: requests.truncate };
                let job = Job { stage, bytes: bytes.clone(), meta: kept, standard: fresh, rounds: rounds + 1 };
                self.forward(job, port, rid, instance::EGRESS_CLONE)?;
            }
        }
        if requests.drop || self.get(&standard, "egress_spec") == DROP {
            return Ok(());
        }
        self.control(pipeline.compute, &mut [&mut headers, &mut meta])?;
        self.deparse(headers)?;
        let mut out = std::mem::take(&mut self.machine.packet.out);
        out.push_bytes(self.machine.packet.payload());
        let mut out = out.into_bytes();
        if let Some(length) = requests.truncate {
            out.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        }
        if let Some(keep) = &requests.recirculate {
            let ingress_port = self.get(&standard, "ingress_port");
            let (meta, mut fresh) = self.kept(keep, pipeline.egress, &meta, &standard);
            self.arrived(&mut fresh, ingress_port);
            self.set(&mut fresh, "instance_type", instance::RECIRCULATED);
            let bytes = out.into();
            return self.send_on(Job { stage: Stage::Ingress, bytes, meta, standard: fresh, rounds: rounds + 1 });
        }
        match self.ports.as_ref().is_none_or(|ports| ports.contains(&port)) {
            true => sent.push(Sent { port, bytes: out }),
            false => self.nowhere += 1,
        }
        Ok(())
    }

    fn deparse(&mut self, headers: Value) -> Run<()> {
        let at = self.code.pipeline.deparser;
        let slot = self.code.controls[at].parameters[1].slot;
        self.machine.slots[slot] = headers;
        match self.machine.control(&self.code, at) {
            Ok(_) | Err(Stop::Exit) => Ok(()),
            Err(stop) => Err(stop),
        }
    }
}
