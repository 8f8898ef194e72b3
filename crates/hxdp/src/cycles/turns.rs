//! Sections of flows: packets of a flow pass them one after the other (docs/design/hxdp-core.md, "Order").

use std::collections::{HashMap, VecDeque};

/// By flow, the packets that have sections, in their order, and when each has left its own.
#[derive(Clone, Debug, Default)]
pub struct Turns(HashMap<u32, VecDeque<(usize, u64)>>);

impl Turns {
    /// A packet with a section comes.
    pub fn comes(&mut self, flow: u32, packet: usize) {
        self.0.entry(flow).or_default().push_back((packet, u64::MAX));
    }

    /// It has left its section, or will have then.
    pub fn leaves(&mut self, at: u64, flow: u32, packet: usize) {
        let packets = self.0.entry(flow).or_default();
        if let Some((_, left)) = packets.iter_mut().find(|(other, _)| *other == packet) {
            *left = at.min(*left);
        }
    }

    /// Whether all before it have left theirs, or it has left its own: what it reads behind that nobody waits for.
    pub fn is_first(&mut self, now: u64, flow: u32, packet: usize) -> bool {
        let packets = self.0.entry(flow).or_default();
        while packets.front().is_some_and(|(_, left)| *left <= now) {
            packets.pop_front();
        }
        let Some(place) = packets.iter().position(|(other, left)| *other == packet && *left == u64::MAX) else {
            return true;
        };
        packets.iter().take(place).all(|(_, left)| *left <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_first_when_those_before_it_have_left() {
        let mut turns = Turns::default();
        (1..4).for_each(|packet| turns.comes(7, packet));
        turns.comes(8, 9);
        assert!(turns.is_first(0, 7, 1) && !turns.is_first(0, 7, 2) && turns.is_first(0, 8, 9));
        turns.leaves(5, 7, 2);
        turns.leaves(10, 7, 1);
        assert!(!turns.is_first(9, 7, 3) && turns.is_first(10, 7, 3));
        assert!(turns.is_first(11, 7, 2), "it has left");
    }
}
