//! Helpers: numbers, names and signatures as in the kernel's `bpf.h`, one file for each family.

mod bytes;
mod checksum;
mod clock;
pub mod fib;
pub(crate) mod format;
mod held;
pub(crate) mod iterate;
mod iterator;
mod lock;
mod map;
mod memory;
pub(crate) mod packet;
mod perf;
pub(crate) mod print;
mod processor;
mod queue;
mod redirect;
mod ringbuf;
pub mod routes;
pub(crate) mod tail_call;
mod text;

pub use held::{Held, MAX_TAIL_CALLS};
pub use queue::{GIVE_PEEKED, GIVE_POPPED, PEEK, POP, PUSH, pieces};

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
    /// Address of memory that is written, as long as a value of the map argument.
    WriteValue,
    /// Address of memory that is read; its length is the next argument.
    Read,
    /// Address of memory that is written; its length is the next argument.
    Write,
    /// Length of the memory before.
    Size,
    /// Address of memory of so many bytes that is written.
    WriteExact(u32),
    /// Address of zero-terminated text that is read.
    Text,
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
    /// Address of an iterator: 8 aligned bytes of the stack, which are read and written.
    Iterator,
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
    /// Address of the iterator's number, or 0.
    Iterated,
}

/// One helper.
pub struct Helper {
    /// Number in the call instruction; of kernel functions one of ours.
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
    ALL.binary_search_by_key(&id, |h| h.id).ok().map(|index| &ALL[index])
}

/// The same, with what the compiler puts in the place of helpers: by numbers that no program calls.
pub fn find_any(id: i32) -> Option<&'static Helper> {
    [&GIVE_POPPED, &GIVE_PEEKED].into_iter().find(|helper| helper.id == id).or_else(|| find(id))
}

/// All helpers, by rising number.
pub static ALL: &[Helper] = &[
    map::LOOKUP,
    map::UPDATE,
    map::DELETE,
    clock::KTIME,
    print::TRACE_PRINTK,
    processor::PRANDOM,
    processor::PROCESSOR_ID,
    tail_call::TAIL_CALL,
    redirect::REDIRECT,
    perf::PERF_EVENT_OUTPUT,
    checksum::CSUM_DIFF,
    processor::NUMA_NODE,
    packet::ADJUST_HEAD,
    redirect::REDIRECT_MAP,
    packet::ADJUST_META,
    packet::ADJUST_TAIL,
    fib::FIB_LOOKUP,
    queue::PUSH,
    queue::POP,
    queue::PEEK,
    lock::LOCK,
    lock::UNLOCK,
    text::STRTOL,
    text::STRTOUL,
    clock::JIFFIES,
    clock::KTIME_BOOT,
    ringbuf::OUTPUT,
    ringbuf::RESERVE,
    ringbuf::SUBMIT,
    ringbuf::DISCARD,
    ringbuf::QUERY,
    clock::KTIME_COARSE,
    fib::CHECK_MTU,
    iterate::FOR_EACH,
    print::SNPRINTF,
    print::TRACE_VPRINTK,
    iterate::LOOP,
    text::STRNCMP,
    bytes::GET_BUFF_LEN,
    bytes::LOAD_BYTES,
    bytes::STORE_BYTES,
    map::LOOKUP_PERCPU,
    clock::KTIME_TAI,
    iterator::NEW,
    iterator::NEXT,
    iterator::DESTROY,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_are_sorted_by_number_and_named_once() {
        assert!(ALL.windows(2).all(|w| w[0].id < w[1].id));
        let mut names: Vec<_> = ALL.iter().map(|h| h.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|h| find(h.id).is_some_and(|f| f.name == h.name)));
        assert!(find(0).is_none() && find(-1).is_none() && find(i32::MAX).is_none());
    }
}
