//! RTL and a model beside each other: the model sees each packet when the RTL stamps it, with the RTL's generations
//! and time, and both must end it in the same way.

use super::driver::{RmtOffer, RmtRtl};
use super::passage::{End, Passage, Passages, copies_of};
use super::tenants::RowSink;
use crate::error::RtlError;
use crate::event::What;
use crate::plugin::Until;
use sluice_formats::Status;
use sluice_object::linker::rmt::{RmtError, RowWrite};
use sluice_rmt::fast::Fast;
use sluice_rmt::{Arrival, Outcome};
use std::collections::{HashMap, VecDeque};

/// What runs beside the RTL.
pub trait Model {
    /// A packet's way through the pipeline.
    fn run(&mut self, arrival: &Arrival) -> Outcome;
    /// A row that was written; models of whole programs do not look at rows.
    fn write(&mut self, row: &RowWrite) -> Status;
}

impl Model for Fast {
    fn run(&mut self, arrival: &Arrival) -> Outcome {
        Fast::run(self, arrival)
    }
    fn write(&mut self, row: &RowWrite) -> Status {
        Fast::write(self, row.node, row.table, row.index, &row.words)
    }
}

/// A packet that both ended in the same way.
#[derive(Clone, Debug)]
pub struct Agreed {
    /// Its way through the RTL.
    pub passage: Passage,
    /// What the model made of it.
    pub outcome: Outcome,
}

/// RTL and model, with what is under way.
pub struct Lockstep<M> {
    /// The RTL; packets go in by [`Lockstep::offer`], and events are taken by [`Lockstep::run`].
    pub rtl: RmtRtl,
    /// The model.
    pub model: M,
    /// A difference is an error; otherwise only the RTL counts.
    pub compare: bool,
    waiting: HashMap<u32, RmtOffer>,
    expected: VecDeque<Outcome>,
    passages: Passages,
    /// Packets that ended, oldest first, until the caller takes them.
    pub ended: VecDeque<Agreed>,
    /// Packets that ended in all.
    pub agreed: u64,
}

impl<M: Model> Lockstep<M> {
    /// Around an instance that nothing was offered to, and a model in the same state.
    pub fn new(rtl: RmtRtl, model: M) -> Self {
        Self {
            rtl,
            model,
            compare: true,
            waiting: HashMap::new(),
            expected: VecDeque::new(),
            passages: Passages::default(),
            ended: VecDeque::new(),
            agreed: 0,
        }
    }

    /// Queues packets; those under way have different IDs.
    pub fn offer(&mut self, packets: &[RmtOffer]) -> Result<(), RtlError> {
        self.rtl.offer(packets)?;
        for packet in packets {
            if self.waiting.insert(packet.sideband.id, packet.clone()).is_some() {
                let what = format!("packet {:#x} is offered twice", packet.sideband.id);
                return Err(RtlError::Failed { what });
            }
        }
        Ok(())
    }

    /// Packets that were offered and have not ended.
    pub fn open(&self) -> usize {
        self.waiting.len()
    }

    /// Runs the RTL for some cycles, or until it is quiet.
    pub fn run(&mut self, until: &Until) -> Result<(), RtlError> {
        let result = self.rtl.run(until);
        // What happened before a failure tells more than the failure.
        self.follow()?;
        result.map(drop)
    }

    /// Runs until every packet has ended.
    pub fn finish(&mut self) -> Result<(), RtlError> {
        self.follow()?;
        let until = Until { max_cycles: 1_000_000, quiet_cycles: 2_000, event_bytes: 1 << 22, ..Until::default() };
        let mut stuck = 0;
        while self.open() > 0 {
            let before = self.open();
            self.run(&until)?;
            stuck = if self.open() == before { stuck + 1 } else { 0 };
            if stuck == 3 {
                return Err(RtlError::Failed { what: format!("{before} packets never ended") });
            }
        }
        Ok(())
    }

