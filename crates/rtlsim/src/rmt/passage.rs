//! What became of each packet, put together from the top's events.

use crate::error::RtlError;
use crate::event::{RtlEvent, What};
use sluice_device::Route;
use sluice_formats::rmt::tables::Event as Reason;
use sluice_formats::rmt::target::DESTINATIONS;
use sluice_formats::rows::SidebandRow;
use sluice_rmt::Copy;
use std::collections::VecDeque;

/// How a packet ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Dropped.
    Dropped(Reason),
    /// Left.
    Sent {
        /// Bytes.
        bytes: Vec<u8>,
        /// Sideband.
        sideband: SidebandRow,
        /// Destinations, queue, tags.
        route: Route,
        /// Tick of the first beat.
        first: u64,
        /// Tick of the last beat.
        last: u64,
    },
}

/// A packet's way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Packet ID.
    pub id: u32,
    /// Module.
    pub module: u8,
    /// Its generation.
    pub generation: u8,
    /// The system module's generation.
    pub system_generation: u8,
    /// When it entered the pipeline.
    pub queueing: u64,
    /// Tick at which its first beat was accepted.
    pub first_in: u64,
    /// How it ended.
    pub end: End,
}

/// One copy for each destination of a route, lowest first.
pub(super) fn copies_of(route: &Route) -> Vec<Copy> {
    let copy = |destination: u8| Copy { destination, queue: route.queue, tag: route.tags[usize::from(destination)] };
    (0..DESTINATIONS as u8).filter(|d| route.destinations >> d & 1 == 1).map(copy).collect()
}

struct Open {
    passage: Passage,
    judged: bool,
}

/// Packets between entrance and end. They keep their order everywhere.
#[derive(Default)]
pub struct Passages {
    /// Stamped, without an end, oldest first.
    open: VecDeque<Open>,
    /// First beats of packets that have arrived and were not stamped before.
    arrived: VecDeque<u64>,
    /// Stamped packets whose arrival was not seen whole yet.
    unseen: usize,
    done: VecDeque<Passage>,
}

impl Passages {
    /// Takes an event.
    pub fn take(&mut self, event: RtlEvent) -> Result<(), RtlError> {
        let tick = event.tick;
        let wrong = |what: String| Err(RtlError::Failed { what: format!("tick {tick}: {what}") });
        match event.what {
            // A packet longer than the window is stamped before its last beat is in, a shorter one after.
            What::Arrived { first, .. } => match self.unseen {
                0 => self.arrived.push_back(first),
                n => {
                    let at = self.open.len() + self.done.len() - n;
                    self.unseen -= 1;
                    match at.checked_sub(self.done.len()) {
                        Some(i) => self.open[i].passage.first_in = first,
                        None => self.done[at].first_in = first,
                    }
                }
            },
            What::Merge(row) => {
                let (id, module, queueing) = (row.id, row.module_id, row.stamp);
                let (generation, system_generation) = (row.generation.into(), row.system_generation.into());
                let first_in = self.arrived.pop_front();
                self.unseen += usize::from(first_in.is_none());
                let end = End::Dropped(Reason::Copies);
                let first_in = first_in.unwrap_or(0);
                let passage = Passage { id, module, generation, system_generation, queueing, first_in, end };
                self.open.push_back(Open { passage, judged: false });
            }
            What::Verdict(row) => {
                let (id, module, destinations) = (row.id, row.module_id, row.destinations);
                let reason = sluice_formats::Reason::from_code(row.reason).and_then(|reason| reason.event());
                let dropped = match (row.dropped, reason) {
                    (true, None) => {
                        return wrong(format!("packet {id:#x} is dropped for the unknown reason {}", row.reason));
                    }
                    (true, reason) => reason,
                    (false, _) => None,
                };
                let Some(at) = self.open.iter().position(|o| !o.judged) else {
                    return wrong(format!("a verdict of packet {id:#x}, which was never stamped"));
                };
                let open = &mut self.open[at];
                if (open.passage.id, open.passage.module) != (id, module) {
                    return wrong(format!("the verdict of packet {id:#x}, expected {:#x}", open.passage.id));
                }
                open.judged = true;
                match dropped {
                    Some(reason) if at == 0 => {
                        open.passage.end = End::Dropped(reason);
                        self.close_first();
                    }
                    Some(reason) => open.passage.end = End::Dropped(reason),
                    None if destinations == 0 => return wrong(format!("packet {id:#x} is sent nowhere")),
                    None => open.passage.end = End::Dropped(Reason::Copies),
                }
            }
            What::Routed { first, sideband, tags, bytes } => {
                let route = Route { destinations: sideband.destinations, queue: sideband.egress_queue, tags };
                let Some(open) = self.open.front_mut() else {
                    return wrong(format!("packet {:#x} left and was not there", sideband.id));
                };
                if open.passage.id != sideband.id {
                    return wrong(format!("packet {:#x} left, expected {:#x}", sideband.id, open.passage.id));
                }
                open.passage.end = End::Sent { bytes, sideband, route, first, last: tick };
                open.judged = true;
                self.close_first();
            }
            _ => {}
        }
        Ok(())
    }

