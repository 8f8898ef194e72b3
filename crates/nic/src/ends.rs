//! What became of a packet, as events.

use sluice_device::{Event, Outcome, Packet, Verdict};
use sluice_formats::Reason;

/// Ticks of the first and of the last beat out.
pub(crate) type Times = (u64, u64);

/// What every outcome of a packet that was stamped has.
fn outcome(packet: &Packet, verdict: Verdict, (first_out, last_out): (Option<u64>, u64)) -> Outcome {
    Outcome {
        id: packet.id,
        verdict,
        module: packet.module,
        tenant: Some(packet.tenant),
        generation: Some(packet.stamped.generation),
        stamp: Some(packet.stamp),
        bytes: Vec::new(),
        queue: 0,
        tag: 0,
        first_in: Some(packet.first_in),
        first_out,
        last_out: Some(last_out),
    }
}

/// A copy has left through a port or reached a host queue; there are so many ports.
pub(crate) fn left(packet: Packet, destination: u8, ports: u32, (first, last): Times) -> Event {
    let at_port = u32::from(destination) < ports;
    let verdict = match at_port {
        true => Verdict::Forwarded { port: destination },
        false => Verdict::Delivered { queue: destination - ports as u8 },
    };
    let (queue, tag) = (packet.route.queue, packet.route.tags[usize::from(destination & 7)]);
    let outcome = outcome(&packet, verdict, (Some(first), last));
    let bytes = if at_port { packet.frame.into_port(packet.tci) } else { packet.frame.into_host() };
    Event::Outcome(Outcome { bytes, queue, tag, ..outcome })
}

/// A copy is in a buffer of a ring.
pub(crate) fn consumed(packet: &Packet, ring: u8, (first, last): Times) -> Event {
    let outcome = outcome(packet, Verdict::Consumed { ring }, (Some(first), last));
    Event::Outcome(Outcome { queue: ring, ..outcome })
}

/// A packet was dropped, or its copy for a destination.
pub(crate) fn dropped(packet: &Packet, reason: Reason, destination: Option<u8>, now: u64) -> Event {
    Event::Outcome(outcome(packet, Verdict::Dropped { reason, destination }, (None, now)))
}

/// A frame was dropped at its port: whose port it is counted for, and when its first beat came.
pub(crate) fn refused(id: u32, owner: u8, reason: Reason, first_in: u64, now: u64) -> Event {
    Event::Outcome(Outcome {
        id,
        verdict: Verdict::Dropped { reason, destination: None },
        module: owner,
        tenant: None,
        generation: None,
        stamp: None,
        bytes: Vec::new(),
        queue: 0,
        tag: 0,
        first_in: Some(first_in),
        first_out: None,
        last_out: Some(now),
    })
}
