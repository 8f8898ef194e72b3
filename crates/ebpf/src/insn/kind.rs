//! What an instruction means: the one decoder that validation, interpreter, analysis and
//! disassembler share.

use super::op::{self, alu, atomic, class, jump, mode, size};
use super::{Insn, LD_IMM64, pseudo};

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

fn zero(field: &'static str, found: impl Into<i64>) -> Result<(), Malformed> {
    match found.into() {
        0 => Ok(()),
        found => Err(Malformed::Reserved { field, found, allowed: "0" }),
    }
}

impl Insn {
    /// What the instruction means; `next` is the slot behind it. Every field is checked but the
    /// targets of jumps and the meaning of immediates.
    pub fn kind(self, next: Option<Self>) -> Result<Kind, Malformed> {
        for register in [self.dst, self.src] {
            // Where `src` is no register it is checked with the instruction.
            if register > 10 {
                return Err(Malformed::Register(register));
            }
        }
        match self.class() {
            class::ALU | class::ALU64 => self.alu(),
            class::JMP | class::JMP32 => self.jump(),
            class::LD => self.wide(next),
            _ => self.memory(),
        }
    }

    fn operand(self) -> Result<Operand, Malformed> {
        if self.op & op::X != 0 {
            zero("imm", self.imm)?;
            Ok(Operand::Reg(self.src))
        } else {
            zero("src", self.src)?;
            Ok(Operand::Imm(self.imm))
        }
    }

    fn alu(self) -> Result<Kind, Malformed> {
        let (wide, dst) = (self.class() == class::ALU64, self.dst);
        let op = match self.op & 0xf0 {
            alu::NEG => {
                if self.op & op::X != 0 {
                    return Err(Malformed::Unknown);
                }
                zero("src", self.src)?;
                zero("off", self.off)?;
                zero("imm", self.imm)?;
                return Ok(Kind::Neg { wide, dst });
            }
            alu::END => {
                zero("src", self.src)?;
                zero("off", self.off)?;
                let order = match (wide, self.op & op::X != 0) {
                    (false, false) => Order::Little,
                    (false, true) => Order::Big,
                    (true, false) => Order::Swap,
                    (true, true) => return Err(Malformed::Unknown),
                };
                if !matches!(self.imm, 16 | 32 | 64) {
                    let found = self.imm.into();
                    return Err(Malformed::Reserved { field: "imm", found, allowed: "16, 32 or 64" });
                }
                return Ok(Kind::Swap { order, bits: self.imm as u8, dst });
            }
            alu::MOV if self.op & op::X != 0 && self.off != 0 => {
                if wide && self.off == 1 {
                    return Err(Malformed::Unsupported("address-space cast (BPF arena)"));
                }
                zero("imm", self.imm)?;
                let allowed = if wide { "0, 8, 16 or 32" } else { "0, 8 or 16" };
                if !matches!((self.off, wide), (8 | 16, _) | (32, true)) {
                    return Err(Malformed::Reserved { field: "off", found: self.off.into(), allowed });
                }
                return Ok(Kind::MovSx { wide, bits: self.off as u8, dst, src: self.src });
            }
            alu::DIV | alu::MOD => {
                let signed = match self.off {
                    0 => false,
                    1 => true,
                    found => {
                        return Err(Malformed::Reserved { field: "off", found: found.into(), allowed: "0 or 1" });
                    }
                };
                match (self.op & 0xf0, signed) {
                    (alu::DIV, false) => AluOp::Div,
                    (alu::DIV, true) => AluOp::Sdiv,
                    (_, false) => AluOp::Mod,
                    (_, true) => AluOp::Smod,
                }
            }
            other => {
                zero("off", self.off)?;
                match other {
                    alu::ADD => AluOp::Add,
                    alu::SUB => AluOp::Sub,
                    alu::MUL => AluOp::Mul,
                    alu::OR => AluOp::Or,
                    alu::AND => AluOp::And,
                    alu::LSH => AluOp::Lsh,
                    alu::RSH => AluOp::Rsh,
                    alu::XOR => AluOp::Xor,
                    alu::MOV => AluOp::Mov,
                    alu::ARSH => AluOp::Arsh,
                    _ => return Err(Malformed::Unknown),
                }
            }
        };
        Ok(Kind::Alu { op, wide, dst, src: self.operand()? })
    }

