//! Programs that read no register before something has written it: numbers are put where one might.

use sluice_ebpf::helper;
use sluice_ebpf::insn::{Kind, WideValue};
use sluice_ebpf::{Insn, Program};
use std::collections::{BTreeMap, BTreeSet};

/// Sets registers to numbers of their own.
fn numbers(registers: &[u8]) -> Vec<Insn> {
    registers.iter().map(|r| Insn { op: 0xb7, dst: *r, imm: 7 * i32::from(*r) - 20, ..Insn::default() }).collect()
}

/// Puts numbers into all registers that nothing gives: where functions begin, and r1 to r5 behind calls of functions.
pub fn defined(program: &Program) -> Program {
    let mut before: BTreeMap<usize, Vec<Insn>> = BTreeMap::new();
    let starts: BTreeSet<usize> = program.functions.iter().map(|f| f.start as usize).chain([0]).collect();
    for start in &starts {
        let given: &[u8] = if *start == 0 { &[0, 2, 3, 4, 5, 6, 7, 8, 9] } else { &[0, 6, 7, 8, 9] };
        before.insert(*start, numbers(given));
    }
    let kinds = kinds(&program.insns);
    for (slot, kind) in &kinds {
        let runs_functions = |id: i32| helper::find(id).is_some_and(|h| h.args.contains(&helper::Arg::Callback));
        if matches!(kind, Kind::CallLocal { .. }) || matches!(kind, Kind::CallHelper { id } if runs_functions(*id)) {
            before.entry(slot + 1).or_default().extend(numbers(&[1, 2, 3, 4, 5]));
        }
    }
    let mut insns = Vec::new();
    // Where a slot's insertion begins, and where the slot itself is.
    let (mut first, mut own) = (Vec::new(), Vec::new());
    for (slot, insn) in program.insns.iter().enumerate() {
        first.push(insns.len());
        insns.extend(before.get(&slot).into_iter().flatten().copied());
        own.push(insns.len());
        insns.push(*insn);
    }
    for (slot, kind) in kinds {
        let Some(target) = kind.target(slot as u32).and_then(|t| first.get(t as usize)) else { continue };
        let off = *target as i64 - own[slot] as i64 - 1;
        let insn = &mut insns[own[slot]];
        match kind {
            Kind::CallLocal { .. }
            | Kind::Jump { long: true, .. }
            | Kind::Wide { value: WideValue::Function(_), .. } => {
                insn.imm = off as i32;
            }
            _ => insn.off = off as i16,
        }
    }
    let mut changed = Program { insns, ..program.clone() };
    for function in &mut changed.functions {
        function.start = first[function.start as usize] as u32;
    }
    changed
}

fn kinds(insns: &[Insn]) -> Vec<(usize, Kind)> {
    let (mut kinds, mut slot) = (Vec::new(), 0);
    while slot < insns.len() {
        match insns[slot].kind(insns.get(slot + 1).copied()) {
            Ok(kind) => {
                kinds.push((slot, kind));
                slot += kind.slots() as usize;
            }
            Err(_) => slot += 1,
        }
    }
    kinds
}
