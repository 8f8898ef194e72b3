//! Ring buffers: records that are reserved, then submitted or discarded, or put out at once.

use super::memory;
use super::{Arg, Helper, Ret};
use crate::map::Class;
use crate::vm::Cpu;
use crate::world::Event;
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
    let data = memory::copy(cpu, OUTPUT.name, data, size as u32)?;
    if flags & !WAKEUP != 0 {
        return Ok(Errno::INVAL.result());
    }
    if !cpu.world.finds_room() {
        return Ok(Errno::AGAIN.result());
    }
    let world = &mut *cpu.world;
    let mut deliver = |data| world.emit(Event::Ring { map, data });
    Ok(match cpu.maps.ring_output(map, data.bytes(), &mut deliver) {
        Ok(()) => 0,
        Err(errno) => errno.result(),
    })
}

fn reserve(cpu: &mut Cpu<'_>, [handle, size, flags, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let map = ring(cpu, RESERVE.name, handle)?;
    if flags != 0 {
        return Ok(0);
    }
    if !cpu.world.finds_room() {
        return Ok(0);
    }
    let Some(position) = cpu.maps.ring_reserve(map, size) else {
        return Ok(0);
    };
    match cpu.held.reserve(map, position, size as u32) {
        Some(address) => Ok(address.into()),
        // No addresses are left: nothing is reserved after all.
        None => {
            commit(cpu, map, position, None);
            Ok(0)
        }
    }
}

fn submit(cpu: &mut Cpu<'_>, [record, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let (map, position, data) = cpu.held.release(record).ok_or(no_record(SUBMIT.name, record))?;
    commit(cpu, map, position, Some(data));
    Ok(0)
}

fn discard(cpu: &mut Cpu<'_>, [record, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let (map, position, _) = cpu.held.release(record).ok_or(no_record(DISCARD.name, record))?;
    commit(cpu, map, position, None);
    Ok(0)
}

fn query(cpu: &mut Cpu<'_>, [handle, what, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let map = ring(cpu, QUERY.name, handle)?;
    Ok(cpu.maps.ring_query(map, what))
}

/// Submits a record, or discards it; what reaches the host by it are events.
fn commit(cpu: &mut Cpu<'_>, map: MapId, position: u64, data: Option<Vec<u8>>) {
    let world = &mut *cpu.world;
    cpu.maps.ring_commit(map, position, data, &mut |data| world.emit(Event::Ring { map, data }));
}

fn no_record(helper: &'static str, record: u64) -> FaultReason {
    FaultReason::Argument { helper, argument: 1, value: record, expected: "a record that ringbuf_reserve gave" }
}

impl Cpu<'_> {
    /// After a fault: no lock is held, and reserved records are discarded, so that the ring goes on.
    pub(crate) fn abandon_held(&mut self) {
        for (map, position) in self.held.abandon() {
            commit(self, map, position, None);
        }
    }
}

fn ring(cpu: &Cpu<'_>, helper: &'static str, handle: u64) -> Result<MapId, FaultReason> {
    match memory::map(cpu, helper, 1, handle)? {
        (map, spec) if spec.kind == MapType::Ringbuf => Ok(map),
        _ => Err(FaultReason::Argument { helper, argument: 1, value: handle, expected: "a ring buffer" }),
    }
}
