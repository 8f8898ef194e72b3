//! Feeds what a simulated NIC tells to the model and stops at the first difference.

use crate::device::Tapped;
use crate::plugin::event::{RtlEvent, What};
use crate::plugin::top::Top;
use sluice_device::{Counters, Maps, ModuleCounters, Offer, ProgramEvent};
use sluice_formats::rmt::target::PAGE_WORDS;
use sluice_formats::xdp::codes::XdpStep;
use sluice_formats::xdp::rows::XdpStepTraceRow;
use sluice_formats::{Node, Table, Target};
use sluice_nic::{Mismatch, Replay, engines};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// Model counters kept for snapshots whose reads are on their way.
const SNAPSHOTS_KEPT: usize = 8;

/// Where RTL and model part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Tick of the RTL's event.
    pub tick: u64,
    /// Packet and both sides.
    pub mismatch: Mismatch,
}

/// What has been compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Frames that ended on a port.
    pub packets: u64,
    /// Frames that left, compared byte for byte.
    pub outputs: u64,
    /// Copies dropped at a queue.
    pub tail_drops: u64,
    /// Frames dropped because a port had no room.
    pub overloads: u64,
    /// Commits acknowledged.
    pub commits: u64,
    /// Rows written.
    pub writes: u64,
    /// Snapshots of all counters.
    pub snapshots: u64,
}

/// The model behind a simulated NIC.
pub struct Follower {
    model: Replay,
    /// Frames offered to each port that have not ended there yet.
    sent: Vec<VecDeque<(Vec<u8>, bool)>>,
    snapshots: VecDeque<Counters>,
    /// Packets in slots of the XDP engine, and on its processors.
    slots: BTreeMap<u8, u32>,
    running: BTreeMap<u8, u32>,
    /// Rows of engines that were written: the others are as the RAM came up.
    written: HashSet<(Node, Table, u32)>,
    compared: Compared,
    /// Events that one side has told more often than the other: those of the device count up.
    told: BTreeMap<String, i64>,
    /// The device's, by module, which were compared before anybody took them.
    kept: BTreeMap<u8, Vec<ProgramEvent>>,
    tick: u64,
}

impl Follower {
    /// The model of a top after its reset, with what is around it.
    pub fn new(target: Target, top: &Top) -> Self {
        Self {
            model: Replay::new(target, engines::these(top.engines, &target))
                .taking(top.shortest_frame)
                .arriving_with_stamp(top.stamps_arrival()),
            sent: vec![VecDeque::new(); target.ports as usize],
            snapshots: VecDeque::new(),
            slots: BTreeMap::new(),
            running: BTreeMap::new(),
            written: HashSet::new(),
            compared: Compared::default(),
            told: BTreeMap::new(),
            kept: BTreeMap::new(),
            tick: 0,
        }
    }

    /// The model.
    pub fn model(&self) -> &Replay {
        &self.model
    }

    /// Maps of the model's programs.
    pub fn maps(&mut self) -> Option<&mut dyn Maps> {
        self.model.maps()
    }

    /// Notes what a module's programs told, on the device (1) or in the model (-1). The model has another number of processors.
    pub(crate) fn told(&mut self, module: u8, events: &[ProgramEvent], side: i64) {
        for event in events {
            let (name, count) = match event {
                ProgramEvent::Perf { map, data, .. } => (format!("perf event of `{map}`: {data:02x?}"), 1),
                ProgramEvent::Ring { map, data } => (format!("record of `{map}`: {data:02x?}"), 1),
                ProgramEvent::Trace { line } => (format!("line `{line}`"), 1),
                ProgramEvent::Lost { events } => ("lost event".to_owned(), *events as i64),
            };
            let name = format!("module {module}, {name}");
            let sum = self.told.get(&name).copied().unwrap_or_default() + side * count;
            if sum == 0 {
                self.told.remove(&name);
            } else {
                self.told.insert(name, sum);
            }
        }
    }

    /// Keeps events that were compared for whoever takes them.
    pub(crate) fn keep(&mut self, module: u8, events: Vec<ProgramEvent>) {
        self.kept.entry(module).or_default().extend(events);
    }

    /// What was kept.
    pub(crate) fn take_kept(&mut self, module: u8) -> Vec<ProgramEvent> {
        self.kept.remove(&module).unwrap_or_default()
    }

    /// An event that only one side has told, as model and device show it; and it is forgotten.
    pub(crate) fn untold(&mut self) -> Option<(String, String)> {
        let (name, more) = std::mem::take(&mut self.told).into_iter().next()?;
        let times = |n: i64| if n > 0 { format!("{n} more: {name}") } else { "none of them".to_owned() };
        Some((times(-more), times(more)))
    }

    /// What has been compared so far.
    pub fn compared(&self) -> Compared {
        self.compared
    }

    /// Frames that the NIC was offered.
    pub fn offered(&mut self, packets: &[Offer]) {
        for packet in packets {
            self.sent[usize::from(packet.port)].push_back((packet.bytes.clone(), packet.bad));
        }
    }

    /// Flips a byte of a frame that is on its way to a port, as far as the model knows.
    #[cfg(test)]
    pub(crate) fn sabotage(&mut self, port: usize, frame: usize, byte: usize) {
        self.sent[port][frame].0[byte] ^= 0xff;
    }

