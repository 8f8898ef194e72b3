//! The model of the engine as its rows configure it: what becomes of each packet.

use crate::message::{Packet, Sender, Sort, by_headers};
use crate::port_rows::PortRows;
use crate::receive::{Arrived, Member, Ticket};
use crate::rules::Kind;
use crate::step::{self, Identity, Verdict};
use crate::table::{Begun, Key, Place, Table};
use crate::tables::Tables;
use crate::view::View;
use sluice_formats::Reason;
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::qnp::{Header, UDP};
use sluice_formats::l7::rows::L7PortRow;
use sluice_formats::l7::target::{EXPIRY_NS, EXPIRY_TICK_NS, MOST_EXPIRY, Target};

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

/// What matchers are asked.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    /// Row of its port.
    pub port: &'a L7PortRow,
    /// Message type; 0 of a raw application.
    pub message_type: u8,
    /// Session and message ID, or what stands for them.
    pub identity: Identity,
    /// What rules see; none where its fields cannot be told apart.
    pub view: Option<View<'a>>,
}

impl Job<'_> {
    /// The verdict of the rules; none for a malformed message.
    pub fn run(&self, tables: &Tables) -> Option<Verdict> {
        let view = self.view.as_ref()?;
        Some(step::run(tables, self.port, self.message_type, self.identity, view, |_| {}))
    }
}

/// The engine's state.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Port rows of all modules.
    pub ports: PortRows,
    /// The message table.
    pub table: Table<Fate>,
    /// Packets of a message at most.
    most_packets: usize,
    /// Bytes of a message that rules see at most.
    view_bytes: usize,
    /// Packets that have searched for their entries.
    pub searches: u32,
}

impl Engine {
    /// After a reset.
    pub fn new(target: &Target) -> Self {
        Self {
            ports: PortRows::default(),
            table: Table::new(target),
            most_packets: target.message_packets,
            view_bytes: target.view_bytes(),
            searches: 0,
        }
    }

    /// A packet of a module comes; `rule` is asked for verdicts, and gives none for malformed messages. No queue has a ring.
    pub fn packet(
        &mut self,
        frame: &[u8],
        module: u8,
        generation: bool,
        rule: impl FnOnce(&Job) -> Option<Verdict>,
    ) -> Outcome {
        self.arrive(frame, module, generation, rule).outcome
    }

    /// The same, up to what the message table says: [`crate::receive::Receive::take`] knows of rings.
    pub fn arrive(
        &mut self,
        frame: &[u8],
        module: u8,
        generation: bool,
        rule: impl FnOnce(&Job) -> Option<Verdict>,
    ) -> Arrived {
        let only = |outcome| Arrived { outcome, member: None };
        // Its fields are looked at when it has its entry.
        let packet = match by_headers(frame, self.ports.of(module, generation), self.most_packets) {
            Sort::Frame(_) => return only(Outcome { fate: Fate::Frame, fault: false }),
            Sort::Dropped(reason) => return only(dropped(reason.reason())),
            Sort::Packet(packet) => packet,
        };
        let port = self.ports[packet.application];
        let header = packet.header;
        let identity = Identity { session: header.session, message: header.msg_id };
        let message_type = if packet.kind == Kind::Raw { 0 } else { header.msg_type };
        let most = self.view_bytes;
        let view = || packet.seen(most).and_then(Result::ok);
        let ticket = ticket(frame, &packet, module, &port);
        let with = |outcome, member| Arrived { outcome, member: Some((member, ticket)) };
        match packet.kind {
            Kind::Raw => with(ruled(rule(&Job { port: &port, message_type, identity, view: view() })), Member::Alone),
            Kind::Endpoint => with(endpoint(&port, rule, identity), Member::Alone),
            Kind::Application(_) => {
                let Sender { address, port: from } = packet.sender;
                let source = u32::from_be_bytes(address);
                let key = Key { module, source, port: from, session: header.session, message: header.msg_id };
                let place = match self.entry(key, &header) {
                    Ok(place) => place,
                    Err(outcome) => return only(outcome),
                };
                match place {
                    Begun::Entered(place) => {
                        let ruled = ruled(rule(&Job { port: &port, message_type, identity, view: view() }));
                        self.table.decide(place, ruled.fate);
                        with(ruled, Member::Begins(place))
                    }
                    Begun::Known(place) => match self.follow(place, &header) {
                        Err(outcome) => only(outcome),
                        Ok(outcome) if header.pkt_seq_num_in_msg == 0 => {
                            let own = ruled(rule(&Job { port: &port, message_type, identity, view: view() }));
                            with(repeated(own.fate, outcome.fate), Member::Repeated)
                        }
                        Ok(outcome) => with(outcome, Member::Later(place)),
                    },
                    Begun::NoState => only(dropped(Reason::L7NoState)),
                }
            }
        }
    }

