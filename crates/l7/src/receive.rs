//! The model of the receive side (docs/design/l7.md, "Receive"): which packet goes into which buffer, and what becomes of messages.
//!
//! Time and host memory are told to it: when a write is in memory, and when a message is given up. What it cannot know either is whether a
//! descriptor that was posted has been fetched; whoever runs it says whether the engine had one.

use crate::came::Came;
use crate::engine::{Fate, Outcome};
use crate::table::Place;
use sluice_formats::Reason;
use sluice_formats::l7::codes::L7Status;
use sluice_formats::l7::qnp::HEADER_BYTES;
use sluice_formats::l7::rows::{L7CompletionRow, L7DescriptorRow, L7RingRow, L7TraceRow};
use sluice_formats::l7::target::EXPIRY_TICK_CYCLES;
use std::collections::{BTreeMap, VecDeque};

/// What the receive side knows of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Whose it is.
    pub module: u8,
    /// Bytes of headers and payload.
    pub length: usize,
    /// Bytes of the payload.
    pub payload: usize,
    /// Packets of its message.
    pub packets: u8,
    /// Which of them it is.
    pub number: u8,
    /// IPv4 address of the sender.
    pub source: u32,
    /// UDP port of the sender.
    pub port: u16,
    /// Session, or what stands for it.
    pub session: u32,
    /// Message ID, or what stands for it.
    pub message: u32,
    /// Application.
    pub application: u8,
    /// Message type.
    pub message_type: u8,
    /// Ticks after which its message is given up.
    pub expiry: u32,
}

/// How a packet belongs to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// It is one by itself.
    Alone,
    /// It begins the message of an entry.
    Begins(Place),
    /// It is a later packet of it.
    Later(Place),
    /// It repeats the first packet.
    Repeated,
}

/// A packet as the message table leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// What its message's decision says.
    pub outcome: Outcome,
    /// Of a packet that belongs to a message.
    pub member: Option<(Member, Ticket)>,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It leaves on the stream.
    Left(Fate),
    /// It goes into a buffer of this ring.
    Consumed(u8),
    /// It is dropped.
    Dropped(Reason),
}

impl Delivery {
    /// What the trace tells of it, but for packet, module and fault.
    pub fn traced(self) -> L7TraceRow {
        let message = |row| L7TraceRow { message: true, ..row };
        let row = L7TraceRow::default();
        match self {
            Self::Left(Fate::Frame) => row,
            Self::Left(Fate::Queue(queue_id)) => message(L7TraceRow { queue_id, ..row }),
            Self::Consumed(queue_id) => message(L7TraceRow { consumed: true, queue_id, ..row }),
            Self::Dropped(reason) | Self::Left(Fate::Dropped(reason)) => {
                message(L7TraceRow { dropped: true, kind: reason.kind() as u8, ..row })
            }
        }
    }
}

/// Whose write it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// A packet of an entry's message.
    Entry(Place),
    /// A message of one packet, and what its completion says.
    Alone(Ended),
}

/// A write into a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Where it begins.
    pub address: u64,
    /// What is written.
    pub bytes: Vec<u8>,
    /// Who waits for it.
    pub whose: Whose,
}

/// A message that had a buffer has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its ring.
    pub ring: u8,
    /// Its completion, but for the phase.
    pub completion: L7CompletionRow,
}

/// A ring as the host sees it.
#[derive(Clone, Debug, Default)]
pub struct Ring {
    /// Its row.
    pub row: L7RingRow,
    /// Descriptors that no message has taken.
    pub posted: VecDeque<L7DescriptorRow>,
    /// Descriptors that messages have taken.
    pub taken: u64,
    /// Completions that the host has taken.
    pub seen: u64,
}

impl Ring {
    /// Whether a message of a module could take a descriptor.
    pub fn is_free(&self, module: u8) -> bool {
        // The host says how many it has seen, in 16 bits: it may say nonsense.
        let has_place = self.taken.wrapping_sub(self.seen) & 0xffff < 1 << self.row.log_size;
        self.row.module_id == module && has_place && !self.posted.is_empty()
    }
}

#[derive(Clone, Debug)]
enum Mode {
    Frames,
    Dropped(Reason),
    Buffer { descriptor: L7DescriptorRow, ended: Ended, total: usize },
}

/// A message that has an entry.
#[derive(Clone, Debug)]
struct Message {
    mode: Mode,
    live: bool,
    packets: u8,
    came: Came,
    under_way: u32,
    chunk: usize,
    /// For the last packet.
    room: usize,
    last: u64,
    expiry: u32,
}

impl Message {
    fn is_whole(&self) -> bool {
        self.came.is_all(self.packets) && self.under_way == 0
    }
}

/// The receive side.
#[derive(Clone, Debug, Default)]
pub struct Receive {
    /// Rings that have been written.
    pub rings: BTreeMap<u8, Ring>,
    messages: BTreeMap<usize, Message>,
}

