//! What a field may hold: a number, bytes, an array, a row of its own; and how it is packed.

use super::json::{Element, Given, wide_from_text, wide_text};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeSeq, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// The low `bits` of a word, 1 to 32 of them.
fn low(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

/// Packs values into words, bit 0 of word 0 first.
#[derive(Debug, Default)]
pub struct BitWriter {
    words: Vec<u32>,
    at: u32,
}

impl BitWriter {
    /// What was written, with zeros up to `words` words.
    pub fn finish(mut self, words: usize) -> Vec<u32> {
        self.words.resize(words, 0);
        self.words
    }

    /// Appends the low `width` bits of a value.
    pub fn put(&mut self, value: u64, width: u32) {
        self.words.resize((self.at + width).div_ceil(32) as usize, 0);
        let mut done = 0;
        while done < width {
            let (word, from) = ((self.at / 32) as usize, self.at % 32);
            let bits = (32 - from).min(width - done);
            self.words[word] |= ((value >> done) as u32 & low(bits)) << from;
            (self.at, done) = (self.at + bits, done + bits);
        }
    }
}

/// Reads what a [`BitWriter`] wrote; zeros behind the end.
#[derive(Debug)]
pub struct BitReader<'a> {
    words: &'a [u32],
    at: u32,
}

impl<'a> BitReader<'a> {
    /// From bit 0 of word 0.
    pub fn new(words: &'a [u32]) -> Self {
        Self { words, at: 0 }
    }

    /// The next `width` bits, at most 64.
    pub fn get(&mut self, width: u32) -> u64 {
        let (mut value, mut done) = (0, 0);
        while done < width {
            let (word, from) = ((self.at / 32) as usize, self.at % 32);
            let bits = (32 - from).min(width - done);
            let part = self.words.get(word).map_or(0, |w| w >> from & low(bits));
            value |= u64::from(part) << done;
            (self.at, done) = (self.at + bits, done + bits);
        }
        value
    }
}

/// A value that fits no field of its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooWide(pub u64);

/// What a field may hold. `width` is the width of one number; rows ignore it.
pub trait Bits: Sized {
    /// Bits of the whole field.
    fn total(width: u32) -> u32;
    /// SystemVerilog type without its name; arrays put their dimension in front of the element's.
    fn sv(width: u32) -> String;
    /// Appends the value.
    fn put(&self, width: u32, to: &mut BitWriter) -> Result<(), TooWide>;
    /// Reads a value.
    fn get(width: u32, from: &mut BitReader) -> Self;
    /// Whether all its bits are 0; JSON leaves such fields out.
    fn is_zero(&self) -> bool;
    /// The JSON form: numbers, text for [`Wide`], lists without the zeros at their end, objects for rows.
    fn to_json<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error>;
    /// Reads the JSON form. Whether a value fits its width shows when the row is packed.
    fn from_json<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error>;
}

macro_rules! number {
    ($($t:ty),+) => { $( impl Bits for $t {
        fn total(width: u32) -> u32 { width }
        fn sv(width: u32) -> String { if width == 1 { "logic".into() } else { format!("logic [{}:0]", width - 1) } }
        fn put(&self, width: u32, to: &mut BitWriter) -> Result<(), TooWide> {
            let value = u64::from(*self);
            if width < 64 && value >> width != 0 {
                return Err(TooWide(value));
            }
            to.put(value, width);
            Ok(())
        }
        fn get(width: u32, from: &mut BitReader) -> Self { from.get(width) as $t }
        fn is_zero(&self) -> bool { *self == 0 }
        fn to_json<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> { self.serialize(to) }
        fn from_json<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> { <$t>::deserialize(from) }
    } )+ };
}
number!(u8, u16, u32, u64);

impl Bits for bool {
    fn total(_: u32) -> u32 {
        1
    }
    fn sv(_: u32) -> String {
        "logic".into()
    }
    fn put(&self, _: u32, to: &mut BitWriter) -> Result<(), TooWide> {
        to.put(u64::from(*self), 1);
        Ok(())
    }
    fn get(_: u32, from: &mut BitReader) -> Self {
        from.get(1) == 1
    }
    fn is_zero(&self) -> bool {
        !self
    }
    fn to_json<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.serialize(to)
    }
    fn from_json<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        bool::deserialize(from)
    }
}

