//! The model behind the queues of a device that is followed.
//!
//! Packets come to the message table in the order in which they left the last host queue; decisions come in any order. What is of time is the
//! device's to tell: when an entry is given back, whether a descriptor had been fetched, when a write is in memory, when a message
//! is given up.

use crate::device::L7Engine;
use crate::engine::{Fate, Outcome};
use crate::receive::{Arrived, Delivery, Ended, Member, Whose, Write};
use crate::table::Place;
use sluice_device::{Decided, Engine, Followed, Packet, Sent};
use sluice_formats::l7::codes::L7RingEvent;
use sluice_formats::l7::rows::{L7CompletionRow, L7ForgetTraceRow, L7RingRow, L7RingTraceRow, L7TraceRow};
use sluice_formats::l7::target::{COMPLETION_BYTES, EXPIRY_TICK_CYCLES};
use sluice_formats::row::words_of_bytes;
use sluice_formats::{Reason, Row};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Cycles after a packet's decision in which its message may still count as one on its way.
const HEARD: u64 = 256;
/// Cycles that a message may be given up later than a pass over all entries needs, and than its last packet is told.
const LATE: u64 = 4096;

/// A packet that has left the last host queue and is not decided.
#[derive(Debug)]
struct Came {
    module: u8,
    generation: bool,
    frame: Vec<u8>,
    /// Once it has come to the message table.
    arrived: Option<Arrived>,
}

/// What the model knows of a device's engine beside its rows and messages.
#[derive(Debug, Default)]
pub struct Following {
    packets: HashMap<u32, Came>,
    /// Those that have not come to the message table, in their order.
    coming: VecDeque<u32>,
    /// Entries that were given back, by how many searches before it.
    forgets: VecDeque<L7ForgetTraceRow>,
    /// Writes into buffers that are on their way.
    writes: Vec<Write>,
    /// Messages that have ended and have no completion yet.
    ended: Vec<Ended>,
    /// Descriptors that were taken, and by whom is not known yet.
    started: VecDeque<(u8, u32)>,
    /// When messages of modules were told to be finished, the last ones: the table takes some cycles to hear of it.
    finished: VecDeque<(u64, u8)>,
    /// Of each ring: how many completions are there without a gap, and those behind it.
    there: BTreeMap<u8, (u64, BTreeSet<u64>)>,
}

impl Following {
    /// A row of a ring was written: its completions begin anew.
    pub(crate) fn opened(&mut self, ring: u8) {
        self.there.remove(&ring);
    }
}

impl L7Engine {
    /// Packets up to this one have come to the message table.
    fn arrive_to(&mut self, id: u32) -> Result<Arrived, String> {
        loop {
            let Some(came) = self.following.packets.get(&id) else { return Err("no such packet".into()) };
            if let Some(arrived) = came.arrived {
                return Ok(arrived);
            }
            let next = self.following.coming.pop_front().ok_or("no packet is on its way")?;
            let searches = self.engine.searches;
            while let Some(row) = self.following.forgets.pop_front_if(|row| row.searches <= searches) {
                self.engine.table.forget(Place(row.place.into()));
            }
            let Some(came) = self.following.packets.get_mut(&next).filter(|came| came.arrived.is_none()) else {
                continue;
            };
            let tables = &self.tables;
            let arrived = self.engine.arrive(&came.frame, came.module, came.generation, |job| job.run(tables));
            came.arrived = Some(arrived);
        }
    }

    /// A message that the model has let in had no room in the device's table: only right where that may have been full.
    fn no_state(&mut self, arrived: Arrived, module: u8, tick: u64) -> Result<Arrived, String> {
        let Some((Member::Begins(place), _)) = arrived.member else { return Ok(arrived) };
        let following = &self.following;
        let undecided = following.packets.values().filter(|came| came.arrived.is_some());
        let heard = following.finished.iter().filter(|(at, _)| *at + HEARD >= tick).map(|(_, module)| *module);
        let late: Vec<u8> = undecided.map(|came| came.module).chain(heard).collect();
        let own = late.iter().filter(|other| **other == module).count();
        if !self.engine.table.may_be_full(place, (own, late.len())) {
            return Err("its message has room in the table".into());
        }
        self.engine.table.forget(place);
        self.host.receive.forget(place);
        let outcome = Outcome { fate: Fate::Dropped(Reason::L7NoState), fault: false };
        Ok(Arrived { outcome, member: None })
    }

