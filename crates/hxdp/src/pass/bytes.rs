//! Loads the bytes of a number at once.
//!
//! Before: `r1 = *(u8 *)(r6 +0); r2 = *(u8 *)(r6 +1); r2 <<= 8; r2 |= r1`, as clang writes for packed structures. After: `r2 =
//! *(u16 *)(r6 +0)`; bytes in the network's order get a swap behind it. The narrow loads stay where they are until `dead`
//! finds that nobody reads them. The wide load stands where the last part was put in: its base still holds the same address
//! there, none of the narrow loads can fault, and nothing since the first of them may have written their bytes, nor, of a
//! map's value, been a map access in between. Needs: `copies`, the region analysis. Leaves alone: every register's value.

use super::Code;
use crate::effect::{Effect, PACKET, SHARED, STACK};
use crate::op::NAMES;
use crate::{Op, Step};
use sluice_ebpf::analysis::Regions;
use sluice_ebpf::insn::{AluOp, Operand, Order};

/// What a byte of a register is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Byte {
    Zero,
    /// So many bytes behind what a load (its index) began with.
    Loaded(usize, u8),
    Unknown,
}

/// A register's bytes, lowest first.
type Bytes = [Byte; 8];

const UNKNOWN: Bytes = [Byte::Unknown; 8];

/// A load that was passed.
#[derive(Clone, Copy, Debug)]
struct Loaded {
    slot: u32,
    effect: Effect,
    base: u8,
    /// How often the base had been written before.
    version: u32,
    off: i16,
    /// Nothing since may have changed what it loaded.
    holds: bool,
}

/// What is known at a place of a trace.
struct Known<'a> {
    regions: &'a Regions,
    registers: [Bytes; NAMES],
    versions: [u32; NAMES],
    loads: Vec<Loaded>,
}

/// One load in the place of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wide {
    slot: u32,
    base: u8,
    off: i16,
    bytes: u8,
    /// The lowest byte of the number has the highest address.
    swapped: bool,
}

/// Rewrites every trace.
pub fn bytes(code: &mut Code) {
    let regions = &code.regions;
    for trace in code.traces.values_mut() {
        let mut known = Known { regions, registers: [UNKNOWN; NAMES], versions: [0; NAMES], loads: Vec::new() };
        let mut steps = Vec::with_capacity(trace.steps.len());
        for step in &trace.steps {
            match known.wide(&step.op) {
                Some((dst, wide)) => {
                    let Wide { slot, base, off, bytes, swapped } = wide;
                    let load = Op::Load { bytes, signed: false, dst, base, off, quiet: false };
                    steps.push(Step { slot, op: load });
                    if swapped {
                        let swap = Op::Swap { order: Order::Big, bits: bytes * 8, dst, src: dst };
                        steps.push(Step { slot: step.slot, op: swap });
                    }
                }
                None => steps.push(*step),
            }
            known.pass(step);
        }
        trace.steps = steps;
    }
}

