//! Modules, frames in, frames out: the pipeline with what ingress and egress do around it.
//!
//! A frame's outer VLAN names its module, as on the NIC; the tag is off in the pipeline and on again at ports. There
//! are no queues: each copy leaves at once.

use super::driver::{RmtOffer, RmtRtl};
use super::lockstep::{Agreed, Lockstep};
use super::passage::{End, copies_of};
use super::tenants::{RowSink, Tenants};
use crate::error::RtlError;
use crate::options::RtlOptions;
use crate::plugin::Until;
use sluice_formats::Status;
use sluice_formats::limits::VLAN_ETHERTYPE;
use sluice_formats::rmt::target::Target;
use sluice_formats::rows::SidebandRow;
use sluice_object::linker::rmt::{Placer, Quota, RmtError, RowWrite};
use sluice_object::rmt::RmtPart;
use sluice_rmt::fast::Fast;
use sluice_rmt::{Arrival, Copy, Outcome};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What runs the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// The fast model.
    Model,
    /// The RTL.
    Rtl,
    /// The RTL, and the fast model beside it.
    Both,
}

/// Why a session cannot go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// The plug-in.
    #[error(transparent)]
    Rtl(#[from] RtlError),
    /// The linker refuses.
    #[error(transparent)]
    Link(#[from] RmtError),
    /// The model refuses a row: a fault of the linker.
    #[error("the model answered {status:?} to row {index} of {table}")]
    Row {
        /// Table.
        table: &'static str,
        /// Row.
        index: u32,
        /// Answer.
        status: Status,
    },
}

/// Cycles of a packet in the RTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles {
    /// First beat accepted.
    pub first_in: u64,
    /// First beat out.
    pub first_out: u64,
    /// Last beat out.
    pub last_out: u64,
}

/// A copy that left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// Destination, queue, tag.
    pub copy: Copy,
    /// Bytes, at ports with the VLAN tag.
    pub bytes: Vec<u8>,
}

/// A frame that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Number of the frame, from 0.
    pub number: u64,
    /// Its module; none for a frame of nobody.
    pub module: Option<u8>,
    /// Bytes in the pipeline.
    pub length: usize,
    /// Copies, or why there are none.
    pub end: Result<Vec<Leaving>, &'static str>,
    /// In the RTL, of a packet that left.
    pub cycles: Option<Cycles>,
}

/// What is known of a frame on its way.
struct Way {
    number: u64,
    length: usize,
    tag: Option<[u8; 4]>,
}

enum Engine {
    Model { fast: Box<Fast>, clock: u64 },
    Rtl(Box<Lockstep<Fast>>),
}

impl RowSink for Engine {
    type Error = SessionError;

    fn write(&mut self, rows: &[RowWrite]) -> Result<(), SessionError> {
        match self {
            Self::Rtl(lockstep) => Ok(lockstep.write(rows)?),
            Self::Model { fast, .. } => {
                rows.iter().try_for_each(|row| match fast.write(row.node, row.table, row.index, &row.words) {
                    Status::Ok => Ok(()),
                    status => Err(SessionError::Row { table: row.table.name(), index: row.index, status }),
                })
            }
        }
    }

    fn commit(&mut self, module: u8, generation: u8) -> Result<(), SessionError> {
        match self {
            Self::Rtl(lockstep) => Ok(RowSink::commit(&mut **lockstep, module, generation)?),
            Self::Model { .. } => {
                use sluice_formats::{Node, Table};
                let words = vec![u32::from(generation & 1)];
                self.write(&[RowWrite { node: Node::Stamp, table: Table::Generation, index: module.into(), words }])
            }
        }
    }

    fn drained(&mut self, module: u8, generation: u8) -> Result<(), SessionError> {
        match self {
            Self::Rtl(lockstep) => Ok(lockstep.drained(module, generation)?),
            Self::Model { .. } => Ok(()),
        }
    }
}

