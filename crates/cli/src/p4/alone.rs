//! A program on the pipeline alone, as a device: every destination is a port, and no packet waits for another.

use crate::run::device::{Choice, software_only, unavailable};
use sluice_device::run_load::run_load;
use sluice_device::{Device, DeviceError, Event, Offer, Verdict};
use sluice_formats::limits::{FORMAT_VERSION, MAX_FRAME_BYTES, VLAN_ETHERTYPE};
use sluice_formats::row::Row;
use sluice_formats::rows::{LimitRow, PortPolicyRow, VidsRow, VlanRow};
use sluice_formats::{Node, Table};
use sluice_object::linker::rmt::{Placer, Quota, RmtError, RowWrite};
use sluice_object::{Load, RmtPart, Step};
use sluice_p4::stf::{Carrier, CarrierError};
use sluice_p4::{Compiled, P4Errors, Reference, Sent};
use sluice_rtlsim::{Comparison, RtlNic, RtlOptions, top};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::failure::Failure;
use crate::run::device::WAVES_FOLDER;

/// VLAN and tenant of all packets. Each gets a tag in front of its own, which a NIC's port takes off before the pipeline.
const VLAN: u16 = 1;
/// Bytes of that tag, and where it stands; shorter packets go without.
const TAG: [u8; 4] = [(VLAN_ETHERTYPE >> 8) as u8, VLAN_ETHERTYPE as u8, (VLAN >> 8) as u8, VLAN as u8];
const TAG_AT: usize = 12;
const NAME: &str = "program";

/// A compiled program on the RTL's pipeline.
pub struct Alone {
    device: Box<dyn Device>,
    compiled: Compiled,
    /// What lies where, since there are entries.
    placer: Option<Placer>,
    /// Counters when it was loaded last, by stage and logical number.
    hits: BTreeMap<(usize, u16), u64>,
    /// Packets to no destination since somebody asked.
    nowhere: u64,
}

impl Alone {
    /// The RTL, with the model in lockstep if so said.
    pub fn rtl(compiled: Compiled, in_lockstep: bool, seed: u64) -> Result<Self, Failure> {
        let target = compiled.target().name;
        software_only(compiled.target().nic(), if in_lockstep { Choice::Both } else { Choice::Rtl })?;
        let options =
            RtlOptions { top: &top::RMT, all_ports: true, seed, check_accounting: true, ..RtlOptions::default() };
        let device: Box<dyn Device> = if in_lockstep {
            Box::new(Comparison::open(target, options, WAVES_FOLDER).map_err(unavailable)?)
        } else {
            Box::new(RtlNic::open(target, options).map_err(unavailable)?)
        };
        Ok(Self { device, compiled, placer: None, hits: BTreeMap::new(), nowhere: 0 })
    }

    /// Writes rows, those of one list behind those of the list before.
    fn write(&mut self, label: &str, batches: Vec<Vec<Step>>) -> Result<(), CarrierError> {
        let mut steps = Vec::new();
        for batch in batches {
            steps.extend(batch);
            steps.push(Step::Barrier);
        }
        let target_hash = self.device.capabilities().target.hash();
        let label = label.to_owned();
        let load = Load { format_version: FORMAT_VERSION, target_hash, tenant: VLAN, label, steps };
        run_load(&mut *self.device, &load, &mut Vec::new()).map_err(|error| failed(&error))
    }

    /// Ports that take every frame for the module, and queues that never fill.
    fn around(&self, module: u8) -> Vec<Step> {
        let target = self.device.capabilities().target;
        let write = |node, table, index, words| Step::Write { node, table, index, words };
        let policy = PortPolicyRow {
            untagged_valid: true,
            untagged_module: module,
            untagged_tenant: VLAN,
            drop_double_tag: false,
            min_frame: 0,
            max_frame: MAX_FRAME_BYTES as u16,
        };
        let vlan = VlanRow { valid: true, keep_tag: false, module_id: module, tenant: VLAN };
        let limit = LimitRow { cells: target.cells as u16, reserve: 0 };
        // One program has the device for itself, whatever tags it writes.
        let any = VidsRow { any: true }.pack().expect("every value fits its field");
        let mut steps = vec![write(Node::Egress, Table::Vids, module.into(), any)];
        for port in 0..target.ports {
            let node = Node::Port(port as u8);
            steps.push(write(node, Table::PortPolicy, 0, policy.pack().expect("every value fits its field")));
            steps.push(write(node, Table::Vlan, VLAN.into(), vlan.pack().expect("every value fits its field")));
            let queue = port * target.modules + u32::from(module);
            steps.push(write(Node::Egress, Table::Limit, queue, limit.pack().expect("cells fit their field")));
        }
        steps
    }

    /// Stages and logical numbers of entries that are counted.
    fn numbers(&self, entries: &Reference) -> Result<Vec<(usize, u16)>, CarrierError> {
        self.compiled.counted(entries).map_err(|errors| refused(&errors))
    }

    fn counter(&mut self, stage: usize, number: u16) -> Result<u64, CarrierError> {
        let row = self.device.read_row(Node::Stage(stage as u8), Table::Hits, number.into());
        row.map(|words| count_of(&words)).map_err(|error| failed(&error))
    }

