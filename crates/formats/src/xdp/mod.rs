//! Formats of the XDP engine: sizes, rows, tables. docs/design/hxdp-core.md says what they mean.

pub mod codes;
mod generated;
pub mod map;
pub mod rows;
pub mod target;

use crate::address::{Table, counter, nodes, read_row, row, tables, write_row};
use crate::engine::{EngineId, Folder};
use crate::reason::events;
use rows::{
    XdpCodeRow, XdpEventDataRow, XdpEventsRow, XdpEventsTakenRow, XdpFaultRow, XdpHostRow, XdpInterfacesRow, XdpMapRow,
    XdpOutsideRow, XdpPageRow, XdpPoolRow, XdpProgramRow, XdpRegionRow, XdpSearchRow, XdpShareRow, XdpSpentRow,
    XdpValueRow, XdpWarpChunkRow, XdpWarpHitsRow, XdpWarpKeyRow, XdpWarpLeafRow, XdpWarpPredicatesRow, XdpWarpStepRow,
};
use target::{Target as XdpTarget, WARP_CHUNK_VALUES, WARP_CHUNKS, WARP_RULES, WARP_STEPS};

impl EngineId {
    /// Runs XDP programs.
    pub const XDP: EngineId = EngineId::new(0);
}

nodes! { Some(EngineId::XDP);
    /// The XDP engine, on devices that have one.
    Xdp "xdp" = 4;
}

tables! { Some(EngineId::XDP);
    Xdp {
        /// Packets dropped by XDP programs or in front of them, and copies, by module * 8 + kind.
        XdpDrops "xdp_drops" = 0: counter(), |t| t.modules * 8, "drops and copies, by module * 8 + kind (7: no destination)";
        /// Programs by 2 * module + generation.
        XdpProgram "xdp_program" = 1: row::<XdpProgramRow>(), |t| 2 * t.modules, "`xdp_program_row`, by 2 * module + generation";
        /// Interfaces by 2 * module + generation.
        XdpInterfaces "xdp_interfaces" = 2: row::<XdpInterfacesRow>(), |t| 2 * t.modules, "`xdp_interfaces_row`, by 2 * module + generation";
        /// Owners of pages of the instruction memory.
        XdpPage "xdp_page" = 3: row::<XdpPageRow>(), |t| XdpTarget::by_name(t.name).pages() as u32, "`xdp_page_row`, by page";
        /// The instruction memory.
        XdpCode "xdp_code" = 4: row::<XdpCodeRow>(), |t| XdpTarget::by_name(t.name).rows as u32, "`xdp_code_row`, by row";
        /// Pages of modules' addresses of map values.
        XdpRegion "xdp_region" = 5: row::<XdpRegionRow>(), |t| XdpTarget::by_name(t.name).regions as u32, "`xdp_region_row`";
        /// Maps.
        XdpMap "xdp_map" = 6: row::<XdpMapRow>(), |t| XdpTarget::by_name(t.name).maps as u32, "`xdp_map_row`, by number";
        /// Value memory.
        XdpValue "xdp_value" = 7: row::<XdpValueRow>(), |t| XdpTarget::by_name(t.name).values as u32 / 32, "`xdp_value_row`, by 32 bytes";
        /// Search memory: keys, chains and what is free of maps.
        XdpSearch "xdp_search" = 8: row::<XdpSearchRow>(), |t| XdpTarget::by_name(t.name).search_index(), "`xdp_search_row`; from 2^23 on, rows outside";
        /// The host's operation on a map. A write is answered when it is done.
        XdpHost "xdp_host" = 9: row::<XdpHostRow>(), |_| 1, "`xdp_host_row`; a write is answered when it is done";
        /// Key (rows 0 and 1) and value (from row 2 on) of the host's operation.
        XdpHostData "xdp_host_data" = 10: row::<XdpValueRow>(), |_| target::HOST_ROWS as u32, "`xdp_value_row`: key in rows 0 and 1, then the value";
        /// Passes of each core and their cycles.
        XdpPasses "xdp_passes" = 11: read_row::<XdpSpentRow>(), |t| XdpTarget::by_name(t.name).cores as u32 * t.modules * 8, "`xdp_spent_row`, by (core * modules + module) * 8 + `xdp_pass`";
        /// Packets whose program has ended, and their cycles in the order.
        XdpEnds "xdp_ends" = 12: read_row::<XdpSpentRow>(), |t| t.modules * 8, "`xdp_spent_row`, by module * 8 + `xdp_fault`";
        /// The last fault of each module.
        XdpFault "xdp_fault" = 13: read_row::<XdpFaultRow>(), |t| t.modules, "`xdp_fault_row`, by module";
        /// How much of events is there.
        XdpEvents "xdp_events" = 14: read_row::<XdpEventsRow>(), |t| t.modules, "`xdp_events_row`, by module";
        /// How much of it the host has read.
        XdpEventsTaken "xdp_events_taken" = 15: row::<XdpEventsTakenRow>(), |t| t.modules, "`xdp_events_taken_row`, by module";
        /// Events.
        XdpEventData "xdp_event_data" = 17: read_row::<XdpEventDataRow>(), |t| t.modules * target::EVENT_WORDS as u32, "`xdp_event_data_row`, by 256 * module + place";
        /// What becomes zero of external memory.
        XdpOutside "xdp_outside" = 19: row::<XdpOutsideRow>(), |t| (XdpTarget::by_name(t.name).outside >> 16) as u32, "`xdp_outside_row`, by 64 KiB; a write is answered when it is done";
        /// What is not for all of the cores' packet memory.
        XdpPool "xdp_pool" = 18: row::<XdpPoolRow>(), |_| 1, "`xdp_pool_row`";
        /// Weights and reserved rows of modules in the queues in front of the cores, and what of the cores is theirs.
        XdpShare "xdp_share" = 16: row::<XdpShareRow>(), |t| t.modules, "`xdp_share_row`, by module";
        /// What the warp engine gathers of a module's packets.
        XdpWarpKey "xdp_warp_key" = 20: write_row::<XdpWarpKeyRow>(), |t| warp(t, 2), "`xdp_warp_key_row`, by 2 * module + generation";
        /// Predicates of a module's packets.
        XdpWarpPredicates "xdp_warp_predicates" = 21: write_row::<XdpWarpPredicatesRow>(), |t| warp(t, 4), "`xdp_warp_predicates_row`, by 2 * (2 * module + generation) + half";
        /// Rules of modules, by chunk of the key.
        XdpWarpChunk "xdp_warp_chunk" = 22: write_row::<XdpWarpChunkRow>(), |t| warp(t, 2 * WARP_CHUNKS * WARP_CHUNK_VALUES), "`xdp_warp_chunk_row`, by 32 * (2 * modules * chunk + 2 * module + generation) + value";
        /// What becomes of leaves' packets.
        XdpWarpLeaf "xdp_warp_leaf" = 23: write_row::<XdpWarpLeafRow>(), |t| warp(t, 2 * WARP_RULES), "`xdp_warp_leaf_row`, by 64 * (2 * module + generation) + rule";
        /// Steps that make registers, words of the stack and keys.
        XdpWarpStep "xdp_warp_step" = 24: write_row::<XdpWarpStepRow>(), |t| warp(t, 2 * WARP_STEPS), "`xdp_warp_step_row`, by 128 * (2 * module + generation) + step";
        /// Packets of leaves.
        XdpWarpHits "xdp_warp_hits" = 25: row::<XdpWarpHitsRow>(), |t| warp(t, 2 * WARP_RULES), "`xdp_warp_hits_row`, by 64 * (2 * module + generation) + rule";
    }
}

