//! The software NIC: the device `model`.
//!
//! Time is explicit and in ticks. A frame takes one tick a beat on its port, the merge one
//! tick a beat of the frame without its tag, the buffer is read as [`Options::service`] says.
//! Stamps, cycles of first and last beats and the order between queues are this NIC's own;
//! what becomes of each packet is that of docs/design/nic.md.

mod egress;
mod ingress;
mod options;
mod reader;

pub use options::{Options, Service};

use crate::bank::CounterBank;
use crate::ends::{self, consumed, dropped};
use crate::loads::{Alone, Loads, Progress};
use crate::readback::Readback;
use crate::tables::Tables;
use crate::{engines, forward};
use egress::Egress;
use ingress::{Arrival, Ports, Size};

use sluice_device::device::{check_destination, check_engines, check_load, check_offer};
use sluice_device::{
    Capabilities, Counters, Device, DeviceError, Engines, Event, Frame, Maps, Offer, OpId, Packet, Passed, Rings,
    Route, Sent, Stamped, Waited, stop,
};
use sluice_formats::address::control;
use sluice_formats::limits::{SEQUENCE_MASK, TICK_BITS, TICK_PS, packet_id};
use sluice_formats::{Node, Table, Target};
use sluice_object::Load;
use std::collections::{BTreeMap, HashMap, VecDeque};

const TICK_MASK: u64 = (1 << TICK_BITS) - 1;

/// A NIC in software, on captures and on live interfaces.
#[derive(Debug)]
pub struct SoftwareNic {
    capabilities: Capabilities,
    options: Options,
    tables: Tables,
    bank: CounterBank,
    last_snapshot: CounterBank,
    now: u64,
    next_sequence: Vec<u32>,
    ports: Ports<Box<Packet>>,
    merge_free_at: u64,
    pipeline: VecDeque<(u64, Box<Packet>)>,
    /// Packets that an engine holds, by ID.
    held: HashMap<u32, Box<Packet>>,
    egress: Egress,
    loads: Loads,
    events: VecDeque<Event>,
}

impl SoftwareNic {
    /// A NIC after reset, with default options.
    pub fn new(target: Target) -> Self {
        Self::with_options(target, Options::default())
    }

    /// A NIC after reset.
    pub fn with_options(target: Target, options: Options) -> Self {
        Self::with_engines(target, options, engines::all(&target))
    }

    /// A smaller NIC, with some of the engines.
    pub fn having(target: Target, models: engines::Models) -> Self {
        Self::with_engines(target, Options::default(), engines::these(models, &target))
    }

    /// The same with engines that are given, in the order in which a packet meets them.
    pub fn with_engines(target: Target, options: Options, engines: Engines) -> Self {
        let ids = engines.ids();
        let late = engines.is_behind().then(|| target.destinations() as u8 - 1);
        Self {
            capabilities: Capabilities {
                kind: "model",
                target,
                tick_ps: TICK_PS,
                has_cycles: false,
                engines: ids,
                queues: true,
                xdp_in_hardware: false,
            },
            options,
            tables: Tables::new(target, engines).taking(options.shortest_frame),
            bank: CounterBank::new(target),
            last_snapshot: CounterBank::new(target),
            now: 0,
            next_sequence: vec![0; target.ports as usize],
            ports: Ports::new(target),
            merge_free_at: 0,
            pipeline: VecDeque::new(),
            held: HashMap::new(),
            egress: Egress::new(target, options.service, late),
            loads: Loads::default(),
            events: VecDeque::new(),
        }
    }

    /// The configuration as packets see it now.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The same, of a NIC that has done its work.
    pub fn into_tables(self) -> Tables {
        self.tables
    }

    fn target(&self) -> &Target {
        &self.capabilities.target
    }

    /// Everything that is due at the present tick.
    fn tick(&mut self) {
        if self.tables.engines().next_behind().is_some_and(|due| due <= self.now) {
            self.elapse();
        }
        if self.egress.is_due(self.now) {
            self.elapse();
            self.finish_outputs();
        }
        if self.ports.next_event().is_some_and(|due| due <= self.now) {
            self.take_arrivals();
        }
        self.give_verdicts();
        self.step_loads();
        self.merge();
        self.egress.start(self.now, &self.tables);
    }

