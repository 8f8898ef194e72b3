//! Carries copies, constants and sums with constants to where they are read.
//!
//! Before: `r2 = r10; r2 += -4; r1 = *(r2 +0)`. After: `r2 = r10 + -4; r1 = *(r10 -4)`. This is what makes three operands,
//! and helpers that are given a map and an address without r1 and r2. `dead` removes the instructions that nobody reads any more. Leaves alone: control flow, every register's value.

use super::Code;
use super::entries::Entries;
use super::queues::PUSH;
use crate::Op;
use crate::alu::alu;
use crate::op::{NAMES, OWN, REDIRECT_MAP, Registers, START};
use sluice_ebpf::insn::{AluOp, Operand, WideValue};

/// What a register is known to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// This number, sign-extended.
    Number(i32),
    /// What another register holds, and so much more; modulo 2^64.
    Sum(u8, i32),
    /// The handle of the map with this index.
    Map(u32),
    /// The address of some map's value: never 0.
    Element,
}

/// Facts of all registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    known: [Option<Fact>; NAMES],
    /// Registers whose upper half is zero: a 32-bit move of one is a copy.
    short: Registers,
}

impl Default for Facts {
    fn default() -> Self {
        Self { known: [None; NAMES], short: 1 << START }
    }
}

impl Facts {
    /// What of them may be used in another trace. The compiler's own registers hold nothing there; nor may a register be read
    /// there that eBPF does not read: it may hold what eBPF has overwritten, of which the region analysis says something else.
    pub fn across(mut self) -> Self {
        for (r, known) in (0..NAMES as u8).zip(&mut self.known) {
            let is_read = matches!(known, Some(Fact::Sum(of, _)) if !matches!(*of, 10 | START));
            if OWN >> r & 1 == 1 || is_read {
                *known = None;
            }
        }
        self.short &= !OWN | 1 << START;
        self
    }

    /// What holds on both of two ways.
    pub fn both(mut self, other: &Self) -> Self {
        for (known, other) in self.known.iter_mut().zip(other.known) {
            *known = known.filter(|fact| other == Some(*fact));
        }
        self.short &= other.short;
        self
    }

    /// Adds what is known from elsewhere of a register.
    pub fn learn(&mut self, r: u8, fact: Fact) {
        self.known[usize::from(r)].get_or_insert(fact);
    }

    /// What is known of a register.
    pub fn of(&self, r: u8) -> Option<Fact> {
        self.known[usize::from(r)]
    }

