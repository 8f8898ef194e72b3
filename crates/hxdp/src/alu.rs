//! Arithmetic and conditions of a lane.

use sluice_ebpf::insn::{AluOp, Cond, Order};

/// `a op b` in 64 bits, or of the low halves, zero-extended. Division by zero gives 0, the remainder then `a`; shifts
/// take the low bits of their count.
pub fn alu(op: AluOp, wide: bool, a: u64, b: u64) -> u64 {
    if wide { alu64(op, a, b) } else { alu32(op, a as u32, b as u32).into() }
}

fn alu64(op: AluOp, a: u64, b: u64) -> u64 {
    let (signed, by) = (a as i64, b as i64);
    match op {
        AluOp::Add => a.wrapping_add(b),
        AluOp::Sub => a.wrapping_sub(b),
        AluOp::Mul => a.wrapping_mul(b),
        AluOp::Or => a | b,
        AluOp::And => a & b,
        AluOp::Xor => a ^ b,
        AluOp::Mov => b,
        AluOp::Lsh => a.wrapping_shl(b as u32),
        AluOp::Rsh => a.wrapping_shr(b as u32),
        AluOp::Arsh => signed.wrapping_shr(b as u32) as u64,
        AluOp::Div | AluOp::Sdiv if b == 0 => 0,
        AluOp::Mod | AluOp::Smod if b == 0 => a,
        AluOp::Div => a / b,
        AluOp::Mod => a % b,
        AluOp::Sdiv => signed.wrapping_div(by) as u64,
        AluOp::Smod => signed.wrapping_rem(by) as u64,
    }
}

fn alu32(op: AluOp, a: u32, b: u32) -> u32 {
    let (signed, by) = (a as i32, b as i32);
    match op {
        AluOp::Add => a.wrapping_add(b),
        AluOp::Sub => a.wrapping_sub(b),
        AluOp::Mul => a.wrapping_mul(b),
        AluOp::Or => a | b,
        AluOp::And => a & b,
        AluOp::Xor => a ^ b,
        AluOp::Mov => b,
        AluOp::Lsh => a.wrapping_shl(b),
        AluOp::Rsh => a.wrapping_shr(b),
        AluOp::Arsh => signed.wrapping_shr(b) as u32,
        AluOp::Div | AluOp::Sdiv if b == 0 => 0,
        AluOp::Mod | AluOp::Smod if b == 0 => a,
        AluOp::Div => a / b,
        AluOp::Mod => a % b,
        AluOp::Sdiv => signed.wrapping_div(by) as u32,
        AluOp::Smod => signed.wrapping_rem(by) as u32,
    }
}

/// Whether a condition holds of 64 bits or of the low halves.
pub fn holds(cond: Cond, wide: bool, a: u64, b: u64) -> bool {
    // Both numbers sign-extended from their width keep their order, signed and unsigned.
    let narrow = |x: u64| if wide { x } else { x as i32 as u64 };
    let (a, b) = (narrow(a), narrow(b));
    let (signed, by) = (a as i64, b as i64);
    match cond {
        Cond::Eq => a == b,
        Cond::Ne => a != b,
        Cond::Gt => a > b,
        Cond::Ge => a >= b,
        Cond::Lt => a < b,
        Cond::Le => a <= b,
        Cond::Set => a & b != 0,
        Cond::Sgt => signed > by,
        Cond::Sge => signed >= by,
        Cond::Slt => signed < by,
        Cond::Sle => signed <= by,
    }
}

/// Sign extension of the low `bits`, cut to the width.
pub fn extend(wide: bool, bits: u8, x: u64) -> u64 {
    let extended = match bits {
        8 => x as i8 as u64,
        16 => x as i16 as u64,
        _ => x as i32 as u64,
    };
    if wide { extended } else { u64::from(extended as u32) }
}

/// Byte swap of the low `bits`; to little endian it only cuts.
pub fn swap(order: Order, bits: u8, x: u64) -> u64 {
    match (order, bits) {
        (Order::Little, 16) => u64::from(x as u16),
        (Order::Little, 32) => u64::from(x as u32),
        (Order::Little, _) => x,
        (_, 16) => (x as u16).swap_bytes().into(),
        (_, 32) => (x as u32).swap_bytes().into(),
        _ => x.swap_bytes(),
    }
}
