//! What the shim reports, cycle by cycle: traces of the RTL, frames in and out, replies.

use crate::plugin::top::{TAGS_BITS, Top};
use sluice_formats::l7::rows::{L7ForgetTraceRow, L7RingTraceRow, L7TraceRow};
use sluice_formats::limits::DESTINATIONS;
use sluice_formats::row::{Row, RowError, words_of_bytes};
use sluice_formats::rows::{LeaveTraceRow, MergeTraceRow, PortTraceRow, QueueTraceRow, SidebandRow, VerdictTraceRow};
use sluice_formats::xdp::codes::XdpStep;
use sluice_formats::xdp::rows::XdpStepTraceRow;
use sluice_formats::xdp::target::CORE_STEPS;

/// One thing that happened in one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RtlEvent {
    /// Tick of the cycle.
    pub tick: u64,
    /// What.
    pub what: What,
}

/// What happened. Within a cycle: the epoch, frames in, traces in pipeline order, frames out, replies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The last beat of a frame went into a port.
    Arrived {
        /// Port.
        port: u8,
        /// Tick of its first beat.
        first: u64,
        /// Frames on this port before it.
        number: u32,
    },
    /// The last beat of a frame left.
    Left {
        /// Destination.
        destination: u8,
        /// Tick of its first beat.
        first: u64,
        /// Sideband.
        sideband: SidebandRow,
        /// Of a message's packet: its queue.
        queue: Option<u8>,
        /// Frame.
        bytes: Vec<u8>,
    },
    /// The last beat of a packet left an engine that is a top of its own.
    Routed {
        /// Tick of its first beat.
        first: u64,
        /// Sideband, with destinations and queue.
        sideband: SidebandRow,
        /// Tag of the copy to each destination.
        tags: [u16; DESTINATIONS as usize],
        /// Packet, without the tag that ingress took off.
        bytes: Vec<u8>,
    },
    /// A configuration message left.
    Reply(Vec<u32>),
    /// The snapshot epoch changed: counters of the snapshot hold the events before this one.
    Epoch(u32),
    /// Trace of a port.
    Port(PortTraceRow),
    /// Trace of the stamp.
    Merge(MergeTraceRow),
    /// Trace of an engine that is not the last: the packet goes on.
    Passed(VerdictTraceRow),
    /// Trace of a packet's verdict.
    Verdict(VerdictTraceRow),
    /// Trace of queue admission.
    Queue(QueueTraceRow),
    /// Trace of the buffer.
    Leave(LeaveTraceRow),
    /// Trace of the XDP engine: a step towards what packets share.
    Step {
        /// What it is.
        step: XdpStep,
        /// Whose.
        row: XdpStepTraceRow,
    },
    /// Trace of the l7 engine: a packet leaves, or is dropped.
    Dispatched(L7TraceRow),
    /// Trace of the l7 engine: what happens at a ring.
    Ring(L7RingTraceRow),
    /// Trace of the l7 engine: an entry of the message table is given back.
    Forgot(L7ForgetTraceRow),
    /// A write is in host memory.
    Wrote {
        /// Where it begins.
        address: u64,
        /// What was written.
        bytes: Vec<u8>,
    },
}

/// Bytes that are no events: a plug-in and a program that do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// A record ends beyond the buffer, or is shorter than its kind.
    #[error("event at byte {at}: cut off")]
    Short {
        /// Offset.
        at: usize,
    },
    /// No such kind.
    #[error("event at byte {at}: unknown kind {found}")]
    Kind {
        /// Offset.
        at: usize,
        /// Found.
        found: u8,
    },
    /// A trace row or sideband that does not unpack.
    #[error("event at byte {at}: {error}")]
    Row {
        /// Offset.
        at: usize,
        /// Why.
        error: RowError,
    },
}

const HEAD_BYTES: usize = 16;

/// Bits above the sideband of what leaves a NIC: a message's queue, and whether the frame is a message's.
const MESSAGE_BITS: u32 = 9;

