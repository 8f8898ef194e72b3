//! The engine with a host behind its DMA port: rings, buffers, completions. The model follows what the engine tells, event by event.

use crate::l7::builds;
use crate::l7::rows::{Rows, kind};
use sluice_formats::address::{SNAPSHOT_INDEX_BIT, control};
use sluice_formats::l7::L7Event;
use sluice_formats::l7::codes::{L7RingEvent, L7Status};
use sluice_formats::l7::rows::{
    L7CompletionRow, L7DescriptorRow, L7DoorbellRow, L7ForgetTraceRow, L7RingRow, L7RingTraceRow, L7TraceRow,
};
use sluice_formats::l7::target::{COMPLETION_BYTES, DESCRIPTOR_BYTES, EXPIRY_TICK_CYCLES, Target};
use sluice_formats::random::Rng;
use sluice_formats::row::{Row, bytes_of_words, words_of_bytes};
use sluice_formats::rows::SidebandRow;

use sluice_formats::{Message, Node, Op, Reason, Status, Table};
use sluice_l7::engine::{Engine, Fate};
use sluice_l7::receive::{Arrived, Delivery, Ended, Member, Receive, Ring, Write};
use sluice_l7::table::Place;
use sluice_l7::tables::Tables;
use sluice_rtlsim::plugin::boundary::{Instance, Until};
use sluice_rtlsim::plugin::event::{What, decode};
use sluice_rtlsim::top;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Cycles that a packet may be on its way out when it is told that it has been decided.
const LATE: u64 = 4_000;

#[derive(Debug)]
struct Sent {
    module: u8,
    frame: Vec<u8>,
    arrived: Option<Arrived>,
    delivery: Option<Delivery>,
    is_done: bool,
}

/// What the host has of a ring.
#[derive(Debug, Default)]
pub struct HostRing {
    /// Descriptors that have been posted.
    pub posted: u64,
    /// Numbers of completions beyond those that all are there.
    written: BTreeSet<u64>,
    /// Completions that are there, one behind the other.
    pub there: u64,
}

/// The engine's top with a host, beside their models.
pub struct HostBench {
    pub rtl: Instance,
    pub target: &'static Target,
    pub engine: Engine,
    pub receive: Receive,
    pub tables: Tables,
    pub hosts: BTreeMap<u8, HostRing>,
    rng: Rng,
    sent: Vec<Sent>,
    come: usize,
    left: usize,
    forgets: VecDeque<L7ForgetTraceRow>,
    writes: Vec<Write>,
    ended: Vec<Ended>,
    buffers: u64,
    sequence: u16,
    /// By what became of packets and messages.
    pub counts: BTreeMap<String, u64>,
    drops: BTreeMap<u32, u64>,
    /// Bytes that left (0) or were consumed (1), by module * 2 + which.
    kept_bytes: BTreeMap<u32, u64>,
    rings: BTreeMap<u32, u64>,
    snapshot: BTreeMap<u32, u64>,
    started: VecDeque<(u8, u32)>,
    epoch: u32,
    /// Messages that had no descriptor although one was posted: it had not been fetched.
    pub early: u64,
    /// Ticks of the first packet in and of the last write.
    pub span: Option<(u64, u64)>,
    /// Bytes that were written into buffers.
    pub bytes: u64,
}

impl Rows for HostBench {
    fn write_words(&mut self, table: Table, index: u32, words: Vec<u32>) {
        let answer = self.ask(Op::Write, table, index, words);
        assert_eq!(answer.status, Status::Ok, "{} {index}", table.name());
    }

    fn target(&self) -> &'static Target {
        self.target
    }

    fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

