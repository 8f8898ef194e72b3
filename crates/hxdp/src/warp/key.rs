//! What the engine gathers of a frame: bytes that are lanes of the key, and predicates.

use super::bits::{Bit, Bits, SEEN, Seen};
use super::test::{Test, bytes_of};
use sluice_object::xdp::warp::PREDICATES;
use std::collections::BTreeMap;

pub use sluice_object::xdp::warp::LANES;

/// What a predicate compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// This number.
    Number(u16),
    /// The frame's length.
    Length,
}

/// `((pair & mask) >> down) + add <= limit`: modulo 2^16 where the limit is a number, with a sign where it is the length; `pair` is the number in network order
/// of two lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Predicate {
    /// Lanes 2 * pair and 2 * pair + 1.
    pub pair: u8,
    /// Which of their bits count; 0 for a constant.
    pub mask: u16,
    /// How far the number is shifted down, or, below 0, up.
    pub down: i8,
    /// What is added.
    pub add: u16,
    /// What the sum is compared with.
    pub limit: Limit,
}

impl Predicate {
    /// Its answer, of the key's lanes.
    pub fn holds(&self, lanes: &[u8; LANES], length: usize) -> bool {
        let at = 2 * usize::from(self.pair);
        let pair = u16::from_be_bytes([lanes[at], lanes[at + 1]]) & self.mask;
        let number = match self.down {
            down @ 0.. => pair >> down,
            up => pair << -up,
        };
        match self.limit {
            Limit::Number(limit) => number.wrapping_add(self.add) <= limit,
            // A number below 0 is one that every frame reaches.
            Limit::Length => i64::from(number) + i64::from(self.add as i16) <= length as i64,
        }
    }
}

/// What is gathered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// Bytes of what is seen, where a lane has one.
    pub lanes: [Option<u8>; LANES],
    /// Predicates.
    pub predicates: Vec<Predicate>,
}

/// What one test is in a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Bytes: offset, mask, value.
    Bytes(BTreeMap<u8, (u8, u8)>),
    /// A number of two neighbouring bytes, the first at this offset, in a predicate whose pair is not chosen yet.
    Predicate(u8, Predicate),
}

/// A test as the engine has it; none where it cannot ask that.
pub fn asks(test: &Test) -> Option<Asks> {
    match test {
        Test::Bits(bits) => {
            let bytes = bytes_of(bits).into_iter().map(|(byte, asked)| Some((u8::try_from(byte).ok()?, asked)));
            let bytes: BTreeMap<u8, (u8, u8)> = bytes.collect::<Option<_>>()?;
            bytes.keys().all(|byte| usize::from(*byte) < SEEN).then_some(Asks::Bytes(bytes))
        }
        Test::Long(bytes) => {
            let add = u16::try_from(*bytes).ok().filter(|bytes| *bytes < 1 << 15)?;
            Some(Asks::Predicate(0, Predicate { pair: 0, mask: 0, down: 0, add, limit: Limit::Length }))
        }
        Test::Between { bits, low, high } => {
            let (byte, mask, down) = pair(bits)?;
            let add = u16::try_from(*low).ok()?.wrapping_neg();
            let limit = Limit::Number(u16::try_from(high - low).ok()?);
            Some(Asks::Predicate(byte, Predicate { pair: 0, mask, down, add, limit }))
        }
        Test::Reaches { bits, more } => {
            let (byte, mask, down) = pair(bits)?;
            let add = i16::try_from(*more).ok()? as u16;
            Some(Asks::Predicate(byte, Predicate { pair: 0, mask, down, add, limit: Limit::Length }))
        }
    }
}

/// A number as masked bits of two neighbouring bytes in network order, shifted.
fn pair(bits: &Bits) -> Option<(u8, u16, i8)> {
    if bits.0.iter().any(|bit| matches!(bit, Bit::One | Bit::Not(_))) || bits.bounds().1 > u64::from(u16::MAX) {
        return None;
    }
    let last = bits.0.iter().filter_map(|bit| bit.source()).map(|n| n / 8).max()?;
    let first = u8::try_from(last.saturating_sub(1)).ok().filter(|first| usize::from(*first) + 1 < SEEN)?;
    // Where a bit of the frame stands in the pair.
    let place = |n: u16| match (n / 8).checked_sub(first.into()) {
        Some(0) => Some(8 + n % 8),
        Some(1) => Some(n % 8),
        _ => None,
    };
    let mut found: Option<(u16, i8)> = None;
    for (n, bit) in bits.0.iter().enumerate() {
        let Some(source) = bit.source() else { continue };
        let at = place(source)?;
        let down = at as i8 - n as i8;
        let (mask, known) = found.unwrap_or((0, down));
        if known != down {
            return None;
        }
        found = Some((mask | 1 << at, down));
    }
    found.map(|(mask, down)| (first, mask, down))
}

impl Key {
    /// The lanes' bytes.
    pub fn gather(&self, seen: &Seen) -> [u8; LANES] {
        self.lanes.map(|byte| byte.map_or(0, |byte| seen.bytes[usize::from(byte)]))
    }

    /// The lane with a byte.
    pub fn lane(&self, byte: u8) -> Option<usize> {
        self.lanes.iter().position(|lane| *lane == Some(byte))
    }

    /// Where a predicate stands.
    pub fn predicate(&self, byte: u8, predicate: &Predicate) -> Option<usize> {
        let is_there = |other: &Predicate| {
            let same = Predicate { pair: other.pair, ..*predicate };
            *other == same && self.new_lanes(other.pair, byte, predicate.mask) == Some(0)
        };
        self.predicates.iter().position(is_there)
    }

    /// How many lanes become a byte's if a pair has these; none if it has others.
    fn new_lanes(&self, pair: u8, byte: u8, mask: u16) -> Option<usize> {
        let wanted = [(0xff00, byte), (0x00ff, byte + 1)];
        let lanes = &self.lanes[2 * usize::from(pair)..][..2];
        let mut new = 0;
        for (lane, (bits, byte)) in lanes.iter().zip(wanted) {
            match lane {
                _ if mask & bits == 0 => {}
                None => new += 1,
                Some(there) if *there == byte => {}
                Some(_) => return None,
            }
        }
        Some(new)
    }

    /// The key with one more test, if it has room for it.
    pub fn with(&self, test: &Test) -> Option<Self> {
        let mut key = self.clone();
        match asks(test)? {
            Asks::Bytes(bytes) => {
                for byte in bytes.keys() {
                    if key.lane(*byte).is_none() {
                        // Whole pairs are left to predicates as long as there is half of one.
                        let half = |at: &usize| key.lanes[at ^ 1].is_some();
                        let free = (0..LANES).filter(|at| key.lanes[*at].is_none());
                        let at = free.clone().find(half).or_else(|| free.clone().next())?;
                        key.lanes[at] = Some(*byte);
                    }
                }
            }
            Asks::Predicate(byte, predicate) if key.predicate(byte, &predicate).is_some() => {}
            Asks::Predicate(byte, predicate) => {
                let pairs =
                    (0..LANES as u8 / 2).filter_map(|pair| Some((key.new_lanes(pair, byte, predicate.mask)?, pair)));
                let (_, pair) = pairs.min()?;
                for (at, bits) in [(0, 0xff00), (1, 0x00ff)] {
                    if predicate.mask & bits != 0 {
                        key.lanes[2 * usize::from(pair) + at] = Some(byte + at as u8);
                    }
                }
                key.predicates.push(Predicate { pair, ..predicate });
            }
        }
        (key.predicates.len() <= PREDICATES).then_some(key)
    }
}
