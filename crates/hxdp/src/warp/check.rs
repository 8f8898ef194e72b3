//! Whether a leaf's code does what it did before the engine took a part of it: a checker without the optimizer's code.
//!
//! Needs: the code before `peel` and behind it, and what the engine begins the code with. Both first traces run side by side on terms.
//! What is done in order (stores to other memory than the own stack, accesses that may fault, atomics, helpers, branches, ends) must stand there in the same order
//! with the same operands; where a way leads on, what is read behind it must be the same in registers and stack. The lookup of the entry
//! must be the first that is done in order, with the same key.

use super::lookup::Lookup;
use super::path::Answer;
use super::peel::Entry;
use super::terms::{Bit, Byte, Node, Term, Terms, shape};
use crate::effect::{CONTEXT, Effect, PACKET, STACK, Spaces};
use crate::op::{CORE, LOOKUP, NAMES, Registers, START, TAIL_CALL};
use crate::pass::liveness::Liveness;
use crate::pass::{Code, dead, stores};
use crate::{Op, Step};
use sluice_ebpf::address::{self, STACK_BYTES, frame_pointer};
use sluice_ebpf::analysis::Base;
use sluice_ebpf::helper::{self, Arg};
use sluice_ebpf::insn::Operand;
use sluice_ebpf::vm::HEADROOM;
use sluice_ebpf::{Image, MapType};
use std::collections::BTreeMap;

/// Bytes of the own stack frame.
const BYTES: usize = STACK_BYTES as usize;
/// Bytes of the frame that the engine sees, and where it sees what else.
const FRAME: u64 = 64;
const IFINDEX: u16 = 64;
const QUEUE: u16 = 68;
const LENGTH: u16 = 72;
/// The step that the entry's lookup is.
const ANSWER: u32 = 0;
/// In the place of a register that a field names.
const NAMED: u8 = NAMES as u8;

/// Bytes of the own stack, from its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Set([u64; BYTES / 64]);

impl Set {
    const NONE: Self = Self([0; BYTES / 64]);
    const ALL: Self = Self([u64::MAX; BYTES / 64]);

    /// So many from an offset to the stack's end on; none if some of them lie outside.
    fn of(offset: i64, bytes: i64) -> Option<Self> {
        let first = usize::try_from(offset + BYTES as i64).ok()?;
        let end = first.checked_add(usize::try_from(bytes).ok()?).filter(|end| *end <= BYTES)?;
        let mut set = Self::NONE;
        (first..end).for_each(|n| set.0[n / 64] |= 1 << (n % 64));
        Some(set)
    }

    fn has(&self, n: usize) -> bool {
        self.0[n / 64] >> (n % 64) & 1 == 1
    }

    fn or(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
        self
    }

    fn without(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a &= !b);
        self
    }
}

/// Which bytes of the own stack may be read from each trace's beginning on, before they are written.
struct Reads<'a> {
    code: &'a Code,
    at: BTreeMap<u32, Set>,
}

impl<'a> Reads<'a> {
    fn of(code: &'a Code) -> Self {
        let mut reads = Self { code, at: BTreeMap::new() };
        loop {
            let mut changed = false;
            for (label, trace) in code.traces.iter().rev() {
                let mut read = trace.next.map_or(Set::NONE, |next| reads.at(next));
                for step in trace.steps.iter().rev() {
                    read = reads.before(step, read);
                }
                changed |= reads.at.insert(*label, read) != Some(read);
            }
            if !changed {
                return reads;
            }
        }
    }

    fn at(&self, label: u32) -> Set {
        self.at.get(&label).copied().unwrap_or(Set::NONE)
    }

    fn before(&self, step: &Step, behind: Set) -> Set {
        let leaves = step.op.branch().map_or(Set::NONE, |to| self.at(to));
        match step.op {
            Op::Exit { .. } => Set::NONE,
            Op::Jump { to, .. } => self.at(to),
            Op::Store { bytes, base: 10, off, .. } => {
                Set::of(off.into(), bytes.into()).map_or(behind, |written| behind.without(written))
            }
            _ => behind.or(leaves).or(self.read_by(step)),
        }
    }