/// What happens to a packet, beside what becomes of it.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// It is written.
    pub write: Option<Write>,
    /// Its message took a descriptor.
    pub started: Option<(u8, u32)>,
    /// Its message is whole without a write.
    pub ended: Option<Ended>,
    /// Its message's entry is given back.
    pub forgets: Option<Place>,
}

impl Receive {
    fn ring(&mut self, queue: u8) -> Option<&mut Ring> {
        self.rings.get_mut(&queue).filter(|ring| ring.row.valid)
    }

    /// A packet's decision is known, at a time in ticks. `has_descriptor`: the engine has one where its ring has.
    pub fn take(&mut self, arrived: &Arrived, frame: &[u8], has_descriptor: bool, now: u64) -> (Delivery, Effects) {
        let mut effects = Effects::default();
        let (Some((member, ticket)), fate) = (&arrived.member, arrived.outcome.fate) else {
            return (Self::passed(arrived.outcome.fate), effects);
        };
        let delivery = match (member, fate) {
            (Member::Alone | Member::Begins(_), Fate::Queue(queue)) => {
                self.begin(*member, ticket, queue, frame, has_descriptor, &mut effects)
            }
            (Member::Repeated, Fate::Queue(queue)) if self.ring(queue).is_some() => {
                Delivery::Dropped(Reason::L7Duplicate)
            }
            (Member::Later(place), Fate::Queue(_)) => match self.later(*place, ticket, frame, &mut effects) {
                Delivery::Left(_) => Delivery::Left(fate),
                other => other,
            },
            _ => Self::passed(fate),
        };
        self.count(*member, ticket, delivery, &mut effects, now);
        (delivery, effects)
    }

    fn passed(fate: Fate) -> Delivery {
        match fate {
            Fate::Dropped(reason) => Delivery::Dropped(reason),
            left => Delivery::Left(left),
        }
    }

    /// A message begins at a queue.
    fn begin(
        &mut self,
        member: Member,
        ticket: &Ticket,
        queue: u8,
        frame: &[u8],
        has_descriptor: bool,
        effects: &mut Effects,
    ) -> Delivery {
        let Some(ring) = self.ring(queue) else { return Delivery::Left(Fate::Queue(queue)) };
        if !has_descriptor || !ring.is_free(ticket.module) {
            return Delivery::Dropped(Reason::L7NoDescriptor);
        }
        let all = ticket.length + usize::from(ticket.packets - 1) * ticket.payload;
        let before_last = if ticket.packets == 1 { all } else { all - ticket.payload };
        let Some(descriptor) = ring.posted.front().copied().filter(|d| before_last <= d.length as usize) else {
            return Delivery::Dropped(Reason::L7Malformed);
        };
        ring.posted.pop_front();
        ring.taken += 1;
        effects.started = Some((queue, descriptor.cookie));
        let completion = L7CompletionRow {
            cookie: descriptor.cookie,
            length: before_last as u32,
            message: ticket.message,
            session: ticket.session,
            source: ticket.source,
            port: ticket.port,
            application: ticket.application,
            message_type: ticket.message_type,
            packets: ticket.packets,
            status: L7Status::Whole.code(),
            ..L7CompletionRow::default()
        };
        let ended = Ended { ring: queue, completion };
        let whose = match member {
            Member::Begins(place) => {
                let mode = Mode::Buffer { descriptor, ended, total: before_last };
                // More than a packet can have is no limit.
                let room = (descriptor.length as usize - before_last).min((1 << 14) - 1);
                self.messages.insert(place.0, Message { room, ..Self::message(mode, ticket) });
                Whose::Entry(place)
            }
            _ => Whose::Alone(ended),
        };
        effects.write = Some(Write { address: descriptor.address, bytes: frame[..ticket.length].to_vec(), whose });
        Delivery::Consumed(queue)
    }

    fn message(mode: Mode, ticket: &Ticket) -> Message {
        let (packets, chunk, expiry) = (ticket.packets, ticket.payload, ticket.expiry);
        Message { mode, live: true, packets, came: Came::default(), under_way: 0, chunk, room: 0, last: 0, expiry }
    }

    fn later(&mut self, place: Place, ticket: &Ticket, frame: &[u8], effects: &mut Effects) -> Delivery {
        let Some(message) = self.messages.get_mut(&place.0) else { return Delivery::Dropped(Reason::L7NoFirst) };
        let is_last = ticket.number + 1 == ticket.packets;
        match &mut message.mode {
            Mode::Frames => Delivery::Left(Fate::Frame),
            Mode::Dropped(reason) => Delivery::Dropped(*reason),
            Mode::Buffer { .. } if message.came.has(ticket.number) => Delivery::Dropped(Reason::L7Duplicate),
            Mode::Buffer { descriptor, ended, total } => {
                let fits = if is_last { ticket.payload <= message.room } else { ticket.payload == message.chunk };
                if !fits {
                    return Delivery::Dropped(Reason::L7Malformed);
                }
                let offset = HEADER_BYTES + usize::from(ticket.number) * message.chunk;
                if is_last {
                    *total += ticket.payload;
                }
                if ticket.payload > 0 {
                    let bytes = frame[HEADER_BYTES..HEADER_BYTES + ticket.payload].to_vec();
                    let address = descriptor.address + offset as u64;
                    effects.write = Some(Write { address, bytes, whose: Whose::Entry(place) });
                }
                Delivery::Consumed(ended.ring)
            }
        }
    }