    fn place(&mut self, part: &Arc<RmtPart>) -> Result<Vec<Vec<Step>>, RmtError> {
        let module = u8::from(!part.system);
        let mut batches = Vec::new();
        let (mut placer, is_first) = match self.placer.take() {
            Some(placer) => (placer, false),
            None => (Placer::new(*self.compiled.target()), true),
        };
        if is_first {
            batches.push(rows(placer.stage_owners()));
            batches.push(self.around(module));
        } else {
            batches.push(rows(placer.clear(module, 0)?));
            batches.push(rows(placer.release(module)?));
        }
        batches.push(rows(placer.admit(module, NAME, Quota::of(part, 0xff))?));
        let placed = placer.place(module, 0, part)?;
        batches.push(rows(placed.zero));
        batches.push(rows(placed.rows));
        self.placer = Some(placer);
        Ok(batches)
    }
}

fn rows(all: Vec<RowWrite>) -> Vec<Step> {
    let step = |w: RowWrite| Step::Write { node: w.node, table: w.table, index: w.index, words: w.words };
    all.into_iter().map(step).collect()
}

fn word_of(words: Vec<u32>) -> Result<u32, CarrierError> {
    Ok(words.first().copied().unwrap_or(0))
}

fn count_of(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |all, word| all << 32 | u64::from(*word))
}

fn failed(error: &DeviceError) -> CarrierError {
    CarrierError { code: error.code(), what: error.to_string() }
}

fn refused(errors: &P4Errors) -> CarrierError {
    CarrierError { code: errors.code(), what: errors.to_string() }
}

impl Carrier for Alone {
    fn nowhere(&mut self) -> u64 {
        std::mem::take(&mut self.nowhere)
    }

    fn load(&mut self, entries: &Reference) -> Result<(), CarrierError> {
        let unit = self.compiled.unit(entries).map_err(|errors| refused(&errors))?;
        let part = unit.part(self.compiled.target());
        let part = part.map_err(|error| CarrierError { code: "E0650", what: error.to_string() })?;
        let batches = self.place(&Arc::new(part));
        let mut batches = batches.map_err(|error| CarrierError { code: error.code(), what: error.to_string() })?;
        // Alone, a module has the pages of a stage in their order.
        let word = |(stage, word, value): (usize, usize, u32)| {
            let node = Node::Stage(stage as u8);
            Step::Write { node, table: Table::StateWord, index: word as u32, words: vec![value] }
        };
        batches.push(self.compiled.words(entries).map(word).collect());
        self.write("entries", batches)?;
        self.hits.clear();
        let numbers = self.numbers(entries)?;
        for (stage, number) in numbers {
            let hits = self.counter(stage, number)?;
            self.hits.insert((stage, number), hits);
        }
        Ok(())
    }

    fn fetch(&mut self, into: &mut Reference) -> Result<(), CarrierError> {
        let device = std::cell::RefCell::new(&mut self.device);
        let read =
            |node, table, index| device.borrow_mut().read_row(node, table, index).map_err(|error| failed(&error));
        let mut word = |stage: usize, at: usize| word_of(read(Node::Stage(stage as u8), Table::StateWord, at as u32)?);
        let hits = &self.hits;
        let mut counted = |stage: usize, number: u16| {
            let now = count_of(&read(Node::Stage(stage as u8), Table::Hits, number.into())?);
            Ok(now.wrapping_sub(hits.get(&(stage, number)).copied().unwrap_or(0)))
        };
        self.compiled.fetch(into, &mut word, &mut counted)
    }

    fn differs(&mut self, from: &Reference) -> Result<Option<String>, CarrierError> {
        let device = &mut self.device;
        let mut word = |stage: usize, at: usize| {
            let row = device.read_row(Node::Stage(stage as u8), Table::StateWord, at as u32);
            word_of(row.map_err(|error| failed(&error))?)
        };
        self.compiled.differs(from, &mut word)
    }

    fn packet(&mut self, port: u16, bytes: &[u8]) -> Result<Vec<Sent>, CarrierError> {
        let ports = self.device.capabilities().target.ports;
        let place = self.compiled.ports().to_pipeline(port);
        let Some(port) = u8::try_from(place).ok().filter(|port| u32::from(*port) < ports) else {
            let what = format!("port {port}; the pipeline has ports 0 to {}", ports - 1);
            return Err(CarrierError { code: "E0795", what });
        };
        let is_tagged = bytes.len() >= TAG_AT;
        let mut frame = bytes.to_vec();
        if is_tagged {
            frame.splice(TAG_AT..TAG_AT, TAG);
        }
        let done = self.device.offer_owned(vec![Offer { port, bytes: frame, at: 0, bad: false }]);
        done.and_then(|()| self.device.quiesce()).map_err(|error| failed(&error))?;
        let mut all = Vec::new();
        for event in self.device.poll(usize::MAX) {
            let Event::Outcome(outcome) = event else { continue };
            match outcome.verdict {
                Verdict::Forwarded { port } => {
                    let mut bytes = outcome.bytes;
                    // A packet that the program leaves shorter than where a tag stands has none.
                    if is_tagged && bytes.len() >= TAG_AT {
                        bytes.drain(TAG_AT..TAG_AT + TAG.len());
                    }
                    all.push(Sent { port: port.into(), bytes });
                }
                // The port's own, before any program.
                Verdict::Dropped { reason, .. } if outcome.generation.is_none() => {
                    let what = format!("the port drops a packet of {} bytes: {}", bytes.len(), reason.name());
                    return Err(CarrierError { code: "E0795", what });
                }
                Verdict::Dropped { reason, .. } => self.nowhere += u64::from(reason.name() == "no_destination"),
                _ => {}
            }
        }
        all.sort_by_key(|sent| sent.port);
        Ok(self.compiled.ports().sent(all))
    }
}