    /// Lets the engine behind the last host queue know the time, before what it does next and before whatever asks it.
    fn elapse(&mut self) {
        self.tables.engines_mut().elapse(self.now);
    }

    fn take_arrivals(&mut self) {
        for port in 0..self.target().ports as u8 {
            while let Some((first_in, arrival)) = self.ports.arrived(port, self.now) {
                self.arrive(port, first_in, arrival);
            }
        }
    }

    fn arrive(&mut self, port: u8, first_in: u64, arrival: Arrival) {
        let sequence = &mut self.next_sequence[usize::from(port)];
        let id = packet_id(port, *sequence);
        *sequence = (*sequence + 1) & SEQUENCE_MASK;
        let classified = forward::classify(port, &arrival.bytes, arrival.bad, &self.tables);
        self.bank.arrived(port, classified.owner, arrival.bytes.len());
        let result = classified.result.and_then(|accepted| {
            let frame_bytes =
                arrival.bytes.len() - if accepted.tag_off { sluice_formats::limits::TAG_BYTES } else { 0 };
            let (target, bytes) = (*self.target(), frame_bytes as u32);
            let share = self.tables.share_mut(port, accepted.module);
            let size = Size { beats: target.beats(bytes), cost: share.cost(bytes, &target) };
            if self.options.limit_port_fifos {
                let beyond = share.is_beyond(self.now, size.cost);
                self.ports.room(port, size, beyond.then(|| self.tables.excess(port)))?;
            }
            Ok((accepted, size))
        });
        match result {
            Ok((accepted, size)) => {
                let packet = Box::new(Packet {
                    id,
                    port,
                    module: accepted.module,
                    stamped: Stamped::default(),
                    tenant: accepted.tenant,
                    tci: accepted.tci,
                    conform: true,
                    arrival: self.now & TICK_MASK,
                    stamp: 0,
                    first_in,
                    frame: Frame::new(arrival.bytes, accepted.tag_off),
                    route: Route::default(),
                    given: Vec::new(),
                });
                self.ports.store(port, size, packet);
            }
            Err(reason) => {
                self.bank.dropped_at_port(port, classified.owner, reason);
                self.events.push_back(ends::refused(id, classified.owner, reason, first_in, self.now));
            }
        }
    }

    fn merge(&mut self) {
        if self.merge_free_at > self.now || self.tables.control(control::HOLD) & 1 == 1 {
            return;
        }
        let Some((beats, mut packet)) = self.ports.take() else { return };
        packet.stamped = self.tables.enter(packet.module);
        packet.stamp = self.now & TICK_MASK;
        let length = packet.frame.bytes().len() as u32;
        packet.conform = forward::conforms(&mut self.tables, packet.module, self.now, length);
        self.merge_free_at = self.now + u64::from(beats);
        self.pipeline.push_back((self.now + self.options.pipeline_ticks.max(1), packet));
    }

    fn give_verdicts(&mut self) {
        while !self.held.is_empty()
            && let Some(late) = self.tables.engines_mut().late(self.now)
        {
            let Some(mut packet) = self.held.remove(&late.id) else { continue };
            let passed = self.tables.engines_mut().go_on(late, &mut packet);
            self.passed(packet, passed);
        }
        while self.pipeline.front().is_some_and(|(due, _)| *due <= self.now) {
            let Some((_, mut packet)) = self.pipeline.pop_front() else { return };
            let passed = self.tables.engines_mut().run(&mut packet);
            self.passed(packet, passed);
        }
    }

    /// A packet has left the engines, or is held by one.
    #[inline]
    fn passed(&mut self, packet: Box<Packet>, passed: Passed) {
        if passed == Passed::Held {
            self.held.insert(packet.id, packet);
            return;
        }
        let (module, stamped) = (packet.module, packet.stamped);
        // Behind its queue the engine there still reads rows for it.
        let behind = self.behind();
        let goes_there = |to: u8| behind == Some(to);
        let mut waits = passed == Passed::Through && behind.is_some_and(|to| packet.route.destinations >> to & 1 == 1);
        match passed {
            Passed::Dropped(reason) => self.events.push_back(dropped(&packet, reason, None, self.now)),
            _ => {
                let (bank, events, now) = (&mut self.bank, &mut self.events, self.now);
                let destinations = packet.route.destinations;
                self.egress.admit(&self.tables, packet, destinations, |packet, to, queue, reason| {
                    waits &= !goes_there(to);
                    bank.dropped_at_queue(queue, reason);
                    events.push_back(dropped(packet, reason, Some(to), now));
                });
            }
        }
        self.tables.leave_line(module, stamped);
        if !waits {
            self.tables.leave_behind(module, stamped);
        }
    }

