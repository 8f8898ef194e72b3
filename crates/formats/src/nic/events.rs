//! Drops at ports and queues.

use crate::address::Table;
use crate::reason::events;

events! { PORT: Table::PortDrops, 0, 8;
    /// The port's ingress FIFO had no room for the whole packet.
    Overload "overload" = 0, drop, "the port's ingress FIFO had no room for the whole packet";
    /// Unmapped VLAN, or untagged where the port takes none.
    Unmapped "unmapped" = 1, drop, "unmapped VLAN, or untagged where the port takes none";
    /// Shorter than the port's `min_frame`.
    Runt "runt" = 2, drop, "shorter than the port's min_frame";
    /// Longer than the port's `max_frame`.
    Giant "giant" = 3, drop, "longer than the port's max_frame";
    /// The MAC marked the frame bad, or its byte enables have a hole.
    BadFrame "bad_frame" = 4, drop, "marked bad by the MAC, or byte enables with a hole";
    /// A second tag where the port takes none.
    DoubleTag "double_tag" = 5, drop, "a second tag where the port takes none";
    /// Beyond the tenant's share of the port, where others' shares leave no room for more.
    OverShare "over_share" = 6, drop, "beyond the tenant's share of the port, while the port's FIFO held no room for more than shares";
}

events! { QUEUE: Table::QueueDrops, 16, 4;
    /// The queue's cell limit.
    TailLimit "tail_limit" = 0, drop, "the queue's cell limit was reached";
    /// The queue holds as many packets as it can.
    TailPackets "tail_packets" = 1, drop, "the queue held as many packets as it can";
    /// The shared buffer has no room for the whole packet.
    TailBuffer "tail_buffer" = 2, drop, "the shared buffer had no room for the whole packet";
    /// The frame would leave the port as another tenant's.
    ForeignVlan "foreign_vlan" = 3, drop, "the frame would leave the port in a VLAN, or without a tag, that is not its tenant's";
}
