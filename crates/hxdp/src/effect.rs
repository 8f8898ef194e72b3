//! What an instruction touches beside registers, and what can go wrong: the ground of every order.

use crate::Step;
use crate::op::{Op, Registers, TAIL_CALL};
use sluice_ebpf::address::{Region, STACK_BYTES};
use sluice_ebpf::analysis::{Base, Regions};
use sluice_ebpf::helper::{self, Arg};

/// A set of kinds of memory.
pub type Spaces = u8;

/// Stack frames.
pub const STACK: Spaces = 1;
/// Metadata and frame of the packet.
pub const PACKET: Spaces = 2;
/// What other packets or the host may see: values of maps, ring-buffer records.
pub const SHARED: Spaces = 4;
/// `struct xdp_md`.
pub const CONTEXT: Spaces = 8;
/// All of them.
pub const ANY: Spaces = 15;

/// Where bytes lie, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    /// What the offsets count from: one address, the same for every place of a trace that names it.
    base: Base,
    /// First byte that may be touched.
    low: i64,
    /// One past the last.
    high: i64,
}

/// What one instruction does to the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Registers read.
    pub reads: Registers,
    /// Registers written.
    pub writes: Registers,
    /// Memory that it may read.
    pub loads: Spaces,
    /// Memory that it may write.
    pub stores: Spaces,
    /// It may end the program with a fault.
    pub may_fault: bool,
    /// It takes part in the one order of map accesses and calls.
    pub shared: bool,
    place: Option<Place>,
}

impl Effect {
    /// Of an instruction; `regions` is the analysis of its program.
    pub fn of(step: &Step, regions: &Regions) -> Self {
        let op = &step.op;
        let none = Self {
            reads: op.reads(),
            writes: op.writes(),
            loads: 0,
            stores: 0,
            may_fault: false,
            shared: false,
            place: None,
        };
        match *op {
            Op::Load { bytes, base, off, .. } => {
                let found = Found::new(step.slot, (base, off), bytes, regions);
                let shared = found.spaces & SHARED != 0;
                Self { loads: found.spaces, may_fault: !found.in_bounds, shared, place: found.place, ..none }
            }
            Op::Store { bytes, base, off, .. } => {
                let found = Found::new(step.slot, (base, off), bytes, regions);
                let shared = found.spaces & SHARED != 0;
                Self { stores: found.spaces, may_fault: !found.in_bounds, shared, place: found.place, ..none }
            }
            Op::Atomic { bytes, base, off, .. } => {
                let found = Found::new(step.slot, (base, off), bytes, regions);
                let in_bounds = regions.complete && found.in_bounds;
                let (loads, stores) = (found.spaces, found.spaces);
                Self { loads, stores, may_fault: !in_bounds, shared: true, place: found.place, ..none }
            }
            Op::AddPair { base, off, .. } => {
                let found = Found::new(step.slot, (base, off), 16, regions);
                let in_bounds = regions.complete && found.in_bounds;
                let (loads, stores) = (found.spaces, found.spaces);
                Self { loads, stores, may_fault: !in_bounds, shared: true, place: found.place, ..none }
            }
            Op::Helper { id, .. } => {
                let (loads, stores) = helper_spaces(id);
                Self { loads, stores, may_fault: true, shared: true, ..none }
            }
            Op::Call { .. } => Self { loads: ANY, stores: ANY, may_fault: true, shared: true, ..none },
            _ => none,
        }
    }

    /// Whether two instructions may touch the same byte, and one of them writes it.
    pub fn conflicts(&self, other: &Self) -> bool {
        let spaces = self.stores & (other.loads | other.stores) | self.loads & other.stores;
        let apart = match (self.place, other.place) {
            (Some(a), Some(b)) => a.base == b.base && (a.high <= b.low || b.high <= a.low),
            _ => false,
        };
        spaces != 0 && !apart
    }
}

/// What is known of an access.
struct Found {
    spaces: Spaces,
    in_bounds: bool,
    place: Option<Place>,
}

impl Found {
    fn new(slot: u32, (base, off): (u8, i16), bytes: u8, regions: &Regions) -> Self {
        let access = regions.slots.get(slot as usize).and_then(|at| at.access.as_deref());
        // A folded address may lie outside of the frame, which validation has not seen.
        let own = base == 10 && (-(STACK_BYTES as i32)..=-i32::from(bytes)).contains(&off.into());
        let known = access.filter(|_| regions.complete);
        let spaces = match known.and_then(|access| access.region) {
            _ if own => STACK,
            Some(Region::Stack) => STACK,
            Some(Region::Packet) => PACKET,
            Some(Region::MapValue | Region::ReadOnly | Region::Record) => SHARED,
            Some(Region::Context) => CONTEXT,
            _ => ANY,
        };
        let place = known.filter(|access| access.address.base.is_one_address() && !access.address.nullable);
        let place = place.and_then(|access| {
            let (low, high) = access.offsets()?;
            let base = access.address.base;
            // A number is an address that is not told apart from one that counts from a base.
            (base != Base::Number).then_some(Place { base, low, high: high + i64::from(bytes) })
        });
        Self { spaces, in_bounds: own || known.is_some_and(|access| access.in_bounds), place }
    }
}

/// Memory that a helper may read and write.
fn helper_spaces(id: i32) -> (Spaces, Spaces) {
    let Some(helper) = helper::find_any(id) else { return (ANY, ANY) };
    let (mut loads, mut stores) = (0, 0);
    for arg in helper.args {
        match arg {
            Arg::Number => {}
            Arg::Map => stores |= SHARED,
            Arg::Key | Arg::Value => loads = ANY,
            // It may move the frame's bounds, clear bytes of it and move its metadata.
            Arg::Context if id != TAIL_CALL => {
                loads |= PACKET | CONTEXT;
                stores |= PACKET | CONTEXT;
            }
            _ => return (ANY, ANY),
        }
    }
    (loads, stores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_without_addresses_touch_no_memory_of_the_packet() {
        // ktime_get_ns, redirect, redirect_map, map_lookup_elem, adjust_head.
        assert_eq!(helper_spaces(5), (0, 0));
        assert_eq!(helper_spaces(23), (0, 0));
        assert_eq!(helper_spaces(51), (0, SHARED));
        assert_eq!(helper_spaces(1), (ANY, SHARED));
        let bounds = PACKET | CONTEXT;
        assert_eq!(helper_spaces(44), (bounds, bounds));
        // tail_call, perf_event_output, csum_diff.
        assert_eq!([12, 25, 28].map(helper_spaces), [(ANY, ANY); 3]);
    }
}