    /// Takes what the ring's calls of the driver left behind.
    pub fn follow(&mut self) -> Result<(), RtlError> {
        while let Some(event) = self.rtl.take_event() {
            if let What::Merge(row) = &event.what {
                let (id, module) = (row.id, row.module_id);
                let Some(packet) = self.waiting.get(&id) else {
                    return Err(RtlError::Failed { what: format!("packet {id:#x} was stamped and never offered") });
                };
                if packet.sideband.module_id != module {
                    return Err(RtlError::Failed { what: format!("packet {id:#x} was stamped for module {module}") });
                }
                self.expected.push_back(self.model.run(&Arrival {
                    packet: &packet.bytes,
                    module,
                    generation: row.generation.into(),
                    system_generation: row.system_generation.into(),
                    tenant: packet.sideband.tenant,
                    port: (id >> 28) as u8,
                    arrival: packet.sideband.stamp,
                    queueing: row.stamp,
                }));
            }
            self.passages.take(event)?;
            while let Some(passage) = self.passages.take_done() {
                let missing = || RtlError::Failed { what: format!("packet {:#x} ended and was not there", passage.id) };
                let outcome = self.expected.pop_front().ok_or_else(missing)?;
                let packet = self.waiting.remove(&passage.id).ok_or_else(missing)?;
                if self.compare {
                    compare(&passage, &outcome, &packet).map_err(|what| RtlError::Failed {
                        what: format!("packet {:#x} of module {}: {what}", passage.id, passage.module),
                    })?;
                }
                self.agreed += 1;
                self.ended.push_back(Agreed { passage, outcome });
            }
        }
        Ok(())
    }
}

impl From<RmtError> for RtlError {
    fn from(error: RmtError) -> Self {
        Self::Failed { what: error.to_string() }
    }
}

impl<M: Model> RowSink for Lockstep<M> {
    type Error = RtlError;

    fn write(&mut self, rows: &[RowWrite]) -> Result<(), RtlError> {
        self.rtl.write_all(rows.iter().map(|r| (r.node, r.table, r.index, &r.words[..])))?;
        self.follow()?;
        for row in rows {
            let status = self.model.write(row);
            if status != Status::Ok {
                let what =
                    format!("the model answered {status:?} to {:?} {}[{}]", row.node, row.table.name(), row.index);
                return Err(RtlError::Failed { what });
            }
        }
        Ok(())
    }

    fn commit(&mut self, module: u8, generation: u8) -> Result<(), RtlError> {
        while !self.rtl.commit(module, generation)? {
            self.follow()?;
        }
        self.follow()
    }

    fn drained(&mut self, module: u8, generation: u8) -> Result<(), RtlError> {
        loop {
            let row = self.rtl.generation(module)?;
            self.follow()?;
            if [row.in_flight_0, row.in_flight_1][usize::from(generation & 1)] == 0 {
                return Ok(());
            }
        }
    }
}

/// Where RTL and model differ.
fn compare(passage: &Passage, outcome: &Outcome, offered: &RmtOffer) -> Result<(), String> {
    match (&passage.end, outcome) {
        (End::Dropped(rtl), Outcome::Dropped(model)) if rtl.name() == model.name() => Ok(()),
        (End::Dropped(rtl), Outcome::Dropped(model)) => {
            Err(format!("the RTL dropped it as {}, the model as {}", rtl.name(), model.name()))
        }
        (End::Dropped(rtl), Outcome::Sent { .. }) => Err(format!("the RTL dropped it as {}", rtl.name())),
        (End::Sent { .. }, Outcome::Dropped(model)) => Err(format!("the model dropped it as {}", model.name())),
        (End::Sent { bytes, sideband, route, .. }, Outcome::Sent { packet, copies }) => {
            if bytes != packet {
                return Err(differing(bytes, packet));
            }
            let mut wanted = offered.sideband;
            wanted.generation = passage.generation == 1;
            wanted.length = packet.len() as u16;
            wanted.destinations = copies.iter().fold(0, |mask, c| mask | 1 << c.destination);
            wanted.egress_queue = copies.first().map_or(0, |c| c.queue);
            if *sideband != wanted {
                return Err(format!("sideband\n  rtl   {sideband:?}\n  model {wanted:?}"));
            }
            let of_route = copies_of(route);
            if of_route != *copies {
                return Err(format!("copies\n  rtl   {of_route:?}\n  model {copies:?}"));
            }
            Ok(())
        }
    }
}

fn differing(rtl: &[u8], model: &[u8]) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let at = rtl.iter().zip(model).position(|(a, b)| a != b).unwrap_or(rtl.len().min(model.len()));
    let from = at.saturating_sub(8);
    let part = |bytes: &[u8]| hex(&bytes[from.min(bytes.len())..bytes.len().min(at + 24)]);
    format!(
        "bytes differ from byte {at} on ({} and {} bytes); from byte {from}:\n  rtl   {}\n  model {}",
        rtl.len(),
        model.len(),
        part(rtl),
        part(model)
    )
}
