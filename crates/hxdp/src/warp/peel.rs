//! Takes out of a leaf's code what the engine does.
//!
//! Before: a program whose first trace begins with a path, without its branches. After: a first lookup whose key the frame gives is
//! no instruction any more, its answer is in r0 where the trace begins; and of the registers those that save most hold what they hold later already.
//! Needs: all passes but `rename`. Leaves alone: what the frame alone does not give.

use super::bits::{Bit, Bits, FRAME, IFINDEX, LENGTH, QUEUE, Seen};
use super::extract::Extract;
use super::path::Path;
use super::stack::Stack;
use super::value::{Base, Value};
use super::walk::is_searched;
use crate::effect::{CONTEXT, Effect, PACKET, STACK};
use crate::op::{CORE, LOOKUP, NAMES, START};
use crate::pass::liveness::Liveness;
use crate::pass::webs::Webs;
use crate::pass::{Code, Trace, dead, stores};
use crate::{Op, Step};
use sluice_ebpf::insn::{Operand, Order, WideValue};
use sluice_ebpf::{Image, address};
use std::collections::{BTreeMap, BTreeSet};

/// A lookup that is under way when a leaf's code begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Lookup {
    /// Index of the map in the image.
    pub map: u32,
    /// The key in words of 8 bytes, little endian; the last one is filled with zeros.
    pub key: Vec<Extract>,
    /// Bytes of the key.
    pub bytes: u32,
}

impl Lookup {
    /// A packet's key.
    pub fn key_of(&self, seen: &Seen) -> Vec<u8> {
        let mut key: Vec<u8> = self.key.iter().flat_map(|word| word.of(seen).to_le_bytes()).collect();
        key.truncate(self.bytes as usize);
        key
    }
}

/// What a leaf's code begins with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Entry {
    /// Registers, rising, and what they hold.
    pub registers: Vec<(u8, Extract)>,
    /// Words of 8 bytes of the stack, by their offset from its end, rising, and what they hold; all else of it is 0.
    pub stack: Vec<(i16, Extract)>,
    /// Its answer is in r0.
    pub lookup: Option<Lookup>,
}

impl Entry {
    /// Steps of the engine that it takes.
    pub fn steps(&self) -> usize {
        let key = self.lookup.iter().flat_map(|lookup| &lookup.key);
        let registers = self.registers.iter().map(|(_, extract)| extract);
        let stack = self.stack.iter().map(|(_, extract)| extract);
        registers.chain(stack).chain(key).map(Extract::steps).sum()
    }
}

/// Registers that the engine sets at most.
pub const REGISTERS: usize = 12;
/// Steps that it takes for a leaf at most.
pub const STEPS: usize = 16;

/// Bytes at the end of the stack that the engine may set words of.
pub const STACK_SET: i16 = 128;

/// Peels the first trace of a path; `given` is what is set in any case, and `steps` how many steps there may be.
pub fn peel(code: &mut Code, (image, path): (&Image, &Path), (given, steps): (&Entry, usize)) -> Entry {
    let mut entry = Entry { lookup: None, ..given.clone() };
    // Stores that stand there when the lookup begins.
    let mut early = None;
    if !path.ordered
        && let Some((lookup, without, before)) = lookup(code, image, path.least)
    {
        *code = without;
        entry.lookup = Some(lookup);
        early = Some(before);
    }
    let is_early = |step: &Step| early.as_ref().is_none_or(|early| early.contains(step));
    while let Some(changed) = better(code, &mut entry, (given, steps), &is_early) {
        *code = changed;
    }
    // What was loaded from such a word may have become a register since.
    entry.stack.retain(|word| given.stack.contains(word) || is_read(code, word.0));
    entry
}

/// Whether a word of the stack is read before it is stored to.
fn is_read(code: &Code, offset: i16) -> bool {
    let mut stored = code.clone();
    let Some(trace) = stored.traces.get_mut(&0) else { return true };
    let slot = trace.steps.first().map_or(0, |step| step.slot);
    let before = trace.steps.len();
    trace.steps.insert(0, Step { slot, op: Op::Store { bytes: 8, base: 10, off: offset, src: Operand::Imm(0) } });
    stores::stores(&mut stored);
    stored.traces.get(&0).is_none_or(|trace| trace.steps.len() > before)
}

