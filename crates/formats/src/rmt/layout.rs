//! Layouts of wide rows: fields may be numbers, arrays of them, or other layouts.

use super::layout_json::{Element, Given, wide_from_text, wide_text};
use crate::row::RowError;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeSeq, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Packs values into words, bit 0 of word 0 first.
#[derive(Debug, Default)]
pub struct BitWriter {
    words: Vec<u32>,
    at: u32,
}

impl BitWriter {
    /// Appends the low `width` bits of a value.
    pub fn put(&mut self, value: u64, width: u32) {
        self.words.resize((self.at + width).div_ceil(32) as usize, 0);
        for bit in 0..width {
            let at = self.at + bit;
            self.words[(at / 32) as usize] |= ((value >> bit & 1) as u32) << (at % 32);
        }
        self.at += width;
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
        let bit = |at: u32| u64::from(self.words.get((at / 32) as usize).map_or(0, |w| w >> (at % 32) & 1));
        let value = (0..width).fold(0, |v, b| v | bit(self.at + b) << b);
        self.at += width;
        value
    }
}

/// A value that fits no field of its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooWide(pub u64);

/// What a field may hold. `width` is the width of one number; layouts ignore it.
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
    /// The JSON form: numbers, text for [`Wide`], lists without the zeros at their end, objects for layouts.
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

/// One field of a layout, for the generators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutField {
    /// Name, the same in Rust, SystemVerilog and docs.
    pub name: &'static str,
    /// SystemVerilog type.
    pub sv: String,
    /// Bits.
    pub width: u32,
    /// What it means.
    pub doc: &'static str,
}

/// A row, or a part of one, whose fields may repeat.
pub trait Layout: Bits + Clone + Default + PartialEq {
    /// Name; in SystemVerilog with `_t`.
    const NAME: &'static str;
    /// What it is.
    const DOC: &'static str;

    /// Fields from bit 0 up.
    fn fields() -> Vec<LayoutField>;
    /// Appends all fields.
    fn put_fields(&self, to: &mut BitWriter) -> Result<(), RowError>;

    /// Width in bits.
    fn width() -> u32 {
        Self::total(0)
    }

    /// Number of 32-bit words.
    fn words() -> usize {
        Self::width().div_ceil(32) as usize
    }

    /// Packs the row into words, bit 0 in bit 0 of word 0.
    fn pack(&self) -> Result<Vec<u32>, RowError> {
        let mut to = BitWriter::default();
        self.put_fields(&mut to)?;
        to.words.resize(Self::words(), 0);
        Ok(to.words)
    }

    /// Reads a row back from its words.
    fn unpack(words: &[u32]) -> Result<Self, RowError> {
        if words.len() != Self::words() {
            return Err(RowError::WordCount { row: Self::NAME, found: words.len(), allowed: Self::words() });
        }
        let last = words.last().copied().unwrap_or(0);
        if Self::width() % 32 != 0 && last >> (Self::width() % 32) != 0 {
            return Err(RowError::Padding { row: Self::NAME, width: Self::width() });
        }
        Ok(Self::get(0, &mut BitReader::new(words)))
    }
}

/// Declares a layout: a struct with public fields, `Layout` and `Bits`. The number behind a field is the width
/// of one number in it; for parts that are layouts it stands for nothing and is 0.
macro_rules! layout {
    ($(#[doc = $doc:literal])+ $name:ident, $sv:literal { $( #[doc = $fdoc:literal] $field:ident : $ty:ty = $width:expr ),+ $(,)? }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $(
            #[doc = $fdoc]
            #[serde(with = "crate::rmt::layout_json", skip_serializing_if = "crate::rmt::layout::Bits::is_zero")]
            pub $field: $ty
        ),+ }

        impl Default for $name {
            fn default() -> Self {
                <Self as $crate::rmt::layout::Bits>::get(0, &mut $crate::rmt::layout::BitReader::new(&[]))
            }
        }

        impl $crate::rmt::layout::Bits for $name {
            fn total(_: u32) -> u32 { 0 $( + <$ty as $crate::rmt::layout::Bits>::total($width) )+ }
            fn sv(_: u32) -> String { concat!($sv, "_t").into() }
            fn put(&self, _: u32, to: &mut $crate::rmt::layout::BitWriter) -> Result<(), $crate::rmt::layout::TooWide> {
                $( $crate::rmt::layout::Bits::put(&self.$field, $width, to)?; )+
                Ok(())
            }
            fn get(_: u32, from: &mut $crate::rmt::layout::BitReader) -> Self {
                Self { $( $field: <$ty as $crate::rmt::layout::Bits>::get($width, from) ),+ }
            }
            fn is_zero(&self) -> bool { true $( && $crate::rmt::layout::Bits::is_zero(&self.$field) )+ }
            fn to_json<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(self, to)
            }
            fn from_json<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                serde::Deserialize::deserialize(from)
            }
        }

        impl $crate::rmt::layout::Layout for $name {
            const NAME: &'static str = $sv;
            const DOC: &'static str = concat!($($doc),+);
            fn fields() -> Vec<$crate::rmt::layout::LayoutField> {
                vec![ $( $crate::rmt::layout::LayoutField {
                    name: stringify!($field),
                    sv: <$ty as $crate::rmt::layout::Bits>::sv($width),
                    width: <$ty as $crate::rmt::layout::Bits>::total($width),
                    doc: $fdoc,
                } ),+ ]
            }
            fn put_fields(&self, to: &mut $crate::rmt::layout::BitWriter) -> Result<(), $crate::row::RowError> {
                $( $crate::rmt::layout::Bits::put(&self.$field, $width, to).map_err(|e| $crate::row::RowError::TooWide {
                    row: $sv, field: stringify!($field), found: u128::from(e.0), width: $width,
                })?; )+
                Ok(())
            }
        }
    };
}
pub(crate) use layout;
