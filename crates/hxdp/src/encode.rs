//! Bundles as bytes: 80 bits a lane, as docs/design/hxdp.md says.

use crate::{Bundle, Bundles, Op, Step, Target};
use sluice_ebpf::insn::{AluOp, AtomicOp, Cond, Operand, Order, WideValue};
use sluice_object::xdp::warp::{RULES, STEPS};

/// First bytes of a compiled program.
pub const MAGIC: &[u8; 8] = b"sluicehx";
/// Version of the format.
pub const VERSION: u32 = 4;
/// Bytes of a lane.
pub const LANE_BYTES: usize = 10;

const ALU: [AluOp; 13] = [
    AluOp::Add,
    AluOp::Sub,
    AluOp::Mul,
    AluOp::Div,
    AluOp::Or,
    AluOp::And,
    AluOp::Lsh,
    AluOp::Rsh,
    AluOp::Mod,
    AluOp::Xor,
    AluOp::Arsh,
    AluOp::Sdiv,
    AluOp::Smod,
];
const COND: [Cond; 11] =
    [Cond::Eq, Cond::Gt, Cond::Ge, Cond::Set, Cond::Ne, Cond::Sgt, Cond::Sge, Cond::Lt, Cond::Le, Cond::Slt, Cond::Sle];
const ATOMIC: [AtomicOp; 6] =
    [AtomicOp::Add, AtomicOp::Or, AtomicOp::And, AtomicOp::Xor, AtomicOp::Xchg, AtomicOp::Cmpxchg];
const BYTES: [u8; 5] = [1, 2, 4, 6, 8];
const BITS: [u8; 4] = [8, 16, 32, 64];
/// In the place of an element's index: no array has so many.
const COPY: u32 = u32::MAX;
const ORDERS: [Order; 3] = [Order::Little, Order::Big, Order::Swap];

/// First operation number of each group, as the hardware has them; 0 is a lane that does nothing.
mod number {
    use sluice_formats::xdp::codes::XdpOp;

    pub const ALU: u8 = XdpOp::Add.code();
    pub const ROTATE: u8 = XdpOp::Rotate.code();
    pub const MOVE: u8 = XdpOp::Move.code();
    pub const NEGATE: u8 = XdpOp::Negate.code();
    pub const JUMP: u8 = XdpOp::Jump.code();
    pub const CALL: u8 = XdpOp::Call.code();
    pub const HELPER: u8 = XdpOp::Helper.code();
    pub const EXIT: u8 = XdpOp::Exit.code();
    pub const EXIT_VALUE: u8 = XdpOp::ExitValue.code();
    pub const EXTEND: u8 = XdpOp::Extend8.code();
    pub const CONSTANT: u8 = XdpOp::Constant.code();
    pub const COND: u8 = XdpOp::Eq.code();
    pub const CLEAR: u8 = XdpOp::Clear.code();
    pub const LENGTH: u8 = XdpOp::Length.code();
    pub const ELEMENT: u8 = XdpOp::Element.code();
    pub const PACK16: u8 = XdpOp::Pack16.code();
    pub const PACK32: u8 = XdpOp::Pack32.code();
    pub const INDEXED: u8 = XdpOp::Indexed.code();
    pub const ATOMIC4: u8 = XdpOp::Atomic4.code();
    pub const ATOMIC8: u8 = XdpOp::Atomic8.code();
    pub const ADD_PAIR: u8 = XdpOp::AddPair.code();
    pub const ADD_PAIR_SWAPPED: u8 = XdpOp::AddPairSwapped.code();
    pub const LOAD: u8 = XdpOp::Load1.code();
    pub const STORE: u8 = XdpOp::Store1.code();
    /// No swap of 8 bits is there.
    pub const SWAP: u8 = XdpOp::Little16.code() - 1;
}

const IMMEDIATE: u8 = 1;
const WIDE: u8 = 2;
const EXTRA: u8 = 4;

/// Fields of a lane that is no constant.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    number: u8,
    dst: u8,
    a: u8,
    b: u8,
    flags: u8,
    off: u16,
    imm: i32,
}

impl Lane {
    fn wide(self, wide: bool) -> Self {
        Self { flags: self.flags | if wide { WIDE } else { 0 }, ..self }
    }

    fn extra(self, extra: bool) -> Self {
        Self { flags: self.flags | if extra { EXTRA } else { 0 }, ..self }
    }

    fn second(self, operand: Operand) -> Self {
        match operand {
            Operand::Reg(b) => Self { b, ..self },
            Operand::Imm(imm) => Self { imm, flags: self.flags | IMMEDIATE, ..self },
        }
    }

