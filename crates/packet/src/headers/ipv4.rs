//! IPv4.

use std::net::Ipv4Addr;

use super::describe::{Fill, Form, Malformed, header};
use crate::checksum;

header! {
    /// IPv4 header (RFC 791).
    Ipv4, IPV4 {
        name: "ipv4", base: 20, check: check, options: (4, 40, &[]), always: &["src", "dst"],
    }
    /// version
    version, set_version: u8 = ("ver", 0, 4, Form::Dec, Fill::Fixed(4));
    /// header length in 32-bit words
    ihl, set_ihl: u8 = ("ihl", 4, 4, Form::Dec, Fill::HeaderLength(4, 0));
    /// differentiated services code point
    dscp, set_dscp: u8 = ("dscp", 8, 6, Form::Dec, Fill::Fixed(0));
    /// explicit congestion notification
    ecn, set_ecn: u8 = ("ecn", 14, 2, Form::Dec, Fill::Fixed(0));
    /// total length in bytes
    total_len, set_total_len: u16 = ("len", 16, 16, Form::Dec, Fill::TotalLength);
    /// identification
    id, set_id: u16 = ("id", 32, 16, Form::Dec, Fill::Fixed(0));
    /// reserved flag
    reserved, set_reserved: bool = ("rf", 48, 1, Form::Dec, Fill::Fixed(0));
    /// don't fragment
    dont_fragment, set_dont_fragment: bool = ("df", 49, 1, Form::Dec, Fill::Fixed(0));
    /// more fragments
    more_fragments, set_more_fragments: bool = ("mf", 50, 1, Form::Dec, Fill::Fixed(0));
    /// fragment offset in units of 8 bytes
    fragment_offset, set_fragment_offset: u16 = ("frag", 51, 13, Form::Dec, Fill::Fixed(0));
    /// time to live
    ttl, set_ttl: u8 = ("ttl", 64, 8, Form::Dec, Fill::Fixed(64));
    /// protocol of what follows
    protocol, set_protocol: u8 = ("proto", 72, 8, Form::Dec, Fill::Next);
    /// header checksum
    checksum, set_checksum: u16 = ("csum", 80, 16, Form::Hex, Fill::HeaderSum);
    /// source address
    src, set_src: Ipv4Addr = ("src", 96, 32, Form::Ipv4, Fill::Fixed(0x0a00_0001));
    /// destination address
    dst, set_dst: Ipv4Addr = ("dst", 128, 32, Form::Ipv4, Fill::Fixed(0x0a00_0002));
}

fn check(bytes: &[u8]) -> Result<usize, Malformed> {
    let wrong = |field, found, expected| Malformed::Field { header: "ipv4", field, found: u32::from(found), expected };
    match (bytes[0] >> 4, bytes[0] & 15) {
        (4, words @ 5..) => Ok(usize::from(words) * 4),
        (4, words) => Err(wrong("ihl", words, "5 to 15")),
        (version, _) => Err(wrong("ver", version, "4")),
    }
}

impl<T: AsRef<[u8]>> Ipv4<T> {
    /// What the header carries: up to its total length, or to the end of the bytes.
    pub fn payload(&self) -> &[u8] {
        let rest = self.rest();
        let length = usize::from(self.total_len()).saturating_sub(self.header_len());
        rest.get(..length).unwrap_or(rest)
    }

    /// Whether this is a fragment of a packet, the first one included.
    pub fn is_fragment(&self) -> bool {
        self.more_fragments() || self.fragment_offset() != 0
    }

    /// Whether the header checksum adds up.
    pub fn checksum_is_valid(&self) -> bool {
        let header = self.0.as_ref().get(..self.header_len());
        header.is_some_and(checksum::is_valid)
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Ipv4<T> {
    /// Computes the header checksum and stores it.
    pub fn fill_checksum(&mut self) {
        self.set_checksum(0);
        let header = self.0.as_ref().get(..self.header_len()).unwrap_or_default();
        let sum = checksum::checksum(header);
        self.set_checksum(sum);
    }
}

/// IP protocol numbers that the project knows.
pub mod protocol {
    /// IPv6 hop-by-hop options.
    pub const HOP_BY_HOP: u8 = 0;
    /// ICMP.
    pub const ICMP: u8 = 1;
    /// IPv4 within IP (RFC 2003).
    pub const IPV4: u8 = 4;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6 within IP (RFC 2473, RFC 4213).
    pub const IPV6: u8 = 41;
    /// IPv6 fragment header.
    pub const FRAGMENT: u8 = 44;
    /// GRE.
    pub const GRE: u8 = 47;
    /// ICMPv6.
    pub const ICMP6: u8 = 58;
    /// IPv6: nothing follows.
    pub const NONE: u8 = 59;
    /// IPv6 destination options.
    pub const DESTINATION: u8 = 60;
    /// First experimental number (RFC 3692): what bare payload gets.
    pub const EXPERIMENTAL: u8 = 253;
}