/// A pipeline with modules.
pub struct Session {
    target: Target,
    /// Destinations below are ports.
    ports: u8,
    engine: Engine,
    tenants: Tenants,
    vlans: BTreeMap<u16, u8>,
    untagged: Option<u8>,
    numbers: [u32; 16],
    offered: u64,
    under_way: BTreeMap<u32, Way>,
    finished: VecDeque<Finished>,
}

impl Session {
    /// An empty pipeline.
    pub fn open(target: &Target, runs: Runs, options: &RtlOptions) -> Result<Self, SessionError> {
        let fast = Fast::new(*target);
        let nic = target.nic();
        let engine = match runs {
            Runs::Model => Engine::Model { fast: Box::new(fast), clock: 0 },
            _ => {
                let mut lockstep = Lockstep::new(RmtRtl::open(target, options)?, fast);
                lockstep.compare = runs == Runs::Both;
                Engine::Rtl(Box::new(lockstep))
            }
        };
        let mut session = Self {
            target: *target,
            ports: nic.ports as u8,
            engine,
            tenants: Tenants::new(Placer::new(*target)),
            vlans: BTreeMap::new(),
            untagged: None,
            numbers: [0; 16],
            offered: 0,
            under_way: BTreeMap::new(),
            finished: VecDeque::new(),
        };
        let rows = session.tenants.placer().stage_owners();
        session.engine.write(&rows)?;
        Ok(session)
    }

    /// Gives a module its room and VLANs.
    pub fn admit(&mut self, module: u8, name: &str, vlans: &[u16], quota: Quota) -> Result<(), SessionError> {
        self.tenants.admit(&mut self.engine, module, name, quota)?;
        self.vlans.extend(vlans.iter().map(|&v| (v, module)));
        Ok(())
    }

    /// The module of untagged frames.
    pub fn set_untagged(&mut self, module: Option<u8>) {
        self.untagged = module;
    }

    /// A program for a module, in the place of what it runs.
    pub fn load(&mut self, module: u8, part: &Arc<RmtPart>) -> Result<(), SessionError> {
        self.tenants.load(&mut self.engine, module, part)?;
        self.collect();
        Ok(())
    }

    /// Queues frames of a port.
    pub fn send(&mut self, port: u8, frames: impl IntoIterator<Item = Vec<u8>>) -> Result<(), SessionError> {
        let mut offers = Vec::new();
        for frame in frames {
            let number = self.offered;
            self.offered += 1;
            let mut bytes = frame;
            let tag = take_tag(&mut bytes);
            let tci = tag.map_or(0, |t| u16::from_be_bytes([t[2], t[3]]));
            let module = match tag {
                Some(_) => self.vlans.get(&(tci & 0xfff)).copied(),
                None => self.untagged,
            };
            let length = bytes.len();
            let reason = match module {
                _ if length < 14 => Err("runt"),
                _ if length > sluice_formats::limits::MAX_FRAME_BYTES as usize => Err("giant"),
                None => Err("unmapped"),
                Some(module) => Ok(module),
            };
            let module = match reason {
                Ok(module) => module,
                Err(reason) => {
                    self.finished.push_back(Finished { number, module: None, length, end: Err(reason), cycles: None });
                    continue;
                }
            };
            let count = &mut self.numbers[usize::from(port & 15)];
            let id = u32::from(port & 15) << 28 | *count;
            *count = (*count + 1) & 0xfff_ffff;
            let sideband = SidebandRow {
                id,
                stamp: self.now(),
                tenant: module.into(),
                module_id: module,
                length: length as u16,
                tci,
                tag_off: tag.is_some(),
                ..SidebandRow::default()
            };
            self.under_way.insert(id, Way { number, length, tag });
            offers.push(RmtOffer { sideband, bytes, at: 0 });
        }
        match &mut self.engine {
            Engine::Rtl(lockstep) => lockstep.offer(&offers)?,
            Engine::Model { fast, clock } => {
                for offer in offers {
                    let s = &offer.sideband;
                    let arrival = fast.stamped(&Arrival {
                        packet: &offer.bytes,
                        module: s.module_id,
                        generation: 0,
                        system_generation: 0,
                        tenant: s.tenant,
                        port: (s.id >> 28) as u8,
                        arrival: s.stamp,
                        queueing: *clock,
                    });
                    let outcome = fast.run(&arrival);
                    *clock += self.target.beats(offer.bytes.len()) as u64;
                    end(&mut self.under_way, &mut self.finished, self.ports, (s.id, s.module_id), ended(outcome), None);
                }
            }
        }
        Ok(())
    }