    fn operand(self) -> Operand {
        if self.flags & IMMEDIATE != 0 { Operand::Imm(self.imm) } else { Operand::Reg(self.b) }
    }

    fn bits(self) -> u128 {
        u128::from(self.number)
            | u128::from(self.dst) << 8
            | u128::from(self.a) << 12
            | u128::from(self.b) << 16
            | u128::from(self.flags) << 20
            | u128::from(self.off) << 24
            | u128::from(self.imm as u32) << 40
    }

    fn of(bits: u128) -> Self {
        let nibble = |at: u32| (bits >> at) as u8 & 15;
        let (off, imm) = ((bits >> 24) as u16, (bits >> 40) as i32);
        Self { number: bits as u8, dst: nibble(8), a: nibble(12), b: nibble(16), flags: nibble(20), off, imm }
    }
}

/// Index of an entry that is there: the tables hold every value that their kind has.
fn at<T: PartialEq>(table: &[T], entry: &T) -> u8 {
    table.iter().position(|e| e == entry).unwrap_or_default() as u8
}

/// The 80 bits of an instruction. Targets above 16 bits are cut: layout makes none.
pub fn lane(op: &Op) -> u128 {
    let zero = Lane::default();
    let lane = match *op {
        Op::Alu { op, wide, dst, a, b } => {
            Lane { number: number::ALU + at(&ALU, &op), dst, a, ..zero }.wide(wide).second(b)
        }
        Op::Move { wide, dst, src } => Lane { number: number::MOVE, dst, ..zero }.wide(wide).second(src),
        Op::Negate { wide, dst, src } => Lane { number: number::NEGATE, dst, a: src, ..zero }.wide(wide),
        Op::Extend { wide, bits, dst, src } => {
            Lane { number: number::EXTEND + at(&BITS, &bits), dst, a: src, ..zero }.wide(wide)
        }
        Op::Rotate { wide, dst, src, right } => {
            Lane { number: number::ROTATE, dst, a: src, ..zero }.wide(wide).second(Operand::Imm(right.into()))
        }
        Op::Swap { order, bits, dst, src } => {
            Lane { number: number::SWAP + at(&ORDERS, &order) * 4 + at(&BITS, &bits), dst, a: src, ..zero }
        }
        Op::Constant { dst, value } => {
            let (kind, number) = match value {
                WideValue::Number(number) => (0, number),
                WideValue::Map(map) => (1, map.into()),
                WideValue::MapValue { map, offset } => (2, u64::from(map) | u64::from(offset) << 32),
                WideValue::Function(slot) => (3, u64::from(slot as u32)),
            };
            return u128::from(number::CONSTANT + kind) | u128::from(dst) << 8 | u128::from(number) << 16;
        }
        Op::Copy { dst, map } => {
            let number = u64::from(map) | u64::from(COPY) << 32;
            return u128::from(number::ELEMENT) | u128::from(dst) << 8 | u128::from(number) << 16;
        }
        Op::Element { dst, map, index } => {
            let number = u64::from(map) | u64::from(index) << 32;
            return u128::from(number::ELEMENT) | u128::from(dst) << 8 | u128::from(number) << 16;
        }
        Op::Indexed { dst, index, base, shift, most } => {
            Lane { number: number::INDEXED, dst, a: index, b: base, off: shift.into(), imm: most as i32, ..zero }
        }
        Op::Pack { dst, low, high, bits } => {
            let code = if bits == 16 { number::PACK16 } else { number::PACK32 };
            Lane { number: code, dst, a: low, b: high, ..zero }
        }
        Op::AddPair { base, off, number, src, swapped, quiet } => {
            let code = if swapped { number::ADD_PAIR_SWAPPED } else { number::ADD_PAIR };
            Lane { number: code, a: base, b: src, off: off as u16, imm: number, ..zero }.wide(quiet)
        }
        Op::Load { bytes, signed, dst, base, off, quiet } => {
            let lane = Lane { number: number::LOAD + at(&BYTES, &bytes), dst, a: base, off: off as u16, ..zero };
            lane.extra(signed).wide(quiet)
        }
        Op::Store { bytes, base, off, src } => {
            Lane { number: number::STORE + at(&BYTES, &bytes), a: base, off: off as u16, ..zero }.second(src)
        }
        Op::Atomic { bytes, op, fetch, quiet, base, off, src } => {
            let first = if bytes == 8 { number::ATOMIC8 } else { number::ATOMIC4 };
            Lane { number: first + at(&ATOMIC, &op), a: base, off: off as u16, ..zero }
                .extra(fetch)
                .wide(quiet)
                .second(src)
        }
        Op::Jump { to, back } => Lane { number: number::JUMP, off: to as u16, ..zero }.extra(back),
        Op::Branch { cond, wide, a, b, to, back } => {
            let lane = Lane { number: number::COND + at(&COND, &cond), a, off: to as u16, ..zero };
            lane.wide(wide).second(b).extra(back)
        }
        Op::Clear { wide, a, b, to, back } => {
            Lane { number: number::CLEAR, a, off: to as u16, ..zero }.wide(wide).second(b).extra(back)
        }
        Op::Length { base, bytes, within, to, back } => {
            let lane = Lane { number: number::LENGTH, a: base.unwrap_or_default(), off: to as u16, imm: bytes, ..zero };
            Lane { flags: if base.is_none() { IMMEDIATE } else { 0 }, ..lane }.wide(within).extra(back)
        }
        Op::Helper { id, handle, second, third } => {
            let (a, off) = second.unwrap_or_default();
            let imm = id & 0xffff | (handle.unwrap_or_default() as i32) << 16;
            // A third argument is in the place of registers.
            let (dst, b) = third.map_or((0, 0), |third| (third & 15, third >> 4));
            let flags = if third.is_some() { IMMEDIATE } else { 0 };
            let lane = Lane { number: number::HELPER, dst, a, b, flags, off: off as u16, imm };
            lane.extra(handle.is_some()).wide(second.is_some())
        }
        Op::Call { to } => Lane { number: number::CALL, off: to as u16, ..zero },
        Op::Exit { value: None, back } => Lane { number: number::EXIT, ..zero }.extra(back),
        Op::Exit { value: Some(value), back } => Lane { number: number::EXIT_VALUE, ..zero }.second(value).extra(back),
    };
    lane.bits()
}

