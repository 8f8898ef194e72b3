//! The rows of the NIC's tables, the generation row and the output sideband.

use crate::limits::{KEY_BYTES, MODULE_BITS, TENANT_BITS, TICK_BITS};
use crate::row::row;

const KEY_BITS: u32 = 8 * KEY_BYTES as u32;

row! {
    /// Who owns the packets of one VLAN on one port. Index: VLAN ID.
    VlanRow, "vlan_row" {
        /// The VLAN is mapped; otherwise its packets are the system tenant's and dropped as unmapped.
        valid: bool = 1,
        /// The outer tag stays in the frame.
        keep_tag: bool = 1,
        /// Module that serves the tenant.
        module_id: u8 = MODULE_BITS,
        /// Tenant ID.
        tenant: u16 = TENANT_BITS,
    }
}

row! {
    /// Policy of one port for frames that no VLAN row decides.
    PortPolicyRow, "port_policy_row" {
        /// Untagged frames are taken; otherwise they are dropped as unmapped.
        untagged_valid: bool = 1,
        /// Module that serves untagged frames.
        untagged_module: u8 = MODULE_BITS,
        /// Tenant of untagged frames.
        untagged_tenant: u16 = TENANT_BITS,
        /// Frames with a second tag (0x8100 or 0x88a8 behind the outer 0x8100) are dropped.
        drop_double_tag: bool = 1,
        /// Shortest frame taken, in bytes as received.
        min_frame: u16 = 14,
        /// Longest frame taken, in bytes as received.
        max_frame: u16 = 14,
    }
}

row! {
    /// Rate limit of one module: GCRA over the ingress stamps. Index: module.
    RateRow, "rate_row" {
        /// Ticks per byte with 16 fraction bits; 0 means unlimited.
        cost_per_byte: u32 = 24,
        /// Burst tolerance in ticks.
        burst: u32 = 32,
    }
}

row! {
    /// What to do with a packet.
    ActionRow, "action_row" {
        /// Destination mask, ports first; none means drop.
        destinations: u8 = 8,
        /// The port the packet came from is taken out of the mask.
        except_ingress: bool = 1,
        /// The destination MAC is rewritten.
        set_dmac: bool = 1,
        /// New destination MAC, first byte on the wire in bits 7:0.
        dmac: u64 = 48,
    }
}

row! {
    /// Overlay of one module in one generation. Index: 2 * module + generation.
    OverlayRow, "overlay_row" {
        /// The module exists in this generation; otherwise its packets are dropped (no_module).
        valid: bool = 1,
        /// 0 no lookup, 1 destination MAC, 2 IPv4 5-tuple (see `KeyKind`).
        key_kind: u8 = 2,
        /// Bit i keeps key byte i, otherwise the byte is 0 in the key.
        key_mask: u16 = KEY_BYTES as u32,
        /// First set of the module, a multiple of its number of sets.
        set_base: u16 = 16,
        /// The module has 2^set_bits sets.
        set_bits: u8 = 4,
        /// Default action: destination mask.
        destinations: u8 = 8,
        /// Default action: leave out the port the packet came from.
        except_ingress: bool = 1,
        /// Default action: rewrite the destination MAC.
        set_dmac: bool = 1,
        /// Default action: new destination MAC.
        dmac: u64 = 48,
    }
}

row! {
    /// One exact-match entry. Table: way. Index: set.
    EntryRow, "entry_row" {
        /// Bit g: the entry exists for packets of generation g.
        generations: u8 = 2,
        /// Owner.
        module_id: u8 = MODULE_BITS,
        /// Masked key, byte 0 in bits 7:0.
        key: u128 = KEY_BITS,
        /// Action: destination mask.
        destinations: u8 = 8,
        /// Action: leave out the port the packet came from.
        except_ingress: bool = 1,
        /// Action: rewrite the destination MAC.
        set_dmac: bool = 1,
        /// Action: new destination MAC.
        dmac: u64 = 48,
    }
}

