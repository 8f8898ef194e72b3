//! Keys, values and events of maps as scripts write them: items with commas between them.

use super::ScriptFailure;
use sluice_packet::mac::MacAddr;
use std::net::{Ipv4Addr, Ipv6Addr};

const ITEMS: &str = "items such as u8:1, u16:80, u32:5, u64:7, be16:80, be32:1, be64:1, ip:10.0.0.1, ip6:fd00::1, \
                     mac:02:00:00:00:00:01, hex:00ff, zero:4, map:NAME";
/// Most bytes of one `zero:N`.
const MOST_ZEROS: usize = 1 << 20;

/// A piece of what is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Bytes(Vec<u8>),
    /// The sum of the eight bytes here over all processors.
    Sum(u64),
}

impl Piece {
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Sum(_) => 8,
        }
    }
}

/// Reads items; `map` gives the ID of a map by its name.
pub(super) fn pieces(text: &str, map: impl Fn(&str) -> Option<u32>) -> Result<Vec<Piece>, ScriptFailure> {
    text.split(',').map(|item| piece(item, &map).ok_or_else(|| wrong(item, ITEMS))).collect()
}

/// The bytes of items without a sum.
pub(super) fn bytes(text: &str, map: impl Fn(&str) -> Option<u32>) -> Result<Vec<u8>, ScriptFailure> {
    let mut all = Vec::new();
    for piece in pieces(text, map)? {
        match piece {
            Piece::Bytes(bytes) => all.extend(bytes),
            Piece::Sum(n) => return Err(wrong(&format!("sum:{n}"), "a sum only where a value is expected")),
        }
    }
    Ok(all)
}

fn wrong(item: &str, allowed: &str) -> ScriptFailure {
    ScriptFailure::value("item", format!("`{}`", item.escape_default()), allowed)
}

fn piece(item: &str, map: &impl Fn(&str) -> Option<u32>) -> Option<Piece> {
    let (kind, value) = item.split_once(':')?;
    let bytes = match kind {
        "u8" => vec![number(value)?],
        "u16" => number::<u16>(value)?.to_le_bytes().to_vec(),
        "u32" => number::<u32>(value)?.to_le_bytes().to_vec(),
        "u64" => number::<u64>(value)?.to_le_bytes().to_vec(),
        "be16" => number::<u16>(value)?.to_be_bytes().to_vec(),
        "be32" => number::<u32>(value)?.to_be_bytes().to_vec(),
        "be64" => number::<u64>(value)?.to_be_bytes().to_vec(),
        "ip" => value.parse::<Ipv4Addr>().ok()?.octets().to_vec(),
        "ip6" => value.parse::<Ipv6Addr>().ok()?.octets().to_vec(),
        "mac" => value.parse::<MacAddr>().ok()?.0.to_vec(),
        "hex" => hex(value)?,
        "zero" => vec![0; number::<u32>(value).map(|n| n as usize).filter(|n| *n <= MOST_ZEROS)?],
        "map" => map(value)?.to_le_bytes().to_vec(),
        "sum" => return number(value).map(Piece::Sum),
        _ => return None,
    };
    Some(Piece::Bytes(bytes))
}

/// Decimal or 0x, with `_` between digits.
fn number<T: TryFrom<u64>>(text: &str) -> Option<T> {
    let plain = text.replace('_', "");
    let value = match plain.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => plain.parse().ok()?,
    };
    T::try_from(value).ok()
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| (c as char).to_digit(16).map(|d| d as u8);
    text.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// The items' bytes as digits, for messages.
pub(super) fn shown(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().take(64).map(|b| format!("{b:02x}")).collect();
    let more = if bytes.len() > 64 { format!("... ({} bytes)", bytes.len()) } else { String::new() };
    format!("hex:{digits}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_the_bytes_that_the_guide_says() {
        let map = |name: &str| (name == "inner").then_some(3);
        let of = |text| bytes(text, map).map_err(|e| e.to_string());
        assert_eq!(of("u8:1,u16:0x102,u32:5").unwrap(), [1, 2, 1, 5, 0, 0, 0]);
        assert_eq!(of("u64:1_000").unwrap(), [0xe8, 3, 0, 0, 0, 0, 0, 0]);
        assert_eq!(of("be16:80,be32:1,be64:2").unwrap(), [0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!(of("ip:10.0.0.1,mac:02:00:00:00:00:01").unwrap(), [10, 0, 0, 1, 2, 0, 0, 0, 0, 1]);
        assert_eq!(of("ip6:fd00::1").unwrap()[..2], [0xfd, 0]);
        assert_eq!(of("hex:00fF,zero:2,map:inner").unwrap(), [0, 255, 0, 0, 3, 0, 0, 0]);
        for bad in ["u8:256", "u32", "hex:0", "hex:0g", "ip:10.0.0", "map:none", "sum:1", "zero:99999999", "x:1", ""] {
            assert!(of(bad).is_err(), "{bad}");
        }
        assert_eq!(pieces("u8:1,sum:9", map).unwrap(), [Piece::Bytes(vec![1]), Piece::Sum(9)]);
    }
}
