//! A stream of packets: sizes, flows, gaps and malformed ones together.

use sluice_formats::random::Rng;

use super::{FlowOrder, Flows, Gaps, Malformation, Sizes, WIRE_OVERHEAD_BYTES};
use crate::capture::Packet;
use crate::layers::MAX_PACKET_BYTES;

/// What to generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Sizes of packets.
    pub sizes: Sizes,
    /// Times between them.
    pub gaps: Gaps,
    /// Number of flows.
    pub flows: usize,
    /// Whose turn it is.
    pub order: FlowOrder,
    /// VLANs over which the flows go in turn; `None` is untagged.
    pub vlans: Vec<Option<u16>>,
    /// Share of malformed packets: so many of so many.
    pub malformed: (u64, u64),
    /// Rate of the wire in bits a second, from which the time of a packet follows.
    pub rate: u64,
    /// Stamp at which the first packet may begin, in nanoseconds.
    pub start: u64,
}

impl Default for Traffic {
    /// Minimum packets of one untagged flow, back to back at 100 Gbit/s.
    fn default() -> Self {
        Traffic {
            sizes: Sizes::Fixed(60),
            gaps: Gaps::BackToBack,
            flows: 1,
            order: FlowOrder::RoundRobin,
            vlans: vec![None],
            malformed: (0, 1),
            rate: 100_000_000_000,
            start: 0,
        }
    }
}

/// Why such traffic cannot be generated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("[E0170] {what} is {found}, expected {expected}")]
pub struct BadTraffic {
    /// Which setting.
    pub what: &'static str,
    /// Its value.
    pub found: String,
    /// What it may be.
    pub expected: String,
}

impl BadTraffic {
    /// Code by which the problem is explained.
    pub fn code(&self) -> &'static str {
        "E0170"
    }
}

/// A generated packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// The packet; its stamp is when its first byte is on the wire.
    pub packet: Packet,
    /// Index of its flow; `None` if it is malformed.
    pub flow: Option<usize>,
    /// In which way it is malformed.
    pub malformed: Option<Malformation>,
}

/// An endless stream of packets.
#[derive(Clone, Debug)]
pub struct Generator {
    traffic: Traffic,
    flows: Flows,
    rng: Rng,
    index: u64,
    /// Picoseconds after the start: nanoseconds would drift at high rates.
    now: u64,
}

impl Generator {
    /// Checks `traffic` and starts from `seed`.
    pub fn new(seed: u64, traffic: Traffic) -> Result<Generator, BadTraffic> {
        traffic.check()?;
        let mut rng = Rng::new(seed);
        let flows = Flows::new(traffic.flows, &traffic.vlans, traffic.order, &mut rng);
        Ok(Generator { flows, traffic, rng, index: 0, now: 0 })
    }

    /// The flows that packets are made of.
    pub fn flows(&self) -> &Flows {
        &self.flows
    }
}

impl Iterator for Generator {
    type Item = Generated;

    fn next(&mut self) -> Option<Generated> {
        let Generator { traffic, flows, rng, index, now } = self;
        let (num, den) = traffic.malformed;
        let flow = flows.next(*index, rng);
        let (bytes, malformed) = if rng.chance(num, den) {
            let way = Malformation::ALL[rng.index(Malformation::ALL.len())];
            let vlan = flows.all().get(flow).and_then(|f| f.vlan);
            (way.packet(vlan, rng), Some(way))
        } else {
            let size = traffic.sizes.next(*index, rng);
            let flow = flows.all().get(flow)?;
            (flow.packet(size, *index, rng), None)
        };
        *now = now.saturating_add(traffic.gaps.next(*index, rng).saturating_mul(1000));
        let stamp = traffic.start.saturating_add(*now / 1000);
        let bits = (bytes.len() as u64 + WIRE_OVERHEAD_BYTES) * 8;
        let time = u128::from(bits) * 1_000_000_000_000 / u128::from(traffic.rate);
        *now = now.saturating_add(u64::try_from(time).unwrap_or(u64::MAX));
        *index += 1;
        Some(Generated { packet: Packet::new(stamp, bytes), flow: malformed.is_none().then_some(flow), malformed })
    }
}

impl Traffic {
    fn check(&self) -> Result<(), BadTraffic> {
        let bad = |what, found: String, expected: &str| Err(BadTraffic { what, found, expected: expected.to_string() });
        if self.flows == 0 || self.flows > 1 << 24 {
            return bad("the number of flows", self.flows.to_string(), "1 to 16777216");
        }
        if self.vlans.is_empty() {
            return bad("the list of VLANs", "empty".to_string(), "at least one, or untagged");
        }
        if let Some(vid) = self.vlans.iter().flatten().find(|vid| **vid > 4095) {
            return bad("a VLAN ID", vid.to_string(), "0 to 4095");
        }
        let largest = match &self.sizes {
            Sizes::Fixed(size) => *size,
            Sizes::List(sizes) if sizes.is_empty() => {
                return bad("the list of sizes", "empty".to_string(), "at least one size");
            }
            Sizes::List(sizes) => sizes.iter().copied().max().unwrap_or(0),
            Sizes::Uniform { min, max } if min > max => {
                return bad("the smallest size", min.to_string(), "at most the largest");
            }
            Sizes::Uniform { max, .. } => *max,
            Sizes::Imix => 0,
        };
        // What an IPv4 packet can hold, and its Ethernet header.
        if largest > 65_535 + 14 {
            return bad("a size", largest.to_string(), "at most 65549 bytes");
        }
        debug_assert!(largest < MAX_PACKET_BYTES);
        match self.gaps {
            Gaps::Uniform { min, max } if min > max => {
                return bad("the shortest gap", min.to_string(), "at most the longest");
            }
            Gaps::Bursts { packets: 0, .. } => {
                return bad("the length of a burst", "0".to_string(), "at least one packet");
            }
            _ => {}
        }
        if self.malformed.1 == 0 {
            return bad("the share of malformed packets", "of 0".to_string(), "of at least 1");
        }
        if self.rate == 0 {
            return bad("the rate", "0".to_string(), "at least 1 bit a second");
        }
        Ok(())
    }
}
