//! Nodes and tables of the rmt pipeline on the configuration ring.
//!
//! An index has the row in bits 15:0. A write carries the whole row; a read asks for 8 words of it, the first
//! of which is 8 times bits 22:16. Bit 23 of a counter reads its value at the last snapshot.

use super::layout::Layout;
use super::rows::*;
use super::target::{MODULE_PAGES, NODES, NUMBERS, PATHS, PATTERNS, Target};
use crate::address::Access;
use crate::row::Row;
use crate::rows::GenerationRow;

/// Number of the parser's node.
pub const PARSER_NODE: u8 = 5;
/// Number of the deparser's node.
pub const DEPARSER_NODE: u8 = 6;
/// Number of the first stage's node.
pub const FIRST_STAGE_NODE: u8 = 32;
/// First bit of an index that says which 8 words of a row are read.
pub const SLICE_INDEX_BIT: u32 = 16;
/// Most words of a row.
pub const MOST_ROW_WORDS: usize = 80;

/// A node of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// Entrance: generations.
    Stamp,
    /// Parser.
    Parser,
    /// Groups, grants, deparser.
    Deparser,
    /// A stage.
    Stage(u8),
}

impl Node {
    /// Number in messages.
    pub fn number(self) -> u8 {
        match self {
            Self::Stamp => crate::address::Node::Stamp.number(),
            Self::Parser => PARSER_NODE,
            Self::Deparser => DEPARSER_NODE,
            Self::Stage(s) => FIRST_STAGE_NODE.saturating_add(s),
        }
    }

    /// Every node of a target.
    pub fn all(target: &Target) -> Vec<Self> {
        let stages = (0..target.stages as u8).map(Self::Stage);
        [Self::Stamp, Self::Parser].into_iter().chain(stages).chain([Self::Deparser]).collect()
    }

    /// The node of this number on a target.
    pub fn from_number(number: u8, target: &Target) -> Option<Self> {
        Self::all(target).into_iter().find(|n| n.number() == number)
    }
}

/// A table behind a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Table {
    /// `GenerationRow` by module.
    Generation,
    /// First `SelectRow` by 2 * module + generation.
    First,
    /// Node `SelectRow` by 4 * (2 * module + generation) + node.
    Node,
    /// `PathRow` by 16 * (2 * module + generation) + path.
    Path,
    /// `StageOwnerRow`, index 0.
    StageOwner,
    /// `KeyRow` by 2 * module + generation.
    Key,
    /// `ExactRow` by set, way 0 to 3.
    Exact(u8),
    /// `TernaryRow` by entry.
    Ternary,
    /// `DataRow`.
    Data,
    /// `ActionRow` by action row.
    Action,
    /// `PageRow` by 64 * (2 * module + generation) + page of the module.
    Page,
    /// `StateWordRow` by word.
    StateWord,
    /// `ZeroPageRow` by page of the stage.
    ZeroPage,
    /// Packets that met an entry, by hits_base + number.
    Hits,
    /// State accesses that were not done, by module.
    StateRange,
    /// `PatternsRow` by 2 * module + generation.
    Patterns,
    /// `DeparseRow` by beats * (16 * (2 * module + generation) + row) + beat.
    Deparse,
    /// `GroupRow` by group.
    Group,
    /// `GrantedRow` by module.
    Granted,
    /// Drops and copies by module * 16 + kind.
    Events,
}

impl Table {
    /// All tables.
    pub const ALL: [Table; 23] = [
        Self::Generation,
        Self::First,
        Self::Node,
        Self::Path,
        Self::StageOwner,
        Self::Key,
        Self::Exact(0),
        Self::Exact(1),
        Self::Exact(2),
        Self::Exact(3),
        Self::Ternary,
        Self::Data,
        Self::Action,
        Self::Page,
        Self::StateWord,
        Self::ZeroPage,
        Self::Hits,
        Self::StateRange,
        Self::Patterns,
        Self::Deparse,
        Self::Group,
        Self::Granted,
        Self::Events,
    ];

    /// Number within its node.
    pub fn number(self) -> u8 {
        match self {
            Self::First | Self::StageOwner | Self::Patterns => 0,
            Self::Generation | Self::Node | Self::Key | Self::Deparse => 1,
            Self::Path | Self::Group => 2,
            Self::Exact(way) => 2 + way,
            Self::Granted => 3,
            Self::Events => 4,
            Self::Ternary => 6,
            Self::Data => 7,
            Self::Action => 8,
            Self::Page => 9,
            Self::StateWord => 10,
            Self::ZeroPage => 11,
            Self::Hits => 12,
            Self::StateRange => 13,
        }
    }

    /// Whether a node holds this table.
    pub fn is_of(self, node: Node) -> bool {
        match self {
            Self::Generation => node == Node::Stamp,
            Self::First | Self::Node | Self::Path => node == Node::Parser,
            Self::Patterns | Self::Deparse | Self::Group | Self::Granted | Self::Events => node == Node::Deparser,
            _ => matches!(node, Node::Stage(_)),
        }
    }

