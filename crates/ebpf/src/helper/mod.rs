//! Helpers: numbers, names and signatures as in the kernel's `bpf.h`, one file for each family.

mod held;
pub mod routes;

pub use held::{Held, MAX_TAIL_CALLS};

use crate::FaultReason;
use crate::map::Class;
use crate::vm::Cpu;

/// What a helper takes in one of r1 to r5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// Handle of a map.
    Map,
    /// Address of a key of the map argument.
    Key,
    /// Address of a value of the map argument.
    Value,
    /// The context.
    Context,
    /// Address of memory that is read; its length is the next argument.
    Read,
    /// Address of memory that is written; its length is the next argument.
    Write,
    /// Length of the memory before.
    Size,
    /// Any number.
    Number,
    /// A function of the program.
    Callback,
    /// An address that only has a meaning to the callback; any number.
    Any,
    /// A reserved record of a ring buffer.
    Record,
    /// A `struct bpf_spin_lock` in a map value.
    Lock,
}

/// What a helper returns in r0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ret {
    /// A number.
    Number,
    /// Address of a value of the map argument, or 0.
    Value,
    /// Address of a reserved record of so many bytes as argument 2 says, or 0.
    Record,
}

/// One helper.
pub struct Helper {
    /// Number in the call instruction.
    pub id: i32,
    /// Name without `bpf_`.
    pub name: &'static str,
    /// Arguments, r1 first.
    pub args: &'static [Arg],
    /// Result.
    pub ret: Ret,
    /// Determinism.
    pub class: Class,
    /// Whether packet addresses that were loaded before are stale after it.
    pub moves_packet: bool,
    /// What it does. `Ok` is r0.
    pub run: fn(&mut Cpu<'_>, [u64; 5]) -> Result<u64, FaultReason>,
}

/// The helper with this number.
pub fn find(id: i32) -> Option<&'static Helper> {
    ALL.iter().find(|h| h.id == id)
}

/// All helpers, by number.
pub static ALL: &[Helper] = &[];
