//! Which registers an instruction reads and writes.

use super::{ADJUST_HEAD, ALL, Op, Registers, START};
use sluice_ebpf::insn::{AtomicOp, Operand};

/// The set of one operand.
fn of(operand: Operand) -> Registers {
    match operand {
        Operand::Reg(r) => 1 << r,
        Operand::Imm(_) => 0,
    }
}

impl Op {
    /// Registers that it reads. Calls of functions, and helpers that may run a function or end the program, show the
    /// others all of r0 to r9.
    pub fn reads(&self) -> Registers {
        match *self {
            Self::Alu { a, b, .. } | Self::Branch { a, b, .. } | Self::Clear { a, b, .. } => 1 << a | of(b),
            Self::Move { src, .. } => of(src),
            Self::Extend { src, .. } | Self::Negate { src, .. } | Self::Rotate { src, .. } | Self::Swap { src, .. } => {
                1 << src
            }
            Self::Constant { .. } | Self::Element { .. } | Self::Copy { .. } | Self::Jump { .. } => 0,
            Self::Length { base, .. } => base.map_or(0, |base| 1 << base),
            Self::Indexed { index: a, base: b, .. } | Self::Pack { low: a, high: b, .. } => 1 << a | 1 << b,
            Self::AddPair { base, src, .. } => 1 << base | 1 << src,
            Self::Load { base, .. } => 1 << base,
            Self::Store { base, src, .. } => 1 << base | of(src),
            Self::Atomic { op, base, src, .. } => 1 << base | of(src) | Registers::from(op == AtomicOp::Cmpxchg),
            Self::Helper { .. } if self.is_barrier() => ALL,
            Self::Helper { id, handle, second, third } => {
                let args = sluice_ebpf::helper::find_any(id).map_or(5, |helper| helper.args.len());
                let given = handle.map_or(0, |_| 1 << 1) | second.map_or(0, |_| 1 << 2) | third.map_or(0, |_| 1 << 3);
                ((1 << args) - 1) << 1 & !given | second.map_or(0, |(base, _)| 1 << base)
            }
            Self::Call { .. } => ALL,
            Self::Exit { value, .. } => value.map_or(1, of),
        }
    }

    /// Registers that it writes.
    pub fn writes(&self) -> Registers {
        match *self {
            Self::Alu { dst, .. }
            | Self::Move { dst, .. }
            | Self::Extend { dst, .. }
            | Self::Negate { dst, .. }
            | Self::Rotate { dst, .. }
            | Self::Swap { dst, .. }
            | Self::Constant { dst, .. }
            | Self::Element { dst, .. }
            | Self::Copy { dst, .. }
            | Self::Indexed { dst, .. }
            | Self::Pack { dst, .. }
            | Self::Load { dst, .. } => 1 << dst,
            Self::Atomic { op: AtomicOp::Cmpxchg, .. } => 1,
            Self::Atomic { fetch: true, src, .. } => of(src),
            // The frame begins elsewhere.
            Self::Helper { id: ADJUST_HEAD, .. } => 1 | 1 << START,
            // A function leaves in r0 to r5 what it likes.
            Self::Helper { .. } | Self::Call { .. } if self.is_barrier() => 0x3f,
            Self::Helper { .. } => 1,
            _ => 0,
        }
    }

    /// Registers that it reads or writes without naming them in a field: they cannot be others.
    pub fn fixed(&self) -> Registers {
        match *self {
            Self::Helper { .. } | Self::Call { .. } if self.is_barrier() => ALL,
            Self::Helper { id, handle, third, .. } => {
                let moved = self.writes() & 1 << START;
                Self::Helper { id, handle, second: None, third }.reads() | 1 | moved
            }
            Self::Exit { value: None, .. } => 1,
            Self::Atomic { op: AtomicOp::Cmpxchg, .. } => 1,
            Self::Atomic { fetch: true, src, .. } => of(src),
            _ => 0,
        }
    }

    /// The same with other registers in its fields.
    pub fn renamed(self, read: &impl Fn(u8) -> u8, write: &impl Fn(u8) -> u8) -> Self {
        let operand = |operand| match operand {
            Operand::Reg(r) => Operand::Reg(read(r)),
            number => number,
        };
        match self {
            Self::Alu { op, wide, dst, a, b } => Self::Alu { op, wide, dst: write(dst), a: read(a), b: operand(b) },
            Self::Move { wide, dst, src } => Self::Move { wide, dst: write(dst), src: operand(src) },
            Self::Extend { wide, bits, dst, src } => Self::Extend { wide, bits, dst: write(dst), src: read(src) },
            Self::Negate { wide, dst, src } => Self::Negate { wide, dst: write(dst), src: read(src) },
            Self::Rotate { wide, dst, src, right } => Self::Rotate { wide, dst: write(dst), src: read(src), right },
            Self::Swap { order, bits, dst, src } => Self::Swap { order, bits, dst: write(dst), src: read(src) },
            Self::Constant { dst, value } => Self::Constant { dst: write(dst), value },
            Self::Element { dst, map, index } => Self::Element { dst: write(dst), map, index },
            Self::Copy { dst, map } => Self::Copy { dst: write(dst), map },
            Self::Indexed { dst, index, base, shift, most } => {
                Self::Indexed { dst: write(dst), index: read(index), base: read(base), shift, most }
            }
            Self::Pack { dst, low, high, bits } => {
                Self::Pack { dst: write(dst), low: read(low), high: read(high), bits }
            }
            Self::AddPair { base, off, number, src, swapped, quiet } => {
                Self::AddPair { base: read(base), off, number, src: read(src), swapped, quiet }
            }
            Self::Load { bytes, signed, dst, base, off, quiet } => {
                Self::Load { bytes, signed, dst: write(dst), base: read(base), off, quiet }
            }
            Self::Store { bytes, base, off, src } => Self::Store { bytes, base: read(base), off, src: operand(src) },
            Self::Atomic { bytes, op, fetch, quiet, base, off, src } => {
                Self::Atomic { bytes, op, fetch, quiet, base: read(base), off, src: operand(src) }
            }
            Self::Branch { cond, wide, a, b, to, back } => {
                Self::Branch { cond, wide, a: read(a), b: operand(b), to, back }
            }
            Self::Clear { wide, a, b, to, back } => Self::Clear { wide, a: read(a), b: operand(b), to, back },
            Self::Length { base, bytes, within, to, back } => {
                Self::Length { base: base.map(read), bytes, within, to, back }
            }
            Self::Helper { id, handle, second, third } => {
                Self::Helper { id, handle, second: second.map(|(base, more)| (read(base), more)), third }
            }
            Self::Exit { value, back } => Self::Exit { value: value.map(operand), back },
            Self::Jump { .. } | Self::Call { .. } => self,
        }
    }
}
