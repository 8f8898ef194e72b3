//! Queues, shared buffer and schedulers of the software NIC.

use super::options::Service;
use crate::drr::Drr;
use crate::forward;
use crate::room::{Asked, Room, Urgency};
use crate::tables::Tables;
use sluice_device::Packet;
use sluice_formats::{Reason, Target};
use std::collections::VecDeque;

/// A copy that has left its queue.
#[derive(Debug)]
pub(super) struct Left {
    pub packet: Packet,
    pub destination: u8,
    pub queue: usize,
    pub first_out: u64,
    pub last_out: u64,
}

#[derive(Debug)]
struct Stored {
    packet: Packet,
    copies: u32,
}

#[derive(Clone, Copy, Debug)]
struct Reading {
    destination: u8,
    asked: Asked,
    slot: u32,
    from: u64,
    until: u64,
}

#[derive(Debug)]
pub(super) struct Egress {
    target: Target,
    service: Service,
    pub room: Room,
    slots: Vec<Option<Stored>>,
    free_slots: Vec<u32>,
    /// Each with the low queue first.
    queues: Vec<[VecDeque<u32>; 2]>,
    active: Vec<u64>,
    schedulers: Vec<Drr>,
    blocked: u8,
    /// One reader for all destinations, or one each.
    readers: Vec<Option<Reading>>,
    next_destination: u32,
    waiting: u32,
}

impl Egress {
    pub fn new(target: Target, service: Service) -> Self {
        let destinations = target.destinations() as usize;
        let readers = match service {
            Service::Shared => 1,
            Service::PerDestination { .. } => destinations,
        };
        Self {
            target,
            service,
            room: Room::new(&target),
            slots: Vec::new(),
            free_slots: Vec::new(),
            queues: vec![Default::default(); destinations * target.modules as usize],
            active: vec![0; destinations],
            schedulers: (0..destinations).map(|_| Drr::new(target.modules as usize)).collect(),
            blocked: 0,
            readers: vec![None; readers],
            next_destination: 0,
            waiting: 0,
        }
    }

    /// Admits a packet to the queues of `destinations`; `dropped` gets each tail drop. Gives the
    /// packet back when no queue took it.
    pub fn admit(
        &mut self,
        tables: &Tables,
        packet: Packet,
        destinations: u8,
        mut dropped: impl FnMut(&Packet, u8, usize, Reason),
    ) {
        let cells = self.target.beats(packet.frame.bytes().len() as u32);
        let module = packet.module;
        let asked = Asked { module, urgency: Urgency::of(packet.route.queue), cells };
        let tci = packet.frame.tag_off().then_some(packet.tci);
        let foreign = forward::foreign(tables, destinations, module, tci, packet.frame.bytes());
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        let (queues, active) = (&mut self.queues, &mut self.active);
        let mut copies = 0;
        self.room.admit(tables, (destinations, foreign), asked, |destination, queue, result| match result {
            Ok(()) => {
                copies += 1;
                queues[queue][asked.urgency as usize].push_back(slot);
                active[usize::from(destination)] |= 1 << module;
            }
            Err(reason) => dropped(&packet, destination, queue, reason),
        });
        if copies == 0 {
            self.free_slots.push(slot);
            return;
        }
        self.waiting += copies;
        self.slots[slot as usize] = Some(Stored { packet, copies });
    }

    pub fn set_blocked(&mut self, destination: u8, blocked: bool) {
        let bit = 1 << destination;
        self.blocked = if blocked { self.blocked | bit } else { self.blocked & !bit };
    }

    /// Lets free readers choose their next packets.
    pub fn start(&mut self, now: u64, tables: &Tables) {
        if self.waiting == 0 {
            return;
        }
        for reader in 0..self.readers.len() {
            if self.readers[reader].is_some() {
                continue;
            }
            let destination = match self.service {
                Service::Shared => self.next_ready_destination(),
                Service::PerDestination { .. } => Some(reader as u8).filter(|d| self.ready(*d)),
            };
            if let Some(destination) = destination {
                self.readers[reader] = self.choose(destination, now, tables);
            }
        }
    }

    fn ready(&self, destination: u8) -> bool {
        self.active[usize::from(destination)] != 0 && self.blocked >> destination & 1 == 0
    }

    fn next_ready_destination(&mut self) -> Option<u8> {
        let destinations = self.target.destinations();
        for i in 0..destinations {
            let destination = (self.next_destination + i) % destinations;
            if self.ready(destination as u8) {
                self.next_destination = destination + 1;
                return Some(destination as u8);
            }
        }
        None
    }

    /// Takes the packet that is next at a ready destination out of its queue: the turn is the module's, its high queue
    /// goes first.
    fn choose(&mut self, destination: u8, now: u64, tables: &Tables) -> Option<Reading> {
        let d = usize::from(destination);
        let module = self.schedulers[d].next(self.active[d], |m| tables.quantum(m as u8))? as u8;
        let [low, high] = &mut self.queues[self.room.queue(destination, module)];
        let urgency = if high.is_empty() { Urgency::Low } else { Urgency::High };
        let slot = if high.is_empty() { low.pop_front() } else { high.pop_front() }?;
        let empty = low.is_empty() && high.is_empty();
        if empty {
            self.active[d] &= !(1 << module);
        }
        let length = self.slots[slot as usize].as_ref()?.packet.frame.bytes().len() as u32;
        self.schedulers[d].charge(usize::from(module), length, empty);
        let ticks = match self.service {
            Service::Shared => self.target.beats(length),
            Service::PerDestination { bytes_per_tick } => length.div_ceil(bytes_per_tick.max(1)).max(1),
        };
        let asked = Asked { module, urgency, cells: self.target.beats(length) };
        Some(Reading { destination, asked, slot, from: now, until: now + u64::from(ticks) })
    }

    /// Copies whose last beat has been read by now.
    pub fn finish(&mut self, now: u64, mut left: impl FnMut(Left)) {
        for reader in 0..self.readers.len() {
            let Some(reading) = self.readers[reader].filter(|r| r.until <= now) else { continue };
            self.readers[reader] = None;
            let queue = self.room.queue(reading.destination, reading.asked.module);
            let slot = &mut self.slots[reading.slot as usize];
            let Some(stored) = slot.as_mut() else { continue };
            stored.copies -= 1;
            let last = stored.copies == 0;
            let packet = if last { slot.take().map(|s| s.packet) } else { Some(stored.packet.clone()) };
            if last {
                self.free_slots.push(reading.slot);
            }
            self.room.give_back(queue, reading.asked, last);
            self.waiting -= 1;
            let (destination, first_out, last_out) = (reading.destination, reading.from, reading.until - 1);
            if let Some(packet) = packet {
                left(Left { packet, destination, queue, first_out, last_out });
            }
        }
    }

    /// When the next reader ends, or may begin.
    pub fn next_event(&self, now: u64) -> Option<u64> {
        let ends = self.readers.iter().flatten().map(|r| r.until).min();
        let idle = match self.service {
            Service::Shared => {
                self.readers[0].is_none() && (0..self.target.destinations()).any(|d| self.ready(d as u8))
            }
            Service::PerDestination { .. } => {
                (0..self.readers.len()).any(|d| self.readers[d].is_none() && self.ready(d as u8))
            }
        };
        if idle { Some(now + 1) } else { ends }
    }

    /// Nothing is read, and only blocked destinations hold packets.
    pub fn is_idle(&self) -> bool {
        self.waiting == 0
            || (self.readers.iter().all(Option::is_none)
                && (0..self.target.destinations()).all(|d| !self.ready(d as u8)))
    }
}
