//! What the checks share: two tenants on a device, frames for them, loads by hand.

use sluice_device::{Device, DeviceError, Event, Offer, OpId, Outcome};
use sluice_formats::limits::FORMAT_VERSION;
use sluice_formats::rows::{LimitRow, PortPolicyRow, QuantumRow, VlanRow};
use sluice_formats::{Node, Row, Table, Target};
use sluice_object::linker::rmt::{Placer, Quota, RowWrite};
use sluice_object::{Load, RmtPart, Step};
use sluice_rmt::encode;
use sluice_rmt::programs::send::Send;
use std::collections::BTreeMap;
use std::sync::Arc;

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

    /// Adds the write of a row of the rmt pipeline.
    pub fn layout<R: Row>(self, node: Node, table: Table, index: u32, row: &R) -> Self {
        let words = row.pack().unwrap_or_else(|e| panic!("{e}"));
        self.step(Step::Write { node, table, index, words })
    }

    /// Adds rows as a placer gives them.
    pub fn rows(self, rows: impl IntoIterator<Item = RowWrite>) -> Self {
        let write = |RowWrite { node, table, index, words }| Step::Write { node, table, index, words };
        rows.into_iter().map(write).fold(self, Self::step)
    }

    /// Adds a step; a row that is written once more waits behind a barrier, as writes between barriers come in any order.
    pub fn step(mut self, step: Step) -> Self {
        let mut waiting = self.0.steps.iter().rev().take_while(|s| **s != Step::Barrier);
        if row_of(&step).is_some_and(|row| waiting.any(|s| row_of(s) == Some(row))) {
            self.0.steps.push(Step::Barrier);
        }
        self.0.steps.push(step);
        self
    }

    /// The load.
    pub fn load(self) -> Load {
        self.0
    }
}

/// The row that a step writes.
fn row_of(step: &Step) -> Option<(Node, Table, u32)> {
    match step {
        Step::Write { node, table, index, .. } => Some((*node, *table, *index)),
        _ => None,
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

/// The rows of a program that sends every packet alike.
pub fn sender(send: &Send, target: &Target) -> Arc<RmtPart> {
    Arc::new(encode(&send.program(&target.rmt), &target.rmt).unwrap_or_else(|e| panic!("{e}")))
}

/// A device with what has happened on it.
pub struct Bench<'a> {
    /// The device.
    pub device: &'a mut dyn Device,
    /// Where the tenants' programs lie.
    pub placer: Placer,
    /// Outcomes in the order polled.
    pub outcomes: Vec<Outcome>,
    /// Operations that have ended.
    pub done: BTreeMap<OpId, Result<(), DeviceError>>,
}

impl<'a> Bench<'a> {
    /// Sets up both tenants on every port: RED's packets go to port 1, BLUE's to host queue 0.
    pub fn with_tenants(device: &'a mut dyn Device) -> Self {
        let target = device.capabilities().target;
        let mut placer = Placer::new(target.rmt);
        let mut load = RawLoad::new(&target, "set up two tenants").rows(placer.stage_owners());
        for port in (0..target.ports as u8).map(Node::Port) {
            let policy = PortPolicyRow { min_frame: 14, max_frame: 9216, ..Default::default() };
            load = load.row(port, Table::PortPolicy, 0, &policy);
            for (vid, (module_id, tenant)) in [(10, RED), (20, BLUE)] {
                let row = VlanRow { valid: true, keep_tag: false, module_id, tenant };
                load = load.row(port, Table::Vlan, vid, &row);
            }
        }
        for (name, (module, _), destinations) in [("red", RED, 0b10u8), ("blue", BLUE, 1 << target.ports)] {
            let part = sender(&Send::to(destinations), &target);
            let admitted = placer.admit(module, name, Quota::of(&part, 0xff)).unwrap_or_else(|e| panic!("{e}"));
            load = load.rows(admitted);
            for generation in 0..2 {
                let placed = placer.place(module, generation, &part).unwrap_or_else(|e| panic!("{e}"));
                load = load.rows(placed.rows);
            }
            load = load.row(Node::Egress, Table::Quantum, u32::from(module), &QuantumRow { bytes: 1500 });
            for destination in 0..target.destinations() {
                let queue = destination * target.modules + u32::from(module);
                load = load.row(Node::Egress, Table::Limit, queue, &LimitRow { cells: LIMIT_CELLS, reserve: 0 });
            }
        }
        let mut bench = Self { device, placer, outcomes: Vec::new(), done: BTreeMap::new() };
        bench.run_load(&load.load());
        bench
    }

    /// The device's resources.
    pub fn target(&self) -> Target {
        self.device.capabilities().target
    }

    /// Rows that give one generation of a tenant's another program.
    pub fn sends(&mut self, module: u8, generation: u8, send: &Send) -> Vec<RowWrite> {
        let part = sender(send, &self.target());
        let mut rows = self.clears(module, generation);
        rows.extend(self.placer.place(module, generation, &part).unwrap_or_else(|e| panic!("{e}")).rows);
        rows
    }

    /// Rows that take the program of one generation away.
    pub fn clears(&mut self, module: u8, generation: u8) -> Vec<RowWrite> {
        self.placer.clear(module, generation).unwrap_or_else(|e| panic!("{e}"))
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
    pub fn counters(&mut self) -> sluice_device::Counters {
        let counters = self.device.counters().unwrap_or_else(|e| panic!("counters: {e}"));
        for (module, c) in &counters.modules {
            assert!(c.closes(), "module {module} at tick {}: the accounting does not close: {c:?}", counters.tick);
        }
        counters
    }
}
