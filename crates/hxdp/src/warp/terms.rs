//! Numbers as terms, for a checker that compares two programs: what is equal here is equal for every packet.
//!
//! Bits of the frame, constants, and bits of numbers that are not looked into. An operation that only moves, masks or joins bits gives bits
//! again; any other one gives a number of its own, the same for the same operands. The optimizer has nothing of this.

use super::extract::{Extract, Part};
use crate::{Op, alu};
use sluice_ebpf::insn::{AluOp, Operand, Order, WideValue};
use std::array::from_fn;
use std::collections::HashMap;

/// One bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bit {
    /// 0.
    Zero,
    /// 1.
    One,
    /// Bit `n % 8` of byte `n / 8` of what is seen of a packet.
    Seen(u16),
    /// A bit of a number that is not looked into.
    Of(u32, u8),
}

/// A byte.
pub type Byte = [Bit; 8];

/// A number: its bits, and what is added to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    bits: [Bit; 64],
    add: u64,
}

/// What a number is that is not looked into.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// What a register holds before a program begins.
    First(u8),
    /// What an operation gives, whose registers are left out, of these operands.
    Result(Op, Vec<Term>),
    /// Bits with something added.
    Sum(Term),
    /// So many bytes at an address, behind so many of the steps that are done in order.
    Loaded(u32, Term, u8),
    /// What a step gives that is done in order: its number, and the register.
    Given(u32, u8),
    /// What a lookup in this per-CPU map gives the first processor.
    FirstCopy(u32),
    /// A byte of the stack, by its place, behind such a step that may have written it; what was there before.
    Stack(u32, u16, Byte),
}

/// All numbers that are not looked into, each once.
#[derive(Debug, Default)]
pub struct Terms {
    nodes: HashMap<Node, u32>,
    /// Pairs of numbers whose sum is known, and that.
    sums: Vec<([Term; 2], Term)>,
}

impl Bit {
    fn of(value: bool) -> Self {
        if value { Self::One } else { Self::Zero }
    }

    fn constant(self) -> Option<bool> {
        match self {
            Self::Zero => Some(false),
            Self::One => Some(true),
            Self::Seen(_) | Self::Of(..) => None,
        }
    }

    fn with(self, op: AluOp, other: Self) -> Option<Self> {
        match (op, self.constant(), other.constant()) {
            (AluOp::And, Some(true), _) | (AluOp::Or | AluOp::Xor, Some(false), _) => Some(other),
            (AluOp::And, _, Some(true)) | (AluOp::Or | AluOp::Xor, _, Some(false)) => Some(self),
            (AluOp::And, Some(false), _) | (AluOp::And, _, Some(false)) => Some(Self::Zero),
            (AluOp::Or, Some(true), _) | (AluOp::Or, _, Some(true)) => Some(Self::One),
            (AluOp::Xor, Some(true), Some(true)) => Some(Self::Zero),
            (AluOp::And | AluOp::Or, None, None) if self == other => Some(self),
            (AluOp::Xor, None, None) if self == other => Some(Self::Zero),
            _ => None,
        }
    }
}

impl Term {
    /// A number that is known.
    pub fn constant(value: u64) -> Self {
        Self { bits: from_fn(|n| Bit::of(value >> n & 1 == 1)), add: 0 }
    }

    /// Bytes, the lowest first; the rest is 0.
    pub fn joined(bytes: &[Byte]) -> Self {
        Self { bits: from_fn(|n| bytes.get(n / 8).map_or(Bit::Zero, |byte| byte[n % 8])), add: 0 }
    }

    /// So many bytes of what is seen of a packet.
    pub fn seen(offset: u16, bytes: u8) -> Self {
        let shown = 8 * u16::from(bytes);
        Self {
            bits: from_fn(|n| if (n as u16) < shown { Bit::Seen(8 * offset + n as u16) } else { Bit::Zero }),
            add: 0,
        }
    }

