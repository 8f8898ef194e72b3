//! A packet's way through the data plane, from its port to where it leaves.

use super::lanes::{Clock, Lanes};
use super::out::Out;
use super::post::{Mail, Post};
use crate::bank::CounterBank;
use crate::forward;
use crate::queues::Queues;
use crate::tables::Tables;
use sluice_device::{Engines, Packet, Passed, Sent};
use sluice_formats::address::control;
use sluice_formats::limits::{SEQUENCE_MASK, TAG_BYTES, TICK_BITS, packet_id};
use sluice_formats::{Reason, Target};
use std::borrow::Cow;
use std::collections::HashMap;

/// Ticks of a stamp.
const TICK_MASK: u64 = (1 << TICK_BITS) - 1;
/// Bit of a packet's number from which on a worker numbers its own.
const WORKER_SHIFT: u32 = 22;
/// Packets that are kept to be used again.
const SPARE: usize = 1024;

/// A frame that has arrived.
#[derive(Debug)]
pub struct Arrived<'a> {
    /// Port.
    pub port: u8,
    /// Frame without FCS, tags in place.
    pub bytes: Cow<'a, [u8]>,
    /// The MAC marks it bad.
    pub bad: bool,
}

/// Tables, engines and queues of a worker of a data plane, and the packets in them.
#[derive(Debug)]
pub(super) struct Core {
    pub tables: Tables,
    pub bank: CounterBank,
    pub last_snapshot: CounterBank,
    /// Ticks since the reset.
    pub now: u64,
    pub queues: Queues,
    /// The other workers; none of one that is alone.
    pub post: Option<Post>,
    lanes: Lanes,
    /// Packets that an engine holds, by ID.
    held: HashMap<u32, Box<Packet>>,
    next_sequence: Vec<u32>,
    /// Packets that are used again, with their boxes.
    #[allow(clippy::vec_box, reason = "a packet moves by its pointer")]
    spare: Vec<Box<Packet>>,
}

impl Core {
    pub fn new(target: Target, engines: Engines) -> Self {
        let late = engines.is_behind().then(|| target.destinations() as u8 - 1);
        Self {
            tables: Tables::new(target, engines),
            bank: CounterBank::new(target),
            last_snapshot: CounterBank::new(target),
            now: 0,
            queues: Queues::new(target, late),
            post: None,
            lanes: Lanes::new(&target),
            held: HashMap::new(),
            next_sequence: vec![0; target.ports as usize],
            spare: Vec::new(),
        }
    }

    /// Numbers of packets begin elsewhere than at other workers that have queues of the same port; from 0 where its first queue is.
    pub fn number_apart(&mut self, worker: usize, workers: usize) {
        let others = self.next_sequence.iter_mut().enumerate().filter(|(port, _)| port % workers != worker);
        others.for_each(|(_, number)| *number = (worker as u32) << WORKER_SHIFT & SEQUENCE_MASK);
    }

    /// Time has come to this tick.
    pub fn elapse(&mut self, now: u64) {
        self.now = self.now.max(now);
        self.tables.engines_mut().elapse(self.now);
    }

    /// A frame has arrived: it is classified, and waits in its tenant's lane.
    pub fn arrive(&mut self, arrived: Arrived<'_>, out: &mut impl Out) {
        let Arrived { port, bytes, bad } = arrived;
        let sequence = &mut self.next_sequence[usize::from(port)];
        let id = packet_id(port, *sequence);
        *sequence = (*sequence + 1) & SEQUENCE_MASK;
        let classified = forward::classify(port, &bytes, bad, &self.tables);
        self.bank.arrived(port, classified.owner, bytes.len());
        let tag = |off: bool| if off { TAG_BYTES } else { 0 };
        let accepted = classified.result.and_then(|accepted| {
            if self.elsewhere(accepted.module).is_some() {
                return Ok(accepted);
            }
            self.lanes.room(accepted.module, bytes.len() - tag(accepted.tag_off)).map(|()| accepted)
        });
        let accepted = match accepted {
            Ok(accepted) => accepted,
            Err(reason) => {
                self.bank.dropped_at_port(port, classified.owner, reason);
                return out.refused(id, classified.owner, reason, self.now);
            }
        };
        let mut packet = self.spare.pop().unwrap_or_default();
        packet.begin(bytes, accepted.tag_off);
        (packet.id, packet.port, packet.module) = (id, port, accepted.module);
        (packet.tenant, packet.tci) = (accepted.tenant, accepted.tci);
        (packet.arrival, packet.first_in) = (self.now & TICK_MASK, self.now);
        match self.elsewhere(packet.module) {
            Some(home) => self.send_home(home, packet, out),
            None => self.lanes.push(packet),
        }
    }

