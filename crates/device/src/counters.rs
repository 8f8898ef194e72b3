//! Counters of a device.

use sluice_formats::Reason;
use std::collections::BTreeMap;

/// Counters of one module, all of one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ModuleCounters {
    /// Packets that arrived.
    pub offered: u64,
    /// Bytes that arrived, tag included.
    pub offered_bytes: u64,
    /// Copies beyond the first that multicast made.
    pub copies: u64,
    /// Copies that left through ports.
    pub forwarded: u64,
    /// Their bytes, without the tag.
    pub forwarded_bytes: u64,
    /// Copies that reached the host as frames.
    pub delivered: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Copies that are in buffers of rings.
    pub consumed: u64,
    /// Drops by reason; reasons that never happened are absent.
    pub dropped: BTreeMap<Reason, u64>,
    /// Packets and copies that are in the device.
    pub in_flight: u64,
}

impl ModuleCounters {
    /// Adds what another worker has counted.
    pub fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.offered_bytes += other.offered_bytes;
        self.copies += other.copies;
        self.forwarded += other.forwarded;
        self.forwarded_bytes += other.forwarded_bytes;
        self.delivered += other.delivered;
        self.delivered_bytes += other.delivered_bytes;
        self.consumed += other.consumed;
        self.in_flight += other.in_flight;
        for (reason, count) in &other.dropped {
            *self.dropped.entry(*reason).or_default() += count;
        }
    }

    /// Whether contract 4 holds: offered + copies = forwarded + delivered + consumed + dropped + in flight.
    pub fn closes(&self) -> bool {
        let dropped: u64 = self.dropped.values().sum();
        self.offered + self.copies == self.forwarded + self.delivered + self.consumed + dropped + self.in_flight
    }
}

/// Counters of the whole device at one instant, by module.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counters {
    /// Tick of the snapshot.
    pub tick: u64,
    /// By module; modules that never saw a packet are absent.
    pub modules: BTreeMap<u8, ModuleCounters>,
    /// Times the watchdog fired.
    pub wedges: u64,
}
