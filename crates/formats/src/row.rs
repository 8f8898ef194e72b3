//! Rows: fixed bit layouts of table entries, packed least significant field first.

use std::fmt;

/// One field of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name, the same in Rust, SystemVerilog and docs.
    pub name: &'static str,
    /// Width in bits, 1 to 128.
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
        found: u128,
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

/// A packed table row.
pub trait Row: Sized + Clone + fmt::Debug + PartialEq {
    /// Name of the row; in SystemVerilog with `_t`.
    const NAME: &'static str;
    /// What the row is.
    const DOC: &'static str;
    /// Fields from bit 0 up.
    const FIELDS: &'static [Field];

    /// Field values in the order of `FIELDS`.
    fn values(&self) -> Vec<u128>;
    /// A row from field values in the order of `FIELDS`, each already within its width.
    fn from_values(values: &[u128]) -> Self;

    /// Width of the whole row in bits.
    fn width() -> u32 {
        Self::FIELDS.iter().map(|f| f.width).sum()
    }

    /// Number of 32-bit words the row takes.
    fn words() -> usize {
        Self::width().div_ceil(32) as usize
    }

    /// Packs the row into words, bit 0 in bit 0 of word 0.
    fn pack(&self) -> Result<Vec<u32>, RowError> {
        let mut words = vec![0u32; Self::words()];
        let mut at = 0;
        for (field, value) in Self::FIELDS.iter().zip(self.values()) {
            if field.width < 128 && value >> field.width != 0 {
                return Err(RowError::TooWide { row: Self::NAME, field: field.name, found: value, width: field.width });
            }
            for bit in 0..field.width {
                if value >> bit & 1 == 1 {
                    words[((at + bit) / 32) as usize] |= 1 << ((at + bit) % 32);
                }
            }
            at += field.width;
        }
        Ok(words)
    }

    /// Reads a row back from its words.
    fn unpack(words: &[u32]) -> Result<Self, RowError> {
        if words.len() != Self::words() {
            return Err(RowError::WordCount { row: Self::NAME, found: words.len(), allowed: Self::words() });
        }
        let bit_at = |i: u32| words[(i / 32) as usize] >> (i % 32) & 1;
        if (Self::width()..words.len() as u32 * 32).any(|i| bit_at(i) == 1) {
            return Err(RowError::Padding { row: Self::NAME, width: Self::width() });
        }
        let mut at = 0;
        let mut values = Vec::with_capacity(Self::FIELDS.len());
        for field in Self::FIELDS {
            values.push((0..field.width).fold(0u128, |v, b| v | u128::from(bit_at(at + b)) << b));
            at += field.width;
        }
        Ok(Self::from_values(&values))
    }
}

/// Declares a row: a struct with public fields, its layout and `Row`.
macro_rules! row {
    ($(#[doc = $doc:literal])+ $name:ident, $sv:literal { $( #[doc = $fdoc:literal] $field:ident : $ty:ty = $width:expr ),+ $(,)? }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub struct $name { $( #[doc = $fdoc] pub $field: $ty ),+ }

        impl $crate::row::Row for $name {
            const NAME: &'static str = $sv;
            const DOC: &'static str = concat!($($doc),+);
            const FIELDS: &'static [$crate::row::Field] = &[
                $( $crate::row::Field { name: stringify!($field), width: $width, doc: $fdoc } ),+
            ];
            fn values(&self) -> Vec<u128> { vec![ $( $crate::row::ToBits::to_bits(self.$field) ),+ ] }
            fn from_values(values: &[u128]) -> Self {
                let mut it = values.iter().copied();
                Self { $( $field: $crate::row::ToBits::from_bits(it.next().unwrap_or(0)) ),+ }
            }
        }
    };
}
pub(crate) use row;

/// Values that fields hold.
pub trait ToBits: Copy {
    /// The value as bits.
    fn to_bits(self) -> u128;
    /// The value from bits that fit.
    fn from_bits(bits: u128) -> Self;
}

macro_rules! to_bits {
    ($($t:ty),+) => { $( impl ToBits for $t {
        fn to_bits(self) -> u128 { self as u128 }
        fn from_bits(bits: u128) -> Self { bits as $t }
    } )+ };
}
to_bits!(u8, u16, u32, u64, u128);

impl ToBits for bool {
    fn to_bits(self) -> u128 {
        u128::from(self)
    }
    fn from_bits(bits: u128) -> Self {
        bits & 1 == 1
    }
}
