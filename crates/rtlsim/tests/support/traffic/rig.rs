//! A NIC with a few modules written row by row, and a record of what its packets did when.

use super::frames::{self, Tuple};
use crate::support;
use sluice_device::{Counters, Device, Event, Offer, Outcome, Verdict};
use sluice_formats::limits::KEY_BYTES;
use sluice_formats::rows::{LimitRow, PortPolicyRow, QuantumRow, VlanRow};
use sluice_formats::{Node, Reason, Table, Target};
use sluice_object::linker::rmt::{Placer, Quota};
use sluice_object::lower::lower;
use sluice_object::{Action, Destination, KeyKind, KeySpec, Object, Step};
use sluice_rtlsim::device::Tapped;
use sluice_rtlsim::plugin::event::What;
use sluice_rtlsim::{RtlNic, RtlOptions};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a module's packets go.
#[derive(Clone, Copy, Debug)]
pub enum To {
    One(u8),
    /// To destination `[i]` when the last byte of the destination MAC is i.
    Spread([u8; 4]),
}

/// A module; its VLAN has its number, on every port.
#[derive(Clone, Copy, Debug)]
pub struct Module {
    pub number: u8,
    pub to: To,
    /// Bytes of its turn at every destination.
    pub quantum: u16,
    /// Cells of its queue at every destination.
    pub cells: u16,
}

impl Module {
    pub fn new(number: u8, to: To) -> Self {
        Self { number, to, quantum: 1500, cells: 160 }
    }
}

/// A packet that entered the pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Merged {
    pub tick: u64,
    pub id: u32,
}

/// A copy that was read out of the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Leave {
    pub tick: u64,
    pub module: u8,
    pub destination: u8,
    pub length: u32,
    /// Copies in all queues after it.
    pub queued: i64,
    /// Copies in its own queue after it.
    pub own: i64,
}

/// A copy that left the NIC.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    pub id: u32,
    pub module: u8,
    pub destination: u8,
    pub bytes: u32,
    pub first_in: u64,
    pub first_out: u64,
    pub last_out: u64,
}

/// The NIC and its record.
pub struct Rig {
    pub nic: RtlNic,
    pub target: Target,
    pub merged: Vec<Merged>,
    pub leaves: Vec<Leave>,
    pub left: Vec<Left>,
    /// Packets and copies dropped, by module and reason.
    pub dropped: BTreeMap<(u8, Reason), u64>,
    /// By port: tick of the last beat that came in.
    pub arrived: Vec<u64>,
    /// By port: bytes without the tag of every frame offered.
    pub lengths: Vec<Vec<u32>>,
    queued: i64,
    /// The same by module and destination.
    queues: BTreeMap<(u8, u8), i64>,
}

impl Rig {
    /// A NIC with these modules; untagged frames are the first one's.
    pub fn open(config: &str, options: RtlOptions, modules: &[Module]) -> Self {
        let mut nic = RtlNic::open(config, options).expect("the plug-in was found");
        let target = nic.capabilities().target;
        let steps = steps(&target, modules);
        support::run_steps(&mut nic, steps).unwrap();
        nic.start_tap();
        let ports = target.ports as usize;
        Self {
            nic,
            target,
            merged: Vec::new(),
            leaves: Vec::new(),
            left: Vec::new(),
            dropped: BTreeMap::new(),
            arrived: vec![0; ports],
            lengths: vec![Vec::new(); ports],
            queued: 0,
            queues: BTreeMap::new(),
        }
    }

    /// Offers a frame of `length` bytes, on a VLAN or untagged, as soon as the port has time.
    pub fn offer(&mut self, port: u8, vlan: Option<u8>, choice: u8, length: usize) {
        self.offer_at(0, port, vlan, choice, length);
    }

    /// The same, not before tick `at`.
    pub fn offer_at(&mut self, at: u64, port: u8, vlan: Option<u8>, choice: u8, length: usize) {
        let plain = frame(choice, length);
        let bytes = vlan.map_or(plain.clone(), |vlan| frames::with_tag(plain, vlan.into()));
        self.lengths[usize::from(port)].push(length as u32);
        self.nic.offer(&[Offer { port, bytes, at, bad: false }]).unwrap();
    }

    /// Runs steps to their end while packets go on.
    pub fn perform(&mut self, steps: Vec<Step>) {
        let load = support::load(&self.nic, steps);
        self.nic.submit(&load).unwrap();
        while self.nic.has_loads() {
            self.advance(64);
        }
    }

    pub fn advance(&mut self, ticks: u64) {
        let end = self.nic.now() + ticks;
        // The tap keeps everything until it is taken.
        while self.nic.now() < end {
            self.nic.advance((end - self.nic.now()).min(4_096)).unwrap();
            self.record();
        }
    }

    pub fn quiesce(&mut self) {
        self.nic.quiesce().unwrap();
        self.record();
    }

    /// Counters of this moment. The NIC itself compares them with what its trace says.
    pub fn counters(&mut self) -> Counters {
        let counters = self.nic.counters().unwrap();
        self.record();
        counters
    }

    /// Bytes without the tag of a packet.
    pub fn length(&self, id: u32) -> u32 {
        self.lengths[(id >> 28) as usize][(id & 0xfff_ffff) as usize]
    }