/// Rows of a table of the warp engine with so many of each module; none where there is no such engine.
fn warp(target: &crate::Target, each: usize) -> u32 {
    if XdpTarget::by_name(target.name).warp_rules == 0 { 0 } else { target.modules * each as u32 }
}

events! { EVENTS: Table::XdpDrops, 24, 8;
    /// The XDP program said drop.
    XdpDrop "xdp_drop" = 0, drop, "the XDP program said drop";
    /// The XDP program said aborted, or a fault ended it.
    XdpAborted "xdp_aborted" = 1, drop, "the XDP program said aborted, or a fault ended it";
    /// The XDP program made the frame longer than the NIC takes.
    XdpTooLong "xdp_too_long" = 2, drop, "the XDP program made the frame longer than the NIC takes";
    /// The module's queue in front of the XDP cores was full.
    XdpQueue "xdp_queue" = 3, drop, "the module's queue in front of the XDP cores was full";
    /// Copies beyond the first, of all packets that leave the engine.
    XdpCopies "copies" = 6, count, "copies beyond the first";
}

/// The folder in the registry. Its names stand in the NIC's package and page.
pub(crate) static FOLDER: Folder = Folder {
    engine: Some(EngineId::XDP),
    name: "xdp",
    title: "XDP engine",
    prefix: "Xdp",
    everywhere: false,
    nodes: NODES,
    tables: TABLES,
    events: &[EVENTS],
    rows: rows::ROWS,
    codes: &[
        codes::XdpOp::LIST,
        codes::XdpMapKind::LIST,
        codes::XdpWarpKind::LIST,
        codes::XdpMapOp::LIST,
        codes::XdpStep::LIST,
        codes::XdpPass::LIST,
        codes::XdpEventKind::LIST,
        codes::XdpFault::LIST,
    ],
    generated: || {
        vec![("rtl/gen/sluice_xdp_rows_pkg.sv", generated::package()), ("docs/design/xdp-rows.md", generated::page())]
    },
};

#[cfg(test)]
mod tests {
    use super::rows::*;
    use crate::row::Row;

    #[test]
    fn a_lane_has_80_bits_and_a_row_fits_a_message() {
        assert_eq!((XdpLanePart::width(), XdpCodeRow::width(), XdpCodeRow::words()), (80, 160, 5));
        let lane = XdpLanePart { op: 0x44, dst: 1, a: 10, off: 0xfff8, ..XdpLanePart::default() };
        let row = XdpCodeRow { lanes: [lane, XdpLanePart::default()] };
        assert_eq!(row.pack().unwrap()[0], 0x44 | 1 << 8 | 10 << 12 | 0xf8 << 24);
    }
}
