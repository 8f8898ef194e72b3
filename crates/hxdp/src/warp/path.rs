//! A program that is one path of another, and what follows it.
//!
//! The path's instructions stand one behind the other; behind them the whole program stands, where the path goes on. What leaves
//! the path leads to an end that no packet of the leaf comes to. The analysis of such a program so knows what the path's tests say of all
//! that follows, and the compiler drops its branches.

use super::facts::Facts;
use super::walk::{State, Taken};
use crate::{Op, Step};
use sluice_ebpf::Program;
use sluice_ebpf::image::Function;
use sluice_ebpf::insn::{AluOp, Insn, Kind, Operand, WideValue};
use std::collections::BTreeMap;

/// What the lookup that comes first finds in packets of a leaf's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// An entry, or none.
    Either,
    /// An entry.
    Found,
    /// None.
    Missed,
}

/// Such a program.
#[derive(Clone, Debug)]
pub struct Path {
    /// Its instructions.
    pub program: Program,
    /// By its slots, the slots of the program that it was made of.
    pub slots: Vec<u32>,
    /// Branches whose outcome is the path's, by slot.
    pub decided: BTreeMap<u32, bool>,
    /// Bytes that a packet of the path surely has.
    pub least: u32,
    /// What its lookup finds.
    pub answer: Answer,
    /// Packets of a flow look up one after the other, so none does before its turn.
    pub ordered: bool,
}

/// Of a path that goes on at a slot; none if that program were too long for its branches.
pub fn path(program: &Program, state: &State, on: u32) -> Option<Path> {
    let kinds: Vec<(Taken, Kind)> = state
        .path
        .iter()
        .map(|taken| {
            let at = taken.slot as usize;
            let kind = program.insns.get(at)?.kind(program.insns.get(at + 1).copied()).ok()?;
            Some((*taken, known(kind, taken, &state.facts)))
        })
        .collect::<Option<_>>()?;
    let length = |(taken, kind): &(Taken, Kind)| match kind {
        Kind::Jump { .. } => 0,
        Kind::Branch { .. } if taken.branch == Some(true) => 2,
        kind => kind.slots(),
    };
    let copied: u32 = kinds.iter().map(length).sum();
    // A jump to where the path goes on, an end for what leaves it, the program.
    let (stub, behind) = (copied + 1, copied + 3);
    let mut out = Path {
        program: Program { insns: Vec::new(), ..program.clone() },
        slots: Vec::new(),
        decided: BTreeMap::new(),
        least: state.facts.least,
        answer: Answer::Either,
        ordered: false,
    };
    for (taken, kind) in &kinds {
        let here = out.program.insns.len() as u32;
        let away = i16::try_from(i64::from(stub) - i64::from(here) - 1).ok();
        match *kind {
            Kind::Jump { .. } => {}
            Kind::Branch { cond, wide, dst, src, .. } => {
                let taken_here = taken.branch == Some(true);
                out.decided.insert(here, taken_here);
                let off = if taken_here { 1 } else { away? };
                out.push(taken.slot, Kind::Branch { cond, wide, dst, src, off });
                if taken_here {
                    out.push(taken.slot, Kind::Jump { off: i32::from(away?) - 1, long: false });
                }
            }
            Kind::Wide { dst, value: WideValue::Function(off) } => {
                let to = i64::from(taken.slot) + i64::from(off) + i64::from(behind) - i64::from(here);
                out.push(taken.slot, Kind::Wide { dst, value: WideValue::Function(i32::try_from(to).ok()?) });
            }
            kind => out.push(taken.slot, kind),
        }
    }
    out.push(on, Kind::Jump { off: i32::try_from(2 + on).ok()?, long: true });
    out.push(on, Kind::Alu { op: AluOp::Mov, wide: true, dst: 0, src: Operand::Imm(0) });
    out.push(on, Kind::Exit);
    out.program.insns.extend(&program.insns);
    out.slots.extend(0..program.insns.len() as u32);
    let moved = |function: &Function| Function {
        start: if function.start == 0 { 0 } else { function.start + behind },
        ..function.clone()
    };
    out.program.functions = program.functions.iter().map(moved).collect();
    out.program.lines.clear();
    Some(out)
}

/// An instruction whose result is the same for all packets of the path gives just that.
fn known(kind: Kind, taken: &Taken, facts: &Facts) -> Kind {
    let Some((dst, value)) = taken.gives else { return kind };
    let Some(number) = facts.of(&value).as_constant() else { return kind };
    match i32::try_from(number as i64) {
        Ok(number) => Kind::Alu { op: AluOp::Mov, wide: true, dst, src: Operand::Imm(number) },
        Err(_) => Kind::Wide { dst, value: WideValue::Number(number) },
    }
}

impl Path {
    /// Makes jumps of the path's branches.
    pub fn decide(&self, steps: &mut [Step]) {
        for index in 0..steps.len() {
            let Some(taken) = self.decided.get(&steps[index].slot) else { continue };
            let (Some(to), Some(next)) = (steps[index].op.branch(), steps.get(index + 1)) else { continue };
            steps[index].op = Op::Jump { to: if *taken { to } else { next.slot }, back: false };
        }
    }

    fn push(&mut self, slot: u32, kind: Kind) {
        let (first, second): (Insn, Option<Insn>) = kind.encode();
        self.program.insns.push(first);
        self.program.insns.extend(second);
        self.slots.resize(self.program.insns.len(), slot);
    }
}
