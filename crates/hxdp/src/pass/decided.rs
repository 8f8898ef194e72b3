//! Makes jumps of branches whose outcome is known.
//!
//! Before: `if r4 == 0 goto` where r4 is an address in the packet. After: a jump to the next instruction, which costs nothing.
//! Needs: `decode`, the region analysis. Leaves alone: what counts as work, and every branch that may go both ways; so
//! comparisons with the packet's end stay.

use crate::{Op, Step};
use sluice_ebpf::analysis::branch::Test;
use sluice_ebpf::analysis::num::Num;
use sluice_ebpf::analysis::{Regions, Value};
use sluice_ebpf::insn::Operand;

/// Decides what can be decided.
pub fn decided(steps: &mut [Step], regions: &Regions) {
    for index in 0..steps.len() {
        let Op::Branch { cond, wide, a, b, to, back } = steps[index].op else { continue };
        let before = regions.slots.get(steps[index].slot as usize).and_then(|at| at.before.as_deref());
        let (Some(before), Some(next)) = (before, steps.get(index + 1)) else { continue };
        let number = |value: &Value| value.as_number();
        let right = match b {
            Operand::Reg(b) => number(&before[usize::from(b)]),
            Operand::Imm(b) => Num::constant(b as i64 as u64),
        };
        let left = number(&before[usize::from(a)]);
        let width = if wide { 64 } else { 32 };
        let possible = |test: Test| test.refine(width, left, right).is_some();
        let next = next.slot;
        if !possible(Test::of(cond)) {
            steps[index].op = Op::Jump { to: next, back: false };
        } else if !possible(Test::of(cond).negated()) {
            steps[index].op = Op::Jump { to, back };
        }
    }
}
