//! Bit fields of a header, first bit most significant, as protocol standards draw them.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::mac::MacAddr;

/// The `bits` bits of `bytes` from bit `at` on. Bits beyond the end read as zero.
#[inline]
pub fn get(bytes: &[u8], at: usize, bits: usize) -> u128 {
    let mut value = 0u128;
    let mut bit = at;
    let end = at + bits;
    while bit < end {
        let take = (8 - bit % 8).min(end - bit);
        let byte = bytes.get(bit / 8).copied().unwrap_or(0);
        let part = (byte >> (8 - bit % 8 - take)) & mask(take);
        value = value << take | u128::from(part);
        bit += take;
    }
    value
}

/// Writes the low `bits` bits of `value` at bit `at`. Bits beyond the end are not written.
#[inline]
pub fn put(bytes: &mut [u8], at: usize, bits: usize, value: u128) {
    let mut bit = at;
    let end = at + bits;
    while bit < end {
        let take = (8 - bit % 8).min(end - bit);
        let part = (value >> (end - bit - take)) as u8 & mask(take);
        if let Some(byte) = bytes.get_mut(bit / 8) {
            let shift = 8 - bit % 8 - take;
            *byte = *byte & !(mask(take) << shift) | part << shift;
        }
        bit += take;
    }
}

#[inline]
fn mask(bits: usize) -> u8 {
    (0xffu16 >> (8 - bits)) as u8
}

/// What a header field is read as.
pub trait FieldValue {
    /// From the field's bits, right-aligned.
    fn from_bits(bits: u128) -> Self;
    /// To the field's bits, right-aligned.
    fn into_bits(self) -> u128;
}

macro_rules! number_fields {
    ($($number:ty),*) => {$(
        impl FieldValue for $number {
            fn from_bits(bits: u128) -> Self {
                bits as $number
            }
            fn into_bits(self) -> u128 {
                u128::from(self)
            }
        }
    )*};
}

number_fields!(u8, u16, u32, u64);

impl FieldValue for bool {
    fn from_bits(bits: u128) -> Self {
        bits != 0
    }
    fn into_bits(self) -> u128 {
        u128::from(self)
    }
}

impl FieldValue for MacAddr {
    fn from_bits(bits: u128) -> Self {
        MacAddr::from_u64(bits as u64)
    }
    fn into_bits(self) -> u128 {
        u128::from(self.to_u64())
    }
}

impl FieldValue for Ipv4Addr {
    fn from_bits(bits: u128) -> Self {
        Ipv4Addr::from(bits as u32)
    }
    fn into_bits(self) -> u128 {
        u128::from(u32::from(self))
    }
}

impl FieldValue for Ipv6Addr {
    fn from_bits(bits: u128) -> Self {
        Ipv6Addr::from(bits)
    }
    fn into_bits(self) -> u128 {
        u128::from(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_may_cross_bytes_and_leaves_its_neighbours_alone() {
        let mut bytes = [0xff; 4];
        put(&mut bytes, 6, 11, 0x2a5);
        assert_eq!(get(&bytes, 6, 11), 0x2a5);
        assert_eq!(get(&bytes, 0, 6), 0x3f);
        assert_eq!(get(&bytes, 17, 15), 0x7fff);
        put(&mut bytes, 0, 32, 0x0102_0304);
        assert_eq!(bytes, [1, 2, 3, 4]);
    }

    #[test]
    fn beyond_the_end_nothing_is_written_and_zero_is_read() {
        let mut bytes = [0; 2];
        put(&mut bytes, 12, 16, 0xffff);
        assert_eq!(bytes, [0, 0x0f]);
        assert_eq!(get(&bytes, 12, 16), 0xf000);
        assert_eq!(get(&[], 0, 128), 0);
    }
}
