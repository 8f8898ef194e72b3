//! Ethernet II and its tags.

use super::describe::{Fill, Form, fixed, header};
use crate::mac::MacAddr;

header! {
    /// Ethernet II header, without preamble and FCS (IEEE 802.3).
    Ethernet, ETHERNET {
        name: "eth", base: 14, check: fixed::<14>, options: (0, 0, &[]), always: &["src", "dst"],
    }
    /// destination address
    dst, set_dst: MacAddr = ("dst", 0, 48, Form::Mac, Fill::Fixed(0x0200_0000_0002));
    /// source address
    src, set_src: MacAddr = ("src", 48, 48, Form::Mac, Fill::Fixed(0x0200_0000_0001));
    /// EtherType, or length below 0x600
    ethertype, set_ethertype: u16 = ("type", 96, 16, Form::Hex, Fill::Next);
}

header! {
    /// VLAN tag after its 0x8100 (IEEE 802.1Q).
    Vlan, VLAN {
        name: "vlan", base: 4, check: fixed::<4>, options: (0, 0, &[]), always: &["vid"],
    }
    /// priority code point
    pcp, set_pcp: u8 = ("pcp", 0, 3, Form::Dec, Fill::Fixed(0));
    /// drop eligible indicator
    dei, set_dei: bool = ("dei", 3, 1, Form::Dec, Fill::Fixed(0));
    /// VLAN ID
    vid, set_vid: u16 = ("vid", 4, 12, Form::Dec, Fill::Fixed(1));
    /// EtherType of what follows
    ethertype, set_ethertype: u16 = ("type", 16, 16, Form::Hex, Fill::Next);
}

/// EtherTypes that the project knows.
pub mod ethertype {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// 802.1Q tag.
    pub const VLAN: u16 = 0x8100;
    /// 802.1ad service tag.
    pub const SERVICE_VLAN: u16 = 0x88a8;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// Transparent Ethernet bridging, as GRE carries it.
    pub const BRIDGED: u16 = 0x6558;
    /// First local experimental EtherType: what bare payload gets.
    pub const EXPERIMENTAL: u16 = 0x88b5;
}

header! {
    /// Service VLAN tag after its 0x88a8 (IEEE 802.1ad).
    ServiceVlan, SERVICE_VLAN {
        name: "svlan", base: 4, check: fixed::<4>, options: (0, 0, &[]), always: &["vid"],
    }
    /// priority code point
    pcp, set_pcp: u8 = ("pcp", 0, 3, Form::Dec, Fill::Fixed(0));
    /// drop eligible indicator
    dei, set_dei: bool = ("dei", 3, 1, Form::Dec, Fill::Fixed(0));
    /// VLAN ID
    vid, set_vid: u16 = ("vid", 4, 12, Form::Dec, Fill::Fixed(1));
    /// EtherType of what follows
    ethertype, set_ethertype: u16 = ("type", 16, 16, Form::Hex, Fill::Next);
}
