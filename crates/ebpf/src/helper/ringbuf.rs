//! Ring buffers: records that are reserved, then submitted or discarded, or put out at once.

use super::memory;
use super::{Arg, Helper, Ret};
use crate::map::Class;
use crate::vm::Cpu;
use crate::world::{Event, Ring};
use crate::{Errno, FaultReason, MapId, MapType};

/// `long bpf_ringbuf_output(ringbuf, data, size, flags)`.
pub const OUTPUT: Helper = Helper {
    id: 130,
    name: "ringbuf_output",
    args: &[Arg::Map, Arg::Read, Arg::Size, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: output,
};

/// `void *bpf_ringbuf_reserve(ringbuf, size, flags)`.
pub const RESERVE: Helper = Helper {
    id: 131,
    name: "ringbuf_reserve",
    args: &[Arg::Map, Arg::Number, Arg::Number],
    ret: Ret::Record,
    class: Class::Exact,
    moves_packet: false,
    run: reserve,
};

/// `void bpf_ringbuf_submit(data, flags)`.
pub const SUBMIT: Helper = Helper {
    id: 132,
    name: "ringbuf_submit",
    args: &[Arg::Record, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: submit,
};

/// `void bpf_ringbuf_discard(data, flags)`.
pub const DISCARD: Helper = Helper {
    id: 133,
    name: "ringbuf_discard",
    args: &[Arg::Record, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: discard,
};

/// `u64 bpf_ringbuf_query(ringbuf, flags)`.
pub const QUERY: Helper = Helper {
    id: 134,
    name: "ringbuf_query",
    args: &[Arg::Map, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: query,
};

/// `BPF_RB_NO_WAKEUP` and `BPF_RB_FORCE_WAKEUP`: the host sees the event in both cases.
const WAKEUP: u64 = 3;

fn output(cpu: &mut Cpu<'_>, [handle, data, size, flags, _]: [u64; 5]) -> Result<u64, FaultReason> {
    let map = ring(cpu, OUTPUT.name, handle)?;
    let data = memory::read(cpu, OUTPUT.name, data, size as u32)?;
    if flags & !WAKEUP != 0 {
        return Ok(Errno::INVAL.result());
    }
    let data = data.to_vec();
    // The kernel takes a u64 length here; a longer one than memory holds did not get this far.
    if !state(cpu, map).produce(data.len() as u64) {
        return Ok(Errno::AGAIN.result());
    }
    cpu.world.emit(Event::Ring { map, data });
    Ok(0)
}

fn reserve(cpu: &mut Cpu<'_>, [handle, size, flags, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let map = ring(cpu, RESERVE.name, handle)?;
    if flags != 0 || !state(cpu, map).produce(size) {
        return Ok(0);
    }
    // The record region is as large as the largest ring buffers that fit the address map: a record
    // that finds no addresses stays in the ring as a discarded one would.
    Ok(cpu.held.reserve(map, size as u32).map_or(0, u64::from))
}

fn submit(cpu: &mut Cpu<'_>, [record, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let (map, data) = release(cpu, SUBMIT.name, record)?;
    cpu.world.emit(Event::Ring { map, data });
    Ok(0)
}

fn discard(cpu: &mut Cpu<'_>, [record, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    release(cpu, DISCARD.name, record)?;
    Ok(0)
}

fn query(cpu: &mut Cpu<'_>, [handle, what, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let map = ring(cpu, QUERY.name, handle)?;
    let ring = state(cpu, map);
    Ok(match what {
        0 => ring.producer - ring.consumer,
        1 => ring.size,
        2 => ring.consumer,
        3 => ring.producer,
        _ => 0,
    })
}

fn release(cpu: &mut Cpu<'_>, helper: &'static str, record: u64) -> Result<(MapId, Vec<u8>), FaultReason> {
    let expected = "a record that ringbuf_reserve gave";
    let fault = FaultReason::Argument { helper, argument: 1, value: record, expected };
    cpu.held.release(record).ok_or(fault)
}

fn ring(cpu: &Cpu<'_>, helper: &'static str, handle: u64) -> Result<MapId, FaultReason> {
    match memory::map(cpu, helper, 1, handle)? {
        (map, spec) if spec.kind == MapType::Ringbuf => Ok(map),
        _ => Err(FaultReason::Argument { helper, argument: 1, value: handle, expected: "a ring buffer" }),
    }
}

fn state<'a>(cpu: &'a mut Cpu<'_>, map: MapId) -> &'a mut Ring {
    let size = cpu.maps.spec(map).map_or(0, |s| s.max_entries);
    cpu.world.ring(map, size)
}