    /// The destination that an engine stands behind.
    #[inline]
    fn behind(&self) -> Option<u8> {
        self.egress.queues.late()
    }

    fn finish_outputs(&mut self) {
        let (ports, behind, now) = (self.capabilities.target.ports, self.behind(), self.now);
        let (bank, events, tables) = (&mut self.bank, &mut self.events, &mut self.tables);
        self.egress.finish(now, |mut left| {
            bank.left(left.queue, left.packet.frame.bytes().len());
            let mut steps = 0;
            if behind == Some(left.destination) {
                let sent = tables.engines_mut().dispatch(&mut left.packet);
                tables.leave_behind(left.packet.module, left.packet.stamped);
                steps = tables.engines().cost();
                let ended = match sent {
                    Sent::Delivered => None,
                    Sent::Dropped(reason) => Some(dropped(&left.packet, reason, None, now)),
                    Sent::Consumed(ring) => Some(consumed(&left.packet, ring, (left.first_out, left.last_out))),
                };
                if let Some(ended) = ended {
                    events.push_back(ended);
                    return steps;
                }
            }
            let times = (left.first_out, left.last_out);
            events.push_back(ends::left(*left.packet, left.destination, ports, times));
            steps
        });
    }

    fn step_loads(&mut self) {
        if self.loads.is_empty() {
            return;
        }
        loop {
            let is_inside = |module| is_inside(&self.ports, &self.pipeline, &self.held, &self.egress, module);
            let nic = &mut Alone { tables: &mut self.tables, is_inside };
            match self.loads.step(self.now, self.options.step_ticks, nic) {
                Progress::Waits => return,
                Progress::Stepped { snapshot: true } => self.last_snapshot = self.bank.clone(),
                Progress::Stepped { snapshot: false } => {}
                Progress::Ended(op, result) => self.events.push_back(Event::OpDone { op, result }),
            }
        }
    }

    /// The next tick at which anything happens; none when nothing would ever happen.
    fn next_event(&self) -> Option<u64> {
        let held = self.tables.control(control::HOLD) & 1 == 1;
        let merge = (self.ports.has_stored() && !held).then_some(self.merge_free_at);
        let mut next: Option<u64> = None;
        let mut at = |due: Option<u64>| next = next.map_or(due, |next| Some(due.map_or(next, |due| due.min(next))));
        at(self.ports.next_event());
        at(merge);
        at(self.pipeline.front().map(|(due, _)| *due));
        if !self.held.is_empty() {
            at(self.tables.engines().next_event());
        }
        at(self.egress.next_event(self.now));
        at(self.tables.engines().next_behind());
        if !self.loads.is_empty() {
            let is_inside = |module| is_inside(&self.ports, &self.pipeline, &self.held, &self.egress, module);
            at(self.loads.next_event(&self.tables, is_inside));
        }
        // What is due already is done in the next tick, which the last one of all does not have.
        next.map(|t| t.max(self.now.saturating_add(1))).filter(|t| *t > self.now)
    }

    fn is_idle(&self) -> bool {
        self.ports.next_event().is_none()
            && !self.ports.has_stored()
            && self.pipeline.is_empty()
            && self.held.is_empty()
            && self.egress.is_idle()
            && self.loads.is_empty()
    }
}

/// Ticks with an event between two looks at whether work is to end.
const STOP_LOOKS: u32 = 64;

fn look_at_stop(looks: &mut u32) -> Result<(), DeviceError> {
    *looks = looks.wrapping_add(1);
    if looks.is_multiple_of(STOP_LOOKS) { stop::check() } else { Ok(()) }
}

