//! The NIC around a top that is one engine alone: ports, queues and egress in software, with the NIC's traces.
//!
//! Frames are judged as a port judges them when they are given to the top, in the order of their ticks; their ends at
//! a port, admissions and departures are events like those of the NIC's top, so that whoever follows one follows the
//! other. What is missing is time: the ports take all frames at once, and an admitted copy leaves at once, so
//! queues are always empty and no destination can be blocked. Stamps and the cycles of outcomes are the top's.
//! Packets that no engine has sent anywhere are dropped here, as `no_destination`. Rows of
//! nodes that the top does not have are kept here and answered without delay; faults on the ring meet them all the same.

use crate::device::turns::Turns;
use crate::plugin::boundary::OfferBuffer;
use crate::plugin::event::{RtlEvent, What};
use crate::plugin::top::Top;
use sluice_device::{Frame, Offer, headers};
use sluice_formats::address::SNAPSHOT_INDEX_BIT;
use sluice_formats::limits::{DESTINATIONS, SEQUENCE_MASK, TAG_BYTES, packet_id};
use sluice_formats::row::{Row, RowError};
use sluice_formats::rows::{LeaveTraceRow, PortTraceRow, QueueTraceRow, SidebandRow, VerdictTraceRow};
use sluice_formats::{Message, Node, Op, Reason, Status, Table, Target};
use sluice_nic::bank::CounterBank;
use sluice_nic::forward::{self, Leaving, classify};
use sluice_nic::room::{Asked, Room, Urgency};
use sluice_nic::{Tables, engines};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// Ports, queues and egress.
pub struct Around {
    target: Target,
    tables: Tables,
    bank: CounterBank,
    /// The counters when the epoch began.
    frozen: CounterBank,
    room: Room,
    /// Frames that have not gone in.
    turns: Turns,
    /// Tick of the last frame that was offered, by port.
    latest: Vec<u64>,
    /// Sequence numbers of the next frames, by port.
    numbers: Vec<u32>,
    /// Packets given to the top whose last beat it has not accepted.
    entering: VecDeque<u32>,
    /// Packets in the top, with their arrival.
    inside: HashMap<u32, u64>,
    /// The top puts the arrival into the sideband when it takes a packet.
    stamps_arrival: bool,
    /// Packets in it that no engine has sent anywhere: they end with their verdict.
    undirected: HashSet<u32>,
    /// How many such there were by module, and how many when the epoch began.
    lost: [BTreeMap<u32, u64>; 2],
}

impl Around {
    /// Around a top after its reset.
    pub fn new(target: Target, top: &Top) -> Self {
        let bank = CounterBank::new(target);
        Self {
            target,
            tables: Tables::new(target, engines::these(&[], &target)).taking(top.shortest_frame),
            frozen: bank.clone(),
            bank,
            room: Room::new(&target),
            turns: Turns::default(),
            latest: vec![0; target.ports as usize],
            numbers: vec![0; target.ports as usize],
            entering: VecDeque::new(),
            inside: HashMap::new(),
            stamps_arrival: top.stamps_arrival(),
            undirected: HashSet::new(),
            lost: [BTreeMap::new(), BTreeMap::new()],
        }
    }

    /// Whether each packet waits until the one before has left the top.
    pub fn take_turns(&mut self, in_turns: bool) {
        self.turns.take_turns(in_turns);
    }

    /// Packets wait for others that are in the top.
    pub fn waits(&self) -> bool {
        self.turns.waits(self.inside.is_empty())
    }

    /// Takes frames for later. Those of one tick keep their order, and none overtakes another of its port.
    pub fn offer(&mut self, packets: &[Offer]) {
        let latest = &mut self.latest;
        self.turns.push(packets.iter().map(|packet| {
            let latest = &mut latest[usize::from(packet.port)];
            *latest = packet.at.max(*latest);
            Offer { at: *latest, ..packet.clone() }
        }));
    }

    /// When the next frame is due.
    pub fn next_due(&self) -> Option<u64> {
        self.turns.next_due(self.inside.is_empty())
    }

