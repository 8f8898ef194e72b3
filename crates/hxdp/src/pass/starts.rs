//! Counts addresses in the frame from its start.
//!
//! Before: `r2 = *(u32 *)(r1 +0)`, the frame's start, and `r5 = *(u16 *)(r2 +12)` behind it. After: `r2 = r15`, and `r5 = *(u16 *)(r15
//! +12)`: r15 reads as that address, so that no access has to wait for it, and none of the memory's ports is taken to load it. Needs: `decode`,
//! the region analysis for which addresses count from the start as it is now. Leaves alone: what each access reaches, and
//! addresses at a distance that is not known.

use crate::op::START;
use crate::{Op, Step};
use sluice_ebpf::address::{CONTEXT, Region};
use sluice_ebpf::analysis::{Base, Regions};
use sluice_ebpf::insn::Operand;

/// Rewrites loads of the start, and accesses that count from it.
pub fn starts(steps: &mut [Step], regions: &Regions) {
    for step in steps {
        let Some(at) = regions.slots.get(step.slot as usize).filter(|_| regions.complete) else { continue };
        let (Some(access), Some(now)) = (at.access.as_deref(), at.generation) else { continue };
        let distance = match access.offsets() {
            Some((low, high)) if low == high && !access.address.nullable => low,
            _ => continue,
        };
        let from_start = access.region == Some(Region::Packet) && access.address.base == Base::Packet(now);
        match &mut step.op {
            Op::Load { bytes: 4, signed: false, dst, .. }
                if distance == i64::from(CONTEXT) && access.region == Some(Region::Context) =>
            {
                step.op = Op::Move { wide: true, dst: *dst, src: Operand::Reg(START) };
            }
            Op::Load { base, off, .. } | Op::Store { base, off, .. } if from_start => {
                if let Ok(distance) = i16::try_from(distance) {
                    (*base, *off) = (START, distance);
                }
            }
            _ => {}
        }
    }
}
