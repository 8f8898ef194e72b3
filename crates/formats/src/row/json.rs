//! Rows in JSON: what is zero is left out.

use super::bits::Bits;
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

/// The JSON form of a field.
pub fn serialize<T: Bits, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
    value.to_json(to)
}

/// Reads it.
pub fn deserialize<'de, T: Bits, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::from_json(from)
}

/// An element of a list, on its way out.
pub(super) struct Element<'a, T>(pub &'a T);

impl<T: Bits> Serialize for Element<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.to_json(to)
    }
}

/// An element of a list, on its way in.
pub(super) struct Given<T>(pub T);

impl<'de, T: Bits> Deserialize<'de> for Given<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::from_json(from).map(Given)
    }
}

/// One hexadecimal number, the last byte most significant.
pub(super) fn wide_text(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().rev().map(|b| format!("{b:02x}")).collect();
    format!("0x{:0>1}", digits.trim_start_matches('0'))
}

/// Reads it, with as many digits as fit.
pub(super) fn wide_from_text<const N: usize>(text: &str) -> Result<[u8; N], String> {
    let digits = text.strip_prefix("0x").map(str::as_bytes).filter(|d| !d.is_empty() && d.len() <= 2 * N);
    let digit = |c: u8| (c as char).to_digit(16).filter(|_| !c.is_ascii_uppercase()).map(|d| d as u8);
    let values: Option<Vec<u8>> = digits.and_then(|d| d.iter().rev().map(|&c| digit(c)).collect());
    let values = values.ok_or_else(|| {
        let shown: String = text.chars().take(2 * N + 3).collect();
        format!("`{}` is no number, expected 0x and 1 to {} digits 0 to 9, a to f", shown.escape_default(), 2 * N)
    })?;
    let nibble = |i: usize| values.get(i).copied().unwrap_or(0);
    Ok(std::array::from_fn(|i| nibble(2 * i) | nibble(2 * i + 1) << 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_numbers_are_read_as_they_are_written() {
        for bytes in [[0; 3], [1, 0, 0], [0, 0, 0x80], [0x12, 0x34, 0x56]] {
            assert_eq!(wide_from_text(&wide_text(&bytes)), Ok(bytes));
        }
        assert_eq!(wide_text(&[0x34, 0x12, 0]), "0x1234");
        for wrong in ["", "0x", "12", "0xg", "0xA", "0x1234567"] {
            assert!(wide_from_text::<3>(wrong).is_err(), "{wrong}");
        }
    }
}
