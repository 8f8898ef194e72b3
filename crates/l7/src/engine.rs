//! The model of the engine as its rows configure it: what becomes of each packet.
//!
//! The order of checks is that of a stream of bytes. No message: not IPv4 without options and fragments, not UDP, a length that does not fit
//! into the one around it, a port that the module does not have. Then a wrong IPv4 checksum, an application under update, none of this ID,
//! a header that contradicts itself, a wrong UDP checksum; then message table and rules.

use crate::step::{self, Identity, Verdict};
use crate::table::{Begun, Key, Table};
use crate::tables::Tables;
use crate::view::View;
use sluice_formats::Reason;
use sluice_formats::l7::codes::{L7Goal, L7PortKind};
use sluice_formats::l7::qnp::{HEADER_BYTES, Header, MOST_PACKETS, QNP, QNP_BYTES, RAW_HEADER_BYTES, UDP, flag};
use sluice_formats::l7::rows::L7PortRow;
use sluice_formats::l7::target::Target;

const IPV4: usize = 14;
const IPV4_BYTES: usize = 20;
const UDP_BYTES: usize = 8;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is no message: it leaves as a frame.
    Frame,
    /// It leaves to this queue.
    Queue(u8),
    /// It is dropped.
    Dropped(Reason),
}

/// A fate, and whether it counts a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What becomes of it.
    pub fate: Fate,
    /// Its message's program was a fault, and this packet's verdict decided.
    pub fault: bool,
}

/// What matchers are asked: a message's first packet, a raw one, or what needs a default's group.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// Row of its port.
    pub port: &'a L7PortRow,
    /// Message type; none for an acknowledgement or an endpoint's packet, of which only the default is asked.
    pub message_type: Option<u8>,
    /// Session and message ID, or what stands for them.
    pub identity: Identity,
    /// What lies behind its headers; nothing for one without a type.
    pub payload: &'a [u8],
    /// Of its header.
    pub seg_cnt: u8,
}

impl Job<'_> {
    /// It is a raw application's packet.
    pub fn is_raw(&self) -> bool {
        L7PortKind::from_code(self.port.kind) == Some(L7PortKind::Raw)
    }

    /// The verdict of the rules; none for a malformed message.
    pub fn run(&self, tables: &Tables) -> Option<Verdict> {
        let Some(message_type) = self.message_type else {
            let view = View::of_message(&[], 0).ok()?;
            let port = L7PortRow { types: 0, ..*self.port };
            return Some(step::run(tables, &port, 0, self.identity, &view, |_| {}));
        };
        let view = if self.is_raw() {
            View::of_raw(self.payload)
        } else {
            View::of_message(self.payload, self.seg_cnt).ok()?
        };
        Some(step::run(tables, self.port, message_type, self.identity, &view, |_| {}))
    }
}

/// The engine's state.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Port rows of all modules.
    pub ports: Vec<L7PortRow>,
    /// The message table.
    pub table: Table<Fate>,
}

/// A packet of a message, in its headers.
struct Packet<'a> {
    udp: &'a [u8],
    frame: &'a [u8],
}

impl Engine {
    /// After a reset.
    pub fn new(target: &Target) -> Self {
        Self { ports: Vec::new(), table: Table::new(target) }
    }

