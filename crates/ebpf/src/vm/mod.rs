//! The interpreter: the executable specification of XDP programs.

mod code;
mod exec;
mod machine;
mod memory;
pub mod native;
mod packet;
mod runtime;
mod stack;
#[cfg(test)]
mod tests;
mod trace;

pub use machine::{Executor, Machine, MakeExecutor};
pub use packet::{HEADROOM, MAX_GROWN, Packet, RESERVED};
pub use runtime::{Installed, Runtime};
pub use trace::{Access, At, Coverage, Tracer};

use crate::{Fault, MapSpace, Redirect, Verdict, World};
use stack::Stack;

/// Most taken back edges and calls of one packet, unless set otherwise.
///
/// The kernel's verifier follows every round of a loop and gives up after 1,000,000 instructions,
/// so that no program it accepts comes here without `bpf_loop` or tail calls; and one `bpf_loop` of
/// as many rounds as the kernel allows, 2^23, is within it.
pub const WORK_LIMIT: u64 = 1 << 24;

/// Where a packet came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ingress {
    /// `ingress_ifindex`.
    pub ifindex: u32,
    /// `rx_queue_index`.
    pub queue: u32,
}

/// What became of one packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// r0 at the end; 0 after a fault.
    pub r0: u64,
    /// Verdict.
    pub verdict: Verdict,
    /// Destination, when the verdict is `Redirect` and a redirect helper succeeded.
    pub redirect: Option<Redirect>,
    /// Instructions executed, tail-called programs included; a 64-bit immediate load counts once.
    pub instructions: u64,
    /// The fault, if one ended it.
    pub fault: Option<Fault>,
}

/// One execution: what helpers work on.
pub struct Cpu<'a> {
    /// r0 to r10; the rest is unused, so that no index needs a check.
    pub registers: [u64; 16],
    /// The packet.
    pub packet: &'a mut Packet,
    /// Where it came in.
    pub ingress: Ingress,
    /// The tenant's maps.
    pub maps: &'a mut MapSpace,
    /// Time, random, routes, events.
    pub world: &'a mut World,
    /// Set by redirect helpers.
    pub redirect: Option<Redirect>,
    /// Set by `tail_call`: the program number (a program array's value) to go on with. When that
    /// is not possible the program goes on behind the call with the r0 that the helper gave.
    pub tail_call: Option<u32>,
    /// Locks, ring-buffer records and keys that helpers hold; region 9 is served from it, and
    /// `Held::at_exit` is asked at the program's end and before a tail call.
    pub held: crate::helper::Held,
    programs: &'a [Option<code::Loaded>],
    /// Programs that tail calls went on with.
    tail_called: &'a mut Vec<u32>,
    /// Number of the program that runs.
    program: u32,
    stack: &'a mut Stack,
    instructions: u64,
    work: u64,
    limit: u64,
    tracer: Option<&'a dyn Tracer>,
    /// What carries the program out, if not the interpreter.
    machine: Option<&'a dyn Machine>,
    /// Where the first fault was: program, slot, registers.
    place: Option<(u32, u32, [u64; 16])>,
}
