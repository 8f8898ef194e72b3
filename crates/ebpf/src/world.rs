//! What a program sees beside its packet and maps: time, random numbers, CPU, routes; and what it says.

use crate::MapId;
use crate::helper::routes::Routes;
use sluice_device::ProgramEvent;
use sluice_formats::random::Rng;
use std::collections::VecDeque;

/// Most bytes of events that are kept.
const MAX_EVENT_BYTES: u64 = 64 << 20;
/// What an event counts beside its bytes.
const EVENT_OVERHEAD: u64 = 64;

/// Everything fed to programs (contract 11, class *fed*), and the events they emit.
#[derive(Clone, Debug)]
pub struct World {
    /// `ktime_get_ns` and the other clocks: the packet's stamp, in nanoseconds.
    pub now_ns: u64,
    /// `get_prandom_u32`, where nothing is `given`.
    pub random: Rng,
    /// Numbers that somebody else has drawn for the next packet, the first one first: random ones, and for each event whether there
    /// was room for it (0 is no).
    pub given: VecDeque<u32>,
    /// `get_smp_processor_id`: the hardware context.
    pub cpu: u32,
    /// `fib_lookup`.
    pub routes: Routes,
    /// Events since they were last taken, in order.
    pub events: Vec<Event>,
    /// Most events kept: further ones, and those above 64 MiB in all, are counted in `lost_events`.
    pub max_events: usize,
    /// Events that found no room.
    pub lost_events: u64,
    /// Bytes of `events`, each with an overhead.
    event_bytes: u64,
}

/// What a program told the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A line of `trace_printk`.
    Trace(String),
    /// `perf_event_output`: data, then packet bytes if asked for.
    Perf {
        /// The map.
        map: MapId,
        /// CPU whose buffer it went to.
        cpu: u32,
        /// The bytes.
        data: Vec<u8>,
    },
    /// A submitted record of a ring buffer.
    Ring {
        /// The map.
        map: MapId,
        /// The bytes.
        data: Vec<u8>,
    },
}

impl World {
    /// Time 0, CPU 0, no routes.
    pub fn new(seed: u64) -> Self {
        Self {
            now_ns: 0,
            random: Rng::new(seed),
            given: VecDeque::new(),
            cpu: 0,
            routes: Routes::default(),
            events: Vec::new(),
            max_events: 1 << 16,
            lost_events: 0,
            event_bytes: 0,
        }
    }

    /// The next random number.
    pub fn draw(&mut self) -> u32 {
        self.given.pop_front().unwrap_or_else(|| self.random.next_u32())
    }

    /// Whether somebody else had room for the event that comes next, which is lost if not; always where nothing is `given`.
    pub fn finds_room(&mut self) -> bool {
        let room = self.given.pop_front() != Some(0);
        self.lost_events += u64::from(!room);
        room
    }

    /// Keeps an event, or counts it as lost.
    pub fn emit(&mut self, event: Event) {
        if self.events.is_empty() {
            self.event_bytes = 0;
        }
        let bytes = event.bytes() as u64 + EVENT_OVERHEAD;
        if self.events.len() < self.max_events && self.event_bytes + bytes <= MAX_EVENT_BYTES {
            self.event_bytes += bytes;
            self.events.push(event);
        } else {
            self.lost_events += 1;
        }
    }

    /// All events so far, in order.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.event_bytes = 0;
        std::mem::take(&mut self.events)
    }
}

impl Event {
    /// The same as hosts have it, with its map's name.
    pub fn named(self, name: impl FnOnce(MapId) -> String) -> ProgramEvent {
        match self {
            Self::Trace(line) => ProgramEvent::Trace { line },
            Self::Perf { map, cpu, data } => ProgramEvent::Perf { map: name(map), cpu, data },
            Self::Ring { map, data } => ProgramEvent::Ring { map: name(map), data },
        }
    }

    /// Bytes that it keeps.
    fn bytes(&self) -> usize {
        match self {
            Self::Trace(line) => line.len(),
            Self::Perf { data, .. } | Self::Ring { data, .. } => data.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring_event(bytes: usize) -> Event {
        Event::Ring { map: MapId(1), data: vec![0; bytes] }
    }

    #[test]
    fn events_are_bounded_in_number_and_bytes_and_lost_ones_counted() {
        let mut world = World::new(1);
        world.max_events = 2;
        (0..5).for_each(|_| world.emit(ring_event(1)));
        assert_eq!((world.events.len(), world.lost_events), (2, 3));
        assert_eq!(world.take_events().len(), 2);
        world.emit(ring_event(MAX_EVENT_BYTES as usize));
        assert_eq!((world.events.len(), world.lost_events), (0, 4));
    }
}