    /// Judges the frames that are due, and gives what the top shall get.
    pub fn feed(&mut self, now: u64, mut happened: impl FnMut(RtlEvent)) -> Result<Option<OfferBuffer>, RowError> {
        let mut buffer = None;
        while let Some(Offer { port, bytes, bad, .. }) = self.turns.next(now, self.inside.is_empty()) {
            let number = &mut self.numbers[usize::from(port)];
            let id = packet_id(port, *number);
            *number = (*number + 1) & SEQUENCE_MASK;
            let judged = classify(port, &bytes, bad, &self.tables);
            self.bank.arrived(port, judged.owner, bytes.len());
            let reason = judged.result.err();
            // The ports take everything; what is beyond a share is told all the same.
            let beyond = judged.result.is_ok_and(|accepted| {
                let length = bytes.len() - if accepted.tag_off { TAG_BYTES } else { 0 };
                let share = self.tables.share_mut(port, accepted.module);
                let cost = share.cost(length as u32, &self.target);
                share.is_beyond(now, cost)
            });
            happened(RtlEvent {
                tick: now,
                what: What::Port(PortTraceRow {
                    id,
                    module_id: judged.owner,
                    dropped: reason.is_some(),
                    reason: reason.map_or(0, |reason| reason.code()),
                    length: bytes.len() as u16,
                    beyond,
                    arrival: now,
                }),
            });
            let accepted = match judged.result {
                Ok(accepted) => accepted,
                Err(reason) => {
                    self.bank.dropped_at_port(port, judged.owner, reason);
                    continue;
                }
            };
            let frame = Frame::new(bytes, accepted.tag_off);
            let sideband = SidebandRow {
                id,
                stamp: now,
                tenant: accepted.tenant,
                module_id: accepted.module,
                length: frame.bytes().len() as u16,
                tci: accepted.tci,
                tag_off: accepted.tag_off,
                flow_hash: headers::flow_hash(&headers::headers(frame.bytes()), self.tables.flow_secret()),
                ..SidebandRow::default()
            };
            let user = sideband.pack()?;
            buffer.get_or_insert_with(OfferBuffer::default).push(0, false, now, &user, frame.bytes());
            self.entering.push_back(id);
            self.inside.insert(id, now);
        }
        Ok(buffer)
    }

    /// What an event of the top is for the NIC.
    pub fn translate(&mut self, event: RtlEvent, mut happened: impl FnMut(RtlEvent)) {
        let tick = event.tick;
        match event.what {
            What::Arrived { first, .. } => {
                let Some(id) = self.entering.pop_front() else { return happened(event) };
                // It may have been dropped before its last beat.
                if self.inside.contains_key(&id) {
                    let what = What::Arrived { port: (id >> 28) as u8, first, number: id & SEQUENCE_MASK };
                    happened(RtlEvent { tick, what });
                }
            }
            What::Verdict(row) if row.dropped => {
                self.inside.remove(&row.id);
                happened(event);
            }
            What::Verdict(row) if row.destinations == 0 => {
                self.undirected.insert(row.id);
                *self.lost[0].entry(row.module_id.into()).or_default() += 1;
                let reason = Reason::NoDestination.code();
                happened(RtlEvent { tick, what: What::Verdict(VerdictTraceRow { dropped: true, reason, ..row }) });
            }
            What::Routed { sideband, .. } if self.undirected.remove(&sideband.id) => {
                self.inside.remove(&sideband.id);
            }
            What::Routed { first, sideband, tags, bytes } => self.leave(tick, first, sideband, tags, &bytes, happened),
            What::Epoch(_) => {
                self.frozen = self.bank.clone();
                self.lost[1] = self.lost[0].clone();
                happened(event);
            }
            _ => happened(event),
        }
    }