/// Calls `take` with every event of the buffer that `Instance::take_events` of a top gave.
pub fn decode(top: &Top, buffer: &[u8], mut take: impl FnMut(RtlEvent)) -> Result<(), EventError> {
    let mut at = 0;
    while at < buffer.len() {
        let head = buffer.get(at..at + HEAD_BYTES).ok_or(EventError::Short { at })?;
        let length = le32(&head[4..]) as usize;
        let begin = at + HEAD_BYTES;
        let payload = buffer.get(begin..begin + length).ok_or(EventError::Short { at })?;
        take(RtlEvent { tick: le64(&head[8..]), what: decode_one(top, head[0], head[1], payload, at)? });
        at = begin + length.next_multiple_of(8);
    }
    Ok(())
}

fn decode_one(top: &Top, kind: u8, source: u8, payload: &[u8], at: usize) -> Result<What, EventError> {
    let short = EventError::Short { at };
    match kind {
        2 if !top.is_nic => {
            let user = (SidebandRow::width() + TAGS_BITS).div_ceil(32) as usize;
            let (fixed, bytes) = payload.split_at_checked(8 + 4 * user).ok_or(short)?;
            let user = words_of_bytes(&fixed[8..]);
            let sideband = SidebandRow::of_words(&user[..SidebandRow::words()]);
            let tags = tags(&user, SidebandRow::width());
            Ok(What::Routed { first: le64(fixed), sideband, tags, bytes: bytes.to_vec() })
        }
        1 if payload.len() == 16 => {
            Ok(What::Arrived { port: source, first: le64(payload), number: le64(&payload[8..]) as u32 })
        }
        2 => {
            let beside = (SidebandRow::width() + MESSAGE_BITS).div_ceil(32) as usize;
            let (fixed, bytes) = payload.split_at_checked(8 + 4 * beside).ok_or(short)?;
            let beside = words_of_bytes(&fixed[8..]);
            let sideband = SidebandRow::of_words(&beside[..SidebandRow::words()]);
            let message = bits(&beside, SidebandRow::width(), MESSAGE_BITS);
            let queue = (message >> 8 == 1).then_some(message as u8);
            Ok(What::Left { destination: source, first: le64(fixed), sideband, queue, bytes: bytes.to_vec() })
        }
        3 => Ok(What::Reply(words_of_bytes(payload))),
        4 if payload.len() == 4 => Ok(What::Epoch(le32(payload))),
        5 => Ok(What::Port(row(payload, at)?)),
        6 => Ok(What::Merge(row(payload, at)?)),
        7 => {
            let verdict: VerdictTraceRow = row(payload, at)?;
            let goes_on = usize::from(source) + 1 < top.in_line() && !verdict.dropped;
            Ok(if goes_on { What::Passed(verdict) } else { What::Verdict(verdict) })
        }
        8 => Ok(What::Queue(row(payload, at)?)),
        9 => Ok(What::Leave(row(payload, at)?)),
        10 if top.tells_decisions => match source {
            0 => Ok(What::Dispatched(row(payload, at)?)),
            1 => Ok(What::Ring(narrow(payload, at)?)),
            _ => Ok(What::Forgot(narrow(payload, at)?)),
        },
        11 => {
            let (address, bytes) = payload.split_at_checked(8).ok_or(short)?;
            Ok(What::Wrote { address: le64(address), bytes: bytes.to_vec() })
        }
        10 => {
            // Each core has channels of its own; the row says whose context or slot it is.
            let step = XdpStep::from_code(source % CORE_STEPS as u8).ok_or(EventError::Kind { at, found: kind })?;
            Ok(What::Step { step, row: row(payload, at)? })
        }
        1 | 4 => Err(short),
        found => Err(EventError::Kind { at, found }),
    }
}

/// Bits [low, low + width) of words, at most 64.
fn bits(words: &[u32], low: u32, width: u32) -> u64 {
    let bit = |i: u32| u64::from(words.get((i / 32) as usize).map_or(0, |w| w >> (i % 32) & 1));
    (0..width).fold(0, |v, i| v | bit(low + i) << i)
}

