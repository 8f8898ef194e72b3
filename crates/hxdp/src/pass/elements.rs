//! Takes the address of an array's value without a call.
//!
//! Before: `*(u32 *)(r10 -4) = 3; call bpf_map_lookup_elem(map[counters], r10 -4)`. After: `r0 = map[counters][3]`, a constant once
//! the program is installed, of a per-CPU array one for each copy. Such an address is never 0, so that `known` decides the
//! branch behind it, and `stores` removes the key if nobody else reads it. Needs: `copies` for the map and the number; a key
//! below the array's entries, stored as one number in the same trace or known to the region analysis on every way. Leaves alone:
//! arrays of devices, maps and programs, whose entries may be empty.

use super::Code;
use crate::Op;
use crate::effect::Effect;
use crate::op::LOOKUP;
use sluice_ebpf::insn::Operand;

/// Rewrites every trace.
pub fn elements(code: &mut Code) {
    let regions = &code.regions;
    for trace in code.traces.values_mut() {
        // Numbers of four bytes in the own frame, by their offsets from r10.
        let mut keys: Vec<(i16, u32, Effect)> = Vec::new();
        for step in &mut trace.steps {
            if let Op::Helper { id: LOOKUP, handle: Some(map), second: Some((10, off)) } = step.op {
                let stored = keys.iter().find(|(at, ..)| *at == off).map(|(_, index, _)| *index);
                let known = || regions.slots.get(step.slot as usize)?.call.as_ref()?.key;
                let index = stored.or_else(|| known().filter(|_| regions.complete));
                let entries = code.maps.arrays.get(&map).copied().unwrap_or_default();
                if let Some(index) = index.filter(|index| *index < entries) {
                    step.op = Op::Element { dst: 0, map, index };
                }
            }
            let effect = Effect::of(step, regions);
            if effect.stores != 0 {
                keys.retain(|(.., key)| !effect.conflicts(key));
            }
            if let Op::Store { bytes: 4, base: 10, off: off @ -512..=-4, src: Operand::Imm(number) } = step.op {
                keys.push((off, number as u32, effect));
            }
        }
    }
}
