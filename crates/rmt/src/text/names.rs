//! What a text says beyond its program: names, demands, groups.

use crate::phv::Container;
use std::collections::BTreeMap;
use std::fmt;

/// Bits of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// The container.
    pub container: Container,
    /// Lowest bit.
    pub lo: u8,
    /// Number of bits.
    pub width: u8,
}

impl Bits {
    /// All of a container.
    pub fn whole(container: Container) -> Self {
        Self { container, lo: 0, width: container.class().bits() as u8 }
    }

    /// Whether it is all of the container.
    pub fn is_whole(self) -> bool {
        self == Self::whole(self.container)
    }

    /// Its bits in the container.
    pub fn mask(self) -> u64 {
        ((1u64 << self.width) - 1) << self.lo
    }
}

/// A parameter of an action: bytes of the action data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// First byte, even.
    pub at: u8,
    /// 2, 4 or 6.
    pub bytes: u8,
}

/// A rate as a meter's declaration says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeterRate {
    /// Packets or bits a second.
    pub rate: u64,
    /// By packets, otherwise by bits.
    pub packets: bool,
    /// Packets or bytes at once.
    pub burst: u64,
}

/// State words with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryName {
    /// Name.
    pub name: String,
    /// First word.
    pub base: u16,
    /// Number of words, a power of two.
    pub words: u16,
    /// What it meters, if it does.
    pub meter: Option<MeterRate>,
}

/// Names of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionNames {
    /// Name.
    pub name: String,
    /// Parameters.
    pub parameters: Vec<Parameter>,
}

/// Names of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageNames {
    /// Of the two conditions.
    pub conditions: [Option<String>; 2],
    /// Of the two predicates.
    pub predicates: [Option<String>; 2],
    /// State words.
    pub memories: Vec<MemoryName>,
    /// Actions, by position.
    pub actions: Vec<ActionNames>,
}

/// Names of a program; where one is missing, printing makes one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The module's.
    pub module: String,
    /// Containers and bits of them, in the order of their declaration.
    pub containers: Vec<(String, Bits)>,
    /// Headers.
    pub headers: Vec<(String, u8)>,
    /// Nodes of the parser, by position.
    pub nodes: Vec<Option<String>>,
    /// Paths, by position.
    pub paths: Vec<String>,
    /// Deparser rows, by position.
    pub rows: Vec<String>,
    /// Groups, by number.
    pub groups: Vec<(String, u16)>,
    /// By stage.
    pub stages: Vec<StageNames>,
}

/// A port or host queue by number, on no target yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Destination {
    /// Network port.
    Port(u8),
    /// Host queue.
    Host(u8),
}

impl Destination {
    /// `port0` to `port7`, `host0` to `host7`.
    pub fn parse(text: &str) -> Option<Self> {
        let digit = |d: &str| match d.as_bytes() {
            [d @ b'0'..=b'7'] => Some(d - b'0'),
            _ => None,
        };
        match (text.strip_prefix("port"), text.strip_prefix("host")) {
            (Some(d), _) => digit(d).map(Self::Port),
            (_, Some(d)) => digit(d).map(Self::Host),
            _ => None,
        }
    }

    /// Its bit in a destination mask of the target: ports first.
    pub fn bit(self, target: &sluice_formats::Target) -> Option<u8> {
        let (n, base, count) = match self {
            Self::Port(n) => (n, 0, target.ports),
            Self::Host(n) => (n, target.ports, target.hosts),
        };
        (u32::from(n) < count && base + u32::from(n) < 8).then(|| (base + u32::from(n)) as u8)
    }

    /// The destination of a bit of a destination mask.
    pub fn of_bit(bit: u8, target: &sluice_formats::Target) -> Option<Self> {
        let n = u32::from(bit);
        if n < target.ports {
            return Some(Self::Port(bit));
        }
        (n < target.destinations()).then(|| Self::Host((n - target.ports) as u8))
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

/// What a tenant has to be given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// Scheduling weight in bytes; 0 takes any.
    pub quantum: u16,
    /// Bits a second and bytes at once; none takes any.
    pub rate: Option<(u64, u32)>,
    /// Destinations it uses, with the cells it needs at each.
    pub queues: BTreeMap<Destination, u16>,
}

/// A multicast group that the module brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRow {
    /// Number.
    pub number: u16,
    /// Destinations, with the tag of the copy to each.
    pub members: BTreeMap<Destination, u16>,
}