    /// The number that a register holds, if it is known.
    pub fn number(&self, r: u8) -> Option<i32> {
        match self.of(r) {
            Some(Fact::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// Whether it surely holds the address of a map's value.
    pub fn is_element(&self, r: u8) -> bool {
        self.of(r) == Some(Fact::Element)
    }

    /// The register whose value another one copies, or itself.
    pub fn register(&self, r: u8) -> u8 {
        match self.of(r) {
            Some(Fact::Sum(of, 0)) => of,
            _ => r,
        }
    }

    /// The plainest operand of the same 64-bit value.
    pub fn operand(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Reg(r) => match self.of(r) {
                Some(Fact::Number(number)) => Operand::Imm(number),
                _ => Operand::Reg(self.register(r)),
            },
            number => number,
        }
    }

    /// Base and offset of the same address.
    fn address(&self, base: u8, off: i16) -> (u8, i16) {
        if let Some(Fact::Sum(of, more)) = self.of(base)
            && let Some(sum) = i32::from(off).checked_add(more)
            && let Ok(sum) = i16::try_from(sum)
        {
            return (of, sum);
        }
        (base, off)
    }

    /// What holds behind an instruction.
    pub fn pass(&mut self, op: &Op) {
        // Behind a function the compiler's own registers hold nothing.
        let written = op.writes() | if op.is_barrier() { OWN } else { 0 };
        let is_short = self.gives_short(op);
        let fact = match *op {
            Op::Move { wide: true, src: Operand::Reg(r), .. } => self.of(r).or(Some(Fact::Sum(r, 0))),
            Op::Move { wide: true, src: Operand::Imm(number), .. } => Some(Fact::Number(number)),
            // Zero-extended: only what is not negative is its own sign extension.
            Op::Move { wide: false, src: Operand::Imm(number), .. } if number >= 0 => Some(Fact::Number(number)),
            Op::Constant { value: WideValue::Map(map), .. } => Some(Fact::Map(map)),
            Op::Element { .. } => Some(Fact::Element),
            Op::Alu { op: AluOp::Add, wide: true, a, b: Operand::Imm(more), .. } => match self.of(a) {
                Some(Fact::Sum(of, before)) => before.checked_add(more).map(|sum| Fact::Sum(of, sum)),
                Some(Fact::Number(_) | Fact::Map(_)) => None,
                Some(Fact::Element) => Some(Fact::Sum(a, more)),
                None => Some(Fact::Sum(a, more)),
            },
            _ => None,
        };
        for (r, known) in (0..).zip(&mut self.known) {
            let stale = matches!(known, Some(Fact::Sum(of, _)) if written >> *of & 1 == 1);
            if written >> r & 1 == 1 || stale {
                *known = None;
            }
        }
        self.short = (if is_short { self.short | written } else { self.short & !written }) | 1 << START;
        // A fact about the register itself, as of `r1 += 4`, says nothing of its new value.
        let dst = written.trailing_zeros() as usize;
        if written.count_ones() == 1 && !matches!(fact, Some(Fact::Sum(of, _)) if usize::from(of) == dst) {
            self.known[dst] = fact;
        }
    }

    /// Whether the upper half of what an instruction writes is surely zero.
    fn gives_short(&self, op: &Op) -> bool {
        match *op {
            Op::Alu { wide, .. } | Op::Negate { wide, .. } | Op::Rotate { wide, .. } | Op::Extend { wide, .. } => !wide,
            Op::Move { wide: false, .. } => true,
            Op::Move { src: Operand::Reg(r), .. } => self.short >> r & 1 == 1,
            Op::Move { src: Operand::Imm(number), .. } => number >= 0,
            Op::Swap { bits, .. } => bits < 64,
            Op::Load { bytes, signed, .. } => bytes <= 4 && !signed,
            _ => false,
        }
    }

    /// The same instruction with plainer operands.
    pub fn rewrite(&self, op: Op) -> Op {
        match op {
            Op::Alu { op, wide, dst, a, b } => {
                let b = self.operand(b);
                if let (AluOp::Add, true, Operand::Imm(more), Some(Fact::Sum(of, before))) = (op, wide, b, self.of(a))
                    && let Some(sum) = before.checked_add(more)
                {
                    return Op::Alu { op, wide, dst, a: of, b: Operand::Imm(sum) };
                }
                if let (Some(Fact::Number(a)), Operand::Imm(b)) = (self.of(a), b) {
                    let result = alu(op, wide, a as i64 as u64, b as i64 as u64);
                    match i32::try_from(result as i64) {
                        Ok(number) => return Op::Move { wide: true, dst, src: Operand::Imm(number) },
                        Err(_) if !wide => return Op::Move { wide, dst, src: Operand::Imm(result as i32) },
                        Err(_) => {}
                    }
                }
                let keeps = matches!(
                    op,
                    AluOp::Add | AluOp::Sub | AluOp::Or | AluOp::Xor | AluOp::Lsh | AluOp::Rsh | AluOp::Arsh
                );
                if keeps && b == Operand::Imm(0) {
                    return self.rewrite(Op::Move { wide, dst, src: Operand::Reg(a) });
                }
                Op::Alu { op, wide, dst, a: self.register(a), b }
            }
            Op::Move { wide, dst, src } => {
                let is_copy = matches!(src, Operand::Reg(r) if self.short >> r & 1 == 1);
                Op::Move { wide: wide || is_copy, dst, src: self.operand(src) }
            }
            Op::Extend { wide, bits, dst, src } => Op::Extend { wide, bits, dst, src: self.register(src) },
            Op::Negate { wide, dst, src } => Op::Negate { wide, dst, src: self.register(src) },
            Op::Rotate { wide, dst, src, right } => Op::Rotate { wide, dst, src: self.register(src), right },
            Op::Swap { order, bits, dst, src } => Op::Swap { order, bits, dst, src: self.register(src) },
            Op::Indexed { dst, index, base, shift, most } => {
                Op::Indexed { dst, index: self.register(index), base: self.register(base), shift, most }
            }
            Op::Load { bytes, signed, dst, base, off, quiet } => {
                let (base, off) = self.address(base, off);
                Op::Load { bytes, signed, dst, base, off, quiet }
            }
            Op::Store { bytes, base, off, src } => {
                let (base, off) = self.address(base, off);
                Op::Store { bytes, base, off, src: self.operand(src) }
            }
            Op::Atomic { bytes, op, fetch, quiet, base, off, src } => {
                let (base, off) = self.address(base, off);
                // A fetched value goes to the register itself.
                let src = if fetch { src } else { self.operand(src) };
                Op::Atomic { bytes, op, fetch, quiet, base, off, src }
            }
            Op::Branch { cond, wide, a, b, to, back } => {
                Op::Branch { cond, wide, a: self.register(a), b: self.operand(b), to, back }
            }
            Op::Clear { wide, a, b, to, back } => Op::Clear { wide, a: self.register(a), b: self.operand(b), to, back },
            Op::Length { base: Some(base), bytes, within, to, back } => {
                let folded = match self.of(base) {
                    Some(Fact::Sum(of, more)) => bytes.checked_add(more).map(|bytes| (of, bytes)),
                    _ => None,
                };
                let (base, bytes) = folded.unwrap_or((base, bytes));
                Op::Length { base: Some(base), bytes, within, to, back }
            }
            Op::Exit { value: Some(value), back } => Op::Exit { value: Some(self.operand(value)), back },
            // What a barrier is given stays in its registers: others see them.
            Op::Helper { id, handle: None, second: None, third: None } if !op.is_barrier() => {
                let reads = |r: u8| op.reads() >> r & 1 == 1;
                let handle = match self.of(1) {
                    Some(Fact::Map(map)) if reads(1) && map <= u16::MAX.into() => Some(map),
                    _ => None,
                };
                let second = match self.of(2) {
                    // The engine takes a push's value from where others have their third argument: it is a register.
                    Some(Fact::Sum(of, more)) if reads(2) && id != PUSH => {
                        i16::try_from(more).ok().map(|more| (of, more))
                    }
                    _ => None,
                };
                // The last lane, which reads it, has room for a number.
                let third =
                    if id == REDIRECT_MAP { self.number(3).and_then(|flags| flags.try_into().ok()) } else { None };
                Op::Helper { id, handle, second, third }
            }
            other => other,
        }
    }
}

/// Rewrites every trace.
pub fn copies(code: &mut Code) {
    let entries = Entries::of(code);
    for (label, trace) in &mut code.traces {
        let mut facts = entries.at(*label);
        for step in &mut trace.steps {
            step.op = facts.rewrite(step.op);
            facts.pass(&step.op);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_a_copy_is_a_sum_of_what_was_copied() {
        let mut facts = Facts::default();
        facts.pass(&Op::Move { wide: true, dst: 2, src: Operand::Reg(10) });
        let add = Op::Alu { op: AluOp::Add, wide: true, dst: 2, a: 2, b: Operand::Imm(-4) };
        let add = facts.rewrite(add);
        assert_eq!(add, Op::Alu { op: AluOp::Add, wide: true, dst: 2, a: 10, b: Operand::Imm(-4) });
        facts.pass(&add);
        assert_eq!(facts.address(2, 0), (10, -4));
    }

    #[test]
    fn a_fact_ends_with_the_register_it_is_of() {
        let mut facts = Facts::default();
        facts.pass(&Op::Move { wide: true, dst: 2, src: Operand::Reg(3) });
        assert_eq!(facts.register(2), 3);
        facts.pass(&Op::Alu { op: AluOp::Add, wide: true, dst: 3, a: 3, b: Operand::Imm(1) });
        assert_eq!((facts.register(2), facts.register(3)), (2, 3));
    }

    #[test]
    fn nothing_is_known_of_own_registers_behind_a_call() {
        let mut facts = Facts::default();
        facts.pass(&Op::Move { wide: true, dst: 6, src: Operand::Reg(11) });
        facts.pass(&Op::Helper { id: 5, handle: None, second: None, third: None });
        assert_eq!(facts.register(6), 11);
        facts.pass(&Op::Call { to: 0 });
        assert_eq!(facts.register(6), 6);
    }

    #[test]
    fn a_negative_number_in_32_bits_is_no_number_in_64() {
        let mut facts = Facts::default();
        facts.pass(&Op::Move { wide: false, dst: 1, src: Operand::Imm(-1) });
        assert_eq!(facts.operand(Operand::Reg(1)), Operand::Reg(1));
    }

    #[test]
    fn a_32_bit_move_copies_what_has_no_upper_half() {
        let mut facts = Facts::default();
        let narrow = Op::Move { wide: false, dst: 0, src: Operand::Reg(4) };
        assert_eq!(facts.rewrite(narrow), narrow);
        facts.pass(&Op::Load { bytes: 4, signed: false, dst: 4, base: 1, off: 0, quiet: false });
        let copy = facts.rewrite(narrow);
        assert_eq!(copy, Op::Move { wide: true, dst: 0, src: Operand::Reg(4) });
        facts.pass(&copy);
        assert_eq!(facts.register(0), 4);
        facts.pass(&Op::Load { bytes: 4, signed: true, dst: 4, base: 1, off: 0, quiet: false });
        assert_eq!(facts.rewrite(narrow), narrow);
    }
}