/// Packets that are in the device and have no verdict yet.
fn before_queues<'a>(
    ports: &'a Ports<Box<Packet>>,
    pipeline: &'a VecDeque<(u64, Box<Packet>)>,
    held: &'a HashMap<u32, Box<Packet>>,
) -> impl Iterator<Item = &'a Packet> {
    ports.stored().chain(pipeline.iter().map(|(_, packet)| packet)).chain(held.values()).map(|packet| &**packet)
}

/// Whether any packet of the module is in the device: stored at a port, on its way, held, in a queue.
fn is_inside(
    ports: &Ports<Box<Packet>>,
    pipeline: &VecDeque<(u64, Box<Packet>)>,
    held: &HashMap<u32, Box<Packet>>,
    egress: &Egress,
    module: u8,
) -> bool {
    egress.queues.packets_of(module) != 0 || before_queues(ports, pipeline, held).any(|packet| packet.module == module)
}

impl Device for SoftwareNic {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn submit(&mut self, load: &Load) -> Result<OpId, DeviceError> {
        check_load(load, self.target())?;
        check_engines(load, &self.capabilities)?;
        Ok(self.loads.push(load.clone(), self.now))
    }

    fn offer(&mut self, packets: &[Offer]) -> Result<(), DeviceError> {
        self.offer_owned(packets.to_vec())
    }

    fn offer_owned(&mut self, packets: Vec<Offer>) -> Result<(), DeviceError> {
        check_offer(&packets, self.target())?;
        for Offer { port, bytes, at, bad } in packets {
            self.ports.offer(port, Arrival { bytes, at: at.max(self.now), bad });
        }
        Ok(())
    }

    fn now(&self) -> u64 {
        self.now
    }

    fn advance(&mut self, ticks: u64) -> Result<(), DeviceError> {
        let end = self.now.saturating_add(ticks);
        self.tick();
        let mut looks = 0_u32;
        while self.now < end {
            look_at_stop(&mut looks)?;
            self.now = self.next_event().map_or(end, |t| t.min(end));
            self.tick();
        }
        Ok(())
    }

    fn poll(&mut self, max: usize) -> Vec<Event> {
        let count = max.min(self.events.len());
        self.events.drain(..count).collect()
    }

    fn set_blocked(&mut self, destination: u8, blocked: bool) -> Result<(), DeviceError> {
        check_destination(destination, self.target())?;
        self.egress.queues.set_blocked(destination, blocked);
        Ok(())
    }

    fn quiesce(&mut self) -> Result<(), DeviceError> {
        let start = self.now;
        let mut looks = 0;
        loop {
            self.tick();
            if self.is_idle() {
                return Ok(());
            }
            look_at_stop(&mut looks)?;
            match self.next_event() {
                Some(next) => self.now = next,
                None => {
                    let what = match self.loads.label() {
                        Some(label) => Waited::Load(label.to_owned()),
                        None => Waited::HeldMerge,
                    };
                    return Err(DeviceError::Timeout { what, ticks: self.now - start });
                }
            }
        }
    }

    fn counters(&mut self) -> Result<Counters, DeviceError> {
        let mut in_flight: BTreeMap<u8, u64> = BTreeMap::new();
        for packet in before_queues(&self.ports, &self.pipeline, &self.held) {
            *in_flight.entry(packet.module).or_default() += 1;
        }
        for module in 0..self.target().modules as u8 {
            *in_flight.entry(module).or_default() += self.egress.queues.packets_of(module);
        }
        Ok(Counters { tick: self.now, modules: self.bank.modules(&in_flight, self.tables.engines()), wedges: 0 })
    }

    fn read_row(&mut self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, DeviceError> {
        let Self { capabilities, tables, bank, last_snapshot, now, .. } = &*self;
        Readback { capabilities, tables, bank, last_snapshot, now: *now }.row(node, table, index)
    }

    fn rings(&mut self) -> Result<&mut dyn Rings, DeviceError> {
        let device = self.capabilities.kind;
        self.tables.engines_mut().rings().ok_or(DeviceError::NoRings { device })
    }

    fn maps(&mut self) -> Result<&mut dyn Maps, DeviceError> {
        let device = self.capabilities.kind;
        self.tables.engines_mut().maps().ok_or(DeviceError::NoMaps { device })
    }
}
