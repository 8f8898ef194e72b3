//! A packet's way through the data plane, from its port to where it leaves.

use super::lanes::{Clock, Lanes};
use super::out::Out;
use crate::bank::CounterBank;
use crate::forward;
use crate::loads::{Loads, Progress};
use crate::queues::Queues;
use crate::tables::Tables;
use sluice_device::{DeviceError, Engines, OpId, Packet, Passed, Sent};
use sluice_formats::Target;
use sluice_formats::address::control;
use sluice_formats::limits::{SEQUENCE_MASK, TAG_BYTES, TICK_BITS, packet_id};
use sluice_object::Load;
use std::borrow::Cow;
use std::collections::HashMap;

/// Ticks of a stamp.
const TICK_MASK: u64 = (1 << TICK_BITS) - 1;
/// Steps of loads between two packets at most: a load of many rows does not keep packets waiting.
const STEPS: usize = 256;
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

/// Tables, engines and queues of a data plane, and the packets in them.
#[derive(Debug)]
pub(super) struct Core {
    pub tables: Tables,
    pub bank: CounterBank,
    pub last_snapshot: CounterBank,
    /// Ticks since the reset.
    pub now: u64,
    pub queues: Queues,
    loads: Loads,
    /// Steps of loads that were looked at: their time, for here they take none.
    steps: u64,
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
            loads: Loads::default(),
            steps: 0,
            lanes: Lanes::new(&target),
            held: HashMap::new(),
            next_sequence: vec![0; target.ports as usize],
            spare: Vec::new(),
        }
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
        self.lanes.push(packet);
    }

    /// Whether packets wait in lanes that may go on.
    pub fn has_work(&self) -> bool {
        !self.lanes.is_empty() && !self.is_stopped()
    }

    /// The host has stopped the entrance of the engines.
    fn is_stopped(&self) -> bool {
        self.tables.control(control::HOLD) & 1 == 1
    }

    /// Runs packets of the lanes, tenant by tenant by what their programs cost, until all are run or the clock says that it is time
    /// to look at the ports again. How many.
    pub fn serve(&mut self, clock: &mut impl Clock, out: &mut impl Out) -> usize {
        let mut packets = 0;
        if self.is_stopped() {
            return 0;
        }
        let start = clock.now();
        let mut before = start;
        while let Some(module) = self.lanes.next(|module| self.tables.quantum(module)) {
            let most = if self.tables.engines().may_run_long(module) { 1 } else { clock.burst() };
            for _ in 0..most {
                let Some(packet) = self.lanes.pop(module) else { break };
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

    fn passed(&mut self, packet: Box<Packet>, passed: Passed, out: &mut impl Out) {
        if passed == Passed::Held {
            self.held.insert(packet.id, packet);
            return;
        }
        let (module, stamped, now) = (packet.module, packet.stamped, self.now);
        // Behind its queue the engine there still reads rows for it.
        let late = self.queues.late();
        let mut waits = passed == Passed::Through && late.is_some_and(|to| packet.route.destinations >> to & 1 == 1);
        if let Passed::Dropped(reason) = passed {
            out.dropped(&packet, reason, None, now);
            self.keep(packet);
        } else {
            let (bank, destinations) = (&mut self.bank, packet.route.destinations);
            let refused = self.queues.admit(&self.tables, packet, destinations, |packet, to, queue, reason| {
                waits &= late != Some(to);
                bank.dropped_at_queue(queue, reason);
                out.dropped(packet, reason, Some(to), now);
            });
            if let Err(packet) = refused {
                self.keep(packet);
            }
        }
        self.tables.leave_line(module, stamped);
        if !waits {
            self.tables.leave_behind(module, stamped);
        }
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

    /// Takes a load.
    pub fn submit(&mut self, load: Load) -> OpId {
        self.loads.push(load, self.steps)
    }

    /// The label of the load that has been under way for longest.
    pub fn loading(&self) -> Option<&str> {
        self.loads.label()
    }

    /// Does steps of loads that can be done now; `ended` gets what has ended. Whether there may be more.
    pub fn step_loads(&mut self, mut ended: impl FnMut(OpId, Result<(), DeviceError>)) -> bool {
        for _ in 0..STEPS {
            if self.loads.is_empty() {
                return false;
            }
            let (lanes, held, queues) = (&self.lanes, &self.held, &self.queues);
            let is_inside = |module| inside(lanes, held, queues, module) > 0;
            self.steps += 1;
            match self.loads.step(self.steps, 1, &mut self.tables, is_inside) {
                Progress::Waits => return false,
                Progress::Stepped { snapshot: true } => self.last_snapshot = self.bank.clone(),
                Progress::Stepped { snapshot: false } => {}
                Progress::Ended(op, result) => ended(op, result),
            }
        }
        true
    }

    /// Packets of a module that are in the device.
    pub fn in_flight(&self, module: u8) -> u64 {
        inside(&self.lanes, &self.held, &self.queues, module)
    }

    /// Nothing is inside but packets behind blocked destinations and, where the entrance is stopped, those before it.
    pub fn is_idle(&self) -> bool {
        self.held.is_empty() && self.queues.ready() == 0 && self.lanes.is_empty() && self.loads.is_empty()
    }
}

/// Packets of a module in lanes, held by an engine, and in queues.
fn inside(lanes: &Lanes, held: &HashMap<u32, Box<Packet>>, queues: &Queues, module: u8) -> u64 {
    let held = held.values().filter(|packet| packet.module == module).count() as u64;
    queues.packets_of(module) + lanes.packets_of(module) + held
}

#[cfg(test)]
#[path = "core_tests.rs"]
mod tests;
