//! What a match row compares: as many bytes and alternatives as the largest engine has. The row's own layout is that of the targets,
//! 4 alternatives of 8 bytes; other engines have another one ([`MatchShape`]).

use super::rows::{L7AlternativePart, L7MatchRow, L7MovePart, L7TargetPart};
use super::target::{ALTERNATIVES, MATCH_BYTES, MOST_ALTERNATIVES, MOST_MATCH_BYTES};
use crate::row::{BitReader, BitWriter, Bits, Row, RowError, TooWide};
use serde::de::Deserializer;
use serde::ser::{Error as _, Serializer};
use std::ops::{Deref, DerefMut};

/// Bytes that an alternative compares, the first one first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct L7Bytes(pub [u8; MOST_MATCH_BYTES]);

impl L7Bytes {
    /// Of some bytes, at most [`MOST_MATCH_BYTES`]; zeros behind them.
    pub fn of(bytes: &[u8]) -> Self {
        let mut all = [0; MOST_MATCH_BYTES];
        all[..bytes.len()].copy_from_slice(bytes);
        Self(all)
    }

    /// The first 8 of them, the first in the lowest bits.
    pub fn low(&self) -> u64 {
        u64::from_le_bytes(self.0[..MATCH_BYTES].try_into().expect("8 bytes"))
    }

    /// Whether all bytes from this one on are zero.
    pub fn ends_at(&self, length: usize) -> bool {
        self.0.iter().skip(length).all(|&byte| byte == 0)
    }
}

impl<T: Into<u64>> From<T> for L7Bytes {
    fn from(low: T) -> Self {
        Self::of(&low.into().to_le_bytes())
    }
}

/// In a row of the targets: one number of 64 bits.
impl Bits for L7Bytes {
    fn total(width: u32) -> u32 {
        width
    }
    fn sv(width: u32) -> String {
        u64::sv(width)
    }
    fn put(&self, width: u32, to: &mut BitWriter) -> Result<(), TooWide> {
        let used = width as usize / 8;
        if !self.ends_at(used) {
            return Err(TooWide(self.0[used..].iter().find(|&&byte| byte != 0).copied().unwrap_or(0).into()));
        }
        self.0[..used].iter().for_each(|&byte| to.put(byte.into(), 8));
        Ok(())
    }
    fn get(width: u32, from: &mut BitReader) -> Self {
        let bytes: Vec<u8> = (0..width / 8).map(|_| from.get(8) as u8).collect();
        Self::of(&bytes)
    }
    fn is_zero(&self) -> bool {
        self.ends_at(0)
    }
    fn to_json<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if !self.ends_at(MATCH_BYTES) {
            return Err(S::Error::custom(format!("an alternative of more than {MATCH_BYTES} bytes")));
        }
        self.low().to_json(to)
    }
    fn from_json<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        u64::from_json(from).map(Self::from)
    }
}

/// Alternatives of a row; the first hit counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct L7Alternatives(pub [L7AlternativePart; MOST_ALTERNATIVES]);

