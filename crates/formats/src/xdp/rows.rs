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
        /// First source; base of an access. 15 is the address of the frame's first byte, in both sources.
        a: u8 = 4,
        /// Second source; what is stored.
        b: u8 = 4,
        /// The second source is the immediate, sign-extended.
        immediate: bool = 1,
        /// 64 bits wide; of a load: gives 0 where it may not read; of a helper: it has its second argument; of a call: its function is in r8.
        wide: bool = 1,
        /// Sign-extended load; old value fetched; back edge, or an exit in the place of one; of a helper: it has its map.
        extra: bool = 1,
        /// Of a call: it is no work. Of a lookup or a redirect: no search is needed.
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
        /// Pages of 16 MiB from 0x4100_0000 on, that it may write and read; their rows come behind those.
        large_writable: u8 = 6,
        /// Pages of 64 KiB from 0x8000_0000 on, that it may only read; their rows come behind those.
        read_only: u16 = 9,
        /// Pages of 16 MiB from 0x8100_0000 on, that it may only read; their rows come behind those.
        large_read_only: u8 = 4,
        /// It is flow-serial as a whole: a packet waits until those of its flow before it have ended.
        serial: bool = 1,
        /// Frames of functions that the packet's memory has room for.
        frames: u8 = 3,
        /// Room for a record of a ring buffer that the packet's memory has, in 512 bytes.
        records: u8 = 2,
        /// One more than the bytes by which it may make a frame longer; 0 is what the packet's buffer has room for.
        growth: u16 = 11,
        /// A packet may wait for another one in its context, for its turn in their flow or for a lock: it takes no context that another module owns.
        waits: bool = 1,
    }
}

row! {
    /// A module's part of the queues in front of the cores, and of the cores. Index: module.
    #[derive(Copy, Hash)]
    XdpShareRow, "xdp_share_row" {
        /// Weight in the round robin, in 16 bundles a turn; 0 is as 16.
        weight: u16 = 16,
        /// Rows of the bus that only this module's packets may take.
        rows: u16 = 16,
        /// Contexts of each core that are its own, each with a slot and a bay of packet memory.
        contexts: u8 = 4,
        /// First unit of its bays, in each core's packet memory.
        first: u16 = 12,
        /// Units of 1 KiB of a bay; a packet that needs more does not take its own.
        units: u8 = 5,
        /// Its packets may take contexts that others own and do not use.
        borrows: bool = 1,
    }
}

