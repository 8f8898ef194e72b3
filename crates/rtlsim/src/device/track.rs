//! Turns events into outcomes, and knows what is still on its way.

use crate::plugin::event::{RtlEvent, What};
use sluice_device::{Outcome, Verdict};
use sluice_formats::l7::L7Event;
use sluice_formats::l7::rows::L7TraceRow;
use sluice_formats::limits::packet_id;
use sluice_formats::{Reason, Target};
use std::collections::HashMap;

/// What is known of a packet that has copies on their way.
#[derive(Clone, Copy, Debug, Default)]
struct Packet {
    first_in: Option<u64>,
    generation: Option<u8>,
    stamp: Option<u64>,
    /// Copies that have no outcome yet.
    copies: u32,
}

/// Follows every packet from its first beat to its last outcome.
pub struct Tracker {
    target: Target,
    packets: HashMap<u32, Packet>,
    /// Offered frames whose port has not traced their end.
    arriving: u64,
    /// Stored packets without a verdict.
    undecided: u64,
    /// Copies named by verdicts that no queue has seen.
    unqueued: u64,
    /// Copies in each queue or on its wire.
    queued: Vec<u64>,
}

/// Trace events that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("packet {id:#010x} at tick {tick}: {what}")]
pub struct TraceError {
    /// Packet ID.
    pub id: u32,
    /// Tick.
    pub tick: u64,
    /// What is wrong.
    pub what: String,
}

impl Tracker {
    /// A tracker of a NIC after its reset.
    pub fn new(target: Target) -> Self {
        let queued = vec![0; target.destinations() as usize];
        Self { target, packets: HashMap::new(), arriving: 0, undecided: 0, unqueued: 0, queued }
    }

    /// Says that frames were offered.
    pub fn offered(&mut self, frames: u64) {
        self.arriving += frames;
    }

    /// Whether nothing is on its way but what waits for the blocked destinations.
    pub fn at_rest(&self, blocked: &[bool]) -> bool {
        let moving = self.queued.iter().zip(blocked).any(|(count, blocked)| *count != 0 && !blocked);
        self.arriving == 0 && self.undecided == 0 && self.unqueued == 0 && !moving
    }

    /// Whether nothing at all is inside, not even behind a blocked destination; `coming` frames have not ended at their ports.
    pub fn is_empty_but_for(&self, coming: u64) -> bool {
        self.arriving == coming && self.undecided == 0 && self.unqueued == 0 && self.queued.iter().all(|n| *n == 0)
    }

    /// What is on its way, for messages.
    pub fn describe(&self) -> String {
        format!(
            "{} frames arriving, {} without verdict, {} copies before a queue, queued by destination {:?}",
            self.arriving, self.undecided, self.unqueued, self.queued
        )
    }

    /// Takes an event; gives the outcome it completes.
    pub fn take(&mut self, event: &RtlEvent) -> Result<Option<Outcome>, TraceError> {
        let tick = event.tick;
        match &event.what {
            What::Arrived { port, first, number } => {
                let id = packet_id(*port, *number);
                // A packet may be stamped before its last beat, where an engine is a top of its own.
                self.packets.entry(id).or_default().first_in = Some(*first);
                Ok(None)
            }
            What::Port(row) => {
                self.arriving = self.arriving.checked_sub(1).ok_or_else(|| error(row.id, tick, "never offered"))?;
                if row.dropped {
                    let packet = self.packets.remove(&row.id).unwrap_or_default();
                    return dropped(row.id, row.module_id, row.reason, None, packet, tick).map(Some);
                }
                self.undecided += 1;
                Ok(None)
            }
            What::Merge(row) => {
                let packet = self.packets.entry(row.id).or_default();
                packet.generation = Some(row.generation.into());
                packet.stamp = Some(row.stamp);
                Ok(None)
            }
            What::Verdict(row) => {
                self.undecided = self.undecided.checked_sub(1).ok_or_else(|| error(row.id, tick, "never stored"))?;
                if row.dropped {
                    let packet = self.packets.remove(&row.id).unwrap_or_default();
                    return dropped(row.id, row.module_id, row.reason, None, packet, tick).map(Some);
                }
                let copies = row.destinations.count_ones();
                self.unqueued += u64::from(copies);
                self.packets.entry(row.id).or_default().copies = copies;
                Ok(None)
            }
            What::Queue(row) => {
                self.unqueued = self.unqueued.checked_sub(1).ok_or_else(|| error(row.id, tick, "no verdict"))?;
                if row.dropped {
                    let packet = self.finish_copy(row.id, tick)?;
                    return dropped(row.id, row.module_id, row.reason, Some(row.destination), packet, tick).map(Some);
                }
                *self.queue(row.destination, row.id, tick)? += 1;
                Ok(None)
            }
            What::Left { destination, first, sideband, queue, bytes } => {
                let (own, message) = (sideband.egress_queue, *queue);
                let queue = self.queue(*destination, sideband.id, tick)?;
                *queue = queue.checked_sub(1).ok_or_else(|| error(sideband.id, tick, "left a queue it was not in"))?;
                let packet = self.finish_copy(sideband.id, tick)?;
                Ok(Some(Outcome {
                    id: sideband.id,
                    verdict: self.departure(*destination),
                    module: sideband.module_id,
                    tenant: Some(sideband.tenant),
                    generation: Some(sideband.generation.into()),
                    stamp: packet.stamp,
                    bytes: bytes.clone(),
                    queue: message.unwrap_or(own),
                    tag: sideband.tag,
                    first_in: packet.first_in,
                    first_out: Some(*first),
                    last_out: Some(tick),
                }))
            }
            What::Dispatched(row) => self.dispatched(row, tick),
            What::Passed(_) | What::Leave(_) | What::Epoch(_) => Ok(None),
            What::Reply(_) | What::Routed { .. } | What::Step { .. } => Ok(None),
            What::Ring(_) | What::Forgot(_) | What::Wrote { .. } => Ok(None),
        }
    }

