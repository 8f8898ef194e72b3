//! IPv6 and the extension headers that are parsed.

use std::net::Ipv6Addr;

use super::describe::{Fill, Form, Malformed, fixed, header};

header! {
    /// IPv6 header (RFC 8200).
    Ipv6, IPV6 {
        name: "ipv6", base: 40, check: check_version, options: (0, 0, &[]), always: &["src", "dst"],
    }
    /// version
    version, set_version: u8 = ("ver", 0, 4, Form::Dec, Fill::Fixed(6));
    /// differentiated services code point
    dscp, set_dscp: u8 = ("dscp", 4, 6, Form::Dec, Fill::Fixed(0));
    /// explicit congestion notification
    ecn, set_ecn: u8 = ("ecn", 10, 2, Form::Dec, Fill::Fixed(0));
    /// flow label
    flow_label, set_flow_label: u32 = ("flow", 12, 20, Form::Hex, Fill::Fixed(0));
    /// payload length in bytes
    payload_len, set_payload_len: u16 = ("len", 32, 16, Form::Dec, Fill::PayloadLength);
    /// protocol of what follows
    next, set_next: u8 = ("next", 48, 8, Form::Dec, Fill::Next);
    /// hop limit
    hops, set_hops: u8 = ("hops", 56, 8, Form::Dec, Fill::Fixed(64));
    /// source address
    src, set_src: Ipv6Addr = ("src", 64, 128, Form::Ipv6, Fill::Fixed(0xfd00_0000_0000_0000_0000_0000_0000_0001));
    /// destination address
    dst, set_dst: Ipv6Addr = ("dst", 192, 128, Form::Ipv6, Fill::Fixed(0xfd00_0000_0000_0000_0000_0000_0000_0002));
}

/// One PadN option that fills the six bytes of the shortest options header.
const PAD_SIX: &[u8] = &[1, 4, 0, 0, 0, 0];

header! {
    /// IPv6 hop-by-hop options (RFC 8200, section 4.3).
    HopByHop, HOP_BY_HOP {
        name: "hbh", base: 2, check: check_options, options: (8, 2046, PAD_SIX), always: &[],
    }
    /// protocol of what follows
    next, set_next: u8 = ("next", 0, 8, Form::Dec, Fill::Next);
    /// length in units of 8 bytes, less one
    length, set_length: u8 = ("len", 8, 8, Form::Dec, Fill::HeaderLength(8, 1));
}

header! {
    /// IPv6 destination options (RFC 8200, section 4.6).
    DestinationOptions, DESTINATION {
        name: "dstopts", base: 2, check: check_options, options: (8, 2046, PAD_SIX), always: &[],
    }
    /// protocol of what follows
    next, set_next: u8 = ("next", 0, 8, Form::Dec, Fill::Next);
    /// length in units of 8 bytes, less one
    length, set_length: u8 = ("len", 8, 8, Form::Dec, Fill::HeaderLength(8, 1));
}

header! {
    /// IPv6 fragment header (RFC 8200, section 4.5).
    Fragment, FRAGMENT {
        name: "frag6", base: 8, check: fixed::<8>, options: (0, 0, &[]), always: &["off", "more", "id"],
    }
    /// protocol of what follows
    next, set_next: u8 = ("next", 0, 8, Form::Dec, Fill::Next);
    /// reserved byte
    reserved, set_reserved: u8 = ("res", 8, 8, Form::Dec, Fill::Fixed(0));
    /// fragment offset in units of 8 bytes
    offset, set_offset: u16 = ("off", 16, 13, Form::Dec, Fill::Fixed(0));
    /// reserved bits
    reserved2, set_reserved2: u8 = ("res2", 29, 2, Form::Dec, Fill::Fixed(0));
    /// more fragments
    more, set_more: bool = ("more", 31, 1, Form::Dec, Fill::Fixed(0));
    /// identification
    id, set_id: u32 = ("id", 32, 32, Form::Dec, Fill::Fixed(0));
}

fn check_version(bytes: &[u8]) -> Result<usize, Malformed> {
    match bytes[0] >> 4 {
        6 => Ok(40),
        version => Err(Malformed::Field { header: "ipv6", field: "ver", found: u32::from(version), expected: "6" }),
    }
}

fn check_options(bytes: &[u8]) -> Result<usize, Malformed> {
    Ok((usize::from(bytes[1]) + 1) * 8)
}

impl<T: AsRef<[u8]>> Ipv6<T> {
    /// What the header carries: up to its payload length, or to the end of the bytes.
    pub fn payload(&self) -> &[u8] {
        let rest = self.rest();
        rest.get(..usize::from(self.payload_len())).unwrap_or(rest)
    }

    /// The transport protocol and its bytes, after at most one extension header (hop-by-hop,
    /// destination options or fragment); `None` behind the start of a fragmented packet.
    pub fn transport(&self) -> Option<(u8, &[u8])> {
        use super::ipv4::protocol;
        let payload = self.payload();
        match self.next() {
            protocol::HOP_BY_HOP | protocol::DESTINATION => {
                let length = DESTINATION.length_of(payload).ok()?;
                Some((payload[0], &payload[length..]))
            }
            protocol::FRAGMENT => {
                let fragment = Fragment::new_checked(payload).ok()?;
                (fragment.offset() == 0).then(|| (payload[0], &payload[8..]))
            }
            next => Some((next, payload)),
        }
    }
}
