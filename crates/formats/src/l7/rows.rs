//! Rows of the l7 engine: docs/design/l7.md.

use super::codes::L7Goal;
use super::compare::{L7Alternatives, L7Bytes};
use crate::row::{RowInfo, row, rows};
use std::ops::Range;

row! {
    /// Where a step goes. Zero is the application's default.
    #[derive(Copy, Hash)]
    L7TargetPart, "l7_target" {
        /// What it is (`l7_goal`).
        kind: u8 = 3,
        /// Queue, group or row; first one of wide rows.
        number: u16 = 12,
        /// Wide rows: there are 2^log of them.
        log: u8 = 4,
        /// Wide rows: bits that the hash is rotated to the right by.
        turn: u8 = 5,
        /// Wide rows: bytes that are hashed, the first 8 at most of those that they compare.
        length: u8 = 4,
    }
}

impl L7TargetPart {
    /// A target that is no wide rows.
    pub fn new(goal: L7Goal, number: u16) -> Self {
        Self { kind: goal.code(), number, ..Self::default() }
    }

    /// What it is; none for a code that means nothing.
    pub fn goal(self) -> Option<L7Goal> {
        L7Goal::from_code(self.kind)
    }

    /// Rows that it leads to: one, some by a hash, or none.
    pub fn rows(self) -> Range<usize> {
        let first = usize::from(self.number);
        match self.goal() {
            Some(L7Goal::Row) => first..first + 1,
            Some(L7Goal::Rows) => first..first + (1 << self.log),
            _ => 0..0,
        }
    }

    /// Whether it leads to rows.
    pub fn is_row(self) -> bool {
        !self.rows().is_empty()
    }

    /// The same among rows, groups and queues that lie so many further on.
    #[must_use]
    pub fn moved(self, rows: u16, groups: u16, queues: u16) -> Self {
        let by = match self.goal() {
            Some(L7Goal::Row | L7Goal::Rows) => rows,
            Some(L7Goal::Group) => groups,
            Some(L7Goal::Queue) => queues,
            _ => 0,
        };
        Self { number: self.number + by, ..self }
    }
}

row! {
    /// How the position moves: to a field, over bytes, behind a stop byte, in this order.
    #[derive(Copy, Hash)]
    L7MovePart, "l7_move" {
        /// Field whose first byte it goes to; 0 stays in this one.
        field: u8 = 4,
        /// Bytes that it passes.
        skip: u8 = 8,
        /// Stop byte that it goes behind: the application's first (1) or second (2); 0 is none.
        stop: u8 = 2,
    }
}

row! {
    /// One alternative of a compare. Zero is none.
    #[derive(Copy, Hash)]
    L7AlternativePart, "l7_alternative" {
        /// It is there.
        valid: bool = 1,
        /// The field has to end behind it.
        ends: bool = 1,
        /// It is hit wherever the position is, past too, and whatever the bytes.
        anyway: bool = 1,
        /// The bytes, the first in the lowest bits; those beyond the row's length are zero.
        bytes: L7Bytes = 64,
        /// Where a hit goes.
        target: L7TargetPart = 0,
    }
}

row! {
    /// A row of the matchers. Index: row. Zero belongs to module 0 and misses to the default.
    #[derive(Copy, Hash)]
    L7MatchRow, "l7_match_row" {
        /// Whose it is; a message of another module faults here.
        module_id: u8 = 6,
        /// Bytes that are compared, 0 to 8.
        length: u8 = 4,
        /// How the position moves behind a hit.
        step: L7MovePart = 0,
        /// Where a miss goes.
        miss: L7TargetPart = 0,
        /// Alternatives; the first hit counts.
        alternatives: L7Alternatives = 0,
    }
}

