//! Where packets go, as objects say it: ports and host queues by number, no target's mask.

use crate::error::{ObjectError, bad};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sluice_formats::Target;
use std::fmt;
use std::str::FromStr;

/// Ports and host queues have numbers below this in every object.
pub const MAX_EACH: u8 = 8;

/// One destination. Not a bit of a destination mask: that depends on the target's ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Destination {
    /// Network port.
    Port(u8),
    /// Host queue.
    Host(u8),
}

impl Destination {
    /// Number on `target` (bit of a destination mask, ports first), if the target has it.
    pub fn number(self, target: &Target) -> Option<u8> {
        let (n, base, count) = match self {
            Self::Port(n) => (n, 0, target.ports),
            Self::Host(n) => (n, target.ports, target.hosts),
        };
        (u32::from(n) < count).then(|| (base + u32::from(n)) as u8)
    }

    /// The destination with this number on `target`.
    pub fn from_number(number: u8, target: &Target) -> Option<Self> {
        let n = u32::from(number);
        if n < target.ports {
            Some(Self::Port(number))
        } else {
            (n < target.destinations()).then(|| Self::Host((n - target.ports) as u8))
        }
    }

    /// Byte in binary objects: ports 0 to 7, host queues 8 to 15.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Port(n) => n,
            Self::Host(n) => MAX_EACH + n,
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        match code {
            0..MAX_EACH => Some(Self::Port(code)),
            MAX_EACH..16 => Some(Self::Host(code - MAX_EACH)),
            _ => None,
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(n) => write!(f, "port{n}"),
            Self::Host(n) => write!(f, "host{n}"),
        }
    }
}

impl FromStr for Destination {
    type Err = ObjectError;

    fn from_str(text: &str) -> Result<Self, ObjectError> {
        let wrong = || bad("destination", format!("`{text}`"), "port0 to port7 or host0 to host7");
        let (make, digits): (fn(u8) -> Self, &str) = match (text.strip_prefix("port"), text.strip_prefix("host")) {
            (Some(d), _) => (Self::Port, d),
            (_, Some(d)) => (Self::Host, d),
            _ => return Err(wrong()),
        };
        match digits.as_bytes() {
            [d @ b'0'..=b'7'] => Ok(make(d - b'0')),
            _ => Err(wrong()),
        }
    }
}

impl Serialize for Destination {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Destination {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}

/// A set of destinations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Destinations {
    /// Bit p: port p.
    pub ports: u8,
    /// Bit h: host queue h.
    pub hosts: u8,
}

impl Destinations {
    /// No destination: drop.
    pub const NONE: Destinations = Destinations { ports: 0, hosts: 0 };

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Whether `d` is in the set.
    pub fn contains(self, d: Destination) -> bool {
        match d {
            Destination::Port(n) => n < MAX_EACH && self.ports >> n & 1 == 1,
            Destination::Host(n) => n < MAX_EACH && self.hosts >> n & 1 == 1,
        }
    }

    /// Puts `d` into the set; numbers from `MAX_EACH` on do not exist and change nothing.
    pub fn insert(&mut self, d: Destination) {
        match d {
            Destination::Port(n) => self.ports |= 1u8.checked_shl(n.into()).unwrap_or(0),
            Destination::Host(n) => self.hosts |= 1u8.checked_shl(n.into()).unwrap_or(0),
        }
    }

    /// The destinations, ports first.
    pub fn iter(self) -> impl Iterator<Item = Destination> {
        let all = (0..MAX_EACH).map(Destination::Port).chain((0..MAX_EACH).map(Destination::Host));
        all.filter(move |d| self.contains(*d))
    }

    /// Destination mask on `target`; the first destination it does not have otherwise.
    pub fn mask(self, target: &Target) -> Result<u8, Destination> {
        self.iter().try_fold(0, |mask, d| d.number(target).map(|n| mask | 1 << n).ok_or(d))
    }

    /// The set of a mask on `target`; bits beyond its destinations are left out.
    pub fn from_mask(mask: u8, target: &Target) -> Self {
        (0..8).filter(|n| mask >> n & 1 == 1).filter_map(|n| Destination::from_number(n, target)).collect()
    }
}

impl FromIterator<Destination> for Destinations {
    fn from_iter<I: IntoIterator<Item = Destination>>(iter: I) -> Self {
        iter.into_iter().fold(Self::NONE, |mut set, d| {
            set.insert(d);
            set
        })
    }
}

impl fmt::Display for Destinations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(|d| d.to_string()).collect();
        f.write_str(&names.join(" "))
    }
}

impl Serialize for Destinations {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Destinations {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let mut set = Self::NONE;
        for one in Vec::<Destination>::deserialize(d)? {
            if set.contains(one) {
                return Err(de::Error::custom(format!("{one} stands twice, once is allowed")));
            }
            set.insert(one);
        }
        Ok(set)
    }
}
