//! The 32-bit device address map (contract 10): interpreter, compilers and hardware agree bit for bit.
//!
//! The top four bits are the region. Pointers are zero-extended to 64 bits in registers.
//!
//! | region | addresses | what |
//! | --- | --- | --- |
//! | 0 | `0x0000_0000` | null page: no access is right |
//! | 1 | `0x1000_0000` | context: `struct xdp_md`, 24 bytes |
//! | 2 | `0x2000_0000` | packet buffer; byte 0 is the start of the headroom |
//! | 3 | `0x3000_0000` | stack: frame f at `+ f * 0x400`, its 512 bytes in the upper half of it |
//! | 4 to 7 | `0x4000_0000` | map values, in pages of 64 KiB of one map each |
//! | 8 | `0x8000_0000` | map values that programs only read (`.rodata`, devmap), in the same pages |
//! | 9 | `0x9000_0000` | ring-buffer records that are reserved |
//! | a | `0xa000_0000` | handles of maps: no memory |
//! | b | `0xb000_0000` | functions, by instruction: no memory |

/// First address of the context.
pub const CONTEXT: u32 = 0x1000_0000;
/// Bytes of `struct xdp_md`.
pub const CONTEXT_BYTES: u32 = 24;
/// First address of the packet buffer.
pub const PACKET: u32 = 0x2000_0000;
/// First address of the stack region.
pub const STACK: u32 = 0x3000_0000;
/// Distance of two stack frames; the lower half of each is a guard.
pub const STACK_STRIDE: u32 = 0x400;
/// Bytes of one stack frame.
pub const STACK_BYTES: u32 = 512;
/// Frames: the program and seven calls.
pub const STACK_FRAMES: u32 = 8;
/// First address of map values.
pub const MAP_VALUES: u32 = 0x4000_0000;
/// First address of read-only map values; also the end of the writable ones.
pub const READ_ONLY: u32 = 0x8000_0000;
/// First address of ring-buffer records; also the end of read-only values.
pub const RECORDS: u32 = 0x9000_0000;
/// Handle of map 0; the handle of map n is n above.
pub const MAP_HANDLES: u32 = 0xa000_0000;
/// Function at instruction 0 of the program; at instruction n it is n above.
pub const FUNCTIONS: u32 = 0xb000_0000;
/// Bytes of one page of map values; a page belongs to one map.
pub const PAGE_BYTES: u32 = 0x1_0000;

/// What an address points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// Region 0.
    Null,
    /// Region 1.
    Context,
    /// Region 2.
    Packet,
    /// Region 3.
    Stack,
    /// Regions 4 to 7.
    MapValue,
    /// Region 8.
    ReadOnly,
    /// Region 9.
    Record,
    /// Region a.
    MapHandle,
    /// Region b.
    Function,
    /// c to f, and everything above 32 bits.
    Unmapped,
}

impl Region {
    /// Its name in faults, listings and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Context => "context",
            Self::Packet => "packet",
            Self::Stack => "stack",
            Self::MapValue => "map_value",
            Self::ReadOnly => "read_only",
            Self::Record => "record",
            Self::MapHandle => "map_handle",
            Self::Function => "function",
            Self::Unmapped => "unmapped",
        }
    }

    /// The region of an address.
    pub fn of(address: u64) -> Self {
        if address >> 32 != 0 {
            return Self::Unmapped;
        }
        match address >> 28 {
            0 => Self::Null,
            1 => Self::Context,
            2 => Self::Packet,
            3 => Self::Stack,
            4..=7 => Self::MapValue,
            8 => Self::ReadOnly,
            9 => Self::Record,
            0xa => Self::MapHandle,
            0xb => Self::Function,
            _ => Self::Unmapped,
        }
    }
}

/// Address one past the end of stack frame `frame`: its r10.
pub const fn frame_pointer(frame: u32) -> u64 {
    (STACK + frame * STACK_STRIDE + STACK_STRIDE) as u64
}
