//! What a program sees beside its packet and maps: time, random numbers, CPU, routes; and what it says.

use crate::MapId;
use crate::helper::routes::Routes;
use sluice_formats::random::Rng;
use std::collections::BTreeMap;

/// Most bytes of events that are kept.
const MAX_EVENT_BYTES: u64 = 64 << 20;
/// What an event counts beside its bytes.
const EVENT_OVERHEAD: u64 = 64;

/// Everything fed to programs (contract 11, class *fed*), and the events they emit.
#[derive(Clone, Debug)]
pub struct World {
    /// `ktime_get_ns` and the other clocks: the packet's ingress stamp, in nanoseconds.
    pub now_ns: u64,
    /// `get_prandom_u32`.
    pub random: Rng,
    /// `get_smp_processor_id`: the hardware context.
    pub cpu: u32,
    /// `fib_lookup`.
    pub routes: Routes,
    /// Events since they were last taken, in order. Taking all of them, by [`World::take_events`] or
    /// otherwise, makes room in the ring buffers.
    pub events: Vec<Event>,
    /// Most events kept: further ones, and those above 64 MiB in all, are counted in `lost_events`.
    pub max_events: usize,
    /// Events that found no room.
    pub lost_events: u64,
    /// Bytes of `events`, each with an overhead.
    event_bytes: u64,
    /// How full the ring buffers are.
    rings: BTreeMap<MapId, Ring>,
}

/// Positions of a ring buffer, in bytes since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ring {
    /// Bytes it holds.
    pub size: u64,
    /// Where the next record begins.
    pub producer: u64,
    /// Up to where the host has read.
    pub consumer: u64,
}

impl Ring {
    /// Takes room for a record, as the kernel does: a header of 8 bytes before it, the whole rounded
    /// up to 8, one byte of the ring always free.
    pub fn produce(&mut self, bytes: u64) -> bool {
        if bytes > u64::from(u32::MAX / 4) {
            return false;
        }
        let room = (bytes + 8).next_multiple_of(8);
        if self.producer + room - self.consumer >= self.size {
            return false;
        }
        self.producer += room;
        true
    }
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
            cpu: 0,
            routes: Routes::default(),
            events: Vec::new(),
            max_events: 1 << 16,
            lost_events: 0,
            event_bytes: 0,
            rings: BTreeMap::new(),
        }
    }

    /// Keeps an event, or counts it as lost.
    pub fn emit(&mut self, event: Event) {
        self.notice_taken();
        let bytes = event.bytes() as u64 + EVENT_OVERHEAD;
        if self.events.len() < self.max_events && self.event_bytes + bytes <= MAX_EVENT_BYTES {
            self.event_bytes += bytes;
            self.events.push(event);
        } else {
            self.lost_events += 1;
        }
    }

    /// All events so far, in order: the host has read every ring buffer to its end.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.event_bytes = 0;
        self.rings.values_mut().for_each(|r| r.consumer = r.producer);
        std::mem::take(&mut self.events)
    }

    /// Forgets what a map has of state here; call it when the map is removed.
    pub fn forget(&mut self, map: MapId) {
        self.rings.remove(&map);
    }

    /// Positions of a ring buffer of `size` bytes.
    pub(crate) fn ring(&mut self, map: MapId, size: u32) -> &mut Ring {
        self.notice_taken();
        self.rings.entry(map).or_insert(Ring { size: size.into(), ..Ring::default() })
    }

    /// Sees that `events` was emptied from outside.
    fn notice_taken(&mut self) {
        if self.events.is_empty() && self.event_bytes > 0 {
            self.take_events();
        }
    }
}

impl Event {
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

    #[test]
    fn a_ring_buffer_keeps_one_byte_free_and_is_empty_once_events_are_taken() {
        let mut world = World::new(1);
        let fill = |world: &mut World| (0..).take_while(|_| world.ring(MapId(1), 4096).produce(8)).count();
        assert_eq!(fill(&mut world), 255);
        world.emit(ring_event(8));
        assert_eq!(fill(&mut world), 0);
        world.events.clear();
        assert_eq!(fill(&mut world), 255);
        world.take_events();
        assert_eq!(fill(&mut world), 255);
        let ring = *world.ring(MapId(1), 4096);
        assert_eq!(ring.producer - ring.consumer, 4080);
    }

    #[test]
    fn a_record_longer_than_the_ring_never_fits() {
        let mut ring = Ring { size: 4096, ..Ring::default() };
        assert!(!ring.produce(4096) && !ring.produce(4088) && !ring.produce(4081) && !ring.produce(u64::MAX));
        assert!(ring.produce(4080));
    }
}
