//! The queues of the destinations and their schedulers, above one buffer.
//!
//! The model reads them beat by beat ([`crate::software`]), the data plane packet by packet ([`crate::dataplane`]).

use crate::drr::Drr;
use crate::forward::{self, Leaving};
use crate::room::{Asked, Room, Urgency};
use crate::tables::Tables;
use sluice_device::Packet;
use sluice_formats::l7::target::STEPS_A_TURN;
use sluice_formats::{Reason, Target};
use std::collections::VecDeque;

#[derive(Debug)]
struct Stored {
    packet: Box<Packet>,
    copies: u32,
}

/// A copy that was taken out of its queue: its room is in use until [`Queues::release`].
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// What it takes.
    pub asked: Asked,
    slot: u32,
}

/// A module's two queues at each destination, each packet once in the buffer for all its copies.
#[derive(Debug)]
pub struct Queues {
    target: Target,
    room: Room,
    slots: Vec<Option<Stored>>,
    free_slots: Vec<u32>,
    /// Each with the low queue first.
    queues: Vec<[VecDeque<u32>; 2]>,
    active: Vec<u64>,
    /// Destinations with a packet in any of their queues.
    waiting: u8,
    schedulers: Vec<Drr>,
    blocked: u8,
    /// The destination whose packets are charged by the engine behind it.
    late: Option<u8>,
}

impl Queues {
    /// Empty queues. `late`: the destination that an engine stands behind.
    pub fn new(target: Target, late: Option<u8>) -> Self {
        let destinations = target.destinations() as usize;
        Self {
            target,
            room: Room::new(&target),
            slots: Vec::new(),
            free_slots: Vec::new(),
            queues: vec![Default::default(); destinations * target.modules as usize],
            active: vec![0; destinations],
            waiting: 0,
            schedulers: (0..destinations).map(|_| Drr::new(target.modules as usize)).collect(),
            blocked: 0,
            late,
        }
    }

    /// The destination whose packets are charged by the engine behind it.
    #[inline]
    pub fn late(&self) -> Option<u8> {
        self.late
    }

    /// Number of a module's two queues at a destination.
    pub fn number(&self, destination: u8, module: u8) -> usize {
        self.room.queue(destination, module)
    }

    /// Packets of a module over all its queues, with those that were chosen and not released.
    pub fn packets_of(&self, module: u8) -> u64 {
        self.room.packets_of(module)
    }

    /// Admits a packet to the queues of `destinations`; `dropped` gets each tail drop. How many queues took it; the
    /// packet where none did.
    pub fn admit(
        &mut self,
        tables: &Tables,
        packet: Box<Packet>,
        destinations: u8,
        mut dropped: impl FnMut(&Packet, u8, usize, Reason),
    ) -> Result<u32, Box<Packet>> {
        let cells = self.target.beats(packet.frame.bytes().len() as u32);
        let module = packet.module;
        let asked = Asked { module, urgency: Urgency::of(packet.route.queue), cells };
        let leaving = Leaving { module, tci: packet.tci, tag_off: packet.frame.tag_off() };
        let foreign = forward::foreign(tables, destinations, leaving, packet.frame.bytes());
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(None);
            (self.slots.len() - 1) as u32
        });
        let (queues, active, waiting) = (&mut self.queues, &mut self.active, &mut self.waiting);
        let mut copies = 0;
        self.room.admit(tables, (destinations, foreign), asked, |destination, queue, result| match result {
            Ok(()) => {
                copies += 1;
                queues[queue][asked.urgency as usize].push_back(slot);
                active[usize::from(destination)] |= 1 << module;
                *waiting |= 1 << destination;
            }
            Err(reason) => dropped(&packet, destination, queue, reason),
        });
        if copies == 0 {
            self.free_slots.push(slot);
            return Err(packet);
        }
        self.slots[slot as usize] = Some(Stored { packet, copies });
        Ok(copies)
    }

    /// Stops (true) or lets flow a destination.
    pub fn set_blocked(&mut self, destination: u8, blocked: bool) {
        let bit = 1 << destination;
        self.blocked = if blocked { self.blocked | bit } else { self.blocked & !bit };
    }

    /// Destinations with a packet that may be chosen.
    #[inline]
    pub fn ready(&self) -> u8 {
        self.waiting & !self.blocked
    }

    /// Takes the packet that is next at a ready destination out of its queue: the turn is the module's, its high queue
    /// goes first. With its bytes.
    pub fn choose(&mut self, destination: u8, tables: &Tables) -> Option<(Chosen, u32)> {
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
            self.waiting &= !(u8::from(self.active[d] == 0) << d);
        }
        let length = self.slots[slot as usize].as_ref()?.packet.frame.bytes().len() as u32;
        let cells = self.target.beats(length);
        self.schedulers[d].charge(usize::from(module), if late { 0 } else { cells * self.target.bus_bytes }, empty);
        Some((Chosen { asked: Asked { module, urgency, cells }, slot }, length))
    }

    /// Gives back the room of a copy, and the copy with the number of its queue.
    pub fn release(&mut self, destination: u8, chosen: Chosen) -> Option<(Box<Packet>, usize)> {
        let Chosen { asked, slot: number } = chosen;
        let queue = self.room.queue(destination, asked.module);
        let slot = &mut self.slots[number as usize];
        let stored = slot.as_mut()?;
        stored.copies -= 1;
        let last = stored.copies == 0;
        let packet = if last { slot.take().map(|s| s.packet) } else { Some(stored.packet.clone()) };
        if last {
            self.free_slots.push(number);
        }
        self.room.give_back(queue, asked, last);
        packet.map(|packet| (packet, queue))
    }

    /// Charges what a copy has cost the engine behind its destination, in steps; its cells count where they are more.
    pub fn charge_late(&mut self, destination: u8, asked: Asked, steps: u32) {
        if self.late == Some(destination) {
            self.schedulers[usize::from(destination)].charge(asked.module.into(), steps.max(asked.cells), false);
        }
    }
}
