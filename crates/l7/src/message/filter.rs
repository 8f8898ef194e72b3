//! The packet filter: what a frame is to the engine. The order of its checks is that of the page, and of a stream of bytes.

use super::ports::{Known, Ports};
use crate::rules::Kind;
use crate::view::{Malformed, View};
use sluice_formats::Reason;
use sluice_formats::l7::qnp::{HEADER_BYTES, Header, QNP, QNP_BYTES, RAW_HEADER_BYTES, UDP, flag};
use sluice_formats::l7::target::{DEFAULT, VIEW_BYTES};
use sluice_packet::checksum::{Sum, is_valid};
use std::net::{IpAddr, Ipv4Addr};

const IPV4: usize = 14;
const PROTOCOL_UDP: u8 = 17;

/// What a frame is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sort<'a> {
    /// Nothing for the engine: it goes on as it is.
    Frame(NoMessage),
    /// Dropped.
    Dropped(Dropped),
    /// A packet of a message.
    Packet(Packet<'a>),
}

/// Why a frame is no packet of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMessage {
    /// It ends before its UDP header does.
    #[error("shorter than the headers of UDP")]
    Short,
    /// Its Ethernet type is not IPv4's: VLAN tags, IPv6.
    #[error("the Ethernet type is not that of IPv4")]
    NotIpv4,
    /// The version is not 4, or there are options.
    #[error("not IPv4, or with options")]
    Options,
    /// A piece of a packet.
    #[error("a fragment")]
    Fragment,
    /// Another protocol.
    #[error("not UDP")]
    NotUdp,
    /// Nobody has its port.
    #[error("no application has its UDP port")]
    Port,
}

/// Why a packet is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Dropped {
    /// Of the IPv4 header.
    #[error("the checksum of the IPv4 header is wrong")]
    Ipv4Checksum,
    /// A length of IPv4 or UDP.
    #[error("a length in the IPv4 or UDP header contradicts the frame or the other one")]
    Length,
    /// The packet ends before the QNP header does.
    #[error("ends before the QNP header does")]
    Header,
    /// 0, or more than there may be.
    #[error("the number of packets is {found}, expected 1 to {most}")]
    Count {
        /// Packets that the header says.
        found: u8,
        /// Most that the engine takes.
        most: usize,
    },
    /// The packet's number is not below the number of packets.
    #[error("the packet's number is not below the number of packets")]
    Sequence,
    /// Neither data nor an acknowledgement, or an acknowledgement at an application.
    #[error("the flag is no packet's that may come here")]
    Flag,
    /// The port is known, the application ID is not.
    #[error("the UDP port is known, the application ID is not")]
    NoApplication,
    /// The application's rules change.
    #[error("the application's rules are being changed")]
    Updating,
    /// Of UDP header and payload.
    #[error("the UDP checksum is wrong")]
    UdpChecksum,
    /// The fields of a message's first packet.
    #[error("malformed fields: {0}")]
    Fields(Malformed),
}

impl Dropped {
    /// The reason that it counts for.
    pub fn reason(self) -> Reason {
        match self {
            Self::Ipv4Checksum | Self::UdpChecksum => Reason::L7Checksum,
            Self::Length | Self::Header | Self::Count { .. } | Self::Sequence | Self::Flag | Self::Fields(_) => {
                Reason::L7Malformed
            }
            Self::NoApplication => Reason::L7NoApp,
            Self::Updating => Reason::L7Updating,
        }
    }
}

/// Who sent a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sender {
    /// IPv4 address.
    pub address: [u8; 4],
    /// UDP port.
    pub port: u16,
}

/// A packet of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Place in the rules of who takes it.
    pub application: usize,
    /// What that is.
    pub kind: Kind,
    /// Who sent it.
    pub sender: Sender,
    /// Of a raw application, which has none: one packet, the sender's address as session, both ports as message ID.
    pub header: Header,
    /// The packet's part of the message.
    pub payload: &'a [u8],
    /// What rules see: of an application in a message's first packet, and of a raw one.
    pub view: Option<View<'a>>,
}

/// What a frame, from its Ethernet header on, is at these ports; messages have as many packets as on the target `default`.
pub fn filter<'a>(frame: &'a [u8], ports: &Ports) -> Sort<'a> {
    match by_headers(frame, ports, DEFAULT.message_packets) {
        Sort::Packet(packet) => match packet.seen(VIEW_BYTES).transpose() {
            Ok(view) => Sort::Packet(Packet { view, ..packet }),
            Err(malformed) => Sort::Dropped(Dropped::Fields(malformed)),
        },
        other => other,
    }
}

/// The same before its fields are looked at: a packet has no view yet. A message has `most` packets at most.
pub fn by_headers<'a>(frame: &'a [u8], ports: &Ports, most: usize) -> Sort<'a> {
    let known = match candidates(frame, ports) {
        Ok(known) => known,
        Err(no_message) => return Sort::Frame(no_message),
    };
    match packet(frame, known, most) {
        Ok(packet) => Sort::Packet(packet),
        Err(dropped) => Sort::Dropped(dropped),
    }
}

