//! Slots to instructions of bundles.
//!
//! Before: a validated program. After: one instruction a slot that is not the second half of a wide load; targets are
//! slots of the program. Leaves alone: the order.

use crate::{Op, Step};
use sluice_ebpf::Program;
use sluice_ebpf::insn::{AluOp, Kind, Operand, WideValue};

/// All instructions of a program.
pub fn decode(program: &Program) -> Vec<Step> {
    let insns = &program.insns;
    let mut steps = Vec::with_capacity(insns.len());
    let mut slot = 0;
    while let Some(insn) = insns.get(slot) {
        // Validation has refused what is no instruction.
        let Ok(kind) = insn.kind(insns.get(slot + 1).copied()) else { break };
        steps.push(Step { slot: slot as u32, op: op(kind, slot as u32) });
        slot += kind.slots() as usize;
    }
    steps
}

fn op(kind: Kind, slot: u32) -> Op {
    let to = kind.target(slot).map_or(0, |target| target as u32);
    let back = to <= slot;
    match kind {
        Kind::Alu { op: AluOp::Mov, wide, dst, src } => Op::Move { wide, dst, src },
        Kind::Alu { op, wide, dst, src } => Op::Alu { op, wide, dst, a: dst, b: src },
        Kind::Neg { wide, dst } => Op::Negate { wide, dst, src: dst },
        Kind::MovSx { wide, bits, dst, src } => Op::Extend { wide, bits, dst, src },
        Kind::Swap { order, bits, dst } => Op::Swap { order, bits, dst, src: dst },
        Kind::Jump { .. } => Op::Jump { to, back },
        Kind::Branch { cond, wide, dst, src, .. } => Op::Branch { cond, wide, a: dst, b: src, to, back },
        Kind::CallHelper { id } => Op::Helper { id, handle: None, second: None, third: None },
        Kind::CallLocal { .. } => Op::Call { to },
        Kind::Exit => Op::Exit { value: None, back: false },
        Kind::Load { size, signed, dst, src, off } => {
            Op::Load { bytes: size, signed, dst, base: src, off, quiet: false }
        }
        Kind::Store { size, dst, off, src } => Op::Store { bytes: size, base: dst, off, src },
        Kind::Atomic { size, op, fetch, dst, off, src } => {
            Op::Atomic { bytes: size, op, fetch, quiet: false, base: dst, off, src: Operand::Reg(src) }
        }
        Kind::Wide { dst, value: WideValue::Function(_) } => {
            Op::Constant { dst, value: WideValue::Function(to as i32) }
        }
        Kind::Wide { dst, value } => Op::Constant { dst, value },
    }
}
