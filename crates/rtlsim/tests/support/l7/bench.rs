//! The engine: rows in, packets in, decisions and frames out.

use crate::l7::builds;
use crate::l7::rows::{Rows, kind};
use sluice_formats::l7::L7Event;
use sluice_formats::l7::qnp::HEADER_BYTES;
use sluice_formats::l7::rows::L7TraceRow;
use sluice_formats::l7::target::Target;
use sluice_formats::rows::SidebandRow;
use sluice_formats::{Message, Node, Op, Status, Table};
use sluice_l7::engine::{Engine, Fate, Job, Outcome};
use sluice_l7::step::Verdict;
use sluice_rtlsim::plugin::boundary::{Instance, Until};
use sluice_rtlsim::plugin::event::{What, decode};
use sluice_rtlsim::top;
use std::collections::BTreeMap;

/// What a packet is expected to do, and what has been seen of it.
#[derive(Debug)]
struct Expected {
    module: u8,
    frame: Vec<u8>,
    outcome: Outcome,
    decided: bool,
    left: bool,
}

impl Rows for Bench {
    fn write_words(&mut self, table: Table, index: u32, words: Vec<u32>) {
        let answer = self.ask(Op::Write, table, index, words);
        assert_eq!(answer.status, Status::Ok, "{} {index}", table.name());
    }

    fn target(&self) -> &'static Target {
        self.target
    }

    fn engine(&mut self) -> &mut Engine {
        &mut self.model
    }
}

/// The engine's top beside its model.
pub struct Bench {
    pub rtl: Instance,
    pub target: &'static Target,
    pub model: Engine,
    expected: BTreeMap<u32, Expected>,
    sequence: u16,
    sent: u32,
    /// By what became of packets.
    pub counts: BTreeMap<String, u64>,
    /// What the model has counted, by row of `l7_drops`.
    pub drops: BTreeMap<u32, u64>,
    /// Ticks of the first beat in and out of frames that are no messages.
    pub passed: Vec<(u64, u64)>,
    arrived: Vec<(u32, u64)>,
    /// Ticks of decisions.
    decisions: Vec<u64>,
    order: Vec<u32>,
    /// Ticks of the first beat in and the last beat out.
    pub span: Option<(u64, u64)>,
}

impl Bench {
    /// Opens the plug-in of a target.
    pub fn open(target: &str, seed: u64) -> Option<Self> {
        let (plugin, target) = builds::open(target)?;
        Some(Self {
            rtl: plugin.open(seed).unwrap(),
            target,
            model: Engine::new(target),
            expected: BTreeMap::new(),
            sequence: 0,
            sent: 0,
            counts: BTreeMap::new(),
            drops: BTreeMap::new(),
            passed: Vec::new(),
            arrived: Vec::new(),
            decisions: Vec::new(),
            order: Vec::new(),
            span: None,
        })
    }

    /// Reads the words of a row.
    pub fn read(&mut self, table: Table, index: u32) -> Vec<u32> {
        let answer = self.ask(Op::Read, table, index, Vec::new());
        assert_eq!(answer.status, Status::Ok, "{} {index}", table.name());
        answer.data
    }

    /// One access, and its answer.
    pub fn ask(&mut self, op: Op, table: Table, index: u32, data: Vec<u32>) -> Message {
        self.sequence = self.sequence.wrapping_add(1);
        let (node, status) = (Node::L7.number(), Status::Ok);
        let message = Message { op, status, node, sequence: self.sequence, table: table.number(), index, data };
        self.rtl.send(&message.encode(), true);
        let mut answer = None;
        for _ in 0..200 {
            self.run(&Until { replies: 1, max_cycles: 1_000, ..Until::default() }, &mut answer);
            if let Some(words) = &answer {
                return Message::decode(words).unwrap();
            }
        }
        panic!("no answer");
    }

    /// Sends a packet of a module, now or at a tick.
    pub fn send(&mut self, module: u8, frame: Vec<u8>, at: u64, rule: impl FnOnce(&Job) -> Option<Verdict>) -> Outcome {
        let id = self.sent;
        self.sent += 1;
        let sideband = SidebandRow { id, module_id: module, length: frame.len() as u16, ..SidebandRow::default() };
        self.rtl.offer_with(&sideband, at, &frame).unwrap();
        let outcome = self.model.packet(&frame, module, false, rule);
        let name = match outcome.fate {
            Fate::Frame => "frame".to_owned(),
            Fate::Queue(_) => "queue".to_owned(),
            Fate::Dropped(reason) => reason.name().to_owned(),
        };
        *self.counts.entry(name).or_default() += 1;
        let row = |kind: u8| u32::from(module) * 16 + u32::from(kind);
        let end = match outcome.fate {
            Fate::Dropped(reason) => kind(reason),
            Fate::Frame | Fate::Queue(_) => L7Event::Left as u8,
        };
        *self.drops.entry(row(end)).or_default() += 1;
        if outcome.fault {
            *self.drops.entry(row(L7Event::Faults as u8)).or_default() += 1;
            *self.counts.entry("fault".to_owned()).or_default() += 1;
        }
        self.expected.insert(id, Expected { module, frame, outcome, decided: false, left: false });
        self.order.push(id);
        outcome
    }

