//! Puts the copy of an element in the place of `map_pop_elem` and `map_peek_elem`.
//!
//! Before: a call. After: what the map engine does, which gives the address where the element lies and above it the error number; loads and stores that copy it to
//! the program's memory; the number in r0. All of them have the call's slot. Needs: `decode`, the region analysis for the element's size; passes that ask it about a
//! slot's registers come before. Leaves alone: calls with maps that are not known, or whose elements differ in size.

use crate::{Op, Step};
use sluice_ebpf::analysis::Regions;
use sluice_ebpf::helper::{self, PEEK, POP};
use sluice_ebpf::insn::{AluOp, Operand};
use sluice_ebpf::{Image, MapSpec};
use sluice_formats::xdp::target::VALUE_BYTES;
use std::collections::BTreeMap;

/// Number of the helper `map_push_elem`.
pub const PUSH: i32 = helper::PUSH.id;
/// Numbers of what begins a `map_pop_elem` and a `map_peek_elem`.
pub const GIVEN: [i32; 2] = [helper::GIVE_POPPED.id, helper::GIVE_PEEKED.id];
/// Where the element lies, and a piece of it: registers that programs have not.
const FROM: u8 = 11;
const PIECE: u8 = 12;

/// Bytes of the element that each call pops or looks at, by slot, where all maps that it may be called with have the same.
pub fn elements(image: &Image, regions: &Regions) -> BTreeMap<u32, u32> {
    let size = |(slot, at): (u32, &sluice_ebpf::analysis::At)| {
        let call = at.call.as_ref().filter(|call| [POP.id, PEEK.id].contains(&call.helper))?;
        let specs: Vec<&MapSpec> = call.map?.each().into_iter().map(|map| map.spec(image)).collect::<Option<_>>()?;
        let size = specs.first()?.value_size;
        let same = specs.iter().all(|spec| spec.kind.is_queue() && spec.value_size == size);
        (same && size as usize <= VALUE_BYTES).then_some((slot, size))
    };
    (0..).zip(&regions.slots).filter(|_| regions.complete).filter_map(size).collect()
}

/// Rewrites them.
pub fn queues(steps: &mut Vec<Step>, elements: &BTreeMap<u32, u32>) {
    *steps = steps.iter().flat_map(|step| expanded(step, elements)).collect();
}

fn expanded(step: &Step, elements: &BTreeMap<u32, u32>) -> Vec<Step> {
    let (Op::Helper { id, .. }, Some(size)) = (step.op, elements.get(&step.slot)) else { return vec![*step] };
    let given = if id == POP.id { GIVEN[0] } else { GIVEN[1] };
    let mut ops = vec![
        Op::Helper { id: given, handle: None, second: None, third: None },
        Op::Move { wide: false, dst: FROM, src: Operand::Reg(0) },
    ];
    for (at, bytes) in helper::pieces(*size) {
        let off = at as i16;
        ops.push(Op::Load { bytes, signed: false, dst: PIECE, base: FROM, off, quiet: false });
        ops.push(Op::Store { bytes, base: 2, off, src: Operand::Reg(PIECE) });
    }
    ops.push(Op::Alu { op: AluOp::Arsh, wide: true, dst: 0, a: 0, b: Operand::Imm(32) });
    ops.into_iter().map(|op| Step { slot: step.slot, op }).collect()
}