impl Known<'_> {
    /// The register and load of an instruction that puts several loads together.
    fn wide(&self, op: &Op) -> Option<(u8, Wide)> {
        let (dst, value) = self.result(op)?;
        let bytes = value.iter().position(|byte| *byte == Byte::Zero).unwrap_or(8);
        if !matches!(bytes, 2 | 4 | 6 | 8) || value[bytes..].iter().any(|byte| *byte != Byte::Zero) {
            return None;
        }
        // Each byte's load, and its distance from the base.
        let place = |byte: &Byte| match *byte {
            Byte::Loaded(load, at) => Some((load, self.loads[load], i32::from(self.loads[load].off) + i32::from(at))),
            _ => None,
        };
        let places: Vec<_> = value[..bytes].iter().map(place).collect::<Option<_>>()?;
        let swapped = places[0].2 > places[1].2;
        let (lowest, first) = if swapped { (bytes - 1, &places[bytes - 1]) } else { (0, &places[0]) };
        let several = places.iter().any(|(load, ..)| *load != first.0);
        let fits = places.iter().enumerate().all(|(index, (_, load, at))| {
            let same = (load.base, load.version) == (first.1.base, self.versions[usize::from(first.1.base)]);
            let distance = index.abs_diff(lowest) as i32;
            load.holds && same && *at == first.2 + distance && load.effect.loads == first.1.effect.loads
        });
        // The lowest byte begins a load: what is known of that load is known of the wide one.
        let begins = first.2 == i32::from(first.1.off);
        let wide = Wide { slot: first.1.slot, base: first.1.base, off: first.1.off, bytes: bytes as u8, swapped };
        (several && fits && begins && !(swapped && bytes == 6)).then_some((dst, wide))
    }

    /// Destination and bytes of what only moves bytes.
    fn result(&self, op: &Op) -> Option<(u8, Bytes)> {
        let of = |operand: Operand| match operand {
            Operand::Reg(r) => self.registers[usize::from(r)],
            Operand::Imm(number) => {
                (number as i64 as u64).to_le_bytes().map(|b| if b == 0 { Byte::Zero } else { Byte::Unknown })
            }
        };
        let cut = |mut bytes: Bytes, n: usize| {
            bytes[n..].fill(Byte::Zero);
            bytes
        };
        match *op {
            Op::Move { wide, dst, src } => Some((dst, cut(of(src), if wide { 8 } else { 4 }))),
            Op::Alu { op, wide, dst, a, b } => {
                let width = if wide { 8 } else { 4 };
                let left = cut(of(Operand::Reg(a)), width);
                Some((dst, cut(combine(op, width, left, (cut(of(b), width), b))?, width)))
            }
            Op::Swap { order, bits, dst, src } => {
                let n = usize::from(bits / 8);
                let mut bytes = cut(of(Operand::Reg(src)), n);
                if order != Order::Little {
                    bytes[..n].reverse();
                }
                Some((dst, bytes))
            }
            _ => None,
        }
    }

    /// Goes on behind an instruction.
    fn pass(&mut self, step: &Step) {
        let effect = Effect::of(step, self.regions);
        let result = self.result(&step.op);
        for load in &mut self.loads {
            let same_base = matches!(step.op, Op::Load { base, .. }
                if (base, self.versions[usize::from(base)]) == (load.base, load.version));
            let between = effect.shared && load.effect.shared && !same_base;
            let written = effect.stores != 0 && effect.conflicts(&load.effect);
            load.holds &= !(written || between);
        }
        let (base_version, mut loaded) = (|base: u8| self.versions[usize::from(base)], None);
        if let Op::Load { bytes, signed: false, dst, base, off, .. } = step.op {
            let mut value = [Byte::Zero; 8];
            let joinable = !effect.may_fault && matches!(effect.loads, STACK | PACKET | SHARED);
            for (at, byte) in (0..bytes).zip(&mut value) {
                *byte = if joinable { Byte::Loaded(self.loads.len(), at) } else { Byte::Unknown };
            }
            let version = base_version(base);
            self.loads.push(Loaded { slot: step.slot, effect, base, version, off, holds: joinable });
            loaded = Some((dst, value));
        }
        for r in (0..NAMES).filter(|r| effect.writes >> r & 1 == 1) {
            self.versions[r] += 1;
            self.registers[r] = UNKNOWN;
        }
        if let Some((dst, value)) = loaded.or(result) {
            self.registers[usize::from(dst)] = value;
        }
    }
}

/// Bytes of `a op b`, which are `width` bytes wide, where whole bytes are moved or put beside each other.
fn combine(op: AluOp, width: usize, a: Bytes, (b, operand): (Bytes, Operand)) -> Option<Bytes> {
    let count = match operand {
        Operand::Imm(count) if count % 8 == 0 && (0..8 * width as i32).contains(&count) => Some(count as usize / 8),
        _ => None,
    };
    let mut out = [Byte::Zero; 8];
    match op {
        AluOp::Or | AluOp::Xor | AluOp::Add => {
            for (out, pair) in out.iter_mut().zip(a.into_iter().zip(b)) {
                *out = match pair {
                    (byte, Byte::Zero) | (Byte::Zero, byte) => byte,
                    // A sum carries.
                    _ if op == AluOp::Add => return None,
                    _ => Byte::Unknown,
                };
            }
        }
        AluOp::And => {
            let Operand::Imm(mask) = operand else { return None };
            for ((out, byte), mask) in out.iter_mut().zip(a).zip((mask as i64 as u64).to_le_bytes()) {
                *out = match (byte, mask) {
                    (byte, 0xff) => byte,
                    (Byte::Zero, _) | (_, 0) => Byte::Zero,
                    _ => Byte::Unknown,
                };
            }
        }
        AluOp::Lsh => out[count?..].copy_from_slice(&a[..8 - count?]),
        AluOp::Rsh => out[..8 - count?].copy_from_slice(&a[count?..]),
        _ => return None,
    }
    Some(out)
}
