//! What the rmt top reports.

use crate::event::{EventError, le32, le64, records, row, words};
use sluice_formats::rmt::tables::Event as Reason;
use sluice_formats::rmt::target::DESTINATIONS;
use sluice_formats::row::Row;
use sluice_formats::rows::SidebandRow;
use sluice_rmt::Copy;

/// Bits of a packet's route: destinations, queue, a tag for each destination.
pub const ROUTE_BITS: u32 = DESTINATIONS as u32 + 3 + 16 * DESTINATIONS as u32;
/// Bits of the stamp's trace.
pub const STAMP_TRACE_BITS: u32 = 32 + 6 + 1 + 1 + 48;
/// Bits of the verdict's trace.
pub const VERDICT_TRACE_BITS: u32 = 32 + 6 + 1 + 4 + 8;

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

fn route(words: &[u32], low: u32) -> Route {
    // Packed structs have their first field highest: destinations, queue, tags.
    let tags = std::array::from_fn(|d| bits(words, low + 16 * d as u32, 16) as u16);
    let above = low + 16 * DESTINATIONS as u32;
    Route { destinations: bits(words, above + 3, 8) as u8, queue: bits(words, above, 3) as u8, tags }
}

/// Calls `take` with every event of a buffer.
pub(crate) fn decode(buffer: &[u8], mut take: impl FnMut(RmtEvent)) -> Result<(), EventError> {
    records(buffer, |r| {
        let short = EventError::Short { at: r.at };
        let payload = words(r.payload);
        let what = match r.kind {
            1 if r.payload.len() == 16 => RmtWhat::Arrived { first: le64(r.payload) },
            2 => {
                let user = (SidebandRow::width() + ROUTE_BITS).div_ceil(32) as usize;
                let (fixed, bytes) = r.payload.split_at_checked(8 + 4 * user).ok_or(short)?;
                let user = words(&fixed[8..]);
                let mut own = user[..SidebandRow::words()].to_vec();
                if let (Some(last), rest @ 1..) = (own.last_mut(), SidebandRow::width() % 32) {
                    *last &= (1 << rest) - 1;
                }
                let own: Vec<u8> = own.iter().flat_map(|w| w.to_le_bytes()).collect();
                RmtWhat::Left {
                    first: le64(fixed),
                    sideband: row(&own, r.at)?,
                    route: route(&user, SidebandRow::width()),
                    bytes: bytes.to_vec(),
                }
            }
            3 => RmtWhat::Reply(payload),
            4 if r.payload.len() == 4 => RmtWhat::Epoch(le32(r.payload)),
            6 => RmtWhat::Stamped {
                id: bits(&payload, 0, 32) as u32,
                module: bits(&payload, 32, 6) as u8,
                generation: bits(&payload, 38, 1) as u8,
                system_generation: bits(&payload, 39, 1) as u8,
                queueing: bits(&payload, 40, 48),
            },
            7 => RmtWhat::Verdict {
                id: bits(&payload, 0, 32) as u32,
                module: bits(&payload, 32, 6) as u8,
                dropped: match bits(&payload, 38, 1) {
                    0 => None,
                    _ => Some(
                        Reason::from_code(bits(&payload, 39, 4) as u8)
                            .ok_or(EventError::Kind { at: r.at, found: bits(&payload, 39, 4) as u8 })?,
                    ),
                },
                destinations: bits(&payload, 43, 8) as u8,
            },
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
    fn a_route_is_read_from_the_bits_that_the_packed_struct_has() {
        // {destinations 0xa5, queue 5, tags[7..0]} above 170 bits of sideband.
        let mut all = vec![0u32; 10];
        let mut put = |low: u32, width: u32, value: u64| {
            for i in 0..width {
                all[((low + i) / 32) as usize] |= ((value >> i & 1) as u32) << ((low + i) % 32);
            }
        };
        put(170, 16, 0x1234);
        put(170 + 7 * 16, 16, 0xbeef);
        put(170 + 128, 3, 5);
        put(170 + 131, 8, 0xa5);
        let expected = Route { destinations: 0xa5, queue: 5, tags: [0x1234, 0, 0, 0, 0, 0, 0, 0xbeef] };
        assert_eq!(route(&all, 170), expected);
    }
}
