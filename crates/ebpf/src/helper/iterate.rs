//! `loop` and `for_each_map_elem`: the program's own functions, called many times.

use super::memory;
use super::{Arg, Helper, Ret};
use crate::map::Class;
use crate::vm::Cpu;
use crate::{Errno, FaultReason, MapType};

/// `long bpf_loop(nr_loops, callback, callback_ctx, flags)`.
pub const LOOP: Helper = Helper {
    id: 181,
    name: "loop",
    args: &[Arg::Number, Arg::Callback, Arg::Any, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: repeat,
};

/// `long bpf_for_each_map_elem(map, callback, callback_ctx, flags)`.
pub const FOR_EACH: Helper = Helper {
    id: 164,
    name: "for_each_map_elem",
    args: &[Arg::Map, Arg::Callback, Arg::Any, Arg::Number],
    ret: Ret::Number,
    class: Class::SetEqual,
    moves_packet: false,
    run: for_each,
};

/// The kernel's `BPF_MAX_LOOPS`.
const MAX_LOOPS: u32 = 1 << 23;

fn repeat(cpu: &mut Cpu<'_>, [times, callback, ctx, flags, _]: [u64; 5]) -> Result<u64, FaultReason> {
    if flags != 0 {
        return Ok(Errno::INVAL.result());
    }
    // The kernel takes a u32: higher bits are cut off.
    let times = times as u32;
    if times > MAX_LOOPS {
        return Ok(Errno::TOOBIG.result());
    }
    for i in 0..u64::from(times) {
        if cpu.call(callback, [i, ctx, 0, 0, 0])? != 0 {
            return Ok(i + 1);
        }
    }
    Ok(times.into())
}

fn for_each(cpu: &mut Cpu<'_>, [handle, callback, ctx, flags, _]: [u64; 5]) -> Result<u64, FaultReason> {
    let (map, spec) = memory::map(cpu, FOR_EACH.name, 1, handle)?;
    if !matches!(
        spec.kind,
        MapType::Array
            | MapType::PercpuArray
            | MapType::Hash
            | MapType::PercpuHash
            | MapType::LruHash
            | MapType::LruPercpuHash
    ) {
        let expected = "an array or hash";
        return Err(FaultReason::Argument { helper: FOR_EACH.name, argument: 1, value: handle, expected });
    }
    if flags != 0 {
        return Ok(Errno::INVAL.result());
    }
    let (mut visited, mut cursor, mut key) = (0, 0, Vec::new());
    // The callback may delete and add entries: the cursor stays good.
    while let Some((next, value)) = cpu.maps.next_entry(map, cursor, cpu.world.cpu, &mut key) {
        cursor = next;
        visited += 1;
        let no_room = FaultReason::Protocol("no addresses are left to show a key at");
        let shown = cpu.held.show_key(&key).ok_or(no_room)?;
        let result = cpu.call(callback, [handle, shown.into(), value.into(), ctx, 0]);
        cpu.held.hide_key(shown);
        if result? != 0 {
            break;
        }
    }
    Ok(visited)
}
