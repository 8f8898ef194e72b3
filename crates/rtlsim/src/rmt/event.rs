//! What the rmt top reports.

use crate::event::{EventError, le32, le64, records, row, words};
use sluice_formats::rmt::tables::Event as Reason;
use sluice_formats::rmt::target::DESTINATIONS;
use sluice_formats::row::Row;
use sluice_formats::rows::{MergeTraceRow, SidebandRow, VerdictTraceRow};
use sluice_rmt::Copy;

/// Bits of the tags of all destinations, above the sideband.
pub const TAGS_BITS: u32 = 16 * DESTINATIONS as u32;

/// One thing that happened in one cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RmtEvent {
    /// Tick of the cycle.
    pub tick: u64,
    /// What.
    pub what: RmtWhat,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RmtWhat {
    /// The last beat of a packet was accepted.
    Arrived {
        /// Tick of its first beat.
        first: u64,
    },
    /// A packet entered the pipeline.
    Stamped {
        /// Packet ID.
        id: u32,
        /// Module.
        module: u8,
        /// Its generation.
        generation: u8,
        /// The system module's generation.
        system_generation: u8,
        /// Queueing stamp.
        queueing: u64,
    },
    /// A packet has its verdict.
    Verdict {
        /// Packet ID.
        id: u32,
        /// Module.
        module: u8,
        /// Why it is dropped, if it is.
        dropped: Option<Reason>,
        /// Destinations.
        destinations: u8,
    },
    /// The last beat of a packet left.
    Left {
        /// Tick of its first beat.
        first: u64,
        /// Sideband.
        sideband: SidebandRow,
        /// Destination mask, queue and tags.
        route: Route,
        /// Bytes.
        bytes: Vec<u8>,
    },
    /// A configuration message left.
    Reply(Vec<u32>),
    /// The snapshot epoch changed.
    Epoch(u32),
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// Destination mask.
    pub destinations: u8,
    /// Queue.
    pub queue: u8,
    /// Tag of the copy to each destination.
    pub tags: [u16; DESTINATIONS],
}

impl Route {
    /// One copy for each destination, lowest first.
    pub fn copies(&self) -> Vec<Copy> {
        let copy = |destination: u8| Copy { destination, queue: self.queue, tag: self.tags[usize::from(destination)] };
        (0..DESTINATIONS as u8).filter(|d| self.destinations >> d & 1 == 1).map(copy).collect()
    }
}

/// Bits [low, low + width) of words, at most 64.
fn bits(words: &[u32], low: u32, width: u32) -> u64 {
    let bit = |i: u32| u64::from(words.get((i / 32) as usize).map_or(0, |w| w >> (i % 32) & 1));
    (0..width).fold(0, |v, i| v | bit(low + i) << i)
}

/// The tags in bits `low` and up, one for each destination.
fn tags(words: &[u32], low: u32) -> [u16; DESTINATIONS] {
    std::array::from_fn(|d| bits(words, low + 16 * d as u32, 16) as u16)
}

/// Calls `take` with every event of a buffer.
pub(crate) fn decode(buffer: &[u8], mut take: impl FnMut(RmtEvent)) -> Result<(), EventError> {
    records(buffer, |r| {
        let short = EventError::Short { at: r.at };
        let payload = words(r.payload);
        let what = match r.kind {
            1 if r.payload.len() == 16 => RmtWhat::Arrived { first: le64(r.payload) },
            2 => {
                let user = (SidebandRow::width() + TAGS_BITS).div_ceil(32) as usize;
                let (fixed, bytes) = r.payload.split_at_checked(8 + 4 * user).ok_or(short)?;
                let user = words(&fixed[8..]);
                let mut own = user[..SidebandRow::words()].to_vec();
                if let (Some(last), rest @ 1..) = (own.last_mut(), SidebandRow::width() % 32) {
                    *last &= (1 << rest) - 1;
                }
                let own: Vec<u8> = own.iter().flat_map(|w| w.to_le_bytes()).collect();
                let sideband: SidebandRow = row(&own, r.at)?;
                let tags = tags(&user, SidebandRow::width());
                let route = Route { destinations: sideband.destinations, queue: sideband.egress_queue, tags };
                RmtWhat::Left { first: le64(fixed), sideband, route, bytes: bytes.to_vec() }
            }
            3 => RmtWhat::Reply(payload),
            4 if r.payload.len() == 4 => RmtWhat::Epoch(le32(r.payload)),
            6 => {
                let r: MergeTraceRow = row(r.payload, r.at)?;
                RmtWhat::Stamped {
                    id: r.id,
                    module: r.module_id,
                    generation: r.generation.into(),
                    system_generation: r.system_generation.into(),
                    queueing: r.stamp,
                }
            }
            7 => {
                let v: VerdictTraceRow = row(r.payload, r.at)?;
                let unknown = EventError::Kind { at: r.at, found: v.reason };
                let reason = sluice_formats::Reason::from_code(v.reason).and_then(|r| r.event());
                let dropped = if v.dropped { Some(reason.ok_or(unknown)?) } else { None };
                RmtWhat::Verdict { id: v.id, module: v.module_id, dropped, destinations: v.destinations }
            }
            1 | 4 => return Err(short),
            found => return Err(EventError::Kind { at: r.at, found }),
        };
        take(RmtEvent { tick: r.tick, what });
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
