//! The clocks: all show the packet's stamp.

use super::{Arg, Helper, Ret};
use crate::FaultReason;
use crate::map::Class;
use crate::vm::Cpu;

const fn clock(id: i32, name: &'static str, run: fn(&mut Cpu<'_>, [u64; 5]) -> Result<u64, FaultReason>) -> Helper {
    const NONE: &[Arg] = &[];
    Helper { id, name, args: NONE, ret: Ret::Number, class: Class::Fed, moves_packet: false, run }
}

/// Nanoseconds of one jiffy: the kernel's HZ is taken to be 1,000.
const JIFFY_NS: u64 = 1_000_000;

/// `u64 bpf_ktime_get_ns()`.
pub const KTIME: Helper = clock(5, "ktime_get_ns", now);
/// `u64 bpf_jiffies64()`.
pub const JIFFIES: Helper = clock(118, "jiffies64", jiffies);
/// `u64 bpf_ktime_get_boot_ns()`.
pub const KTIME_BOOT: Helper = clock(125, "ktime_get_boot_ns", now);
/// `u64 bpf_ktime_get_coarse_ns()`.
pub const KTIME_COARSE: Helper = clock(160, "ktime_get_coarse_ns", now);
/// `u64 bpf_ktime_get_tai_ns()`.
pub const KTIME_TAI: Helper = clock(208, "ktime_get_tai_ns", now);

fn now(cpu: &mut Cpu<'_>, _: [u64; 5]) -> Result<u64, FaultReason> {
    Ok(cpu.world.now_ns)
}

fn jiffies(cpu: &mut Cpu<'_>, _: [u64; 5]) -> Result<u64, FaultReason> {
    Ok(cpu.world.now_ns / JIFFY_NS)
}
