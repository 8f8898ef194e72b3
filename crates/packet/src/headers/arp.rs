//! Address resolution for IPv4 over Ethernet.

use std::net::Ipv4Addr;

use super::describe::{Fill, Form, fixed, header};
use crate::mac::MacAddr;

header! {
    /// ARP for IPv4 over Ethernet (RFC 826).
    Arp, ARP {
        name: "arp", base: 28, check: fixed::<28>, options: (0, 0, &[]), always: &["op", "spa", "tpa"],
    }
    /// hardware type
    htype, set_htype: u16 = ("htype", 0, 16, Form::Dec, Fill::Fixed(1));
    /// protocol type
    ptype, set_ptype: u16 = ("ptype", 16, 16, Form::Hex, Fill::Fixed(0x0800));
    /// hardware address length
    hlen, set_hlen: u8 = ("hlen", 32, 8, Form::Dec, Fill::Fixed(6));
    /// protocol address length
    plen, set_plen: u8 = ("plen", 40, 8, Form::Dec, Fill::Fixed(4));
    /// operation: 1 request, 2 reply
    op, set_op: u16 = ("op", 48, 16, Form::Dec, Fill::Fixed(1));
    /// sender hardware address
    sha, set_sha: MacAddr = ("sha", 64, 48, Form::Mac, Fill::Fixed(0x0200_0000_0001));
    /// sender protocol address
    spa, set_spa: Ipv4Addr = ("spa", 112, 32, Form::Ipv4, Fill::Fixed(0x0a00_0001));
    /// target hardware address
    tha, set_tha: MacAddr = ("tha", 144, 48, Form::Mac, Fill::Fixed(0));
    /// target protocol address
    tpa, set_tpa: Ipv4Addr = ("tpa", 192, 32, Form::Ipv4, Fill::Fixed(0x0a00_0002));
}
