//! Makes length branches of comparisons with the packet's end.
//!
//! Before: `r4 = r2; r4 += 14; if r4 > r3 goto`, where r2 is the packet's start and r3 its end. After: `if data +14 > data_end
//! goto`, one instruction that reads no register, as a core knows both bounds of its packet. An address that is not the
//! start plus a number stays a register: `if r5 +20 > data_end goto`. Needs: `decode`, the region analysis for what is the
//! end of the packet's bounds of now. Leaves alone: where each branch goes, for every length.

use crate::{Op, Step};
use sluice_ebpf::analysis::{Base, Generation, Regions, Value};
use sluice_ebpf::insn::{Cond, Operand};

/// Farthest from the start that a length branch looks, so that no sum of it wraps.
const FARTHEST: i64 = 1 << 20;

/// Rewrites what compares with the end.
pub fn lengths(steps: &mut [Step], regions: &Regions) {
    for step in steps {
        let Op::Branch { cond, wide: true, a, b: Operand::Reg(b), to, back } = step.op else { continue };
        let Some(at) = regions.slots.get(step.slot as usize).filter(|_| regions.complete) else { continue };
        let (Some(before), Some(now)) = (at.before.as_deref(), at.generation) else { continue };
        let (left, right) = (&before[usize::from(a)], &before[usize::from(b)]);
        let compared = if is_end(right, now) {
            compare(cond).map(|(within, more)| (a, left, within, more))
        } else if is_end(left, now) {
            compare(swapped(cond)).map(|(within, more)| (b, right, within, more))
        } else {
            None
        };
        let Some((register, address, within, more)) = compared else { continue };
        let start = (address.base == Base::Packet(now) && !address.nullable).then_some(address.offset.as_constant());
        let (base, bytes) = match start.flatten().map(|offset| offset as i64) {
            Some(offset) if offset.abs() < FARTHEST => (None, offset as i32 + more),
            // One more must not wrap.
            _ if more > 0 && address.as_number().whole.umax == u64::MAX => continue,
            _ => (Some(register), more),
        };
        step.op = Op::Length { base, bytes, within, to, back };
    }
}

/// Whether a value is one past the last byte of the frame, as its bounds are now.
fn is_end(value: &Value, now: Generation) -> bool {
    value.base == Base::End(now) && !value.nullable && value.offset.as_constant() == Some(0)
}

/// `address cond end` as `address + more > end`, or (first part) as its opposite.
fn compare(cond: Cond) -> Option<(bool, i32)> {
    match cond {
        Cond::Gt => Some((false, 0)),
        Cond::Ge => Some((false, 1)),
        Cond::Le => Some((true, 0)),
        Cond::Lt => Some((true, 1)),
        _ => None,
    }
}

/// The same comparison with its operands exchanged.
fn swapped(cond: Cond) -> Cond {
    match cond {
        Cond::Gt => Cond::Lt,
        Cond::Lt => Cond::Gt,
        Cond::Ge => Cond::Le,
        Cond::Le => Cond::Ge,
        other => other,
    }
}