    /// A message is given up, told at this tick.
    fn given_up(&mut self, place: Place, tick: u64) -> Result<(), String> {
        let Some((ended, last, expiry)) = self.host.receive.expire(place) else {
            return Err(format!("the message of {place:?} may not be given up"));
        };
        let (waited, expiry) = (tick - last, u64::from(expiry) * EXPIRY_TICK_CYCLES);
        let pass = (2 + 4 * self.engine.table.entries() as u64) * EXPIRY_TICK_CYCLES;
        if waited + LATE <= expiry || waited >= expiry + pass + LATE {
            return Err(format!("it has waited {waited} cycles, {expiry} to {} are right", expiry + pass));
        }
        self.engine.table.hold(place, false);
        self.following.ended.extend(ended);
        Ok(())
    }

    fn completed(&mut self, ring: u8, row: L7RingRow, address: u64, bytes: &[u8]) -> Result<(), String> {
        let found = L7CompletionRow::unpack(&words_of_bytes(bytes)).map_err(|error| error.to_string())?;
        let size = 1u64 << row.log_size;
        let place = (address - row.completions) / COMPLETION_BYTES as u64;
        let (there, written) = self.following.there.entry(ring).or_default();
        let number = *there + (place + size - *there % size) % size;
        if !written.insert(number) {
            return Err(format!("completion {number} of ring {ring} is there already"));
        }
        while written.remove(there) {
            *there += 1;
        }
        let phase = number >> row.log_size & 1 == 0;
        let is_it = |e: &Ended| e.ring == ring && L7CompletionRow { phase, ..e.completion } == found;
        match self.following.ended.iter().position(is_it) {
            Some(at) => drop(self.following.ended.swap_remove(at)),
            None => return Err(format!("ring {ring}: nobody ended with {found:?}, but {:?}", self.following.ended)),
        }
        self.host.completed(ring);
        Ok(())
    }
}

impl Followed for L7Engine {
    fn came(&mut self, packet: &Packet) {
        let (module, generation) = (packet.module, packet.stamped.generation == 1);
        let frame = packet.frame.bytes().to_vec();
        // What does not search for an entry is known at once, and told before what came earlier and searches.
        let arrived = if self.engine.searches_for(&frame, module, generation) {
            self.following.coming.push_back(packet.id);
            None
        } else {
            let tables = &self.tables;
            Some(self.engine.arrive(&frame, module, generation, |job| job.run(tables)))
        };
        self.following.packets.insert(packet.id, Came { module, generation, frame, arrived });
    }

