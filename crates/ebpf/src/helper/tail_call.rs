//! `tail_call`: goes on with a program of a program array.

use super::held::{MAX_TAIL_CALLS, context};
use super::memory;
use super::{Arg, Helper, Ret};
use crate::map::Class;
use crate::vm::Cpu;
use crate::{Errno, FaultReason, MapType};

/// `long bpf_tail_call(ctx, prog_array, index)`.
pub const TAIL_CALL: Helper = Helper {
    id: 12,
    name: "tail_call",
    args: &[Arg::Context, Arg::Map, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: tail_call,
};

/// Sets `Cpu::tail_call` if there is a program. The result only counts if not: the program goes
/// on behind the call, and what it may not read (r0) says why.
fn tail_call(cpu: &mut Cpu<'_>, [ctx, handle, index, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    context(TAIL_CALL.name, 1, ctx)?;
    let (map, spec) = memory::map(cpu, TAIL_CALL.name, 2, handle)?;
    if spec.kind != MapType::ProgArray {
        let expected = "a program array";
        return Err(FaultReason::Argument { helper: TAIL_CALL.name, argument: 2, value: handle, expected });
    }
    if cpu.held.tail_calls >= MAX_TAIL_CALLS {
        return Ok(Errno::PERM.result());
    }
    // The kernel takes a u32: higher bits are cut off. A missing program is not counted.
    let Some(program) = cpu.maps.reference(map, index as u32) else {
        return Ok(Errno::NOENT.result());
    };
    cpu.held.tail_calls += 1;
    cpu.tail_call = Some(program);
    Ok(0)
}
