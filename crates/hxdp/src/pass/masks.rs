//! Makes one branch of a mask and a comparison with 0.
//!
//! Before: `w2 = w1 & 1; if w2 == 0 goto`. After: `if !(w1 & 1) goto`, and `if w1 & 1 goto` of `!= 0`; `dead` removes the mask if nobody else reads it.
//! Needs: `copies`. Leaves alone: masks of which an operand is written before the branch.

use super::Code;
use crate::Op;
use sluice_ebpf::insn::{AluOp, Cond, Operand};

/// Most instructions from the mask to the branch.
const WINDOW: usize = 16;

/// Rewrites every trace.
pub fn masks(code: &mut Code) {
    for trace in code.traces.values_mut() {
        for index in 0..trace.steps.len() {
            let Op::Branch { cond: cond @ (Cond::Eq | Cond::Ne), wide, a: masked, b: Operand::Imm(0), to, back } =
                trace.steps[index].op
            else {
                continue;
            };
            let before = &trace.steps[index.saturating_sub(WINDOW)..index];
            let Some(mask) = before.iter().rposition(|step| step.op.writes() >> masked & 1 == 1) else { continue };
            let Op::Alu { op: AluOp::And, wide: also, a, b, .. } = before[mask].op else { continue };
            let read = 1 << a | if let Operand::Reg(b) = b { 1 << b } else { 0 };
            if before[mask..].iter().any(|step| step.op.writes() & read != 0) {
                continue;
            }
            // Of a mask of 32 bits the upper half is 0.
            let wide = wide && also;
            trace.steps[index].op = match cond {
                Cond::Eq => Op::Clear { wide, a, b, to, back },
                _ => Op::Branch { cond: Cond::Set, wide, a, b, to, back },
            };
        }
    }
}
