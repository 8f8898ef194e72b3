//! Why packets are dropped, and where it is counted.

use crate::address::Table;
use crate::rmt::tables::Event;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The port's ingress FIFO had no room for the whole packet.
    Overload = 0,
    /// Unmapped VLAN, or untagged where the port takes none.
    Unmapped = 1,
    /// Shorter than the port's `min_frame`.
    Runt = 2,
    /// Longer than the port's `max_frame`.
    Giant = 3,
    /// The MAC marked the frame bad, or its byte enables have a hole.
    BadFrame = 4,
    /// A second tag where the port takes none.
    DoubleTag = 5,
    /// The queue's cell limit.
    TailLimit = 16,
    /// The queue holds as many packets as it can.
    TailPackets = 17,
    /// The shared buffer has no room for the whole packet.
    TailBuffer = 18,
    /// The XDP program said drop.
    XdpDrop = 24,
    /// The XDP program said aborted, or a fault ended it.
    XdpAborted = 25,
    /// The XDP program made the frame longer than the NIC takes.
    XdpTooLong = 26,
    /// The module's rate limit.
    Rate = 32,
    /// A reconfiguration packet (UDP port 0xf1f2) from a port.
    Reconfig = 33,
    /// The module has no program in the packet's generation.
    NoModule = 34,
    /// No alternative of the parser matched.
    ParseReject = 35,
    /// Shorter than its parse path needs.
    ParseShort = 36,
    /// An action row or group of another module.
    RmtFault = 37,
    /// The program, or the table's entry or default, said drop.
    Discard = 38,
    /// No granted destination is left, or an XDP program's redirect leads nowhere.
    NoDestination = 39,
    /// No deparse pattern for path and headers.
    DeparseReject = 40,
    /// The outgoing packet is shorter than its deparse row says.
    DeparseShort = 41,
    /// The outgoing packet is longer than the longest frame.
    DeparseLong = 42,
    /// The packet is not as long as its sideband says.
    BadLength = 43,
}

/// Code of the first reason of the rmt pipeline; its kinds of `rmt::tables::Event` follow.
pub const FIRST_RMT_REASON: u8 = 32;

impl Reason {
    /// All reasons.
    pub const ALL: [Reason; 24] = [
        Self::Overload,
        Self::Unmapped,
        Self::Runt,
        Self::Giant,
        Self::BadFrame,
        Self::DoubleTag,
        Self::TailLimit,
        Self::TailPackets,
        Self::TailBuffer,
        Self::XdpDrop,
        Self::XdpAborted,
        Self::XdpTooLong,
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
    ];

    /// The reason with this code.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|r| *r as u8 == code)
    }

    /// Name in counters, scripts, JSON and docs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overload => "overload",
            Self::Unmapped => "unmapped",
            Self::Runt => "runt",
            Self::Giant => "giant",
            Self::BadFrame => "bad_frame",
            Self::DoubleTag => "double_tag",
            Self::TailLimit => "tail_limit",
            Self::TailPackets => "tail_packets",
            Self::TailBuffer => "tail_buffer",
            Self::XdpDrop => "xdp_drop",
            Self::XdpAborted => "xdp_aborted",
            Self::XdpTooLong => "xdp_too_long",
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
        }
    }

    /// The reason of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }

    /// What it means, for docs and `--help`.
    pub fn doc(self) -> &'static str {
        match self {
            Self::Overload => "the port's ingress FIFO had no room for the whole packet",
            Self::Unmapped => "unmapped VLAN, or untagged where the port takes none",
            Self::Runt => "shorter than the port's min_frame",
            Self::Giant => "longer than the port's max_frame",
            Self::BadFrame => "marked bad by the MAC, or byte enables with a hole",
            Self::DoubleTag => "a second tag where the port takes none",
            Self::TailLimit => "the queue's cell limit was reached",
            Self::TailPackets => "the queue held as many packets as it can",
            Self::TailBuffer => "the shared buffer had no room for the whole packet",
            Self::XdpDrop => "the XDP program said drop",
            Self::XdpAborted => "the XDP program said aborted, or a fault ended it",
            Self::XdpTooLong => "the XDP program made the frame longer than the NIC takes",
            Self::Rate => "above the module's rate limit",
            Self::Reconfig => "a reconfiguration packet (UDP port 0xf1f2) from a port",
            Self::NoModule => "the module has no program in the packet's generation",
            Self::ParseReject => "no alternative of the parser matched",
            Self::ParseShort => "shorter than its parse path needs",
            Self::RmtFault => "an action row or group of another module",
            Self::Discard => "the program, or the table's entry or default, said drop",
            Self::NoDestination => "no granted destination is left, or a program's redirect leads nowhere",
            Self::DeparseReject => "no deparse pattern for path and headers",
            Self::DeparseShort => "the outgoing packet is shorter than its deparse row says",
            Self::DeparseLong => "the outgoing packet is longer than the longest frame",
            Self::BadLength => "the packet is not as long as its sideband says",
        }
    }

    /// The rmt pipeline's kind of the reason, if it is one of its own.
    pub fn event(self) -> Option<Event> {
        (self as u8).checked_sub(FIRST_RMT_REASON).and_then(Event::from_code)
    }

    /// Kind of counter: the low bits of the code, four in the rmt pipeline and three elsewhere.
    pub fn kind(self) -> u32 {
        self as u32 & if self.event().is_some() { 15 } else { 7 }
    }

    /// Table that counts the reason, at index `module * 8 + kind` (egress: `queue * 4 + kind`, rmt pipeline:
    /// `module * 16 + kind`). Ingress reasons are counted by each port's node.
    pub fn table(self) -> Table {
        match self as u8 {
            0..=7 => Table::PortDrops,
            16..=23 => Table::QueueDrops,
            24..=31 => Table::XdpDrops,
            _ => Table::Events,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_the_rmt_pipeline_are_its_events() {
        let events = Event::ALL.into_iter().filter_map(Event::reason);
        let mut reasons: Vec<Reason> = events.inspect(|r| assert_eq!(r.event().unwrap().name(), r.name())).collect();
        reasons.sort();
        let own = |r: &Reason| r.table() == Table::Events;
        assert_eq!(reasons, Reason::ALL.into_iter().filter(own).collect::<Vec<_>>());
        assert_eq!((Event::Copies.reason(), Event::Misfit.reason()), (None, None));
    }

    #[test]
    fn every_reason_is_found_by_code_and_name() {
        for r in Reason::ALL {
            assert_eq!((Reason::from_code(r as u8), Reason::by_name(r.name())), (Some(r), Some(r)));
        }
    }
}
