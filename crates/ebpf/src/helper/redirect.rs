//! `redirect` and `redirect_map`.

use super::memory;
use super::{Arg, Helper, Ret};
use crate::map::Class;
use crate::vm::Cpu;
use crate::{FaultReason, MapType, Redirect, Verdict};

/// `long bpf_redirect(ifindex, flags)`.
pub const REDIRECT: Helper = Helper {
    id: 23,
    name: "redirect",
    args: &[Arg::Number, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: redirect,
};

/// `long bpf_redirect_map(map, key, flags)`.
pub const REDIRECT_MAP: Helper = Helper {
    id: 51,
    name: "redirect_map",
    args: &[Arg::Map, Arg::Number, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: redirect_map,
};

/// Low bits of the flags: the verdict when there is no entry.
const FALLBACK: u64 = 3;
/// `BPF_F_BROADCAST`.
const BROADCAST: u64 = 8;
/// `BPF_F_EXCLUDE_INGRESS`.
const EXCLUDE_INGRESS: u64 = 16;

fn redirect(cpu: &mut Cpu<'_>, [ifindex, flags, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    if flags != 0 {
        return Ok(Verdict::Aborted as u64);
    }
    // Whether the interface exists is seen only when the packet gets there.
    cpu.held.target = Some(ifindex as u32);
    cpu.redirect = Some(Redirect::Interface(ifindex as u32));
    Ok(Verdict::Redirect as u64)
}

fn redirect_map(cpu: &mut Cpu<'_>, [handle, key, flags, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let (map, spec) = memory::map(cpu, REDIRECT_MAP.name, 1, handle)?;
    let kind = spec.kind;
    let allowed = match kind {
        MapType::Devmap | MapType::DevmapHash => FALLBACK | BROADCAST | EXCLUDE_INGRESS,
        MapType::Cpumap | MapType::Xskmap => FALLBACK,
        _ => {
            let expected = "a devmap, devmap_hash, cpumap or xskmap";
            return Err(FaultReason::Argument { helper: REDIRECT_MAP.name, argument: 1, value: handle, expected });
        }
    };
    if flags & !allowed != 0 {
        return Ok(Verdict::Aborted as u64);
    }
    // Keys are 32 bits in all four kinds; the helper cuts higher ones off.
    let index = key as u32;
    let to = if flags & BROADCAST != 0 {
        Some(Redirect::Broadcast { map, exclude_ingress: flags & EXCLUDE_INGRESS != 0 })
    } else {
        match kind {
            MapType::Devmap | MapType::DevmapHash => cpu.maps.reference(map, index).map(Redirect::Interface),
            MapType::Cpumap => cpu.maps.reference(map, index).map(|_| Redirect::Cpu(index)),
            _ => cpu.maps.reference(map, index).map(|_| Redirect::Socket { map, index }),
        }
    };
    if to.is_none() {
        // The kernel forgets the map but not the index: a program that says XDP_REDIRECT all the
        // same sends to the interface of that number.
        cpu.redirect = cpu.held.target.map(Redirect::Interface);
        return Ok(flags & FALLBACK);
    }
    cpu.held.target = Some(index);
    cpu.redirect = to;
    Ok(Verdict::Redirect as u64)
}