    /// Those that an instruction may read itself.
    fn read_by(&self, step: &Step) -> Set {
        let effect = Effect::of(step, &self.code.regions);
        match step.op {
            // Whoever follows begins with a stack of its own.
            Op::Helper { id: TAIL_CALL, .. } => Set::NONE,
            Op::Helper { .. } if effect.loads & STACK != 0 => self.read_by_helper(step),
            Op::Load { bytes, base: 10, off, .. } | Op::Atomic { bytes, base: 10, off, .. } => {
                Set::of(off.into(), bytes.into()).unwrap_or(Set::ALL)
            }
            _ if effect.loads & STACK != 0 => Set::ALL,
            _ => Set::NONE,
        }
    }

    fn read_by_helper(&self, step: &Step) -> Set {
        let regions = &self.code.regions;
        let call = regions.slots.get(step.slot as usize).and_then(|at| at.call.as_ref());
        let (Some(call), true, false) = (call, regions.complete, step.op.is_barrier()) else { return Set::ALL };
        if helper::find(call.helper).is_none_or(|helper| helper.args.len() != call.args.len()) {
            return Set::ALL;
        }
        let sizes = self.code.maps.sizes.get(&step.slot);
        let mut read = Set::NONE;
        for (index, (arg, value)) in call.args.iter().enumerate() {
            let bytes = match arg {
                Arg::Map | Arg::Context | Arg::Number | Arg::Size | Arg::WriteValue => continue,
                Arg::Key => sizes.map(|(key, _)| u64::from(*key)),
                Arg::Value => sizes.map(|(_, value)| u64::from(*value)),
                Arg::Read | Arg::Write => call.args.get(index + 1).and_then(|(_, bytes)| bytes.as_constant()),
                Arg::WriteExact(bytes) => Some(u64::from(*bytes)),
                _ => None,
            };
            let (low, high) = value.offsets();
            let reach = bytes.and_then(|bytes| i64::try_from(bytes).ok()?.checked_add(high.checked_sub(low)?));
            read = read.or(match (value.base, reach) {
                (Base::Packet(_) | Base::Meta(_) | Base::Map(_) | Base::Record(_), _) => Set::NONE,
                (Base::Stack(0), Some(reach)) if !value.nullable => Set::of(low, reach).unwrap_or(Set::ALL),
                _ => Set::ALL,
            });
        }
        read
    }
}

/// One of the two programs, where it has come to.
struct Side<'a> {
    code: &'a Code,
    /// Its next instruction.
    at: usize,
    names: [Term; NAMES],
    stack: Vec<Byte>,
    /// By kind of memory, how many steps were done in order when it may have been written last.
    written: [u32; 4],
}

impl<'a> Side<'a> {
    fn new(code: &'a Code, terms: &mut Terms) -> Self {
        let mut names = std::array::from_fn(|r| terms.node(Node::First(r as u8)));
        names[1] = Term::constant(address::CONTEXT.into());
        names[10] = Term::constant(frame_pointer(0));
        names[usize::from(START)] = Term::constant(start());
        // The stack begins with zeros.
        Self { code, at: 0, names, stack: vec![[Bit::Zero; 8]; BYTES], written: [0; 4] }
    }

    fn begins_with(&mut self, entry: &Entry, terms: &mut Terms) -> Result<(), String> {
        for (r, extract) in &entry.registers {
            let free =
                usize::from(*r) < CORE && !matches!(*r, 1 | 5 | 10 | START) && (*r != 0 || entry.lookup.is_none());
            if !free {
                return Err(format!("r{r} is set"));
            }
            self.names[usize::from(*r)] = Term::extracted(extract).ok_or("parts share a bit")?;
        }
        for (offset, extract) in &entry.stack {
            let Some(first) = usize::try_from(i64::from(*offset) + BYTES as i64).ok().filter(|n| n + 8 <= BYTES) else {
                return Err(format!("a word at {offset} is set"));
            };
            let word = Term::extracted(extract).ok_or("parts share a bit")?;
            self.stack[first..first + 8].copy_from_slice(&terms.bytes(word, 8));
        }
        Ok(())
    }

    fn reg(&self, r: u8) -> Term {
        self.names[usize::from(r)]
    }

