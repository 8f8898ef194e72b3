//! Keys and values as people write them.
//!
//! Items, joined by commas, in packet scripts and map files: `u8:1,be16:80,ip:10.0.0.1`. Words, as
//! bpftool takes them, on the command line: `key 10 0 0 1 value hex 00 ff`.

use super::update_flags;
use crate::MapSpec;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Most bytes that one key or value may have; the kernel takes no longer one of a hash map.
pub const MOST_BYTES: usize = 4 << 20;

const KINDS: &str = "u8:N, u16:N, u32:N, u64:N (little-endian), be16:N, be32:N, be64:N, ip:A.B.C.D, ip6:A::B, \
                     mac:01:23:45:67:89:ab, hex:00ff, zero:N";

/// Text that is no key or value: code E0435 for items, E0436 for words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotationError {
    /// In items.
    #[error("column {column}: found {found}, allowed: {allowed}")]
    Item {
        /// Column, from 1.
        column: usize,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// In words.
    #[error("word {word}: found {found}, allowed: {allowed}")]
    Word {
        /// Word, from 1.
        word: usize,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
}

impl NotationError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Item { .. } => "E0435",
            Self::Word { .. } => "E0436",
        }
    }

    /// Column of an item's error; 1 otherwise.
    pub fn column(&self) -> usize {
        match self {
            Self::Item { column, .. } => *column,
            Self::Word { .. } => 1,
        }
    }
}

fn bad(column: usize, found: &str, allowed: impl Into<String>) -> NotationError {
    NotationError::Item { column, found: quoted(found), allowed: allowed.into() }
}

/// What was found, not longer than a line, with control characters escaped: files may hold anything.
pub(super) fn quoted(text: &str) -> String {
    let printable = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let shown: String = text.chars().take(40).map(printable).collect();
    match text.chars().nth(40) {
        Some(_) => format!("`{shown}...`"),
        None if text.is_empty() => "nothing".to_owned(),
        None => format!("`{shown}`"),
    }
}

/// A value as a script writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// Its parts, one behind the other.
    Parts(Vec<Part>),
    /// `map:NAME`: an inner map.
    Map(String),
}

/// One part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// These bytes; of a per-CPU value on CPU 0.
    Bytes(Vec<u8>),
    /// `sum:N`: eight bytes, whose sum over the CPUs is this.
    Sum(u64),
}

impl Written {
    /// Reads items, `map:NAME` and `sum:N` among them.
    pub fn parse(text: &str) -> Result<Self, NotationError> {
        if let Some(name) = text.strip_prefix("map:") {
            let good = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.".contains(c));
            return if good { Ok(Self::Map(name.to_owned())) } else { Err(bad(5, name, "the name of a map")) };
        }
        let (mut parts, mut column, mut total) = (Vec::new(), 1, 0);
        for item in text.split(',') {
            let part = match item.strip_prefix("sum:") {
                Some(number) => Part::Sum(integer(column + 4, number, u64::MAX)?),
                None => Part::Bytes(item_bytes(column, item)?),
            };
            total += if let Part::Bytes(bytes) = &part { bytes.len() } else { 8 };
            if total > MOST_BYTES {
                return Err(bad(column, item, format!("{MOST_BYTES} bytes in all")));
            }
            match (parts.last_mut(), part) {
                (Some(Part::Bytes(before)), Part::Bytes(bytes)) => before.extend(bytes),
                (_, part) => parts.push(part),
            }
            column += item.chars().count() + 1;
        }
        Ok(Self::Parts(parts))
    }

