//! Ethernet addresses.

use std::fmt;
use std::str::FromStr;

/// A 48-bit Ethernet address, as on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// ff:ff:ff:ff:ff:ff
    pub const BROADCAST: MacAddr = MacAddr([0xff; 6]);

    /// Locally administered unicast address 02:00 followed by `n`.
    pub const fn local(n: u32) -> MacAddr {
        let [a, b, c, d] = n.to_be_bytes();
        MacAddr([0x02, 0, a, b, c, d])
    }

    /// The group address of an IPv4 multicast group (RFC 1112, section 6.4).
    pub const fn ipv4_multicast(group: std::net::Ipv4Addr) -> MacAddr {
        let [_, b, c, d] = group.octets();
        MacAddr([0x01, 0, 0x5e, b & 0x7f, c, d])
    }

    /// The group address of an IPv6 multicast group (RFC 2464, section 7).
    pub const fn ipv6_multicast(group: std::net::Ipv6Addr) -> MacAddr {
        let o = group.octets();
        MacAddr([0x33, 0x33, o[12], o[13], o[14], o[15]])
    }

    /// Whether the group bit is set: multicast or broadcast.
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// The address as a number, first byte most significant.
    pub const fn to_u64(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_be_bytes([0, 0, a, b, c, d, e, f])
    }

    /// The address of the low 48 bits of `n`.
    pub const fn from_u64(n: u64) -> MacAddr {
        let [_, _, a, b, c, d, e, f] = n.to_be_bytes();
        MacAddr([a, b, c, d, e, f])
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// The text is no Ethernet address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no Ethernet address, expected six bytes as in 02:00:00:00:00:01")]
pub struct BadMac(pub String);

impl FromStr for MacAddr {
    type Err = BadMac;

    fn from_str(text: &str) -> Result<Self, BadMac> {
        let bad = || BadMac(text.to_string());
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts.next().ok_or_else(bad)?;
            // `from_str_radix` would take a sign.
            if part.is_empty() || part.len() > 2 || !part.bytes().all(|c| c.is_ascii_hexdigit()) {
                return Err(bad());
            }
            *byte = u8::from_str_radix(part, 16).map_err(|_| bad())?;
        }
        if parts.next().is_some() {
            return Err(bad());
        }
        Ok(MacAddr(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_number_go_both_ways() {
        let mac: MacAddr = "02:0a:ff:00:7:10".parse().unwrap();
        assert_eq!(mac, MacAddr([2, 10, 255, 0, 7, 16]));
        assert_eq!(mac.to_string(), "02:0a:ff:00:07:10");
        assert_eq!(MacAddr::from_u64(mac.to_u64()), mac);
        assert_eq!(MacAddr::local(0x0102).to_string(), "02:00:00:00:01:02");
    }

    #[test]
    fn wrong_texts_are_refused_with_the_text_named() {
        for text in ["", "02:00", "02:00:00:00:00:0g", "1:2:3:4:5:6:7", "+1:2:3:4:5:6", "123:0:0:0:0:0"] {
            let error = text.parse::<MacAddr>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{text}`")));
        }
    }

    #[test]
    fn multicast_groups_map_to_their_addresses() {
        let v4 = MacAddr::ipv4_multicast("224.0.0.251".parse().unwrap());
        assert_eq!(v4.to_string(), "01:00:5e:00:00:fb");
        let v6 = MacAddr::ipv6_multicast("ff02::1:ff00:1".parse().unwrap());
        assert_eq!(v6.to_string(), "33:33:ff:00:00:01");
        assert!(v4.is_multicast() && v6.is_multicast() && !MacAddr::local(1).is_multicast());
    }
}
