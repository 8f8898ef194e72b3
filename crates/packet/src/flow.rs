//! Which flow a packet belongs to.

use std::fmt;
use std::net::IpAddr;

use crate::headers::{Ethernet, Ipv4, Ipv6, Tcp, Udp, Vlan, ethertype, protocol};

/// Addresses, protocol and ports of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FiveTuple {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// IP protocol.
    pub protocol: u8,
    /// Source port; 0 where the protocol has none or the packet is a fragment.
    pub sport: u16,
    /// Destination port, likewise.
    pub dport: u16,
}

impl FiveTuple {
    /// The five-tuple of an Ethernet frame, behind any number of tags; `None` if it is no IP
    /// packet or its IP header is malformed.
    pub fn of(frame: &[u8]) -> Option<FiveTuple> {
        let (kind, body) = untagged(frame)?;
        match kind {
            ethertype::IPV4 => {
                let ip = Ipv4::new_checked(body).ok()?;
                // Only the first fragment has ports, so that none may use them.
                let transport = if ip.is_fragment() { &[] } else { ip.payload() };
                let (sport, dport) = ports(ip.protocol(), transport);
                Some(FiveTuple { src: ip.src().into(), dst: ip.dst().into(), protocol: ip.protocol(), sport, dport })
            }
            ethertype::IPV6 => {
                let ip = Ipv6::new_checked(body).ok()?;
                let (protocol, transport) = ip.transport().unwrap_or((protocol::FRAGMENT, &[]));
                let fragment = ip.next() == protocol::FRAGMENT;
                let (sport, dport) = ports(protocol, if fragment { &[] } else { transport });
                Some(FiveTuple { src: ip.src().into(), dst: ip.dst().into(), protocol, sport, dport })
            }
            _ => None,
        }
    }
}

/// EtherType and bytes behind the Ethernet header and all its tags.
pub fn untagged(frame: &[u8]) -> Option<(u16, &[u8])> {
    let ethernet = Ethernet::new_checked(frame).ok()?;
    let mut kind = ethernet.ethertype();
    let mut body = &frame[14..];
    while matches!(kind, ethertype::VLAN | ethertype::SERVICE_VLAN) {
        kind = Vlan::new_checked(body).ok()?.ethertype();
        body = &body[4..];
    }
    Some((kind, body))
}

/// VLAN ID of the outermost 0x8100 tag.
pub fn vlan_id(frame: &[u8]) -> Option<u16> {
    let ethernet = Ethernet::new_checked(frame).ok()?;
    if ethernet.ethertype() != ethertype::VLAN {
        return None;
    }
    Some(Vlan::new_checked(&frame[14..]).ok()?.vid())
}

fn ports(protocol: u8, transport: &[u8]) -> (u16, u16) {
    match protocol {
        protocol::TCP => Tcp::new_checked(transport).map_or((0, 0), |t| (t.sport(), t.dport())),
        protocol::UDP => Udp::new_checked(transport).map_or((0, 0), |u| (u.sport(), u.dport())),
        _ => (0, 0),
    }
}

impl fmt::Display for FiveTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |address: IpAddr, port: u16| match address {
            IpAddr::V4(v4) => format!("{v4}:{port}"),
            IpAddr::V6(v6) => format!("[{v6}]:{port}"),
        };
        let (src, dst) = (end(self.src, self.sport), end(self.dst, self.dport));
        write!(f, "{src} > {dst} proto {}", self.protocol)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::packet;

    fn tuple(text: &str) -> Option<String> {
        FiveTuple::of(&packet(text).unwrap()).map(|t| t.to_string())
    }

    #[test]
    fn tags_and_options_do_not_hide_the_ports() {
        let want = Some("10.0.0.1:5 > 10.0.0.2:6 proto 17".to_string());
        assert_eq!(tuple("eth/ipv4/udp(sport=5, dport=6)"), want);
        assert_eq!(tuple("eth/svlan/vlan/ipv4(opts=01010101)/udp(sport=5, dport=6)"), want);
    }

    #[test]
    fn no_fragment_has_ports_not_even_the_first() {
        let want = Some("10.0.0.1:0 > 10.0.0.2:0 proto 17".to_string());
        assert_eq!(tuple("eth/ipv4(mf=1)/udp(sport=5, dport=6)"), want);
        assert_eq!(tuple("eth/ipv4(frag=2, proto=17)/payload(len=9)"), want);
        let want = Some("[fd00::1]:0 > [fd00::2]:0 proto 17".to_string());
        assert_eq!(tuple("eth/ipv6/frag6(more=1)/udp"), want);
    }

    #[test]
    fn one_ipv6_extension_header_is_skipped() {
        let want = Some("[fd00::1]:1024 > [fd00::2]:80 proto 6".to_string());
        assert_eq!(tuple("eth/ipv6/tcp"), want);
        assert_eq!(tuple("eth/ipv6/hbh/tcp"), want);
        assert_eq!(tuple("eth/ipv6/dstopts/tcp"), want);
    }

    #[test]
    fn what_is_no_ip_packet_has_no_five_tuple() {
        assert_eq!(tuple("eth/arp"), None);
        assert_eq!(tuple("eth/ipv4(ihl=4)"), None);
        assert_eq!(tuple("eth(type=0x8100)/raw(hex=00)"), None);
        assert_eq!(FiveTuple::of(&[1, 2, 3]), None);
    }
}
