//! Bits in a row: what packets and the data of checksums are made of.

use num_bigint::BigUint;

/// Bits that were written, the first one highest in its byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    bytes: Vec<u8>,
    length: usize,
}

impl Bits {
    /// Appends the low bits of a number.
    pub fn push(&mut self, value: u128, width: u32) {
        let mut left = width;
        while left > 0 {
            let used = (self.length % 8) as u32;
            if used == 0 {
                self.bytes.push(0);
            }
            let take = left.min(8 - used);
            let piece = (value.checked_shr(left - take).unwrap_or(0) & ((1 << take) - 1)) as u8;
            if let Some(last) = self.bytes.last_mut() {
                *last |= piece << (8 - used - take);
            }
            self.length += take as usize;
            left -= take;
        }
    }

    /// Appends a number of any width.
    pub fn push_big(&mut self, value: &BigUint, width: u32) {
        let bytes = value.to_bytes_be();
        let whole = width.div_ceil(8) as usize;
        let first = width - 8 * (whole.saturating_sub(1)) as u32;
        for at in 0..whole {
            let byte = (bytes.len() + at).checked_sub(whole).map_or(0, |i| bytes[i]);
            self.push(u128::from(byte), if at == 0 { first } else { 8 });
        }
    }

    /// How many bits there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// The bytes; a last one that is not full ends with zeros.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, to be kept.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends bytes behind whole ones.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        if self.length.is_multiple_of(8) {
            self.bytes.extend_from_slice(bytes);
            self.length += 8 * bytes.len();
        } else {
            bytes.iter().for_each(|byte| self.push(u128::from(*byte), 8));
        }
    }
}

/// A number out of at most 128 bits of bytes, from bit `at`; they are there.
pub(crate) fn number_at(bytes: &[u8], at: usize, width: u32) -> u128 {
    let (mut value, mut at, mut left) = (0u128, at, width);
    while left > 0 {
        let used = (at % 8) as u32;
        let take = left.min(8 - used);
        let byte = bytes.get(at / 8).copied().unwrap_or(0);
        let piece = (byte >> (8 - used - take)) & ((1u16 << take) - 1) as u8;
        value = (value << take) | u128::from(piece);
        at += take as usize;
        left -= take;
    }
    value
}

/// A number out of bits of any count.
pub(crate) fn big_at(bytes: &[u8], at: usize, width: u32) -> BigUint {
    let mut all = Bits::default();
    // Zeros before it, so that it ends with a byte.
    all.push(0, (8 - width % 8) % 8);
    let mut done = 0;
    while done < width {
        let take = (width - done).min(64);
        all.push(number_at(bytes, at + done as usize, take), take);
        done += take;
    }
    BigUint::from_bytes_be(all.bytes())
}
