//! Random tenants, their messages, and everything that is none.

use super::frames::{self, Flow};
use sluice_formats::l7::codes::L7PortKind;
use sluice_formats::l7::qnp::Header;
use sluice_formats::l7::rows::L7PortRow;
use sluice_formats::l7::target::{Target, VIEW_BYTES};
use sluice_formats::random::Rng;
use sluice_l7::message::encode;
use sluice_l7::rules::Application;
use sluice_l7::testing::{field_values, value_for};

/// A message of which some packets are still to be sent.
#[derive(Clone, Debug)]
struct Sending {
    module: u8,
    flow: Flow,
    header: Header,
    chunk: usize,
    body: Vec<u8>,
    left: Vec<u8>,
}

/// What makes packets.
pub struct Traffic {
    pub rng: Rng,
    pub ports: Vec<(L7PortRow, Application)>,
    sending: Vec<Sending>,
    sent: Vec<Sending>,
    /// What comes next: a first packet whose message ID is another one's.
    again: Option<(u8, Vec<u8>)>,
    message: u32,
    target: &'static Target,
    /// Messages begun.
    pub begun: u64,
}

impl Traffic {
    /// Of these ports, to an engine of these sizes.
    pub fn new(rng: Rng, ports: Vec<(L7PortRow, Application)>, target: &'static Target) -> Self {
        Self { rng, ports, sending: Vec::new(), sent: Vec::new(), again: None, message: 0, target, begun: 0 }
    }

    fn flow(&mut self, to: u16) -> Flow {
        Flow { source: 0x0a00_0000 | self.rng.below(4) as u32, from: 1000 + self.rng.below(3) as u16, to }
    }

    /// Lengths of a part of a message: short ones mostly.
    fn length(&mut self) -> usize {
        match self.rng.below(20) {
            0 => 0,
            1..=8 => self.rng.index(80),
            9..=15 => self.rng.index(700),
            16..=18 => self.rng.index(1451),
            _ => self.rng.index(8_950),
        }
    }

    fn begin(&mut self, row: L7PortRow, application: &Application) {
        let number = self.rng.choose(&application.types).map_or(0, |t| t.number);
        let msg_type = if self.rng.chance(1, 12) { self.rng.below(9) as u8 } else { number };
        let mut fields = field_values(&mut self.rng, application, msg_type);
        // Of a larger view all is used: long values in front of others.
        if self.target.view_bytes() > VIEW_BYTES && self.rng.chance(1, 2) {
            for field in &mut fields {
                let length = self.rng.range(field.value.len() as u64, 255) as usize;
                field.value.resize(length, b'x');
            }
        }
        let fields = encode(&fields);
        let packets = match self.rng.below(8) {
            0..=2 => 1,
            3..=6 => 1 + self.rng.below(6) as u8,
            _ => 1 + self.rng.below(self.target.message_packets as u64) as u8,
        };
        // Mostly all fields are in the first packet, and the header says how many segments they are.
        let sound = !self.rng.chance(1, 10);
        let seg_cnt = match self.rng.below(4) {
            0 => 0,
            1 if !sound => self.rng.below(self.target.view_segments as u64 + 2) as u8,
            _ => fields.len().div_ceil(64).min(200) as u8 + u8::from(self.rng.chance(1, 4)),
        };
        let most = if packets > 8 { 1 + self.rng.index(100) } else { 1 + self.length() };
        let chunk = if sound { most.max(fields.len()).max(1) } else { most };
        let last = if packets == 1 && sound { chunk } else { self.rng.index(chunk + 1) };
        let mut body = fields;
        let length = usize::from(packets - 1) * chunk + last;
        if body.len() < length {
            body.push(16 + self.rng.below(200) as u8);
            let more = self.rng.bytes(length);
            body.extend(more);
        }
        body.truncate(length);
        let flow = self.flow(row.port);
        self.message += 1;
        let header = Header {
            app_id: row.id,
            msg_type,
            msg_id: self.message,
            msg_len_in_pkts: packets,
            seg_cnt,
            session: self.rng.below(2) as u32,
            ..Header::default()
        };
        let mut left: Vec<u8> = (0..packets).collect();
        // The first comes first, mostly; the others in any order.
        self.rng.shuffle(&mut left[1..]);
        if self.rng.chance(1, 12) {
            self.rng.shuffle(&mut left);
        }
        left.reverse();
        self.begun += 1;
        self.sending.push(Sending { module: row.module_id, flow, header, chunk, body, left });
    }

