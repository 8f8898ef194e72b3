//! Why the pipeline dropped a packet.

/// Reason of a drop; docs/design/rmt.md, "Drop reasons".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// No program in the packet's generation.
    NoModule,
    /// No alternative of a selection matched.
    ParseReject,
    /// Shorter than its path needs.
    ParseShort,
    /// An action row or group of another module.
    Fault,
    /// A program set discard.
    Discard,
    /// No granted destination is left.
    NoDestination,
    /// No pattern for the packet's path and headers.
    DeparseReject,
    /// The outgoing packet is shorter than its deparse row says.
    DeparseShort,
    /// The outgoing packet is longer than any may be.
    DeparseLong,
}

impl Reason {
    /// Name in counters, scripts and docs.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoModule => "no_module",
            Self::ParseReject => "parse_reject",
            Self::ParseShort => "parse_short",
            Self::Fault => "rmt_fault",
            Self::Discard => "discard",
            Self::NoDestination => "no_destination",
            Self::DeparseReject => "deparse_reject",
            Self::DeparseShort => "deparse_short",
            Self::DeparseLong => "deparse_long",
        }
    }
}
