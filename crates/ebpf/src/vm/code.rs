//! Programs as the interpreter runs them: one flat operation a slot, decoded once at installation.

use crate::address;
use crate::helper;
use crate::insn::{AluOp, AtomicOp, Cond, Kind, Operand, Order, WideValue};
use crate::{MapId, Program};

/// Operation of one slot. 64 and 32 give the width, R and I the second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[rustfmt::skip]
pub(super) enum Code {
    Add64R, Add64I, Add32R, Add32I,
    Sub64R, Sub64I, Sub32R, Sub32I,
    Mul64R, Mul64I, Mul32R, Mul32I,
    Div64R, Div64I, Div32R, Div32I,
    Or64R, Or64I, Or32R, Or32I,
    And64R, And64I, And32R, And32I,
    Lsh64R, Lsh64I, Lsh32R, Lsh32I,
    Rsh64R, Rsh64I, Rsh32R, Rsh32I,
    Mod64R, Mod64I, Mod32R, Mod32I,
    Xor64R, Xor64I, Xor32R, Xor32I,
    Mov64R, Mov64I, Mov32R, Mov32I,
    Arsh64R, Arsh64I, Arsh32R, Arsh32I,
    Sdiv64R, Sdiv64I, Sdiv32R, Sdiv32I,
    Smod64R, Smod64I, Smod32R, Smod32I,
    Neg64, Neg32, Sx8To64, Sx16To64, Sx32To64, Sx8To32, Sx16To32, Cut16, Cut32, Swap16, Swap32, Swap64, Nop,
    Jeq64R, Jeq64I, Jeq32R, Jeq32I,
    Jgt64R, Jgt64I, Jgt32R, Jgt32I,
    Jge64R, Jge64I, Jge32R, Jge32I,
    Jset64R, Jset64I, Jset32R, Jset32I,
    Jne64R, Jne64I, Jne32R, Jne32I,
    Jsgt64R, Jsgt64I, Jsgt32R, Jsgt32I,
    Jsge64R, Jsge64I, Jsge32R, Jsge32I,
    Jlt64R, Jlt64I, Jlt32R, Jlt32I,
    Jle64R, Jle64I, Jle32R, Jle32I,
    Jslt64R, Jslt64I, Jslt32R, Jslt32I,
    Jsle64R, Jsle64I, Jsle32R, Jsle32I,
    Ja, Call, Local, Exit, Wide,
    Load1, Load2, Load4, Load8, LoadS1, LoadS2, LoadS4,
    Store1R, Store2R, Store4R, Store8R, Store1I, Store2I, Store4I, Store8I,
    Atomic4, Atomic8,
    /// Second slot of a wide load, or no instruction at all.
    Hole,
}

/// One slot, decoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    /// Operation.
    pub code: Code,
    /// First register.
    pub dst: u8,
    /// Second register.
    pub src: u8,
    /// Offset of a memory access, target slot of a jump or call, index of a helper.
    pub off: i32,
    /// Immediate, sign-extended; of atomics [`atomic`]'s number.
    pub imm: u64,
}

/// A program ready to run.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Its name, for faults.
    pub name: String,
    /// One a slot.
    pub(super) ops: Vec<Op>,
    /// First slots of its functions, rising.
    pub(super) functions: Vec<u32>,
    /// What no other program of this process has.
    pub(super) stamp: u64,
}

/// Number of an atomic operation in [`Op::imm`].
pub(super) fn atomic(op: AtomicOp, fetch: bool) -> u64 {
    (op as u64) << 1 | u64::from(fetch)
}

fn by_operand(src: Operand, reg: Code, imm: Code) -> (Code, u8, u64) {
    match src {
        Operand::Reg(src) => (reg, src, 0),
        Operand::Imm(value) => (imm, 0, value as i64 as u64),
    }
}

