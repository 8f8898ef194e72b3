//! Removes what nobody reads.
//!
//! Before: any traces. After: no arithmetic, constant or load that cannot fault writes a register that is not read.
//! Leaves alone: stores, calls, branches, what may fault.

use super::Code;
use super::liveness::Liveness;
use crate::Op;
use crate::effect::Effect;

/// Removes instructions until none is dead.
pub fn dead(code: &mut Code) {
    loop {
        let live = Liveness::of(code);
        let mut removed = false;
        let main: Vec<bool> = code.traces.keys().map(|label| code.is_main(*label)).collect();
        let regions = &code.regions;
        for (trace, is_main) in code.traces.values_mut().zip(main) {
            let behind = live.behind(is_main, trace);
            let before = trace.steps.len();
            let mut index = 0;
            trace.steps.retain(|step| {
                let read = step.op.writes() & behind[index] != 0;
                index += 1;
                let idle =
                    matches!(step.op, Op::Move { wide: true, dst, src } if src == sluice_ebpf::insn::Operand::Reg(dst));
                let safe =
                    step.op.is_pure() || matches!(step.op, Op::Load { .. }) && !Effect::of(step, regions).may_fault;
                !(safe && (!read || idle))
            });
            removed |= trace.steps.len() < before;
        }
        if !removed {
            return;
        }
    }
}