    /// A packet behind the last host queue is done with, or will be when its last beat leaves.
    fn dispatched(&mut self, row: &L7TraceRow, tick: u64) -> Result<Option<Outcome>, TraceError> {
        if !row.dropped && !row.consumed {
            return Ok(None);
        }
        let last = self.target.destinations() as u8 - 1;
        let queue = self.queue(last, row.id, tick)?;
        *queue =
            queue.checked_sub(1).ok_or_else(|| error(row.id, tick, "was dispatched from a queue it was not in"))?;
        let packet = self.finish_copy(row.id, tick)?;
        if row.dropped {
            let code = L7Event::from_code(row.kind).and_then(L7Event::reason).map_or(u8::MAX, Reason::code);
            return dropped(row.id, row.module_id, code, None, packet, tick).map(Some);
        }
        Ok(Some(Outcome {
            id: row.id,
            verdict: Verdict::Consumed { ring: row.queue_id },
            module: row.module_id,
            tenant: None,
            generation: packet.generation,
            stamp: packet.stamp,
            bytes: Vec::new(),
            queue: row.queue_id,
            tag: 0,
            first_in: packet.first_in,
            first_out: None,
            last_out: Some(tick),
        }))
    }

    fn departure(&self, destination: u8) -> Verdict {
        match u32::from(destination).checked_sub(self.target.ports) {
            None => Verdict::Forwarded { port: destination },
            Some(queue) => Verdict::Delivered { queue: queue as u8 },
        }
    }

    fn queue(&mut self, destination: u8, id: u32, tick: u64) -> Result<&mut u64, TraceError> {
        self.queued.get_mut(usize::from(destination)).ok_or_else(|| error(id, tick, "no such destination"))
    }

    fn finish_copy(&mut self, id: u32, tick: u64) -> Result<Packet, TraceError> {
        let Some(packet) = self.packets.get_mut(&id).filter(|p| p.copies > 0) else {
            return Err(error(id, tick, "more copies than its verdict named"));
        };
        packet.copies -= 1;
        let known = *packet;
        if known.copies == 0 {
            self.packets.remove(&id);
        }
        Ok(known)
    }
}

fn error(id: u32, tick: u64, what: &str) -> TraceError {
    TraceError { id, tick, what: what.into() }
}

fn dropped(
    id: u32,
    module: u8,
    code: u8,
    destination: Option<u8>,
    packet: Packet,
    tick: u64,
) -> Result<Outcome, TraceError> {
    let reason =
        Reason::from_code(code).ok_or_else(|| TraceError { id, tick, what: format!("unknown drop reason {code}") })?;
    Ok(Outcome {
        id,
        verdict: Verdict::Dropped { reason, destination },
        module,
        tenant: None,
        generation: packet.generation,
        stamp: packet.stamp,
        bytes: Vec::new(),
        queue: 0,
        tag: 0,
        first_in: packet.first_in,
        first_out: None,
        last_out: Some(tick),
    })
}
