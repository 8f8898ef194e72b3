//! The rows of the NIC's tables, the generation row and the output sideband.

use crate::limits::{MODULE_BITS, TENANT_BITS, TICK_BITS};
use crate::row::{RowInfo, row, rows};

row! {
    /// Who owns the packets of one VLAN on one port. Index: VLAN ID.
    #[derive(Copy, Hash)]
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
    #[derive(Copy, Hash)]
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
    #[derive(Copy, Hash)]
    RateRow, "rate_row" {
        /// Ticks per byte with 16 fraction bits; 0 means unlimited.
        cost_per_byte: u32 = 24,
        /// Burst tolerance in ticks.
        burst: u32 = 32,
    }
}

row! {
    /// Share of one module at one port: GCRA in cost beats, the packet included in its burst. Index: module. The cost of a
    /// packet is that of the most bytes that its program can make of it, in beats.
    #[derive(Copy, Hash)]
    ShareRow, "share_row" {
        /// Ticks per beat with 16 fraction bits; 0 means that every packet is within the share.
        ticks_per_beat: u32 = 28,
        /// Burst in ticks.
        burst: u32 = 24,
        /// Bytes by which the module's programs make a packet longer at most, those of all engines together.
        growth: u16 = 12,
    }
}

row! {
    /// Room of one port's FIFO for packets beyond their module's share.
    #[derive(Copy, Hash)]
    ExcessRow, "excess_row" {
        /// Cost beats that the FIFO may hold with such a packet.
        beats: u16 = 16,
    }
}

row! {
    /// Generation of one module. Index: module. Writing `current` commits; other fields are read only.
    #[derive(Copy, Hash)]
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
    /// Room of a module's two queues at one destination. Index: destination * modules of the target + module.
    #[derive(Copy, Hash)]
    LimitRow, "limit_row" {
        /// Cells (one bus beat each) that the two queues may hold together; 0 closes them.
        cells: u16 = 16,
        /// Cells of these that packets of the low queue leave free.
        reserve: u16 = 16,
    }
}

row! {
    /// Deficit round robin weight of one module at every destination. Index: module.
    #[derive(Copy, Hash)]
    QuantumRow, "quantum_row" {
        /// Bytes added at the start of a turn, 1 or more for a module that may send.
        bytes: u16 = 16,
    }
}

row! {
    /// Which VLANs a module's frames may leave in. Index: module.
    #[derive(Copy, Hash)]
    VidsRow, "vids_row" {
        /// Any that nobody owns at the port, and no tag; otherwise its own, and the one that the frame came with.
        any: bool = 1,
    }
}

row! {
    /// Sideband of a packet inside the NIC and `tuser` of every output.
    #[derive(Copy, Hash)]
    SidebandRow, "sideband" {
        /// Packet ID: ingress port in bits 31:28, its sequence number on that port below.
        id: u32 = 32,
        /// Ticks when it arrived at its port.
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
        /// Queue that the program asked for: 4 to 7 the high one, 0 to 3 the low one.
        egress_queue: u8 = 3,
        /// Tag of this copy's destination in the multicast group, 0 without a group.
        tag: u16 = 16,
    }
}

row! {
    /// Trace of a port: one frame has ended. The port's counters count it in the same cycle.
    #[derive(Copy, Hash)]
    PortTraceRow, "port_trace" {
        /// Packet ID.
        id: u32 = 32,
        /// Owner.
        module_id: u8 = MODULE_BITS,
        /// Dropped for `reason`; otherwise it is stored.
        dropped: bool = 1,
        /// Reason code, 0 to 7.
        reason: u8 = 6,
        /// Bytes as received.
        length: u16 = 16,
        /// A good frame beyond its module's share at this port.
        beyond: bool = 1,
        /// Ticks when it ended, which is when it was stored if it was.
        arrival: u64 = TICK_BITS,
    }
}

row! {
    /// Trace of the stamp: a packet enters the pipeline.
    #[derive(Copy, Hash)]
    MergeTraceRow, "merge_trace" {
        /// Packet ID.
        id: u32 = 32,
        /// Module.
        module_id: u8 = MODULE_BITS,
        /// Generation stamped.
        generation: bool = 1,
        /// Generation of the system module that was stamped.
        system_generation: bool = 1,
        /// Ticks when it entered the pipeline.
        stamp: u64 = TICK_BITS,
        /// Ticks when it arrived at its port, as in its sideband.
        arrival: u64 = TICK_BITS,
    }
}

row! {
    /// Trace of the rmt pipeline: a packet has its verdict. Counted in the same cycle.
    #[derive(Copy, Hash)]
    VerdictTraceRow, "verdict_trace" {
        /// Packet ID.
        id: u32 = 32,
        /// Module.
        module_id: u8 = MODULE_BITS,
        /// Dropped for `reason`.
        dropped: bool = 1,
        /// Reason code, 32 to 47.
        reason: u8 = 6,
        /// Destination mask.
        destinations: u8 = 8,
    }
}

row! {
    /// Trace of queue admission: one copy was queued or tail dropped. Drops count in the same cycle.
    #[derive(Copy, Hash)]
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
        reason: u8 = 6,
    }
}

row! {
    /// Trace of the buffer: the last beat of a copy was read out. Counted in the same cycle.
    #[derive(Copy, Hash)]
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

/// All of them.
pub(crate) static ROWS: &[RowInfo] = rows![
    VlanRow,
    PortPolicyRow,
    RateRow,
    ShareRow,
    ExcessRow,
    GenerationRow,
    LimitRow,
    QuantumRow,
    VidsRow,
    SidebandRow,
    PortTraceRow,
    MergeTraceRow,
    VerdictTraceRow,
    QueueTraceRow,
    LeaveTraceRow,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Row;

    #[test]
    fn rows_come_back_from_their_words() {
        let policy = PortPolicyRow {
            untagged_valid: true,
            untagged_module: 63,
            untagged_tenant: 0xabc,
            drop_double_tag: true,
            min_frame: 60,
            max_frame: 9216,
        };
        let words = policy.pack().unwrap();
        assert_eq!(words.len(), 2);
        assert_eq!(PortPolicyRow::unpack(&words).unwrap(), policy);
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
}
