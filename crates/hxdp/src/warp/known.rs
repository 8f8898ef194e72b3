//! What the registers and the stack of a leaf's first trace hold, as far as the frame gives it.

use super::bits::{Bit, Bits, FRAME, IFINDEX, QUEUE};
use super::extract::Extract;
use super::peel::Entry;
use super::stack::Stack;
use super::value::{Base, Value};
use crate::effect::{CONTEXT, Effect, PACKET, STACK};
use crate::op::{NAMES, START};
use crate::{Op, Step};
use sluice_ebpf::address;
use sluice_ebpf::insn::{AluOp, Operand, Order, WideValue};

/// What the names of a trace hold, as far as the frame gives it.
pub struct Known {
    names: [Value; NAMES],
    /// The own stack.
    pub stack: Stack,
    /// The frame is as it came.
    pristine: bool,
}

impl Known {
    /// Where a leaf begins.
    pub fn new(entry: &Entry) -> Self {
        let mut stack = Stack::zeros();
        for (offset, extract) in &entry.stack {
            stack.store((*offset).into(), 8, &Value::Number { bits: extract.bits(), add: 0 });
        }
        let mut names = [Value::Opaque; NAMES];
        for (register, extract) in &entry.registers {
            names[usize::from(*register)] = Value::Number { bits: extract.bits(), add: 0 };
        }
        names[1] = Value::place(Base::Context, 0);
        names[10] = Value::place(Base::Stack, 0);
        names[usize::from(START)] = Value::place(Base::Start, 0);
        Self { names, stack, pristine: true }
    }

    /// What a register holds.
    pub fn reg(&self, r: u8) -> Value {
        self.names[usize::from(r)]
    }

    /// The same of an operand.
    pub fn operand(&self, operand: Operand) -> Value {
        match operand {
            Operand::Reg(r) => self.reg(r),
            Operand::Imm(number) => Value::constant(number as i64 as u64),
        }
    }

    /// What an instruction gives, if it gives one register.
    fn gives(&self, step: &Step, effect: &Effect) -> Value {
        match step.op {
            Op::Alu { op, wide, a, b, .. } => self.reg(a).alu(op, wide, self.operand(b)),
            Op::Move { wide: true, src, .. } => self.operand(src),
            Op::Move { wide: false, src, .. } => {
                let value = self.operand(src);
                value.alu(AluOp::Mov, false, value)
            }
            Op::Extend { wide, bits, src, .. } => self.reg(src).extended(wide, bits),
            Op::Negate { wide, src, .. } => Value::constant(0).alu(AluOp::Sub, wide, self.reg(src)),
            Op::Rotate { wide, src, right, .. } => self.reg(src).rotated(wide, right),
            Op::Swap { order, bits, src, .. } => self.reg(src).swapped(order != Order::Little, bits),
            Op::Constant { value: WideValue::Number(number), .. } => Value::constant(number),
            Op::Constant { value: WideValue::Map(map), .. } => Value::Map(map),
            Op::Pack { low, high, bits, .. } => {
                let part = |r: u8| self.reg(r).as_bits().map(|all| all.low(bits.into()));
                let both = part(low).zip(part(high));
                match both.and_then(|(low, high)| low.joined(&high.up(bits.into()))) {
                    Some(bits) => Value::Number { bits, add: 0 },
                    None => Value::Opaque,
                }
            }
            Op::Load { bytes, signed, base, off, .. } => {
                let loaded = self.load(bytes, base, off, effect);
                if signed { loaded.extended(true, bytes * 8) } else { loaded }
            }
            _ => Value::Opaque,
        }
    }

    fn load(&self, bytes: u8, base: u8, off: i16, effect: &Effect) -> Value {
        let Value::Place { base, offset, more: None } = self.reg(base) else { return Value::Opaque };
        let at = offset + i64::from(off);
        let seen = at >= 0 && at + i64::from(bytes) <= FRAME as i64;
        match base {
            Base::Start if self.pristine && !effect.may_fault && seen => {
                Value::Number { bits: Bits::loaded(at as u16, bytes), add: 0 }
            }
            Base::Stack => self.stack.load(at, bytes),
            // Helpers move it.
            Base::Context if self.pristine && (at, bytes) == (4, 4) => Value::place(Base::End, 0),
            Base::Context if (at, bytes) == (12, 4) => Value::Number { bits: Bits::loaded(IFINDEX, 4), add: 0 },
            Base::Context if (at, bytes) == (16, 4) => Value::Number { bits: Bits::loaded(QUEUE, 4), add: 0 },
            _ => Value::Opaque,
        }
    }

    /// Goes past an instruction; what it gives.
    pub fn pass(&mut self, step: &Step, effect: &Effect) -> Value {
        let gives = self.gives(step, effect);
        if let Op::Store { bytes, base, off, src } = step.op {
            match self.reg(base) {
                Value::Place { base: Base::Stack, offset, more: None } => {
                    let value = self.operand(src);
                    self.stack.store(offset + i64::from(off), bytes, &value);
                }
                Value::Place { base: Base::Start, .. } => {}
                _ => self.stack = Stack::default(),
            }
        } else if effect.stores & STACK != 0 {
            self.stack = Stack::default();
        }
        self.pristine &= effect.stores & (PACKET | CONTEXT) == 0;
        for (r, name) in self.names.iter_mut().enumerate() {
            if effect.writes >> r & 1 == 1 && r != usize::from(START) {
                *name = gives;
            }
        }
        if effect.writes >> START & 1 == 1 {
            self.pristine = false;
            self.names[usize::from(START)] = Value::Opaque;
        }
        gives
    }

    /// So many bytes at an address, in words; none where they may lie outside of the frame or stack.
    pub fn words(&self, address: Value, bytes: u32, least: u32) -> Option<Vec<Extract>> {
        let Value::Place { base, offset, more: None } = address else { return None };
        let end = offset + i64::from(bytes);
        let inside = match base {
            Base::Stack => offset >= -i64::from(address::STACK_BYTES) && end <= 0,
            Base::Start => offset >= 0 && end <= i64::from(least),
            _ => false,
        };
        if !inside {
            return None;
        }
        let byte = |n: u32| -> Option<[Bit; 8]> {
            let at = offset + i64::from(n);
            let value = match base {
                Base::Stack => self.stack.load(at, 1),
                Base::Start if self.pristine && (0..FRAME as i64).contains(&at) => {
                    Value::Number { bits: Bits::loaded(at as u16, 1), add: 0 }
                }
                _ => Value::Opaque,
            };
            value.as_bits().map(|bits| std::array::from_fn(|bit| bits.0[bit]))
        };
        let word = |first: u32| {
            let mut bits = Bits::constant(0);
            for n in first..(first + 8).min(bytes) {
                let at = 8 * (n - first) as usize;
                bits.0[at..at + 8].copy_from_slice(&byte(n)?);
            }
            Extract::new(&bits)
        };
        (0..bytes).step_by(8).map(word).collect()
    }
}
