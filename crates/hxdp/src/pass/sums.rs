//! Takes a number out of a sum of two registers where whoever reads the sum can add it.
//!
//! Before: `r1 = r15 + 14; r5 = r1 + r4; if r5 +0 > data_end goto L`, as lengths in headers are checked. After: `r5 = r15 + r4; if r5 +14 > data_end goto
//! L`, and nobody waits for the first sum. Each reader of the result is a length branch, an access, or a sum with a number. Needs: `values`, `copies`. Leaves
//! alone: results that another trace, a helper or a branch reads.

use super::copies::{Fact, Facts};
use super::entries::Entries;
use super::liveness::Liveness;
use super::{Code, Trace};
use crate::Op;
use crate::op::Registers;
use sluice_ebpf::insn::{AluOp, Operand};

/// Rewrites every trace.
pub fn sums(code: &mut Code) {
    let entries = Entries::of(code);
    let live = Liveness::of(code);
    let main: Vec<bool> = code.traces.keys().map(|label| code.is_main(*label)).collect();
    for ((label, trace), is_main) in code.traces.iter_mut().zip(main) {
        let mut facts = entries.at(*label);
        for index in 0..trace.steps.len() {
            if let Some((op, dst, number)) = without_number(&trace.steps[index].op, &facts)
                && let Some(readers) = folded(trace, index, dst, number, &live, &live.behind(is_main, trace))
            {
                trace.steps[index].op = op;
                for (reader, op) in readers {
                    trace.steps[reader].op = op;
                }
            }
            facts.pass(&trace.steps[index].op);
        }
    }
}

/// The same sum without the number that one of its registers is known to have, its result, and the number.
fn without_number(op: &Op, facts: &Facts) -> Option<(Op, u8, i32)> {
    let Op::Alu { op: AluOp::Add, wide: true, dst, a, b: Operand::Reg(b) } = *op else { return None };
    let known = |r: u8| match facts.of(r) {
        Some(Fact::Sum(of, number)) if number != 0 => Some((of, number)),
        _ => None,
    };
    let ((a, number), b) = known(a).map(|known| (known, b)).or_else(|| known(b).map(|known| (known, a)))?;
    Some((Op::Alu { op: AluOp::Add, wide: true, dst, a, b: Operand::Reg(b) }, dst, number))
}

/// All that read a result, with the number added there; none where somebody cannot.
fn folded(
    trace: &Trace,
    sum: usize,
    dst: u8,
    number: i32,
    live: &Liveness,
    behind: &[Registers],
) -> Option<Vec<(usize, Op)>> {
    let is = |registers: Registers| registers >> dst & 1 == 1;
    let mut readers = Vec::new();
    for (index, step) in trace.steps.iter().enumerate().skip(sum + 1) {
        if is(step.op.reads()) {
            readers.push((index, with_number(&step.op, dst, number)?));
        }
        if step.op.branch().is_some_and(|to| is(live.at(to))) {
            return None;
        }
        if is(step.op.writes()) {
            return Some(readers);
        }
    }
    (!behind.last().is_some_and(|registers| is(*registers))).then_some(readers)
}

/// An instruction that reads a register as an address or in a sum, with so much more in it.
fn with_number(op: &Op, register: u8, number: i32) -> Option<Op> {
    let is_source = |operand: Operand| operand == Operand::Reg(register);
    let further = |off: i16| i16::try_from(i32::from(off).checked_add(number)?).ok();
    match *op {
        Op::Length { base, bytes, within, to, back } => {
            Some(Op::Length { base, bytes: bytes.checked_add(number)?, within, to, back })
        }
        Op::Load { bytes, signed, dst, base, off, quiet } => {
            Some(Op::Load { bytes, signed, dst, base, off: further(off)?, quiet })
        }
        Op::Store { bytes, base, off, src } if !is_source(src) => {
            Some(Op::Store { bytes, base, off: further(off)?, src })
        }
        Op::Alu { op: AluOp::Add, wide: true, dst, a, b: Operand::Imm(more) } => {
            Some(Op::Alu { op: AluOp::Add, wide: true, dst, a, b: Operand::Imm(more.checked_add(number)?) })
        }
        _ => None,
    }
}