#[rustfmt::skip]
fn alu(op: AluOp, wide: bool) -> (Code, Code) {
    use Code::*;
    match (op, wide) {
        (AluOp::Add, true) => (Add64R, Add64I), (AluOp::Add, false) => (Add32R, Add32I),
        (AluOp::Sub, true) => (Sub64R, Sub64I), (AluOp::Sub, false) => (Sub32R, Sub32I),
        (AluOp::Mul, true) => (Mul64R, Mul64I), (AluOp::Mul, false) => (Mul32R, Mul32I),
        (AluOp::Div, true) => (Div64R, Div64I), (AluOp::Div, false) => (Div32R, Div32I),
        (AluOp::Or, true) => (Or64R, Or64I), (AluOp::Or, false) => (Or32R, Or32I),
        (AluOp::And, true) => (And64R, And64I), (AluOp::And, false) => (And32R, And32I),
        (AluOp::Lsh, true) => (Lsh64R, Lsh64I), (AluOp::Lsh, false) => (Lsh32R, Lsh32I),
        (AluOp::Rsh, true) => (Rsh64R, Rsh64I), (AluOp::Rsh, false) => (Rsh32R, Rsh32I),
        (AluOp::Mod, true) => (Mod64R, Mod64I), (AluOp::Mod, false) => (Mod32R, Mod32I),
        (AluOp::Xor, true) => (Xor64R, Xor64I), (AluOp::Xor, false) => (Xor32R, Xor32I),
        (AluOp::Mov, true) => (Mov64R, Mov64I), (AluOp::Mov, false) => (Mov32R, Mov32I),
        (AluOp::Arsh, true) => (Arsh64R, Arsh64I), (AluOp::Arsh, false) => (Arsh32R, Arsh32I),
        (AluOp::Sdiv, true) => (Sdiv64R, Sdiv64I), (AluOp::Sdiv, false) => (Sdiv32R, Sdiv32I),
        (AluOp::Smod, true) => (Smod64R, Smod64I), (AluOp::Smod, false) => (Smod32R, Smod32I),
    }
}

#[rustfmt::skip]
fn branch(cond: Cond, wide: bool) -> (Code, Code) {
    use Code::*;
    match (cond, wide) {
        (Cond::Eq, true) => (Jeq64R, Jeq64I), (Cond::Eq, false) => (Jeq32R, Jeq32I),
        (Cond::Gt, true) => (Jgt64R, Jgt64I), (Cond::Gt, false) => (Jgt32R, Jgt32I),
        (Cond::Ge, true) => (Jge64R, Jge64I), (Cond::Ge, false) => (Jge32R, Jge32I),
        (Cond::Set, true) => (Jset64R, Jset64I), (Cond::Set, false) => (Jset32R, Jset32I),
        (Cond::Ne, true) => (Jne64R, Jne64I), (Cond::Ne, false) => (Jne32R, Jne32I),
        (Cond::Sgt, true) => (Jsgt64R, Jsgt64I), (Cond::Sgt, false) => (Jsgt32R, Jsgt32I),
        (Cond::Sge, true) => (Jsge64R, Jsge64I), (Cond::Sge, false) => (Jsge32R, Jsge32I),
        (Cond::Lt, true) => (Jlt64R, Jlt64I), (Cond::Lt, false) => (Jlt32R, Jlt32I),
        (Cond::Le, true) => (Jle64R, Jle64I), (Cond::Le, false) => (Jle32R, Jle32I),
        (Cond::Slt, true) => (Jslt64R, Jslt64I), (Cond::Slt, false) => (Jslt32R, Jslt32I),
        (Cond::Sle, true) => (Jsle64R, Jsle64I), (Cond::Sle, false) => (Jsle32R, Jsle32I),
    }
}

impl Loaded {
    /// Decodes a validated program. `map` gives the map of an index in the image, `first` the
    /// address of its first value.
    pub fn new(program: &Program, map: &dyn Fn(u32) -> Option<MapId>, first: &dyn Fn(MapId) -> Option<u32>) -> Self {
        let insns = &program.insns;
        let hole = Op { code: Code::Hole, dst: 0, src: 0, off: 0, imm: 0 };
        let mut ops = vec![hole; insns.len()];
        let mut slot = 0;
        while slot < insns.len() {
            let kind = insns[slot].kind(insns.get(slot + 1).copied());
            if let Ok(kind) = kind {
                ops[slot] = op(kind, slot as u32, map, first).unwrap_or(hole);
            }
            slot += kind.map_or(1, Kind::slots) as usize;
        }
        let mut functions: Vec<u32> = program.functions.iter().map(|f| f.start).collect();
        functions.sort_unstable();
        Self { name: program.name.clone(), ops, functions, stamp: crate::map::stamp() }
    }
}