    /// The bytes, if it has no sums and is no map.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Parts(parts) => match &parts[..] {
                [Part::Bytes(bytes)] => Some(bytes),
                [] => Some(&[]),
                _ => None,
            },
            Self::Map(_) => None,
        }
    }

    /// Bytes of its parts; none of `map:`.
    pub fn len(&self) -> usize {
        let Self::Parts(parts) = self else { return 0 };
        parts.iter().map(|part| if let Part::Bytes(bytes) = part { bytes.len() } else { 8 }).sum()
    }

    /// Whether it has no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a value, as [`super::MapSpace::user_lookup`] gives it, is as written. Never for `map:`.
    pub fn matches(&self, spec: &MapSpec, value: &[u8]) -> bool {
        let Self::Parts(parts) = self else { return false };
        let size = spec.value_size as usize;
        let stride = if spec.kind.is_per_cpu() { size.next_multiple_of(8) } else { value.len() };
        let mut at = 0;
        for part in parts {
            let len = match part {
                Part::Bytes(bytes) if value.get(at..at + bytes.len()) == Some(bytes) => bytes.len(),
                Part::Sum(sum) => {
                    let copies = value.chunks(stride.max(1)).filter_map(|copy| copy.get(at..)?.first_chunk::<8>());
                    let found = copies.fold(0u64, |sum, eight| sum.wrapping_add(u64::from_le_bytes(*eight)));
                    if found != *sum {
                        return false;
                    }
                    8
                }
                Part::Bytes(_) => return false,
            };
            at += len;
        }
        at == size
    }
}

/// Reads items that are plain bytes.
pub fn items(text: &str) -> Result<Vec<u8>, NotationError> {
    match Written::parse(text)? {
        Written::Parts(mut parts) if parts.len() == 1 => match parts.remove(0) {
            Part::Bytes(bytes) => Ok(bytes),
            Part::Sum(_) => Err(bad(1, text, KINDS)),
        },
        _ => Err(bad(1, text, KINDS)),
    }
}

fn item_bytes(column: usize, item: &str) -> Result<Vec<u8>, NotationError> {
    let Some((kind, text)) = item.split_once(':') else { return Err(bad(column, item, KINDS)) };
    let at = column + kind.chars().count() + 1;
    let number = |most| integer(at, text, most);
    Ok(match kind {
        "u8" => vec![number(u64::from(u8::MAX))? as u8],
        "u16" => (number(u64::from(u16::MAX))? as u16).to_le_bytes().to_vec(),
        "u32" => (number(u64::from(u32::MAX))? as u32).to_le_bytes().to_vec(),
        "u64" => number(u64::MAX)?.to_le_bytes().to_vec(),
        "be16" => (number(u64::from(u16::MAX))? as u16).to_be_bytes().to_vec(),
        "be32" => (number(u64::from(u32::MAX))? as u32).to_be_bytes().to_vec(),
        "be64" => number(u64::MAX)?.to_be_bytes().to_vec(),
        "ip" => text.parse::<Ipv4Addr>().map_err(|_| bad(at, text, "an IPv4 address"))?.octets().to_vec(),
        "ip6" => text.parse::<Ipv6Addr>().map_err(|_| bad(at, text, "an IPv6 address"))?.octets().to_vec(),
        "mac" => mac(text).ok_or_else(|| bad(at, text, "six bytes in hexadecimal with `:` between them"))?,
        "hex" => hex(text).ok_or_else(|| bad(at, text, "two hexadecimal digits for each byte"))?,
        "zero" => vec![0; number(MOST_BYTES as u64)? as usize],
        _ => return Err(bad(column, item, KINDS)),
    })
}

fn integer(column: usize, text: &str, most: u64) -> Result<u64, NotationError> {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric());
    // As in packet scripts, `_` may stand between digits.
    let joined = if text.starts_with('_') || text.ends_with('_') { text.to_owned() } else { text.replace('_', "") };
    let value = match joined.strip_prefix("0x") {
        Some(hex) if digits(hex) => u64::from_str_radix(hex, 16).ok(),
        None if digits(&joined) => joined.parse().ok(),
        _ => None,
    };
    value.filter(|&v| v <= most).ok_or_else(|| bad(column, text, format!("a number up to {most}, decimal or 0x...")))
}

fn mac(text: &str) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = text.split(':').take(7).map(byte16).collect::<Option<_>>()?;
    (bytes.len() == 6).then_some(bytes)
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() || pairs.len() > MOST_BYTES {
        return None;
    }
    pairs.iter().map(|pair| std::str::from_utf8(pair).ok().and_then(byte16)).collect()
}

fn byte16(text: &str) -> Option<u8> {
    let good = matches!(text.len(), 1 | 2) && text.bytes().all(|b| b.is_ascii_hexdigit());
    good.then(|| u8::from_str_radix(text, 16).ok()).flatten()
}

/// Bytes in items, for output that can be read again.
pub fn hex_item(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(4 + 2 * bytes.len());
    text.push_str("hex:");
    bytes.iter().for_each(|byte| text.push_str(&format!("{byte:02x}")));
    text
}

