//! Rows of the XDP engine: docs/design/hxdp-core.md.

use crate::row::{RowInfo, row, rows};

row! {
    /// One lane of a bundle: an instruction. Zero does nothing.
    #[derive(Copy, Hash)]
    XdpLanePart, "xdp_lane" {
        /// Operation (`xdp_op`).
        op: u8 = 8,
        /// Destination register.
        dst: u8 = 4,
        /// First source; base of an access.
        a: u8 = 4,
        /// Second source; what is stored.
        b: u8 = 4,
        /// The second source is the immediate, sign-extended.
        immediate: bool = 1,
        /// 64 bits wide; of a load: gives 0 where it may not read; of a helper: it has its second argument.
        wide: bool = 1,
        /// Sign-extended load; old value fetched; back edge; of a helper: it has its map.
        extra: bool = 1,
        /// Reserved.
        spare: bool = 1,
        /// Signed offset of an access; row of a branch, jump or call.
        off: u16 = 16,
        /// Immediate; of a helper its number in the lower half. A 64-bit constant is in bits 79:16 of the lane.
        imm: u32 = 32,
        /// Bits 63:56 of a 64-bit constant.
        high: u8 = 8,
    }
}

row! {
    /// A bundle. Index: row of the instruction memory.
    XdpCodeRow, "xdp_code_row" {
        /// Lanes; 0 goes first.
        lanes: [XdpLanePart; 2] = 0,
    }
}

row! {
    /// Owner of a page of 64 rows of the instruction memory, and the page that follows it. Index: page.
    #[derive(Copy, Hash)]
    XdpPageRow, "xdp_page_row" {
        /// The page has an owner.
        valid: bool = 1,
        /// Whose rows these are; another module's packet that comes here faults.
        module_id: u8 = 6,
        /// The page that goes on behind the last row.
        next: u8 = 7,
    }
}

row! {
    /// A module's program. Index: 2 * module + generation.
    #[derive(Copy, Hash)]
    XdpProgramRow, "xdp_program_row" {
        /// There is one; otherwise packets pass beside.
        valid: bool = 1,
        /// First row.
        start: u16 = 13,
        /// Where `XDP_PASS` goes is said here, and not by the engine before.
        pass_valid: bool = 1,
        /// Where it goes.
        pass: u8 = 3,
        /// Destinations that it may send to.
        granted: u8 = 8,
        /// Most taken back edges and calls of a packet.
        work: u32 = 25,
        /// The packet's buffer has room to grow to 3,520 bytes: the program moves the end of frames.
        grows: bool = 1,
        /// Row of the region table that its address 0x4000_0000 begins with.
        regions: u16 = 9,
        /// Pages of 64 KiB from there on, that it may write and read.
        writable: u16 = 9,
        /// Pages from 0x8000_0000 on, that it may only read; their rows come behind those.
        read_only: u16 = 9,
    }
}

row! {
    /// Interfaces of a module's program. Index: 2 * module + generation.
    #[derive(Copy, Hash)]
    XdpInterfacesRow, "xdp_interfaces_row" {
        /// Interface index of each destination; 0 is none.
        ifindex: [u32; 8] = 32,
    }
}

row! {
    /// A page of 64 KiB of a module's addresses of map values. Index: row of the region table.
    #[derive(Copy, Hash)]
    XdpRegionRow, "xdp_region_row" {
        /// There are values.
        valid: bool = 1,
        /// Whose they are.
        module_id: u8 = 6,
        /// Where they lie in value memory, in 4 KiB.
        base: u16 = 12,
        /// Bytes that are there.
        bytes: u32 = 17,
        /// Values begin every 2^shift bytes.
        shift: u8 = 4,
        /// Bytes of a value that programs may read.
        readable: u16 = 10,
        /// Bytes of a value that programs may write.
        writable: u16 = 10,
    }
}

row! {
    /// A map. Index: number of the map.
    #[derive(Copy, Hash)]
    XdpMapRow, "xdp_map_row" {
        /// There is one.
        valid: bool = 1,
        /// Whose it is.
        module_id: u8 = 6,
        /// Values lie every 2^shift bytes.
        shift: u8 = 4,
        /// Entries of an array.
        entries: u32 = 32,
        /// Address of the first value.
        first: u32 = 32,
    }
}

row! {
    /// 32 bytes of value memory, the first byte in bits 7:0.
    XdpValueRow, "xdp_value_row" {
        /// Four words of 8 bytes.
        words: [u64; 4] = 64,
    }
}

pub(super) const ROWS: &[RowInfo] =
    rows![XdpLanePart, XdpCodeRow, XdpPageRow, XdpProgramRow, XdpInterfacesRow, XdpRegionRow, XdpMapRow, XdpValueRow,];