    fn jump(self) -> Result<Kind, Malformed> {
        let wide = self.class() == class::JMP;
        let register = self.op & op::X != 0;
        let cond = match (self.op & 0xf0, wide, register) {
            (jump::JA, _, false) => {
                zero("dst", self.dst)?;
                zero("src", self.src)?;
                let off = if wide {
                    zero("imm", self.imm)?;
                    self.off.into()
                } else {
                    zero("off", self.off)?;
                    self.imm
                };
                return Ok(Kind::Jump { off, long: !wide });
            }
            (jump::CALL, true, false) => {
                zero("dst", self.dst)?;
                return match self.src {
                    pseudo::HELPER => {
                        zero("off", self.off)?;
                        Ok(Kind::CallHelper { id: self.imm })
                    }
                    pseudo::LOCAL => {
                        zero("off", self.off)?;
                        Ok(Kind::CallLocal { off: self.imm })
                    }
                    2 => Err(Malformed::Unsupported("call of a kernel function (kfunc)")),
                    found => Err(Malformed::Reserved {
                        field: "src",
                        found: found.into(),
                        allowed: "0 (helper) or 1 (function of the program)",
                    }),
                };
            }
            (jump::CALL, true, true) => return Err(Malformed::Unsupported("call through a register (callx)")),
            (jump::EXIT, true, false) => {
                zero("dst", self.dst)?;
                zero("src", self.src)?;
                zero("off", self.off)?;
                zero("imm", self.imm)?;
                return Ok(Kind::Exit);
            }
            (jump::JCOND, true, false) => return Err(Malformed::Unsupported("may_goto")),
            (jump::JEQ, ..) => Cond::Eq,
            (jump::JGT, ..) => Cond::Gt,
            (jump::JGE, ..) => Cond::Ge,
            (jump::JSET, ..) => Cond::Set,
            (jump::JNE, ..) => Cond::Ne,
            (jump::JSGT, ..) => Cond::Sgt,
            (jump::JSGE, ..) => Cond::Sge,
            (jump::JLT, ..) => Cond::Lt,
            (jump::JLE, ..) => Cond::Le,
            (jump::JSLT, ..) => Cond::Slt,
            (jump::JSLE, ..) => Cond::Sle,
            _ => return Err(Malformed::Unknown),
        };
        Ok(Kind::Branch { cond, wide, dst: self.dst, src: self.operand()?, off: self.off })
    }

    fn wide(self, next: Option<Self>) -> Result<Kind, Malformed> {
        match self.op {
            LD_IMM64 => {}
            op if matches!(op & 0xe0, mode::ABS | mode::IND) => {
                return Err(Malformed::Unsupported("legacy packet access (LD_ABS, LD_IND)"));
            }
            _ => return Err(Malformed::Unknown),
        }
        let next = next.ok_or(Malformed::NoSecondSlot)?;
        if (next.op, next.dst, next.src, next.off) != (0, 0, 0, 0) {
            let found = i64::from_le_bytes(next.to_bytes());
            return Err(Malformed::Reserved { field: "second slot", found, allowed: "opcode, registers and offset 0" });
        }
        zero("off", self.off)?;
        let value = match self.src {
            pseudo::NUMBER => WideValue::Number(u64::from(self.imm as u32) | u64::from(next.imm as u32) << 32),
            pseudo::MAP => {
                zero("second slot", next.imm)?;
                WideValue::Map(self.imm as u32)
            }
            pseudo::MAP_VALUE => WideValue::MapValue { map: self.imm as u32, offset: next.imm as u32 },
            pseudo::FUNCTION => {
                zero("second slot", next.imm)?;
                WideValue::Function(self.imm)
            }
            1 | 2 => return Err(Malformed::Unsupported("map by file descriptor")),
            3 => return Err(Malformed::Unsupported("address of a kernel variable (ksym)")),
            _ => {
                let found = self.src.into();
                return Err(Malformed::Reserved { field: "src", found, allowed: "0, 4, 5 or 6" });
            }
        };
        Ok(Kind::Wide { dst: self.dst, value })
    }

    fn memory(self) -> Result<Kind, Malformed> {
        let Self { dst, src, off, .. } = self;
        let bytes = match self.op & 0x18 {
            size::W => 4,
            size::H => 2,
            size::B => 1,
            _ => 8,
        };
        match (self.class(), self.op & 0xe0) {
            (class::LDX, mode::MEM) => {
                zero("imm", self.imm)?;
                Ok(Kind::Load { size: bytes, signed: false, dst, src, off })
            }
            (class::LDX, mode::MEMSX) if bytes != 8 => {
                zero("imm", self.imm)?;
                Ok(Kind::Load { size: bytes, signed: true, dst, src, off })
            }
            (class::ST, mode::MEM) => {
                zero("src", src)?;
                Ok(Kind::Store { size: bytes, dst, off, src: Operand::Imm(self.imm) })
            }
            (class::STX, mode::MEM) => {
                zero("imm", self.imm)?;
                Ok(Kind::Store { size: bytes, dst, off, src: Operand::Reg(src) })
            }
            (class::STX, mode::ATOMIC) => {
                match self.imm {
                    atomic::LOAD_ACQUIRE => return Err(Malformed::Unsupported("load-acquire")),
                    atomic::STORE_RELEASE => return Err(Malformed::Unsupported("store-release")),
                    _ if bytes < 4 => return Err(Malformed::Unknown),
                    _ => {}
                }
                let (op, fetch) = match self.imm {
                    atomic::XCHG => (AtomicOp::Xchg, true),
                    atomic::CMPXCHG => (AtomicOp::Cmpxchg, true),
                    imm => {
                        let op = match imm & !atomic::FETCH {
                            atomic::ADD => AtomicOp::Add,
                            atomic::OR => AtomicOp::Or,
                            atomic::AND => AtomicOp::And,
                            atomic::XOR => AtomicOp::Xor,
                            _ => {
                                let allowed = "0x00, 0x40, 0x50, 0xa0, each or 1; 0xe1, 0xf1";
                                return Err(Malformed::Reserved { field: "imm", found: imm.into(), allowed });
                            }
                        };
                        (op, imm & atomic::FETCH != 0)
                    }
                };
                Ok(Kind::Atomic { size: bytes, op, fetch, dst, off, src })
            }
            _ => Err(Malformed::Unknown),
        }
    }
}