    /// Takes everything that the NIC tells, in its order.
    pub fn follow(&mut self, tapped: VecDeque<Tapped>) -> Result<(), Difference> {
        for item in tapped {
            let result = match item {
                Tapped::Event(event) => {
                    self.tick = event.tick;
                    self.event(event)
                }
                Tapped::Announced(write) => {
                    self.model.announce_write(write.node, write.table, write.index, &write.words);
                    Ok(())
                }
                Tapped::Asked(write) => {
                    self.compared.writes += 1;
                    self.note(write.node, write.table, write.index);
                    self.model.apply_write(write.node, write.table, write.index, &write.words)
                }
                Tapped::Memory(address, bytes) => {
                    self.model.host_wrote(address, &bytes);
                    Ok(())
                }
                Tapped::Installed(engine, module, generation, install) => {
                    self.model.install(engine, module, generation, install.as_ref())
                }
                Tapped::Applied(write) => {
                    self.compared.writes += 1;
                    self.compared.commits += u64::from(write.table == Table::Generation);
                    self.note(write.node, write.table, write.index);
                    self.model.apply_write(write.node, write.table, write.index, &write.words)
                }
            };
            result.map_err(|mismatch| Difference { tick: self.tick, mismatch })?;
        }
        Ok(())
    }

    fn event(&mut self, event: RtlEvent) -> Result<(), Mismatch> {
        match event.what {
            What::Port(row) => {
                self.compared.packets += 1;
                self.compared.overloads += u64::from(row.dropped && row.reason == 0);
                let queue = self.sent.get_mut((row.id >> 28) as usize);
                let Some((bytes, bad)) = queue.and_then(VecDeque::pop_front) else {
                    return Err(Mismatch {
                        packet: Some(row.id),
                        at: "port",
                        model: "no frame offered".into(),
                        device: "the end of a frame".into(),
                    });
                };
                self.model.port(&row, &bytes, bad)
            }
            What::Merge(row) => self.model.merge(&row),
            What::Passed(row) => self.model.passed(&row),
            What::Verdict(row) => self.model.verdict(&row, event.tick),
            What::Queue(row) => {
                self.compared.tail_drops += u64::from(row.dropped);
                self.model.queue(&row)
            }
            What::Leave(row) => self.model.leave(&row),
            What::Left { destination, sideband, queue, bytes, .. } => {
                self.compared.outputs += 1;
                self.model.output(destination, &bytes, &sideband, queue)
            }
            What::Dispatched(row) => self.model.dispatched(&row, event.tick),
            What::Ring(row) => self.model.ring_event(&row, event.tick),
            What::Forgot(row) => self.model.forgot(&row, event.tick),
            What::Wrote { address, bytes } => self.model.wrote(address, &bytes),
            What::Epoch(_) => {
                if self.snapshots.len() == SNAPSHOTS_KEPT {
                    self.snapshots.pop_front();
                }
                self.snapshots.push_back(self.model.counters(event.tick));
                Ok(())
            }
            What::Step { step, row } => {
                self.step(step, &row);
                Ok(())
            }
            What::Arrived { .. } | What::Reply(_) | What::Routed { .. } => Ok(()),
        }
    }

    /// A number that an engine drew is its packet's.
    fn step(&mut self, step: XdpStep, row: &XdpStepTraceRow) {
        match step {
            XdpStep::Packet => drop(self.slots.insert(row.slot, row.value as u32)),
            XdpStep::Start => {
                let id = self.slots.get(&row.slot).copied();
                id.and_then(|id| self.running.insert(row.processor, id));
            }
            XdpStep::Number => {
                if let Some(id) = self.running.get(&row.processor) {
                    self.model.given(*id, row.value as u32);
                }
            }
            XdpStep::Value | XdpStep::Map => {}
        }
    }

    /// Compares the counters that the NIC gave with the model's of the same instant.
    pub fn compare_counters(&mut self, device: &Counters) -> Result<(), Difference> {
        let model = self.snapshots.iter().find(|c| c.tick == device.tick);
        let none = BTreeMap::new();
        let (model, device, tick) = (model.map_or(&none, |c| &c.modules), &device.modules, device.tick);
        self.compared.snapshots += 1;
        for module in model.keys().chain(device.keys()) {
            let (m, d) = (model.get(module), device.get(module));
            if m != d {
                let show = |c: Option<&ModuleCounters>| c.map_or("no counters".into(), |c| format!("{c:?}"));
                let model = format!("module {module}: {}", show(m));
                let mismatch = Mismatch { packet: None, at: "counters", model, device: show(d) };
                return Err(Difference { tick, mismatch });
            }
        }
        Ok(())
    }

    fn note(&mut self, node: Node, table: Table, index: u32) {
        if table == Table::ZeroPage {
            let words = PAGE_WORDS as u32 * index..PAGE_WORDS as u32 * (index + 1);
            self.written.extend(words.map(|word| (node, Table::StateWord, word)));
        }
        if table.engine().is_some() {
            self.written.insert((node, table, index));
        }
    }

    /// Compares a row that was read back while no load ran.
    pub fn compare_row(&self, node: Node, table: Table, index: u32, device: &[u32]) -> Result<(), Difference> {
        if table.engine().is_some() && !self.written.contains(&(node, table, index)) {
            return Ok(());
        }
        let model = self.model.tables().row(node, table, index);
        if model.as_deref() == Ok(device) {
            return Ok(());
        }
        let mismatch = Mismatch {
            packet: None,
            at: "row",
            model: format!("{node:?} {}[{index}] = {model:08x?}", table.name()),
            device: format!("{device:08x?}"),
        };
        Err(Difference { tick: self.tick, mismatch })
    }
}
