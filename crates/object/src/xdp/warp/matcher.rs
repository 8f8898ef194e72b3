//! Which leaf a packet has, by a table's rows alone (docs/design/warp-engine.md).

use super::{CHUNK_BITS, CHUNK_VALUES, CHUNKS, LANES, PREDICATES};
use sluice_formats::xdp::rows::{XdpWarpKeyRow, XdpWarpPredicatePart, XdpWarpPredicatesRow};

/// Bytes of the frame that lanes take.
const FRAME: u8 = 64;
/// First bytes of `ingress_ifindex`, `rx_queue_index` and the frame's length, and what is none.
const IFINDEX: u8 = 64;
const QUEUE: u8 = 68;
const LENGTH: u8 = 72;
const END: u8 = 74;

/// What the engine sees of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The frame.
    pub frame: &'a [u8],
    /// `ingress_ifindex`.
    pub ifindex: u32,
    /// `rx_queue_index`.
    pub queue: u32,
}

impl Seen<'_> {
    fn length(&self) -> u16 {
        self.frame.len() as u16
    }

    /// The byte of a lane; behind the frame's end it is 0.
    fn byte(&self, number: u8) -> u8 {
        let of = |bytes: &[u8], first: u8| bytes.get(usize::from(number - first)).copied().unwrap_or(0);
        match number {
            0..FRAME => of(self.frame, 0),
            IFINDEX..QUEUE => of(&self.ifindex.to_le_bytes(), IFINDEX),
            QUEUE..LENGTH => of(&self.queue.to_le_bytes(), QUEUE),
            LENGTH..END => of(&self.length().to_le_bytes(), LENGTH),
            _ => 0,
        }
    }
}

/// The lowest rule that a packet agrees with; `rules` gives those that a chunk's value agrees with.
pub fn rule(
    key: &XdpWarpKeyRow,
    predicates: &[XdpWarpPredicatesRow; 2],
    rules: impl Fn(usize, usize) -> u64,
    seen: &Seen,
) -> Option<usize> {
    if !key.valid {
        return None;
    }
    let lanes = key.lanes.map(|lane| seen.byte(lane));
    let mut bits = lanes.iter().rev().fold(0u128, |bits, lane| bits << 8 | u128::from(*lane));
    for at in 0..PREDICATES {
        let predicate = &predicates[at / 4].predicates[at % 4];
        bits |= u128::from(holds(predicate, &lanes, seen.length())) << (8 * LANES + at);
    }
    let value = |chunk: usize| (bits >> (CHUNK_BITS * chunk)) as usize % CHUNK_VALUES;
    let all = (0..CHUNKS).fold(u64::MAX, |all, chunk| all & rules(chunk, value(chunk)));
    (all != 0).then(|| all.trailing_zeros() as usize)
}

/// Whether a predicate holds; pair 7 is no lanes.
fn holds(predicate: &XdpWarpPredicatePart, lanes: &[u8; LANES], length: u16) -> bool {
    let lane = |at: usize| lanes.get(2 * usize::from(predicate.pair) + at).copied().unwrap_or(0);
    let pair = u16::from_be_bytes([lane(0), lane(1)]) & predicate.mask;
    let number = match predicate.down {
        down @ 0..16 => pair >> down,
        up => pair.checked_shl(32 - u32::from(up)).unwrap_or(0),
    };
    match predicate.length {
        true => i32::from(number) + i32::from(predicate.add as i16) <= i32::from(length),
        false => number.wrapping_add(predicate.add) <= predicate.limit,
    }
}