    /// What an entry says; none where two of its parts have a bit in one place.
    pub fn extracted(extract: &Extract) -> Option<Self> {
        let mut term = Self::constant(extract.constant);
        for part in &extract.parts {
            for n in 0..part.width {
                let Some(bit) = term.bits.get_mut(usize::from(part.up) + usize::from(n)) else { break };
                *bit = bit.with(AluOp::Or, source(part, part.down + n))?;
            }
        }
        Some(term)
    }

    /// The number, if it is known.
    pub fn known(&self) -> Option<u64> {
        let number = self.bits.iter().rev().try_fold(0, |all, bit| Some(all << 1 | u64::from(bit.constant()?)));
        number.map(|number: u64| number.wrapping_add(self.add))
    }

    fn sum(bits: [Bit; 64], add: u64) -> Self {
        let term = Self { bits, add };
        term.known().map_or(term, Self::constant)
    }
}

/// The bit of what is seen that is this one of a part's number.
fn source(part: &Part, n: u8) -> Bit {
    let byte = n / 8;
    match byte < part.bytes {
        true => {
            let at = if part.swap { part.bytes - 1 - byte } else { byte };
            Bit::Seen(8 * u16::from(part.offset + at) + u16::from(n % 8))
        }
        false => Bit::Zero,
    }
}

impl Terms {
    /// A number that is not looked into.
    pub fn node(&mut self, node: Node) -> Term {
        let next = self.nodes.len() as u32;
        let id = *self.nodes.entry(node).or_insert(next);
        Term { bits: from_fn(|n| Bit::Of(id, n as u8)), add: 0 }
    }

    /// What a lookup in a per-CPU map gives the first processor, where another one gets `own`.
    pub fn first_copy(&mut self, map: u32, own: Term) -> Term {
        let first = self.node(Node::FirstCopy(map));
        let distance = self.pure(Op::Copy { dst: 0, map }, |_| Term::constant(0));
        self.sums.push(([first, distance], own));
        first
    }

    /// A number's bits.
    fn bits(&mut self, term: Term) -> [Bit; 64] {
        if term.add == 0 { term.bits } else { self.node(Node::Sum(term)).bits }
    }

    /// Its lowest bytes.
    pub fn bytes(&mut self, term: Term, count: u8) -> Vec<Byte> {
        let bits = self.bits(term);
        (0..usize::from(count)).map(|byte| from_fn(|n| bits[8 * byte + n])).collect()
    }

    /// Its lowest bits, the rest 0.
    fn low(&mut self, term: Term, width: u32) -> Term {
        let bits = self.bits(term);
        Term { bits: from_fn(|n| if (n as u32) < width { bits[n] } else { Bit::Zero }), add: 0 }
    }

    /// The low bits, sign-extended to 64 or 32.
    pub fn extended(&mut self, wide: bool, width: u8, term: Term) -> Term {
        let bits = self.bits(term);
        let last = usize::from(width) - 1;
        let end = if wide { 64 } else { 32 };
        Term { bits: from_fn(|n| if n >= end { Bit::Zero } else { bits[n.min(last)] }), add: 0 }
    }

    fn swapped(&mut self, order: Order, width: u8, term: Term) -> Term {
        let low = self.low(term, width.into());
        if order == Order::Little {
            return low;
        }
        let bytes = self.bytes(low, width / 8);
        Term::joined(&bytes.into_iter().rev().collect::<Vec<_>>())
    }

    fn rotated(&mut self, wide: bool, right: u8, term: Term) -> Term {
        let width = if wide { 64 } else { 32 };
        let bits = self.bits(term);
        let at = |n: usize| if n < width { bits[(n + usize::from(right)) % width] } else { Bit::Zero };
        Term { bits: from_fn(at), add: 0 }
    }

    /// Of two numbers; `shape` is the operation without its registers.
    fn of_two(&mut self, shape: Op, (op, wide): (AluOp, bool), a: Term, b: Term) -> Term {
        let (a, b) = if wide { (a, b) } else { (self.low(a, 32), self.low(b, 32)) };
        let sum = self.sums.iter().find(|(of, _)| (op, wide) == (AluOp::Add, true) && (*of == [a, b] || *of == [b, a]));
        if let Some((_, sum)) = sum {
            return *sum;
        }
        if let (Some(a), Some(b)) = (a.known(), b.known()) {
            return Term::constant(alu::alu(op, wide, a, b));
        }
        let result = self.moved((op, wide), a, b);
        match result {
            Some(result) if wide => result,
            Some(result) => self.low(result, 32),
            None => {
                let result = self.node(Node::Result(shape, vec![a, b]));
                if wide { result } else { self.low(result, 32) }
            }
        }
    }