row! {
    /// What is not for all. Index: 0.
    #[derive(Copy, Hash)]
    XdpPoolRow, "xdp_pool_row" {
        /// Units of 1 KiB at the end of each core's packet memory in which modules' own bays lie.
        reserved: u16 = 13,
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
    /// A page of a module's addresses of map values, of 64 KiB, or of 16 MiB in maps of more than 1 MiB. Index: row of the region table.
    #[derive(Copy, Hash)]
    XdpRegionRow, "xdp_region_row" {
        /// There are values.
        valid: bool = 1,
        /// Whose they are.
        module_id: u8 = 6,
        /// They lie in external memory.
        outside: bool = 1,
        /// Where they lie: in value memory in 4 KiB, in external memory in 64 KiB.
        base: u16 = 16,
        /// Bytes that are there.
        bytes: u32 = 25,
        /// Values begin every 2^shift bytes.
        shift: u8 = 4,
        /// Bytes of a value that programs may read.
        readable: u16 = 10,
        /// Bytes of a value that programs may write.
        writable: u16 = 10,
        /// Word of 4 bytes of a value that is its spin lock, and 1; 0 is none.
        lock: u8 = 8,
    }
}

row! {
    /// A map. Index: number of the map. Places in search memory are its rows.
    #[derive(Copy, Hash)]
    XdpMapRow, "xdp_map_row" {
        /// There is one.
        valid: bool = 1,
        /// Whose it is.
        module_id: u8 = 6,
        /// What it is (`xdp_map_kind`).
        kind: u8 = 4,
        /// Each context has a copy of every value.
        per_cpu: bool = 1,
        /// A full map gives up an entry that was not used for long.
        lru: bool = 1,
        /// Programs may not change it.
        constant: bool = 1,
        /// Bytes of a key.
        key_bytes: u8 = 7,
        /// Bytes of a value.
        value_bytes: u16 = 10,
        /// Values lie every 2^shift bytes.
        shift: u8 = 4,
        /// Most entries.
        entries: u32 = 32,
        /// Places for values of one copy: entries, and those set aside for changes.
        slots: u32 = 28,
        /// Address of the first value; 0 where programs see none.
        first: u32 = 32,
        /// Values lie in external memory.
        outside: bool = 1,
        /// Where the first value lies: in value memory in 4 KiB, in external memory in 64 KiB.
        base: u16 = 16,
        /// What is free (`xdp_map_state`), and behind it what is set aside. From 2^15 on rows lie outside, counted in 256.
        state: u16 = 16,
        /// The first row of chains' beginnings, four in a row, as `state`.
        bucket: u16 = 16,
        /// There are 2^bucket_bits chains.
        bucket_bits: u8 = 5,
        /// The first row of used and touched bits, 64 entries in a row, as `state`.
        clock: u16 = 16,
        /// The first row of entries, as `state`.
        entry: u16 = 16,
        /// An entry takes 2^entry_shift rows.
        entry_shift: u8 = 2,
        /// What the chains' hash begins with.
        seed: u32 = 32,
        /// Word of 4 bytes of a value that is its spin lock, and 1, which updates leave as it is; 0 is none.
        lock: u8 = 8,
    }
}

row! {
    /// State of a map with keys, or of a queue or stack: a row of search memory.
    #[derive(Copy, Hash)]
    XdpMapState, "xdp_map_state" {
        /// Entries that are in.
        count: u32 = 32,
        /// The first slot that was never used; of a queue or stack that of the next push.
        fresh: u32 = 32,
        /// The slot that was given back last, and 1; 0 is none.
        free: u32 = 32,
        /// Where the hand of an LRU map stands; of a trie its root, and 1; of a queue or stack the slot of the oldest element.
        hand: u32 = 32,
    }
}

row! {
    /// A row of search memory: 16 bytes, the first in bits 7:0.
    #[derive(Copy, Hash)]
    XdpSearchRow, "xdp_search_row" {
        /// Four words of 4 bytes.
        words: [u32; 4] = 32,
    }
}

row! {
    /// An operation of the host on a map, whose key and value are in `xdp_host_data`; read, its answer.
    #[derive(Copy, Hash)]
    XdpHostRow, "xdp_host_row" {
        /// What to do (`xdp_map_op`).
        op: u8 = 4,
        /// Number of the map.
        map: u16 = 16,
        /// Flags of an update: 0 any, 1 only a new one, 2 only one that is there, 3 the same for a further copy, which is no use of the entry.
        flags: u8 = 2,
        /// Whose copy of a per-CPU value is written or read.
        cpu: u8 = 5,
        /// Of `next`: the chain to go on with, where `key` is not said; of `put`: the slot.
        chain: u32 = 24,
        /// Of `next`: behind the key in `xdp_host_data`.
        key: bool = 1,
        /// Answer: error number, or 0.
        error: u8 = 8,
        /// Answer: slot of the entry, and 1; of `next` 0 where the search goes on with `chain`.
        slot: u32 = 24,
    }
}

row! {
    /// How much of external memory becomes zero. Index: the first unit of 64 KiB. A write is answered when it has; read, each row has what memory
    /// answered with errors, and did not answer, since the reset.
    #[derive(Copy, Hash)]
    XdpOutsideRow, "xdp_outside_row" {
        /// How many units.
        count: u32 = 17,
        /// Answer: lines that could not be read. Stays at the most.
        read_errors: u16 = 16,
        /// Answer: writes that failed. Stays at the most.
        write_errors: u16 = 16,
        /// Answer: accesses that ended because memory did not answer in time. Stays at the most.
        late: u16 = 16,
        /// Answer: times that writes of an ID had no answer in time. Stays at the most.
        late_writes: u16 = 16,
        /// Answer: reads that were given up and have not come yet; from 32 on no line is asked for.
        lost: u8 = 6,
        /// Answer: accesses that ended. Wraps.
        accesses: u32 = 32,
        /// Answer: lines of the cache that were asked for. Wraps.
        lines: u32 = 32,
    }
}

row! {
    /// 32 bytes of value memory, the first byte in bits 7:0.
    XdpValueRow, "xdp_value_row" {
        /// Four words of 8 bytes.
        words: [u64; 4] = 64,
    }
}

row! {
    /// How often something was, the cycles that it took, and the bundles that it completed. All wrap, and are of one instant.
    #[derive(Copy, Hash)]
    XdpSpentRow, "xdp_spent_row" {
        /// How often.
        count: u64 = 48,
        /// Cycles of all together.
        cycles: u64 = 48,
        /// Bundles of passes; of ends none.
        bundles: u64 = 48,
    }
}

row! {
    /// The last fault of a module's programs. Index: module.
    #[derive(Copy, Hash)]
    XdpFaultRow, "xdp_fault_row" {
        /// What it was (`xdp_fault`); 0 where there was none since the reset.
        kind: u8 = 3,
        /// The packet's generation.
        generation: u8 = 1,
        /// Row of its bundle.
        row: u16 = 13,
        /// Lane of its instruction.
        lane: u8 = 1,
    }
}

row! {
    /// Where a module's events are. Index: module. Places are counted in words, and wrap.
    #[derive(Copy, Hash)]
    XdpEventsRow, "xdp_events_row" {
        /// One past the last word that is there.
        produced: u16 = 9,
        /// Words of records that programs have reserved.
        reserved: u16 = 9,
        /// Events that found no room.
        lost: u32 = 32,
    }
}

row! {
    /// How far the host has read a module's events. Index: module.
    #[derive(Copy, Hash)]
    XdpEventsTakenRow, "xdp_events_taken_row" {
        /// One past the last word that it has read: its room is free.
        taken: u16 = 9,
    }
}

row! {
    /// A word of events, its first byte in bits 7:0. Index: 256 * module + place.
    #[derive(Copy, Hash)]
    XdpEventDataRow, "xdp_event_data_row" {
        /// A header (`xdp_event_header`), or data.
        word: u64 = 64,
    }
}

row! {
    /// What goes before an event's data, in a word. Both parts of the data fill whole words.
    #[derive(Copy, Hash)]
    XdpEventHeader, "xdp_event_header" {
        /// What it is (`xdp_event_kind`).
        kind: u8 = 2,
        /// The packet's generation.
        generation: u8 = 1,
        /// The context that it was executed by.
        processor: u8 = 5,
        /// Which of the program's maps, or of its formats.
        channel: u8 = 8,
        /// Bytes of the data.
        bytes: u16 = 16,
        /// Bytes of the packet behind it.
        packet: u16 = 16,
        /// Zero.
        reserved: u16 = 16,
    }
}

row! {
    /// Trace of the XDP engine: in which order packets reach what they share. What a row is, its channel says (`xdp_step`).
    #[derive(Copy, Hash)]
    XdpStepTraceRow, "xdp_step_trace_row" {
        /// Processor: context of a core, counted through all cores.
        processor: u8 = 5,
        /// Slot of the packet, counted through all cores; of an operation on a map 1 if it is the host's.
        slot: u8 = 8,
        /// Of a value or map: for a packet that no context has yet, that of this slot.
        early: bool = 1,
        /// Row of the bundle.
        row: u16 = 13,
        /// ID of the packet; the number that a helper gave.
        value: u64 = 64,
    }
}

row! {
    /// What the warp engine gathers of a module's packets. Index: 2 * module + generation.
    #[derive(Copy, Hash)]
    XdpWarpKeyRow, "xdp_warp_key_row" {
        /// There is a table; otherwise cores run the program from its start.
        valid: bool = 1,
        /// Byte of each lane of the key: 0 to 63 of the frame, 64 to 67 of `ingress_ifindex`, 68 to 71 of `rx_queue_index`, 72 and 73 of the frame's length, all little endian.
        lanes: [u8; 14] = 7,
    }
}

row! {
    /// A predicate: whether a number of two lanes, masked, shifted and with something added, is at most the limit.
    #[derive(Copy, Hash)]
    XdpWarpPredicatePart, "xdp_warp_predicate" {
        /// The lanes: 2 * pair is the upper byte, 2 * pair + 1 the lower one.
        pair: u8 = 3,
        /// Which of their bits count.
        mask: u16 = 16,
        /// How far they are shifted down then; in two's complement, so that from 16 on it is up, by 32 less this.
        down: u8 = 5,
        /// What is added: modulo 2^16 where the limit is a number, signed where it is the length.
        add: u16 = 16,
        /// The limit.
        limit: u16 = 16,
        /// The limit is the frame's length.
        length: bool = 1,
    }
}

row! {
    /// Predicates of a module's packets. Index: 2 * (2 * module + generation) + half; 4 predicates each.
    #[derive(Copy, Hash)]
    XdpWarpPredicatesRow, "xdp_warp_predicates_row" {
        /// Predicates.
        predicates: [XdpWarpPredicatePart; 4] = 0,
    }
}

row! {
    /// Which rules a chunk of 5 bits of a module's key agrees with. Index: 32 * (2 * module + generation) + value of the chunk, in the memory of the
    /// chunk: the key is the lanes, lane 0 lowest, and behind them the predicates.
    #[derive(Copy, Hash)]
    XdpWarpChunkRow, "xdp_warp_chunk_row" {
        /// By rule; the lowest one that all chunks agree with is the packet's leaf.
        rules: u64 = 64,
    }
}

row! {
    /// What a verdict adds to a value of a map.
    #[derive(Copy, Hash)]
    XdpWarpCountPart, "xdp_warp_count" {
        /// It adds.
        valid: bool = 1,
        /// To 8 bytes, not 4.
        wide: bool = 1,
        /// The frame's length, not the number.
        length: bool = 1,
        /// The number.
        number: u8 = 8,
        /// Address of the value's bytes, from 0x4000_0000 on.
        address: u32 = 30,
    }
}

row! {
    /// What becomes of a leaf's packets. Index: 64 * (2 * module + generation) + rule.
    #[derive(Copy, Hash)]
    XdpWarpLeafRow, "xdp_warp_leaf_row" {
        /// What (`xdp_warp_kind`): a core runs the program from its start, a verdict, a core resumes.
        kind: u8 = 2,
        /// The verdict: r0.
        verdict: u8 = 2,
        /// First row of what is resumed.
        start: u16 = 13,
        /// Back edges and calls that were made.
        work: u8 = 8,
        /// First of its steps.
        step: u8 = 7,
        /// Steps.
        steps: u8 = 5,
        /// A lookup is made; its key is what the steps made.
        looks_up: bool = 1,
        /// In this map.
        map: u16 = 16,
        /// Bytes of the key.
        key_bytes: u8 = 7,
        /// What a verdict adds. Of what is resumed the first has, if it is valid, in its address the row where the lookup finds nothing.
        counts: [XdpWarpCountPart; 2] = 0,
    }
}

row! {
    /// Packets of a leaf. Index: 64 * (2 * module + generation) + rule. Behind the last number comes 0.
    #[derive(Copy, Hash)]
    XdpWarpHitsRow, "xdp_warp_hits_row" {
        /// How many.
        packets: u64 = 36,
    }
}

row! {
    /// A step: something is put into a register or a word of the key, beside what is there. Index: 128 * (2 * module + generation) + step.
    #[derive(Copy, Hash)]
    XdpWarpStepRow, "xdp_warp_step_row" {
        /// The number is the constant; otherwise it says what is taken (`xdp_warp_part`).
        constant: bool = 1,
        /// Register; from 16 on word of the stack, from 128 bytes before its end on; from 32 on word of the key.
        target: u8 = 6,
        /// The number.
        number: u64 = 64,
    }
}

row! {
    /// What a step takes of the packet: bytes as a number, shifted down, its lowest bits, shifted up.
    #[derive(Copy, Hash)]
    XdpWarpPart, "xdp_warp_part" {
        /// First byte, as in a key's lane.
        offset: u8 = 7,
        /// Bytes, less 1.
        bytes: u8 = 3,
        /// In network order.
        swap: bool = 1,
        /// How far the number is shifted down.
        down: u8 = 3,
        /// Bits that are kept, less 1.
        width: u8 = 6,
        /// How far they are shifted up then.
        up: u8 = 6,
    }
}

pub(super) const ROWS: &[RowInfo] = rows![
    XdpLanePart,
    XdpCodeRow,
    XdpPageRow,
    XdpProgramRow,
    XdpShareRow,
    XdpPoolRow,
    XdpInterfacesRow,
    XdpRegionRow,
    XdpMapRow,
    XdpMapState,
    XdpSearchRow,
    XdpHostRow,
    XdpOutsideRow,
    XdpValueRow,
    XdpSpentRow,
    XdpFaultRow,
    XdpEventsRow,
    XdpEventsTakenRow,
    XdpEventDataRow,
    XdpEventHeader,
    XdpStepTraceRow,
    XdpWarpKeyRow,
    XdpWarpPredicatePart,
    XdpWarpPredicatesRow,
    XdpWarpChunkRow,
    XdpWarpCountPart,
    XdpWarpLeafRow,
    XdpWarpHitsRow,
    XdpWarpStepRow,
    XdpWarpPart,
];
