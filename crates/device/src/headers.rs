//! What a NIC reads of a packet's headers before any engine does: docs/design/nic.md.

use sluice_formats::address::control::{self, FLOW_SECRET_BITS};
use sluice_formats::hash::crc32c;
use sluice_formats::limits::{KEY_BYTES, RECONFIG_UDP_PORT, VLAN_ETHERTYPE};

/// Version 4, header of five words.
const IPV4_WITHOUT_OPTIONS: u8 = 0x45;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The EtherType at `at`, where the frame has one.
#[inline]
pub fn ethertype(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|b| u16::from_be_bytes([b[0], b[1]]))
}

/// Whether the frame begins with a whole 0x8100 tag.
#[inline]
pub fn begins_with_tag(bytes: &[u8]) -> bool {
    bytes.len() >= 16 && ethertype(bytes, 12) == Some(VLAN_ETHERTYPE)
}

/// The secret of a NIC's flow hash.
pub type FlowSecret = [u32; control::FLOW_SECRET_WORDS as usize];

/// What is read from the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The IPv4 5-tuple: source, destination, ports, protocol.
    pub tuple: Option<[u8; KEY_BYTES]>,
    /// UDP to the port that once configured NICs.
    pub reconfig: bool,
}

/// Reads the headers of a frame without the tag that ingress took off.
#[inline]
pub fn headers(bytes: &[u8]) -> Headers {
    let o = if begins_with_tag(bytes) { 4 } else { 0 };
    let ipv4 =
        bytes.len() >= o + 34 && ethertype(bytes, 12 + o) == Some(0x0800) && bytes[14 + o] == IPV4_WITHOUT_OPTIONS;
    if !ipv4 {
        return Headers { tuple: None, reconfig: false };
    }
    let protocol = bytes[23 + o];
    let fragment_offset = u16::from_be_bytes([bytes[20 + o], bytes[21 + o]]) & 0x1fff;
    let l4 = matches!(protocol, TCP | UDP) && fragment_offset == 0 && bytes.len() >= o + 38;
    let mut tuple = [0; KEY_BYTES];
    tuple[..8].copy_from_slice(&bytes[26 + o..34 + o]);
    if l4 {
        tuple[8..12].copy_from_slice(&bytes[34 + o..38 + o]);
    }
    tuple[12] = protocol;
    let reconfig = l4 && protocol == UDP && tuple[10..12] == RECONFIG_UDP_PORT.to_be_bytes();
    Headers { tuple: Some(tuple), reconfig }
}

/// The flow hash that travels in the sideband, of a NIC with this secret ([`control::FLOW_SECRET`]): of its lowest bits nobody who does not
/// know the secret can choose flows that have the same ones.
#[inline]
pub fn flow_hash(headers: &Headers, secret: FlowSecret) -> u32 {
    let Some(tuple) = headers.tuple else { return 0 };
    let key = tuple.iter().rev().fold(0, |key, byte| key << 8 | u128::from(*byte));
    let secret = secret.iter().rev().fold(0, |all, word| all << 32 | u128::from(*word));
    let low = (0..FLOW_SECRET_BITS).map(|i| ((key & secret >> i).count_ones() & 1) << i).sum::<u32>();
    crc32c(&tuple) & !((1 << FLOW_SECRET_BITS) - 1) | low
}
