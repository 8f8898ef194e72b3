//! What an object matches on: the kind of key, its byte mask, and masked keys.

use crate::error::{ObjectError, bad, bad_key};
use serde::{Deserialize, Serialize};
use sluice_formats::limits::KEY_BYTES;
use std::net::Ipv4Addr;

/// A masked key as the table compares it.
pub type KeyBytes = [u8; KEY_BYTES];

/// What a key is made of. Its code is the byte of binary objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyKind {
    /// No lookup: the default action always.
    None = 0,
    /// Destination MAC in key bytes 0 to 5.
    Dmac = 1,
    /// IPv4 source (0-3), destination (4-7), source port (8-9), destination port (10-11), protocol (12).
    FiveTuple = 2,
}

impl KeyKind {
    /// The kind with this code.
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::None, Self::Dmac, Self::FiveTuple].into_iter().find(|k| *k as u8 == code)
    }

    /// Name in objects, scripts and docs.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Dmac => "dmac",
            Self::FiveTuple => "five_tuple",
        }
    }
}

/// One field of a key: name, first byte, bytes.
pub type KeyField = (&'static str, usize, usize);

/// Fields of a kind of key, in the order of their bytes.
pub fn fields(kind: KeyKind) -> &'static [KeyField] {
    match kind {
        KeyKind::None => &[],
        KeyKind::Dmac => &[("dmac", 0, 6)],
        KeyKind::FiveTuple => &[("src", 0, 4), ("dst", 4, 4), ("sport", 8, 2), ("dport", 10, 2), ("protocol", 12, 1)],
    }
}

/// Kind of key and which of its bytes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeySpec {
    /// What the key is made of.
    pub kind: KeyKind,
    /// Bit i: byte i counts.
    pub mask: u16,
}

impl KeySpec {
    /// No lookup.
    pub const NONE: KeySpec = KeySpec { kind: KeyKind::None, mask: 0 };
    /// The whole destination MAC.
    pub const DMAC: KeySpec = KeySpec { kind: KeyKind::Dmac, mask: 0x3f };
    /// All 13 bytes of the IPv4 5-tuple.
    pub const FIVE_TUPLE: KeySpec = KeySpec { kind: KeyKind::FiveTuple, mask: 0x1fff };

    /// Every byte that the kind has.
    pub fn whole(kind: KeyKind) -> Self {
        let mask = fields(kind).iter().fold(0, |m, &(_, at, len)| m | ((1u16 << len) - 1) << at);
        Self { kind, mask }
    }

    /// A key of these fields: `dst` is the whole field, `dst[0]` its first byte.
    pub fn of_fields<S: AsRef<str>>(kind: KeyKind, names: &[S]) -> Result<Self, ObjectError> {
        if names.is_empty() && kind != KeyKind::None {
            return Err(bad("key.fields".to_owned(), "none".to_owned(), allowed_fields(kind)));
        }
        let mut mask = 0;
        for (i, name) in names.iter().enumerate() {
            let name = name.as_ref();
            let bits = field_bits(kind, name)
                .ok_or_else(|| bad(format!("key.fields[{i}]"), format!("`{name}`"), allowed_fields(kind)))?;
            if mask & bits != 0 {
                return Err(bad(format!("key.fields[{i}]"), format!("`{name}` again"), "each byte once"));
            }
            mask |= bits;
        }
        Ok(Self { kind, mask })
    }

    /// The shortest list of field names that gives the mask.
    pub fn field_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for &(name, at, len) in fields(self.kind) {
            if (0..len).all(|b| self.keeps(at + b)) {
                names.push(name.to_owned());
            } else {
                names.extend((0..len).filter(|b| self.keeps(at + b)).map(|b| format!("{name}[{b}]")));
            }
        }
        names
    }

    /// Whether byte `i` counts.
    pub fn keeps(&self, i: usize) -> bool {
        i < KEY_BYTES && self.mask >> i & 1 == 1
    }

    /// The key with every byte that does not count 0.
    pub fn masked(&self, key: KeyBytes) -> KeyBytes {
        std::array::from_fn(|i| if self.keeps(i) { key[i] } else { 0 })
    }

    /// The mask has bytes of the kind only.
    pub(crate) fn check(&self) -> Result<(), ObjectError> {
        let whole = Self::whole(self.kind).mask;
        if self.mask & !whole != 0 {
            return Err(bad("key.mask", format!("{:#06x}", self.mask), format!("bits of {whole:#06x}")));
        }
        Ok(())
    }

    /// The key is masked.
    pub(crate) fn check_key(&self, key: &KeyBytes) -> Result<(), ObjectError> {
        let Some(i) = (0..KEY_BYTES).find(|&i| !self.keeps(i) && key[i] != 0) else { return Ok(()) };
        let (name, at) = fields(self.kind)
            .iter()
            .find(|(_, at, len)| (*at..at + len).contains(&i))
            .map_or(("key", 0), |&(name, at, _)| (name, at));
        let found = format!("{:#04x} in byte {}", key[i], i - at);
        Err(bad_key(format!("match.{name}"), found, "0 in every byte that the key's fields leave out"))
    }
}

