//! Takes the address of an array's value without a call.
//!
//! Before: `*(u32 *)(r10 -4) = 3; call bpf_map_lookup_elem(map[counters], r10 -4)`. After: `r0 = map[counters][3]`, a constant once
//! the program is installed, of a per-CPU array one for each copy. Such an address is never 0, so that `known` decides the
//! branch behind it, and `stores` removes the key if nobody else reads it. A key that is in a register, `*(u32 *)(r10 -4) = r7`, becomes
//! `r0 = map[counters][0]; r0 = w7 <= 63 ? r0 + (w7 << 4) : 0`. Needs: `copies` for the map and the number; a key
//! stored in the same trace, or a number below the array's entries known to the region analysis on every way. Leaves alone:
//! arrays of devices, maps and programs, whose entries may be empty.

use super::Code;
use crate::effect::Effect;
use crate::op::LOOKUP;
use crate::{Op, Step};
use sluice_ebpf::insn::Operand;

/// An array of values, or of a value for each processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its entries.
    pub entries: u32,
    /// Values lie every 2^shift bytes.
    pub shift: u8,
}

/// Rewrites every trace.
pub fn elements(code: &mut Code) {
    let regions = &code.regions;
    for trace in code.traces.values_mut() {
        // Keys of four bytes in the own frame, by their offsets from r10.
        let mut keys: Vec<(i16, Operand, Effect)> = Vec::new();
        let mut steps = Vec::with_capacity(trace.steps.len());
        for mut step in trace.steps.drain(..) {
            if let Op::Helper { id: LOOKUP, handle: Some(map), second: Some((10, off)), .. } = step.op
                && let Some(array) = code.maps.arrays.get(&map)
            {
                let stored = keys.iter().find(|(at, ..)| *at == off).map(|(_, key, _)| *key);
                let known = || regions.slots.get(step.slot as usize)?.call.as_ref()?.key;
                let known = || known().filter(|_| regions.complete).map(|key| Operand::Imm(key as i32));
                match stored.or_else(known) {
                    Some(Operand::Imm(index)) if (index as u32) < array.entries => {
                        step.op = Op::Element { dst: 0, map, index: index as u32 };
                    }
                    Some(Operand::Reg(index)) if index != 0 && array.entries > 0 => {
                        steps.push(Step { slot: step.slot, op: Op::Element { dst: 0, map, index: 0 } });
                        let Array { entries, shift } = *array;
                        step.op = Op::Indexed { dst: 0, index, base: 0, shift, most: entries - 1 };
                    }
                    _ => {}
                }
            }
            let effect = Effect::of(&step, regions);
            if effect.stores != 0 {
                keys.retain(|(.., key)| !effect.conflicts(key));
            }
            let written = |key: &Operand| matches!(key, Operand::Reg(r) if effect.writes >> r & 1 == 1);
            keys.retain(|(_, key, _)| !written(key));
            if let Op::Store { bytes: 4, base: 10, off: off @ -512..=-4, src } = step.op {
                keys.push((off, src, effect));
            }
            steps.push(step);
        }
        trace.steps = steps;
    }
}
