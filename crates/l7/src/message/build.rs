//! Messages as packets: fields, headers, checksums.

use sluice_formats::l7::qnp::{HEADER_BYTES, Header, MOST_PACKETS, RAW_HEADER_BYTES, UDP};
use sluice_formats::l7::target::{FIELDS, SEGMENT_BYTES, VIEW_BYTES};
use sluice_packet::checksum::{Sum, checksum};
use std::net::{IpAddr, Ipv4Addr};

/// Bytes of a packet's part of its message in a frame of 1,514 bytes.
pub const MOST_PAYLOAD: usize = 1514 - HEADER_BYTES;
/// Bytes of the value that a dispatch field can have.
const MOST_VALUE: usize = 255;

/// From whom to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Ethernet source.
    pub mac_from: [u8; 6],
    /// Ethernet destination.
    pub mac_to: [u8; 6],
    /// IPv4 source.
    pub from: Ipv4Addr,
    /// IPv4 destination.
    pub to: Ipv4Addr,
    /// UDP source port.
    pub port_from: u16,
    /// UDP destination port.
    pub port_to: u16,
}

impl Addresses {
    /// Of a sender in a laboratory, to a port.
    pub fn to_port(port_to: u16) -> Self {
        Self {
            mac_from: [2, 0, 0, 0, 0, 1],
            mac_to: [2, 0, 0, 0, 0, 2],
            from: Ipv4Addr::new(10, 0, 0, 1),
            to: Ipv4Addr::new(10, 0, 0, 2),
            port_from: 40_000,
            port_to,
        }
    }
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// 1 to 15 are dispatch fields.
    pub index: u8,
    /// Its value.
    pub value: Vec<u8>,
}

/// Why fields are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// An index of 0, or a dispatch field that does not have a higher one than the one before.
    #[error("field {0} does not stand behind all dispatch fields of a lower index, from 1 on")]
    Order(u8),
    /// A value that is too long.
    #[error("field {index} has {found} bytes, a dispatch field has at most {MOST_VALUE}")]
    Value {
        /// Of the field.
        index: u8,
        /// Its bytes.
        found: usize,
    },
    /// Dispatch fields are more than the first packet or the NIC's view has.
    #[error("dispatch fields are {found} bytes, the first packet and the view have {most}")]
    Fields {
        /// Bytes of the fields.
        found: usize,
        /// Bytes there are.
        most: usize,
    },
    /// The message is too long.
    #[error("the message is {found} packets, expected at most {MOST_PACKETS}")]
    Packets {
        /// Packets of the message.
        found: usize,
    },
}

/// The bytes of fields as they are given, in no order that is checked. Of a dispatch field's value 255 bytes at most are taken.
pub fn encode(fields: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Field { index, value } in fields {
        bytes.push(*index);
        if usize::from(*index) <= FIELDS {
            let value = &value[..value.len().min(MOST_VALUE)];
            bytes.push(value.len() as u8);
            bytes.extend(value);
            continue;
        }
        match u8::try_from(value.len()) {
            Ok(length) if length < u8::MAX => bytes.push(length),
            _ => {
                bytes.push(u8::MAX);
                bytes.extend((value.len() as u32).to_be_bytes());
            }
        }
        bytes.extend(value);
    }
    bytes
}

/// The packets of a message of these fields: `chunk` bytes of it in each but the last. The header's counts and segments are
/// filled in, its other fields stay.
pub fn segments(
    addresses: &Addresses,
    header: Header,
    fields: &[Field],
    chunk: usize,
) -> Result<Vec<Vec<u8>>, BuildError> {
    let is_dispatch = |field: &&Field| usize::from(field.index) <= FIELDS;
    let mut last = 0;
    for field in fields {
        if field.index == 0 || is_dispatch(&field) && field.index <= last {
            return Err(BuildError::Order(field.index));
        }
        if is_dispatch(&field) && field.value.len() > MOST_VALUE {
            return Err(BuildError::Value { index: field.index, found: field.value.len() });
        }
        last = field.index.max(last);
    }
    let dispatch: usize = fields.iter().take_while(is_dispatch).map(|field| 2 + field.value.len()).sum();
    let chunk = chunk.max(1);
    let most = chunk.min(VIEW_BYTES);
    if dispatch > most {
        return Err(BuildError::Fields { found: dispatch, most });
    }
    let body = encode(fields);
    let count = body.len().div_ceil(chunk).max(1);
    if count > MOST_PACKETS {
        return Err(BuildError::Packets { found: count });
    }
    let header = Header { msg_len_in_pkts: count as u8, seg_cnt: dispatch.div_ceil(SEGMENT_BYTES) as u8, ..header };
    let packet = |number: usize| {
        let part = &body[number * chunk..body.len().min((number + 1) * chunk)];
        frame(addresses, Header { pkt_seq_num_in_msg: number as u8, ..header }, part)
    };
    Ok((0..count).map(packet).collect())
}

/// One packet: all headers with checksums, and this part of the message. It has at most 65,535 bytes of IPv4, the rest is left out.
pub fn frame(addresses: &Addresses, header: Header, part: &[u8]) -> Vec<u8> {
    let mut payload = header.to_bytes().to_vec();
    payload.extend(part);
    raw_frame(addresses, &payload)
}

/// A UDP packet with checksums.
pub fn raw_frame(addresses: &Addresses, payload: &[u8]) -> Vec<u8> {
    const IPV4: usize = 14;
    const IPV4_BYTES: usize = UDP - IPV4;
    const UDP_BYTES: usize = RAW_HEADER_BYTES - UDP;
    let payload = &payload[..payload.len().min(usize::from(u16::MAX) - IPV4_BYTES - UDP_BYTES)];
    let length = (UDP_BYTES + payload.len()) as u16;
    let mut bytes = Vec::with_capacity(RAW_HEADER_BYTES + payload.len());
    bytes.extend(addresses.mac_to);
    bytes.extend(addresses.mac_from);
    bytes.extend([0x08, 0x00]);
    bytes.extend([0x45, 0]);
    bytes.extend((length + IPV4_BYTES as u16).to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
    bytes.extend(addresses.from.octets());
    bytes.extend(addresses.to.octets());
    let sum = checksum(&bytes[IPV4..]);
    bytes[IPV4 + 10..IPV4 + 12].copy_from_slice(&sum.to_be_bytes());
    for word in [addresses.port_from, addresses.port_to, length, 0] {
        bytes.extend(word.to_be_bytes());
    }
    bytes.extend(payload);
    let (from, to) = (IpAddr::V4(addresses.from), IpAddr::V4(addresses.to));
    let sum = Sum::new().add_pseudo_header(from, to, 17, length.into()).add_bytes(&bytes[UDP..]).checksum();
    // 0 says that there is none, so a sum of 0 is sent as its other form (RFC 768).
    let sum = if sum == 0 { u16::MAX } else { sum };
    bytes[UDP + 6..UDP + 8].copy_from_slice(&sum.to_be_bytes());
    bytes
}
