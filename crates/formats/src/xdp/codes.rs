//! What the operation of a lane stands for.

use crate::codes::codes;

codes! {
    /// Operation of a lane. Accesses have their bytes, swaps and extensions their bits in the code.
    XdpOp, "xdp_op", "XdpOp", 8 {
        /// Nothing.
        None "none" = 0x00,
        /// a + b.
        Add "add" = 0x01,
        /// a - b.
        Sub "sub" = 0x02,
        /// a * b.
        Mul "mul" = 0x03,
        /// a / b, 0 by 0.
        Div "div" = 0x04,
        /// a or b, bit by bit.
        Or "or" = 0x05,
        /// a & b.
        And "and" = 0x06,
        /// a << b.
        Lsh "lsh" = 0x07,
        /// a >> b.
        Rsh "rsh" = 0x08,
        /// Remainder; of 0 it is a.
        Mod "mod" = 0x09,
        /// a ^ b.
        Xor "xor" = 0x0a,
        /// a >> b with the sign.
        Arsh "arsh" = 0x0b,
        /// Signed quotient.
        Sdiv "sdiv" = 0x0c,
        /// Signed remainder.
        Smod "smod" = 0x0d,
        /// a, rotated to the right by the low bits of b.
        Rotate "rotate" = 0x0e,
        /// b.
        Move "move" = 0x10,
        /// -a.
        Negate "negate" = 0x11,
        /// Goes to a row.
        Jump "jump" = 0x12,
        /// Calls a function; `wide`: the one whose address is in r8, `spare`: it is no work.
        Call "call" = 0x13,
        /// Calls a helper.
        Helper "helper" = 0x14,
        /// The frame ends; `extra`: it counts as work, in the place of a jump back.
        Exit "exit" = 0x15,
        /// The frame ends; r0 becomes b; `extra`: as of `exit`.
        ExitValue "exit_value" = 0x16,
        /// a, sign-extended from 8 bits.
        Extend8 "extend8" = 0x18,
        /// a, sign-extended from 16 bits.
        Extend16 "extend16" = 0x19,
        /// a, sign-extended from 32 bits.
        Extend32 "extend32" = 0x1a,
        /// A 64-bit number, in bits 79:16 of the lane.
        Constant "constant" = 0x1c,
        /// Branch if a == b.
        Eq "eq" = 0x20,
        /// Branch if a > b.
        Gt "gt" = 0x21,
        /// Branch if a >= b.
        Ge "ge" = 0x22,
        /// Branch if a & b.
        Set "set" = 0x23,
        /// Branch if a != b.
        Ne "ne" = 0x24,
        /// Branch if a > b, signed.
        Sgt "sgt" = 0x25,
        /// Branch if a >= b, signed.
        Sge "sge" = 0x26,
        /// Branch if a < b.
        Lt "lt" = 0x27,
        /// Branch if a <= b.
        Le "le" = 0x28,
        /// Branch if a < b, signed.
        Slt "slt" = 0x29,
        /// Branch if a <= b, signed.
        Sle "sle" = 0x2a,
        /// Branch if a & b is 0.
        Clear "clear" = 0x2b,
        /// Branch if a and the immediate lead beyond the frame's end; `wide`: if not.
        Length "length" = 0x2c,
        /// Address of a per-CPU array's value: bits 47:16 of the lane, and bits 79:48 for each context before its own.
        Element "element" = 0x2d,
        /// Address of an array's value: `b + (a << off)` of the lower half of a, or 0 where that is above the immediate.
        Indexed "indexed" = 0x2e,
        /// The first of six atomic operations of 4 bytes: add, or, and, xor, exchange, compare and exchange.
        Atomic4 "atomic4" = 0x30,
        /// The same of 8 bytes.
        Atomic8 "atomic8" = 0x38,
        /// Adds the immediate to a word of 8 bytes of a value at a multiple of 16, and b to the word behind it.
        AddPair "add_pair" = 0x3e,
        /// The same with b for the first word.
        AddPairSwapped "add_pair_swapped" = 0x3f,
        /// Load of 1 byte.
        Load1 "load1" = 0x40,
        /// Load of 2 bytes.
        Load2 "load2" = 0x41,
        /// Load of 4 bytes.
        Load4 "load4" = 0x42,
        /// Load of 6 bytes.
        Load6 "load6" = 0x43,
        /// Load of 8 bytes.
        Load8 "load8" = 0x44,
        /// Store of 1 byte.
        Store1 "store1" = 0x48,
        /// Store of 2 bytes.
        Store2 "store2" = 0x49,
        /// Store of 4 bytes.
        Store4 "store4" = 0x4a,
        /// Store of 6 bytes.
        Store6 "store6" = 0x4b,
        /// Store of 8 bytes.
        Store8 "store8" = 0x4c,
        /// The lower 16 bits as they are.
        Little16 "little16" = 0x51,
        /// The lower 32 bits as they are.
        Little32 "little32" = 0x52,
        /// As it is.
        Little64 "little64" = 0x53,
        /// The lower 2 bytes the other way round.
        Big16 "big16" = 0x55,
        /// The lower 4 bytes the other way round.
        Big32 "big32" = 0x56,
        /// All bytes the other way round.
        Big64 "big64" = 0x57,
        /// As `big16`.
        Swap16 "swap16" = 0x59,
        /// As `big32`.
        Swap32 "swap32" = 0x5a,
        /// As `big64`.
        Swap64 "swap64" = 0x5b,
        /// The lower 16 bits of b and a.
        Pack16 "pack16" = 0x5c,
        /// The lower 32 bits of b and a.
        Pack32 "pack32" = 0x5d,
    }
}