    /// The worker that runs a module's packets, where it is another one.
    #[inline]
    fn elsewhere(&self, module: u8) -> Option<usize> {
        self.post.as_ref()?.elsewhere(module)
    }

    /// Gives a packet to the worker that runs its tenant.
    fn send_home(&mut self, home: usize, packet: Box<Packet>, out: &mut impl Out) {
        let Some(post) = &mut self.post else { return };
        if let Err(Mail::Packet(packet) | Mail::Copies(packet, _)) = post.send(home, Mail::Packet(packet)) {
            self.turn_away(packet, Reason::OverShare, out);
        }
    }

    /// Drops a packet that has not been stamped, at its port.
    fn turn_away(&mut self, packet: Box<Packet>, reason: Reason, out: &mut impl Out) {
        self.bank.dropped_at_port(packet.port, packet.module, reason);
        out.refused(packet.id, packet.module, reason, self.now);
        self.keep(packet);
    }

    /// Takes what other workers have sent; where sources wait, what finds no room in its lane does too. How many packets.
    pub fn collect(&mut self, out: &mut impl Out) -> usize {
        let Some(post) = &mut self.post else { return 0 };
        let patient = post.patient;
        let mut came = post.collect();
        let before = came.len();
        for _ in 0..before {
            let Some(mail) = came.pop_front() else { break };
            match mail {
                Mail::Packet(packet)
                    if patient && self.lanes.room(packet.module, packet.frame.bytes().len()).is_err() =>
                {
                    came.push_back(Mail::Packet(packet));
                }
                mail => self.take(mail, out),
            }
        }
        let taken = before - came.len();
        if let Some(post) = &mut self.post {
            post.leave(came);
        }
        taken
    }

    fn take(&mut self, mail: Mail, out: &mut impl Out) {
        if let Some(post) = &mut self.post {
            post.done(&mail);
        }
        match mail {
            Mail::Packet(packet) => match self.lanes.room(packet.module, packet.frame.bytes().len()) {
                Ok(()) => self.lanes.push(packet),
                Err(reason) => self.turn_away(packet, reason, out),
            },
            Mail::Copies(packet, destinations) => {
                let (module, stamped) = (packet.module, packet.stamped);
                let waits = self.queues.late().is_some_and(|to| destinations >> to & 1 == 1);
                if !self.admit(packet, destinations, out) && waits {
                    self.tables.leave_behind(module, stamped);
                }
                // At once, as behind the engines.
                self.drain(out);
            }
        }
    }

    /// Whether packets wait in lanes that may go on.
    pub fn has_work(&self) -> bool {
        !self.lanes.is_empty() && !self.is_stopped()
    }

    /// The host has stopped the entrance of the engines.
    fn is_stopped(&self) -> bool {
        self.tables.control(control::HOLD) & 1 == 1
    }