impl<'a> Packet<'a> {
    /// What rules see of it, at most so many bytes, if they see anything and its fields can be told apart.
    pub fn seen(&self, most: usize) -> Option<Result<View<'a>, Malformed>> {
        match self.kind {
            Kind::Raw => Some(Ok(View::of_raw_up_to(self.payload, most))),
            Kind::Application(_) if self.header.pkt_seq_num_in_msg == 0 => {
                Some(View::of_message_up_to(self.payload, self.header.seg_cnt, most))
            }
            Kind::Application(_) | Kind::Endpoint => None,
        }
    }
}

/// Big-endian.
fn word(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

/// Those who have the frame's port.
fn candidates<'p>(frame: &[u8], ports: &'p Ports) -> Result<&'p [Known], NoMessage> {
    if frame.len() < RAW_HEADER_BYTES {
        return Err(NoMessage::Short);
    }
    if word(frame, 12) != 0x0800 {
        return Err(NoMessage::NotIpv4);
    }
    if frame[IPV4] != 0x45 {
        return Err(NoMessage::Options);
    }
    // More fragments, or an offset; not to fragment is no fragment.
    if word(frame, IPV4 + 6) & 0x3fff != 0 {
        return Err(NoMessage::Fragment);
    }
    if frame[IPV4 + 9] != PROTOCOL_UDP {
        return Err(NoMessage::NotUdp);
    }
    match ports.at(word(frame, UDP + 2)) {
        [] => Err(NoMessage::Port),
        known => Ok(known),
    }
}

/// The frame has all of the headers up to UDP's, and somebody has its port.
fn packet<'a>(frame: &'a [u8], known: &[Known], most: usize) -> Result<Packet<'a>, Dropped> {
    if !is_valid(&frame[IPV4..UDP]) {
        return Err(Dropped::Ipv4Checksum);
    }
    let (total, length) = (usize::from(word(frame, IPV4 + 2)), usize::from(word(frame, UDP + 4)));
    // Behind the packet the frame may have padding.
    if total > frame.len() - IPV4 || length + (UDP - IPV4) != total || length < RAW_HEADER_BYTES - UDP {
        return Err(Dropped::Length);
    }
    let udp = &frame[UDP..UDP + length];
    let sender = Sender { address: [frame[26], frame[27], frame[28], frame[29]], port: word(frame, UDP) };

    let has_header = known[0].kind != Kind::Raw;
    let header = if has_header { header(udp, known, most)? } else { raw_header(frame) };
    let taker = match known[0].kind {
        Kind::Application(_) => {
            known.iter().find(|k| k.kind == Kind::Application(header.app_id)).ok_or(Dropped::NoApplication)?
        }
        Kind::Endpoint | Kind::Raw => &known[0],
    };
    if taker.updating {
        return Err(Dropped::Updating);
    }
    if word(frame, UDP + 6) != 0 && !udp_checksum_is_valid(frame, udp) {
        return Err(Dropped::UdpChecksum);
    }
    let payload = &udp[if has_header { HEADER_BYTES } else { RAW_HEADER_BYTES } - UDP..];
    Ok(Packet { application: taker.application, kind: taker.kind, sender, header, payload, view: None })
}

/// The QNP header, where it does not contradict itself.
fn header(udp: &[u8], known: &[Known], most: usize) -> Result<Header, Dropped> {
    let bytes = udp.get(QNP - UDP..).and_then(|bytes| bytes.first_chunk::<QNP_BYTES>());
    let header = Header::from_bytes(bytes.ok_or(Dropped::Header)?);
    let count = header.msg_len_in_pkts;
    if count == 0 || usize::from(count) > most {
        return Err(Dropped::Count { found: count, most });
    }
    if header.pkt_seq_num_in_msg >= count {
        return Err(Dropped::Sequence);
    }
    // Acknowledgements are for the process that sent the message: at its endpoint.
    let most_flag = if known[0].kind == Kind::Endpoint { flag::ACK } else { flag::DATA };
    if header.pkt_flag > most_flag {
        return Err(Dropped::Flag);
    }
    Ok(header)
}

/// What stands for the header of a raw application's packet.
fn raw_header(frame: &[u8]) -> Header {
    let word = |at: usize| u32::from_be_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
    Header { msg_id: word(UDP), msg_len_in_pkts: 1, session: word(IPV4 + 12), ..Header::default() }
}

fn udp_checksum_is_valid(frame: &[u8], udp: &[u8]) -> bool {
    let address = |at: usize| IpAddr::V4(Ipv4Addr::new(frame[at], frame[at + 1], frame[at + 2], frame[at + 3]));
    let sum = Sum::new().add_pseudo_header(address(26), address(30), PROTOCOL_UDP, udp.len() as u32);
    sum.add_bytes(udp).folded() == 0xffff
}