impl Deref for L7Alternatives {
    type Target = [L7AlternativePart; MOST_ALTERNATIVES];
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for L7Alternatives {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl L7Alternatives {
    /// How many there are up to the last one that is not zero.
    pub fn used(&self) -> usize {
        self.iter().rposition(|a| !a.is_zero()).map_or(0, |last| last + 1)
    }

    /// The first ones, as the rows of the targets have them.
    fn of_target(&self) -> Option<[L7AlternativePart; ALTERNATIVES]> {
        (self.used() <= ALTERNATIVES).then(|| std::array::from_fn(|n| self[n]))
    }
}

impl From<[L7AlternativePart; ALTERNATIVES]> for L7Alternatives {
    fn from(first: [L7AlternativePart; ALTERNATIVES]) -> Self {
        let mut all = Self::default();
        all[..ALTERNATIVES].copy_from_slice(&first);
        all
    }
}

/// In a row of the targets: 4 of them.
impl Bits for L7Alternatives {
    fn total(width: u32) -> u32 {
        <[L7AlternativePart; ALTERNATIVES]>::total(width)
    }
    fn sv(width: u32) -> String {
        <[L7AlternativePart; ALTERNATIVES]>::sv(width)
    }
    fn put(&self, width: u32, to: &mut BitWriter) -> Result<(), TooWide> {
        self.of_target().ok_or(TooWide(self.used() as u64))?.put(width, to)
    }
    fn get(width: u32, from: &mut BitReader) -> Self {
        <[L7AlternativePart; ALTERNATIVES]>::get(width, from).into()
    }
    fn is_zero(&self) -> bool {
        self.used() == 0
    }
    fn to_json<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.of_target() {
            Some(first) => first.to_json(to),
            None => Err(S::Error::custom(format!("{} alternatives, at most {ALTERNATIVES} are allowed", self.used()))),
        }
    }
    fn from_json<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <[L7AlternativePart; ALTERNATIVES]>::from_json(from).map(Self::from)
    }
}

/// What the match rows of an engine hold; their layout follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchShape {
    /// Bytes that an alternative compares: 8, 16 or 32.
    pub bytes: usize,
    /// Alternatives: 4 or 8.
    pub alternatives: usize,
}

/// That of the targets, and of objects.
impl Default for MatchShape {
    fn default() -> Self {
        Self { bytes: MATCH_BYTES, alternatives: ALTERNATIVES }
    }
}

impl MatchShape {
    /// Width of a row's length.
    fn length_bits(self) -> u32 {
        (self.bytes + 1).next_power_of_two().trailing_zeros()
    }

    /// Bits of a row.
    pub fn row_bits(self) -> u32 {
        let parts = <L7MovePart as Row>::width() + <L7TargetPart as Row>::width();
        let alternative = 3 + 8 * self.bytes as u32 + <L7TargetPart as Row>::width();
        6 + self.length_bits() + parts + self.alternatives as u32 * alternative
    }
}

impl L7MatchRow {
    /// The row's words in an engine whose rows have this shape. [`Row::pack`] is that of the targets.
    pub fn pack_as(&self, shape: MatchShape) -> Result<Vec<u32>, RowError> {
        let wide = |field, found, width| RowError::TooWide { row: Self::NAME, field, found, width };
        let mut to = BitWriter::default();
        self.module_id.put(6, &mut to).map_err(|e| wide("module_id", e.0, 6))?;
        let bits = shape.length_bits();
        self.length.put(bits, &mut to).map_err(|e| wide("length", e.0, bits))?;
        self.step.put_fields(&mut to)?;
        self.miss.put_fields(&mut to)?;
        if self.alternatives.used() > shape.alternatives {
            return Err(wide("alternatives", self.alternatives.used() as u64, shape.alternatives as u32));
        }
        for a in &self.alternatives[..shape.alternatives] {
            [a.valid, a.ends, a.anyway].iter().for_each(|&bit| to.put(bit.into(), 1));
            let bits = 8 * shape.bytes as u32;
            a.bytes.put(bits, &mut to).map_err(|e| wide("bytes", e.0, bits))?;
            a.target.put_fields(&mut to)?;
        }
        Ok(to.finish(shape.row_bits().div_ceil(32) as usize))
    }

