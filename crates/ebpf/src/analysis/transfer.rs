//! What one instruction makes of what is known before it.

use super::alu::{self, Op};
use super::branch::Test;
use super::num::Num;
use super::stack;
use super::state::{FAR, Mark, State};
use super::value::{Base, MapRef, Value, is_read_only};
use crate::address::{CONTEXT, FUNCTIONS};
use crate::insn::{AluOp, AtomicOp, Kind, Operand, WideValue};
use crate::{Image, Program};
use std::rc::Rc;

/// Where control goes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Edge {
    /// To a slot of the same function.
    Slot(u32),
    /// Into a function; it comes back to slot `back`.
    Enter { function: u32, back: u32, callback: Option<Box<[Value; 5]>> },
    /// Out of the function.
    Return,
}

/// What becomes of a state.
#[expect(clippy::large_enum_variant, reason = "taken apart at once; nearly all are the large one")]
pub(super) enum Step {
    /// Goes on with the next instruction.
    Next(State),
    /// Goes several ways, or none.
    Ways(Vec<(Edge, State)>),
}

/// A program, decoded.
pub(super) struct Code<'a> {
    pub image: &'a Image,
    pub program: &'a Program,
    /// By slot; `None` where no instruction begins.
    pub kinds: Vec<Option<Kind>>,
}

impl<'a> Code<'a> {
    pub fn new(image: &'a Image, program: &'a Program) -> Self {
        let mut kinds = vec![None; program.insns.len()];
        let mut pc = 0;
        while let Some(insn) = program.insns.get(pc) {
            let kind = insn.kind(program.insns.get(pc + 1).copied()).ok();
            kinds[pc] = kind;
            pc += kind.map_or(1, |k| k.slots() as usize);
        }
        Self { image, program, kinds }
    }

    pub fn kind(&self, pc: u32) -> Option<Kind> {
        self.kinds.get(pc as usize).copied().flatten()
    }

    /// Slot that a jump, branch, call or function address at `pc` names.
    pub fn target(&self, pc: u32) -> Option<u32> {
        let target = self.kind(pc)?.target(pc)?;
        u32::try_from(target).ok().filter(|t| (*t as usize) < self.kinds.len())
    }

