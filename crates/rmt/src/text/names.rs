//! Names of the parts of a program.

use crate::phv::Container;

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
