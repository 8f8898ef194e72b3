//! The engines that a NIC may have, by number and name.

use crate::address::{Node, Table};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use std::fmt;

/// An engine. Its number stands in loads, its name in objects, errors and capabilities; neither changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EngineId(u8);

impl EngineId {
    /// XDP programs.
    pub const XDP: EngineId = EngineId(0);
    /// The match-action pipeline.
    pub const RMT: EngineId = EngineId(1);
    /// All engines, in the order of their numbers.
    pub const ALL: [EngineId; 2] = [Self::XDP, Self::RMT];

    /// Number in loads.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Name everywhere else.
    pub fn name(self) -> &'static str {
        ["xdp", "rmt"][usize::from(self.0)]
    }

    /// The engine of this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.number() == number)
    }

    /// The engine of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == name)
    }
}

impl Node {
    /// The engine whose node it is; none of the NIC's own.
    pub fn engine(self) -> Option<EngineId> {
        match self {
            Self::Xdp => Some(EngineId::XDP),
            Self::Parser | Self::Deparser | Self::Stage(_) => Some(EngineId::RMT),
            Self::System | Self::Stamp | Self::Egress | Self::Port(_) => None,
        }
    }
}

impl Table {
    /// The engine whose table it is; none of the NIC's own.
    pub fn engine(self) -> Option<EngineId> {
        if self == Self::XdpDrops { Some(EngineId::XDP) } else { self.is_rmt().then_some(EngineId::RMT) }
    }
}

impl fmt::Display for EngineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for EngineId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for EngineId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        Self::by_name(&name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            D::Error::custom(format!("engine `{}`, allowed: {known}", name.escape_default()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_found_by_number_and_name_and_own_their_nodes() {
        for engine in EngineId::ALL {
            let found = (EngineId::from_number(engine.number()), EngineId::by_name(engine.name()));
            assert_eq!(found, (Some(engine), Some(engine)));
        }
        for table in Table::ALL {
            let nodes = [Node::Xdp, Node::Parser, Node::Deparser, Node::Stage(0), Node::Egress, Node::Port(1)];
            for node in nodes.into_iter().filter(|n| table.is_of(*n)) {
                assert_eq!(table.engine(), node.engine(), "{table:?}");
            }
        }
    }
}
