//! Single requests over the configuration ring: sequence numbers, timeouts, repetition.
//!
//! Does no input or output itself: the caller asks for the next message to send, hands in
//! what came back, and says what time it is. Every request is absolute, so sending one again
//! is harmless as long as nothing later to the same row went before it; the layer above
//! (`config_driver`) never has two requests for one row under way. A row with more words than an answer may have is
//! read in slices, which are requests of their own below.

use sluice_formats::address::SLICE_INDEX_BIT;
use sluice_formats::limits::MESSAGE_DATA_WORDS;
use sluice_formats::xdp::target::Target as XdpTarget;
use sluice_formats::{Message, Node, Op, Status, Table, Target};
use std::collections::{HashMap, VecDeque};

/// Requests under way at most.
pub const WINDOW: usize = 8;
/// Times that a request is sent before it counts as unanswered.
pub const ATTEMPTS: u32 = 64;
/// Times that a request comes back as it was before no node counts as having this number.
/// Once proves nothing: what a fault did to it on its way out, another may undo on its way back.
const RETURNS: u32 = 3;
/// Words of a message beside the row's.
const FRAME_WORDS: usize = 3;
const SLICE_MASK: u32 = 0x7f;
const FIRST_TIMEOUT: u64 = 4_096;
const SHORTEST_TIMEOUT: u64 = 512;
const LONGEST_TIMEOUT: u64 = 32_768;

/// Identifies a request until its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(u64);

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Read or write.
    pub op: Op,
    /// Node.
    pub node: Node,
    /// Table.
    pub table: Table,
    /// Row, with the snapshot bit where it is meant.
    pub index: u32,
    /// Row words of a write.
    pub data: Vec<u32>,
}

/// Where a row lies.
pub type Place = (Node, Table, u32);

impl Request {
    /// Ticks that a write may take which is answered when it is done. One that is asked again is done again: nobody is to do that too early.
    fn work(&self, target: &Target) -> u64 {
        match (self.op, self.table) {
            // The operation before it, and it, wait for external memory until they are given up.
            (Op::Write, Table::XdpHost) if XdpTarget::by_name(target.name).outside != 0 => 1 << 17,
            // A value of 512 bytes in each of 16 copies, word by word in external memory.
            (Op::Write, Table::XdpHost) => 1 << 14,
            // All units, and all lines of the cache.
            (Op::Write, Table::XdpOutside) => 1 << 17,
            _ => 0,
        }
    }

    /// A read.
    pub fn read(node: Node, table: Table, index: u32) -> Self {
        Self { op: Op::Read, node, table, index, data: Vec::new() }
    }

    /// A write.
    pub fn write(node: Node, table: Table, index: u32, data: Vec<u32>) -> Self {
        Self { op: Op::Write, node, table, index, data }
    }

    /// The row, without what is written.
    pub fn place(&self) -> Place {
        (self.node, self.table, self.index)
    }

    /// For messages to people.
    pub fn describe(&self) -> String {
        let what = if self.op == Op::Write { "write" } else { "read" };
        let row = self.index - (self.slice() << SLICE_INDEX_BIT);
        format!("{what} of {:?} {}[{row}]", self.node, self.table.name()).to_lowercase()
    }

    /// Which part of a long row it is.
    fn slice(&self) -> u32 {
        if self.table.words() > MESSAGE_DATA_WORDS { self.index >> SLICE_INDEX_BIT & SLICE_MASK } else { 0 }
    }

    /// Requests that it takes: a long row is read in slices.
    fn slices(&self) -> u32 {
        match self.op {
            Op::Read => self.table.words().div_ceil(MESSAGE_DATA_WORDS).max(1) as u32,
            _ => 1,
        }
    }

    /// Words that an answer has to have.
    fn answer_words(&self) -> usize {
        let first = MESSAGE_DATA_WORDS * self.slice() as usize;
        match self.op {
            Op::Read => self.table.words().saturating_sub(first).min(MESSAGE_DATA_WORDS),
            _ => 0,
        }
    }

    /// Words on the ring, there and back.
    fn ring_words(&self) -> u64 {
        (2 * FRAME_WORDS + self.data.len() + self.answer_words()) as u64
    }
}

/// Why a request has no data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The node refused.
    #[error("{request} answered {}", status_name(*status))]
    Refused {
        /// The request.
        request: String,
        /// Status.
        status: Status,
    },
    /// It came back round the ring.
    #[error("{request}: no node of this number answers")]
    NoNode {
        /// The request.
        request: String,
    },
    /// No answer.
    #[error("{request} was not answered, {attempts} times asked")]
    Unanswered {
        /// The request.
        request: String,
        /// Times sent.
        attempts: u32,
    },
    /// The answer has another number of words.
    #[error("{request} answered with {found} words, the row has {allowed}")]
    Length {
        /// The request.
        request: String,
        /// Found.
        found: usize,
        /// Allowed.
        allowed: usize,
    },
}

