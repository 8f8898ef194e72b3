//! Exits with a value.
//!
//! Before: `r0 = 2; exit`. After: `r0 = 2; exit 2`, and `dead` removes the first. Needs: `copies` for what r0 is.

use super::Code;
use super::copies::Facts;
use crate::Op;
use sluice_ebpf::insn::Operand;

/// Gives exits the value that r0 is known to have.
pub fn exits(code: &mut Code) {
    for trace in code.traces.values_mut() {
        let mut facts = Facts::default();
        for step in &mut trace.steps {
            if let Op::Exit { value: value @ None } = &mut step.op {
                *value = Some(facts.operand(Operand::Reg(0))).filter(|found| *found != Operand::Reg(0));
            }
            facts.pass(&step.op);
        }
    }
}
