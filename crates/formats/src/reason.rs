//! Why packets are dropped, and where it is counted.

use crate::address::Table;

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
    /// The module's rate limit.
    Rate = 8,
    /// A reconfiguration packet (UDP port 0xf1f2) from a port.
    Reconfig = 9,
    /// The module has no overlay in the packet's generation.
    NoModule = 10,
    /// No entry matched and the default action is drop.
    Miss = 11,
    /// The matched entry's action is drop.
    Action = 12,
    /// `except_ingress` left no destination, or a program's redirect leads nowhere.
    NoDestination = 13,
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
}

impl Reason {
    /// All reasons.
    pub const ALL: [Reason; 18] = [
        Self::Overload,
        Self::Unmapped,
        Self::Runt,
        Self::Giant,
        Self::BadFrame,
        Self::DoubleTag,
        Self::Rate,
        Self::Reconfig,
        Self::NoModule,
        Self::Miss,
        Self::Action,
        Self::NoDestination,
        Self::TailLimit,
        Self::TailPackets,
        Self::TailBuffer,
        Self::XdpDrop,
        Self::XdpAborted,
        Self::XdpTooLong,
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
            Self::Rate => "rate",
            Self::Reconfig => "reconfig",
            Self::NoModule => "no_module",
            Self::Miss => "miss",
            Self::Action => "action",
            Self::NoDestination => "no_destination",
            Self::TailLimit => "tail_limit",
            Self::TailPackets => "tail_packets",
            Self::TailBuffer => "tail_buffer",
            Self::XdpDrop => "xdp_drop",
            Self::XdpAborted => "xdp_aborted",
            Self::XdpTooLong => "xdp_too_long",
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
            Self::Rate => "above the module's rate limit",
            Self::Reconfig => "a reconfiguration packet (UDP port 0xf1f2) from a port",
            Self::NoModule => "the module has no overlay in the packet's generation",
            Self::Miss => "no entry matched and the default action is drop",
            Self::Action => "the matched entry's action is drop",
            Self::NoDestination => "except_ingress left no destination, or a program's redirect leads nowhere",
            Self::TailLimit => "the queue's cell limit was reached",
            Self::TailPackets => "the queue held as many packets as it can",
            Self::TailBuffer => "the shared buffer had no room for the whole packet",
            Self::XdpDrop => "the XDP program said drop",
            Self::XdpAborted => "the XDP program said aborted, or a fault ended it",
            Self::XdpTooLong => "the XDP program made the frame longer than the NIC takes",
        }
    }

    /// Kind of counter: the low three bits of the code.
    pub fn kind(self) -> u32 {
        self as u32 & 7
    }

    /// Table that counts the reason, at index `module * 8 + kind` (egress: `queue * 4 + kind`).
    /// Ingress reasons are counted by each port's node.
    pub fn table(self) -> Table {
        match self as u8 {
            0..=7 => Table::PortDrops,
            8..=15 => Table::ForwardEvents,
            16..=23 => Table::QueueDrops,
            _ => Table::XdpDrops,
        }
    }
}

/// Kind of `ForwardEvents` that counts copies made by multicast (destinations - 1 a packet).
pub const COPIES_KIND: u32 = 7;
