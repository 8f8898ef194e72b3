//! Nodes of the configuration ring.

use crate::engine::{EngineId, FOLDERS, folder};
use crate::named::{self, Named};
use crate::target::Target;

/// A node of the configuration ring.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node {
    engine: Option<EngineId>,
    /// Place in the folder's list.
    at: u8,
    pub(crate) index: u8,
}

/// What there is to say of a node, or of several of one kind.
pub struct NodeInfo {
    /// Name in JSON and docs.
    pub name: &'static str,
    /// Number in messages, of the first.
    pub first: u8,
    /// How many a target has, where there are several.
    pub count: Option<fn(&Target) -> u32>,
}

impl Node {
    pub(crate) const fn place(engine: Option<EngineId>, at: u8, index: u8) -> Self {
        Self { engine, at, index }
    }

    fn info(self) -> &'static NodeInfo {
        &folder(self.engine).nodes[usize::from(self.at)]
    }

    /// The engine whose node it is; none for the NIC's own.
    pub fn engine(self) -> Option<EngineId> {
        self.engine
    }

    /// Which of several of its kind it is; 0 for the only one.
    pub fn index(self) -> u8 {
        self.index
    }

    /// Whether both are of one kind: two ports, two stages, or the same node.
    pub fn is_like(self, other: Node) -> bool {
        (self.engine, self.at) == (other.engine, other.at)
    }

    /// Whether a target may have several of its kind.
    pub fn is_one_of_several(self) -> bool {
        self.info().count.is_some()
    }

    /// Name with its number: `system`, `port3`.
    pub fn name(self) -> String {
        let name = self.kind();
        if self.is_one_of_several() { format!("{name}{}", self.index) } else { name.to_owned() }
    }

    /// Name of all nodes of its kind: `system`, `port`.
    pub fn kind(self) -> &'static str {
        self.info().name
    }

    /// Number in messages.
    pub fn number(self) -> u8 {
        // Numbers that would not fit: no target has so many.
        self.info().first.saturating_add(self.index)
    }

    /// Whether `target` has as many of its kind; not whether a device has the engine.
    pub fn is_on(self, target: &Target) -> bool {
        self.info().count.is_none_or(|count| u32::from(self.index) < count(target))
    }

    /// The node of this number on `target`.
    pub fn from_number(number: u8, target: &Target) -> Option<Self> {
        Self::every(target).into_iter().find(|n| n.number() == number)
    }

    /// Every node that all devices of `target` have, by rising number.
    pub fn all(target: &Target) -> Vec<Self> {
        let mut all = Self::every(target);
        all.retain(|n| folder(n.engine).everywhere);
        all
    }

    /// Every node that a device of `target` may have, by rising number.
    pub fn every(target: &Target) -> Vec<Self> {
        let count = |n: Node| n.info().count.map_or(1, |count| count(target)) as u8;
        let kinds = Self::kinds();
        let mut all: Vec<Node> =
            kinds.into_iter().flat_map(|n| (0..count(n)).map(move |index| Self { index, ..n })).collect();
        all.sort_by_key(|n| n.number());
        all
    }

    /// The first node of each kind, in the order of the registry.
    pub fn kinds() -> Vec<Self> {
        let of = |engine, nodes: &'static [NodeInfo]| (0..nodes.len()).map(move |at| Self::place(engine, at as u8, 0));
        FOLDERS.iter().flat_map(|f| of(f.engine, f.nodes)).collect()
    }
}

impl Named for Node {
    const TYPE: &'static str = "Node";

    fn all() -> Vec<Self> {
        Self::kinds()
    }
    fn name(&self) -> &'static str {
        self.kind()
    }
    fn index(&self) -> Option<u8> {
        self.is_one_of_several().then_some(self.index)
    }
    fn with_index(self, index: u8) -> Self {
        Self { index, ..self }
    }
}
named::serde!(Node);

/// The nodes of a folder: `NODES` for the registry and a name each in `Node`. Of several of a kind: how to ask a node for
/// its number, and how many a target has.
macro_rules! nodes {
    ($engine:expr; $( $(#[doc = $doc:literal])+ $name:ident $(($get:ident))? $text:literal = $first:literal $(, $count:expr)?; )+) => {
        enum NodeAt { $($name),+ }

        pub(crate) static NODES: &[$crate::address::NodeInfo] = &[ $(
            $crate::address::NodeInfo {
                name: $text,
                first: $first,
                count: $crate::address::count!($($count)?),
            }
        ),+ ];

        $( $crate::named::name!(Node, $engine, NodeAt::$name as u8, $name $(, $get)?; $($doc)+); )+
    };
}
pub(crate) use nodes;

/// How many nodes of a kind there are: none said, or a function of the target.
macro_rules! count {
    () => {
        None
    };
    ($count:expr) => {
        Some($count)
    };
}
pub(crate) use count;
