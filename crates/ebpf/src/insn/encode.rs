//! From meanings back to slots.

use super::op::{X, alu, atomic, class, jump, mode, size};
use super::{AluOp, AtomicOp, CALL, Cond, EXIT, Insn, Kind, LD_IMM64, Operand, Order, WideValue, pseudo};

fn size_bits(bytes: u8) -> u8 {
    match bytes {
        1 => size::B,
        2 => size::H,
        4 => size::W,
        _ => size::DW,
    }
}

fn alu_bits(op: AluOp) -> u8 {
    match op {
        AluOp::Add => alu::ADD,
        AluOp::Sub => alu::SUB,
        AluOp::Mul => alu::MUL,
        AluOp::Div | AluOp::Sdiv => alu::DIV,
        AluOp::Or => alu::OR,
        AluOp::And => alu::AND,
        AluOp::Lsh => alu::LSH,
        AluOp::Rsh => alu::RSH,
        AluOp::Mod | AluOp::Smod => alu::MOD,
        AluOp::Xor => alu::XOR,
        AluOp::Mov => alu::MOV,
        AluOp::Arsh => alu::ARSH,
    }
}

fn cond_bits(cond: Cond) -> u8 {
    match cond {
        Cond::Eq => jump::JEQ,
        Cond::Gt => jump::JGT,
        Cond::Ge => jump::JGE,
        Cond::Set => jump::JSET,
        Cond::Ne => jump::JNE,
        Cond::Sgt => jump::JSGT,
        Cond::Sge => jump::JSGE,
        Cond::Lt => jump::JLT,
        Cond::Le => jump::JLE,
        Cond::Slt => jump::JSLT,
        Cond::Sle => jump::JSLE,
    }
}

fn operand(op: u8, src: Operand, insn: Insn) -> Insn {
    match src {
        Operand::Reg(src) => Insn { op: op | X, src, ..insn },
        Operand::Imm(imm) => Insn { op, imm, ..insn },
    }
}

impl Kind {
    /// Its slot, and the second one of a 64-bit immediate load. What [`Insn::kind`] gave is
    /// encoded as it was.
    pub fn encode(self) -> (Insn, Option<Insn>) {
        let zero = Insn::default();
        let alu_class = |wide| if wide { class::ALU64 } else { class::ALU };
        let insn = match self {
            Self::Alu { op, wide, dst, src } => {
                let off = i16::from(matches!(op, AluOp::Sdiv | AluOp::Smod));
                operand(alu_class(wide) | alu_bits(op), src, Insn { dst, off, ..zero })
            }
            Self::Neg { wide, dst } => Insn { op: alu_class(wide) | alu::NEG, dst, ..zero },
            Self::MovSx { wide, bits, dst, src } => {
                Insn { op: alu_class(wide) | alu::MOV | X, dst, src, off: bits.into(), ..zero }
            }
            Self::Swap { order, bits, dst } => {
                let op = match order {
                    Order::Little => class::ALU,
                    Order::Big => class::ALU | X,
                    Order::Swap => class::ALU64,
                };
                Insn { op: op | alu::END, dst, imm: bits.into(), ..zero }
            }
            Self::Jump { off, long: true } => Insn { op: class::JMP32 | jump::JA, imm: off, ..zero },
            Self::Jump { off, long: false } => Insn { op: class::JMP | jump::JA, off: off as i16, ..zero },
            Self::Branch { cond, wide, dst, src, off } => {
                let class = if wide { class::JMP } else { class::JMP32 };
                operand(class | cond_bits(cond), src, Insn { dst, off, ..zero })
            }
            Self::CallHelper { id } => Insn { op: CALL, imm: id, ..zero },
            Self::CallLocal { off } => Insn { op: CALL, src: pseudo::LOCAL, imm: off, ..zero },
            Self::Exit => Insn { op: EXIT, ..zero },
            Self::Load { size, signed, dst, src, off } => {
                let mode = if signed { mode::MEMSX } else { mode::MEM };
                Insn { op: class::LDX | mode | size_bits(size), dst, src, off, ..zero }
            }
            Self::Store { size, dst, off, src } => {
                let class = if matches!(src, Operand::Reg(_)) { class::STX } else { class::ST };
                // Here the class says what the operand is, not the source bit.
                let insn = operand(0, src, Insn { dst, off, ..zero });
                Insn { op: class | mode::MEM | size_bits(size), ..insn }
            }
            Self::Atomic { size, op, fetch, dst, off, src } => {
                let imm = match op {
                    AtomicOp::Add => atomic::ADD,
                    AtomicOp::Or => atomic::OR,
                    AtomicOp::And => atomic::AND,
                    AtomicOp::Xor => atomic::XOR,
                    AtomicOp::Xchg => atomic::XCHG,
                    AtomicOp::Cmpxchg => atomic::CMPXCHG,
                } | i32::from(fetch);
                Insn { op: class::STX | mode::ATOMIC | size_bits(size), dst, src, off, imm }
            }
            Self::Wide { dst, value } => {
                let (src, imm, high) = match value {
                    WideValue::Number(number) => (pseudo::NUMBER, number as i32, (number >> 32) as i32),
                    WideValue::Map(map) => (pseudo::MAP, map as i32, 0),
                    WideValue::MapValue { map, offset } => (pseudo::MAP_VALUE, map as i32, offset as i32),
                    WideValue::Function(off) => (pseudo::FUNCTION, off, 0),
                };
                return (Insn { op: LD_IMM64, dst, src, imm, ..zero }, Some(Insn { imm: high, ..zero }));
            }
        };
        (insn, None)
    }
}
