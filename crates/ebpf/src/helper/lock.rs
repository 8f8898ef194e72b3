//! `spin_lock` and `spin_unlock`. One program runs at a time on a value: what is checked is the use.

use super::{Arg, Helper, Ret};
use crate::FaultReason;
use crate::map::Class;
use crate::vm::Cpu;

/// `void bpf_spin_lock(lock)`.
pub const LOCK: Helper = Helper {
    id: 93,
    name: "spin_lock",
    args: &[Arg::Lock],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: lock,
};

/// `void bpf_spin_unlock(lock)`.
pub const UNLOCK: Helper = Helper {
    id: 94,
    name: "spin_unlock",
    args: &[Arg::Lock],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: unlock,
};

fn lock(cpu: &mut Cpu<'_>, [address, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    check(cpu, LOCK.name, address)?;
    if cpu.held.lock.is_some() {
        return Err(FaultReason::Protocol("a spin lock was taken while one is held"));
    }
    cpu.held.lock = Some(address);
    Ok(0)
}

fn unlock(cpu: &mut Cpu<'_>, [address, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    check(cpu, UNLOCK.name, address)?;
    if cpu.held.lock != Some(address) {
        return Err(FaultReason::Protocol("a spin lock was given back that is not held"));
    }
    cpu.held.lock = None;
    Ok(0)
}

/// The address must be that of a value's lock.
fn check(cpu: &Cpu<'_>, helper: &'static str, address: u64) -> Result<(), FaultReason> {
    let owner = cpu.maps.owner(address);
    let lock = owner.and_then(|(map, offset)| Some(cpu.maps.spec(map)?.spin_lock? == offset));
    if lock == Some(true) {
        return Ok(());
    }
    let expected = "the address of a struct bpf_spin_lock in a map value";
    Err(FaultReason::Argument { helper, argument: 1, value: address, expected })
}
