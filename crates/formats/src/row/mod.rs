//! Rows: fixed bit layouts of table entries, trace records and their parts, described once with [`row!`].
//!
//! Fields are packed least significant first. A field holds a number, bytes, an array, or a row of its own.

mod bits;
pub mod json;

pub use bits::{BitReader, BitWriter, Bits, TooWide, Wide};

use std::fmt;

/// One field of a row, for the generators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name, the same in Rust, SystemVerilog and docs.
    pub name: &'static str,
    /// SystemVerilog type.
    pub sv: String,
    /// Bits.
    pub width: u32,
    /// What it means.
    pub doc: &'static str,
}

/// A row that does not hold what its layout allows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// A value is wider than its field.
    #[error("{row}.{field}: value {found:#x} does not fit {width} bits")]
    TooWide {
        /// Row type.
        row: &'static str,
        /// Field name.
        field: &'static str,
        /// The value found.
        found: u64,
        /// Width of the field in bits.
        width: u32,
    },
    /// The number of words is wrong.
    #[error("{row}: {found} words, the row has {allowed}")]
    WordCount {
        /// Row type.
        row: &'static str,
        /// Words found.
        found: usize,
        /// Words the layout has.
        allowed: usize,
    },
    /// Bits beyond the last field are set.
    #[error("{row}: bits beyond bit {width} are set")]
    Padding {
        /// Row type.
        row: &'static str,
        /// Width of the row in bits.
        width: u32,
    },
}

/// A row, or a part of one.
pub trait Row: Bits + Clone + Default + PartialEq + fmt::Debug {
    /// Name; in SystemVerilog with `_t`.
    const NAME: &'static str;
    /// What it is.
    const DOC: &'static str;

    /// Fields from bit 0 up.
    fn fields() -> Vec<Field>;
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
        Ok(to.finish(Self::words()))
    }

    /// The row that a memory keeps of as many words as it has: without what stands beyond its width.
    fn of_words(words: &[u32]) -> Self
    where
        Self: Default,
    {
        let mut words = words.to_vec();
        let padding = words.len() as u32 * 32 - Self::width();
        if let Some(last) = words.last_mut() {
            *last &= u32::MAX >> padding;
        }
        // Length and padding are right here, and those are all that `unpack` refuses.
        Self::unpack(&words).unwrap_or_default()
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

/// Words of bytes in host memory or in a plug-in's events, little-endian; bytes behind the last whole word are left out.
pub fn words_of_bytes(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// The same the other way.
pub fn bytes_of_words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// What the generators know of a row.
pub struct RowInfo {
    /// Name; in SystemVerilog with `_t`.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Fields from bit 0 up.
    pub fields: fn() -> Vec<Field>,
    /// Width in bits.
    pub width: fn() -> u32,
}

impl RowInfo {
    /// Of a row by its type.
    pub const fn of<R: Row>() -> Self {
        Self { name: R::NAME, doc: R::DOC, fields: R::fields, width: R::width }
    }
}

/// A folder's rows, parts before those that have them.
macro_rules! rows {
    ($($row:ident),+ $(,)?) => { &[ $( $crate::row::RowInfo::of::<$row>() ),+ ] };
}
pub(crate) use rows;

/// Declares a row: a struct with public fields, `Row` and `Bits`. The number behind a field is the width of one number
/// in it; for parts that are rows it stands for nothing and is 0. Small rows derive `Copy` and `Hash` too.
macro_rules! row {
    ($(#[doc = $doc:literal])+ $(#[derive($($more:ident),+)])? $name:ident, $sv:literal {
        $( #[doc = $fdoc:literal] $field:ident : $ty:ty = $width:expr ),+ $(,)?
    }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $(#[derive($($more),+)])?
        #[serde(default, deny_unknown_fields)]
        pub struct $name { $(
            #[doc = $fdoc]
            #[serde(with = "crate::row::json", skip_serializing_if = "crate::row::Bits::is_zero")]
            pub $field: $ty
        ),+ }

        impl Default for $name {
            fn default() -> Self {
                <Self as $crate::row::Bits>::get(0, &mut $crate::row::BitReader::new(&[]))
            }
        }

        impl $crate::row::Bits for $name {
            fn total(_: u32) -> u32 { 0 $( + <$ty as $crate::row::Bits>::total($width) )+ }
            fn sv(_: u32) -> String { concat!($sv, "_t").into() }
            fn put(&self, _: u32, to: &mut $crate::row::BitWriter) -> Result<(), $crate::row::TooWide> {
                $( $crate::row::Bits::put(&self.$field, $width, to)?; )+
                Ok(())
            }
            fn get(_: u32, from: &mut $crate::row::BitReader) -> Self {
                Self { $( $field: <$ty as $crate::row::Bits>::get($width, from) ),+ }
            }
            fn is_zero(&self) -> bool { true $( && $crate::row::Bits::is_zero(&self.$field) )+ }
            fn to_json<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(self, to)
            }
            fn from_json<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                serde::Deserialize::deserialize(from)
            }
        }

        impl $crate::row::Row for $name {
            const NAME: &'static str = $sv;
            const DOC: &'static str = concat!($($doc),+);
            fn fields() -> Vec<$crate::row::Field> {
                vec![ $( $crate::row::Field {
                    name: stringify!($field),
                    sv: <$ty as $crate::row::Bits>::sv($width),
                    width: <$ty as $crate::row::Bits>::total($width),
                    doc: $fdoc,
                } ),+ ]
            }
            fn put_fields(&self, to: &mut $crate::row::BitWriter) -> Result<(), $crate::row::RowError> {
                $( $crate::row::Bits::put(&self.$field, $width, to).map_err(|e| $crate::row::RowError::TooWide {
                    row: $sv, field: stringify!($field), found: e.0, width: $width,
                })?; )+
                Ok(())
            }
        }
    };
}
pub(crate) use row;