    /// Where an access goes, if that is the same for every packet.
    fn address(&self, terms: &mut Terms, base: u8, off: i16) -> Term {
        let add =
            Op::Alu { op: sluice_ebpf::insn::AluOp::Add, wide: true, dst: 0, a: base, b: Operand::Imm(off.into()) };
        terms.pure(add, |r| self.reg(r))
    }

    /// The first byte of the own stack that an access is to.
    fn own(&self, terms: &mut Terms, (base, off): (u8, i16), bytes: u8) -> Option<usize> {
        let at = self.address(terms, base, off).known()?;
        let first = at.checked_sub(frame_pointer(0) - BYTES as u64)? as usize;
        (first + usize::from(bytes) <= BYTES).then_some(first)
    }

    /// What a load gives.
    fn loaded(&self, terms: &mut Terms, (bytes, base, off): (u8, u8, i16), effect: &Effect) -> Term {
        if let Some(first) = self.own(terms, (base, off), bytes) {
            return Term::joined(&self.stack[first..first + usize::from(bytes)]);
        }
        let at = self.address(terms, base, off);
        let pristine = self.last(PACKET | CONTEXT) == 0;
        let from = |first: u64| at.known().and_then(|at| at.checked_sub(first));
        let frame = from(start()).filter(|n| pristine && !effect.may_fault && n + u64::from(bytes) <= FRAME);
        match (frame, from(address::CONTEXT.into())) {
            (Some(n), _) => Term::seen(n as u16, bytes),
            (_, Some(0)) if pristine && bytes == 4 => Term::constant(start()),
            (_, Some(4)) if pristine && bytes == 4 => {
                let add = Op::Alu { op: sluice_ebpf::insn::AluOp::Add, wide: true, dst: 0, a: 0, b: Operand::Reg(1) };
                terms.pure(add, |r| if r == 0 { Term::seen(LENGTH, 2) } else { Term::constant(start()) })
            }
            (_, Some(12)) if bytes == 4 => Term::seen(IFINDEX, 4),
            (_, Some(16)) if bytes == 4 => Term::seen(QUEUE, 4),
            _ => terms.node(Node::Loaded(self.last(effect.loads), at, bytes)),
        }
    }

    fn last(&self, spaces: Spaces) -> u32 {
        (0..4).filter(|n| spaces >> n & 1 == 1).map(|n| self.written[n]).max().unwrap_or(0)
    }

    /// Goes on to the next step that is done in order; none at the trace's end.
    fn run(&mut self, terms: &mut Terms) -> Option<Step> {
        let code = self.code;
        let trace = code.traces.get(&0)?;
        while let Some(step) = trace.steps.get(self.at) {
            if !self.passes(step, terms) {
                return Some(*step);
            }
        }
        None
    }

    /// A step that only changes registers or the own stack; whether it is one.
    fn passes(&mut self, step: &Step, terms: &mut Terms) -> bool {
        let effect = Effect::of(step, &self.code.regions);
        match step.op {
            Op::Store { bytes, base, off, src } => {
                let Some(first) = self.own(terms, (base, off), bytes) else { return false };
                let value = match src {
                    Operand::Reg(r) => self.reg(r),
                    Operand::Imm(number) => Term::constant(i64::from(number) as u64),
                };
                let all = terms.bytes(value, bytes);
                self.stack[first..first + usize::from(bytes)].copy_from_slice(&all);
            }
            Op::Load { bytes, signed, dst, base, off, .. } if !effect.may_fault => {
                let own = self.own(terms, (base, off), bytes).is_some();
                if !own && effect.loads & STACK != 0 {
                    return false;
                }
                let loaded = self.loaded(terms, (bytes, base, off), &effect);
                let value = if signed { terms.extended(true, 8 * bytes, loaded) } else { loaded };
                self.names[usize::from(dst)] = value;
            }
            op if op.is_pure() => {
                let value = terms.pure(op, |r| self.reg(r));
                for r in (0..NAMES).filter(|r| op.writes() >> r & 1 == 1) {
                    self.names[r] = value;
                }
            }
            _ => return false,
        }
        self.at += 1;
        true
    }

