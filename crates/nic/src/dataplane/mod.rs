//! The data plane: a NIC in software that runs each packet from its port to where it leaves, at once.
//!
//! It has the tables, engines, classification, queues, counters and loads of the model ([`crate::software`]), and not its time: a packet
//! takes no ticks, ports have no FIFOs and copies no read port. What becomes of each packet is the same; when it does, and in which order
//! packets of different tenants leave, is not (docs/decisions/data-plane.md).
//!
//! As a [`Device`] it plays captures: the clock is what the caller advances, a packet costs nothing, and nothing depends on the machine.

mod core;
mod lanes;
mod live;
mod out;

use self::core::{Arrived, Core};
use crate::engines::{self, Models};
use crate::readback::Readback;
use lanes::Counted;
use out::Events;
use sluice_device::device::{check_destination, check_engines, check_load, check_offer};
use sluice_device::{
    Capabilities, Counters, Device, DeviceError, Engines, Event, Maps, Offer, OpId, Rings, Waited, stop,
};
use sluice_formats::limits::TICK_PS;
use sluice_formats::{Node, Table, Target};
use sluice_object::Load;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

/// Its name as a device.
pub const KIND: &str = "dataplane";
/// Packets between two looks at whether work is to end.
const STOP_LOOKS: u32 = 64;

/// A NIC in software that keeps up with interfaces.
#[derive(Debug)]
pub struct DataPlane {
    capabilities: Capabilities,
    core: Core,
    /// Packets that were offered and have not arrived, in the order offered.
    offers: VecDeque<Offer>,
    events: VecDeque<Event>,
}

impl DataPlane {
    /// A NIC after reset, with all engines.
    pub fn new(target: Target) -> Self {
        Self::having(target, engines::ALL)
    }

    /// A NIC after reset, with some of the engines.
    pub fn having(target: Target, models: Models) -> Self {
        Self::with_engines(target, engines::compiled(models, &target))
    }

    /// The same with XDP programs interpreted.
    pub fn interpreted(target: Target, models: Models) -> Self {
        Self::with_engines(target, engines::these(models, &target))
    }

    fn with_engines(target: Target, engines: Engines) -> Self {
        Self {
            capabilities: Capabilities {
                kind: KIND,
                target,
                tick_ps: TICK_PS,
                has_cycles: false,
                engines: engines.ids(),
                queues: true,
                xdp_in_hardware: false,
            },
            core: Core::new(target, engines),
            offers: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    fn target(&self) -> &Target {
        &self.capabilities.target
    }

    /// Lets everything happen that does by `end`, of loads and of packets.
    fn run_to(&mut self, end: u64) -> Result<(), DeviceError> {
        let mut looks = 0_u32;
        loop {
            self.settle();
            let offered = self.offers.front().map(|offer| offer.at);
            let next = offered.into_iter().chain(self.core.next_held()).min();
            let Some(at) = next.filter(|at| *at <= end) else { break };
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(STOP_LOOKS) {
                stop::check()?;
            }
            self.core.elapse(at);
            if offered.is_some_and(|offered| offered <= self.core.now)
                && let Some(Offer { port, bytes, bad, .. }) = self.offers.pop_front()
            {
                let mut out = Events { events: &mut self.events, ports: self.capabilities.target.ports };
                self.core.arrive(Arrived { port, bytes: Cow::Owned(bytes), bad }, &mut out);
            }
        }
        Ok(())
    }

    /// Does what can be done at the present tick.
    fn settle(&mut self) {
        let Self { core, events, capabilities, .. } = self;
        let mut out = Events { events, ports: capabilities.target.ports };
        loop {
            core.go_on(&mut out);
            core.serve(&mut Counted::default(), &mut out);
            let more = core.step_loads(|op, result| out.events.push_back(Event::OpDone { op, result }));
            if !more && !core.has_work() {
                return;
            }
        }
    }
}

impl Device for DataPlane {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn submit(&mut self, load: &Load) -> Result<OpId, DeviceError> {
        check_load(load, self.target())?;
        check_engines(load, &self.capabilities)?;
        Ok(self.core.submit(load.clone()))
    }

    fn offer(&mut self, packets: &[Offer]) -> Result<(), DeviceError> {
        self.offer_owned(packets.to_vec())
    }

    fn offer_owned(&mut self, packets: Vec<Offer>) -> Result<(), DeviceError> {
        check_offer(&packets, self.target())?;
        self.offers.extend(packets);
        Ok(())
    }

    fn now(&self) -> u64 {
        self.core.now
    }

    fn advance(&mut self, ticks: u64) -> Result<(), DeviceError> {
        let end = self.core.now.saturating_add(ticks);
        self.run_to(end)?;
        self.core.elapse(end);
        Ok(())
    }

    fn poll(&mut self, max: usize) -> Vec<Event> {
        let count = max.min(self.events.len());
        self.events.drain(..count).collect()
    }

    fn set_blocked(&mut self, destination: u8, blocked: bool) -> Result<(), DeviceError> {
        check_destination(destination, self.target())?;
        self.core.queues.set_blocked(destination, blocked);
        Ok(())
    }

    fn quiesce(&mut self) -> Result<(), DeviceError> {
        self.run_to(u64::MAX)?;
        if self.core.is_idle() {
            return Ok(());
        }
        let what = match self.core.loading() {
            Some(label) => Waited::Load(label.to_owned()),
            None => Waited::HeldMerge,
        };
        Err(DeviceError::Timeout { what, ticks: 0 })
    }

    fn counters(&mut self) -> Result<Counters, DeviceError> {
        let in_flight: BTreeMap<u8, u64> =
            (0..self.target().modules as u8).map(|module| (module, self.core.in_flight(module))).collect();
        let modules = self.core.bank.modules(&in_flight, self.core.tables.engines());
        Ok(Counters { tick: self.core.now, modules, wedges: 0 })
    }

    fn read_row(&mut self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, DeviceError> {
        let Core { tables, bank, last_snapshot, now, .. } = &self.core;
        Readback { capabilities: &self.capabilities, tables, bank, last_snapshot, now: *now }.row(node, table, index)
    }

    fn rings(&mut self) -> Result<&mut dyn Rings, DeviceError> {
        self.core.tables.engines_mut().rings().ok_or(DeviceError::NoRings { device: KIND })
    }

    fn maps(&mut self) -> Result<&mut dyn Maps, DeviceError> {
        self.core.tables.engines_mut().maps().ok_or(DeviceError::NoMaps { device: KIND })
    }
}