fn allowed_fields(kind: KeyKind) -> String {
    let names: Vec<&str> = fields(kind).iter().map(|f| f.0).collect();
    match names.first() {
        None => format!("no field for key kind {}", kind.name()),
        Some(first) => format!("{}, or one byte of a field as in {first}[0]", names.join(", ")),
    }
}

fn field_bits(kind: KeyKind, name: &str) -> Option<u16> {
    let (field, byte) = match name.strip_suffix(']') {
        None => (name, None),
        Some(rest) => rest.split_once('[').map(|(f, b)| (f, Some(b)))?,
    };
    let &(_, at, len) = fields(kind).iter().find(|f| f.0 == field)?;
    match byte {
        None => Some(((1 << len) - 1) << at),
        Some(b) => {
            let b = b.parse::<usize>().ok().filter(|n| *n < len && b.len() == 1)?;
            Some(1 << (at + b))
        }
    }
}

/// A key as JSON names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// Destination MAC.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::text::optional_mac")]
    pub dmac: Option<[u8; 6]>,
    /// IPv4 source.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::text::optional_ipv4")]
    pub src: Option<Ipv4Addr>,
    /// IPv4 destination.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::text::optional_ipv4")]
    pub dst: Option<Ipv4Addr>,
    /// Source port of TCP or UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sport: Option<u16>,
    /// Destination port of TCP or UDP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dport: Option<u16>,
    /// IPv4 protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u8>,
}

impl Match {
    fn bytes_of(&self, field: &str) -> Option<Vec<u8>> {
        match field {
            "dmac" => self.dmac.map(|m| m.to_vec()),
            "src" => self.src.map(|a| a.octets().to_vec()),
            "dst" => self.dst.map(|a| a.octets().to_vec()),
            "sport" => self.sport.map(|p| p.to_be_bytes().to_vec()),
            "dport" => self.dport.map(|p| p.to_be_bytes().to_vec()),
            _ => self.protocol.map(|p| vec![p]),
        }
    }

    /// The masked key; every field that the mask keeps is given, no other is.
    pub fn key(&self, spec: &KeySpec) -> Result<KeyBytes, ObjectError> {
        let mut key = [0; KEY_BYTES];
        let all = [KeyKind::Dmac, KeyKind::FiveTuple];
        for (kind, &(name, at, len)) in all.iter().flat_map(|k| fields(*k).iter().map(move |f| (*k, f))) {
            let wanted = kind == spec.kind && (at..at + len).any(|i| spec.keeps(i));
            match (self.bytes_of(name), wanted) {
                (Some(bytes), true) => key[at..at + len].copy_from_slice(&bytes),
                (None, false) => {}
                (None, true) => {
                    return Err(bad_key(format!("match.{name}"), "nothing", "a value: the key has the field"));
                }
                (Some(_), false) => {
                    return Err(bad_key(
                        format!("match.{name}"),
                        "a value",
                        "nothing: the key does not have the field",
                    ));
                }
            }
        }
        spec.check_key(&key)?;
        Ok(key)
    }

    /// The fields of a masked key.
    pub fn from_key(spec: &KeySpec, key: &KeyBytes) -> Self {
        let has = |at: usize, len: usize| (at..at + len).any(|i| spec.keeps(i));
        match spec.kind {
            KeyKind::None => Self::default(),
            KeyKind::Dmac => {
                Self { dmac: has(0, 6).then(|| [key[0], key[1], key[2], key[3], key[4], key[5]]), ..Self::default() }
            }
            KeyKind::FiveTuple => Self {
                dmac: None,
                src: has(0, 4).then(|| Ipv4Addr::new(key[0], key[1], key[2], key[3])),
                dst: has(4, 4).then(|| Ipv4Addr::new(key[4], key[5], key[6], key[7])),
                sport: has(8, 2).then(|| u16::from_be_bytes([key[8], key[9]])),
                dport: has(10, 2).then(|| u16::from_be_bytes([key[10], key[11]])),
                protocol: has(12, 1).then_some(key[12]),
            },
        }
    }
}

/// A key as people read it.
pub fn describe(spec: &KeySpec, key: &KeyBytes) -> String {
    let m = Match::from_key(spec, key);
    let parts = [
        m.dmac.map(|v| format!("dmac={}", crate::text::mac(&v))),
        m.src.map(|v| format!("src={v}")),
        m.dst.map(|v| format!("dst={v}")),
        m.sport.map(|v| format!("sport={v}")),
        m.dport.map(|v| format!("dport={v}")),
        m.protocol.map(|v| format!("protocol={v}")),
    ];
    let text: Vec<String> = parts.into_iter().flatten().collect();
    if text.is_empty() { "any".to_owned() } else { text.join(" ") }
}
