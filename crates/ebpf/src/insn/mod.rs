//! One eBPF instruction slot, the numbers of RFC 9669, and what instructions mean.

mod assemble;
mod decode;
mod disasm;
mod encode;
mod kind;
mod names;
pub mod op;
#[cfg(test)]
mod tests;

pub use assemble::{AssembleError, assemble};
pub use disasm::{alu_text, cond_text, listing, text};
pub use kind::{AluOp, AtomicOp, Cond, Kind, Malformed, Operand, Order, WideValue};
pub use names::{FIRST_KFUNC, POISON_CORE, POISON_KFUNC, helper_name, helper_number, is_poison, kfunc_number};

/// One 64-bit slot; a 64-bit immediate load takes two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Insn {
    /// Opcode.
    pub op: u8,
    /// Destination register, 0 to 10 (15 in malformed ones).
    pub dst: u8,
    /// Source register, or what an immediate means.
    pub src: u8,
    /// Offset.
    pub off: i16,
    /// Immediate.
    pub imm: i32,
}

impl Insn {
    /// From its eight little-endian bytes.
    pub fn from_bytes(b: [u8; 8]) -> Self {
        Self {
            op: b[0],
            dst: b[1] & 15,
            src: b[1] >> 4,
            off: i16::from_le_bytes([b[2], b[3]]),
            imm: i32::from_le_bytes([b[4], b[5], b[6], b[7]]),
        }
    }

    /// Its eight little-endian bytes.
    pub fn to_bytes(self) -> [u8; 8] {
        let (o, i) = (self.off.to_le_bytes(), self.imm.to_le_bytes());
        [self.op, self.dst & 15 | self.src << 4, o[0], o[1], i[0], i[1], i[2], i[3]]
    }

    /// Class: the low three bits of the opcode.
    pub fn class(self) -> u8 {
        self.op & 7
    }

    /// Whether it is the first slot of a 64-bit immediate load.
    pub fn is_wide(self) -> bool {
        self.op == LD_IMM64
    }
}

/// Opcode of the 64-bit immediate load.
pub const LD_IMM64: u8 = 0x18;
/// Opcode of a call.
pub const CALL: u8 = 0x85;
/// Opcode of exit.
pub const EXIT: u8 = 0x95;

/// Source of [`LD_IMM64`]: what the immediate means. Images hold only these.
pub mod pseudo {
    /// The plain 64-bit number.
    pub const NUMBER: u8 = 0;
    /// Handle of the map with this index in the image.
    pub const MAP: u8 = 5;
    /// Address in the first value of the map with this index; the second slot's imm is the offset.
    pub const MAP_VALUE: u8 = 6;
    /// A function, relative to the next instruction.
    pub const FUNCTION: u8 = 4;
    /// Source of [`super::CALL`]: a helper.
    pub const HELPER: u8 = 0;
    /// Source of [`super::CALL`]: a function of the program, relative to the next instruction.
    pub const LOCAL: u8 = 1;
}