    /// The same where it only moves, masks or joins bits, or adds what is known.
    fn moved(&mut self, (op, wide): (AluOp, bool), a: Term, b: Term) -> Option<Term> {
        let width = if wide { 64 } else { 32 };
        let shift = |places: u64, up: bool, bits: [Bit; 64], fill: Bit| -> [Bit; 64] {
            let places = places as usize;
            from_fn(|n| match up {
                true => n.checked_sub(places).map_or(Bit::Zero, |from| bits[from]),
                false if n + places < width => bits[n + places],
                false => fill,
            })
        };
        match (op, a.known(), b.known()) {
            (AluOp::Add, _, Some(more)) if wide => Some(Term::sum(a.bits, a.add.wrapping_add(more))),
            (AluOp::Add, Some(more), _) if wide => Some(Term::sum(b.bits, b.add.wrapping_add(more))),
            (AluOp::Sub, _, Some(less)) if wide => Some(Term::sum(a.bits, a.add.wrapping_sub(less))),
            (AluOp::Sub, ..) if wide && a.bits == b.bits => Some(Term::constant(a.add.wrapping_sub(b.add))),
            (AluOp::Add, ..) => {
                // Where no place has a bit of both.
                let apart = a.bits.iter().zip(&b.bits).all(|(a, b)| *a == Bit::Zero || *b == Bit::Zero);
                let joined = from_fn(|n| if a.bits[n] == Bit::Zero { b.bits[n] } else { a.bits[n] });
                (apart && (wide || a.add == 0 && b.add == 0)).then(|| Term::sum(joined, a.add.wrapping_add(b.add)))
            }
            (AluOp::And | AluOp::Or | AluOp::Xor, ..) => {
                let (a, b) = (self.bits(a), self.bits(b));
                let bits: Option<Vec<Bit>> = a.iter().zip(b).map(|(a, b)| a.with(op, b)).collect();
                bits.map(|bits| Term { bits: from_fn(|n| bits[n]), add: 0 })
            }
            (AluOp::Lsh, _, Some(by)) => {
                let bits = self.bits(a);
                Some(Term { bits: shift(by % width as u64, true, bits, Bit::Zero), add: 0 })
            }
            (AluOp::Mul, _, Some(by)) if by.is_power_of_two() => {
                let bits = self.bits(a);
                Some(Term { bits: shift(by.trailing_zeros().into(), true, bits, Bit::Zero), add: 0 })
            }
            (AluOp::Rsh | AluOp::Arsh, _, Some(by)) => {
                let bits = self.bits(a);
                let fill = if op == AluOp::Arsh { bits[width - 1] } else { Bit::Zero };
                Some(Term { bits: shift(by % width as u64, false, bits, fill), add: 0 })
            }
            _ => None,
        }
    }

    /// What an operation without effect gives; `read` is what a register holds.
    pub fn pure(&mut self, op: Op, read: impl Fn(u8) -> Term) -> Term {
        let operand = |operand: Operand| match operand {
            Operand::Reg(r) => read(r),
            Operand::Imm(number) => Term::constant(i64::from(number) as u64),
        };
        match op {
            Op::Alu { op: of, wide, a, b, .. } => self.of_two(shape(op).0, (of, wide), read(a), operand(b)),
            Op::Move { wide: true, src, .. } => operand(src),
            Op::Move { wide: false, src, .. } => self.low(operand(src), 32),
            Op::Extend { wide, bits, src, .. } => self.extended(wide, bits, read(src)),
            Op::Negate { wide, src, .. } => self.of_two(shape(op).0, (AluOp::Sub, wide), Term::constant(0), read(src)),
            Op::Rotate { wide, src, right, .. } => self.rotated(wide, right, read(src)),
            Op::Swap { order, bits, src, .. } => self.swapped(order, bits, read(src)),
            Op::Constant { value: WideValue::Number(number), .. } => Term::constant(number),
            Op::Pack { low, high, bits, .. } => {
                let (low, high) = (self.low(read(low), bits.into()), self.low(read(high), bits.into()));
                let at = usize::from(bits);
                Term { bits: from_fn(|n| if n < at { low.bits[n] } else { high.bits[n - at] }), add: 0 }
            }
            op => {
                let (shape, reads) = shape(op);
                let operands = reads.into_iter().map(read).collect();
                self.node(Node::Result(shape, operands))
            }
        }
    }
}