    /// Runs packets of the lanes, tenant by tenant by what their programs cost, until all or `most` are run or the clock says that it is
    /// time to look at the ports again. How many.
    pub fn serve(&mut self, clock: &mut impl Clock, most: usize, out: &mut impl Out) -> usize {
        let mut packets = 0;
        if self.is_stopped() {
            return 0;
        }
        let start = clock.now();
        let mut before = start;
        while packets < most
            && let Some(module) = self.lanes.next(|module| self.tables.quantum(module))
        {
            let burst = if self.tables.engines().may_run_long(module) { 1 } else { clock.burst() };
            for _ in 0..burst.min(most - packets) {
                let Some(packet) = self.lanes.pop(module) else { break };
                if let Some(home) = self.elsewhere(module) {
                    // It has come before the tenant had a home.
                    self.send_home(home, packet, out);
                    continue;
                }
                self.run(packet, out);
                // At once: what a queue may hold is for what its destination has no room for, not for a batch.
                self.drain(out);
                packets += 1;
            }
            let after = clock.now();
            self.lanes.charge(module, after - before);
            before = after;
            if clock.is_over(start, after) {
                break;
            }
        }
        packets
    }

    /// A packet's way through the engines into the queues.
    fn run(&mut self, mut packet: Box<Packet>, out: &mut impl Out) {
        packet.stamped = self.tables.enter(packet.module);
        packet.stamp = self.now & TICK_MASK;
        let length = packet.frame.bytes().len() as u32;
        packet.conform = forward::conforms(&mut self.tables, packet.module, self.now, length);
        let passed = self.tables.engines_mut().run(&mut packet);
        self.passed(packet, passed, out);
    }

    /// Puts what is for other workers into their boxes: which have got something, as a mask.
    pub fn flush(&mut self) -> u64 {
        self.post.as_mut().map_or(0, Post::flush)
    }

    /// Whether other workers have sent something that was not taken.
    pub fn has_mail(&self) -> bool {
        self.post.as_ref().is_some_and(Post::has_mail)
    }

    /// How many packets should arrive at most, so that all find room on their way home.
    pub fn room_to_arrive(&self) -> usize {
        self.post.as_ref().map_or(usize::MAX, Post::room_for_packets)
    }

    /// How many packets should be run at most, so that copies find room on their way to other workers.
    pub fn room_to_run(&self) -> usize {
        self.post.as_ref().map_or(usize::MAX, Post::room_for_copies)
    }

    /// Packets that an engine held and that go on by now.
    pub fn go_on(&mut self, out: &mut impl Out) {
        while !self.held.is_empty()
            && let Some(late) = self.tables.engines_mut().late(self.now)
        {
            let Some(mut packet) = self.held.remove(&late.id) else { continue };
            let passed = self.tables.engines_mut().go_on(late, &mut packet);
            self.passed(packet, passed, out);
        }
        self.drain(out);
    }

    /// The tick at which a held packet goes on.
    pub fn next_held(&self) -> Option<u64> {
        if self.held.is_empty() { None } else { self.tables.engines().next_event() }
    }

    /// It has been through the engines in line, or an engine holds it.
    pub fn passed(&mut self, packet: Box<Packet>, passed: Passed, out: &mut impl Out) {
        if passed == Passed::Held {
            self.held.insert(packet.id, packet);
            return;
        }
        let (module, stamped) = (packet.module, packet.stamped);
        // Behind its queue the engine there still reads rows for it.
        let late = self.queues.late();
        let mut waits = passed == Passed::Through && late.is_some_and(|to| packet.route.destinations >> to & 1 == 1);
        if let Passed::Dropped(reason) = passed {
            out.dropped(&packet, reason, None, self.now);
            self.keep(packet);
        } else {
            waits &= self.give_out(packet, out);
        }
        self.tables.leave_line(module, stamped);
        if !waits {
            self.tables.leave_behind(module, stamped);
        }
    }