/// Name of a status, as the other devices say it.
fn status_name(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Busy => "busy",
        Status::BadAddress => "bad_address",
        Status::BadLength => "bad_length",
        Status::ReadOnly => "read_only",
        Status::BadOp => "bad_op",
        Status::WriteOnly => "write_only",
    }
}

/// The end of a request: the row of a read, nothing for a write.
pub type Answer = Result<Vec<u32>, RequestError>;

struct Outstanding {
    id: RequestId,
    request: Request,
    sequence: u16,
    attempts: u32,
    /// Times it came back as it was.
    returns: u32,
    /// Place among all messages sent.
    order: u64,
    sent: u64,
    deadline: u64,
}

/// A row that is read in slices.
struct Assembly {
    words: Vec<u32>,
    left: u32,
    error: Option<RequestError>,
}

/// Counts for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequesterCounts {
    /// Requests answered.
    pub answered: u64,
    /// Messages sent again.
    pub repeated: u64,
    /// Messages that were no answer to anything under way.
    pub ignored: u64,
}

/// Requests waiting and under way.
pub struct Requester {
    target: Target,
    waiting: VecDeque<(RequestId, Request)>,
    outstanding: Vec<Outstanding>,
    /// Requests for slices: the row's, and which slice.
    slices: HashMap<RequestId, (RequestId, u32)>,
    rows: HashMap<RequestId, Assembly>,
    done: VecDeque<(RequestId, Answer)>,
    next_id: u64,
    sequence: u16,
    order: u64,
    /// Smoothed round trip in ticks, once one is known.
    round_trip: Option<u64>,
    counts: RequesterCounts,
}