    pub fn step(&self, mut s: State, pc: u32) -> Step {
        let Some(kind) = self.kind(pc) else { return Step::Ways(Vec::new()) };
        let next = pc + kind.slots();
        match kind {
            Kind::Alu { op, wide, dst, src } => {
                let value = self.arithmetic(&mut s, pc, op, wide, dst, src);
                s.regs[usize::from(dst)] = value;
            }
            Kind::Neg { wide, dst } => {
                let n = s.regs[usize::from(dst)].as_number();
                let width = if wide { 64 } else { 32 };
                s.regs[usize::from(dst)] = Value::number(Op::Neg.apply(width, n, n));
            }
            Kind::MovSx { wide, bits, dst, src } => {
                let n = s.regs[usize::from(src)].as_number();
                let width = if wide { 64 } else { 32 };
                s.regs[usize::from(dst)] = Value::number(alu::sign_extend(width, bits.into(), n));
            }
            Kind::Swap { order, bits, dst } => {
                let v = s.regs[usize::from(dst)];
                s.regs[usize::from(dst)] = if order == crate::insn::Order::Little {
                    v.truncate(bits.into())
                } else {
                    Value::number(alu::byte_swap(bits.into(), v.as_number()))
                };
            }
            Kind::Wide { dst, value } => s.regs[usize::from(dst)] = self.wide(pc, value),
            Kind::Load { size, signed, dst, src, off } => {
                let at = s.regs[usize::from(src)].accessed(off.into());
                not_null(&mut s, src);
                let value = self.load(&s, &at, size.into());
                s.regs[usize::from(dst)] = if signed {
                    Value::number(alu::sign_extend(64, u32::from(size) * 8, value.as_number()))
                } else {
                    value
                };
            }
            Kind::Store { size, dst, off, src } => {
                let at = s.regs[usize::from(dst)].accessed(off.into());
                not_null(&mut s, dst);
                if let (Operand::Reg(r), 8) = (src, size) {
                    s.identify(r.into(), pc);
                }
                let value = operand(&s, src, true).truncate(u32::from(size) * 8);
                self.store(&mut s, &at, size.into(), Some(value));
            }
            Kind::Atomic { size, op, fetch, dst, off, src } => {
                let at = s.regs[usize::from(dst)].accessed(off.into());
                not_null(&mut s, dst);
                self.store(&mut s, &at, size.into(), None);
                let old = Value::number(Num::of_width(u32::from(size) * 8));
                match op {
                    AtomicOp::Cmpxchg => s.regs[0] = old,
                    _ if fetch => s.regs[usize::from(src)] = old,
                    _ => {}
                }
            }
            Kind::Jump { .. } => {
                return Step::Ways(self.target(pc).map(|t| (Edge::Slot(t), s)).into_iter().collect());
            }
            Kind::Branch { cond, wide, dst, src, .. } => {
                let test = Test::of(cond);
                let mut ways = Vec::with_capacity(2);
                let mut other = s.clone();
                if refine(&mut other, pc, test.negated(), wide, dst, src) {
                    ways.push((Edge::Slot(next), other));
                }
                if let Some(target) = self.target(pc)
                    && refine(&mut s, pc, test, wide, dst, src)
                {
                    ways.push((Edge::Slot(target), s));
                }
                return Step::Ways(ways);
            }
            Kind::CallHelper { id } => return self.helper(s, pc, id),
            Kind::CallLocal { .. } => {
                let enter = |function| (Edge::Enter { function, back: next, callback: None }, s);
                return Step::Ways(self.target(pc).map(enter).into_iter().collect());
            }
            Kind::Exit => return Step::Ways(vec![(Edge::Return, s)]),
        }
        Step::Next(s)
    }

    fn arithmetic(&self, s: &mut State, pc: u32, op: AluOp, wide: bool, dst: u8, src: Operand) -> Value {
        let Some(op) = Op::of(op) else {
            if let Operand::Reg(r) = src
                && (wide || s.regs[usize::from(r)].fits_32())
            {
                s.identify(r.into(), pc);
            }
            let value = operand(s, src, wide);
            return if wide { value } else { value.truncate(32) };
        };
        let (a, b) = (s.regs[usize::from(dst)], operand(s, src, true));
        if src == Operand::Reg(dst) && matches!(op, Op::Sub | Op::Xor) {
            return Value::constant(0);
        }
        if wide {
            let sum = a.apply(op, &b);
            return if op == Op::Add { self.further(s, pc, sum, &a, &b) } else { sum };
        }
        let plain = a.base == Base::Number && b.base == Base::Number;
        if matches!(op, Op::Add | Op::Sub) && !plain {
            // The lower half of a sum is the sum, where that is an address.
            return a.apply(op, &b).truncate(32);
        }
        Value::number(op.apply(32, a.as_number(), b.as_number()))
    }

    /// A sum; of a packet address and a bounded number it keeps what is proven of the address.
    fn further(&self, s: &mut State, pc: u32, sum: Value, a: &Value, b: &Value) -> Value {
        let (pointer, number) = if b.base == Base::Number { (a, b) } else { (b, a) };
        let greatest = number.offset.whole.smax;
        let packet = matches!(sum.base, Base::Packet(_)) && sum.id.is_none() && sum.offset.as_constant().is_none();
        if !packet || number.offset.whole.smin < 0 || greatest >= FAR {
            return sum;
        }
        let known = s.proven_from(pointer);
        let id = s.fresh_id(pc);
        if let Some(bytes) = known {
            s.prove(Mark::Id(id), bytes - greatest);
        }
        Value { id: Some((id, 0)), ..sum }
    }

