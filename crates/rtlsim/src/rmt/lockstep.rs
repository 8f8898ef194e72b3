//! RTL and a model beside each other: the model sees each packet when the RTL stamps it, with the RTL's generations
//! and time, and both must end it in the same way.

use super::driver::{RmtOffer, RmtRtl};
use super::event::RmtWhat;
use super::passage::{End, Passage, Passages};
use crate::error::RtlError;
use crate::plugin::Until;
use sluice_rmt::{Arrival, Copy, Outcome};
use std::collections::{HashMap, VecDeque};

/// What runs beside the RTL.
pub trait Model {
    /// A packet's way through the pipeline.
    fn run(&mut self, arrival: &Arrival) -> Outcome;
}

impl Model for sluice_rmt::Pipeline {
    fn run(&mut self, arrival: &Arrival) -> Outcome {
        sluice_rmt::Pipeline::run(self, arrival)
    }
}

impl<F: FnMut(&Arrival) -> Outcome> Model for F {
    fn run(&mut self, arrival: &Arrival) -> Outcome {
        self(arrival)
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

/// The RTL, with what is under way in it.
pub struct Lockstep {
    /// The RTL; packets go in by [`Lockstep::offer`], and events are taken by [`Lockstep::run`].
    pub rtl: RmtRtl,
    waiting: HashMap<u32, RmtOffer>,
    expected: VecDeque<Outcome>,
    passages: Passages,
    /// Packets that agreed.
    pub agreed: u64,
}

impl Lockstep {
    /// Around an instance that nothing was offered to.
    pub fn new(rtl: RmtRtl) -> Self {
        Self { rtl, waiting: HashMap::new(), expected: VecDeque::new(), passages: Passages::default(), agreed: 0 }
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

    /// Runs the RTL for some cycles, or until it is quiet; `seen` gets each packet that ended.
    pub fn run(&mut self, until: &Until, model: &mut dyn Model, mut seen: impl FnMut(Agreed)) -> Result<(), RtlError> {
        let result = self.rtl.run(until);
        // What happened before a failure tells more than the failure.
        self.follow(model, &mut seen)?;
        result.map(drop)
    }

    /// Runs until every packet has ended.
    pub fn finish(&mut self, model: &mut dyn Model, mut seen: impl FnMut(Agreed)) -> Result<(), RtlError> {
        self.follow(model, &mut seen)?;
        let until = Until { max_cycles: 1_000_000, quiet_cycles: 2_000, event_bytes: 1 << 22, ..Until::default() };
        while self.open() > 0 {
            let before = (self.open(), self.rtl.now());
            self.run(&until, model, &mut seen)?;
            if self.open() == before.0 && self.rtl.now() - before.1 < until.max_cycles {
                return Err(RtlError::Failed { what: format!("{} packets never ended", self.open()) });
            }
        }
        Ok(())
    }

    /// Takes what the ring's calls of the driver left behind.
    pub fn follow(&mut self, model: &mut dyn Model, seen: &mut dyn FnMut(Agreed)) -> Result<(), RtlError> {
        while let Some(event) = self.rtl.take_event() {
            if let RmtWhat::Stamped { id, module, generation, system_generation, queueing } = event.what {
                let Some(packet) = self.waiting.get(&id) else {
                    return Err(RtlError::Failed { what: format!("packet {id:#x} was stamped and never offered") });
                };
                if packet.sideband.module_id != module {
                    return Err(RtlError::Failed { what: format!("packet {id:#x} was stamped for module {module}") });
                }
                self.expected.push_back(model.run(&Arrival {
                    packet: &packet.bytes,
                    module,
                    generation,
                    system_generation,
                    tenant: packet.sideband.tenant,
                    port: (id >> 28) as u8,
                    arrival: packet.sideband.stamp,
                    queueing,
                }));
            }
            self.passages.take(event)?;
            while let Some(passage) = self.passages.take_done() {
                let missing = || RtlError::Failed { what: format!("packet {:#x} ended and was not there", passage.id) };
                let outcome = self.expected.pop_front().ok_or_else(missing)?;
                let packet = self.waiting.remove(&passage.id).ok_or_else(missing)?;
                compare(&passage, &outcome, &packet).map_err(|what| RtlError::Failed {
                    what: format!("packet {:#x} of module {}: {what}", passage.id, passage.module),
                })?;
                self.agreed += 1;
                seen(Agreed { passage, outcome });
            }
        }
        Ok(())
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
            if *sideband != wanted {
                return Err(format!("sideband\n  rtl   {sideband:?}\n  model {wanted:?}"));
            }
            let of_route = (0..8).filter(|d| route.destinations >> d & 1 == 1).map(|destination| Copy {
                destination,
                queue: route.queue,
                tag: route.tags[usize::from(destination)],
            });
            let of_route: Vec<Copy> = of_route.collect();
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