    /// What the packet is for its message.
    fn count(&mut self, member: Member, ticket: &Ticket, delivery: Delivery, effects: &mut Effects, now: u64) {
        let place = match member {
            Member::Alone | Member::Repeated => return,
            Member::Begins(place) => {
                match delivery {
                    Delivery::Consumed(_) => {}
                    Delivery::Left(_) => drop(self.messages.insert(place.0, Self::message(Mode::Frames, ticket))),
                    Delivery::Dropped(reason) => {
                        self.messages.insert(place.0, Self::message(Mode::Dropped(reason), ticket));
                    }
                }
                place
            }
            Member::Later(place) => place,
        };
        let Some(message) = self.messages.get_mut(&place.0).filter(|message| message.live) else { return };
        if delivery == Delivery::Dropped(Reason::L7NoDescriptor) {
            message.live = false;
            effects.forgets = Some(place);
            return;
        }
        if matches!(message.mode, Mode::Buffer { .. }) && !matches!(delivery, Delivery::Consumed(_)) {
            return;
        }
        if message.came.add(ticket.number) {
            message.last = now;
        }
        message.under_way += u32::from(effects.write.is_some());
        effects.ended = Self::end(message);
    }

    /// The end of a message, if it has come.
    fn end(message: &mut Message) -> Option<Ended> {
        if !message.live || !message.is_whole() {
            return None;
        }
        message.live = false;
        let Mode::Buffer { ended, total, .. } = &message.mode else { return None };
        let completion = L7CompletionRow { length: *total as u32, ..ended.completion };
        Some(Ended { completion, ..*ended })
    }

    /// A write is in memory: the message may be whole with it.
    pub fn written(&mut self, whose: Whose) -> Option<Ended> {
        match whose {
            Whose::Alone(ended) => Some(ended),
            Whose::Entry(place) => {
                let message = self.messages.get_mut(&place.0)?;
                message.under_way -= 1;
                Self::end(message)
            }
        }
    }

    /// The message with this descriptor in its ring.
    pub fn find(&self, ring: u8, cookie: u32) -> Option<Place> {
        let is_it = |message: &Message| match &message.mode {
            Mode::Buffer { ended, .. } => message.live && ended.ring == ring && ended.completion.cookie == cookie,
            _ => false,
        };
        self.messages.iter().find(|(_, message)| is_it(message)).map(|(place, _)| Place(*place))
    }

    /// A message's packets have not come for too long: its end, if it had a buffer. With it: since when it waits, and its expiry. None where it may
    /// not expire.
    pub fn expire(&mut self, place: Place) -> Option<(Option<Ended>, u64, u32)> {
        let message = self.messages.get_mut(&place.0).filter(|message| message.live && message.under_way == 0)?;
        let (last, expiry) = (message.last, message.expiry);
        message.live = false;
        let ended = match std::mem::replace(&mut message.mode, Mode::Dropped(Reason::L7NoFirst)) {
            Mode::Buffer { ended, .. } => {
                let completion = L7CompletionRow { length: 0, status: L7Status::Expired.code(), ..ended.completion };
                Some(Ended { completion, ..ended })
            }
            Mode::Frames | Mode::Dropped(_) => None,
        };
        Some((ended, last, expiry))
    }

    /// Messages that have waited for longer than they may by this tick, and the first tick at which others will have.
    pub fn overdue(&self, now: u64) -> (Vec<Place>, Option<u64>) {
        let (mut overdue, mut next) = (Vec::new(), None);
        for (place, message) in self.messages.iter().filter(|(_, message)| message.live && message.under_way == 0) {
            let due = message.last + u64::from(message.expiry) * EXPIRY_TICK_CYCLES + 1;
            if due <= now {
                overdue.push(Place(*place));
            } else {
                next = Some(next.map_or(due, |next: u64| next.min(due)));
            }
        }
        (overdue, next)
    }

    /// Nothing is known of an entry's message any more.
    pub fn forget(&mut self, place: Place) {
        self.messages.remove(&place.0);
    }

    /// Messages that have a buffer of a ring.
    pub fn in_flight(&self, ring: u8) -> usize {
        let is_one = |m: &&Message| matches!(&m.mode, Mode::Buffer { ended, .. } if m.live && ended.ring == ring);
        self.messages.values().filter(is_one).count()
    }

    /// Whether an entry's message is on its way, as far as this side knows.
    pub fn is_live(&self, place: Place) -> bool {
        self.messages.get(&place.0).is_some_and(|message| message.live)
    }
}