/// The instruction of 80 bits; `None` of a lane that does nothing or of bits that are no instruction.
pub fn op(bits: u128) -> Option<Op> {
    let Lane { number, dst, a, flags, off, .. } = Lane::of(bits);
    let lane = Lane::of(bits);
    let (wide, extra) = (flags & WIDE != 0, flags & EXTRA != 0);
    let entry = |first: u8| usize::from(number - first);
    let (signed_off, to) = (off as i16, u32::from(off));
    Some(match number {
        number::ROTATE => {
            let Operand::Imm(right) = lane.operand() else { return None };
            let right = u8::try_from(right).ok().filter(|right| (1..if wide { 64 } else { 32 }).contains(right))?;
            Op::Rotate { wide, dst, src: a, right }
        }
        number::ALU..number::MOVE => Op::Alu { op: *ALU.get(entry(number::ALU))?, wide, dst, a, b: lane.operand() },
        number::MOVE => Op::Move { wide, dst, src: lane.operand() },
        number::NEGATE => Op::Negate { wide, dst, src: a },
        number::JUMP => Op::Jump { to, back: extra },
        number::CALL => Op::Call { to },
        number::HELPER => {
            let handle = extra.then_some((lane.imm as u32) >> 16);
            let third = (flags & IMMEDIATE != 0).then_some(dst | lane.b << 4);
            Op::Helper { id: lane.imm & 0xffff, handle, second: wide.then_some((a, signed_off)), third }
        }
        number::EXIT => Op::Exit { value: None, back: extra },
        number::EXIT_VALUE => Op::Exit { value: Some(lane.operand()), back: extra },
        number::EXTEND..number::CONSTANT => Op::Extend { wide, bits: *BITS.get(entry(number::EXTEND))?, dst, src: a },
        number::CONSTANT..number::COND => {
            let number64 = (bits >> 16) as u64;
            let value = match number - number::CONSTANT {
                0 => WideValue::Number(number64),
                1 => WideValue::Map(number64 as u32),
                2 => WideValue::MapValue { map: number64 as u32, offset: (number64 >> 32) as u32 },
                _ => WideValue::Function(number64 as i32),
            };
            Op::Constant { dst, value }
        }
        number::CLEAR => Op::Clear { wide, a, b: lane.operand(), to, back: extra },
        number::LENGTH => {
            let base = (flags & IMMEDIATE == 0).then_some(a);
            Op::Length { base, bytes: lane.imm, within: wide, to, back: extra }
        }
        number::ELEMENT if (bits >> 48) as u32 == COPY => Op::Copy { dst, map: (bits >> 16) as u32 },
        number::ELEMENT => Op::Element { dst, map: (bits >> 16) as u32, index: (bits >> 48) as u32 },
        number::INDEXED => {
            let shift = u8::try_from(off).ok().filter(|shift| *shift < 32)?;
            Op::Indexed { dst, index: a, base: lane.b, shift, most: lane.imm as u32 }
        }
        number::PACK16 => Op::Pack { dst, low: a, high: lane.b, bits: 16 },
        number::PACK32 => Op::Pack { dst, low: a, high: lane.b, bits: 32 },
        number::ADD_PAIR | number::ADD_PAIR_SWAPPED => {
            let swapped = number == number::ADD_PAIR_SWAPPED;
            Op::AddPair { base: a, off: signed_off, number: lane.imm, src: lane.b, swapped, quiet: wide }
        }
        number::COND..number::LENGTH => {
            Op::Branch { cond: *COND.get(entry(number::COND))?, wide, a, b: lane.operand(), to, back: extra }
        }
        number::ATOMIC4..number::LOAD => {
            let (bytes, first) = if number < number::ATOMIC8 { (4, number::ATOMIC4) } else { (8, number::ATOMIC8) };
            Op::Atomic {
                bytes,
                op: *ATOMIC.get(entry(first))?,
                fetch: extra,
                quiet: wide,
                base: a,
                off: signed_off,
                src: lane.operand(),
            }
        }
        number::LOAD..number::STORE => {
            let bytes = *BYTES.get(entry(number::LOAD))?;
            Op::Load { bytes, signed: extra, dst, base: a, off: signed_off, quiet: wide }
        }
        number::STORE..number::SWAP => {
            Op::Store { bytes: *BYTES.get(entry(number::STORE))?, base: a, off: signed_off, src: lane.operand() }
        }
        number::SWAP.. => {
            let order = *ORDERS.get(entry(number::SWAP) / 4)?;
            Op::Swap { order, bits: BITS[entry(number::SWAP) % 4], dst, src: a }
        }
        _ => return None,
    })
}

