//! What is special to the tables of the rmt pipeline: their nodes, slices of their rows, events.

use super::target::Target;
use crate::address::Node;
use crate::reason::{FIRST_RMT_REASON, Reason};

/// First bit of an index that says which 8 words of a row are read.
pub const SLICE_INDEX_BIT: u32 = 16;

/// Nodes of the pipeline: the stamp, the parser, the stages, the deparser.
pub fn nodes(target: &Target) -> Vec<Node> {
    let stages = (0..target.stages as u8).map(Node::Stage);
    [Node::Stamp, Node::Parser].into_iter().chain(stages).chain([Node::Deparser]).collect()
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

    /// The drop reason that it counts; none for those that are no drop.
    pub fn reason(self) -> Option<Reason> {
        Reason::from_code(FIRST_RMT_REASON + self as u8)
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
