//! Flows: who talks to whom, and whose turn it is.

use std::net::Ipv4Addr;

use sluice_formats::random::Rng;

use crate::headers::protocol;
use crate::layers::{LayerKind, PacketSpec};
use crate::mac::MacAddr;

/// Which flow sends the next packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowOrder {
    /// One after the other.
    RoundRobin,
    /// Random, flow n (from 1) with weight 1/n: few flows send most packets.
    Zipf,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// VLAN ID, or untagged.
    pub vlan: Option<u16>,
    /// Source Ethernet address.
    pub src_mac: MacAddr,
    /// Destination Ethernet address.
    pub dst_mac: MacAddr,
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// TCP or UDP.
    pub protocol: u8,
    /// Source port.
    pub sport: u16,
    /// Destination port.
    pub dport: u16,
}

impl Flow {
    /// A packet of this flow whose frame has `size` bytes without tag.
    ///
    /// The payload begins with `number`, so that a packet can be told from all others, and
    /// goes on with random bytes. A size below the headers cuts them off.
    pub fn packet(&self, size: usize, number: u64, rng: &mut Rng) -> Vec<u8> {
        let tcp = self.protocol == protocol::TCP;
        let headers = 14 + 20 + if tcp { 20 } else { 8 };
        let mut payload = rng.bytes(size.saturating_sub(headers));
        let stamped = payload.len().min(8);
        payload[..stamped].copy_from_slice(&number.to_be_bytes()[8 - stamped..]);

        let mut spec = PacketSpec::new().layer(LayerKind::Eth).with("src", self.src_mac).with("dst", self.dst_mac);
        if let Some(vid) = self.vlan {
            spec = spec.layer(LayerKind::Vlan).with("vid", vid);
        }
        let spec = spec
            .layer(LayerKind::Ipv4)
            .with("src", self.src)
            .with("dst", self.dst)
            .with("id", number as u16)
            .layer(if tcp { LayerKind::Tcp } else { LayerKind::Udp })
            .with("sport", self.sport)
            .with("dport", self.dport);
        let spec = if tcp { spec.with("seq", number as u32) } else { spec };
        let mut bytes = spec.payload(payload).build().unwrap_or_default();
        bytes.truncate(size + if self.vlan.is_some() { 4 } else { 0 });
        bytes
    }
}

/// All flows of a generator, and whose turn it is.
#[derive(Clone, Debug)]
pub struct Flows {
    flows: Vec<Flow>,
    order: FlowOrder,
    /// Sums of the weights up to each flow, for the random order.
    sums: Vec<u64>,
}

/// Weight of the first flow in Zipf's order.
const WEIGHT: u64 = 1 << 32;

impl Flows {
    /// `count` flows over the VLANs in turn. Five-tuples differ within a VLAN.
    pub fn new(count: usize, vlans: &[Option<u16>], order: FlowOrder, rng: &mut Rng) -> Flows {
        let flows: Vec<Flow> = (0..count).map(|n| flow(n as u32, vlans, rng)).collect();
        let sums = (1..=count as u64).scan(0, |sum, n| {
            *sum += WEIGHT / n;
            Some(*sum)
        });
        Flows { sums: sums.collect(), flows, order }
    }

    /// All flows.
    pub fn all(&self) -> &[Flow] {
        &self.flows
    }

    /// The flow of packet number `index`, from 0. There is at least one flow.
    pub fn next(&self, index: u64, rng: &mut Rng) -> usize {
        match self.order {
            FlowOrder::RoundRobin => (index % self.flows.len().max(1) as u64) as usize,
            FlowOrder::Zipf => {
                let draw = rng.below(self.sums.last().copied().unwrap_or(1));
                self.sums.partition_point(|sum| *sum <= draw)
            }
        }
    }
}

fn flow(n: u32, vlans: &[Option<u16>], rng: &mut Rng) -> Flow {
    let vlan = vlans.get(n as usize % vlans.len().max(1)).copied().flatten();
    // The number is in the source address, so that no two flows share a five-tuple.
    let src = Ipv4Addr::from(0x0a00_0000 | n & 0x00ff_ffff);
    Flow {
        vlan,
        src_mac: MacAddr::local(n),
        dst_mac: MacAddr::local(0x8000_0000 | rng.next_u32() & 0x00ff_ffff),
        src,
        dst: Ipv4Addr::from(0xac10_0000 | rng.next_u32() & 0x000f_ffff),
        protocol: if rng.chance(1, 4) { protocol::TCP } else { protocol::UDP },
        sport: rng.range(1024, 65535) as u16,
        // Ports that mean something to a dissector or to the NIC stay free.
        dport: rng.range(5000, 9999) as u16,
    }
}
