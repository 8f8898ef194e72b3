//! Removes stores of zero to stack that is zero.
//!
//! Every frame begins with zeros, a tail call's too. Before: stores of 0 to bytes of the own frame that nothing on any
//! way to them has written. After: none. Needs: `copies`, so that a zero is a number. Leaves alone: every other store.

use super::{Code, Trace, flow};
use crate::Op;
use crate::effect::{Effect, STACK};
use crate::op::TAIL_CALL;
use sluice_ebpf::analysis::Regions;
use sluice_ebpf::helper::{Arg, find_any};
use sluice_ebpf::insn::Operand;

/// Bytes of the own frame that may not be zero, lowest first.
type Written = [u64; 8];

/// Bytes of a store relative to r10, from the frame's first.
fn own(base: u8, off: i16, bytes: u8) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(i32::from(off) + 512).ok()?;
    (base == 10 && start + usize::from(bytes) <= 512).then(|| start..start + usize::from(bytes))
}

/// Whether a store changes nothing.
fn is_idle(op: &Op, written: &Written) -> bool {
    let Op::Store { bytes, base, off, src: Operand::Imm(0) } = *op else { return false };
    own(base, off, bytes).is_some_and(|mut bytes| bytes.all(|b| written[b / 64] >> (b % 64) & 1 == 0))
}

/// What may be written behind an instruction.
fn pass(step: &crate::Step, regions: &Regions, written: &mut Written) {
    match step.op {
        _ if is_idle(&step.op, written) => {}
        Op::Store { bytes, base, off, .. } if own(base, off, bytes).is_some() => {
            own(base, off, bytes).into_iter().flatten().for_each(|b| written[b / 64] |= 1 << (b % 64));
        }
        Op::Helper { id, .. } => {
            let reads_only =
                |arg: &Arg| !matches!(arg, Arg::Write | Arg::WriteValue | Arg::WriteExact(_) | Arg::Callback);
            if !find_any(id).is_some_and(|helper| id == TAIL_CALL || helper.args.iter().all(reads_only)) {
                *written = [u64::MAX; 8];
            }
        }
        _ if Effect::of(step, regions).stores & STACK != 0 => *written = [u64::MAX; 8],
        _ => {}
    }
}

/// Removes them.
pub fn zeroing(code: &mut Code) {
    let regions = &code.regions;
    let join = |before: Option<&Written>, way: &Written| {
        let mut joined = before.copied().unwrap_or_default();
        joined.iter_mut().zip(way).for_each(|(a, b)| *a |= b);
        joined
    };
    let entries = flow::entries(code, &[0; 8], |step, written| pass(step, regions, written), join);
    for (label, trace) in &mut code.traces {
        let mut written = entries.get(label).copied().unwrap_or([u64::MAX; 8]);
        remove(trace, regions, &mut written);
    }
}

fn remove(trace: &mut Trace, regions: &Regions, written: &mut Written) {
    trace.steps.retain(|step| {
        let keep = !is_idle(&step.op, written);
        pass(step, regions, written);
        keep
    });
}