    /// A packet has left the top: its copies are admitted and leave.
    fn leave(
        &mut self,
        tick: u64,
        first: u64,
        sideband: SidebandRow,
        tags: [u16; DESTINATIONS as usize],
        bytes: &[u8],
        mut happened: impl FnMut(RtlEvent),
    ) {
        let SidebandRow { id, module_id, destinations, .. } = sideband;
        let leaving = Leaving { module: module_id, tci: sideband.tci, tag_off: sideband.tag_off };
        let foreign = forward::foreign(&self.tables, destinations, leaving, bytes);
        let arrival = self.inside.remove(&id).filter(|_| !self.stamps_arrival).unwrap_or(sideband.stamp);
        let sideband = SidebandRow { stamp: arrival, ..sideband };
        let cells = self.target.beats(bytes.len() as u32);
        let asked = Asked { module: module_id, urgency: Urgency::of(sideband.egress_queue), cells };
        let (mut admitted, bank) = (Vec::new(), &mut self.bank);
        self.room.admit(&self.tables, (destinations, foreign), asked, |destination, queue, result| {
            let reason = result.err();
            match reason {
                None => admitted.push((destination, queue)),
                Some(reason) => bank.dropped_at_queue(queue, reason),
            }
            let (dropped, reason) = (reason.is_some(), reason.map_or(0, |reason| reason.code()));
            happened(RtlEvent {
                tick,
                what: What::Queue(QueueTraceRow { id, module_id, destination, dropped, reason }),
            });
        });
        let copies = admitted.len();
        for (i, (destination, queue)) in admitted.into_iter().enumerate() {
            self.room.give_back(queue, asked, i + 1 == copies);
            self.bank.left(queue, bytes.len());
            let length = bytes.len() as u16;
            happened(RtlEvent { tick, what: What::Leave(LeaveTraceRow { id, module_id, destination, length }) });
            let mut frame = Frame::new(vec![0; 16], sideband.tag_off);
            frame.replace(bytes);
            let is_port = u32::from(destination) < self.target.ports;
            let bytes = if is_port { frame.into_port(sideband.tci) } else { frame.into_host() };
            let sideband = SidebandRow { tag: tags[usize::from(destination)], ..sideband };
            happened(RtlEvent { tick, what: What::Left { destination, first, sideband, queue: None, bytes } });
        }
    }

    /// The answer to a message for a node that the top does not have.
    pub fn answer(&mut self, node: Node, asked: &Message) -> Vec<u32> {
        let table = Table::from_number(node, asked.table);
        let (op, status, data) = match (asked.op, table) {
            (Op::Read, None) => (Op::ReadReply, Status::BadAddress, Vec::new()),
            (Op::Read, Some(table)) => match self.read(node, table, asked.index) {
                Ok(words) => (Op::ReadReply, Status::Ok, words),
                Err(status) => (Op::ReadReply, status, Vec::new()),
            },
            (_, None) => (Op::WriteReply, Status::BadAddress, Vec::new()),
            (_, Some(table)) => (Op::WriteReply, self.tables.write(node, table, asked.index, &asked.data), Vec::new()),
        };
        Message { op, status, data, ..asked.clone() }.encode()
    }

    /// A whole message for a node that is in the top: what is there of the system node, the secret of flows, counts here too.
    pub fn hears(&mut self, node: Node, asked: &Message) {
        if let (Op::Write, Some(table @ Table::Control)) = (asked.op, Table::from_number(node, asked.table)) {
            // What is wrong with it is the top's answer.
            let _ = self.tables.write(node, table, asked.index, &asked.data);
        }
    }

    fn read(&self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, Status> {
        let is_frozen = index >> SNAPSHOT_INDEX_BIT & 1 == 1;
        let counted = |module: &u32| Reason::NoDestination.row(*module) == index & !(1 << SNAPSHOT_INDEX_BIT);
        if table == Reason::NoDestination.table() {
            let lost = (0..self.target.modules).find(counted);
            let lost = lost.and_then(|module| self.lost[usize::from(is_frozen)].get(&module)).copied().unwrap_or(0);
            return Ok(vec![lost as u32, (lost >> 32) as u32]);
        }
        let bank = if is_frozen { &self.frozen } else { &self.bank };
        match bank.value(node, table, index) {
            Ok(value) => Ok(vec![value as u32, (value >> 32) as u32]),
            Err(_) => self.tables.read(node, table, index),
        }
    }
}
