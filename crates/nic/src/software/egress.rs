//! Queues, shared buffer and schedulers of the software NIC.

use super::options::Service;
use super::reader::Reader;
use crate::drr::Drr;
use crate::forward::{self, Leaving};
use crate::room::{Asked, Room, Urgency};
use crate::tables::Tables;
use sluice_device::Packet;
use sluice_formats::l7::target::STEPS_A_TURN;
use sluice_formats::{Reason, Target};
use std::collections::VecDeque;

/// A copy that has left its queue.
#[derive(Debug)]
pub(super) struct Left {
    pub packet: Box<Packet>,
    pub destination: u8,
    pub queue: usize,
    pub first_out: u64,
    pub last_out: u64,
}

#[derive(Debug)]
struct Stored {
    packet: Box<Packet>,
    copies: u32,
}

/// A copy that is read.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    asked: Asked,
    slot: u32,
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
    /// Destinations with a packet in any of their queues.
    ready: u8,
    schedulers: Vec<Drr>,
    blocked: u8,
    /// The destination whose packets are charged by the engine behind it.
    pub late: Option<u8>,
    reader: Reader<Chosen>,
    waiting: u32,
}

impl Egress {
    /// `late`: the destination that an engine stands behind.
    pub fn new(target: Target, service: Service, late: Option<u8>) -> Self {
        let destinations = target.destinations() as usize;
        Self {
            target,
            service,
            room: Room::new(&target),
            slots: Vec::new(),
            free_slots: Vec::new(),
            queues: vec![Default::default(); destinations * target.modules as usize],
            active: vec![0; destinations],
            ready: 0,
            schedulers: (0..destinations).map(|_| Drr::new(target.modules as usize)).collect(),
            blocked: 0,
            late,
            reader: Reader::new(service, target.ports, target.hosts),
            waiting: 0,
        }
    }

