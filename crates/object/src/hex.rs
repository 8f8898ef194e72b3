//! Bytes as hexadecimal digits in JSON, with errors that say what was found.

use serde::{Deserialize, Deserializer, Serializer, de};
use std::fmt::Write;

fn text(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn parse<E: de::Error>(text: &str) -> Result<Vec<u8>, E> {
    let digit = |c: u8| (c as char).to_digit(16).filter(|_| !c.is_ascii_uppercase()).map(|d| d as u8);
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
    bytes.ok_or_else(|| {
        let shown: String = text.chars().take(32).collect();
        E::custom(format!("`{shown}` is no row of bytes, expected pairs of digits 0 to 9, a to f"))
    })
}

/// `Vec<u8>`.
pub(crate) mod bytes {
    use super::*;

    pub fn serialize<S: Serializer>(value: &[u8], s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&text(value))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
        parse(&String::deserialize(d)?)
    }
}

/// `Option<Vec<u8>>`.
pub(crate) mod optional {
    use super::*;

    pub fn serialize<S: Serializer>(value: &Option<Vec<u8>>, s: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(bytes) => s.serialize_str(&text(bytes)),
            None => s.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Vec<u8>>, D::Error> {
        parse(&String::deserialize(d)?).map(Some)
    }
}

/// Instruction slots, each as its eight bytes.
pub(crate) mod slots {
    use super::*;

    pub fn serialize<S: Serializer>(value: &[u64], s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(value.iter().map(|slot| text(&slot.to_le_bytes())))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u64>, D::Error> {
        let slot = |text: &String| {
            let bytes: Vec<u8> = parse(text)?;
            let wrong = |_| de::Error::custom(format!("`{text}` is no slot, expected the 16 digits of its 8 bytes"));
            <[u8; 8]>::try_from(bytes).map(u64::from_le_bytes).map_err(wrong)
        };
        Vec::<String>::deserialize(d)?.iter().map(slot).collect()
    }
}