    /// The table of this number behind a node.
    pub fn from_number(node: Node, number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.is_of(node) && t.number() == number)
    }

    /// Rows on a target.
    pub fn rows(self, target: &Target) -> usize {
        let banks = 2 * target.modules;
        match self {
            Self::Generation | Self::StateRange | Self::Granted => target.modules,
            Self::First | Self::Key | Self::Patterns => banks,
            Self::Node => NODES * banks,
            Self::Path => PATHS * banks,
            Self::StageOwner => 1,
            Self::Exact(_) => target.sets(),
            Self::Ternary => target.ternary,
            Self::Data => target.exact + target.ternary + banks,
            Self::Action => target.actions,
            Self::Page => MODULE_PAGES * banks,
            Self::StateWord => target.words,
            Self::ZeroPage => target.pages(),
            Self::Hits => NUMBERS,
            Self::Deparse => target.window_beats() * PATTERNS * banks,
            Self::Group => target.groups,
            Self::Events => 16 * target.modules,
        }
    }

    /// 32-bit words of one row.
    pub fn words(self) -> usize {
        match self {
            Self::Generation => GenerationRow::words(),
            Self::First | Self::Node => SelectRow::words(),
            Self::Path => PathRow::words(),
            Self::StageOwner => StageOwnerRow::words(),
            Self::Key => KeyRow::words(),
            Self::Exact(_) => ExactRow::words(),
            Self::Ternary => TernaryRow::words(),
            Self::Data => DataRow::words(),
            Self::Action => ActionRow::words(),
            Self::Page => PageRow::words(),
            Self::StateWord => StateWordRow::words(),
            Self::ZeroPage => ZeroPageRow::words(),
            Self::Patterns => PatternsRow::words(),
            Self::Deparse => DeparseRow::words(),
            Self::Group => GroupRow::words(),
            Self::Granted => GrantedRow::words(),
            Self::Hits | Self::StateRange | Self::Events => 2,
        }
    }

    /// Who may write it.
    pub fn access(self) -> Access {
        match self {
            Self::Hits | Self::StateRange | Self::Events => Access::Counter,
            _ => Access::ReadWrite,
        }
    }

    /// Name in docs and messages; in SystemVerilog `TableRmt` + this, camel case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generation => "generation",
            Self::First => "first",
            Self::Node => "node",
            Self::Path => "path",
            Self::StageOwner => "stage_owner",
            Self::Key => "key",
            Self::Exact(0) => "exact0",
            Self::Exact(1) => "exact1",
            Self::Exact(2) => "exact2",
            Self::Exact(_) => "exact3",
            Self::Ternary => "ternary",
            Self::Data => "data",
            Self::Action => "action",
            Self::Page => "page",
            Self::StateWord => "state_word",
            Self::ZeroPage => "zero_page",
            Self::Hits => "hits",
            Self::StateRange => "state_range",
            Self::Patterns => "patterns",
            Self::Deparse => "deparse",
            Self::Group => "group",
            Self::Granted => "granted",
            Self::Events => "events",
        }
    }
}

/// Kind of `Table::Events`, and the drop reason that a packet carries through the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// Above the module's rate limit.
    Rate = 0,
    /// A reconfiguration packet from a port.
    Reconfig = 1,
    /// No program in the packet's generation.
    NoModule = 2,
    /// No alternative matched.
    ParseReject = 3,
    /// Shorter than its path needs.
    ParseShort = 4,
    /// An action row or group of another module.
    RmtFault = 5,
    /// A program set discard.
    Discard = 6,
    /// No granted destination is left.
    NoDestination = 7,
    /// No pattern for path and headers.
    DeparseReject = 8,
    /// The outgoing packet is shorter than its row says.
    DeparseShort = 9,
    /// The outgoing packet is longer than the longest frame.
    DeparseLong = 10,
    /// The sideband's length is 0, above the longest frame or not that of what came, found within the window.
    BadLength = 11,
    /// What came ended before or behind the sideband's length, found behind the window: filled up or cut; no drop.
    Misfit = 12,
    /// Copies beyond the first; no drop.
    Copies = 15,
}

impl Event {
    /// All events.
    pub const ALL: [Event; 14] = [
        Self::Rate,
        Self::Reconfig,
        Self::NoModule,
        Self::ParseReject,
        Self::ParseShort,
        Self::RmtFault,
        Self::Discard,
        Self::NoDestination,
        Self::DeparseReject,
        Self::DeparseShort,
        Self::DeparseLong,
        Self::BadLength,
        Self::Misfit,
        Self::Copies,
    ];

    /// The event of this code.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|e| *e as u8 == code)
    }

    /// Name in counters, scripts and docs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Reconfig => "reconfig",
            Self::NoModule => "no_module",
            Self::ParseReject => "parse_reject",
            Self::ParseShort => "parse_short",
            Self::RmtFault => "rmt_fault",
            Self::Discard => "discard",
            Self::NoDestination => "no_destination",
            Self::DeparseReject => "deparse_reject",
            Self::DeparseShort => "deparse_short",
            Self::DeparseLong => "deparse_long",
            Self::BadLength => "bad_length",
            Self::Misfit => "misfit",
            Self::Copies => "copies",
        }
    }
}
