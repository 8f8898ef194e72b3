//! Takes out of a leaf's code what the engine does.
//!
//! Before: a program whose first trace begins with a path, without its branches. After: a first lookup whose key the frame gives is
//! no instruction any more, its answer is in r0 where the trace begins; and of the registers those that save most hold what they hold later already.
//! Needs: all passes but `rename`. Leaves alone: what the frame alone does not give.

use super::bits::{Bits, LENGTH};
use super::extract::Extract;
use super::known::Known;
use super::lookup::{Lookup, lookup};
use super::path::Path;
use super::value::{Base, Value};
use crate::effect::{Effect, STACK};
use crate::op::{CORE, START};
use crate::pass::liveness::Liveness;
use crate::pass::webs::Webs;
use crate::pass::{Code, Trace, dead, stores};
use crate::{Op, Step};
use sluice_ebpf::insn::Operand;
use sluice_ebpf::{Image, address};
use std::collections::{BTreeMap, BTreeSet};

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
        && let Some((lookup, without, before)) = lookup(code, image, path)
    {
        *code = without;
        entry.lookup = Some(lookup);
        early = Some(before);
    }
    let is_early = |step: &Step| early.as_ref().is_none_or(|early| early.contains(step));
    while let Some(changed) = better(code, &mut entry, (given, steps), &is_early) {
        *code = changed;
    }
    // What was loaded from such a word, or made of such a register, may have become another register since.
    let live = Liveness::of(code).at(0);
    entry.registers.retain(|register| given.registers.contains(register) || live >> register.0 & 1 == 1);
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
