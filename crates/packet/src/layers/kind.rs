//! The kinds of layers, and which number one layer calls the next by.

use crate::headers::{self, HeaderSpec, ethertype, port, protocol};

/// One kind of layer of the packet notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LayerKind {
    /// Ethernet II.
    Eth,
    /// 802.1Q tag.
    Vlan,
    /// 802.1ad service tag.
    ServiceVlan,
    /// ARP.
    Arp,
    /// IPv4.
    Ipv4,
    /// IPv6.
    Ipv6,
    /// IPv6 hop-by-hop options.
    HopByHop,
    /// IPv6 destination options.
    Destination,
    /// IPv6 fragment header.
    Fragment,
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP.
    Icmp,
    /// ICMPv6.
    Icmp6,
    /// VXLAN.
    Vxlan,
    /// GRE.
    Gre,
    /// Packet of a message for dispatch.
    Qnp,
    /// Field of a message.
    Tlv,
    /// Bytes that the layers before carry.
    Payload,
    /// Bytes as they are, whatever they mean.
    Raw,
    /// Bytes behind the packet that no length and no checksum counts.
    Pad,
}

impl LayerKind {
    /// Every kind, in the order of the reference.
    pub const ALL: [LayerKind; 20] = [
        LayerKind::Eth,
        LayerKind::Vlan,
        LayerKind::ServiceVlan,
        LayerKind::Arp,
        LayerKind::Ipv4,
        LayerKind::Ipv6,
        LayerKind::HopByHop,
        LayerKind::Destination,
        LayerKind::Fragment,
        LayerKind::Tcp,
        LayerKind::Udp,
        LayerKind::Icmp,
        LayerKind::Icmp6,
        LayerKind::Vxlan,
        LayerKind::Gre,
        LayerKind::Qnp,
        LayerKind::Tlv,
        LayerKind::Payload,
        LayerKind::Raw,
        LayerKind::Pad,
    ];

    /// The header's description; `None` for the layers that are plain bytes.
    pub fn header(self) -> Option<&'static HeaderSpec> {
        Some(match self {
            LayerKind::Eth => &headers::ETHERNET,
            LayerKind::Vlan => &headers::VLAN,
            LayerKind::ServiceVlan => &headers::SERVICE_VLAN,
            LayerKind::Arp => &headers::ARP,
            LayerKind::Ipv4 => &headers::IPV4,
            LayerKind::Ipv6 => &headers::IPV6,
            LayerKind::HopByHop => &headers::HOP_BY_HOP,
            LayerKind::Destination => &headers::DESTINATION,
            LayerKind::Fragment => &headers::FRAGMENT,
            LayerKind::Tcp => &headers::TCP,
            LayerKind::Udp => &headers::UDP,
            LayerKind::Icmp => &headers::ICMP,
            LayerKind::Icmp6 => &headers::ICMP6,
            LayerKind::Vxlan => &headers::VXLAN,
            LayerKind::Gre => &headers::GRE,
            LayerKind::Qnp => &headers::QNP,
            LayerKind::Tlv => &headers::TLV,
            LayerKind::Payload | LayerKind::Raw | LayerKind::Pad => return None,
        })
    }

    /// Name in the packet notation.
    pub fn name(self) -> &'static str {
        match self {
            LayerKind::Payload => "payload",
            LayerKind::Raw => "raw",
            LayerKind::Pad => "pad",
            kind => kind.header().map_or("", |h| h.name),
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<LayerKind> {
        LayerKind::ALL.into_iter().find(|k| k.name() == name)
    }

    /// Whether its next-layer number is an EtherType, not an IP protocol.
    fn numbers_by_ethertype(self) -> bool {
        use LayerKind::*;
        matches!(self, Eth | Vlan | ServiceVlan | Gre)
    }

    /// The number by which this layer announces `next`.
    pub(crate) fn number_of(self, next: Option<LayerKind>) -> u16 {
        let table = if self.numbers_by_ethertype() { ETHERTYPES } else { PROTOCOLS };
        let known = table.iter().find(|(_, kind)| Some(*kind) == next);
        let unknown = match (self.numbers_by_ethertype(), self, next) {
            (true, _, _) => ethertype::EXPERIMENTAL,
            (false, LayerKind::Ipv4, _) | (false, _, Some(_)) => u16::from(protocol::EXPERIMENTAL),
            (false, _, None) => u16::from(protocol::NONE),
        };
        match (self, next) {
            (LayerKind::Gre, Some(LayerKind::Eth)) => ethertype::BRIDGED,
            _ => known.map_or(unknown, |(number, _)| *number),
        }
    }

    /// The UDP port that announces `next`.
    pub(crate) fn port_of(next: Option<LayerKind>) -> Option<u16> {
        (next == Some(LayerKind::Vxlan)).then_some(port::VXLAN)
    }

    /// The layer that follows a header of this kind; `None` where its content is not known.
    pub(crate) fn next(self, header: &[u8]) -> Option<LayerKind> {
        let read = |field: &str| {
            let spec = self.header().and_then(|h| h.field(field));
            spec.map_or(0, |f| headers::bits::get(header, f.at, f.bits) as u16)
        };
        let find = |table: Table, number| {
            let known = table.iter().find(|(n, _)| *n == number);
            known.map(|(_, kind)| *kind)
        };
        match self {
            LayerKind::Eth | LayerKind::Vlan | LayerKind::ServiceVlan => find(ETHERTYPES, read("type")),
            LayerKind::Ipv4 if read("frag") == 0 => find(PROTOCOLS, read("proto")),
            LayerKind::Fragment if read("off") != 0 => None,
            LayerKind::Ipv6 | LayerKind::HopByHop | LayerKind::Destination | LayerKind::Fragment => {
                find(PROTOCOLS, read("next"))
            }
            LayerKind::Udp if read("dport") == port::VXLAN => Some(LayerKind::Vxlan),
            LayerKind::Vxlan => Some(LayerKind::Eth),
            LayerKind::Gre if read("flags") == 0 => match read("type") {
                ethertype::BRIDGED => Some(LayerKind::Eth),
                number => find(ETHERTYPES, number),
            },
            _ => None,
        }
    }
}

type Table = &'static [(u16, LayerKind)];

const ETHERTYPES: Table = &[
    (ethertype::IPV4, LayerKind::Ipv4),
    (ethertype::ARP, LayerKind::Arp),
    (ethertype::VLAN, LayerKind::Vlan),
    (ethertype::SERVICE_VLAN, LayerKind::ServiceVlan),
    (ethertype::IPV6, LayerKind::Ipv6),
];

const PROTOCOLS: Table = &[
    (protocol::HOP_BY_HOP as u16, LayerKind::HopByHop),
    (protocol::ICMP as u16, LayerKind::Icmp),
    (protocol::IPV4 as u16, LayerKind::Ipv4),
    (protocol::TCP as u16, LayerKind::Tcp),
    (protocol::UDP as u16, LayerKind::Udp),
    (protocol::IPV6 as u16, LayerKind::Ipv6),
    (protocol::FRAGMENT as u16, LayerKind::Fragment),
    (protocol::GRE as u16, LayerKind::Gre),
    (protocol::ICMP6 as u16, LayerKind::Icmp6),
    (protocol::DESTINATION as u16, LayerKind::Destination),
];
