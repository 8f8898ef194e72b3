//! Takes from registers what was just stored or loaded.
//!
//! Before: `*(u64 *)(r10 -8) = r1`, a helper, `r2 = *(u64 *)(r10 -8)`; or the same header field loaded again behind a call.
//! After: `r2 = r1`, or of bytes at either end of a value the shift or mask that gives them, where r1 is renamed to a register that keeps it until there. Then `copies` and `dead` run again. Nothing
//! between may have written those bytes. A value of a map is loaded once where nothing but a redirect stands between two loads of it: no
//! other access that could tell when each was done. Needs: `rename`'s registers, the region analysis. Leaves alone: what was stored to values
//! of maps, which other packets write; what was stored; loads for whose value no register is free so long.

use super::liveness::Liveness;
use super::webs::Webs;
use super::{Code, Trace, copies, dead};
use crate::effect::{CONTEXT, Effect, PACKET, SHARED, STACK};
use crate::op::REDIRECT_MAP;
use crate::{Op, Step};
use sluice_ebpf::analysis::Regions;
use sluice_ebpf::insn::{AluOp, Operand};

/// What bytes in memory are known to be.
#[derive(Clone, Copy, Debug)]
struct Available {
    /// The value that their address counts from.
    base: usize,
    off: i16,
    bytes: u8,
    /// A value, or a number.
    source: Result<usize, i32>,
    /// The value was stored: it may have more bytes than are there.
    stored: bool,
    effect: Effect,
}

/// A load that a value or a number may replace.
#[derive(Clone, Copy, Debug)]
struct Wish {
    load: usize,
    bytes: u8,
    source: Result<usize, i32>,
    part: Part,
    /// It is of a map's value, which nobody loads in between.
    once: bool,
}

/// Which bytes of a value are loaded.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// All that it has.
    Whole,
    /// The lowest; it may have more.
    Lowest,
    /// Those from this bit on, to the last of 64, or (`wide` unset) of 32.
    Highest { bits: u8, wide: bool },
}

/// The part of what is available that a load of so many bytes takes, if one instruction gives it.
fn part(a: &Available, off: i16, bytes: u8) -> Option<Part> {
    let skipped = i32::from(off) - i32::from(a.off);
    let (own, bytes) = (i32::from(a.bytes), i32::from(bytes));
    match skipped {
        0 if own == bytes => Some(if a.stored && bytes < 8 { Part::Lowest } else { Part::Whole }),
        0 if bytes < own && matches!(bytes, 1 | 2 | 4) && a.source.is_ok() => Some(Part::Lowest),
        // What was loaded has zeros behind its bytes; of what was stored only 4 or 8 bytes end with a width.
        1.. if skipped + bytes == own && a.source.is_ok() && (!a.stored || matches!(own, 4 | 8)) => {
            Some(Part::Highest { bits: 8 * skipped as u8, wide: !a.stored || own == 8 })
        }
        _ => None,
    }
}

/// Rewrites every trace.
pub fn forward(code: &mut Code) {
    let live = Liveness::of(code);
    let main: Vec<bool> = code.traces.keys().map(|label| code.is_main(*label)).collect();
    let regions = &code.regions;
    for (trace, is_main) in code.traces.values_mut().zip(main) {
        let webs = Webs::of(trace, is_main, &live);
        let mut wishes = wishes(trace, &webs, regions);
        while !wishes.is_empty() {
            match granted(trace, &webs, &wishes, &live) {
                Ok(names) => {
                    apply(trace, &webs, &wishes, &names);
                    break;
                }
                Err(wish) => {
                    let Wish { load, source, once, .. } = wishes.remove(wish);
                    // Behind a load that stays, none of the same value may give what was loaded before it.
                    wishes.retain(|other| !once || other.load < load || other.source != source);
                }
            }
        }
    }
    copies::copies(code);
    dead::dead(code);
}