row! {
    /// Where messages of a type begin. Index: the application's base plus the type.
    #[derive(Copy, Hash)]
    L7StartRow, "l7_start_row" {
        /// Whose it is; a message of another module faults here.
        module_id: u8 = 6,
        /// The first move.
        step: L7MovePart = 0,
        /// The first target.
        target: L7TargetPart = 0,
    }
}

row! {
    /// A UDP port of a module: an application, an endpoint or a raw application. Index: any; keys are there once.
    #[derive(Copy, Hash)]
    L7PortRow, "l7_port_row" {
        /// There is one.
        valid: bool = 1,
        /// Whose it is.
        module_id: u8 = 6,
        /// In which of its generations.
        generation: bool = 1,
        /// UDP destination port.
        port: u16 = 16,
        /// What it is (`l7_port_kind`).
        kind: u8 = 2,
        /// Of an application: its ID in the header. Otherwise 0.
        id: u8 = 8,
        /// Its rules change: packets are dropped (`l7_updating`).
        updating: bool = 1,
        /// Stop bytes.
        stops: [u8; 2] = 8,
        /// How many of them there are.
        stop_count: u8 = 2,
        /// Default of an application; an endpoint's queue.
        otherwise: L7TargetPart = 0,
        /// Start row of message type 0; of a raw application its only one.
        start: u16 = 12,
        /// Message types that have a start row; those beyond go to the default.
        types: u16 = 9,
        /// Ticks of 256 ns after a message's last packet when it is given up; 0: 1 s.
        expiry: u32 = 24,
    }
}

row! {
    /// A group of queues. Index: group.
    #[derive(Copy, Hash)]
    L7GroupRow, "l7_group_row" {
        /// Whose it is; a message of another module faults here.
        module_id: u8 = 6,
        /// Field whose value chooses the slot; 0: session and message ID.
        field: u8 = 4,
        /// Queue of each slot.
        slots: [u8; 16] = 8,
    }
}

row! {
    /// What a module may have of the staging buffer for itself. Index: module. What nobody has reserved is everybody's.
    #[derive(Copy, Hash)]
    L7ShareRow, "l7_share_row" {
        /// Packets that are reserved.
        packets: u16 = 16,
        /// Beats that are reserved.
        beats: u16 = 16,
        /// Weight among those whose packets wait for the engine, in 4 steps a turn; 0 is as 16.
        weight: u16 = 16,
    }
}

row! {
    /// Most messages of a module that are on their way: begun and not whole. Index: module.
    #[derive(Copy, Hash)]
    L7QuotaRow, "l7_quota_row" {
        /// So many.
        messages: u16 = 16,
    }
}

row! {
    /// A secret of the message table's hashes. Index: hash. It is changed while no message is there.
    #[derive(Copy, Hash)]
    L7SecretRow, "l7_secret_row" {
        /// Bits of the Toeplitz hash, the first in the lowest.
        words: [u32; 4] = 32,
    }
}

row! {
    /// A ring of buffers. Index: ring, which is the queue's number. Zero is none.
    #[derive(Copy, Hash)]
    L7RingRow, "l7_ring_row" {
        /// There is one: messages for its queue go into its buffers.
        valid: bool = 1,
        /// Whose it is.
        module_id: u8 = 6,
        /// It has 2^log_size descriptors, and as many completions; 2 to 15.
        log_size: u8 = 4,
        /// Address of the descriptors; the 6 lowest bits count as 0.
        descriptors: u64 = 64,
        /// Address of the completions; the 6 lowest bits count as 0.
        completions: u64 = 64,
    }
}

row! {
    /// Doorbell of a ring. Index: ring. Both numbers go on beyond the ring's size, modulo 2^16.
    #[derive(Copy, Hash)]
    L7DoorbellRow, "l7_doorbell_row" {
        /// Descriptors that the host has posted.
        posted: u16 = 16,
        /// Completions that the host has taken.
        seen: u16 = 16,
    }
}

