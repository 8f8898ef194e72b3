//! The fast model: a device that takes row writes, keeps the tables and runs packets on them.
//!
//! It shares no step with the specification interpreter: it works on rows, with ways and sets, owners of
//! action rows, page tables, generation bits and counters as the hardware has them, so that each is a check of
//! the other. Rows are kept as they were written, for host reads; what a packet needs of them is compiled when
//! the first packet after a change wants it: selections into words of 64 bits, a module's part of a
//! stage into what its packets can find there, an action into a list of operations over one flat frame.
//!
//! Rows that no checked program has (a code above the last one, a span behind the window) never
//! panic; what they do is written where they are compiled, and other devices may do something else.

mod action;
mod deparser;
mod frame;
mod key;
mod matching;
mod parser;
mod places;
mod stage;
mod state;
mod store;
mod tuples;

use crate::phv::Word;
use crate::pipeline::{Arrival, Copy, Outcome};
use crate::reason::Reason;
use crate::target::Target;
use deparser::DeparserNode;
use frame::Frame;
use parser::{ParserNode, Window};
use sluice_formats::Status;
use sluice_formats::address::{Access, SLICE_INDEX_BIT, SLICE_WORDS, SNAPSHOT_INDEX_BIT};
use sluice_formats::rmt::tables::Event;
use sluice_formats::{EngineId, Node, Table};
use stage::StageNode;

/// What a run needs and leaves behind; made once and used for many packets.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    /// The packet as it leaves, if it was sent.
    pub packet: Vec<u8>,
    /// Its copies, lowest destination first.
    pub copies: Vec<Copy>,
    frame: Frame,
    window: Window,
}

/// An rmt pipeline as a device.
#[derive(Clone, Debug)]
pub struct Fast {
    target: Target,
    epoch: u32,
    generations: Vec<u8>,
    parser: ParserNode,
    stages: Vec<StageNode>,
    deparser: DeparserNode,
    buffers: Buffers,
}

/// What an index asks for.
struct Address {
    row: usize,
    slice: usize,
    snapshot: bool,
}

