//! Arithmetic and conditions of a lane.

use sluice_ebpf::analysis::alu::Op;
use sluice_ebpf::analysis::branch::Test;
use sluice_ebpf::insn::{AluOp, Cond, Order};

fn width(wide: bool) -> u32 {
    if wide { 64 } else { 32 }
}

/// `a op b` in 64 bits, or of the low halves, zero-extended. Division by zero gives 0, the remainder then `a`; shifts
/// take the low bits of their count.
pub fn alu(op: AluOp, wide: bool, a: u64, b: u64) -> u64 {
    match Op::of(op) {
        Some(op) => op.concrete(width(wide), a, b),
        None if wide => b,
        None => u64::from(b as u32),
    }
}

/// Whether a condition holds of 64 bits or of the low halves.
pub fn holds(cond: Cond, wide: bool, a: u64, b: u64) -> bool {
    Test::of(cond).holds(width(wide), a, b)
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

/// Rotation to the right in 64 bits or of the low half, zero-extended.
pub fn rotate(wide: bool, right: u8, x: u64) -> u64 {
    if wide { x.rotate_right(right.into()) } else { (x as u32).rotate_right(right.into()).into() }
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
