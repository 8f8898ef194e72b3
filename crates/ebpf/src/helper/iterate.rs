//! `loop` and `for_each_map_elem`: the program's own functions, called many times.

use super::memory;
use super::{Arg, Helper, Ret};
use crate::map::Class;
use crate::vm::Cpu;
use crate::{Errno, FaultReason, MapId, MapType};

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
    let (kind, entries) = (spec.kind, spec.max_entries);
    let array = matches!(kind, MapType::Array | MapType::PercpuArray);
    let hash = matches!(kind, MapType::Hash | MapType::PercpuHash | MapType::LruHash | MapType::LruPercpuHash);
    if !array && !hash {
        let expected = "an array or hash";
        return Err(FaultReason::Argument { helper: FOR_EACH.name, argument: 1, value: handle, expected });
    }
    if flags != 0 {
        return Ok(Errno::INVAL.result());
    }
    let mut visited = 0;
    if array {
        for index in 0..entries {
            visited += 1;
            if visit(cpu, map, &index.to_le_bytes(), [handle, callback, ctx])? == Some(true) {
                break;
            }
        }
        return Ok(visited);
    }
    // The callback may delete and add: what was there at first and is still there is visited.
    for key in keys(cpu, map) {
        match visit(cpu, map, &key, [handle, callback, ctx])? {
            None => {}
            Some(stop) => {
                visited += 1;
                if stop {
                    break;
                }
            }
        }
    }
    Ok(visited)
}

/// Calls back for one entry, if it is there; whether the callback wants no more.
fn visit(
    cpu: &mut Cpu<'_>,
    map: MapId,
    key: &[u8],
    [handle, callback, ctx]: [u64; 3],
) -> Result<Option<bool>, FaultReason> {
    let Some(value) = memory::value(cpu, map, key) else {
        return Ok(None);
    };
    let Some(shown) = cpu.held.show_key(key) else {
        return Err(FaultReason::Protocol("no addresses are left to show a key at"));
    };
    let result = cpu.call(callback, [handle, shown.into(), value, ctx, 0]);
    cpu.held.hide_key(shown);
    Ok(Some(result? != 0))
}

fn keys(cpu: &Cpu<'_>, map: MapId) -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    while let Ok(Some(next)) = cpu.maps.next_key(map, keys.last().map(Vec::as_slice)) {
        keys.push(next);
    }
    keys
}