/// What a `map` command names, in bpftool's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Behind `key`.
    pub key: Option<Vec<u8>>,
    /// Behind `value`, as [`super::MapSpace::user_update`] takes it: each CPU gets the same.
    pub value: Option<Vec<u8>>,
    /// Behind `value name` or `value id`: an inner map.
    pub inner: Option<String>,
    /// `any`, `noexist` or `exist`.
    pub flags: u64,
}

impl Words {
    /// Reads `[key [hex] BYTES] [value [hex] BYTES | value name MAP] [any|noexist|exist]`. A byte is a
    /// number as C writes it: decimal, `0x` hexadecimal, octal with a leading 0; behind `hex` always
    /// hexadecimal. `key` and `value` may be shortened as bpftool allows, down to one letter.
    pub fn parse(words: &[&str], spec: &MapSpec, cpus: u32) -> Result<Self, NotationError> {
        let (mut read, mut at) = (Self::default(), 0);
        let mut flagged = false;
        while let Some(&word) = words.get(at) {
            let is = |name: &str| !word.is_empty() && name.starts_with(word);
            if is("key") && read.key.is_none() {
                at += 1;
                read.key = Some(bytes(words, &mut at, spec.key_size as usize, "key")?);
            } else if is("value") && read.value.is_none() && read.inner.is_none() {
                at += 1;
                if matches!(words.get(at), Some(&"name" | &"id")) {
                    let name = words.get(at + 1).ok_or_else(|| bad_word(at + 1, "", "the name of a map"))?;
                    read.inner = Some((*name).to_owned());
                    at += 2;
                    continue;
                }
                let one = bytes(words, &mut at, spec.value_size as usize, "value")?;
                read.value = Some(per_cpu(spec, cpus, one));
            } else if let (false, Some(flags)) = (flagged, flag(word)) {
                (read.flags, flagged, at) = (flags, true, at + 1);
            } else {
                return Err(bad_word(at, word, "`key`, `value`, `any`, `noexist` or `exist`, each once"));
            }
        }
        Ok(read)
    }
}

/// A value for every CPU, if the map has one for each.
pub fn per_cpu(spec: &MapSpec, cpus: u32, mut one: Vec<u8>) -> Vec<u8> {
    if !spec.kind.is_per_cpu() {
        return one;
    }
    one.resize(one.len().next_multiple_of(8), 0);
    one.repeat(cpus as usize)
}

/// Update flags by bpftool's name.
pub(super) fn flag(word: &str) -> Option<u64> {
    match word {
        "any" => Some(update_flags::ANY),
        "noexist" => Some(update_flags::NOEXIST),
        "exist" => Some(update_flags::EXIST),
        _ => None,
    }
}

fn bad_word(word: usize, found: &str, allowed: impl Into<String>) -> NotationError {
    NotationError::Word { word: word + 1, found: quoted(found), allowed: allowed.into() }
}

fn bytes(words: &[&str], at: &mut usize, count: usize, what: &str) -> Result<Vec<u8>, NotationError> {
    let only_hex = words.get(*at) == Some(&"hex");
    *at += usize::from(only_hex);
    let mut read = Vec::new();
    for n in 0..count {
        let word = words.get(*at).copied().unwrap_or("");
        let byte = if only_hex { byte16(word.strip_prefix("0x").unwrap_or(word)) } else { c_byte(word) };
        let form = if only_hex { "a hexadecimal byte" } else { "a byte: 0 to 255, 0x00 to 0xff" };
        let byte =
            byte.ok_or_else(|| bad_word(*at, word, format!("{form} ({} of the {count} of the {what})", n + 1)))?;
        read.push(byte);
        *at += 1;
    }
    Ok(read)
}