/// The tags in bits `low` and up, one for each destination.
fn tags(words: &[u32], low: u32) -> [u16; DESTINATIONS as usize] {
    std::array::from_fn(|d| bits(words, low + 16 * d as u32, 16) as u16)
}

fn row<R: Row>(bytes: &[u8], at: usize) -> Result<R, EventError> {
    R::unpack(&words_of_bytes(bytes)).map_err(|error| EventError::Row { at, error })
}

/// A row in a channel that is wider.
fn narrow<R: Row>(bytes: &[u8], at: usize) -> Result<R, EventError> {
    R::unpack(words_of_bytes(bytes).get(..R::words()).unwrap_or_default())
        .map_err(|error| EventError::Row { at, error })
}

fn le32(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).rev().fold(0, |v, &b| v << 8 | u32::from(b))
}

fn le64(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |v, &b| v << 8 | u64::from(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top;

    fn record(kind: u8, source: u8, tick: u64, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![kind, source, 0, 0];
        bytes.extend((payload.len() as u32).to_le_bytes());
        bytes.extend(tick.to_le_bytes());
        bytes.extend(payload);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    fn all(buffer: &[u8]) -> Result<Vec<RtlEvent>, EventError> {
        let mut events = Vec::new();
        decode(&top::NIC, buffer, |e| events.push(e)).map(|()| events)
    }

    #[test]
    fn events_come_out_in_the_order_written() {
        let sideband = SidebandRow { id: 0x2000_0005, length: 3, ..SidebandRow::default() };
        let mut beside = sideband.pack().unwrap();
        beside.resize((SidebandRow::width() + MESSAGE_BITS).div_ceil(32) as usize, 0);
        for i in [0, 4, 8].map(|i| SidebandRow::width() + i) {
            beside[(i / 32) as usize] |= 1 << (i % 32);
        }
        let mut left = 77u64.to_le_bytes().to_vec();
        left.extend(beside.iter().flat_map(|w| w.to_le_bytes()));
        left.extend([1, 2, 3]);
        let mut buffer = record(4, 0, 5, &9u32.to_le_bytes());
        buffer.extend(record(2, 6, 80, &left));
        buffer.extend(record(3, 0, 81, &[1, 0, 0, 0, 2, 0, 0, 0]));
        let expected = [
            RtlEvent { tick: 5, what: What::Epoch(9) },
            RtlEvent {
                tick: 80,
                what: What::Left { destination: 6, first: 77, sideband, queue: Some(0x11), bytes: vec![1, 2, 3] },
            },
            RtlEvent { tick: 81, what: What::Reply(vec![1, 2]) },
        ];
        assert_eq!(all(&buffer).unwrap(), expected);
    }

    #[test]
    fn tags_are_read_from_the_bits_above_the_sideband() {
        let low = SidebandRow::width();
        let mut all = vec![0u32; 10];
        let mut put = |low: u32, width: u32, value: u64| {
            for i in 0..width {
                all[((low + i) / 32) as usize] |= ((value >> i & 1) as u32) << ((low + i) % 32);
            }
        };
        put(low, 16, 0x1234);
        put(low + 7 * 16, 16, 0xbeef);
        assert_eq!(tags(&all, low), [0x1234, 0, 0, 0, 0, 0, 0, 0xbeef]);
    }

    #[test]
    fn cut_and_unknown_records_are_refused_with_their_place() {
        let mut buffer = record(4, 0, 5, &9u32.to_le_bytes());
        let at = buffer.len();
        buffer.extend(record(200, 0, 5, &[]));
        assert_eq!(all(&buffer), Err(EventError::Kind { at, found: 200 }));
        assert_eq!(all(&record(1, 0, 0, &[0; 8])), Err(EventError::Short { at: 0 }));
        assert_eq!(all(&record(3, 0, 0, &[0; 40])[..24]), Err(EventError::Short { at: 0 }));
        assert!(matches!(all(&record(6, 0, 0, &[0xff; 20])), Err(EventError::Row { at: 0, .. })));
    }
}