impl Requester {
    /// A requester for a NIC of this target.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            waiting: VecDeque::new(),
            outstanding: Vec::new(),
            slices: HashMap::new(),
            rows: HashMap::new(),
            done: VecDeque::new(),
            next_id: 0,
            sequence: 0,
            order: 0,
            round_trip: None,
            counts: RequesterCounts::default(),
        }
    }

    /// Queues a request.
    pub fn ask(&mut self, request: Request) -> RequestId {
        let id = self.new_id();
        let slices = request.slices();
        if slices == 1 {
            self.waiting.push_back((id, request));
            return id;
        }
        for slice in 0..slices {
            let part = self.new_id();
            let index = request.index | slice << SLICE_INDEX_BIT;
            self.waiting.push_back((part, Request { index, ..request.clone() }));
            self.slices.insert(part, (id, slice));
        }
        self.rows.insert(id, Assembly { words: vec![0; request.table.words()], left: slices, error: None });
        id
    }

    fn new_id(&mut self) -> RequestId {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        id
    }

    /// A request has ended; a row that is read in slices ends with the last of them.
    fn end(&mut self, id: RequestId, answer: Answer) {
        let Some((row, slice)) = self.slices.remove(&id) else { return self.done.push_back((id, answer)) };
        let Some(assembly) = self.rows.get_mut(&row) else { return };
        match answer {
            Ok(words) => {
                let first = MESSAGE_DATA_WORDS * slice as usize;
                assembly.words[first..first + words.len()].copy_from_slice(&words);
            }
            Err(error) => assembly.error = assembly.error.take().or(Some(error)),
        }
        assembly.left -= 1;
        if assembly.left == 0
            && let Some(whole) = self.rows.remove(&row)
        {
            self.done.push_back((row, whole.error.map_or(Ok(whole.words), Err)));
        }
    }

    /// Whether anything waits or is under way.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.outstanding.is_empty()
    }

    /// Counts so far.
    pub fn counts(&self) -> RequesterCounts {
        self.counts
    }

    /// Next tick at which a message may have to be sent again.
    pub fn deadline(&self) -> Option<u64> {
        self.outstanding.iter().map(|o| o.deadline).min()
    }

    /// The next message to put on the ring at tick `now`.
    pub fn next_message(&mut self, now: u64) -> Option<Vec<u32>> {
        self.give_up(now);
        // What is in front of it on the ring, should all of it come with a gap behind each word.
        let queued = 2 * self.outstanding.iter().map(|o| o.request.ring_words()).sum::<u64>();
        if let Some(late) = self.outstanding.iter_mut().filter(|o| o.deadline <= now).min_by_key(|o| o.order) {
            late.attempts += 1;
            self.counts.repeated += 1;
            let patience = timeout(self.round_trip, late.attempts) + queued + late.request.work(&self.target);
            Self::stamp(late, &mut self.order, now, patience);
            return Some(encode(late));
        }
        if self.outstanding.len() >= WINDOW {
            return None;
        }
        let (id, request) = self.waiting.pop_front()?;
        let sequence = self.free_sequence();
        let patience = timeout(self.round_trip, 1) + queued + 2 * request.ring_words() + request.work(&self.target);
        let mut fresh = Outstanding { id, request, sequence, attempts: 1, returns: 0, order: 0, sent: 0, deadline: 0 };
        Self::stamp(&mut fresh, &mut self.order, now, patience);
        let words = encode(&fresh);
        self.outstanding.push(fresh);
        Some(words)
    }

    /// Takes words that came from the ring at tick `now`.
    pub fn receive(&mut self, words: &[u32], now: u64) {
        let found = Message::decode(words).ok().and_then(|m| {
            let at = self.outstanding.iter().position(|o| answers(&m, o))?;
            Some((m, at))
        });
        let Some((message, at)) = found else {
            self.counts.ignored += 1;
            return;
        };
        let asked = &mut self.outstanding[at];
        if is_request(&message) && asked.returns + 1 < RETURNS {
            asked.returns += 1;
            asked.deadline = now;
            return;
        }
        let done = self.outstanding.remove(at);
        self.counts.answered += 1;
        // Only first attempts: a late answer to one of several would look like a quick one.
        if done.attempts == 1 {
            let sample = now.saturating_sub(done.sent);
            self.round_trip = Some(self.round_trip.map_or(sample, |old| (7 * old + sample) / 8));
        }
        // A node answers in order: what it was asked before and has not answered is lost, and what it was asked later has
        // its turn only now.
        for other in self.outstanding.iter_mut().filter(|o| o.request.node == done.request.node) {
            if other.order < done.order {
                other.deadline = now;
            } else {
                other.deadline = other.deadline.max(now + timeout(self.round_trip, other.attempts));
            }
        }
        let answer = self.judge(&done.request, message);
        self.end(done.id, answer);
    }

    /// The next request that ended.
    pub fn take_done(&mut self) -> Option<(RequestId, Answer)> {
        self.done.pop_front()
    }

    fn judge(&self, request: &Request, message: Message) -> Answer {
        let described = || request.describe();
        if is_request(&message) {
            return Err(RequestError::NoNode { request: described() });
        }
        if message.status != Status::Ok {
            return Err(RequestError::Refused { request: described(), status: message.status });
        }
        let allowed = request.answer_words();
        if message.data.len() != allowed {
            let found = message.data.len();
            return Err(RequestError::Length { request: described(), found, allowed });
        }
        Ok(message.data)
    }

    fn stamp(message: &mut Outstanding, order: &mut u64, now: u64, patience: u64) {
        *order += 1;
        (message.order, message.sent, message.deadline) = (*order, now, now + patience);
    }

    fn give_up(&mut self, now: u64) {
        while let Some(at) = self.outstanding.iter().position(|o| o.deadline <= now && o.attempts >= ATTEMPTS) {
            let lost = self.outstanding.remove(at);
            let error = RequestError::Unanswered { request: lost.request.describe(), attempts: lost.attempts };
            self.end(lost.id, Err(error));
        }
    }

    /// A number that is not under way; 65,536 are many more than the window.
    fn free_sequence(&mut self) -> u16 {
        loop {
            self.sequence = self.sequence.wrapping_add(1);
            if self.outstanding.iter().all(|o| o.sequence != self.sequence) {
                return self.sequence;
            }
        }
    }

    /// The target that requests go to.
    pub fn target(&self) -> &Target {
        &self.target
    }
}

fn timeout(round_trip: Option<u64>, attempts: u32) -> u64 {
    let base = round_trip.map_or(FIRST_TIMEOUT, |t| (4 * t).max(SHORTEST_TIMEOUT));
    (base << (attempts - 1).min(6)).min(LONGEST_TIMEOUT)
}

fn encode(o: &Outstanding) -> Vec<u32> {
    Message {
        op: o.request.op,
        status: Status::Ok,
        node: o.request.node.number(),
        sequence: o.sequence,
        table: o.request.table.number(),
        index: o.request.index,
        data: o.request.data.clone(),
    }
    .encode()
}

fn is_request(message: &Message) -> bool {
    matches!(message.op, Op::Read | Op::Write)
}

fn answers(message: &Message, o: &Outstanding) -> bool {
    let reply = match o.request.op {
        Op::Read => Op::ReadReply,
        _ => Op::WriteReply,
    };
    message.sequence == o.sequence
        && message.node == o.request.node.number()
        && message.table == o.request.table.number()
        && message.index == o.request.index
        && (message.op == reply || message.op == o.request.op)
}