/// Bytes of a key or of selector values: byte 0 in bits 7:0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wide<const N: usize>(pub [u8; N]);

impl<const N: usize> Default for Wide<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

impl<const N: usize> AsRef<[u8]> for Wide<N> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<const N: usize> Bits for Wide<N> {
    fn total(width: u32) -> u32 {
        width
    }
    fn sv(width: u32) -> String {
        format!("logic [{}:0]", width - 1)
    }
    fn put(&self, width: u32, to: &mut BitWriter) -> Result<(), TooWide> {
        for (i, &byte) in self.0.iter().enumerate() {
            byte.put(width.saturating_sub(8 * i as u32).min(8), to)?;
        }
        Ok(())
    }
    fn get(width: u32, from: &mut BitReader) -> Self {
        Self(std::array::from_fn(|i| from.get(width.saturating_sub(8 * i as u32).min(8)) as u8))
    }
    fn is_zero(&self) -> bool {
        self.0 == [0; N]
    }
    fn to_json<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&wide_text(&self.0))
    }
    fn from_json<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        wide_from_text(&text).map(Self).map_err(D::Error::custom)
    }
}

impl<T: Bits, const N: usize> Bits for [T; N] {
    fn total(width: u32) -> u32 {
        N as u32 * T::total(width)
    }
    fn sv(width: u32) -> String {
        let element = T::sv(width);
        match element.split_once(' ') {
            // Packed arrays of single bits are vectors.
            None if element == "logic" => format!("logic [{}:0]", N - 1),
            Some((base, dimensions)) => format!("{base} [{}:0]{dimensions}", N - 1),
            None => format!("{element} [{}:0]", N - 1),
        }
    }
    fn put(&self, width: u32, to: &mut BitWriter) -> Result<(), TooWide> {
        self.iter().try_for_each(|v| v.put(width, to))
    }
    fn get(width: u32, from: &mut BitReader) -> Self {
        std::array::from_fn(|_| T::get(width, from))
    }
    fn is_zero(&self) -> bool {
        self.iter().all(T::is_zero)
    }
    fn to_json<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let length = self.iter().rposition(|v| !v.is_zero()).map_or(0, |last| last + 1);
        let mut list = to.serialize_seq(Some(length))?;
        self[..length].iter().try_for_each(|v| list.serialize_element(&Element(v)))?;
        list.end()
    }
    fn from_json<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List<T, const N: usize>(PhantomData<T>);
        impl<'de, T: Bits, const N: usize> Visitor<'de> for List<T, N> {
            type Value = [T; N];
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a list of at most {N}")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<[T; N], A::Error> {
                let mut all = <[T; N]>::get(0, &mut BitReader::new(&[]));
                let mut at = 0;
                while let Some(Given(value)) = list.next_element()? {
                    *all.get_mut(at).ok_or_else(|| A::Error::invalid_length(at + 1, &self))? = value;
                    at += 1;
                }
                Ok(all)
            }
        }
        from.deserialize_seq(List(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Rng, test_seed};

    #[test]
    fn numbers_of_any_width_stand_bit_by_bit_behind_each_other() {
        let mut rng = Rng::new(test_seed("row_bits"));
        for _ in 0..200 {
            let fields: Vec<(u64, u32)> = (0..20).map(|_| (rng.next_u64(), 1 + rng.below(64) as u32)).collect();
            let (mut to, mut bits) = (BitWriter::default(), Vec::new());
            for &(value, width) in &fields {
                to.put(value, width);
                bits.extend((0..width).map(|b| value >> b & 1));
            }
            let words = to.finish(bits.len().div_ceil(32) + 1);
            let bit = |at: usize| u64::from(words[at / 32] >> (at % 32) & 1);
            assert!((0..32 * words.len()).all(|at| bit(at) == bits.get(at).copied().unwrap_or(0)));
            let mut from = BitReader::new(&words);
            fields
                .iter()
                .for_each(|&(value, width)| assert_eq!(from.get(width), value << (64 - width) >> (64 - width)));
        }
    }

    #[test]
    fn behind_the_end_there_are_zeros() {
        let mut from = BitReader::new(&[0xffff_ffff]);
        assert_eq!((from.get(24), from.get(40), from.get(64)), (0xff_ffff, 0xff, 0));
    }
}