    /// Reads a row back from the words of such an engine; bits beyond them are not looked at.
    pub fn unpack_as(words: &[u32], shape: MatchShape) -> Self {
        let mut from = BitReader::new(words);
        let mut row = Self {
            module_id: from.get(6) as u8,
            length: from.get(shape.length_bits()) as u8,
            step: L7MovePart::get(0, &mut from),
            miss: L7TargetPart::get(0, &mut from),
            ..Self::default()
        };
        for a in &mut row.alternatives[..shape.alternatives] {
            (a.valid, a.ends, a.anyway) = (from.get(1) == 1, from.get(1) == 1, from.get(1) == 1);
            a.bytes = L7Bytes::get(8 * shape.bytes as u32, &mut from);
            a.target = L7TargetPart::get(0, &mut from);
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::l7::target;
    use crate::random::{Rng, test_seed};

    fn random(rng: &mut Rng, shape: MatchShape) -> L7MatchRow {
        let target = |rng: &mut Rng| L7TargetPart::get(0, &mut BitReader::new(&[rng.next_u32()]));
        let mut row = L7MatchRow {
            module_id: rng.below(64) as u8,
            length: rng.below(shape.bytes as u64 + 1) as u8,
            step: L7MovePart::get(0, &mut BitReader::new(&[rng.next_u32()])),
            miss: target(rng),
            ..L7MatchRow::default()
        };
        for a in &mut row.alternatives[..shape.alternatives] {
            *a = L7AlternativePart {
                valid: rng.chance(1, 2),
                ends: rng.chance(1, 2),
                anyway: rng.chance(1, 2),
                bytes: L7Bytes::of(&rng.bytes(shape.bytes)),
                target: target(rng),
            };
        }
        row
    }

    #[test]
    fn rows_of_the_targets_are_as_they_were() {
        let mut rng = Rng::new(test_seed("l7_match_shape"));
        let shape = target::DEFAULT.match_shape();
        assert_eq!(shape.row_bits(), L7MatchRow::width());
        for _ in 0..100 {
            let row = random(&mut rng, shape);
            let words = row.pack().unwrap();
            assert_eq!(row.pack_as(shape).unwrap(), words);
            assert_eq!((L7MatchRow::unpack(&words).unwrap(), L7MatchRow::unpack_as(&words, shape)), (row, row));
        }
    }

    #[test]
    fn rows_of_every_shape_are_read_as_they_are_written() {
        let mut rng = Rng::new(test_seed("l7_match_shapes"));
        for (bytes, alternatives, words) in [(8, 4, 14), (16, 4, 22), (32, 4, 38), (8, 8, 26), (16, 8, 42), (32, 8, 74)]
        {
            let shape = MatchShape { bytes, alternatives };
            assert_eq!(shape.row_bits().div_ceil(32), words);
            assert!(words as usize <= crate::limits::MOST_ROW_WORDS);
            for _ in 0..50 {
                let row = random(&mut rng, shape);
                let packed = row.pack_as(shape).unwrap();
                assert_eq!((packed.len(), L7MatchRow::unpack_as(&packed, shape)), (words as usize, row));
            }
        }
    }

    #[test]
    fn a_row_that_is_larger_than_the_engine_has_is_refused() {
        let shape = target::DEFAULT.match_shape();
        let mut long = L7MatchRow::default();
        long.alternatives[0].bytes = L7Bytes::of(b"123456789");
        let mut many = L7MatchRow::default();
        many.alternatives[4].valid = true;
        for row in [long, many, L7MatchRow { length: 16, ..L7MatchRow::default() }] {
            assert!(row.pack().is_err() && row.pack_as(shape).is_err());
            assert!(row.pack_as(MatchShape { bytes: 32, alternatives: 8 }).is_ok());
        }
        assert_eq!(
            many.pack_as(shape).unwrap_err().to_string(),
            "l7_match_row.alternatives: value 0x5 does not fit 4 bits"
        );
    }

    #[test]
    fn json_has_no_more_than_the_targets() {
        let mut row = L7MatchRow::default();
        row.alternatives[0].bytes = L7Bytes::of(b"12345678");
        let text = serde_json::to_string(&row).unwrap();
        assert_eq!(serde_json::from_str::<L7MatchRow>(&text).unwrap(), row);
        row.alternatives[0].bytes = L7Bytes::of(b"123456789");
        assert!(serde_json::to_string(&row).unwrap_err().to_string().contains("more than 8 bytes"));
        let mut many = L7MatchRow::default();
        many.alternatives[4].valid = true;
        assert!(serde_json::to_string(&many).unwrap_err().to_string().contains("5 alternatives, at most 4"));
    }
}