impl HostBench {
    /// Opens the plug-in of a target.
    pub fn open(target: &str, seed: u64) -> Option<Self> {
        let (plugin, target) = builds::open(target)?;
        Some(Self {
            rtl: plugin.open(seed).unwrap(),
            target,
            engine: Engine::new(target),
            receive: Receive::default(),
            tables: Tables::default(),
            hosts: BTreeMap::new(),
            rng: Rng::new(seed),
            sent: Vec::new(),
            come: 0,
            left: 0,
            forgets: VecDeque::new(),
            writes: Vec::new(),
            ended: Vec::new(),
            buffers: 0x1_0000_0000,
            sequence: 0,
            counts: BTreeMap::new(),
            drops: BTreeMap::new(),
            kept_bytes: BTreeMap::new(),
            rings: BTreeMap::new(),
            snapshot: BTreeMap::new(),
            started: VecDeque::new(),
            epoch: 0,
            early: 0,
            span: None,
            bytes: 0,
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
        self.ask_node(Node::L7, op, table.number(), index, data)
    }

    fn ask_node(&mut self, node: Node, op: Op, table: u8, index: u32, data: Vec<u32>) -> Message {
        self.sequence = self.sequence.wrapping_add(1);
        let (node, status) = (node.number(), Status::Ok);
        let message = Message { op, status, node, sequence: self.sequence, table, index, data };
        self.rtl.send(&message.encode(), true);
        for _ in 0..200 {
            let answer = self.run(&Until { replies: 1, max_cycles: 1_000, ..Until::default() });
            if let Some(words) = answer {
                return Message::decode(&words).unwrap();
            }
        }
        panic!("no answer");
    }

    /// Makes a ring.
    pub fn ring(&mut self, ring: u8, module: u8, log_size: u8) {
        let base = 0x7000_0000_0000 + u64::from(ring) * 0x40_0000;
        let row =
            L7RingRow { valid: true, module_id: module, log_size, descriptors: base, completions: base + 0x20_0000 };
        self.write(Table::L7Ring, ring.into(), &row);
        self.receive.rings.insert(ring, Ring { row, ..Ring::default() });
        self.hosts.insert(ring, HostRing::default());
    }

    /// Posts buffers of these lengths, as many as the ring has room for.
    pub fn post(&mut self, ring: u8, lengths: impl IntoIterator<Item = u32>) {
        let model = self.receive.rings.get_mut(&ring).unwrap();
        let host = self.hosts.get_mut(&ring).unwrap();
        let size = 1 << model.row.log_size;
        for length in lengths {
            if model.posted.len() as u64 == size {
                break;
            }
            // Buffers begin at any byte, and lie apart.
            let address = self.buffers + self.rng.below(64);
            self.buffers += u64::from(length) + 256;
            let cookie = self.rng.next_u32();
            let row = L7DescriptorRow { address, length, cookie };
            let bytes = bytes_of_words(&row.pack().unwrap());
            let place = host.posted % size * DESCRIPTOR_BYTES as u64;
            self.rtl.memory_write(model.row.descriptors + place, &bytes);
            model.posted.push_back(row);
            host.posted += 1;
        }
        self.doorbell(ring);
    }

    /// Rings the doorbell: what has been posted, and that all completions have been seen.
    pub fn doorbell(&mut self, ring: u8) {
        let (model, host) = (self.receive.rings.get_mut(&ring).unwrap(), &self.hosts[&ring]);
        model.seen = host.there;
        let row = L7DoorbellRow { posted: host.posted as u16, seen: host.there as u16 };
        self.write(Table::L7Doorbell, ring.into(), &row);
    }

    /// Sends a packet of a module, now or at a tick.
    pub fn send(&mut self, module: u8, frame: Vec<u8>, at: u64) {
        let id = self.sent.len() as u32;
        let sideband = SidebandRow { id, module_id: module, length: frame.len() as u16, ..SidebandRow::default() };
        self.rtl.offer_with(&sideband, at, &frame).unwrap();
        // What does not search for an entry is known at once, and told before what came earlier and searches.
        let arrived = (!self.engine.searches_for(&frame, module, false))
            .then(|| self.engine.arrive(&frame, module, false, |job| job.run(&self.tables)));
        self.sent.push(Sent { module, frame, arrived, delivery: None, is_done: false });
    }

    /// Packets that have not been done with.
    pub fn waiting(&self) -> usize {
        self.sent.len() - self.left
    }

    /// Runs until packets, writes and completions are where they belong.
    pub fn settle(&mut self) {
        for _ in 0..2_000 {
            if self.waiting() == 0 && self.writes.is_empty() && self.ended.is_empty() {
                return;
            }
            self.run(&Until { quiet_cycles: 600, max_cycles: 2_000, ..Until::default() });
        }
        let first = self.sent.iter().position(|sent| !sent.is_done);
        panic!(
            "{} packets wait, the first is {first:?}: {:?}; writes: {}, completions: {:?}",
            self.waiting(),
            first.map(|at| (&self.sent[at].arrived, &self.sent[at].delivery)),
            self.writes.len(),
            self.ended
        );
    }

    /// Runs for some cycles.
    pub fn pass(&mut self, cycles: u64) {
        self.run(&Until { max_cycles: cycles, ..Until::default() });
    }

    /// Runs, and compares. Gives an answer of the configuration ring.
    pub fn run(&mut self, until: &Until) -> Option<Vec<u32>> {
        self.rtl.run(until).unwrap();
        let bytes = self.rtl.take_events().to_vec();
        let (mut all, mut answer) = (Vec::new(), None);
        decode(&top::L7, &bytes, |event| all.push(event)).unwrap();
        for event in all {
            match event.what {
                What::Dispatched(row) => self.decided(&row, event.tick),
                What::Arrived { first, .. } => drop(self.span.get_or_insert((first, first))),
                What::Routed { sideband, tags, bytes, .. } => self.routed(&sideband, tags[0], &bytes),
                What::Ring(row) => self.ring_event(row, event.tick),
                What::Forgot(row) => self.forgot(row, event.tick),
                What::Wrote { address, bytes } => self.wrote(address, &bytes, event.tick),
                What::Epoch(_) => self.snapshot = self.rings.clone(),
                What::Reply(words) => answer = Some(words),
                _ => {}
            }
        }
        answer
    }

    fn count(&mut self, name: &str) {
        *self.counts.entry(name.to_owned()).or_default() += 1;
    }

    /// Packets up to this one have come to the message table.
    fn arrive_to(&mut self, id: usize) {
        while self.sent[id].arrived.is_none() {
            if self.sent[self.come].arrived.is_some() {
                self.come += 1;
                continue;
            }
            while let Some(row) = self.forgets.front().filter(|row| row.searches <= self.engine.searches) {
                self.engine.table.forget(Place(row.place.into()));
                self.forgets.pop_front();
            }
            let sent = &mut self.sent[self.come];
            let tables = &self.tables;
            sent.arrived = Some(self.engine.arrive(&sent.frame, sent.module, false, |job| job.run(tables)));
            self.come += 1;
        }
    }

    fn decided(&mut self, row: &L7TraceRow, tick: u64) {
        let id = row.id as usize;
        self.arrive_to(id);
        let (module, arrived) = (self.sent[id].module, self.sent[id].arrived.unwrap());
        assert!(self.sent[id].delivery.is_none(), "decided twice: {row:?}");
        let told = |reason: Reason| row.dropped && row.kind == kind(reason);
        let no_descriptor = told(Reason::L7NoDescriptor);
        // A message without a buffer was given up; that is told later.
        match arrived.member {
            Some((Member::Later(place), _)) if told(Reason::L7NoFirst) && self.receive.is_live(place) => {
                self.expired(place, tick);
            }
            _ => {}
        }
        if let (true, Fate::Queue(queue)) = (no_descriptor, arrived.outcome.fate) {
            let begins = matches!(arrived.member, Some((Member::Begins(_) | Member::Alone, _)));
            self.early += u64::from(begins && self.receive.rings.get(&queue).is_some_and(|r| r.is_free(module)));
        }
        let frame = &self.sent[id].frame;
        let (delivery, effects) = self.receive.take(&arrived, frame, !no_descriptor, tick);
        let expected = L7TraceRow { id: row.id, module_id: module, fault: arrived.outcome.fault, ..delivery.traced() };
        // Of what is not dropped the kind says nothing.
        let found = L7TraceRow { kind: if row.dropped { row.kind } else { 0 }, ..*row };
        assert_eq!(found, expected, "packet {id}, tick {tick}: {arrived:?}, {:02x?}", &frame[..frame.len().min(72)]);
        if let Some((ring, cookie)) = effects.started {
            let at = self.started.iter().position(|(other, _)| *other == ring).expect("a start is told before");
            assert_eq!(self.started.remove(at), Some((ring, cookie)), "descriptors are taken in their order");
        }
        if let Some((Member::Begins(place), _)) = arrived.member {
            self.engine.table.hold(place, matches!(delivery, Delivery::Consumed(_)));
        }
        self.writes.extend(effects.write);
        if let (Some(ended), Some((Member::Later(place), _))) = (effects.ended, arrived.member) {
            self.engine.table.hold(place, false);
            self.ended.push(ended);
        }
        let row = |kind: u8| u32::from(module) * 16 + u32::from(kind);
        let name = match delivery {
            Delivery::Left(Fate::Frame) => "frame",
            Delivery::Left(_) => "queue",
            Delivery::Consumed(_) => "consumed",
            Delivery::Dropped(reason) => {
                *self.drops.entry(row(kind(reason))).or_default() += 1;
                reason.name()
            }
        };
        self.count(name);
        if arrived.outcome.fault {
            *self.drops.entry(row(L7Event::Faults as u8)).or_default() += 1;
        }
        let kept = match delivery {
            Delivery::Left(_) => Some((L7Event::Left, 0)),
            Delivery::Consumed(_) => Some((L7Event::Consumed, 1)),
            Delivery::Dropped(_) => None,
        };
        let sent = &mut self.sent[id];
        if let Some((event, which)) = kept {
            *self.drops.entry(row(event as u8)).or_default() += 1;
            *self.kept_bytes.entry(2 * u32::from(module) + which).or_default() += sent.frame.len() as u64;
        }
        sent.delivery = Some(delivery);
        if !matches!(delivery, Delivery::Left(_)) || std::mem::replace(&mut sent.is_done, true) {
            sent.is_done = true;
            self.left += 1;
        }
    }

    /// `is_done` says of a packet that leaves that one of both has come: its decision or its last beat.
    fn routed(&mut self, sideband: &SidebandRow, tag: u16, bytes: &[u8]) {
        self.arrive_to(sideband.id as usize);
        let sent = &mut self.sent[sideband.id as usize];
        let expected = match sent.arrived.unwrap().outcome.fate {
            Fate::Frame => 0,
            Fate::Queue(queue) => 256 + u16::from(queue),
            Fate::Dropped(reason) => panic!("packet {} leaves, it is dropped for {}", sideband.id, reason.name()),
        };
        assert_eq!((tag, bytes), (expected, &sent.frame[..]), "packet {}", sideband.id);
        assert!(!matches!(sent.delivery, Some(Delivery::Consumed(_) | Delivery::Dropped(_))));
        if std::mem::replace(&mut sent.is_done, true) {
            self.left += 1;
        }
    }

    fn wrote(&mut self, address: u64, bytes: &[u8], tick: u64) {
        if let Some(at) = self.writes.iter().position(|write| write.address == address) {
            let write = self.writes.swap_remove(at);
            assert!(write.bytes == bytes, "{} bytes at {address:#x} are not those of the packet", bytes.len());
            self.bytes += bytes.len() as u64;
            if let Some((_, last)) = &mut self.span {
                *last = tick;
            }
            let ended = self.receive.written(write.whose);
            if let (Some(_), sluice_l7::receive::Whose::Entry(place)) = (&ended, write.whose) {
                self.engine.table.hold(place, false);
            }
            self.ended.extend(ended);
            return;
        }
        let is_in = |ring: &Ring| {
            let bytes = (COMPLETION_BYTES as u64) << ring.row.log_size;
            (ring.row.completions..ring.row.completions + bytes).contains(&address)
        };
        let Some((&number, ring)) = self.receive.rings.iter().find(|(_, ring)| is_in(ring)) else {
            panic!("tick {tick}: {} bytes are written at {address:#x}, where nobody has a buffer", bytes.len());
        };
        self.completion(number, ring.row, address, bytes, tick);
    }

    fn completion(&mut self, ring: u8, row: L7RingRow, address: u64, bytes: &[u8], tick: u64) {
        let found = L7CompletionRow::unpack(&words_of_bytes(bytes)).unwrap();
        let (host, size) = (self.hosts.get_mut(&ring).unwrap(), 1u64 << row.log_size);
        let place = (address - row.completions) / COMPLETION_BYTES as u64;
        let number = host.there + (place + size - host.there % size) % size;
        assert!(host.written.insert(number), "a completion where one is");
        while host.written.remove(&host.there) {
            host.there += 1;
        }
        let phase = number >> row.log_size & 1 == 0;
        let is_it = |e: &Ended| e.ring == ring && L7CompletionRow { phase, ..e.completion } == found;
        let at = self.ended.iter().position(is_it);
        let at =
            at.unwrap_or_else(|| panic!("ring {ring}, tick {tick}: nobody ended with {found:?}: {:?}", self.ended));
        self.ended.swap_remove(at);
        let status = L7Status::from_code(found.status).unwrap();
        self.count(if status == L7Status::Whole { "whole" } else { "expired" });
    }

    fn ring_event(&mut self, row: L7RingTraceRow, tick: u64) {
        *self.rings.entry(u32::from(row.ring) * 4 + u32::from(row.kind)).or_default() += 1;
        match L7RingEvent::from_code(row.kind).unwrap() {
            L7RingEvent::Started => self.started.push_back((row.ring, row.cookie)),
            L7RingEvent::Expired => {
                let place = self.receive.find(row.ring, row.cookie);
                let place = place.unwrap_or_else(|| panic!("tick {tick}: nobody had a buffer: {row:?}"));
                self.expired(place, tick);
            }
            L7RingEvent::Whole | L7RingEvent::NoDescriptor => {}
        }
    }

    fn expired(&mut self, place: Place, tick: u64) {
        let Some((ended, last, expiry)) = self.receive.expire(place) else { panic!("{place:?} may not expire") };
        let (waited, expiry) = (tick - last, u64::from(expiry) * EXPIRY_TICK_CYCLES);
        let most = expiry + (2 + 4 * self.target.entries as u64) * EXPIRY_TICK_CYCLES + LATE;
        assert!(waited + LATE > expiry && waited < most, "{waited} cycles, the expiry is {expiry}");
        self.engine.table.hold(place, false);
        self.ended.extend(ended);
        self.count("given up");
    }

    fn forgot(&mut self, row: L7ForgetTraceRow, tick: u64) {
        let place = Place(row.place.into());
        if self.receive.is_live(place) {
            self.expired(place, tick);
        }
        self.forgets.push_back(row);
    }

    /// Takes a snapshot while all goes on, and compares the rings' counters in it with what had been told before.
    pub fn compare_snapshot(&mut self) {
        self.epoch += 1;
        let answer = self.ask_node(Node::System, Op::Write, Table::Control.number(), control::EPOCH, vec![self.epoch]);
        assert_eq!(answer.status, Status::Ok);
        for row in 0..4 * self.target.rings as u32 {
            let words = self.read(Table::L7Rings, row | 1 << SNAPSHOT_INDEX_BIT);
            let counted = u64::from(words[0]) | u64::from(words[1]) << 32;
            let told = self.snapshot.get(&row).copied().unwrap_or(0);
            assert_eq!(counted, told, "ring {}, kind {} in the snapshot", row / 4, row % 4);
        }
    }

    /// Compares all counters with what was told and decided.
    pub fn compare_counters(&mut self) {
        let number = |words: Vec<u32>| u64::from(words[0]) | u64::from(words[1]) << 32;
        for row in 0..self.target.modules as u32 * 16 {
            let counted = number(self.read(Table::L7Drops, row));
            assert_eq!(counted, self.drops.get(&row).copied().unwrap_or(0), "module {}, kind {}", row / 16, row % 16);
        }
        for row in 0..self.target.modules as u32 * 2 {
            let counted = number(self.read(Table::L7Bytes, row));
            let kept = self.kept_bytes.get(&row).copied().unwrap_or(0);
            assert_eq!(counted, kept, "bytes of module {}, kind {}", row / 2, row % 2);
        }
        for (ring, at) in (0..self.target.rings as u32).map(|ring| (ring, ring * 4)) {
            let told = |bench: &Self| [0, 1, 2, 3].map(|kind| bench.rings.get(&(at + kind)).copied().unwrap_or(0));
            // A message may expire while its ring's counters are read.
            let counted = loop {
                let before = told(self);
                let counted = [0, 1, 2, 3].map(|kind| number(self.read(Table::L7Rings, at + kind)));
                if told(self) == before {
                    break counted;
                }
            };
            assert_eq!(counted, told(self), "ring {ring}");
            let in_flight = self.receive.in_flight(ring as u8) as u64;
            assert_eq!(
                counted[0],
                counted[1] + counted[2] + in_flight,
                "ring {ring}: started = whole + expired + in flight"
            );
        }
    }
}
