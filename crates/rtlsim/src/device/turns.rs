//! Frames that wait for their tick, or until the one before has left.

use sluice_device::Offer;
use std::collections::VecDeque;

/// What has not gone in yet, by tick.
#[derive(Debug, Default)]
pub struct Turns {
    waiting: VecDeque<Offer>,
    in_turns: bool,
}

impl Turns {
    /// Whether each frame waits until none is inside.
    pub fn take_turns(&mut self, in_turns: bool) {
        self.in_turns = in_turns;
    }

    /// Whether a frame that comes now may have to wait here for others.
    pub fn holds_back(&self) -> bool {
        self.in_turns || !self.waiting.is_empty()
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes frames for later. Those of one tick keep their order.
    pub fn push(&mut self, packets: impl IntoIterator<Item = Offer>) {
        self.waiting.extend(packets);
        self.waiting.make_contiguous().sort_by_key(|packet| packet.at);
    }

    /// Frames wait for others that are inside.
    pub fn waits(&self, none_inside: bool) -> bool {
        !self.waiting.is_empty() && !self.may_enter(none_inside)
    }

    /// When the next frame is due.
    pub fn next_due(&self, none_inside: bool) -> Option<u64> {
        self.waiting.front().filter(|_| self.may_enter(none_inside)).map(|packet| packet.at)
    }

    /// The next frame, if it goes in now.
    pub fn next(&mut self, now: u64, none_inside: bool) -> Option<Offer> {
        let may_enter = self.may_enter(none_inside);
        self.waiting.pop_front_if(|packet| may_enter && packet.at <= now)
    }

    fn may_enter(&self, none_inside: bool) -> bool {
        none_inside || !self.in_turns
    }
}
