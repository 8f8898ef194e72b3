//! Makes copies of arithmetic that changes nothing.
//!
//! Before: `w1 &= 255` of what a byte was loaded to, `w1 = w2` where r2 has no upper half. After: `r1 = r1`, `r1 = r2`, which
//! `copies` carries on and `dead` removes. Needs: `decode`, the region analysis for the bits that may be set. Leaves alone:
//! every register's value.

use crate::{Op, Step};
use sluice_ebpf::analysis::Regions;
use sluice_ebpf::insn::{AluOp, Operand};

/// Rewrites what the analysis knows to be a copy.
pub fn plain(steps: &mut [Step], regions: &Regions) {
    for step in steps {
        let at = regions.slots.get(step.slot as usize).filter(|_| regions.complete);
        let Some(before) = at.and_then(|at| at.before.as_deref()) else { continue };
        // Bits of a register that may be 1.
        let bits = |r: u8| {
            let bits = before[usize::from(r)].as_number().bits;
            bits.value | bits.mask
        };
        let half = u64::from(u32::MAX);
        let (dst, src) = match step.op {
            Op::Alu { op: AluOp::And, wide, dst, a, b: Operand::Imm(mask) } => {
                let mask = if wide { mask as i64 as u64 } else { u64::from(mask as u32) };
                if bits(a) & !mask != 0 {
                    continue;
                }
                (dst, a)
            }
            Op::Move { wide: false, dst, src: Operand::Reg(src) } if bits(src) <= half => (dst, src),
            _ => continue,
        };
        step.op = Op::Move { wide: true, dst, src: Operand::Reg(src) };
    }
}
