//! What an instruction means.

/// Second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Reg(u8),
    /// An immediate; sign-extended where the operation is 64 bits wide.
    Imm(i32),
}

/// Arithmetic of two operands; the result replaces the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The names are the RFC's.
pub enum AluOp {
    Add,
    Sub,
    Mul,
    Div,
    Or,
    And,
    Lsh,
    Rsh,
    Mod,
    Xor,
    Mov,
    Arsh,
    Sdiv,
    Smod,
}

/// Condition of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The names are the RFC's.
pub enum Cond {
    Eq,
    Gt,
    Ge,
    Set,
    Ne,
    Sgt,
    Sge,
    Lt,
    Le,
    Slt,
    Sle,
}

/// Byte order of a swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// To little endian: only cuts the register to its width.
    Little,
    /// To big endian: swaps.
    Big,
    /// `bswap`: swaps.
    Swap,
}

/// Atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The names are the RFC's.
pub enum AtomicOp {
    Add,
    Or,
    And,
    Xor,
    Xchg,
    Cmpxchg,
}

/// What a 64-bit immediate load gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WideValue {
    /// A number.
    Number(u64),
    /// Handle of the map with this index in the image.
    Map(u32),
    /// Address in the first value of the map with this index.
    MapValue {
        /// Index in the image.
        map: u32,
        /// Offset in the value.
        offset: u32,
    },
    /// A function, in slots from the slot behind this load's first.
    Function(i32),
}

/// An instruction. Jump and call offsets count slots from the next instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `dst = dst op src`, in 64 or (`wide` unset) 32 bits; 32-bit results are zero-extended.
    Alu {
        /// Operation.
        op: AluOp,
        /// 64 bits.
        wide: bool,
        /// Destination.
        dst: u8,
        /// Second operand.
        src: Operand,
    },
    /// `dst = -dst`.
    Neg {
        /// 64 bits.
        wide: bool,
        /// Destination.
        dst: u8,
    },
    /// Move of the low `bits` of a register, sign-extended.
    MovSx {
        /// To 64 bits.
        wide: bool,
        /// 8, 16 or 32.
        bits: u8,
        /// Destination.
        dst: u8,
        /// Source.
        src: u8,
    },
    /// Byte swap of the low `bits`, zero-extended.
    Swap {
        /// Which.
        order: Order,
        /// 16, 32 or 64.
        bits: u8,
        /// Register.
        dst: u8,
    },
    /// Unconditional; `long` is `gotol`.
    Jump {
        /// Slots.
        off: i32,
        /// With a 32-bit offset.
        long: bool,
    },
    /// Conditional.
    Branch {
        /// Condition.
        cond: Cond,
        /// Compares 64 bits.
        wide: bool,
        /// First operand.
        dst: u8,
        /// Second operand.
        src: Operand,
        /// Slots.
        off: i16,
    },
    /// Call of a helper by number.
    CallHelper {
        /// Number.
        id: i32,
    },
    /// Call of a function of the program.
    CallLocal {
        /// Slots.
        off: i32,
    },
    /// Return, or end of the program.
    Exit,
    /// `dst = *(size *)(src + off)`.
    Load {
        /// Bytes: 1, 2, 4 or 8.
        size: u8,
        /// Sign-extended to 64 bits.
        signed: bool,
        /// Destination.
        dst: u8,
        /// Base.
        src: u8,
        /// Offset.
        off: i16,
    },
    /// `*(size *)(dst + off) = src`.
    Store {
        /// Bytes: 1, 2, 4 or 8.
        size: u8,
        /// Base.
        dst: u8,
        /// Offset.
        off: i16,
        /// What is stored.
        src: Operand,
    },
    /// Atomic operation on `*(size *)(dst + off)`.
    Atomic {
        /// Bytes: 4 or 8.
        size: u8,
        /// Operation.
        op: AtomicOp,
        /// The old value goes to `src` (of cmpxchg to r0).
        fetch: bool,
        /// Base.
        dst: u8,
        /// Offset.
        off: i16,
        /// Second operand.
        src: u8,
    },
    /// 64-bit immediate load; takes two slots.
    Wide {
        /// Destination.
        dst: u8,
        /// What it gives.
        value: WideValue,
    },
}

impl Kind {
    /// Slots it takes.
    pub fn slots(self) -> u32 {
        if matches!(self, Self::Wide { .. }) { 2 } else { 1 }
    }

    /// The register it writes, r0 of calls included.
    pub fn written(self) -> Option<u8> {
        match self {
            Self::Alu { dst, .. }
            | Self::Neg { dst, .. }
            | Self::MovSx { dst, .. }
            | Self::Swap { dst, .. }
            | Self::Load { dst, .. }
            | Self::Wide { dst, .. } => Some(dst),
            Self::Atomic { op: AtomicOp::Cmpxchg, .. } => Some(0),
            Self::Atomic { fetch: true, src, .. } => Some(src),
            Self::CallHelper { .. } | Self::CallLocal { .. } => Some(0),
            _ => None,
        }
    }

    /// Slot a jump, branch or local call at `slot` goes to; may lie outside of the program.
    pub fn target(self, slot: u32) -> Option<i64> {
        let off = match self {
            Self::Jump { off, .. } | Self::CallLocal { off } => off,
            Self::Branch { off, .. } => i32::from(off),
            Self::Wide { value: WideValue::Function(off), .. } => off,
            _ => return None,
        };
        Some(i64::from(slot) + 1 + i64::from(off))
    }
}

/// Why a slot is no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// No instruction has this opcode (or this offset or immediate with it).
    Unknown,
    /// It exists, but not here.
    Unsupported(&'static str),
    /// A field that must have one value.
    Reserved {
        /// `dst`, `src`, `off`, `imm` or `second slot`.
        field: &'static str,
        /// Its value.
        found: i64,
        /// Values allowed.
        allowed: &'static str,
    },
    /// A register above r10.
    Register(u8),
    /// The second slot of a 64-bit immediate load is missing.
    NoSecondSlot,
}
