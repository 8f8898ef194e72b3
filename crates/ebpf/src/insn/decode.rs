//! From slots to meanings: the one decoder that validation, interpreter, analysis and
//! disassembler share.

use super::op::{self, alu, atomic, class, jump, mode, size};
use super::{AluOp, AtomicOp, Cond, Insn, Kind, LD_IMM64, Malformed, Operand, Order, WideValue, pseudo};

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