/// An operation without the registers that its fields name, and those that it reads, in their order.
pub fn shape(op: Op) -> (Op, Vec<u8>) {
    let reads = std::cell::RefCell::new(Vec::new());
    let read = |r: u8| {
        reads.borrow_mut().push(r);
        0
    };
    let shape = op.renamed(&read, &|_| 0);
    (shape, reads.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warp::bits::Seen;
    use sluice_ebpf::vm::Ingress;
    use sluice_formats::random::Rng;

    /// The number that a term is for a packet, where nothing of it is unknown.
    fn of(term: &Term, seen: &Seen) -> u64 {
        let bit = |bit: &Bit| match *bit {
            Bit::Seen(n) => seen.bit(n),
            bit => bit.constant().expect("known"),
        };
        term.bits.iter().rev().fold(0, |all, one| all << 1 | u64::from(bit(one))).wrapping_add(term.add)
    }

    #[test]
    fn what_moves_bits_gives_what_the_cores_give() {
        let mut rng = Rng::new(7);
        let frame: Vec<u8> = (0..64).map(|_| rng.next_u64() as u8).collect();
        let seen = Seen::new(&frame, Ingress { ifindex: 3, queue: 2 });
        let mut terms = Terms::default();
        let mut found = 0;
        for _ in 0..20_000 {
            let (wide, bytes) = (rng.below(2) == 1, [1, 2, 4, 8][rng.below(4) as usize]);
            let a = Term::seen(rng.below(56) as u16, bytes);
            let number = match rng.below(3) {
                0 => rng.below(64) as i32,
                1 => 1 << rng.below(31),
                _ => rng.next_u64() as i32,
            };
            let ops = [AluOp::Add, AluOp::Sub, AluOp::And, AluOp::Or, AluOp::Lsh, AluOp::Rsh, AluOp::Arsh, AluOp::Mul];
            let op = ops[rng.below(ops.len() as u64) as usize];
            let instruction = Op::Alu { op, wide, dst: 0, a: 1, b: Operand::Imm(number) };
            let term = terms.pure(instruction, |_| a);
            if term.bits.iter().any(|bit| matches!(bit, Bit::Of(..))) {
                continue;
            }
            found += 1;
            let wanted = alu::alu(op, wide, of(&a, &seen), i64::from(number) as u64);
            assert_eq!(of(&term, &seen), wanted, "{instruction:?} of {:#x}", of(&a, &seen));
        }
        assert!(found > 8_000, "{found}");
    }

    #[test]
    fn an_entry_is_what_the_engine_makes() {
        let mut rng = Rng::new(8);
        let frame: Vec<u8> = (0..64).map(|_| rng.next_u64() as u8).collect();
        let seen = Seen::new(&frame, Ingress { ifindex: 3, queue: 2 });
        for _ in 0..5_000 {
            let bytes = 1 + rng.below(8) as u8;
            let down = rng.below(8) as u8;
            let width = 1 + rng.below(u64::from(8 * bytes - down)) as u8;
            let up = rng.below(u64::from(65 - width)) as u8;
            let part = Part { offset: rng.below(64) as u8, bytes, swap: rng.below(2) == 1, down, width, up };
            let extract = Extract { parts: vec![part], constant: rng.next_u64() & rng.next_u64() };
            assert_eq!(of(&Term::extracted(&extract).expect("one part"), &seen), extract.of(&seen), "{extract:?}");
        }
    }
}