/// What the names of a trace hold, as far as the frame gives it.
struct Known {
    names: [Value; NAMES],
    stack: Stack,
    /// The frame is as it came.
    pristine: bool,
}

impl Known {
    fn new(entry: &Entry) -> Self {
        let mut stack = Stack::zeros();
        for (offset, extract) in &entry.stack {
            stack.store((*offset).into(), 8, &Value::Number { bits: extract.bits(), add: 0 });
        }
        let mut names = [Value::Opaque; NAMES];
        names[1] = Value::place(Base::Context, 0);
        names[10] = Value::place(Base::Stack, 0);
        names[usize::from(START)] = Value::place(Base::Start, 0);
        Self { names, stack, pristine: true }
    }

    fn reg(&self, r: u8) -> Value {
        self.names[usize::from(r)]
    }

    fn operand(&self, operand: Operand) -> Value {
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
                value.alu(sluice_ebpf::insn::AluOp::Mov, false, value)
            }
            Op::Extend { wide, bits, src, .. } => self.reg(src).extended(wide, bits),
            Op::Negate { wide, src, .. } => Value::constant(0).alu(sluice_ebpf::insn::AluOp::Sub, wide, self.reg(src)),
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

    fn pass(&mut self, step: &Step, effect: &Effect) -> Value {
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
    fn words(&self, address: Value, bytes: u32, least: u32) -> Option<Vec<Extract>> {
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

/// The lookup that the program comes to first, and the program without it.
fn lookup(code: &Code, image: &Image, least: u32) -> Option<(Lookup, Code, Vec<Step>)> {
    let trace = code.traces.get(&0)?;
    let mut known = Known::new(&Entry::default());
    let mut found = None;
    for (index, step) in trace.steps.iter().enumerate() {
        let effect = Effect::of(step, &code.regions);
        if let Op::Helper { id: LOOKUP, handle: Some(map), second, .. } = step.op {
            let address = match second {
                Some((base, more)) => {
                    known.reg(base).alu(sluice_ebpf::insn::AluOp::Add, true, Value::constant(i64::from(more) as u64))
                }
                None => known.reg(2),
            };
            let spec = image.maps.get(map as usize)?;
            if !is_searched(spec.kind) {
                return None;
            }
            found =
                Some((index, Lookup { map, key: known.words(address, spec.key_size, least)?, bytes: spec.key_size }));
            break;
        }
        if effect.shared || effect.may_fault || step.op.is_barrier() || step.op.branch().is_some() || step.op.ends() {
            return None;
        }
        known.pass(step, &effect);
    }
    let (index, lookup) = found?;
    if lookup.key.iter().map(Extract::steps).sum::<usize>() > STEPS {
        return None;
    }
    let mut without = code.clone();
    let trace = without.traces.get_mut(&0)?;
    let before = trace.steps[..index].to_vec();
    trace.steps.remove(index);
    stores::stores(&mut without);
    dead::dead(&mut without);
    // The answer is in r0 from the beginning on.
    let kept = &without.traces.get(&0)?.steps;
    let uses = |step: &&Step| (step.op.reads() | step.op.writes()) & 1 != 0;
    let free = !kept.iter().filter(|step| before.contains(step)).any(|step| uses(&step));
    free.then_some((lookup, without, before))
}

/// A value that the engine could give.
struct Candidate {
    step: usize,
    web: usize,
    extract: Extract,
    register: Option<u8>,
}

/// The code with one thing more that the engine does, the one that saves most; none if nothing saves anything.
fn better(
    code: &Code,
    entry: &mut Entry,
    (given, steps): (&Entry, usize),
    is_early: &dyn Fn(&Step) -> bool,
) -> Option<Code> {
    let trace = code.traces.get(&0)?;
    let live = Liveness::of(code);
    let webs = Webs::of(trace, true, &live);
    let before = weight(trace, &code.regions);
    let room = steps.saturating_sub(entry.steps());
    let mut best: Option<(usize, Entry, Code)> = None;
    let mut consider = |changed: Code, with: Entry| {
        let saved = before.saturating_sub(weight(&changed.traces[&0], &changed.regions));
        if saved > best.as_ref().map_or(0, |(saved, ..)| *saved) {
            best = Some((saved, with, changed));
        }
    };
    let taken = |r: u8| entry.registers.iter().any(|(taken, _)| *taken == r) || r == 0 && entry.lookup.is_some();
    for candidate in candidates(code, trace, (&webs, &live), &taken, (entry, given)) {
        let Some(register) = candidate.register else { continue };
        let is_given = given.registers.contains(&(register, candidate.extract.clone()));
        let fits = entry.registers.len() < REGISTERS && candidate.extract.steps() <= room;
        if !is_given && !fits {
            continue;
        }
        let mut changed = code.clone();
        let steps = &mut changed.traces.get_mut(&0)?.steps;
        let mut names: Vec<u8> = webs.all.iter().map(|web| web.register).collect();
        names[candidate.web] = register;
        for (index, step) in steps.iter_mut().enumerate() {
            step.op = webs.renamed(index, step.op, &names);
        }
        steps.remove(candidate.step);
        dead::dead(&mut changed);
        stores::stores(&mut changed);
        let mut with = entry.clone();
        if !is_given {
            with.registers.push((register, candidate.extract));
            with.registers.sort_by_key(|(register, _)| *register);
        }
        consider(changed, with);
    }
    for (offset, extract, stored) in words(code, trace, entry, is_early) {
        let is_given = given.stack.contains(&(offset, extract.clone()));
        let is_set = entry.stack.iter().any(|(set, _)| *set == offset);
        if !is_given && (is_set || extract.steps() > room) {
            continue;
        }
        let mut changed = code.clone();
        let mut index = 0;
        changed.traces.get_mut(&0)?.steps.retain(|_| {
            index += 1;
            !stored.contains(&(index - 1))
        });
        dead::dead(&mut changed);
        let mut with = entry.clone();
        if !is_given {
            with.stack.push((offset, extract));
            with.stack.sort_by_key(|(offset, _)| *offset);
        }
        consider(changed, with);
    }
    let (_, with, changed) = best?;
    *entry = with;
    Some(changed)
}

/// Words of the stack that the trace stores what the frame gives to, before anything reads them and before its first branch: their offsets, what they hold, and the stores.
fn words(
    code: &Code,
    trace: &Trace,
    entry: &Entry,
    is_early: &dyn Fn(&Step) -> bool,
) -> Vec<(i16, Extract, Vec<usize>)> {
    let mut known = Known::new(entry);
    let mut found: BTreeMap<i16, (Bits, Vec<usize>)> = BTreeMap::new();
    let mut spoilt: BTreeSet<i16> = BTreeSet::new();
    for (index, step) in trace.steps.iter().enumerate() {
        let effect = Effect::of(step, &code.regions);
        if step.op.branch().is_some() || step.op.ends() || step.op.is_barrier() || matches!(step.op, Op::Helper { .. })
        {
            break;
        }
        let place = |base: u8, off: i16| match known.reg(base) {
            Value::Place { base: Base::Stack, offset, more: None } => i16::try_from(offset + i64::from(off)).ok(),
            _ => None,
        };
        match step.op {
            Op::Store { bytes, base, off, src } if effect.stores & STACK != 0 => {
                let Some(at) = place(base, off) else { break };
                let word = at.div_euclid(8) * 8;
                let (first, whole) = ((at - word) as usize, at + i16::from(bytes) <= word + 8);
                match known
                    .operand(src)
                    .as_bits()
                    .filter(|_| whole && is_early(step) && (-STACK_SET..0).contains(&word))
                {
                    Some(bits) => {
                        let (all, stores) = found.entry(word).or_insert_with(|| (Bits::constant(0), Vec::new()));
                        all.0[8 * first..8 * (first + usize::from(bytes))]
                            .copy_from_slice(&bits.0[..8 * usize::from(bytes)]);
                        stores.push(index);
                    }
                    None => spoilt.extend([word, word + 8]),
                }
            }
            Op::Load { bytes, base, off, .. } if effect.loads & STACK != 0 => {
                let Some(at) = place(base, off) else { break };
                let word = at.div_euclid(8) * 8;
                // What it reads stands there from the beginning on, unless more is stored to it later.
                let last = (at + i16::from(bytes) - 1).div_euclid(8) * 8;
                spoilt.extend([word, last].into_iter().filter(|word| !found.contains_key(word)));
                let later = trace.steps[index..].iter().any(|later| match later.op {
                    Op::Store { base, off, .. } => {
                        place(base, off).is_some_and(|at| [word, last].contains(&(at.div_euclid(8) * 8)))
                    }
                    _ => false,
                });
                if later {
                    spoilt.extend([word, last]);
                }
            }
            _ if effect.loads & STACK != 0 || effect.stores & STACK != 0 => break,
            _ => {}
        }
        known.pass(step, &effect);
    }
    let of = |(word, (bits, stores)): (i16, (Bits, Vec<usize>))| Some((word, Extract::new(&bits)?, stores));
    found.into_iter().filter(|(word, _)| !spoilt.contains(word)).filter_map(of).collect()
}

/// What a trace costs, roughly: an access takes the memory's port, and what waits for it waits longer.
fn weight(trace: &Trace, regions: &sluice_ebpf::analysis::Regions) -> usize {
    let of = |step: &Step| {
        let effect = Effect::of(step, regions);
        if effect.loads | effect.stores != 0 { 3 } else { 2 }
    };
    trace.steps.iter().map(of).sum()
}

fn candidates(
    code: &Code,
    trace: &Trace,
    (webs, live): (&Webs, &Liveness),
    taken: &dyn Fn(u8) -> bool,
    (entry, given): (&Entry, &Entry),
) -> Vec<Candidate> {
    let mut known = Known::new(entry);
    let mut all = Vec::new();
    // What the program begins with and reads itself.
    let entered = live.at(0);
    for (index, step) in trace.steps.iter().enumerate() {
        let effect = Effect::of(step, &code.regions);
        let value = known.pass(step, &effect);
        let single = effect.writes.is_power_of_two();
        let simple = step.op.is_pure() || matches!(step.op, Op::Load { .. }) && !effect.may_fault;
        if !single || !simple {
            continue;
        }
        let extract = match value {
            Value::Number { bits, add: 0 } => Extract::new(&bits),
            Value::Place { base, offset, more: None } => place(base, offset),
            Value::Length(0) => Extract::new(&Bits::loaded(LENGTH, 2)),
            _ => None,
        };
        let written = effect.writes.trailing_zeros() as usize;
        let (Some(extract), Some(web)) = (extract, webs.at[index].1[written]) else { continue };
        let free = |r: &u8| {
            let meets = |other: &(usize, &crate::pass::webs::Web)| {
                let (at, other) = *other;
                at != web && other.register == *r && other.start < webs.all[web].end && other.end > 0
            };
            entered >> *r & 1 == 0 && !webs.all.iter().enumerate().any(|other| meets(&other))
        };
        // A register that is set to just that; otherwise another one.
        let set = given.registers.iter().find(|(r, set)| *set == extract && free(r)).map(|(r, _)| *r);
        let fits = |r: &u8| !taken(*r) && free(r);
        let register = match webs.all[web].fixed {
            true => Some(webs.all[web].register).filter(|r| (set == Some(*r) || fits(r)) && is_set(*r)),
            false => set.or_else(|| (0..CORE as u8).rev().find(|r| is_set(*r) && fits(r))),
        };
        all.push(Candidate { step: index, web, extract, register });
    }
    all
}

/// Registers that the engine may set: r1 has the context, r10 the stack's end, r15 the frame's start. Of r5 cores keep a copy for helpers, which only
/// their own instructions change.
fn is_set(register: u8) -> bool {
    usize::from(register) < CORE && !matches!(register, 1 | 5 | 10 | START)
}

/// An address that is the same for every packet.
fn place(base: Base, offset: i64) -> Option<Extract> {
    let from = match base {
        Base::Start => address::PACKET + sluice_ebpf::vm::HEADROOM,
        Base::Stack => address::frame_pointer(0) as u32,
        Base::Context => address::CONTEXT,
        Base::End => return None,
    };
    Some(Extract { parts: Vec::new(), constant: (i64::from(from) + offset) as u64 })
}