/// Loads whose bytes are known.
fn wishes(trace: &Trace, webs: &Webs, regions: &Regions) -> Vec<Wish> {
    let mut available: Vec<Available> = Vec::new();
    let mut wishes = Vec::new();
    for (index, step) in trace.steps.iter().enumerate() {
        let effect = Effect::of(step, regions);
        let (before, behind) = &webs.at[index];
        let held = |r: u8| before[usize::from(r)];
        // It reads a map's entry, and nothing of what a program loads from values.
        let redirects = matches!(step.op, Op::Helper { id: REDIRECT_MAP, .. });
        if effect.stores != 0 && !redirects {
            available.retain(|a| !effect.conflicts(&a.effect));
        }
        let once = effect.loads == SHARED && effect.stores == 0 && !effect.may_fault;
        let own = matches!(effect.loads | effect.stores, STACK | PACKET | CONTEXT);
        // Others see when a value was loaded: what was loaded before is not known behind any other access.
        let mut tells = effect.shared && !redirects;
        let mut loaded = None;
        match step.op {
            Op::Load { bytes, signed: false, dst, base, off, .. } if own || once => {
                let (Some(base), Some(value)) = (held(base), behind[usize::from(dst)]) else {
                    available.clear();
                    continue;
                };
                let same = |a: &&Available| (a.off, a.bytes) == (off, bytes);
                let there = || available.iter().filter(|a| a.base == base);
                // Of the context a part of a field is no load: it faults.
                let whole = |part: &Part| effect.loads != CONTEXT || matches!(part, Part::Whole);
                let parts = there().filter(same).chain(there());
                let parts = parts.filter_map(|a| Some((a, part(a, off, bytes).filter(whole)?)));
                match parts.into_iter().next() {
                    Some((a, part)) => {
                        wishes.push(Wish { load: index, bytes, source: a.source, part, once });
                        tells = false;
                    }
                    None => loaded = Some(Available { base, off, bytes, source: Ok(value), stored: false, effect }),
                }
            }
            Op::Store { bytes: bytes @ (1 | 2 | 4 | 8), base, off, src } if own => {
                let source = match src {
                    Operand::Reg(r) => held(r).map(Ok),
                    Operand::Imm(number) => Some(Err(number)),
                };
                if let (Some(base), Some(source)) = (held(base), source) {
                    available.push(Available { base, off, bytes, source, stored: true, effect });
                }
            }
            _ => {}
        }
        if tells {
            available.retain(|a| a.effect.loads & SHARED == 0);
        }
        available.extend(loaded);
    }
    wishes
}

/// Registers in which every value lives as long as is wished, or the wish that is to be given up.
fn granted(trace: &Trace, webs: &Webs, wishes: &[Wish], live: &Liveness) -> Result<Vec<u8>, usize> {
    let mut longer = webs.clone();
    for wish in wishes {
        let Ok(value) = wish.source else { continue };
        // Until the last reader of what was loaded, so that nobody has to copy it.
        let end = match trace.steps[wish.load].op {
            Op::Load { dst, .. } => webs.at[wish.load].1[usize::from(dst)].map(|web| &webs.all[web]),
            _ => None,
        };
        let end = end.filter(|web| !web.fixed).map_or(0, |web| web.end);
        let web = &mut longer.all[value];
        web.end = web.end.max(end).max(2 * wish.load);
    }
    let length = |wish: &Wish| wish.source.map_or(0, |value| longer.all[value].end - longer.all[value].start);
    let longest = |of: &dyn Fn(usize) -> bool| {
        let values = wishes.iter().enumerate().filter(|(_, wish)| wish.source.is_ok_and(of));
        values.max_by_key(|(_, wish)| length(wish)).map(|(index, _)| index)
    };
    // A value that stays in its register must not meet another one there.
    let crowded = |value: usize| {
        let web = &longer.all[value];
        let others = longer.all.iter().enumerate().filter(|(index, other)| *index != value && other.fixed);
        web.fixed && others.into_iter().any(|(_, other)| other.register == web.register && other.meets(web))
    };
    if let Some(wish) = longest(&crowded) {
        return Err(wish);
    }
    longer.names(trace, live).map_err(|failed| {
        let meets = |value: usize| value == failed || longer.all[value].meets(&longer.all[failed]);
        longest(&meets).or(longest(&|_| true)).unwrap_or(wishes.len() - 1)
    })
}

fn apply(trace: &mut Trace, webs: &Webs, wishes: &[Wish], names: &[u8]) {
    for (index, step) in trace.steps.iter_mut().enumerate() {
        step.op = webs.renamed(index, step.op, names);
    }
    for wish in wishes {
        let Step { op: Op::Load { dst, .. }, .. } = trace.steps[wish.load] else { continue };
        trace.steps[wish.load].op = match (wish.source, wish.bytes) {
            (Ok(value), bytes @ (1 | 2)) if matches!(wish.part, Part::Lowest) => {
                let mask = Operand::Imm(if bytes == 1 { 0xff } else { 0xffff });
                Op::Alu { op: AluOp::And, wide: true, dst, a: names[value], b: mask }
            }
            (Ok(value), _) => match wish.part {
                Part::Highest { bits, wide } => {
                    Op::Alu { op: AluOp::Rsh, wide, dst, a: names[value], b: Operand::Imm(bits.into()) }
                }
                Part::Lowest => Op::Move { wide: false, dst, src: Operand::Reg(names[value]) },
                Part::Whole => Op::Move { wide: true, dst, src: Operand::Reg(names[value]) },
            },
            (Err(number), bytes) => {
                let number = match bytes {
                    1 => number & 0xff,
                    2 => number & 0xffff,
                    _ => number,
                };
                Op::Move { wide: bytes != 4, dst, src: Operand::Imm(number) }
            }
        };
    }
}
