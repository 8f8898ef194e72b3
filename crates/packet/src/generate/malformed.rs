//! Packets that a NIC must survive: each wrong in one way.

use sluice_formats::random::Rng;

use crate::headers::port;
use crate::layers::{LayerKind, PacketSpec};

/// One way to be wrong, or at least unusual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Malformation {
    /// Fewer than 60 bytes, down to one.
    Runt,
    /// More than 9,018 bytes.
    Giant,
    /// Ends within one of its headers.
    CutHeader,
    /// IPv4 header checksum off.
    BadIpChecksum,
    /// UDP checksum off.
    BadUdpChecksum,
    /// Two 0x8100 tags.
    DoubleTag,
    /// A 0x88a8 tag outside.
    ServiceTag,
    /// VLAN ID 0: only a priority.
    PriorityTag,
    /// VLAN ID 4095, which is reserved.
    ReservedVlan,
    /// No tag at all.
    Untagged,
    /// IPv4 header length below 5 or beyond the packet.
    BadIhl,
    /// IPv4 total length beyond the packet or below the header.
    BadTotalLength,
    /// IP version that is not the EtherType's.
    BadVersion,
    /// First or later IPv4 fragment.
    Fragment,
    /// UDP to the port of reconfiguration packets.
    Reconfiguration,
}

impl Malformation {
    /// Every way.
    pub const ALL: [Malformation; 15] = [
        Malformation::Runt,
        Malformation::Giant,
        Malformation::CutHeader,
        Malformation::BadIpChecksum,
        Malformation::BadUdpChecksum,
        Malformation::DoubleTag,
        Malformation::ServiceTag,
        Malformation::PriorityTag,
        Malformation::ReservedVlan,
        Malformation::Untagged,
        Malformation::BadIhl,
        Malformation::BadTotalLength,
        Malformation::BadVersion,
        Malformation::Fragment,
        Malformation::Reconfiguration,
    ];

    /// A packet that is wrong in this way, on `vlan` unless the way is to be elsewhere.
    pub fn packet(self, vlan: Option<u16>, rng: &mut Rng) -> Vec<u8> {
        use LayerKind::*;
        let tags = |spec: PacketSpec| match vlan {
            Some(vid) => spec.layer(Vlan).with("vid", vid),
            None => spec,
        };
        let eth = || PacketSpec::new().layer(Eth);
        let tagged = || tags(eth());
        let payload_len = rng.range(18, 200) as usize;
        let payload = rng.bytes(payload_len);
        let udp = |spec: PacketSpec| spec.layer(Ipv4).layer(Udp).payload(payload.clone());
        let wrong_sum = 1 + rng.below(0xfffe) as u16;
        let spec = match self {
            Malformation::Runt => {
                let mut bytes = udp(tagged()).build().unwrap_or_default();
                bytes.truncate(rng.range(1, 59) as usize);
                return bytes;
            }
            Malformation::CutHeader => {
                let bytes = udp(tagged()).build().unwrap_or_default();
                let headers = bytes.len() - payload.len();
                return bytes[..rng.range(1, headers as u64 - 1) as usize].to_vec();
            }
            Malformation::Giant => {
                let len = rng.range(9_019, 20_000) as usize;
                let bytes = rng.bytes(len);
                tagged().layer(Ipv4).layer(Udp).payload(bytes)
            }
            Malformation::BadIpChecksum => {
                return off_by(udp(tagged()), ip_offset(vlan) + 10, wrong_sum);
            }
            Malformation::BadUdpChecksum => {
                return off_by(udp(tagged()), ip_offset(vlan) + 20 + 6, wrong_sum);
            }
            Malformation::DoubleTag => udp(tagged().layer(Vlan).with("vid", inner_vid(rng))),
            Malformation::ServiceTag => udp(tags(eth().layer(ServiceVlan).with("vid", inner_vid(rng)))),
            Malformation::PriorityTag => udp(eth().layer(Vlan).with("vid", 0u16).with("pcp", 5u8)),
            Malformation::ReservedVlan => udp(eth().layer(Vlan).with("vid", 4095u16)),
            Malformation::Untagged => udp(eth()),
            Malformation::BadIhl => {
                let words = if rng.chance(1, 2) { rng.below(5) } else { 15 };
                let spec = tagged().layer(Ipv4).with("ihl", words as u8);
                spec.layer(Udp).payload(payload[..8].to_vec())
            }
            Malformation::BadTotalLength => {
                let len = if rng.chance(1, 2) { rng.below(20) } else { rng.range(2_000, 65_535) };
                tagged().layer(Ipv4).with("len", len as u16).layer(Udp).payload(payload)
            }
            Malformation::BadVersion => {
                let mut version = rng.below(16) as u8;
                if version == 4 {
                    version = 6;
                }
                tagged().layer(Ipv4).with("ver", version).layer(Udp).payload(payload)
            }
            Malformation::Fragment => {
                // At offset 0 only the flag makes it a fragment.
                let offset = if rng.chance(1, 4) { 0 } else { rng.range(1, 8_190) as u16 };
                let more = offset == 0 || rng.chance(1, 2);
                let spec = tagged().layer(Ipv4).with("frag", offset).with("mf", more);
                spec.with("proto", 17u8).payload(payload)
            }
            Malformation::Reconfiguration => {
                tagged().layer(Ipv4).layer(Udp).with("dport", port::RECONFIGURATION).payload(payload)
            }
        };
        spec.build().unwrap_or_default()
    }
}

fn inner_vid(rng: &mut Rng) -> u16 {
    rng.range(1, 4094) as u16
}

fn ip_offset(vlan: Option<u16>) -> usize {
    14 + if vlan.is_some() { 4 } else { 0 }
}

/// The packet with the 16-bit word at `at` changed by adding `by`, which is neither 0 nor
/// 0xffff: the word is wrong even where the two zeros of one's complement are one.
fn off_by(spec: PacketSpec, at: usize, by: u16) -> Vec<u8> {
    let mut bytes = spec.build().unwrap_or_default();
    let word = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    bytes[at..at + 2].copy_from_slice(&word.wrapping_add(by).to_be_bytes());
    bytes
}