    /// Runs until everything has become of all packets what becomes of them.
    pub fn settle(&mut self) {
        for _ in 0..2_000 {
            if self.expected.is_empty() {
                return;
            }
            self.run(&Until { quiet_cycles: 600, max_cycles: 2_000, ..Until::default() }, &mut None);
        }
        let (id, first) = self.expected.iter().next().unwrap();
        panic!(
            "{} packets wait; the first is {id} of {} bytes: {:?}, decided: {}, left: {}",
            self.expected.len(),
            first.frame.len(),
            first.outcome,
            first.decided,
            first.left
        );
    }

    /// Compares all counters with the model's.
    pub fn compare_counters(&mut self, modules: u32) {
        for row in 0..modules * 16 {
            let words = self.read(Table::L7Drops, row);
            let counted = u64::from(words[0]) | u64::from(words[1]) << 32;
            assert_eq!(counted, self.drops.get(&row).copied().unwrap_or(0), "module {}, kind {}", row / 16, row % 16);
        }
    }

    /// Cycles from the last packet's first beat to its decision.
    pub fn last_latency(&self) -> u64 {
        self.decisions.last().unwrap() - self.arrived.last().unwrap().1
    }

    /// Packets that have not been done with.
    pub fn waiting(&self) -> usize {
        self.expected.len()
    }

    /// Runs, and compares.
    pub fn run(&mut self, until: &Until, answer: &mut Option<Vec<u32>>) {
        self.rtl.run(until).unwrap();
        let events = self.rtl.take_events().to_vec();
        let mut all = Vec::new();
        decode(&top::L7, &events, |event| all.push(event)).unwrap();
        for event in all {
            match event.what {
                What::Dispatched(row) => {
                    self.decisions.push(event.tick);
                    self.decided(&row);
                }
                What::Arrived { first, number, .. } => {
                    self.arrived.push((number, first));
                    self.span.get_or_insert((first, first));
                }
                What::Routed { first, sideband, tags, bytes } => {
                    if let Some((_, last)) = &mut self.span {
                        *last = event.tick;
                    }
                    self.left(first, &sideband, tags[0], &bytes);
                }
                What::Reply(words) => *answer = Some(words),
                _ => {}
            }
        }
    }

    fn decided(&mut self, row: &L7TraceRow) {
        let Some(packet) = self.expected.get_mut(&row.id) else { panic!("a decision of nobody: {row:?}") };
        assert!(!packet.decided, "decided twice: {row:?}");
        packet.decided = true;
        let found = match row {
            L7TraceRow { dropped: true, .. } => (row.message, Some(row.kind), None),
            L7TraceRow { message: true, .. } => (true, None, Some(row.queue_id)),
            _ => (false, None, None),
        };
        let expected = match packet.outcome.fate {
            Fate::Frame => (false, None, None),
            Fate::Queue(queue) => (true, None, Some(queue)),
            Fate::Dropped(reason) => (true, Some(kind(reason)), None),
        };
        assert_eq!(
            (found, row.fault, row.module_id),
            (expected, packet.outcome.fault, packet.module),
            "packet {} of {} bytes: {:02x?}",
            row.id,
            packet.frame.len(),
            &packet.frame[..packet.frame.len().min(HEADER_BYTES + 8)]
        );
        let gone = packet.left || matches!(packet.outcome.fate, Fate::Dropped(_));
        if gone {
            self.expected.remove(&row.id);
        }
    }

    fn left(&mut self, first: u64, sideband: &SidebandRow, tag: u16, bytes: &[u8]) {
        let Some(packet) = self.expected.get_mut(&sideband.id) else { panic!("a frame of nobody: {sideband:?}") };
        let expected = match packet.outcome.fate {
            Fate::Frame => 0,
            Fate::Queue(queue) => 256 + u16::from(queue),
            Fate::Dropped(reason) => panic!("packet {} leaves, it is dropped for {}", sideband.id, reason.name()),
        };
        assert_eq!(tag, expected, "packet {}", sideband.id);
        assert!(!packet.left && bytes == packet.frame, "packet {}", sideband.id);
        packet.left = true;
        if packet.outcome.fate == Fate::Frame {
            let came = self.arrived.iter().find(|(number, _)| self.order.get(*number as usize) == Some(&sideband.id));
            if let Some((_, came)) = came {
                self.passed.push((*came, first));
            }
        }
        if packet.decided {
            self.expected.remove(&sideband.id);
        }
    }
}