    /// A packet of a module comes; `rule` is asked for verdicts, and gives none for malformed messages.
    pub fn packet(
        &mut self,
        frame: &[u8],
        module: u8,
        generation: bool,
        mut rule: impl FnMut(&Job) -> Option<Verdict>,
    ) -> Outcome {
        let outcome = |fate| Outcome { fate, fault: false };
        let dropped = |reason| outcome(Fate::Dropped(reason));
        let Some(packet) = Packet::of(frame) else { return outcome(Fate::Frame) };
        let to = word(frame, UDP + 2);
        let known: Vec<_> = self
            .ports
            .iter()
            .filter(|row| row.valid && (row.module_id, row.generation, row.port) == (module, generation, to))
            .filter_map(|row| Some((L7PortKind::from_code(row.kind)?, *row)))
            .collect();
        if known.is_empty() {
            return outcome(Fate::Frame);
        }
        if ones_sum(&frame[IPV4..UDP]) != 0xffff {
            return dropped(Reason::L7Checksum);
        }
        let id = frame.get(QNP);
        let Some((kind, row)) =
            known.into_iter().find(|(kind, row)| *kind != L7PortKind::Application || Some(&row.id) == id)
        else {
            return dropped(Reason::L7NoApp);
        };
        if row.updating {
            return dropped(Reason::L7Updating);
        }
        let raw = kind == L7PortKind::Raw;
        let header = if raw { packet.raw_header() } else { packet.header() };
        let Some(header) = header else { return dropped(Reason::L7Malformed) };
        if !packet.sum_is_right() {
            return dropped(Reason::L7Checksum);
        }
        let plain = kind == L7PortKind::Endpoint || header.pkt_flag == flag::ACK;
        let begin = if raw { RAW_HEADER_BYTES } else { HEADER_BYTES } - UDP;
        let job = Job {
            port: &row,
            message_type: (!plain).then_some(header.msg_type),
            identity: Identity { session: header.session, message: header.msg_id },
            payload: if plain { &[] } else { &packet.udp[begin..] },
            seg_cnt: header.seg_cnt,
        };
        if raw || plain {
            let hashes = !matches!(
                L7Goal::from_code(row.otherwise.kind),
                Some(L7Goal::Default | L7Goal::Queue | L7Goal::Drop | L7Goal::Row | L7Goal::Rows)
            );
            // A default that needs no matcher is never a fault.
            let ruled = ruled(rule(&job));
            return Outcome { fault: ruled.fault && (raw || hashes), ..ruled };
        }
        let key = Key {
            module,
            source: long(frame, IPV4 + 12),
            port: word(frame, UDP),
            session: header.session,
            message: header.msg_id,
        };
        let place = if header.pkt_seq_num_in_msg == 0 {
            match self.table.begin(key, header.msg_len_in_pkts) {
                Begun::Entered(place) => {
                    let ruled = ruled(rule(&job));
                    self.table.decide(place, ruled.fate);
                    return ruled;
                }
                Begun::Known(place) => place,
                Begun::NoState => return dropped(Reason::L7NoState),
            }
        } else {
            match self.table.find(key) {
                Some(place) => place,
                None => return dropped(Reason::L7NoFirst),
            }
        };
        match self.table.join(place, header.msg_len_in_pkts, header.pkt_seq_num_in_msg) {
            Ok(Some(fate)) => outcome(fate),
            // Entries of this model are decided at once.
            Ok(None) | Err(_) => dropped(Reason::L7Malformed),
        }
    }
}

/// What a verdict says.
fn ruled(verdict: Option<Verdict>) -> Outcome {
    let Some(verdict) = verdict else { return Outcome { fate: Fate::Dropped(Reason::L7Malformed), fault: false } };
    let fate = match verdict.decision {
        step::Decision::Queue(queue) => Fate::Queue(queue),
        step::Decision::Drop => Fate::Dropped(Reason::L7Rule),
    };
    Outcome { fate, fault: verdict.fault }
}

impl<'a> Packet<'a> {
    /// A UDP packet in IPv4 whose lengths fit into each other; behind it the frame may have padding.
    fn of(frame: &'a [u8]) -> Option<Self> {
        let is_udp = frame.len() >= IPV4 + IPV4_BYTES + UDP_BYTES
            && word(frame, 12) == 0x0800
            && frame[IPV4] == 0x45
            && word(frame, IPV4 + 6) & 0x3fff == 0
            && frame[IPV4 + 9] == 17;
        if !is_udp {
            return None;
        }
        let (total, length) = (usize::from(word(frame, IPV4 + 2)), usize::from(word(frame, UDP + 4)));
        let fits = total + IPV4 <= frame.len() && length >= UDP_BYTES && length + IPV4_BYTES <= total;
        fits.then(|| Self { udp: &frame[UDP..UDP + length], frame })
    }

    fn header(&self) -> Option<Header> {
        let bytes = self.udp.get(UDP_BYTES..)?.first_chunk::<QNP_BYTES>()?;
        let header = Header::from_bytes(bytes);
        let packets = usize::from(header.msg_len_in_pkts);
        let fits = (1..=MOST_PACKETS).contains(&packets) && header.pkt_seq_num_in_msg < header.msg_len_in_pkts;
        (fits && header.pkt_flag <= flag::ACK).then_some(header)
    }

    /// What stands for a header: a group spreads raw packets by who sent them.
    fn raw_header(&self) -> Option<Header> {
        Some(Header { session: long(self.frame, IPV4 + 12), msg_id: long(self.frame, UDP), ..Header::default() })
    }

    fn sum_is_right(&self) -> bool {
        let pseudo = [ones_sum(&self.frame[IPV4 + 12..UDP]), 17, self.udp.len() as u32];
        let total = pseudo.iter().sum::<u32>() + ones_sum(self.udp);
        word(self.udp, 6) == 0 || folded(total) == 0xffff
    }
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from(word(bytes, at)) << 16 | u32::from(word(bytes, at + 2))
}

/// RFC 1071, of big-endian words; an odd byte is the high one.
fn ones_sum(bytes: &[u8]) -> u32 {
    folded(bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum())
}

fn folded(mut sum: u32) -> u32 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}
