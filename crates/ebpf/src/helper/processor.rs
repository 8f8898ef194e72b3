//! Random numbers, and where the program runs.

use super::{Arg, Helper, Ret};
use crate::FaultReason;
use crate::map::Class;
use crate::vm::Cpu;

const NONE: &[Arg] = &[];

/// `u32 bpf_get_prandom_u32()`.
pub const PRANDOM: Helper = Helper {
    id: 7,
    name: "get_prandom_u32",
    args: NONE,
    ret: Ret::Number,
    class: Class::Fed,
    moves_packet: false,
    run: |cpu: &mut Cpu<'_>, _| -> Result<u64, FaultReason> { Ok(u64::from(cpu.world.draw())) },
};

/// `u32 bpf_get_smp_processor_id()`.
pub const PROCESSOR_ID: Helper = Helper {
    id: 8,
    name: "get_smp_processor_id",
    args: NONE,
    ret: Ret::Number,
    class: Class::Fed,
    moves_packet: false,
    run: |cpu: &mut Cpu<'_>, _| -> Result<u64, FaultReason> { Ok(u64::from(cpu.world.cpu)) },
};

/// `long bpf_get_numa_node_id()`: there is one node.
pub const NUMA_NODE: Helper = Helper {
    id: 42,
    name: "get_numa_node_id",
    args: NONE,
    ret: Ret::Number,
    class: Class::Fed,
    moves_packet: false,
    run: |_: &mut Cpu<'_>, _| -> Result<u64, FaultReason> { Ok(0) },
};
