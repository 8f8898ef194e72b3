//! Addresses as text in JSON, with errors that say what was found.

use serde::{Deserialize, Deserializer, Serializer, de};
use std::net::Ipv4Addr;

/// 02:00:00:00:00:01
pub(crate) fn mac(mac: &[u8; 6]) -> String {
    mac.map(|b| format!("{b:02x}")).join(":")
}

pub(crate) fn parse_mac(text: &str) -> Option<[u8; 6]> {
    let mut mac = [0; 6];
    let mut parts = text.split(':');
    for byte in &mut mac {
        let part = parts.next()?;
        if part.len() != 2 || !part.bytes().all(|c| c.is_ascii_hexdigit()) {
            return None;
        }
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(mac)
}

/// `Option<[u8; 6]>` as text.
pub(crate) mod optional_mac {
    use super::*;

    pub fn serialize<S: Serializer>(value: &Option<[u8; 6]>, s: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(m) => s.serialize_str(&mac(m)),
            None => s.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<[u8; 6]>, D::Error> {
        let text = String::deserialize(d)?;
        let wrong = || de::Error::custom(format!("`{text}` is no MAC address, expected 02:00:00:00:00:01"));
        parse_mac(&text).ok_or_else(wrong).map(Some)
    }
}

/// `Option<Ipv4Addr>` as text.
pub(crate) mod optional_ipv4 {
    use super::*;

    pub fn serialize<S: Serializer>(value: &Option<Ipv4Addr>, s: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(ip) => s.collect_str(ip),
            None => s.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Ipv4Addr>, D::Error> {
        let text = String::deserialize(d)?;
        let wrong = |_| de::Error::custom(format!("`{text}` is no IPv4 address, expected 10.0.0.1"));
        text.parse().map_err(wrong).map(Some)
    }
}
