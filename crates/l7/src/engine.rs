//! The model of the engine as its rows configure it: what becomes of each packet.

use crate::message::{Known, Ports, Sender, Sort, by_headers};
use crate::rules::Kind;
use crate::step::{self, Identity, Verdict};
use crate::table::{Begun, Key, Place, Table};
use crate::tables::Tables;
use crate::view::View;
use sluice_formats::Reason;
use sluice_formats::l7::codes::{L7Goal, L7PortKind};
use sluice_formats::l7::qnp::Header;
use sluice_formats::l7::rows::L7PortRow;
use sluice_formats::l7::target::Target;

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
    pub ports: Vec<L7PortRow>,
    /// The message table.
    pub table: Table<Fate>,
}

impl Engine {
    /// After a reset.
    pub fn new(target: &Target) -> Self {
        Self { ports: Vec::new(), table: Table::new(target) }
    }

    /// The ports of a module in one of its generations; `application` is the number of the row.
    fn known(&self, module: u8, generation: bool) -> Ports {
        let rows = self.ports.iter().enumerate();
        let own = rows.filter(|(_, row)| row.valid && (row.module_id, row.generation) == (module, generation));
        let known = own.filter_map(|(application, row)| {
            let kind = match L7PortKind::from_code(row.kind)? {
                L7PortKind::Application => Kind::Application(row.id),
                L7PortKind::Endpoint => Kind::Endpoint,
                L7PortKind::Raw => Kind::Raw,
            };
            Some(Known { port: row.port, kind, application, updating: row.updating })
        });
        Ports::new(known.collect())
    }

    /// A packet of a module comes; `rule` is asked for verdicts, and gives none for malformed messages.
    pub fn packet(
        &mut self,
        frame: &[u8],
        module: u8,
        generation: bool,
        rule: impl FnOnce(&Job) -> Option<Verdict>,
    ) -> Outcome {
        let ports = self.known(module, generation);
        // Its fields are looked at when it has its entry.
        let packet = match by_headers(frame, &ports) {
            Sort::Frame(_) => return Outcome { fate: Fate::Frame, fault: false },
            Sort::Dropped(dropped) => return Outcome { fate: Fate::Dropped(dropped.reason()), fault: false },
            Sort::Packet(packet) => packet,
        };
        let port = self.ports[packet.application];
        let header = packet.header;
        let identity = Identity { session: header.session, message: header.msg_id };
        let message_type = if packet.kind == Kind::Raw { 0 } else { header.msg_type };
        let view = || packet.seen().and_then(Result::ok);
        match packet.kind {
            Kind::Raw => ruled(rule(&Job { port: &port, message_type, identity, view: view() })),
            Kind::Endpoint => endpoint(&port, rule, identity),
            Kind::Application(_) => {
                let Sender { address, port: from } = packet.sender;
                let source = u32::from_be_bytes(address);
                let key = Key { module, source, port: from, session: header.session, message: header.msg_id };
                let place = match self.entry(key, &header) {
                    Ok(place) => place,
                    Err(outcome) => return outcome,
                };
                match place {
                    Begun::Entered(place) => {
                        let ruled = ruled(rule(&Job { port: &port, message_type, identity, view: view() }));
                        self.table.decide(place, ruled.fate);
                        ruled
                    }
                    Begun::Known(place) => self.follow(place, &header),
                    Begun::NoState => dropped(Reason::L7NoState),
                }
            }
        }
    }

    /// The entry of a packet's message.
    fn entry(&mut self, key: Key, header: &Header) -> Result<Begun, Outcome> {
        if header.pkt_seq_num_in_msg == 0 {
            return Ok(self.table.begin(key, header.msg_len_in_pkts));
        }
        self.table.find(key).map(Begun::Known).ok_or(dropped(Reason::L7NoFirst))
    }

    fn follow(&mut self, place: Place, header: &Header) -> Outcome {
        match self.table.join(place, header.msg_len_in_pkts, header.pkt_seq_num_in_msg) {
            Ok(Some(fate)) => Outcome { fate, fault: false },
            // Entries of this model are decided at once.
            Ok(None) | Err(_) => dropped(Reason::L7Malformed),
        }
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

/// What a verdict says.
fn ruled(verdict: Option<Verdict>) -> Outcome {
    let Some(verdict) = verdict else { return Outcome { fate: Fate::Dropped(Reason::L7Malformed), fault: false } };
    let fate = match verdict.decision {
        step::Decision::Queue(queue) => Fate::Queue(queue),
        step::Decision::Drop => Fate::Dropped(Reason::L7Rule),
    };
    Outcome { fate, fault: verdict.fault }
}