codes! {
    /// What the warp engine does with a leaf's packets.
    XdpWarpKind, "xdp_warp_kind", "XdpWarp", 2 {
        /// A core runs the program from its start.
        Plain "plain" = 0,
        /// The verdict is known: no core runs it.
        Verdict "verdict" = 1,
        /// A core goes on where the leaf says.
        Resume "resume" = 2,
    }
}

codes! {
    /// What a map is, of those that the engine has.
    XdpMapKind, "xdp_map_kind", "XdpMap", 4 {
        /// By index.
        Array "array" = 0,
        /// By key.
        Hash "hash" = 1,
        /// By the longest prefix of a key.
        Trie "trie" = 2,
        /// By index; an entry of zero is none. Programs see the values.
        Devices "devices" = 3,
        /// By index; an entry is a destination of processors or sockets. Programs see no values.
        References "references" = 4,
        /// By key; an entry is an interface, as of `devices`.
        KeyedReferences "keyed_references" = 5,
        /// By index; an entry is the first row of a program. Programs see no values.
        Programs "programs" = 6,
        /// By index; an entry is the handle of a map, which a lookup gives.
        Maps "maps" = 7,
        /// By key, as `maps`.
        KeyedMaps "keyed_maps" = 8,
        /// Elements, the oldest of which goes first. Without keys.
        Queue "queue" = 9,
        /// The same, the youngest goes first.
        Stack "stack" = 10,
    }
}

codes! {
    /// What is done with a map.
    XdpMapOp, "xdp_map_op", "XdpMapOp", 4 {
        /// Finds a value.
        Lookup "lookup" = 0,
        /// Makes or changes an entry.
        Update "update" = 1,
        /// Takes an entry out.
        Delete "delete" = 2,
        /// Finds what an entry stands for.
        Reference "reference" = 3,
        /// Finds a value of another context.
        LookupPercpu "lookup_percpu" = 4,
        /// The host's: the key behind another one.
        Next "next" = 5,
        /// The host's: writes the value of a slot.
        Put "put" = 6,
        /// Finds the program that an entry stands for.
        Program "program" = 7,
        /// Puts an element into a queue or stack.
        Push "push" = 8,
        /// Takes one out: to the slot of the context, or to the host.
        Pop "pop" = 9,
        /// The same, and it stays.
        Peek "peek" = 10,
    }
}

codes! {
    /// Channel of the trace `xdp_step_trace_row`.
    XdpStep, "xdp_step", "XdpStep", 3 {
        /// A packet has a slot.
        Packet "packet" = 0,
        /// A context takes the packet of a slot.
        Start "start" = 1,
        /// A context's bundle reaches a value of a map.
        Value "value" = 2,
        /// An operation on a map has ended.
        Map "map" = 3,
        /// A helper has given a number that no program knows: a random one, or whether an event has found room.
        Number "number" = 4,
    }
}

codes! {
    /// What the cycles before a pass of a context were spent on.
    XdpPass, "xdp_pass", "XdpPass", 3 {
        /// Takes a packet. Its cycles are those since the packet was whole in its queue.
        Start "start" = 0,
        /// Did a bundle, and nothing was waited for.
        Bundle "bundle" = 1,
        /// Did none, and nothing was waited for: asked a unit, or restored registers behind a function.
        Launch "launch" = 2,
        /// Followed a pass that was sent back because its unit was busy.
        Busy "busy" = 3,
        /// A value of a map or an atomic operation was waited for, by its bundle or late by the one before.
        Values "values" = 4,
        /// The map engine was waited for, in the same way.
        Maps "maps" = 5,
        /// A helper, or a function's new frame, was waited for.
        Helper "helper" = 6,
        /// A product, quotient or remainder was waited for, in the same way as a value.
        Arithmetic "arithmetic" = 7,
    }
}

codes! {
    /// What an event is.
    XdpEventKind, "xdp_event_kind", "XdpEventOf", 2 {
        /// Three numbers for a format of `trace_printk`.
        Print "print" = 0,
        /// Of `perf_event_output`.
        Perf "perf" = 1,
        /// A record of a ring buffer.
        Ring "ring" = 2,
    }
}

codes! {
    /// How a packet's program has ended.
    XdpFault, "xdp_fault", "XdpFault", 3 {
        /// With a verdict.
        None "none" = 0,
        /// An access that no region allows.
        Access "access" = 1,
        /// A helper's argument that it does not take.
        Argument "argument" = 2,
        /// More taken back edges and calls than it may.
        Work "work" = 3,
        /// A call beyond its frames.
        Depth "depth" = 4,
        /// Its end while it holds a record.
        Lock "lock" = 5,
        /// A bundle that is not its module's, or that no core can do.
        Bundle "bundle" = 6,
    }
}