    /// Ticks: cycles of the RTL, beats of the model.
    pub fn now(&self) -> u64 {
        match &self.engine {
            Engine::Model { clock, .. } => *clock,
            Engine::Rtl(lockstep) => lockstep.rtl.now(),
        }
    }

    /// Lets time pass.
    pub fn wait(&mut self, ticks: u64) -> Result<(), SessionError> {
        if let Engine::Model { clock, .. } = &mut self.engine {
            *clock += ticks;
        }
        self.run(Some(ticks))
    }

    /// Until every frame has ended.
    pub fn settle(&mut self) -> Result<(), SessionError> {
        self.run(None)
    }

    fn run(&mut self, ticks: Option<u64>) -> Result<(), SessionError> {
        let Engine::Rtl(lockstep) = &mut self.engine else { return Ok(()) };
        match ticks {
            Some(max_cycles) => lockstep.run(&Until { max_cycles, ..Until::default() })?,
            None => lockstep.finish()?,
        }
        self.collect();
        Ok(())
    }

    fn collect(&mut self) {
        let Engine::Rtl(lockstep) = &mut self.engine else { return };
        while let Some(Agreed { passage, .. }) = lockstep.ended.pop_front() {
            let key = (passage.id, passage.module);
            let (result, cycles) = match passage.end {
                End::Dropped(reason) => (Err(reason.name()), None),
                End::Sent { bytes, route, first, last, .. } => {
                    let cycles = Cycles { first_in: passage.first_in, first_out: first, last_out: last };
                    (Ok((bytes, copies_of(&route))), Some(cycles))
                }
            };
            end(&mut self.under_way, &mut self.finished, self.ports, key, result, cycles);
        }
    }

    /// The oldest frame that has ended and was not taken.
    pub fn take(&mut self) -> Option<Finished> {
        self.finished.pop_front()
    }

    /// Frames that were sent.
    pub fn offered(&self) -> u64 {
        self.offered
    }

    /// Who holds what.
    pub fn tenants(&self) -> &Tenants {
        &self.tenants
    }
}

type Ended = Result<(Vec<u8>, Vec<Copy>), &'static str>;

fn ended(outcome: Outcome) -> Ended {
    match outcome {
        Outcome::Dropped(reason) => Err(reason.name()),
        Outcome::Sent { packet, copies } => Ok((packet, copies)),
    }
}

/// Takes the outer 0x8100 tag off a frame, as ingress does.
pub fn take_tag(frame: &mut Vec<u8>) -> Option<[u8; 4]> {
    let tagged = frame.len() >= 16 && frame[12..14] == VLAN_ETHERTYPE.to_be_bytes();
    let tag = tagged.then(|| [frame[12], frame[13], frame[14], frame[15]])?;
    frame.drain(12..16);
    Some(tag)
}

/// Puts the tag back on at ports, and notes the end.
fn end(
    under_way: &mut BTreeMap<u32, Way>,
    finished: &mut VecDeque<Finished>,
    ports: u8,
    (id, module): (u32, u8),
    result: Ended,
    cycles: Option<Cycles>,
) {
    let Some(Way { number, length, tag }) = under_way.remove(&id) else { return };
    let end = result.map(|(bytes, copies)| {
        let leave = |copy: Copy| {
            let mut bytes = bytes.clone();
            if let (Some(tag), true) = (tag, copy.destination < ports) {
                bytes.splice(12..12, tag);
            }
            Leaving { copy, bytes }
        };
        copies.into_iter().map(leave).collect()
    });
    finished.push_back(Finished { number, module: Some(module), length, end, cycles });
}