    fn decided(&mut self, row: &L7TraceRow, tick: u64) -> Result<Decided, String> {
        let arrived = self.arrive_to(row.id)?;
        let Came { module, frame, .. } = self.following.packets.remove(&row.id).ok_or("no such packet")?;
        let told = |reason: Reason| row.dropped && u32::from(row.kind) == reason.kind();
        let no_descriptor = told(Reason::L7NoDescriptor);
        let arrived = if told(Reason::L7NoState) { self.no_state(arrived, module, tick)? } else { arrived };
        let finished = &mut self.following.finished;
        while finished.pop_front_if(|(at, _)| *at + HEARD < tick).is_some() {}
        finished.push_back((tick, module));
        // A message without a buffer was given up; that is told later.
        match arrived.member {
            Some((Member::Later(place), _)) if told(Reason::L7NoFirst) && self.host.receive.is_live(place) => {
                self.given_up(place, tick)?;
            }
            _ => {}
        }
        let (delivery, effects) = self.host.receive.take(&arrived, &frame, !no_descriptor, tick);
        let expected = L7TraceRow { id: row.id, module_id: module, fault: arrived.outcome.fault, ..delivery.traced() };
        // Of what is not dropped the kind says nothing.
        let found = L7TraceRow { kind: if row.dropped { row.kind } else { 0 }, ..*row };
        if found != expected {
            return Err(format!("{expected:?} of {arrived:?}, {:02x?}", &frame[..frame.len().min(72)]));
        }
        if let Some((ring, cookie)) = effects.started {
            let at = self.following.started.iter().position(|(other, _)| *other == ring);
            let told = at.and_then(|at| self.following.started.remove(at));
            if told != Some((ring, cookie)) {
                return Err(format!(
                    "ring {ring}: the message takes the buffer with cookie {cookie}, told is {told:?}"
                ));
            }
        }
        if let Some((Member::Begins(place), _)) = arrived.member {
            self.engine.table.hold(place, matches!(delivery, Delivery::Consumed(_)));
        }
        self.following.writes.extend(effects.write);
        if let (Some(ended), Some((Member::Later(place), _))) = (effects.ended, arrived.member) {
            self.engine.table.hold(place, false);
            self.following.ended.push(ended);
        }
        if let Delivery::Dropped(reason) | Delivery::Left(Fate::Dropped(reason)) = delivery {
            self.count(module, reason);
        }
        self.count_decided(module, delivery, arrived.outcome.fault, frame.len());
        let (sent, queue) = match delivery {
            Delivery::Left(Fate::Frame) => (Sent::Delivered, None),
            Delivery::Left(Fate::Queue(queue)) => (Sent::Delivered, Some(queue)),
            Delivery::Consumed(ring) => (Sent::Consumed(ring), None),
            Delivery::Dropped(reason) | Delivery::Left(Fate::Dropped(reason)) => (Sent::Dropped(reason), None),
        };
        Ok(Decided { sent, queue })
    }

    fn ring_event(&mut self, row: &L7RingTraceRow, tick: u64) -> Result<(), String> {
        let event = L7RingEvent::from_code(row.kind).ok_or_else(|| format!("no event {}", row.kind))?;
        match event {
            L7RingEvent::Started => self.following.started.push_back((row.ring, row.cookie)),
            L7RingEvent::Expired => {
                let place = self.host.receive.find(row.ring, row.cookie);
                self.given_up(place.ok_or("no message has this buffer")?, tick)?;
            }
            L7RingEvent::Whole | L7RingEvent::NoDescriptor => {}
        }
        self.host.count(row.ring, event);
        Ok(())
    }

    fn forgot(&mut self, row: &L7ForgetTraceRow, tick: u64) -> Result<(), String> {
        let place = Place(row.place.into());
        if self.host.receive.is_live(place) {
            self.given_up(place, tick)?;
        }
        self.following.forgets.push_back(*row);
        Ok(())
    }

    fn host_wrote(&mut self, address: u64, bytes: &[u8]) {
        self.host.memory.write(address, bytes);
    }

    fn wrote(&mut self, address: u64, bytes: &[u8]) -> Result<(), String> {
        self.host.memory.write(address, bytes);
        if let Some(at) = self.following.writes.iter().position(|write| write.address == address) {
            let write = self.following.writes.swap_remove(at);
            if write.bytes != bytes {
                return Err(format!("{} bytes: {:02x?}", write.bytes.len(), write.bytes));
            }
            let ended = self.host.receive.written(write.whose);
            if let (Some(_), Whose::Entry(place)) = (&ended, write.whose) {
                self.engine.table.hold(place, false);
            }
            self.following.ended.extend(ended);
            return Ok(());
        }
        let is_in = |row: &L7RingRow| {
            let bytes = (COMPLETION_BYTES as u64) << row.log_size;
            (row.completions..row.completions + bytes).contains(&address)
        };
        let ring = self.host.receive.rings.iter().find(|(_, ring)| is_in(&ring.row));
        let Some((number, row)) = ring.map(|(number, ring)| (*number, ring.row)) else {
            return Err("nobody has a buffer or a completion there".into());
        };
        self.completed(number, row, address, bytes)
    }
}