    /// Whether a packet searches the message table for its message.
    pub fn searches_for(&mut self, frame: &[u8], module: u8, generation: bool) -> bool {
        let sort = by_headers(frame, self.ports.of(module, generation), self.most_packets);
        matches!(sort, Sort::Packet(packet) if matches!(packet.kind, Kind::Application(_)))
    }

    /// The entry of a packet's message.
    fn entry(&mut self, key: Key, header: &Header) -> Result<Begun, Outcome> {
        self.searches += 1;
        if header.pkt_seq_num_in_msg == 0 {
            return Ok(self.table.begin(key, header.msg_len_in_pkts));
        }
        self.table.find(key).map(Begun::Known).ok_or(dropped(Reason::L7NoFirst))
    }

    fn follow(&mut self, place: Place, header: &Header) -> Result<Outcome, Outcome> {
        match self.table.join(place, header.msg_len_in_pkts, header.pkt_seq_num_in_msg) {
            Ok(Some(fate)) => Ok(Outcome { fate, fault: false }),
            // Entries of this model are decided at once.
            Ok(None) | Err(_) => Err(dropped(Reason::L7Malformed)),
        }
    }
}

/// What the receive side knows of a packet.
fn ticket(frame: &[u8], packet: &Packet, module: u8, port: &L7PortRow) -> Ticket {
    let (header, is_raw) = (packet.header, packet.kind == Kind::Raw);
    let is_alone = !matches!(packet.kind, Kind::Application(_));
    let udp = usize::from(u16::from_be_bytes([frame[38], frame[39]]));
    Ticket {
        module,
        length: UDP + udp,
        payload: packet.payload.len(),
        packets: if is_alone { 1 } else { header.msg_len_in_pkts },
        number: if is_alone { 0 } else { header.pkt_seq_num_in_msg },
        source: u32::from_be_bytes(packet.sender.address),
        port: packet.sender.port,
        session: header.session,
        message: header.msg_id,
        application: if is_raw { 0 } else { header.app_id },
        message_type: if is_raw { 0 } else { header.msg_type },
        expiry: match port.expiry {
            0 => (EXPIRY_NS / EXPIRY_TICK_NS) as u32,
            ticks => ticks.min(MOST_EXPIRY),
        },
    }
}

/// A packet of an endpoint goes to its queue; a group of its needs the matchers' hash.
fn endpoint(port: &L7PortRow, rule: impl FnOnce(&Job) -> Option<Verdict>, identity: Identity) -> Outcome {
    let fate = match port.otherwise.goal() {
        Some(L7Goal::Queue) => Fate::Queue(port.otherwise.number as u8),
        Some(L7Goal::Default | L7Goal::Drop | L7Goal::Row | L7Goal::Rows) => Fate::Dropped(Reason::L7Rule),
        Some(L7Goal::Group) | None => {
            let port = L7PortRow { types: 0, ..*port };
            return ruled(rule(&Job { port: &port, message_type: 0, identity, view: View::of_message(&[], 0).ok() }));
        }
    };
    Outcome { fate, fault: false }
}

fn dropped(reason: Reason) -> Outcome {
    Outcome { fate: Fate::Dropped(reason), fault: false }
}

/// What becomes of a repeated first packet: rules judge it like every other first packet, and it may not say another thing than its message.
fn repeated(own: Fate, message: Fate) -> Outcome {
    match own {
        Fate::Dropped(Reason::L7Malformed) => dropped(Reason::L7Malformed),
        own if own != message => dropped(Reason::L7Conflict),
        same => Outcome { fate: same, fault: false },
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