fn c_byte(word: &str) -> Option<u8> {
    if !word.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let hex = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
    match (hex, word.strip_prefix('0')) {
        (Some(hex), _) => u8::from_str_radix(hex, 16).ok(),
        (None, Some(octal)) if !octal.is_empty() => u8::from_str_radix(octal, 8).ok(),
        _ => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MapType;
    use crate::map::testing::spec;

    #[test]
    fn items_are_bytes_in_their_order() {
        let all = "u8:1,u16:0x102,u32:3,u64:4,be16:80,be32:1,be64:2,ip:10.0.0.1,mac:02:00:00:00:00:0a,hex:00fF,zero:2";
        let want = "010201030000000400000000000000\
                    0050000000010000000000000002\
                    0a00000102000000000a00ff0000";
        assert_eq!(hex_item(&items(all).unwrap()), format!("hex:{want}"));
        assert_eq!(items("ip6:fd00::1").unwrap()[..2], [0xfd, 0]);
        assert!(items("hex:").unwrap().is_empty());
    }

    #[test]
    fn a_wrong_item_is_shown_with_its_column() {
        let message = |text| items(text).unwrap_err().to_string();
        assert_eq!(
            message("u8:1,u16:65536"),
            "column 10: found `65536`, allowed: a number up to 65535, decimal or 0x..."
        );
        assert!(message("u9:1").starts_with("column 1: found `u9:1`, allowed: u8:N,"));
        assert!(message("u8:1,").starts_with("column 6: found nothing"));
        assert_eq!(message("hex:0"), "column 5: found `0`, allowed: two hexadecimal digits for each byte");
        for wrong in
            ["u8:+1", "u8:-1", "mac:1:2:3:4:5", "mac:1:2:3:4:5:6:7", "ip:1.2.3", "zero:99999999", "hex:é0", "map:x"]
        {
            assert_eq!(items(wrong).unwrap_err().code(), "E0435", "{wrong}");
        }
        assert!(items("zero:4194304,u8:1").is_err(), "bounded in all");
        assert_eq!(Written::parse("map:inner_1"), Ok(Written::Map("inner_1".to_owned())));
        assert!(Written::parse("map:").is_err());
    }

    #[test]
    fn sums_go_over_all_cpus_and_bytes_are_cpu_0s() {
        let per_cpu = spec(MapType::PercpuArray, 4, 12, 1);
        let value =
            [&1u64.to_le_bytes()[..], &[9, 0, 0, 0, 0, 0, 0, 0], &2u64.to_le_bytes(), &[8, 0, 0, 0, 0, 0, 0, 0]]
                .concat();
        let matches = |text: &str| Written::parse(text).unwrap().matches(&per_cpu, &value);
        assert!(matches("sum:3,u32:9") && matches("u64:1,u32:9"));
        assert!(
            !matches("sum:2,u32:9") && !matches("sum:3,u32:8") && !matches("sum:3") && !matches("sum:3,u32:9,u8:0")
        );
        let plain = spec(MapType::Hash, 4, 8, 1);
        assert!(Written::parse("sum:5").unwrap().matches(&plain, &5u64.to_le_bytes()));
    }

    #[test]
    fn words_are_bpftools() {
        let hash = spec(MapType::Hash, 4, 2, 1);
        let parse = |text: &str| Words::parse(&text.split_whitespace().collect::<Vec<_>>(), &hash, 2);
        let read = parse("key 10 0x0 010 255 value hex 00 ff noexist").unwrap();
        assert_eq!((read.key, read.value, read.flags), (Some(vec![10, 0, 8, 255]), Some(vec![0, 0xff]), 1));
        assert_eq!(parse("k 1 2 3 4").unwrap().key, Some(vec![1, 2, 3, 4]));
        assert_eq!(parse("value name inner key 1 2 3 4").unwrap().inner.as_deref(), Some("inner"));
        let error = parse("key 10 0 0 256").unwrap_err();
        assert_eq!(
            error.to_string(),
            "word 5: found `256`, allowed: a byte: 0 to 255, 0x00 to 0xff (4 of the 4 of the key)"
        );
        assert_eq!(error.code(), "E0436");
        for wrong in [
            "key 1 2 3",
            "key 1 2 3 4 5",
            "key hex 1 2 3 xy",
            "any any",
            "key 1 2 3 4 key 1 2 3 4",
            "key 1 2 3 -4",
            "key 08 1 1 1",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        let per_cpu = spec(MapType::PercpuHash, 4, 2, 1);
        assert_eq!(
            Words::parse(&["value", "1", "2"], &per_cpu, 2).unwrap().value.unwrap()[..10],
            [1, 2, 0, 0, 0, 0, 0, 0, 1, 2]
        );
    }
}
