//! What the engine gathers of a frame: bytes that are lanes of the key, and predicates.

use super::bits::{Bit, Bits, SEEN, Seen};
use super::test::Test;
use std::collections::BTreeMap;

/// Bytes of the frame in a key.
pub const LANES: usize = 14;
/// Predicates in a key.
pub const PREDICATES: usize = 8;

/// What a predicate compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// This number.
    Number(u16),
    /// The frame's length.
    Length,
}

/// `((pair & mask) + add) mod 2^16 <= limit` in 16 bits, or of the length in 17; `pair` is the 16-bit number in network order of two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Predicate {
    /// First byte of the pair.
    pub byte: u8,
    /// Which bits of it count; 0 for a constant.
    pub mask: u16,
    /// How far the number is shifted down before, or, below 0, up.
    pub down: i8,
    /// What is added.
    pub add: u16,
    /// What the sum is compared with.
    pub limit: Limit,
}

impl Predicate {
    /// Its answer for a packet.
    pub fn holds(&self, seen: &Seen) -> bool {
        let byte = |n: u8| u16::from(seen.bytes.get(usize::from(n)).copied().unwrap_or(0));
        let pair = (byte(self.byte) << 8 | byte(self.byte + 1)) & self.mask;
        let number = match self.down {
            down @ 0.. => pair >> down,
            up => pair << -up,
        };
        match self.limit {
            Limit::Number(limit) => number.wrapping_add(self.add) <= limit,
            // A number below 0 is one that every frame reaches.
            Limit::Length => i64::from(number) + i64::from(self.add as i16) <= seen.length as i64,
        }
    }
}

/// What is gathered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// Offsets in the frame.
    pub lanes: Vec<u8>,
    /// Predicates.
    pub predicates: Vec<Predicate>,
}

/// What one test is in a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Bytes: offset, mask, value.
    Bytes(BTreeMap<u8, (u8, u8)>),
    /// A predicate.
    Predicate(Predicate),
}

/// A test as the engine has it; none where it cannot ask that.
pub fn asks(test: &Test) -> Option<Asks> {
    match test {
        Test::Bits(bits) => {
            let mut bytes: BTreeMap<u8, (u8, u8)> = BTreeMap::new();
            for (n, wanted) in bits {
                let (mask, value) = bytes.entry(u8::try_from(n / 8).ok()?).or_default();
                *mask |= 1 << (n % 8);
                *value |= u8::from(*wanted) << (n % 8);
            }
            bytes.keys().all(|byte| usize::from(*byte) < SEEN).then_some(Asks::Bytes(bytes))
        }
        Test::Long(bytes) => {
            let add = u16::try_from(*bytes).ok().filter(|bytes| *bytes < 1 << 15)?;
            Some(Asks::Predicate(Predicate { byte: 0, mask: 0, down: 0, add, limit: Limit::Length }))
        }
        Test::Between { bits, low, high } => {
            let (byte, mask, down) = pair(bits)?;
            let add = u16::try_from(*low).ok()?.wrapping_neg();
            let limit = Limit::Number(u16::try_from(high - low).ok()?);
            Some(Asks::Predicate(Predicate { byte, mask, down, add, limit }))
        }
        Test::Reaches { bits, more } => {
            let (byte, mask, down) = pair(bits)?;
            let add = i16::try_from(*more).ok()? as u16;
            Some(Asks::Predicate(Predicate { byte, mask, down, add, limit: Limit::Length }))
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
    /// The key with one more test, if it has room for it.
    pub fn with(&self, test: &Test) -> Option<Self> {
        let mut key = self.clone();
        match asks(test)? {
            Asks::Bytes(bytes) => {
                for byte in bytes.keys() {
                    if !key.lanes.contains(byte) {
                        key.lanes.push(*byte);
                    }
                }
            }
            Asks::Predicate(predicate) if key.predicates.contains(&predicate) => {}
            Asks::Predicate(predicate) => key.predicates.push(predicate),
        }
        (key.lanes.len() <= LANES && key.predicates.len() <= PREDICATES).then_some(key)
    }
}