    fn raw_body(&mut self, application: &Application) -> Vec<u8> {
        let patterns: Vec<_> =
            application.types.iter().flat_map(|t| &t.rules).flat_map(|r| &r.matches[0].patterns).cloned().collect();
        let pattern = self.rng.choose(&patterns).cloned();
        let mut body =
            pattern.map_or(vec![], |pattern| value_for(&mut self.rng, &pattern, self.target.view_bytes() + 88));
        if self.rng.chance(1, 3) {
            let length = self.length();
            body.extend(self.rng.bytes(length));
        }
        body
    }

    fn part(sending: &Sending, number: u8) -> Vec<u8> {
        let at = usize::from(number) * sending.chunk;
        let end = if number + 1 == sending.header.msg_len_in_pkts { sending.body.len() } else { at + sending.chunk };
        let end = end.min(sending.body.len()).min(at + sending.chunk);
        let header = Header { pkt_seq_num_in_msg: number, ..sending.header };
        frames::packet(sending.flow, header, &sending.body[at..end])
    }

    /// The first packet of another message that goes there, with the ID of this one.
    fn used_again(&mut self, sending: &Sending) -> Vec<u8> {
        let key = |other: &Sending| (other.module, other.flow.to, other.header.app_id);
        let others = self.sent.iter().chain(&self.sending).filter(|other| key(other) == key(sending));
        let others: Vec<&Sending> = others.collect();
        let other = self.rng.choose(&others).copied().unwrap_or(sending).clone();
        let header = Header { msg_type: other.header.msg_type, seg_cnt: other.header.seg_cnt, ..sending.header };
        Self::part(&Sending { flow: sending.flow, header, ..other }, 0)
    }

    /// The next packet and its module.
    pub fn next(&mut self) -> (u8, Vec<u8>) {
        let (module, frame) = self.sound();
        if !self.rng.chance(1, 6) {
            return (module, frame);
        }
        // Another module has other ports.
        let module = if self.rng.chance(1, 8) { self.rng.below(8) as u8 } else { module };
        let frame = if frame.len() >= 42 { frames::broken(&mut self.rng, frame) } else { frame };
        (module, frame)
    }

    fn sound(&mut self) -> (u8, Vec<u8>) {
        if let Some(again) = self.again.take() {
            return again;
        }
        let (row, application) = self.rng.choose(&self.ports).unwrap().clone();
        let kind = L7PortKind::from_code(row.kind).unwrap();
        match (self.rng.below(20), kind, application) {
            (0, _, _) => {
                let length = 14 + self.rng.index(200);
                (row.module_id, self.rng.bytes(length))
            }
            // A late repeat.
            (1, _, _) if !self.sent.is_empty() => {
                let at = self.sent.len() - 1 - self.rng.index(self.sent.len().min(6));
                let sent = self.sent[at].clone();
                let number = self.rng.below(sent.header.msg_len_in_pkts.into()) as u8;
                if self.rng.chance(1, 3) {
                    return (sent.module, self.used_again(&sent));
                }
                (sent.module, Self::part(&sent, number))
            }
            (2, L7PortKind::Application, _) => {
                let header = Header { app_id: 200, msg_len_in_pkts: 1, ..Header::default() };
                let flow = self.flow(row.port);
                (row.module_id, frames::packet(flow, header, b"nobody"))
            }
            (3, L7PortKind::Application, _) | (_, L7PortKind::Endpoint, _) => {
                let header = Header { app_id: row.id, msg_len_in_pkts: 1, pkt_flag: 1, ..Header::default() };
                let (flow, length) = (self.flow(row.port), self.rng.index(100));
                let header = Header { msg_id: self.rng.next_u32(), ..header };
                (row.module_id, frames::packet(flow, header, &self.rng.bytes(length)))
            }
            (_, L7PortKind::Raw, application) => {
                let flow = self.flow(row.port);
                let body = self.raw_body(&application);
                (row.module_id, frames::raw(flow, &body))
            }
            (_, L7PortKind::Application, application) => {
                if self.sending.len() < 6 && self.rng.chance(1, 2) || self.sending.is_empty() {
                    self.begin(row, &application);
                }
                let at = self.rng.index(self.sending.len());
                let number = self.sending[at].left.pop().unwrap();
                let packet = (self.sending[at].module, Self::part(&self.sending[at], number));
                // Sometimes at once, while the message is not decided.
                if number == 0 && self.rng.chance(1, 10) {
                    let sending = self.sending[at].clone();
                    self.again = Some((sending.module, self.used_again(&sending)));
                }
                if self.sending[at].left.is_empty() {
                    let done = self.sending.swap_remove(at);
                    self.sent.push(done);
                }
                packet
            }
        }
    }
}