    /// What a step that is done in order changes; it is the one with this number.
    fn pass(&mut self, step: &Step, number: u32, terms: &mut Terms) {
        let effect = Effect::of(step, &self.code.regions);
        for r in (0..NAMES as u8).filter(|r| step.op.writes() >> r & 1 == 1) {
            let named = if step.op.fixed() >> r & 1 == 1 { r } else { NAMED };
            self.names[usize::from(r)] = terms.node(Node::Given(number, named));
        }
        if effect.stores & STACK != 0 {
            // Bytes that differ go on to differ.
            for (n, byte) in self.stack.iter_mut().enumerate() {
                let term = terms.node(Node::Stack(number, n as u16, *byte));
                *byte = terms.bytes(term, 1)[0];
            }
        }
        for (n, written) in self.written.iter_mut().enumerate() {
            if effect.stores >> n & 1 == 1 {
                *written = number + 1;
            }
        }
        self.at += 1;
    }

    /// r0 behind the entry's lookup. What a per-CPU map gives depends on the processor, and a packet has none yet: it gets the first copy's address,
    /// which with the distance of its own is what the call would give. Zero it has where nothing is found.
    fn answered(&mut self, lookup: &Lookup, answer: Answer, image: &Image, terms: &mut Terms) -> Result<(), String> {
        let per_cpu = image.maps.get(lookup.map as usize).is_some_and(|spec| spec.kind.is_per_cpu());
        match answer {
            Answer::Either if per_cpu => Err("what it finds depends on the processor".to_owned()),
            Answer::Found if per_cpu => {
                self.names[0] = terms.first_copy(lookup.map, self.reg(0));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The key that a lookup is called with, in words; none where it is not known.
    fn key(&self, terms: &mut Terms, step: &Step, bytes: u32) -> Option<Vec<Term>> {
        let Op::Helper { second, .. } = step.op else { return None };
        let (base, more) = second.unwrap_or((2, 0));
        let all: Vec<Byte> = (0..bytes)
            .map(|n| {
                let off = more.checked_add(i16::try_from(n).ok()?)?;
                if let Some(at) = self.own(terms, (base, off), 1) {
                    return Some(self.stack[at]);
                }
                let at = self.address(terms, base, off).known()?.checked_sub(start()).filter(|n| *n < FRAME)?;
                let frame = Term::seen(at as u16, 1);
                (self.last(PACKET | CONTEXT) == 0).then(|| terms.bytes(frame, 1)[0])
            })
            .collect::<Option<_>>()?;
        Some(all.chunks(8).map(Term::joined).collect())
    }
}

/// The address of the frame's first byte before a program has moved it.
fn start() -> u64 {
    u64::from(address::PACKET + HEADROOM)
}

/// Checks a leaf's code; says what is wrong.
pub fn check(before: &Code, after: &Code, entry: (&Entry, Answer), image: &Image) -> Result<(), String> {
    others(before, after)?;
    first(before, after, entry, image)
}

/// The same of the first trace alone, whose values may have other registers.
pub fn first(before: &Code, after: &Code, (entry, answer): (&Entry, Answer), image: &Image) -> Result<(), String> {
    let mut terms = Terms::default();
    let (live, reads) = (Liveness::of(after), Reads::of(after));
    let (mut old, mut new) = (Side::new(before, &mut terms), Side::new(after, &mut terms));
    new.begins_with(entry, &mut terms)?;
    let mut number = 0;
    if let Some(lookup) = &entry.lookup {
        let step = old.run(&mut terms).ok_or("no lookup is there")?;
        is_lookup(&old, &step, lookup, image, &mut terms)?;
        old.pass(&step, ANSWER, &mut terms);
        // As the same call would.
        let place = new.at;
        new.pass(&step, ANSWER, &mut terms);
        new.at = place;
        new.answered(lookup, answer, image, &mut terms)?;
        number = ANSWER + 1;
    }
    loop {
        let (a, b) = (old.run(&mut terms), new.run(&mut terms));
        let same = |registers: Registers, stack: Set, what: &str| -> Result<(), String> {
            let differs = |r: &u8| registers >> r & 1 == 1 && old.reg(*r) != new.reg(*r);
            if let Some(r) = (0..NAMES as u8).find(differs) {
                return Err(format!("r{r} is another number {what}"));
            }
            match (0..BYTES).find(|n| stack.has(*n) && old.stack[*n] != new.stack[*n]) {
                Some(n) => Err(format!("byte {} of the stack is another {what}", n as i64 - BYTES as i64)),
                None => Ok(()),
            }
        };
        let (a, b) = match (a, b) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => {
                let next = |code: &Code| code.traces.get(&0).and_then(|trace| trace.next);
                if next(before) != next(after) {
                    return Err("the first trace leads elsewhere".to_owned());
                }
                let Some(next) = next(after) else { return Ok(()) };
                return same(live.at(next), reads.at(next), "at the end of the first trace");
            }
            (Some(step), None) => return Err(format!("{} is left out", told(&step))),
            (None, Some(step)) => return Err(format!("{} is new", told(&step))),
        };
        let what = format!("at {}", told(&a));
        let ((one, read), (other, read_too)) = (shape(told_exit(a.op)), shape(told_exit(b.op)));
        if (one, a.slot) != (other, b.slot) {
            return Err(format!("{} stands in the place of {}", told(&b), told(&a)));
        }
        if read.iter().zip(&read_too).any(|(a, b)| old.reg(*a) != new.reg(*b)) {
            return Err(format!("it has other operands {what}"));
        }
        same(a.op.reads() & a.op.fixed(), reads.read_by(&b), &what)?;
        let leads = match a.op {
            Op::Jump { to, .. } => Some(to),
            op => op.branch(),
        };
        if let Some(to) = leads {
            same(live.at(to), reads.at(to), &what)?;
        }
        if a.op.ends() {
            return Ok(());
        }
        old.pass(&a, number, &mut terms);
        new.pass(&b, number, &mut terms);
        number += 1;
    }
}

/// The other traces are those that were there, without what nobody reads; none leads to the first.
fn others(before: &Code, after: &Code) -> Result<(), String> {
    let differs = |before: &Code| {
        after.traces.iter().any(|(label, trace)| *label != 0 && before.traces.get(label) != Some(trace))
    };
    if differs(before) {
        let mut cleaned = before.clone();
        stores::stores(&mut cleaned);
        dead::dead(&mut cleaned);
        if differs(&cleaned) {
            return Err("another trace has changed".to_owned());
        }
    }
    let leads = |trace: &crate::pass::Trace| {
        trace.next == Some(0) || trace.steps.iter().any(|step| step.op.target() == Some(0))
    };
    if after.traces.values().any(leads) {
        return Err("a way leads back to the first trace".to_owned());
    }
    Ok(())
}

/// The first step that is done in order is the lookup of the entry.
fn is_lookup(old: &Side<'_>, step: &Step, lookup: &Lookup, image: &Image, terms: &mut Terms) -> Result<(), String> {
    let Op::Helper { id: LOOKUP, handle: Some(map), .. } = step.op else {
        return Err(format!("{} comes before the lookup", told(step)));
    };
    let spec = image.maps.get(map as usize).filter(|spec| map == lookup.map && spec.key_size == lookup.bytes);
    let searched = |kind: MapType| {
        matches!(
            kind,
            MapType::LpmTrie | MapType::Hash | MapType::LruHash | MapType::PercpuHash | MapType::LruPercpuHash
        )
    };
    if !spec.is_some_and(|spec| searched(spec.kind)) {
        return Err(format!("map {} is looked up in the place of {map}", lookup.map));
    }
    let key: Option<Vec<Term>> = lookup.key.iter().map(Term::extracted).collect();
    match old.key(terms, step, lookup.bytes) {
        found @ Some(_) if found == key => Ok(()),
        _ => Err("the key is another".to_owned()),
    }
}

/// An exit without a number is one with r0.
fn told_exit(op: Op) -> Op {
    match op {
        Op::Exit { value: None, back } => Op::Exit { value: Some(Operand::Reg(0)), back },
        op => op,
    }
}

fn told(step: &Step) -> String {
    format!("{:?} of slot {}", step.op, step.slot)
}

#[cfg(test)]
pub(super) mod tests;