row! {
    /// Generation of one module. Index: module. Writing `current` commits; other fields are read only.
    GenerationRow, "generation_row" {
        /// Generation that arriving packets are stamped with.
        current: bool = 1,
        /// Packets stamped with generation 0 that have not passed the last table yet.
        in_flight_0: u8 = 8,
        /// Packets stamped with generation 1 that have not passed the last table yet.
        in_flight_1: u8 = 8,
    }
}

row! {
    /// Room of one queue. Index: destination * modules of the target + module.
    LimitRow, "limit_row" {
        /// Cells (one bus beat each) that the queue may hold; 0 closes it.
        cells: u16 = 16,
    }
}

row! {
    /// Deficit round robin weight of one module at every destination. Index: module.
    QuantumRow, "quantum_row" {
        /// Bytes added at the start of a turn, 1 or more for a module that may send.
        bytes: u16 = 16,
    }
}

row! {
    /// Sideband of a packet inside the NIC and `tuser` of every output.
    SidebandRow, "sideband" {
        /// Packet ID: ingress port in bits 31:28, its sequence number on that port below.
        id: u32 = 32,
        /// Ingress stamp in ticks.
        stamp: u64 = TICK_BITS,
        /// Tenant.
        tenant: u16 = TENANT_BITS,
        /// Module.
        module_id: u8 = MODULE_BITS,
        /// Generation of the module's tables that the packet sees.
        generation: bool = 1,
        /// Bytes without the tag that ingress took off.
        length: u16 = 14,
        /// Outer tag's PCP, DEI and VLAN ID.
        tci: u16 = 16,
        /// The outer tag was taken off and goes back on at a port.
        tag_off: bool = 1,
        /// CRC-32C over the 13 bytes of the IPv4 5-tuple key, 0 for other packets.
        flow_hash: u32 = 32,
        /// Destinations that the verdict named.
        destinations: u8 = 8,
    }
}

row! {
    /// Trace of a port: one frame has ended. The port's counters count it in the same cycle.
    PortTraceRow, "port_trace" {
        /// Packet ID.
        id: u32 = 32,
        /// Owner.
        module_id: u8 = MODULE_BITS,
        /// Dropped for `reason`; otherwise it is stored.
        dropped: bool = 1,
        /// Reason code, 0 to 7.
        reason: u8 = 5,
        /// Bytes as received.
        length: u16 = 16,
    }
}

row! {
    /// Trace of the merge: a packet enters the pipeline.
    MergeTraceRow, "merge_trace" {
        /// Packet ID.
        id: u32 = 32,
        /// Module.
        module_id: u8 = MODULE_BITS,
        /// Generation stamped.
        generation: bool = 1,
        /// Ingress stamp in ticks.
        stamp: u64 = TICK_BITS,
    }
}

row! {
    /// Trace of the match pipeline: a packet has its verdict. Counted in the same cycle.
    VerdictTraceRow, "verdict_trace" {
        /// Packet ID.
        id: u32 = 32,
        /// Module.
        module_id: u8 = MODULE_BITS,
        /// Dropped for `reason`.
        dropped: bool = 1,
        /// Reason code, 8 to 15.
        reason: u8 = 5,
        /// Destination mask.
        destinations: u8 = 8,
    }
}

row! {
    /// Trace of queue admission: one copy was queued or tail dropped. Drops count in the same cycle.
    QueueTraceRow, "queue_trace" {
        /// Packet ID.
        id: u32 = 32,
        /// Module.
        module_id: u8 = MODULE_BITS,
        /// Destination.
        destination: u8 = 3,
        /// Tail dropped for `reason`.
        dropped: bool = 1,
        /// Reason code, 16 and up.
        reason: u8 = 5,
    }
}