/// A compiled program as bytes; its name is not among them.
pub fn encode(bundles: &Bundles) -> Vec<u8> {
    let target = &bundles.target;
    let mut out = MAGIC.to_vec();
    let counts = [target.lanes, target.ports, target.rows, bundles.rows.len(), bundles.functions.len()];
    out.extend(VERSION.to_le_bytes());
    out.extend(counts.into_iter().flat_map(|count| (count as u32).to_le_bytes()));
    out.extend(bundles.functions.iter().flat_map(|(slot, row)| [slot.to_le_bytes(), row.to_le_bytes()]).flatten());
    for row in &bundles.rows {
        for index in 0..target.lanes {
            let bits = row.lanes.get(index).map_or(0, |step| lane(&step.op));
            out.extend(&bits.to_le_bytes()[..LANE_BYTES]);
        }
    }
    out.extend(bundles.rows.iter().flat_map(|row| &row.lanes).flat_map(|step| step.slot.to_le_bytes()));
    out
}

/// Reads what [`encode`] wrote. `None` when the bytes are something else; what they say is for the verifier to check.
pub fn decode(program: &str, bytes: &[u8]) -> Option<Bundles> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let word = |rest: &mut &[u8]| {
        let (word, more) = rest.split_first_chunk::<4>()?;
        *rest = more;
        Some(u32::from_le_bytes(*word))
    };
    if word(&mut rest)? != VERSION {
        return None;
    }
    let mut counts = [0; 5];
    for count in &mut counts {
        *count = word(&mut rest)? as usize;
    }
    let [lanes, ports, most, rows, functions] = counts;
    if lanes == 0 || rows.checked_mul(lanes)?.checked_mul(LANE_BYTES)? > rest.len() {
        return None;
    }
    let mut bundles = Bundles {
        program: program.to_owned(),
        target: Target { lanes, ports, rows: most, rules: RULES, steps: STEPS },
        rows: vec![],
        functions: [].into(),
    };
    for _ in 0..functions {
        bundles.functions.insert(word(&mut rest)?, word(&mut rest)?);
    }
    let (code, mut slots) = rest.split_at_checked(rows * lanes * LANE_BYTES)?;
    for row in code.chunks_exact(lanes * LANE_BYTES) {
        let mut bundle = Bundle::default();
        for bytes in row.chunks_exact(LANE_BYTES) {
            let mut bits = [0; 16];
            bits[..LANE_BYTES].copy_from_slice(bytes);
            let bits = u128::from_le_bytes(bits);
            if bits != 0 {
                bundle.lanes.push(Step { slot: word(&mut slots)?, op: op(bits)? });
            }
        }
        bundles.rows.push(bundle);
    }
    slots.is_empty().then_some(bundles)
}