    fn wide(&self, pc: u32, value: WideValue) -> Value {
        match value {
            WideValue::Number(n) => Value::constant(n),
            WideValue::Map(map) => Value::pointer(Base::Handle(MapRef::Map(map))),
            WideValue::MapValue { map, offset } => Value::pointer(Base::Map(MapRef::Map(map))).plus(offset.into()),
            WideValue::Function(_) => {
                self.target(pc).map_or_else(Value::unknown, |t| Value::constant(u64::from(FUNCTIONS) + u64::from(t)))
            }
        }
    }

    fn load(&self, s: &State, at: &Value, bytes: u32) -> Value {
        let anything = Value::number(Num::of_width(bytes * 8));
        let context = at.as_constant().and_then(|a| a.checked_sub(CONTEXT.into()));
        match (at.base, at.offset.as_constant()) {
            (Base::Number, _) if bytes == 4 => match context {
                Some(0) => Value::pointer(Base::Packet(s.generation)),
                Some(4) => Value::pointer(Base::End(s.generation)),
                Some(8) => Value::pointer(Base::Meta(s.generation)),
                _ => anything,
            },
            (Base::Stack(frame), Some(offset)) if at.is_inside(self.image, bytes) => {
                let frame = s.frames.get(usize::from(frame));
                frame.map_or(anything, |f| stack::load(f, offset as i64, bytes))
            }
            (Base::Map(map), Some(offset)) if at.is_inside(self.image, bytes) => {
                let spec = map.spec(self.image).filter(|spec| spec.frozen && is_read_only(spec));
                let contents = spec.and_then(|spec| spec.contents.as_deref());
                let found = contents.and_then(|c| c.get(offset as usize..offset as usize + bytes as usize));
                found.map_or(anything, |found| {
                    let mut word = [0; 8];
                    word[..found.len()].copy_from_slice(found);
                    Value::constant(u64::from_le_bytes(word))
                })
            }
            _ => anything,
        }
    }

    /// Writes `bytes` bytes; of what is not known without a value.
    pub(super) fn store(&self, s: &mut State, at: &Value, bytes: u32, value: Option<Value>) {
        match at.base {
            Base::Stack(frame) if at.is_inside(self.image, bytes) => {
                let Some(frame) = s.frames.get_mut(usize::from(frame)) else { return };
                let frame = Rc::make_mut(frame);
                let (low, high) = at.offsets();
                match value {
                    Some(value) if low == high => stack::store(frame, low, bytes, value),
                    _ => stack::forget(frame, low, high + i64::from(bytes)),
                }
            }
            _ if at.may_be_stack(self.image, bytes) => s.forget_stack(),
            _ => {}
        }
    }
}

fn operand(s: &State, operand: Operand, wide: bool) -> Value {
    match operand {
        Operand::Reg(r) => s.regs[usize::from(r)],
        Operand::Imm(i) if wide => Value::constant(i64::from(i) as u64),
        Operand::Imm(i) => Value::constant(u64::from(i as u32)),
    }
}

/// What is known when `test` holds; false when it cannot.
fn refine(s: &mut State, pc: u32, test: Test, wide: bool, dst: u8, src: Operand) -> bool {
    let width = if wide { 64 } else { 32 };
    let a = s.regs[usize::from(dst)];
    let b = operand(s, src, wide);
    if src == Operand::Reg(dst) {
        return test.refine(width, a.as_number(), a.as_number()).is_some();
    }
    let Some((na, nb)) = test.refine(width, a.as_number(), b.as_number()) else { return false };
    learn(s, dst.into(), na);
    if let Operand::Reg(r) = src {
        learn(s, r.into(), nb);
    }
    compare_bounds(s, pc, test, wide, dst, src);
    true
}

/// An access through register `r` succeeds, so that it is not 0.
fn not_null(s: &mut State, r: u8) {
    let r = usize::from(r);
    if s.regs[r].nullable {
        let n = Num::unsigned(1, u64::MAX);
        learn(s, r, n);
    }
}