    /// Closes the oldest packet and those behind it that were dropped meanwhile.
    fn close_first(&mut self) {
        if let Some(first) = self.open.pop_front() {
            self.done.push_back(first.passage);
        }
        // A packet that is to leave is open until its last beat; `Copies` is no reason of a drop.
        while let Some(open) = self
            .open
            .pop_front_if(|o| o.judged && matches!(o.passage.end, End::Dropped(reason) if reason != Reason::Copies))
        {
            self.done.push_back(open.passage);
        }
    }

    /// Packets that have not ended.
    pub fn open(&self) -> usize {
        self.open.len() + self.arrived.len()
    }

    /// The oldest packet that has ended and whose arrival was seen.
    pub fn take_done(&mut self) -> Option<Passage> {
        // An end may be seen before the last beat in, when the packet is dropped early.
        if self.unseen > self.open.len() && self.done.len() <= self.unseen - self.open.len() {
            return None;
        }
        self.done.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::rows::{MergeTraceRow, VerdictTraceRow};

    fn stamped(id: u32) -> What {
        What::Merge(MergeTraceRow { id, module_id: 1, ..MergeTraceRow::default() })
    }

    fn arrived(first: u64) -> What {
        What::Arrived { port: 0, first, number: 0 }
    }

    fn verdict(id: u32, dropped: Option<sluice_formats::Reason>) -> What {
        let destinations = u8::from(dropped.is_none());
        let reason = dropped.map_or(0, |reason| reason.code());
        let row = VerdictTraceRow { id, module_id: 1, dropped: dropped.is_some(), reason, destinations };
        What::Verdict(row)
    }

    fn left(id: u32) -> What {
        let sideband = SidebandRow { id, ..SidebandRow::default() };
        What::Routed { first: 8, sideband, tags: [0; DESTINATIONS], bytes: vec![1] }
    }

    fn run(events: Vec<What>) -> (Vec<(u32, u64, bool)>, bool) {
        let mut passages = Passages::default();
        let mut broken = false;
        for (tick, what) in events.into_iter().enumerate() {
            broken |= passages.take(RtlEvent { tick: tick as u64, what }).is_err();
        }
        let mut done = Vec::new();
        while let Some(p) = passages.take_done() {
            done.push((p.id, p.first_in, matches!(p.end, End::Sent { .. })));
        }
        (done, broken)
    }

    #[test]
    fn packets_end_in_the_order_they_came_in() {
        let drop = Some(sluice_formats::Reason::Discard);
        let events = vec![arrived(5), stamped(1), stamped(2), arrived(6), verdict(1, None), verdict(2, drop), left(1)];
        assert_eq!(run(events), (vec![(1, 5, true), (2, 6, false)], false));
    }

    #[test]
    fn a_packet_that_is_dropped_before_its_last_beat_waits_for_it() {
        let drop = Some(sluice_formats::Reason::ParseReject);
        assert_eq!(run(vec![stamped(1), verdict(1, drop)]), (vec![], false));
        let events = vec![stamped(1), verdict(1, drop), arrived(3)];
        assert_eq!(run(events), (vec![(1, 3, false)], false));
    }

    #[test]
    fn packets_that_change_places_are_an_error() {
        assert!(run(vec![stamped(1), stamped(2), left(2)]).1);
        assert!(run(vec![stamped(1), stamped(2), verdict(2, None)]).1);
        assert!(run(vec![left(2)]).1);
    }
}
