//! What a program sees beside its packet and maps: time, random numbers, CPU, routes; and what it says.

use crate::MapId;
use crate::helper::routes::Routes;
use sluice_formats::random::Rng;

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
    /// Events since they were last taken, in order.
    pub events: Vec<Event>,
    /// Most events kept: further ones are counted in `lost_events`.
    pub max_events: usize,
    /// Events that found no room.
    pub lost_events: u64,
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
        }
    }

    /// Keeps an event, or counts it as lost.
    pub fn emit(&mut self, event: Event) {
        if self.events.len() < self.max_events {
            self.events.push(event);
        } else {
            self.lost_events += 1;
        }
    }
}