row! {
    /// How far a ring is. Index: ring. Numbers are modulo 2^16.
    #[derive(Copy, Hash)]
    L7RingStateRow, "l7_ring_state_row" {
        /// Descriptors that have been fetched.
        fetched: u16 = 16,
        /// Descriptors that messages have taken.
        taken: u16 = 16,
        /// Completions that are written or on their way. As many as taken: no message has a buffer.
        completed: u16 = 16,
    }
}

row! {
    /// A descriptor in host memory: a buffer.
    #[derive(Copy, Hash)]
    L7DescriptorRow, "l7_descriptor" {
        /// Where it is. Any byte.
        address: u64 = 64,
        /// Its bytes.
        length: u32 = 32,
        /// What its completion says of it.
        cookie: u32 = 32,
    }
}

row! {
    /// A completion in host memory: what became of a descriptor.
    #[derive(Copy, Hash)]
    L7CompletionRow, "l7_completion" {
        /// Of the descriptor.
        cookie: u32 = 32,
        /// Bytes from the buffer's begin to the message's end; 0 where it is not whole.
        length: u32 = 32,
        /// Message ID, or what stands for it.
        message: u32 = 32,
        /// Session, or what stands for it.
        session: u32 = 32,
        /// IPv4 address of the sender.
        source: u32 = 32,
        /// UDP port of the sender.
        port: u16 = 16,
        /// Application, as the header says; 0 of a raw application.
        application: u8 = 8,
        /// Message type, as the header says; 0 of a raw application.
        message_type: u8 = 8,
        /// Packets of the message.
        packets: u8 = 8,
        /// How it ended (`l7_status`).
        status: u8 = 8,
        /// Zero.
        reserved_0: u32 = 32,
        /// Zero.
        reserved_1: u16 = 15,
        /// 1 in the ring's first turn, 0 in its second, and so on.
        phase: bool = 1,
    }
}

row! {
    /// Trace of rings. Counted in the same cycle.
    #[derive(Copy, Hash)]
    L7RingTraceRow, "l7_ring_trace_row" {
        /// What happened (`l7_ring_event`).
        kind: u8 = 2,
        /// Where.
        ring: u8 = 8,
        /// Of the descriptor, if there is one.
        cookie: u32 = 32,
    }
}

row! {
    /// Trace of the message table: an entry is given back before its message was finished.
    #[derive(Copy, Hash)]
    L7ForgetTraceRow, "l7_forget_trace_row" {
        /// Whose it was.
        module_id: u8 = 6,
        /// So many packets had searched for their entries before, modulo 2^32.
        searches: u32 = 32,
        /// Place of the entry.
        place: u16 = 14,
    }
}

row! {
    /// Trace of the engine's decisions: a packet leaves, or is dropped. Counted in the same cycle.
    #[derive(Copy, Hash)]
    L7TraceRow, "l7_trace_row" {
        /// Packet.
        id: u32 = 32,
        /// Whose it is.
        module_id: u8 = 6,
        /// It belongs to a message, an acknowledgement or a raw application; otherwise it leaves as a frame.
        message: bool = 1,
        /// It is dropped.
        dropped: bool = 1,
        /// Why, as in `l7_drops`.
        kind: u8 = 4,
        /// Queue that it goes to.
        queue_id: u8 = 8,
        /// The program of its message was a fault.
        fault: bool = 1,
        /// It went into a buffer of its queue's ring.
        consumed: bool = 1,
    }
}

pub(super) const ROWS: &[RowInfo] = rows![
    L7TargetPart,
    L7MovePart,
    L7AlternativePart,
    L7MatchRow,
    L7StartRow,
    L7PortRow,
    L7GroupRow,
    L7ShareRow,
    L7QuotaRow,
    L7SecretRow,
    L7RingRow,
    L7DoorbellRow,
    L7RingStateRow,
    L7DescriptorRow,
    L7CompletionRow,
    L7RingTraceRow,
    L7ForgetTraceRow,
    L7TraceRow,
];
