//! `bpf_iter_num_*`: kernel functions that count, for loops whose rounds no verifier has to know.

use super::{Arg, Helper, Ret};
use crate::address::Region;
use crate::insn::FIRST_KFUNC;
use crate::map::Class;
use crate::vm::Cpu;
use crate::{Errno, FaultReason};

/// `int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end)`.
pub const NEW: Helper = Helper {
    id: FIRST_KFUNC,
    name: "iter_num_new",
    args: &[Arg::Iterator, Arg::Number, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: new,
};

/// `int *bpf_iter_num_next(struct bpf_iter_num *it)`.
pub const NEXT: Helper = Helper {
    id: FIRST_KFUNC + 1,
    name: "iter_num_next",
    args: &[Arg::Iterator],
    ret: Ret::Iterated,
    class: Class::Exact,
    moves_packet: false,
    run: next,
};

/// `void bpf_iter_num_destroy(struct bpf_iter_num *it)`.
pub const DESTROY: Helper = Helper {
    id: FIRST_KFUNC + 2,
    name: "iter_num_destroy",
    args: &[Arg::Iterator],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: destroy,
};

/// The kernel's `BPF_MAX_LOOPS`.
const MAX_ROUNDS: i64 = 1 << 23;
/// Bytes of an iterator: the number that it is at, and the one that it ends before.
const BYTES: u32 = 8;

/// Refuses all but eight aligned bytes of the stack. What stands there may be anything: it is two numbers.
fn check(helper: &'static str, iterator: u64) -> Result<(), FaultReason> {
    if Region::of(iterator) == Region::Stack && iterator.is_multiple_of(BYTES.into()) {
        return Ok(());
    }
    let expected = "an iterator: 8 aligned bytes of the stack";
    Err(FaultReason::Argument { helper, argument: 1, value: iterator, expected })
}

fn put(cpu: &mut Cpu<'_>, helper: &'static str, iterator: u64, numbers: [i32; 2]) -> Result<(), FaultReason> {
    check(helper, iterator)?;
    let (to, _) = cpu.write(helper, iterator, BYTES)?.as_chunks_mut::<4>();
    to.iter_mut().zip(numbers).for_each(|(to, number)| *to = number.to_le_bytes());
    Ok(())
}

/// An `int`, as machine code returns it: the upper half of r0 is zero.
fn int(errno: Errno) -> u64 {
    (errno.result() as u32).into()
}

fn new(cpu: &mut Cpu<'_>, [iterator, start, end, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let (start, end) = (start as i32, end as i32);
    let (numbers, result) = match i64::from(end) - i64::from(start) {
        ..0 => ([0, 0], int(Errno::INVAL)),
        0..=MAX_ROUNDS => ([start.wrapping_sub(1), end], 0),
        _ => ([0, 0], int(Errno::TOOBIG)),
    };
    put(cpu, NEW.name, iterator, numbers)?;
    Ok(result)
}

fn next(cpu: &mut Cpu<'_>, [iterator, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    check(NEXT.name, iterator)?;
    let (numbers, _) = cpu.read(NEXT.name, iterator, BYTES)?.as_chunks::<4>();
    let &[at, end] = numbers else { return Ok(0) };
    let (at, end) = (i32::from_le_bytes(at).wrapping_add(1), i32::from_le_bytes(end));
    if at >= end {
        put(cpu, NEXT.name, iterator, [0, 0])?;
        return Ok(0);
    }
    put(cpu, NEXT.name, iterator, [at, end])?;
    Ok(iterator)
}

fn destroy(cpu: &mut Cpu<'_>, [iterator, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    put(cpu, DESTROY.name, iterator, [0, 0])?;
    Ok(0)
}