    /// Puts a packet into the queues of its destinations, here and at other workers. Whether the engine behind a destination may still
    /// get it.
    fn give_out(&mut self, packet: Box<Packet>, out: &mut impl Out) -> bool {
        let destinations = packet.route.destinations;
        let Some(post) = &mut self.post else { return self.admit(packet, destinations, out) };
        let here = post.here(destinations);
        if here == destinations {
            return self.admit(packet, destinations, out);
        }
        let late = self.queues.late();
        let mut waits = false;
        for worker in 0..post.workers() {
            let Some(post) = &mut self.post else { break };
            let there = post.at(destinations & !here, worker);
            if there == 0 {
                continue;
            }
            match post.send(worker, Mail::Copies(packet.clone(), there)) {
                Ok(()) => waits |= late.is_some_and(|to| there >> to & 1 == 1),
                Err(_) => (0..8).filter(|d| there >> d & 1 == 1).for_each(|destination| {
                    self.bank.dropped_at_queue(self.queues.number(destination, packet.module), Reason::TailPackets);
                    out.dropped(&packet, Reason::TailPackets, Some(destination), self.now);
                }),
            }
        }
        match here {
            0 => self.keep(packet),
            _ => waits |= self.admit(packet, here, out),
        }
        waits
    }

    /// Puts a packet into queues of this worker. Whether the queue of the engine behind a destination has taken it.
    fn admit(&mut self, packet: Box<Packet>, destinations: u8, out: &mut impl Out) -> bool {
        let (late, now) = (self.queues.late(), self.now);
        let mut waits = late.is_some_and(|to| destinations >> to & 1 == 1);
        let bank = &mut self.bank;
        let refused = self.queues.admit(&self.tables, packet, destinations, |packet, to, queue, reason| {
            waits &= late != Some(to);
            bank.dropped_at_queue(queue, reason);
            out.dropped(packet, reason, Some(to), now);
        });
        if let Err(packet) = refused {
            self.keep(packet);
        }
        waits
    }

    /// Lets copies leave where there is room.
    pub fn drain(&mut self, out: &mut impl Out) {
        let mut ready = self.queues.ready();
        while ready != 0 {
            let destination = ready.trailing_zeros() as u8;
            ready &= ready - 1;
            for _ in 0..out.room(destination) {
                let Some((chosen, _)) = self.queues.choose(destination, &self.tables) else { break };
                let Some((packet, queue)) = self.queues.release(destination, chosen) else { continue };
                let steps = self.leave(packet, (destination, queue), out);
                self.queues.charge_late(destination, chosen.asked, steps);
            }
        }
    }

    /// A copy leaves its queue; steps of the engine behind it.
    fn leave(&mut self, mut packet: Box<Packet>, (destination, queue): (u8, usize), out: &mut impl Out) -> u32 {
        self.bank.left(queue, packet.frame.bytes().len());
        let mut steps = 0;
        let mut sent = Sent::Delivered;
        if self.queues.late() == Some(destination) {
            sent = self.tables.engines_mut().dispatch(&mut packet);
            self.tables.leave_behind(packet.module, packet.stamped);
            steps = self.tables.engines().cost();
        }
        match sent {
            Sent::Delivered => out.left(&mut packet, destination, self.now),
            Sent::Dropped(reason) => out.dropped(&packet, reason, None, self.now),
            Sent::Consumed(ring) => out.consumed(&packet, ring, self.now),
        }
        self.keep(packet);
        steps
    }

    /// A packet that nobody needs is used again.
    fn keep(&mut self, packet: Box<Packet>) {
        if self.spare.len() < SPARE {
            self.spare.push(packet);
        }
    }

    /// Packets of a module that are at this worker.
    pub fn in_flight(&self, module: u8) -> u64 {
        let held = self.held.values().filter(|packet| packet.module == module).count() as u64;
        self.queues.packets_of(module) + self.lanes.packets_of(module) + held
    }

    /// Packets of a module's generation that were stamped here and not given back here: over all workers together it is those under way.
    pub fn under_way(&self, module: u8, generation: u8) -> u32 {
        self.tables.generation(module).in_flight[usize::from(generation & 1)]
    }

    /// Nothing is at this worker but packets behind blocked destinations and, where the entrance is stopped, those before it.
    pub fn is_idle(&self) -> bool {
        self.held.is_empty() && self.queues.ready() == 0 && self.lanes.is_empty()
    }
}

#[cfg(test)]
#[path = "core_tests.rs"]
mod tests;
