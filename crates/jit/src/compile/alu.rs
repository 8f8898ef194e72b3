//! Arithmetic.

use super::function::Body;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use sluice_ebpf::insn::{AluOp, Operand, Order};

impl Body<'_> {
    /// The second operand, as wide as the operation.
    pub(super) fn operand(&mut self, src: Operand, of: Type) -> Value {
        match src {
            Operand::Reg(register) => {
                let value = self.get(register);
                self.narrow(of, value)
            }
            Operand::Imm(number) if of == types::I64 => self.number(number.into()),
            Operand::Imm(number) => self.builder.ins().iconst(of, i64::from(number as u32)),
        }
    }

    pub(super) fn alu(&mut self, op: AluOp, wide: bool, dst: u8, src: Operand) {
        let of = if wide { types::I64 } else { types::I32 };
        let b = self.operand(src, of);
        if op == AluOp::Mov {
            let value = self.widen(b);
            return self.set(dst, value);
        }
        let a = self.get(dst);
        let a = self.narrow(of, a);
        let value = match op {
            AluOp::Add => self.builder.ins().iadd(a, b),
            AluOp::Sub => self.builder.ins().isub(a, b),
            AluOp::Mul => self.builder.ins().imul(a, b),
            AluOp::Or => self.builder.ins().bor(a, b),
            AluOp::And => self.builder.ins().band(a, b),
            AluOp::Xor => self.builder.ins().bxor(a, b),
            // Amounts are taken modulo the width, as the instruction set says.
            AluOp::Lsh => self.builder.ins().ishl(a, b),
            AluOp::Rsh => self.builder.ins().ushr(a, b),
            AluOp::Arsh => self.builder.ins().sshr(a, b),
            AluOp::Div | AluOp::Mod => self.unsigned(op == AluOp::Div, of, (a, b), src),
            AluOp::Sdiv | AluOp::Smod => self.signed(op == AluOp::Sdiv, of, (a, b), src),
            AluOp::Mov => b,
        };
        let value = self.widen(value);
        self.set(dst, value);
    }

    /// Quotient or remainder; by zero they are 0 and the dividend.
    fn unsigned(&mut self, quotient: bool, of: Type, (a, b): (Value, Value), src: Operand) -> Value {
        let by_zero = if quotient { self.builder.ins().iconst(of, 0) } else { a };
        if src == Operand::Imm(0) {
            return by_zero;
        }
        let divided = |body: &mut Self, b| {
            if quotient { body.builder.ins().udiv(a, b) } else { body.builder.ins().urem(a, b) }
        };
        if matches!(src, Operand::Imm(_)) {
            return divided(self, b);
        }
        let one = self.builder.ins().iconst(of, 1);
        let is_zero = self.builder.ins().icmp_imm_s(IntCC::Equal, b, 0);
        let safe = self.builder.ins().select(is_zero, one, b);
        let value = divided(self, safe);
        self.builder.ins().select(is_zero, by_zero, value)
    }

    /// The same signed; the least number by -1 wraps.
    fn signed(&mut self, quotient: bool, of: Type, (a, b): (Value, Value), src: Operand) -> Value {
        let zero = self.builder.ins().iconst(of, 0);
        let by_zero = if quotient { zero } else { a };
        let by_minus_one = if quotient { self.builder.ins().ineg(a) } else { zero };
        match src {
            Operand::Imm(0) => return by_zero,
            Operand::Imm(-1) => return by_minus_one,
            _ => {}
        }
        let divided = |body: &mut Self, b| {
            if quotient { body.builder.ins().sdiv(a, b) } else { body.builder.ins().srem(a, b) }
        };
        if matches!(src, Operand::Imm(_)) {
            return divided(self, b);
        }
        let one = self.builder.ins().iconst(of, 1);
        let is_zero = self.builder.ins().icmp_imm_s(IntCC::Equal, b, 0);
        let is_minus_one = self.builder.ins().icmp_imm_s(IntCC::Equal, b, -1);
        let special = self.builder.ins().bor(is_zero, is_minus_one);
        let safe = self.builder.ins().select(special, one, b);
        let value = divided(self, safe);
        let value = self.builder.ins().select(is_minus_one, by_minus_one, value);
        self.builder.ins().select(is_zero, by_zero, value)
    }

    pub(super) fn negate(&mut self, wide: bool, dst: u8) {
        let of = if wide { types::I64 } else { types::I32 };
        let a = self.get(dst);
        let a = self.narrow(of, a);
        let value = self.builder.ins().ineg(a);
        let value = self.widen(value);
        self.set(dst, value);
    }

    pub(super) fn extend(&mut self, wide: bool, bits: u8, dst: u8, src: u8) {
        let a = self.get(src);
        let a = self.narrow(width(bits), a);
        let value = self.builder.ins().sextend(if wide { types::I64 } else { types::I32 }, a);
        let value = self.widen(value);
        self.set(dst, value);
    }

    pub(super) fn swap(&mut self, order: Order, bits: u8, dst: u8) {
        let a = self.get(dst);
        let a = self.narrow(width(bits), a);
        let value = if order == Order::Little { a } else { self.builder.ins().bswap(a) };
        let value = self.widen(value);
        self.set(dst, value);
    }
}

/// The type of so many bits.
pub(super) fn width(bits: u8) -> Type {
    match bits {
        8 => types::I8,
        16 => types::I16,
        32 => types::I32,
        _ => types::I64,
    }
}
