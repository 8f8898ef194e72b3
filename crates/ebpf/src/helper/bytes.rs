//! `xdp_get_buff_len`, `xdp_load_bytes`, `xdp_store_bytes`: the frame without pointers to it.

use super::held::context;
use super::memory::{self, Copy};
use super::{Arg, Helper, Ret};
use crate::map::Class;
use crate::vm::Cpu;
use crate::{Errno, FaultReason};
use std::ops::Range;

/// `u64 bpf_xdp_get_buff_len(ctx)`.
pub const GET_BUFF_LEN: Helper = Helper {
    id: 188,
    name: "xdp_get_buff_len",
    args: &[Arg::Context],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: get_buff_len,
};

/// `long bpf_xdp_load_bytes(ctx, offset, buf, len)`.
pub const LOAD_BYTES: Helper = Helper {
    id: 189,
    name: "xdp_load_bytes",
    args: &[Arg::Context, Arg::Number, Arg::Write, Arg::Size],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: load_bytes,
};

/// `long bpf_xdp_store_bytes(ctx, offset, buf, len)`.
pub const STORE_BYTES: Helper = Helper {
    id: 190,
    name: "xdp_store_bytes",
    args: &[Arg::Context, Arg::Number, Arg::Read, Arg::Size],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: store_bytes,
};

/// Most that offset and length may be.
const MAX: u32 = 0xffff;

fn get_buff_len(cpu: &mut Cpu<'_>, [ctx, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    context(GET_BUFF_LEN.name, 1, ctx)?;
    Ok(cpu.packet.frame().len() as u64)
}

fn load_bytes(cpu: &mut Cpu<'_>, [ctx, offset, buffer, len, _]: [u64; 5]) -> Result<u64, FaultReason> {
    context(LOAD_BYTES.name, 1, ctx)?;
    let range = match range(cpu, offset as u32, len as u32) {
        Ok(range) => range,
        Err(errno) => return Ok(errno.result()),
    };
    let bytes = Copy::of(&cpu.packet.frame()[range]);
    memory::write(cpu, LOAD_BYTES.name, buffer, bytes.bytes())?;
    Ok(0)
}

fn store_bytes(cpu: &mut Cpu<'_>, [ctx, offset, buffer, len, _]: [u64; 5]) -> Result<u64, FaultReason> {
    context(STORE_BYTES.name, 1, ctx)?;
    let range = match range(cpu, offset as u32, len as u32) {
        Ok(range) => range,
        Err(errno) => return Ok(errno.result()),
    };
    let bytes = memory::copy(cpu, STORE_BYTES.name, buffer, len as u32)?;
    let before = (cpu.packet.data() - cpu.packet.meta()) as usize;
    cpu.packet.bytes_mut()[before..][range].copy_from_slice(bytes.bytes());
    Ok(0)
}

/// Where in the frame that is.
fn range(cpu: &Cpu<'_>, offset: u32, len: u32) -> Result<Range<usize>, Errno> {
    if offset > MAX || len > MAX {
        return Err(Errno::FAULT);
    }
    if (offset + len) as usize > cpu.packet.frame().len() {
        return Err(Errno::INVAL);
    }
    Ok(offset as usize..(offset + len) as usize)
}
