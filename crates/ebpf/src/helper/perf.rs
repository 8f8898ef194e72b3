//! `perf_event_output`: bytes to the host, with the packet's first bytes behind them if asked for.

use super::held::context;
use super::memory;
use super::{Arg, Helper, Ret};
use crate::map::Class;
use crate::vm::Cpu;
use crate::world::Event;
use crate::{Errno, FaultReason, MapType};

/// `long bpf_perf_event_output(ctx, map, flags, data, size)`.
pub const PERF_EVENT_OUTPUT: Helper = Helper {
    id: 25,
    name: "perf_event_output",
    args: &[Arg::Context, Arg::Map, Arg::Number, Arg::Read, Arg::Size],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: perf_event_output,
};

/// `BPF_F_INDEX_MASK`, and as an index `BPF_F_CURRENT_CPU`.
const INDEX: u64 = 0xffff_ffff;
/// `BPF_F_CTXLEN_MASK`.
const CONTEXT_LENGTH: u64 = 0xf_ffff << 32;

fn perf_event_output(cpu: &mut Cpu<'_>, [ctx, handle, flags, data, size]: [u64; 5]) -> Result<u64, FaultReason> {
    context(PERF_EVENT_OUTPUT.name, 1, ctx)?;
    let (map, spec) = memory::map(cpu, PERF_EVENT_OUTPUT.name, 2, handle)?;
    if spec.kind != MapType::PerfEventArray {
        let expected = "a perf event array";
        return Err(FaultReason::Argument { helper: PERF_EVENT_OUTPUT.name, argument: 2, value: handle, expected });
    }
    let entries = spec.max_entries;
    let data = memory::read(cpu, PERF_EVENT_OUTPUT.name, data, size as u32)?;
    if flags & !(INDEX | CONTEXT_LENGTH) != 0 {
        return Ok(Errno::INVAL.result());
    }
    let Some(packet) = cpu.packet.frame().get(..(flags >> 32) as usize) else {
        return Ok(Errno::FAULT.result());
    };
    let index = if flags & INDEX == INDEX { cpu.world.cpu } else { flags as u32 };
    if index >= entries {
        return Ok(Errno::TOOBIG.result());
    }
    // The host has opened one buffer for each CPU at the CPU's index, and a buffer takes events of its CPU only.
    if index >= cpu.maps.cpus() {
        return Ok(Errno::NOENT.result());
    }
    if index != cpu.world.cpu {
        return Ok(Errno::OPNOTSUPP.result());
    }
    let data = [data, packet].concat();
    if !cpu.world.finds_room() {
        return Ok(Errno::NOSPC.result());
    }
    cpu.world.emit(Event::Perf { map, cpu: index, data });
    Ok(0)
}