row! {
    /// Trace of the buffer: the last beat of a copy was read out. Counted in the same cycle.
    LeaveTraceRow, "leave_trace" {
        /// Packet ID.
        id: u32 = 32,
        /// Module.
        module_id: u8 = MODULE_BITS,
        /// Destination.
        destination: u8 = 3,
        /// Bytes without the tag that ingress took off.
        length: u16 = 14,
    }
}

/// What an overlay's key is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyKind {
    /// No lookup: the default action always.
    None = 0,
    /// Destination MAC in key bytes 0 to 5.
    Dmac = 1,
    /// IPv4 source (0-3), destination (4-7), source port (8-9), destination port (10-11), protocol (12).
    FiveTuple = 2,
}

impl KeyKind {
    /// The kind with this code.
    pub fn from_code(code: u8) -> Option<Self> {
        [Self::None, Self::Dmac, Self::FiveTuple].into_iter().find(|k| *k as u8 == code)
    }

    /// Name in objects, scripts and docs.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Dmac => "dmac",
            Self::FiveTuple => "five_tuple",
        }
    }
}

/// Rows that carry an action in their last four fields.
macro_rules! with_action {
    ($($row:ty),+) => { $(
        impl $row {
            /// The row's action.
            pub fn action(&self) -> ActionRow {
                ActionRow {
                    destinations: self.destinations,
                    except_ingress: self.except_ingress,
                    set_dmac: self.set_dmac,
                    dmac: self.dmac,
                }
            }

            /// The same row with another action.
            pub fn with_action(mut self, action: ActionRow) -> Self {
                (self.destinations, self.except_ingress) = (action.destinations, action.except_ingress);
                (self.set_dmac, self.dmac) = (action.set_dmac, action.dmac);
                self
            }
        }
    )+ };
}
with_action!(OverlayRow, EntryRow);

impl EntryRow {
    /// The key as bytes, byte 0 first.
    pub fn key_bytes(&self) -> [u8; KEY_BYTES] {
        let mut bytes = [0; KEY_BYTES];
        bytes.copy_from_slice(&self.key.to_le_bytes()[..KEY_BYTES]);
        bytes
    }

    /// The key value of these bytes.
    pub fn key_from_bytes(bytes: &[u8; KEY_BYTES]) -> u128 {
        bytes.iter().rev().fold(0, |v, &b| v << 8 | u128::from(b))
    }
}

/// A MAC address as rows hold it: first byte on the wire in bits 7:0.
pub fn mac_bits(mac: [u8; 6]) -> u64 {
    mac.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
}

/// The MAC address of these row bits.
pub fn mac_bytes(bits: u64) -> [u8; 6] {
    let b = bits.to_le_bytes();
    [b[0], b[1], b[2], b[3], b[4], b[5]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;

    #[test]
    fn rows_come_back_from_their_words() {
        let entry = EntryRow {
            generations: 2,
            module_id: 63,
            key: (1 << 104) - 3,
            destinations: 0x81,
            except_ingress: true,
            set_dmac: true,
            dmac: 0x0605_0403_0201,
        };
        let words = entry.pack().unwrap();
        assert_eq!(words.len(), 6);
        assert_eq!(EntryRow::unpack(&words).unwrap(), entry);
    }

    #[test]
    fn a_value_wider_than_its_field_is_refused_with_its_name() {
        let row = VlanRow { tenant: 4096, ..VlanRow::default() };
        assert_eq!(row.pack().unwrap_err().to_string(), "vlan_row.tenant: value 0x1000 does not fit 12 bits");
    }

    #[test]
    fn set_padding_bits_and_wrong_word_counts_are_refused() {
        assert!(VlanRow::unpack(&[1 << 20]).is_err());
        assert!(VlanRow::unpack(&[0, 0]).is_err());
    }

    #[test]
    fn mac_bits_have_the_first_wire_byte_lowest() {
        assert_eq!(mac_bits([1, 2, 3, 4, 5, 6]), 0x0605_0403_0201);
        assert_eq!(mac_bytes(0x0605_0403_0201), [1, 2, 3, 4, 5, 6]);
    }
}