    /// Admits a packet to the queues of `destinations`; `dropped` gets each tail drop. Gives the
    /// packet back when no queue took it.
    pub fn admit(
        &mut self,
        tables: &Tables,
        packet: Box<Packet>,
        destinations: u8,
        mut dropped: impl FnMut(&Packet, u8, usize, Reason),
    ) {
        let cells = self.target.beats(packet.frame.bytes().len() as u32);
        let module = packet.module;
        let asked = Asked { module, urgency: Urgency::of(packet.route.queue), cells };
        let leaving = Leaving { module, tci: packet.tci, tag_off: packet.frame.tag_off() };
        let foreign = forward::foreign(tables, destinations, leaving, packet.frame.bytes());
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        let (queues, active, ready) = (&mut self.queues, &mut self.active, &mut self.ready);
        let mut copies = 0;
        self.room.admit(tables, (destinations, foreign), asked, |destination, queue, result| match result {
            Ok(()) => {
                copies += 1;
                queues[queue][asked.urgency as usize].push_back(slot);
                active[usize::from(destination)] |= 1 << module;
                *ready |= 1 << destination;
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

    /// Lets destinations of which nothing is read choose their next packets.
    pub fn start(&mut self, now: u64, tables: &Tables) {
        let mut free = self.ready & !self.blocked & !self.reader.busy();
        if free == 0 {
            return;
        }
        self.reader.read_to(now);
        while free != 0 {
            self.choose(free.trailing_zeros() as u8, tables);
            free &= free - 1;
        }
    }

    /// Whether the last beat of a copy has been read by now.
    pub fn is_due(&self, now: u64) -> bool {
        self.reader.next_end().is_some_and(|end| end <= now)
    }

    /// Takes the packet that is next at a ready destination out of its queue: the turn is the module's, its high queue
    /// goes first.
    fn choose(&mut self, destination: u8, tables: &Tables) -> Option<()> {
        let d = usize::from(destination);
        let late = self.late == Some(destination);
        let quantum = |m: usize| match late {
            true => STEPS_A_TURN * u32::from(tables.engines().weight(m as u8)),
            false => tables.quantum(m as u8),
        };
        let module = self.schedulers[d].next(self.active[d], quantum)? as u8;
        let [low, high] = &mut self.queues[self.room.queue(destination, module)];
        let urgency = if high.is_empty() { Urgency::Low } else { Urgency::High };
        let slot = if high.is_empty() { low.pop_front() } else { high.pop_front() }?;
        let empty = low.is_empty() && high.is_empty();
        if empty {
            self.active[d] &= !(1 << module);
            self.ready &= !(u8::from(self.active[d] == 0) << d);
        }
        let length = self.slots[slot as usize].as_ref()?.packet.frame.bytes().len() as u32;
        let cells = self.target.beats(length);
        self.schedulers[d].charge(usize::from(module), if late { 0 } else { cells * self.target.bus_bytes }, empty);
        let ticks = match self.service {
            Service::Shared => cells,
            Service::PerDestination { bytes_per_tick } => length.div_ceil(bytes_per_tick.max(1)).max(1),
        };
        let asked = Asked { module, urgency, cells };
        self.reader.begin(d, Chosen { asked, slot }, ticks);
        Some(())
    }

    /// Copies whose last beat has been read by now. `left` says what one for the engine behind its destination has cost there in steps;
    /// its beats count where they are more.
    pub fn finish(&mut self, now: u64, mut left: impl FnMut(Left) -> u32) {
        self.reader.read_to(now);
        while let Some((destination, read)) = self.reader.take() {
            let destination = destination as u8;
            let Chosen { asked, slot: number } = read.copy;
            let queue = self.room.queue(destination, asked.module);
            let slot = &mut self.slots[number as usize];
            let Some(stored) = slot.as_mut() else { continue };
            stored.copies -= 1;
            let last = stored.copies == 0;
            let packet = if last { slot.take().map(|s| s.packet) } else { Some(stored.packet.clone()) };
            if last {
                self.free_slots.push(number);
            }
            self.room.give_back(queue, asked, last);
            self.waiting -= 1;
            let (first_out, last_out) = (read.first, read.last);
            if let Some(packet) = packet {
                let cost = left(Left { packet, destination, queue, first_out, last_out }).max(asked.cells);
                if self.late == Some(destination) {
                    self.schedulers[usize::from(destination)].charge(asked.module.into(), cost, false);
                }
            }
        }
    }

    /// When the next copy has been read, or one may begin.
    pub fn next_event(&self, now: u64) -> Option<u64> {
        if self.waiting == 0 {
            return None;
        }
        if self.ready & !self.blocked & !self.reader.busy() != 0 { Some(now + 1) } else { self.reader.next_end() }
    }

    /// Nothing is read, and only blocked destinations hold packets.
    pub fn is_idle(&self) -> bool {
        self.waiting == 0 || (self.reader.is_idle() && self.ready & !self.blocked == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines;
    use sluice_device::{Frame, Route, Stamped};
    use sluice_formats::limits::MAX_FRAME_BYTES;
    use sluice_formats::target::DEFAULT;
    use sluice_formats::{Node, Table};

    fn packet(id: u32, module: u8, bytes: u32) -> Packet {
        Packet {
            id,
            port: 0,
            module,
            tenant: module.into(),
            tci: 0,
            stamped: Stamped::default(),
            arrival: 0,
            stamp: 0,
            first_in: 0,
            conform: true,
            frame: Frame::new(vec![0; bytes as usize], false),
            route: Route::default(),
            given: Vec::new(),
        }
    }

    /// A destination that had to wait for whole packets of the others got a packet in 1,009 ticks, and its queue ran full.
    #[test]
    fn a_destination_gets_its_beats_however_long_the_packets_of_the_others_are() {
        let target = DEFAULT;
        let mut tables = Tables::new(target, engines::all(&target));
        (0..target.destinations() * target.modules).for_each(|queue| {
            tables.write(Node::Egress, Table::Limit, queue, &[target.cells]);
        });
        // The packets have no tags, and nobody has untagged frames.
        (1..=2).for_each(|module| {
            tables.write(Node::Egress, Table::Vids, module, &[1]);
        });
        let mut egress = Egress::new(target, Service::Shared, None);
        let none = |_: &Packet, _, _, reason| panic!("{reason:?}");
        for id in 0..3 {
            egress.admit(&tables, packet(id, 2, MAX_FRAME_BYTES).into(), 0b1111_1110, none);
        }
        (3..13).for_each(|id| egress.admit(&tables, packet(id, 1, 65).into(), 1, none));
        let (mut short, mut all) = (Vec::new(), 0);
        let mut now = 0;
        while !egress.is_idle() {
            egress.finish(now, |left| {
                all += target.beats(left.packet.frame.bytes().len() as u32);
                assert!(left.first_out <= left.last_out && left.last_out < now);
                if left.destination == 0 {
                    short.push((left.packet.id, left.last_out));
                }
                0
            });
            egress.start(now, &tables);
            now = egress.next_event(now).unwrap_or(now + 1);
        }
        // A port has every fourth tick but one in sixteen, whatever the seven others read.
        assert_eq!(short.iter().map(|(id, _)| *id).collect::<Vec<_>>(), (3..13).collect::<Vec<u32>>());
        for (n, (_, last)) in (1..).zip(&short) {
            assert!(*last <= (2 * n * 64_u64).div_ceil(15) + 1, "packet {n}: {short:?}");
        }
        assert_eq!(u64::from(all) + 1, now, "a beat each tick");
    }
}