fn op(kind: Kind, slot: u32, map: &dyn Fn(u32) -> Option<MapId>, first: &dyn Fn(MapId) -> Option<u32>) -> Option<Op> {
    use Code::*;
    let plain = |code, dst, src, off: i32, imm: u64| Some(Op { code, dst, src, off, imm });
    let target = kind.target(slot).unwrap_or(0) as i32;
    match kind {
        Kind::Alu { op, wide, dst, src } => {
            let (reg, imm) = alu(op, wide);
            let (code, src, imm) = by_operand(src, reg, imm);
            plain(code, dst, src, 0, imm)
        }
        Kind::Neg { wide, dst } => plain(if wide { Neg64 } else { Neg32 }, dst, 0, 0, 0),
        Kind::MovSx { wide, bits, dst, src } => {
            let code = match (wide, bits) {
                (true, 8) => Sx8To64,
                (true, 16) => Sx16To64,
                (true, _) => Sx32To64,
                (false, 8) => Sx8To32,
                (false, _) => Sx16To32,
            };
            plain(code, dst, src, 0, 0)
        }
        Kind::Swap { order, bits, dst } => {
            let code = match (order, bits) {
                (Order::Little, 16) => Cut16,
                (Order::Little, 32) => Cut32,
                (Order::Little, _) => Nop,
                (_, 16) => Swap16,
                (_, 32) => Swap32,
                _ => Swap64,
            };
            plain(code, dst, 0, 0, 0)
        }
        Kind::Jump { .. } => plain(Ja, 0, 0, target, 0),
        Kind::Branch { cond, wide, dst, src, .. } => {
            let (reg, imm) = branch(cond, wide);
            let (code, src, imm) = by_operand(src, reg, imm);
            plain(code, dst, src, target, imm)
        }
        Kind::CallHelper { id } => {
            // An unknown helper keeps its number, for the fault.
            let index = helper::ALL.iter().position(|h| h.id == id).map_or(-1, |i| i as i32);
            plain(Call, 0, 0, index, id as u32 as u64)
        }
        Kind::CallLocal { .. } => plain(Local, 0, 0, target, 0),
        Kind::Exit => plain(Exit, 0, 0, 0, 0),
        Kind::Load { size, signed, dst, src, off } => {
            let code = match (size, signed) {
                (1, false) => Load1,
                (2, false) => Load2,
                (4, false) => Load4,
                (1, true) => LoadS1,
                (2, true) => LoadS2,
                (4, true) => LoadS4,
                _ => Load8,
            };
            plain(code, dst, src, off.into(), 0)
        }
        Kind::Store { size, dst, off, src } => {
            let (reg, imm) = match size {
                1 => (Store1R, Store1I),
                2 => (Store2R, Store2I),
                4 => (Store4R, Store4I),
                _ => (Store8R, Store8I),
            };
            let (code, src, imm) = by_operand(src, reg, imm);
            plain(code, dst, src, off.into(), imm)
        }
        Kind::Atomic { size, op, fetch, dst, off, src } => {
            plain(if size == 4 { Atomic4 } else { Atomic8 }, dst, src, off.into(), atomic(op, fetch))
        }
        Kind::Wide { dst, value } => {
            let imm = match value {
                WideValue::Number(number) => number,
                WideValue::Map(index) => u64::from(address::MAP_HANDLES + map(index)?.0),
                WideValue::MapValue { map: index, offset } => u64::from(first(map(index)?)?) + u64::from(offset),
                WideValue::Function(_) => u64::from(address::FUNCTIONS).wrapping_add(target as u64),
            };
            plain(Wide, dst, 0, 0, imm)
        }
    }
}
