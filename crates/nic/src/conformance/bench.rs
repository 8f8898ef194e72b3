//! What the checks share: two tenants on a device, frames for them, loads by hand.

use crate::device::{Device, DeviceError, Event, Offer, OpId, Outcome};
use sluice_formats::limits::FORMAT_VERSION;
use sluice_formats::rows::{LimitRow, OverlayRow, PortPolicyRow, QuantumRow, VlanRow};
use sluice_formats::{Node, Row, Table, Target};
use sluice_object::{Load, Step};
use std::collections::BTreeMap;

/// Module and tenant of the first tenant, VLAN 10.
pub const RED: (u8, u16) = (1, 100);
/// Module and tenant of the second tenant, VLAN 20.
pub const BLUE: (u8, u16) = (2, 200);
/// Cells of every queue of both tenants: room for the longest frame on every target.
pub const LIMIT_CELLS: u16 = 300;
/// Packets that may have left their queue for the output stage of a blocked destination: the RTL
/// holds 16 beats there and a few in the tag's insertion.
pub const OUTPUT_STAGE_PACKETS: u64 = 20;

/// A load made by hand, without a linker.
pub struct RawLoad(Load);

impl RawLoad {
    /// An empty load of the system tenant.
    pub fn new(target: &Target, label: &str) -> Self {
        Self(Load {
            format_version: FORMAT_VERSION,
            target_hash: target.hash(),
            tenant: 0,
            label: label.to_owned(),
            steps: Vec::new(),
        })
    }

    /// Adds the write of a row.
    pub fn row<R: Row>(self, node: Node, table: Table, index: u32, row: &R) -> Self {
        let words = row.pack().unwrap_or_else(|e| panic!("{e}"));
        self.step(Step::Write { node, table, index, words })
    }

    /// Adds a step.
    pub fn step(mut self, step: Step) -> Self {
        self.0.steps.push(step);
        self
    }

    /// The load.
    pub fn load(self) -> Load {
        self.0
    }
}

/// A frame of `length` bytes (22 or more), tagged with `vid`, whose last four bytes are `number`.
pub fn tagged_frame(vid: u16, length: usize, number: u32) -> Vec<u8> {
    let mut bytes = vec![0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2, 0x81, 0x00];
    bytes.extend(vid.to_be_bytes());
    bytes.extend([0x88, 0xb5]);
    bytes.resize(length - 4, 0x5a);
    bytes.extend(number.to_be_bytes());
    bytes
}

/// A device with what has happened on it.
pub struct Bench<'a> {
    /// The device.
    pub device: &'a mut dyn Device,
    /// Outcomes in the order polled.
    pub outcomes: Vec<Outcome>,
    /// Operations that have ended.
    pub done: BTreeMap<OpId, Result<(), DeviceError>>,
}

impl<'a> Bench<'a> {
    /// Sets up both tenants on every port: RED's packets go to port 1, BLUE's to host queue 0.
    pub fn with_tenants(device: &'a mut dyn Device) -> Self {
        let target = device.capabilities().target;
        let mut load = RawLoad::new(&target, "set up two tenants");
        for port in (0..target.ports as u8).map(Node::Port) {
            let policy = PortPolicyRow { min_frame: 14, max_frame: 9216, ..Default::default() };
            load = load.row(port, Table::PortPolicy, 0, &policy);
            for (vid, (module_id, tenant)) in [(10, RED), (20, BLUE)] {
                let row = VlanRow { valid: true, keep_tag: false, module_id, tenant };
                load = load.row(port, Table::Vlan, vid, &row);
            }
        }
        for ((module, _), destinations) in [(RED, 0b10u8), (BLUE, 1 << target.ports)] {
            for generation in 0..2 {
                let overlay = OverlayRow { valid: true, destinations, ..Default::default() };
                load = load.row(Node::Match, Table::Overlay, 2 * u32::from(module) + generation, &overlay);
            }
            load = load.row(Node::Egress, Table::Quantum, u32::from(module), &QuantumRow { bytes: 1500 });
            for destination in 0..target.destinations() {
                let queue = destination * target.modules + u32::from(module);
                load = load.row(Node::Egress, Table::Limit, queue, &LimitRow { cells: LIMIT_CELLS });
            }
        }
        let mut bench = Self { device, outcomes: Vec::new(), done: BTreeMap::new() };
        bench.run_load(&load.load());
        bench
    }

    /// The device's resources.
    pub fn target(&self) -> Target {
        self.device.capabilities().target
    }

    /// Runs a load to its end, which is good.
    pub fn run_load(&mut self, load: &Load) {
        let op = self.device.submit(load).unwrap_or_else(|e| panic!("submit {}: {e}", load.label));
        self.rest();
        match self.done.get(&op) {
            Some(Ok(())) => {}
            other => panic!("load `{}` ended with {other:?}", load.label),
        }
    }

    /// Offers frames to a port, as soon as possible.
    pub fn offer(&mut self, port: u8, frames: impl IntoIterator<Item = Vec<u8>>) {
        let offers: Vec<Offer> = frames.into_iter().map(|bytes| Offer { port, bytes, at: 0, bad: false }).collect();
        self.device.offer(&offers).unwrap_or_else(|e| panic!("offer: {e}"));
    }

    /// Lets the device come to rest and takes what happened.
    pub fn rest(&mut self) {
        self.device.quiesce().unwrap_or_else(|e| panic!("quiesce: {e}"));
        self.poll();
    }

    /// Lets time pass and takes what happened.
    pub fn advance(&mut self, ticks: u64) {
        self.device.advance(ticks).unwrap_or_else(|e| panic!("advance: {e}"));
        self.poll();
    }

    /// Takes what happened.
    pub fn poll(&mut self) {
        loop {
            let events = self.device.poll(64);
            if events.is_empty() {
                return;
            }
            for event in events {
                match event {
                    Event::Outcome(outcome) => self.outcomes.push(outcome),
                    Event::OpDone { op, result } => {
                        assert!(self.done.insert(op, result).is_none(), "operation {op:?} ended twice")
                    }
                }
            }
        }
    }

    /// Checks contract 4 on every module and gives the counters.
    pub fn counters(&mut self) -> crate::device::Counters {
        let counters = self.device.counters().unwrap_or_else(|e| panic!("counters: {e}"));
        for (module, c) in &counters.modules {
            assert!(c.closes(), "module {module} at tick {}: the accounting does not close: {c:?}", counters.tick);
        }
        counters
    }
}
