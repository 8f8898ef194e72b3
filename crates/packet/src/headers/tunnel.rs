//! Tunnels: VXLAN and GRE. IP within IP needs no header of its own.

use super::describe::{Fill, Form, fixed, header};

header! {
    /// VXLAN header (RFC 7348).
    Vxlan, VXLAN {
        name: "vxlan", base: 8, check: fixed::<8>, options: (0, 0, &[]), always: &["vni"],
    }
    /// flags: 0x08 says that the network identifier is valid
    flags, set_flags: u8 = ("flags", 0, 8, Form::Hex, Fill::Fixed(0x08));
    /// reserved bits
    reserved, set_reserved: u32 = ("res", 8, 24, Form::Hex, Fill::Fixed(0));
    /// network identifier
    vni, set_vni: u32 = ("vni", 32, 24, Form::Dec, Fill::Fixed(1));
    /// reserved byte
    reserved2, set_reserved2: u8 = ("res2", 56, 8, Form::Hex, Fill::Fixed(0));
}

header! {
    /// GRE header without optional words (RFC 2784).
    Gre, GRE {
        name: "gre", base: 4, check: fixed::<4>, options: (0, 0, &[]), always: &[],
    }
    /// flags: any of them announces optional words, which are read as payload
    flags, set_flags: u16 = ("flags", 0, 13, Form::Hex, Fill::Fixed(0));
    /// version
    version, set_version: u8 = ("ver", 13, 3, Form::Dec, Fill::Fixed(0));
    /// EtherType of what follows
    ethertype, set_ethertype: u16 = ("type", 16, 16, Form::Hex, Fill::Next);
}
