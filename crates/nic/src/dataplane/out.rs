//! Where packets of the data plane go.

use crate::ends;
use sluice_device::{Event, Packet};
use sluice_formats::Reason;
use std::collections::VecDeque;

/// What takes packets that leave, and is told of those that do not. `now` is in ticks.
pub(super) trait Out {
    /// Copies that a destination takes now; more wait in their queues.
    fn room(&mut self, destination: u8) -> usize;

    /// A copy leaves. Its frame may be taken out of it.
    fn left(&mut self, packet: &mut Packet, destination: u8, now: u64);

    /// A copy is in a buffer of a ring.
    fn consumed(&mut self, packet: &Packet, ring: u8, now: u64);

    /// A packet was dropped, or its copy for a destination.
    fn dropped(&mut self, packet: &Packet, reason: Reason, destination: Option<u8>, now: u64);

    /// A frame was dropped at its port, and counted for this module.
    fn refused(&mut self, id: u32, owner: u8, reason: Reason, now: u64);
}

/// Keeps what becomes of packets as events: for captures and tests.
#[derive(Debug)]
pub(super) struct Events<'a> {
    pub events: &'a mut VecDeque<Event>,
    pub ports: u32,
}

impl Out for Events<'_> {
    fn room(&mut self, _: u8) -> usize {
        usize::MAX
    }

    fn left(&mut self, packet: &mut Packet, destination: u8, now: u64) {
        self.events.push_back(ends::left(std::mem::take(packet), destination, self.ports, (now, now)));
    }

    fn consumed(&mut self, packet: &Packet, ring: u8, now: u64) {
        self.events.push_back(ends::consumed(packet, ring, (now, now)));
    }

    fn dropped(&mut self, packet: &Packet, reason: Reason, destination: Option<u8>, now: u64) {
        self.events.push_back(ends::dropped(packet, reason, destination, now));
    }

    fn refused(&mut self, id: u32, owner: u8, reason: Reason, now: u64) {
        self.events.push_back(ends::refused(id, owner, reason, now, now));
    }
}