/// Register `r` is one of `n`; so is every value equal to it.
fn learn(s: &mut State, r: usize, n: Num) {
    let old = s.regs[r];
    let mut new = old;
    if old.base == Base::Number {
        new.offset = n;
    } else if old.nullable {
        let pointer = Value { nullable: false, ..old };
        if !n.contains(0) {
            new = pointer;
        } else if pointer.as_number().meet(n).is_none() {
            new = Value { id: old.id, ..Value::constant(0) };
        }
    }
    if new == old {
        return;
    }
    s.regs[r] = new;
    if old.id.is_some() {
        s.change(|v| v.id == old.id && v.base == old.base && v.nullable == old.nullable, |v| *v = new);
    }
}

/// What a comparison with the packet's end (or of metadata with its start) proves.
fn compare_bounds(s: &mut State, pc: u32, test: Test, wide: bool, dst: u8, src: Operand) {
    let Operand::Reg(src) = src else { return };
    let (below, above, strict) = match test {
        Test::Lt => (dst, src, 1),
        Test::Le | Test::Eq => (dst, src, 0),
        Test::Gt => (src, dst, 1),
        Test::Ge => (src, dst, 0),
        _ => return,
    };
    one_bound(s, pc, wide, below, above, strict);
    if test == Test::Eq {
        one_bound(s, pc, wide, above, below, 0);
    }
}

fn one_bound(s: &mut State, pc: u32, wide: bool, below: u8, above: u8, strict: i64) {
    let (p, e) = (s.regs[usize::from(below)], s.regs[usize::from(above)]);
    if p.nullable || e.nullable || !(wide || p.fits_32() && e.fits_32()) {
        return;
    }
    let Some(slack) = e.offset.as_constant().map(|c| c as i64).filter(|c| c.unsigned_abs() < FAR as u64) else {
        return;
    };
    let g = s.generation;
    let (least, greatest) = p.offsets();
    if least <= -FAR || greatest >= i64::MAX / 2 {
        return;
    }
    match (p.base, e.base) {
        (Base::Packet(a), Base::End(b)) if a == g && b == g => {
            if least < FAR {
                s.prove(Mark::Data, least + strict - slack);
            }
            if least == greatest {
                return;
            }
            s.identify(below.into(), pc);
            let Some((id, delta)) = s.regs[usize::from(below)].id else { return };
            if delta.unsigned_abs() < FAR as u64 {
                s.prove(Mark::Id(id), delta + strict - slack);
                // The frame is no longer than its buffer, so neither is an offset that is not beyond its end.
                let limit = i64::from(super::value::MAX_BUFFER) + slack;
                let near = |v: &Value| {
                    v.base == p.base
                        && !v.nullable
                        && v.id.is_some_and(|(i, d)| i == id && d.unsigned_abs() < FAR as u64)
                };
                s.change(near, |v| {
                    let shift = v.id.map_or(0, |(_, d)| d) - delta;
                    let (from, to) = (least + shift, limit + shift);
                    if let Some(offset) = v.offset.meet(Num::signed(from.min(to), to)) {
                        v.offset = offset;
                    }
                });
            }
        }
        (Base::Meta(a), Base::Packet(b)) if a == g && b == g && least < FAR => {
            s.prove(Mark::Meta, least + strict - slack);
        }
        _ => {}
    }
}

/// Whether an access of `bytes` bytes is surely in the packet as it is now.
pub(super) fn proven_in_packet(s: &State, at: &Value, bytes: u32) -> bool {
    let (least, greatest) = at.offsets();
    let width = i64::from(bytes);
    if at.nullable || least < 0 || greatest >= FAR {
        return false;
    }
    match at.base {
        Base::Packet(_) => s.proven_from(at).is_some_and(|n| width <= n),
        Base::Meta(g) if g == s.generation => s.proven.get(&Mark::Meta).is_some_and(|n| greatest + width <= *n),
        _ => false,
    }
}