impl Fast {
    /// A pipeline after reset: every row zero, the target's stages given to the system module.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            epoch: 0,
            generations: vec![0; target.modules],
            parser: ParserNode::new(&target),
            stages: (0..target.stages).map(|s| StageNode::new(&target, target.is_system(s))).collect(),
            deparser: DeparserNode::new(&target),
            buffers: Buffers::default(),
        }
    }

    /// Its sizes.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Writes one whole row. A wrong address is told before a read-only table, that before a wrong length.
    ///
    /// A written `current` of a generation row commits at once: no packet is ever under way between two calls.
    pub fn write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> Status {
        let Address { row, .. } = match self.address(node, table, index) {
            Ok(address) => address,
            Err(status) => return status,
        };
        if table.access() != Access::ReadWrite {
            return Status::ReadOnly;
        }
        if words.len() != table.words() {
            return Status::BadLength;
        }
        match node {
            Node::Stamp => self.generations[row] = (words[0] & 1) as u8,
            Node::Parser => self.parser.write(table, row, words),
            Node::Deparser => self.deparser.write(table, row, words),
            // No other node has a table here.
            _ => self.stages[usize::from(node.index())].write(table, row, words),
        }
        Status::Ok
    }

    /// Up to 8 words of a row: docs/design/rmt-rows.md, "Tables".
    pub fn read(&self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        let Address { row, slice, snapshot } = self.address(node, table, index)?;
        let counter = |value: u64| vec![value as u32, (value >> 32) as u32 & 0xffff];
        let stage = || &self.stages[usize::from(node.index())];
        Ok(match (node, table.access()) {
            (Node::Stamp, _) => vec![u32::from(self.generations[row])],
            (Node::Parser, _) => self.parser.read(table, row, slice),
            (Node::Deparser, Access::Counter) => counter(self.deparser.events.get(row, snapshot)),
            (Node::Deparser, _) => self.deparser.read(table, row, slice),
            (_, Access::Counter) => counter(stage().counter(table, row, snapshot)),
            _ => stage().read(table, row, slice),
        })
    }

    /// A row with all its slices, at most of one layout.
    pub fn row(&self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        let slices = table.words().div_ceil(SLICE_WORDS) as u32;
        let mut words = Vec::new();
        for slice in 0..slices {
            words.extend(self.read(node, table, index | slice << SLICE_INDEX_BIT)?);
        }
        Ok(words)
    }

    /// Writes the snapshot epoch: another value than before takes a snapshot of every counter.
    pub fn set_epoch(&mut self, epoch: u32) {
        if epoch == self.epoch {
            return;
        }
        self.epoch = epoch;
        self.deparser.events.snapshot();
        self.stages.iter_mut().for_each(StageNode::snapshot);
    }

    /// Counts what happened to a packet outside the pipeline: the entrance's drops and misfits, what follows behind.
    pub fn count(&mut self, module: u8, event: Event, amount: u64) {
        self.deparser.events.add(16 * usize::from(module) + event as usize, amount);
    }

    /// What was counted of a module.
    pub fn counted(&self, module: u8, event: Event) -> u64 {
        let row = 16 * usize::from(module) + event as usize;
        if usize::from(module) < self.target.modules { self.deparser.events.get(row, false) } else { 0 }
    }

    /// Generation that the stamp gives to packets of a module.
    pub fn generation(&self, module: u8) -> u8 {
        self.generations.get(usize::from(module)).copied().unwrap_or(0)
    }

    /// Generations that the stamp gives now: the module's and the system module's.
    pub fn stamped<'a>(&self, arrival: &Arrival<'a>) -> Arrival<'a> {
        Arrival { generation: self.generation(arrival.module), system_generation: self.generation(0), ..*arrival }
    }

    /// A packet's way through the pipeline.
    pub fn run(&mut self, arrival: &Arrival) -> Outcome {
        let mut buffers = std::mem::take(&mut self.buffers);
        let outcome = match self.run_into(arrival, &mut buffers) {
            Ok(()) => Outcome::Sent { packet: buffers.packet.clone(), copies: buffers.copies.clone() },
            Err(reason) => Outcome::Dropped(reason),
        };
        self.buffers = buffers;
        outcome
    }

    /// The same for many packets in order, without an allocation for each.
    pub fn run_batch<'a>(
        &mut self,
        arrivals: impl IntoIterator<Item = Arrival<'a>>,
        buffers: &mut Buffers,
        mut each: impl FnMut(&Arrival<'a>, Result<(), Reason>, &Buffers),
    ) {
        for arrival in arrivals {
            let verdict = self.run_into(&arrival, buffers);
            each(&arrival, verdict, buffers);
        }
    }

    /// The same into buffers of the caller: packet and copies are there after `Ok`.
    pub fn run_into(&mut self, arrival: &Arrival, buffers: &mut Buffers) -> Result<(), Reason> {
        let verdict = self.pass(arrival, buffers);
        let (kind, amount) = match verdict {
            Ok(()) => (Event::Copies, buffers.copies.len() as u64 - 1),
            Err(reason) => (reason.event().expect("the pipeline has reasons of its own"), 1),
        };
        self.deparser.events.add(16 * usize::from(arrival.module) + kind as usize, amount);
        verdict
    }

    /// The same without counting the drop or the copies: for who has further engines behind it.
    pub fn pass(&mut self, arrival: &Arrival, buffers: &mut Buffers) -> Result<(), Reason> {
        let module = usize::from(arrival.module);
        if module >= self.target.modules {
            return Err(Reason::NoModule);
        }
        let bank = 2 * module + usize::from(arrival.generation & 1);
        let Buffers { packet, copies, frame, window } = buffers;
        frame.clear();
        let path = self.parser.parse(bank, (arrival.packet, arrival.port), window, frame)?;
        stamp(frame, arrival);
        let system = usize::from(arrival.system_generation & 1);
        for stage in &mut self.stages {
            let (owner, bank) = if stage.system { (0, system) } else { (arrival.module, bank) };
            stage.run(owner, bank, arrival, frame)?;
        }
        self.deparser.destinations(arrival.module, arrival.port, frame, copies)?;
        self.deparser.deparse(bank, path, arrival.packet, frame, packet)
    }

    fn address(&self, node: Node, table: Table, index: u32) -> Result<Address, Status> {
        // Rows that one read answers with have no slices: their numbers may be larger.
        let row_bits = if table.words() > SLICE_WORDS { SLICE_INDEX_BIT } else { SNAPSHOT_INDEX_BIT };
        let low = index & ((1 << SNAPSHOT_INDEX_BIT) - 1);
        let (row, slice) = ((low & ((1 << row_bits) - 1)) as usize, (low >> row_bits) as usize);
        let snapshot = index >> SNAPSHOT_INDEX_BIT & 1 == 1;
        let there = node.is_on(self.target.nic())
            && Table::ALL.contains(&table)
            && table.is_of(node)
            && (table.engine() == Some(EngineId::RMT) || table == Table::Generation)
            && row < table.rows(self.target.nic()) as usize
            && slice * SLICE_WORDS < table.words()
            && (!snapshot || table.access() == Access::Counter)
            && index >> 24 == 0;
        if there { Ok(Address { row, slice, snapshot }) } else { Err(Status::BadAddress) }
    }

    /// Whether a module has state words in any stage, in any generation.
    pub fn has_state(&self, module: u8) -> bool {
        self.stages.iter().any(|stage| stage.has_state(module))
    }

    /// The module that has a state word of a stage.
    pub fn owner_of_word(&self, stage: usize, word: usize) -> Option<u8> {
        self.stages.get(stage)?.owner_of_word(word)
    }

    /// A state word of a stage, by its place in the stage's memory.
    pub fn state_word(&self, stage: usize, word: usize) -> u32 {
        self.stages[stage].words[word]
    }
}

/// The words that the hardware writes; the parser has written the status.
fn stamp(frame: &mut Frame, arrival: &Arrival) {
    frame.set_word(Word::IngressPort as usize, arrival.port.into());
    frame.set_word(Word::Length as usize, arrival.packet.len() as u16);
    for i in 0..3 {
        frame.set_word(Word::Arrival as usize + i, (arrival.arrival >> (16 * i)) as u16);
    }
    for i in 0..2 {
        frame.set_word(Word::Queueing as usize + i, (arrival.queueing >> (16 * i)) as u16);
    }
    frame.set_word(Word::Tenant as usize, arrival.tenant);
}
