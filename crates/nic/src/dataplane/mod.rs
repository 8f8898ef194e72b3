//! The data plane: a NIC in software that runs each packet from its port to where it leaves, at once.
//!
//! It has the tables, engines, classification, queues, counters and loads of the model ([`crate::software`]), and not its time: a packet
//! takes no ticks, ports have no FIFOs and copies no read port. What becomes of each packet is the same; when it does, and in which order
//! packets of different tenants leave, is not (docs/decisions/data-plane.md).
//!
//! As a [`Device`] it plays captures: the clock is what the caller advances, a packet costs nothing, and nothing depends on the machine.

mod all;
mod bell;
mod core;
mod lanes;
mod live;
mod maps;
mod out;
mod post;
mod threads;
mod worker;

use self::core::Arrived;
use crate::engines::{self, Models};
use crate::loads::Loads;
use all::All;
pub(crate) use bell::Bell;
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
use std::collections::VecDeque;

/// Its name as a device.
pub const KIND: &str = "dataplane";
/// Packets between two looks at whether work is to end.
const STOP_LOOKS: u32 = 64;

/// Most workers of a data plane.
pub const MOST_WORKERS: usize = 64;

/// A NIC in software that keeps up with interfaces.
#[derive(Debug)]
pub struct DataPlane {
    capabilities: Capabilities,
    all: All,
    loads: Loads,
    /// Steps of loads that were looked at: their time, for here they take none.
    steps: u64,
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
        Self::with_workers(target, models, 1)
    }

    /// The same with several workers, 1 to [`MOST_WORKERS`]: a worker receives from the ports and sends to the destinations whose number
    /// modulo the workers is its own.
    pub fn with_workers(target: Target, models: Models, workers: usize) -> Self {
        Self::with_engines(target, workers, || engines::compiled(models, &target))
    }

    /// The same with XDP programs interpreted.
    pub fn interpreted(target: Target, models: Models, workers: usize) -> Self {
        Self::with_engines(target, workers, || engines::these(models, &target))
    }

    fn with_engines(target: Target, workers: usize, engines: impl Fn() -> Engines) -> Self {
        let all = All::new(target, workers.clamp(1, MOST_WORKERS), engines);
        Self {
            capabilities: Capabilities {
                kind: KIND,
                target,
                tick_ps: TICK_PS,
                has_cycles: false,
                engines: all.cores[0].tables.engines().ids(),
                queues: true,
                xdp_in_hardware: false,
            },
            all,
            loads: Loads::default(),
            steps: 0,
            offers: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    fn target(&self) -> &Target {
        &self.capabilities.target
    }

    /// Workers.
    pub fn workers(&self) -> usize {
        self.all.cores.len()
    }

    /// Time has come to this tick.
    fn elapse(&mut self, now: u64) {
        self.all.cores.iter_mut().for_each(|core| core.elapse(now));
    }

    /// Does steps of loads that can be done now. Whether there may be more.
    fn step_loads(&mut self) -> bool {
        let Self { all, loads, steps, events, .. } = self;
        all.step_loads((loads, steps), |op, result| events.push_back(Event::OpDone { op, result }))
    }

    /// Lets everything happen that does by `end`, of loads and of packets.
    fn run_to(&mut self, end: u64) -> Result<(), DeviceError> {
        let mut looks = 0_u32;
        loop {
            self.settle();
            let offered = self.offers.front().map(|offer| offer.at);
            let held = self.all.cores.iter().filter_map(|core| core.next_held());
            let next = offered.into_iter().chain(held).min();
            let Some(at) = next.filter(|at| *at <= end) else { break };
            looks = looks.wrapping_add(1);
            if looks.is_multiple_of(STOP_LOOKS) {
                stop::check()?;
            }
            self.elapse(at);
            if offered.is_some_and(|offered| offered <= self.now())
                && let Some(Offer { port, bytes, bad, .. }) = self.offers.pop_front()
            {
                let mut out = Events { events: &mut self.events, ports: self.capabilities.target.ports };
                let workers = self.all.cores.len();
                let core = &mut self.all.cores[usize::from(port) % workers];
                core.arrive(Arrived { port, bytes: Cow::Owned(bytes), bad }, &mut out);
            }
        }
        Ok(())
    }

    /// Does what can be done at the present tick.
    fn settle(&mut self) {
        loop {
            let mut more = false;
            let mut out = Events { events: &mut self.events, ports: self.capabilities.target.ports };
            for core in &mut self.all.cores {
                core.collect(&mut out);
                core.go_on(&mut out);
                core.serve(&mut Counted::default(), usize::MAX, &mut out);
                more |= core.flush() != 0;
            }
            more |= self.step_loads();
            if !more && !self.all.cores.iter().any(|core| core.has_work()) {
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
        self.all.check(load)?;
        Ok(self.loads.push(load.clone(), self.steps))
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
        self.all.cores[0].now
    }

    fn advance(&mut self, ticks: u64) -> Result<(), DeviceError> {
        let end = self.now().saturating_add(ticks);
        self.run_to(end)?;
        self.elapse(end);
        Ok(())
    }

    fn poll(&mut self, max: usize) -> Vec<Event> {
        let count = max.min(self.events.len());
        self.events.drain(..count).collect()
    }

    fn set_blocked(&mut self, destination: u8, blocked: bool) -> Result<(), DeviceError> {
        check_destination(destination, self.target())?;
        self.all.cores.iter_mut().for_each(|core| core.queues.set_blocked(destination, blocked));
        Ok(())
    }

    fn quiesce(&mut self) -> Result<(), DeviceError> {
        self.run_to(u64::MAX)?;
        if self.all.is_idle() && self.loads.is_empty() {
            return Ok(());
        }
        let what = match self.loads.label() {
            Some(label) => Waited::Load(label.to_owned()),
            None => Waited::HeldMerge,
        };
        Err(DeviceError::Timeout { what, ticks: 0 })
    }

    fn counters(&mut self) -> Result<Counters, DeviceError> {
        Ok(Counters { tick: self.now(), modules: self.all.counters(), wedges: 0 })
    }

    fn read_row(&mut self, node: Node, table: Table, index: u32) -> Result<Vec<u32>, DeviceError> {
        self.all.row(&self.capabilities, (node, table, index))
    }

    fn rings(&mut self) -> Result<&mut dyn Rings, DeviceError> {
        // Message dispatch stands behind the last destination.
        let last = self.target().destinations() as usize - 1;
        let worker = last % self.workers();
        self.all.cores[worker].tables.engines_mut().rings().ok_or(DeviceError::NoRings { device: KIND })
    }

    fn maps(&mut self) -> Result<&mut dyn Maps, DeviceError> {
        let has = self.all.cores[0].tables.engines_mut().maps().is_some();
        if has { Ok(&mut self.all) } else { Err(DeviceError::NoMaps { device: KIND }) }
    }
}
