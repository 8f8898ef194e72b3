//! Limits that hold for every target.

/// Version of every format in this crate. Objects, loads and plug-ins carry it.
pub const FORMAT_VERSION: u32 = 7;

/// Tenant IDs are 12 bits; 0 is the system tenant.
pub const TENANT_BITS: u32 = 12;
/// The system tenant, owner of unmapped and untagged packets.
pub const SYSTEM_TENANT: u16 = 0;
/// Module IDs are 6 bits in every format; a target may have fewer modules.
pub const MODULE_BITS: u32 = 6;
/// The module of the system tenant.
pub const SYSTEM_MODULE: u8 = 0;
/// Rows of the VLAN table: one per VLAN ID.
pub const VLAN_ROWS: u32 = 4096;
/// Destinations: bits of a destination mask. Ports come first, host queues follow.
pub const DESTINATIONS: u32 = 8;
/// Values of a packet's `egress_queue` from here on are the module's high queue, those below its low one.
pub const HIGH_QUEUE: u8 = 4;
/// Copies that a destination chooses at most before they are read.
pub const COPIES_AHEAD: u32 = 8;
/// Of so many reads of the shared buffer one is a host queue's slot, the others are the ports' (docs/decisions/output-slots.md).
pub const HOST_SLOT_PERIOD: u32 = 16;
/// Longest frame any target takes, in bytes without FCS, outer tag included.
pub const MAX_FRAME_BYTES: u32 = 9216;
/// Shortest frame that can be told apart: one Ethernet header.
pub const MIN_FRAME_BYTES: u32 = 14;
/// Fewest bytes of a packet inside a NIC, whose tag goes on again before byte 12.
pub const LEAST_PACKET_BYTES: u32 = 12;
/// Bytes of the IPv4 5-tuple: the flow hash covers them, and keys of table objects have as many.
pub const KEY_BYTES: usize = 13;
/// UDP destination port of reconfiguration packets, dropped on every port (Menshen's in-band port).
pub const RECONFIG_UDP_PORT: u16 = 0xf1f2;
/// EtherType of the tag that ingress takes off.
pub const VLAN_ETHERTYPE: u16 = 0x8100;
/// Length of one tag in bytes.
pub const TAG_BYTES: usize = 4;
/// Data words of a reply at most, and of a write to a table outside the rmt pipeline.
pub const MESSAGE_DATA_WORDS: usize = 8;
/// Words of a row at most, and so of a write.
pub const MOST_ROW_WORDS: usize = 80;
/// A pending maintenance access takes a slot after this many cycles without a gap.
pub const MAINTENANCE_PERIOD: u32 = 256;
/// A node discards a configuration message whose next word does not come within this many cycles.
pub const MESSAGE_TIMEOUT_CYCLES: u32 = 4096;
/// Time unit of stamps and rates: one tick in picoseconds (one cycle at 250 MHz).
pub const TICK_PS: u64 = 4000;
/// Width of the tick counter.
pub const TICK_BITS: u32 = 48;
/// Bits of a packet ID below its port: the frame's number on that port, which wraps.
pub const SEQUENCE_MASK: u32 = 0x0fff_ffff;

/// ID of a packet: its port in bits 31:28, the number of its frame on that port below.
#[inline]
pub const fn packet_id(port: u8, number: u32) -> u32 {
    (port as u32) << 28 | number & SEQUENCE_MASK
}

/// Fraction bits of the rate limiter's cost per byte.
pub const COST_FRACTION_BITS: u32 = 16;
