//! `map_lookup_elem`, `map_update_elem`, `map_delete_elem`, `map_lookup_percpu_elem`.

use super::memory;
use super::{Arg, Helper, Ret};
use crate::FaultReason;
use crate::map::Class;
use crate::vm::Cpu;

/// `void *bpf_map_lookup_elem(map, key)`.
pub const LOOKUP: Helper = Helper {
    id: 1,
    name: "map_lookup_elem",
    args: &[Arg::Map, Arg::Key],
    ret: Ret::Value,
    class: Class::Exact,
    moves_packet: false,
    run: lookup,
};

/// `long bpf_map_update_elem(map, key, value, flags)`.
pub const UPDATE: Helper = Helper {
    id: 2,
    name: "map_update_elem",
    args: &[Arg::Map, Arg::Key, Arg::Value, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: update,
};

/// `long bpf_map_delete_elem(map, key)`.
pub const DELETE: Helper = Helper {
    id: 3,
    name: "map_delete_elem",
    args: &[Arg::Map, Arg::Key],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: delete,
};

/// `void *bpf_map_lookup_percpu_elem(map, key, cpu)`.
pub const LOOKUP_PERCPU: Helper = Helper {
    id: 195,
    name: "map_lookup_percpu_elem",
    args: &[Arg::Map, Arg::Key, Arg::Number],
    ret: Ret::Value,
    class: Class::Exact,
    moves_packet: false,
    run: lookup_percpu,
};

fn lookup(cpu: &mut Cpu<'_>, [map, key, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let (id, spec) = memory::map(cpu, LOOKUP.name, 1, map)?;
    let key = memory::copy(cpu, LOOKUP.name, key, spec.key_size)?;
    Ok(cpu.maps.lookup(id, key.bytes(), cpu.world.cpu).map_or(0, u64::from))
}

fn update(cpu: &mut Cpu<'_>, [map, key, value, flags, _]: [u64; 5]) -> Result<u64, FaultReason> {
    let (id, spec) = memory::map(cpu, UPDATE.name, 1, map)?;
    let key = memory::copy(cpu, UPDATE.name, key, spec.key_size)?;
    let value = memory::copy(cpu, UPDATE.name, value, spec.value_size)?;
    Ok(match cpu.maps.update(id, key.bytes(), value.bytes(), flags, cpu.world.cpu) {
        Ok(()) => 0,
        Err(errno) => errno.result(),
    })
}

fn delete(cpu: &mut Cpu<'_>, [map, key, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let (id, spec) = memory::map(cpu, DELETE.name, 1, map)?;
    let key = memory::copy(cpu, DELETE.name, key, spec.key_size)?;
    Ok(match cpu.maps.delete(id, key.bytes()) {
        Ok(()) => 0,
        Err(errno) => errno.result(),
    })
}

fn lookup_percpu(cpu: &mut Cpu<'_>, [map, key, of, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let (id, spec) = memory::map(cpu, LOOKUP_PERCPU.name, 1, map)?;
    if !spec.kind.is_per_cpu() {
        let expected = "a per-CPU map";
        return Err(FaultReason::Argument { helper: LOOKUP_PERCPU.name, argument: 1, value: map, expected });
    }
    let key = memory::copy(cpu, LOOKUP_PERCPU.name, key, spec.key_size)?;
    // The kernel takes a u32: higher bits are cut off.
    let of = of as u32;
    if of >= cpu.maps.cpus() {
        return Ok(0);
    }
    Ok(cpu.maps.lookup(id, key.bytes(), of).map_or(0, u64::from))
}
