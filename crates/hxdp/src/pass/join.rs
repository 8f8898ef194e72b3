//! Joins two copies of neighbouring bytes to one.
//!
//! Before: `r1 = *(u32 *)(r6 +0); r2 = *(u16 *)(r6 +4); *(u32 *)(r7 +0) = r1; *(u16 *)(r7 +4) = r2`. After: `r1 = *(u48 *)(r6
//! +0); *(u48 *)(r7 +0) = r1`. The four accesses cannot fault, do not touch each other's bytes, and nothing that one of them
//! passes can tell when it happened; both registers are not read behind. Needs: the region analysis. Leaves alone: all else.

use super::liveness::Liveness;
use super::{Code, Trace};
use crate::effect::{Effect, PACKET, SHARED, STACK};
use crate::op::Registers;
use crate::{Op, Step};
use sluice_ebpf::analysis::Regions;
use sluice_ebpf::insn::Operand;

/// Most instructions from the first to the last of the four accesses.
const WINDOW: usize = 40;

/// A load and the store of what it loaded.
#[derive(Clone, Copy, Debug)]
struct Copied {
    load: usize,
    store: usize,
    register: u8,
    bytes: u8,
    from: (u8, i16),
    to: (u8, i16),
}

/// Joins until nothing is left to join.
pub fn join(code: &mut Code) {
    let live = Liveness::of(code);
    let main: Vec<bool> = code.traces.keys().map(|label| code.is_main(*label)).collect();
    let regions = &code.regions;
    for (trace, is_main) in code.traces.values_mut().zip(main) {
        while join_one(trace, regions, &live.behind(is_main, trace)) {}
    }
}

/// The copy that ends with the store at this index.
fn copied(steps: &[Step], store: usize) -> Option<Copied> {
    let Op::Store { bytes, base, off, src: Operand::Reg(register) } = steps[store].op else { return None };
    let first = store.saturating_sub(WINDOW);
    let load = (first..store).rev().find(|index| steps[*index].op.writes() >> register & 1 == 1)?;
    match steps[load].op {
        Op::Load { bytes: loaded, signed: false, base: from, off: at, .. } if loaded == bytes => {
            Some(Copied { load, store, register, bytes, from: (from, at), to: (base, off) })
        }
        _ => None,
    }
}

fn join_one(trace: &mut Trace, regions: &Regions, behind: &[Registers]) -> bool {
    let copies: Vec<Copied> = (0..trace.steps.len()).filter_map(|index| copied(&trace.steps, index)).collect();
    for (index, second) in copies.iter().enumerate() {
        for first in copies[..index].iter().rev().take(8) {
            // Which of both has the lower address.
            for (low, high) in [(first, second), (second, first)] {
                if are_neighbours(low, high) && is_possible(&trace.steps, regions, behind, first, second) {
                    replace(&mut trace.steps, low, high);
                    return true;
                }
            }
        }
    }
    false
}

fn are_neighbours(low: &Copied, high: &Copied) -> bool {
    let next = |a: (u8, i16), b: (u8, i16)| a.0 == b.0 && a.1.checked_add(low.bytes.into()) == Some(b.1);
    matches!(low.bytes + high.bytes, 2 | 4 | 6 | 8) && next(low.from, high.from) && next(low.to, high.to)
}

/// Whether nobody can tell one access of both from two.
fn is_possible(steps: &[Step], regions: &Regions, behind: &[Registers], first: &Copied, second: &Copied) -> bool {
    let four = [first.load, first.store, second.load, second.store];
    let (start, end) = (first.load.min(second.load), second.store);
    let registers: Registers = 1 << first.register | 1 << second.register;
    let bases: Registers = 1 << first.from.0 | 1 << first.to.0;
    if end - start >= WINDOW || registers & bases != 0 || behind[end] & registers != 0 {
        return false;
    }
    let effect = |index: usize| Effect::of(&steps[index], regions);
    // What others may see keeps its order, loads too.
    let apart = |a: usize, b: usize| {
        let (a, b) = (effect(a), effect(b));
        !(a.conflicts(&b) || a.shared && b.shared)
    };
    // Fields of the context are loaded one by one.
    let joinable = |e: &Effect| !e.may_fault && matches!(e.loads | e.stores, STACK | PACKET | SHARED);
    let own = four.iter().all(|index| joinable(&effect(*index)));
    // The later load goes up to the earlier one, the earlier store down to the later one; nothing else moves.
    let loads = (first.load.min(second.load), first.load.max(second.load));
    let stores = (first.store.min(second.store), first.store.max(second.store));
    let stays_apart = |index: usize| {
        let within = |(low, high): (usize, usize)| low < index && index < high;
        (!within(loads) || apart(loads.1, index)) && (!within(stores) || apart(stores.0, index))
    };
    let others = (start..=end).filter(|index| !four.contains(index)).all(|index| {
        let (op, other) = (&steps[index].op, effect(index));
        let quiet = !op.is_last() && op.branch().is_none() && !op.is_atomic() && !other.may_fault;
        let registers_apart = (other.reads | other.writes) & registers == 0 && other.writes & bases == 0;
        quiet && registers_apart && stays_apart(index)
    });
    own && others && apart(first.store, second.load) && apart(second.store, first.load)
}

fn replace(steps: &mut Vec<Step>, low: &Copied, high: &Copied) {
    let bytes = low.bytes + high.bytes;
    let (dst, load) = (low.register, low.load.min(high.load));
    let (other_load, store, other_store) =
        (low.load.max(high.load), low.store.max(high.store), low.store.min(high.store));
    let load_op = Op::Load { bytes, signed: false, dst, base: low.from.0, off: low.from.1, quiet: false };
    let store_op = Op::Store { bytes, base: low.to.0, off: low.to.1, src: Operand::Reg(dst) };
    // What is known of the lower access is known of both.
    (steps[load], steps[store]) =
        (Step { slot: steps[low.load].slot, op: load_op }, Step { slot: steps[low.store].slot, op: store_op });
    let mut index = 0;
    steps.retain(|_| {
        index += 1;
        index - 1 != other_load && index - 1 != other_store
    });
}