    pub fn beats(&self, id: u32) -> u64 {
        self.target.beats(self.length(id)).into()
    }

    pub fn drops(&self, reason: Reason) -> u64 {
        self.dropped.iter().filter(|d| d.0.1 == reason).map(|d| d.1).sum()
    }

    /// Forgets packets that have left, keeps what is on its way.
    pub fn clear(&mut self) {
        self.record();
        self.merged.clear();
        self.leaves.clear();
        self.left.clear();
        self.dropped.clear();
    }

    /// Takes down what has happened.
    pub fn record(&mut self) {
        for item in self.nic.take_tapped() {
            let Tapped::Event(event) = item else { continue };
            let tick = event.tick;
            match event.what {
                What::Arrived { port, .. } => self.arrived[usize::from(port)] = tick,
                What::Merge(row) => self.merged.push(Merged { tick, id: row.id }),
                What::Queue(row) if !row.dropped => {
                    self.queued += 1;
                    *self.queues.entry((row.module_id, row.destination)).or_default() += 1;
                }
                What::Leave(row) => {
                    self.queued -= 1;
                    let (module, destination, length) = (row.module_id, row.destination, row.length.into());
                    let own = self.queues.entry((module, destination)).or_default();
                    *own -= 1;
                    self.leaves.push(Leave { tick, module, destination, length, queued: self.queued, own: *own });
                }
                _ => {}
            }
        }
        for event in self.nic.poll(usize::MAX) {
            match event {
                Event::Outcome(outcome) => self.record_outcome(&outcome),
                Event::OpDone { result, .. } => result.unwrap(),
            }
        }
    }

    fn record_outcome(&mut self, outcome: &Outcome) {
        let destination = match outcome.verdict {
            Verdict::Dropped { reason, .. } => {
                *self.dropped.entry((outcome.module, reason)).or_default() += 1;
                return;
            }
            Verdict::Consumed { .. } => return,
            Verdict::Forwarded { port } => port,
            Verdict::Delivered { queue } => self.target.ports as u8 + queue,
        };
        let tick = |t: Option<u64>| t.expect("a simulated packet has its ticks");
        self.left.push(Left {
            id: outcome.id,
            module: outcome.module,
            destination,
            bytes: outcome.bytes.len() as u32,
            first_in: tick(outcome.first_in),
            first_out: tick(outcome.first_out),
            last_out: tick(outcome.last_out),
        });
    }
}

/// A frame of which only the last byte of the destination MAC is chosen.
pub fn frame(choice: u8, length: usize) -> Vec<u8> {
    let tuple = Tuple { src: [10, 0, 0, 1], dst: [10, 0, 0, 2], sport: 1_000, dport: 2_000 };
    let mut frame = frames::udp([0x06, 0, 0, 0, 0, choice], &tuple, length.max(frames::SHORTEST));
    frame.truncate(length);
    frame
}

fn steps(target: &Target, modules: &[Module]) -> Vec<Step> {
    let mut placer = Placer::new(target.rmt);
    let mut steps: Vec<Step> = placer.stage_owners().into_iter().map(support::write_row).collect();
    let untagged = modules.first().map_or(0, |m| m.number);
    for port in 0..target.ports as u8 {
        let policy = PortPolicyRow {
            untagged_valid: untagged != 0,
            untagged_module: untagged,
            untagged_tenant: untagged.into(),
            min_frame: 14,
            max_frame: 9216,
            ..PortPolicyRow::default()
        };
        steps.push(support::row(Node::Port(port), Table::PortPolicy, 0, &policy));
        for m in modules {
            let vlan = VlanRow { valid: true, keep_tag: false, module_id: m.number, tenant: m.number.into() };
            steps.push(support::row(Node::Port(port), Table::Vlan, m.number.into(), &vlan));
        }
    }
    for m in modules {
        let part =
            Arc::new(lower(&program(m, target), target, &BTreeMap::new()).expect("no system program takes containers"));
        let name = format!("module-{}", m.number);
        let mut rows = placer.admit(m.number, &name, Quota::of(&part, 0xff)).unwrap();
        for generation in 0..2 {
            rows.extend(placer.place(m.number, generation, &part).unwrap().rows);
        }
        steps.extend(rows.into_iter().map(support::write_row));
        let number = u32::from(m.number);
        steps.push(support::row(Node::Egress, Table::Quantum, number, &QuantumRow { bytes: m.quantum }));
        for d in 0..target.destinations() {
            let limit = LimitRow { cells: m.cells, reserve: 0 };
            steps.push(support::row(Node::Egress, Table::Limit, d * target.modules + number, &limit));
        }
    }
    steps
}

/// The table of a module: none, or one entry for each choice.
fn program(module: &Module, target: &Target) -> Object {
    let to = |number: u8| Action::to(Destination::from_number(number, target));
    let name = format!("module-{}", module.number);
    let destinations = match module.to {
        To::One(destination) => return Object::new(name, KeySpec::NONE, to(destination)),
        To::Spread(destinations) => destinations,
    };
    let mut object = Object::new(name, KeySpec { kind: KeyKind::Dmac, mask: 1 << 5 }, Action::DROP);
    for (choice, destination) in destinations.into_iter().enumerate() {
        let mut key = [0; KEY_BYTES];
        key[5] = choice as u8;
        object.push(key, to(destination));
    }
    object
}
