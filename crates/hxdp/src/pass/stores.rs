//! Removes stores to the stack that nobody reads.
//!
//! Before: a value was kept in the frame while a helper ran, or a key was made ready for a call that this way does not come
//! to. After: stores to the own frame of bytes that some load, helper, function or atomic operation may read before they are
//! written again. Needs: `forward`, which takes the values themselves; the region analysis for what helpers read. Leaves
//! alone: every other store.

use super::{Code, Trace};
use crate::effect::{Effect, STACK};
use crate::op::TAIL_CALL;
use crate::{Op, Step};
use sluice_ebpf::analysis::{Base, Value};
use sluice_ebpf::helper::{self, Arg};
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of the own frame that may be read, lowest first.
type Read = [u64; 8];

const NONE: Read = [0; 8];
const ALL: Read = [u64::MAX; 8];

/// Removes them in every trace.
pub fn stores(code: &mut Code) {
    let mut entries: BTreeMap<u32, Read> = BTreeMap::new();
    loop {
        let mut changed = false;
        for (label, trace) in code.traces.iter().rev() {
            let entry = walk(code, *label, trace, &entries, &mut |_| {});
            changed |= entries.insert(*label, entry) != Some(entry);
        }
        if !changed {
            break;
        }
    }
    let mut unread: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (label, trace) in &code.traces {
        walk(code, *label, trace, &entries, &mut |index| unread.entry(*label).or_default().push(index));
    }
    for (label, indices) in unread {
        let trace = code.traces.entry(label).or_default();
        // Found from the last one on.
        indices.into_iter().for_each(|index| {
            trace.steps.remove(index);
        });
    }
}

/// Bytes that may be read from a trace's beginning on; says which stores nobody reads.
fn walk(code: &Code, label: u32, trace: &Trace, entries: &BTreeMap<u32, Read>, unread: &mut dyn FnMut(usize)) -> Read {
    let at = |label: u32| entries.get(&label).copied().unwrap_or(NONE);
    let mut read = trace.next.map_or(NONE, at);
    for (index, step) in trace.steps.iter().enumerate().rev() {
        if let Some(to) = step.op.branch() {
            read = join(read, at(to));
        }
        match step.op {
            Op::Exit { .. } => read = NONE,
            Op::Jump { to, .. } => read = at(to),
            Op::Store { bytes, base, off, .. } => {
                let Some(bytes) = own(base.into(), off.into(), bytes.into()) else { continue };
                if bytes.clone().all(|b| read[b / 64] >> (b % 64) & 1 == 0) {
                    unread(index);
                }
                bytes.for_each(|b| read[b / 64] &= !(1 << (b % 64)));
            }
            Op::Helper { id: TAIL_CALL, .. } => {}
            Op::Helper { .. } => read = join(read, helper_reads(code, label, step)),
            Op::Load { bytes, base, off, .. } | Op::Atomic { bytes, base, off, .. } => {
                let effect = Effect::of(step, &code.regions);
                let bytes = match own(base.into(), off.into(), bytes.into()) {
                    Some(bytes) => set(bytes),
                    None if (effect.loads | effect.stores) & STACK == 0 => NONE,
                    None => ALL,
                };
                read = join(read, bytes);
            }
            Op::Call { .. } => read = ALL,
            _ => {}
        }
    }
    read
}

fn join(a: Read, b: Read) -> Read {
    std::array::from_fn(|i| a[i] | b[i])
}

fn set(bytes: Range<usize>) -> Read {
    let mut set = NONE;
    bytes.for_each(|b| set[b / 64] |= 1 << (b % 64));
    set
}

/// Bytes relative to r10, from the frame's first.
fn own(base: u32, off: i64, bytes: i64) -> Option<Range<usize>> {
    let start = usize::try_from(off + 512).ok()?;
    let end = usize::try_from(off + 512 + bytes).ok()?;
    (base == 10 && end <= 512).then_some(start..end)
}

/// Bytes of the own frame that a helper may read.
fn helper_reads(code: &Code, label: u32, step: &Step) -> Read {
    let call = code.regions.slots.get(step.slot as usize).and_then(|at| at.call.as_ref());
    let (Some(call), true) = (call, code.regions.complete && !step.op.is_barrier()) else { return ALL };
    let sizes = code.maps.sizes.get(&step.slot);
    let mut read = NONE;
    for (index, (arg, value)) in call.args.iter().enumerate() {
        let length = || call.args.get(index + 1).and_then(|(_, length)| length.as_constant());
        let bytes = match arg {
            Arg::Key => sizes.map(|(key, _)| u64::from(*key)),
            Arg::Value => sizes.map(|(_, value)| u64::from(*value)),
            // What is written may be read too, as by fib_lookup.
            Arg::Read | Arg::Write => length(),
            Arg::WriteExact(bytes) => Some(u64::from(*bytes)),
            // An element is written whole.
            Arg::Map | Arg::Context | Arg::Number | Arg::Size | Arg::WriteValue => continue,
            _ => None,
        };
        read = join(read, argument(code, label, value, bytes));
    }
    let known = helper::find(call.helper).is_some_and(|helper| helper.args.len() == call.args.len());
    if known { read } else { ALL }
}

/// Bytes of the own frame that so many bytes at an address may be.
fn argument(code: &Code, label: u32, address: &Value, bytes: Option<u64>) -> Read {
    match (address.base, bytes.and_then(|bytes| i64::try_from(bytes).ok())) {
        // In a function, or where ways with different frames meet, a frame's number says too little.
        (Base::Stack(0), Some(bytes)) if code.is_main(label) && !address.nullable => {
            let (low, high) = address.offsets();
            own(10, low, high.saturating_sub(low).saturating_add(bytes)).map_or(ALL, set)
        }
        (_, Some(0)) => NONE,
        (Base::Packet(_) | Base::Meta(_) | Base::Map(_) | Base::Record(_), _) => NONE,
        _ => ALL,
    }
}
