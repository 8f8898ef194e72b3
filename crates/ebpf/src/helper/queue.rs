//! `map_push_elem`, `map_pop_elem`, `map_peek_elem`: queues and stacks.

use super::memory;
use super::{Arg, Helper, Ret};
use crate::map::{Class, MapId};
use crate::vm::Cpu;
use crate::{FaultReason, MapSpec};

/// `long bpf_map_push_elem(map, value, flags)`.
pub const PUSH: Helper = Helper {
    id: 87,
    name: "map_push_elem",
    args: &[Arg::Map, Arg::Value, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: push,
};

/// `long bpf_map_pop_elem(map, value)`.
pub const POP: Helper = Helper {
    id: 88,
    name: "map_pop_elem",
    args: &[Arg::Map, Arg::WriteValue],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: pop,
};

/// `long bpf_map_peek_elem(map, value)`.
pub const PEEK: Helper = Helper {
    id: 89,
    name: "map_peek_elem",
    args: &[Arg::Map, Arg::WriteValue],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: peek,
};

/// Numbers of what only the compiler uses: above all that the kernel has.
const OWN: i32 = 256;

/// What stands before the copy of an element in a compiled `map_pop_elem`: it gives the address where the element lies, and above it the error number. No program can call it.
pub const GIVE_POPPED: Helper = Helper {
    id: OWN + POP.id,
    name: "map_pop_elem",
    args: &[Arg::Map],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: give_popped,
};

/// The same of `map_peek_elem`.
pub const GIVE_PEEKED: Helper = Helper { id: OWN + PEEK.id, name: "map_peek_elem", run: give_peeked, ..GIVE_POPPED };

/// Pieces in which an element is copied: offset and bytes.
pub fn pieces(size: u32) -> impl Iterator<Item = (u32, u8)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = [8u8, 4, 2, 1].into_iter().find(|bytes| at + u32::from(*bytes) <= size)?;
        at += u32::from(bytes);
        Some((at - u32::from(bytes), bytes))
    })
}

fn queue<'a>(cpu: &'a Cpu<'_>, helper: &'static str, handle: u64) -> Result<(MapId, &'a MapSpec), FaultReason> {
    match memory::map(cpu, helper, 1, handle)? {
        (id, spec) if spec.kind.is_queue() => Ok((id, spec)),
        _ => Err(FaultReason::Argument { helper, argument: 1, value: handle, expected: "a queue or stack" }),
    }
}

fn push(cpu: &mut Cpu<'_>, [map, value, flags, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let (id, spec) = queue(cpu, PUSH.name, map)?;
    let value = memory::copy(cpu, PUSH.name, value, spec.value_size)?;
    Ok(match cpu.maps.push(id, value.bytes(), flags) {
        Ok(()) => 0,
        Err(errno) => errno.result(),
    })
}

fn give(cpu: &mut Cpu<'_>, helper: &'static str, map: u64, pops: bool) -> Result<u64, FaultReason> {
    let (id, _) = queue(cpu, helper, map)?;
    let Some(given) = cpu.maps.give_element(id, cpu.world.cpu, pops) else { return Ok(0) };
    Ok(given.error.map_or(0, |errno| errno.result() << 32) | u64::from(given.address))
}

/// The element is copied to the program's memory piece by piece, zeros where there is none. Memory that may not be written is a fault behind the pop.
fn take(cpu: &mut Cpu<'_>, helper: &'static str, [map, value]: [u64; 2], pops: bool) -> Result<u64, FaultReason> {
    let (_, spec) = queue(cpu, helper, map)?;
    let size = spec.value_size;
    let given = give(cpu, helper, map, pops)?;
    for (at, bytes) in pieces(size) {
        let piece = cpu.load_bytes((given as u32).wrapping_add(at).into(), bytes)?;
        cpu.store_bytes(value.wrapping_add(at.into()), bytes, piece)?;
    }
    Ok((given as i64 >> 32) as u64)
}

fn pop(cpu: &mut Cpu<'_>, [map, value, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    take(cpu, POP.name, [map, value], true)
}

fn peek(cpu: &mut Cpu<'_>, [map, value, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    take(cpu, PEEK.name, [map, value], false)
}

fn give_popped(cpu: &mut Cpu<'_>, [map, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    give(cpu, POP.name, map, true)
}

fn give_peeked(cpu: &mut Cpu<'_>, [map, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    give(cpu, PEEK.name, map, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_large_as_they_fit() {
        let all = |size| pieces(size).collect::<Vec<_>>();
        assert_eq!(all(4), [(0, 4)]);
        assert_eq!(all(23), [(0, 8), (8, 8), (16, 4), (20, 2), (22, 1)]);
        assert_eq!(all(1), [(0, 1)]);
    }
}
