//! `trace_printk`, `trace_vprintk`, `snprintf`.

use super::format::{Formatted, Memory, format};
use super::memory;
use super::{Arg, Helper, Ret};
use crate::map::Class;
use crate::vm::Cpu;
use crate::world::Event;
use crate::{Errno, FaultReason};

/// `long bpf_trace_printk(fmt, fmt_size, ...)`.
pub const TRACE_PRINTK: Helper = Helper {
    id: 6,
    name: "trace_printk",
    args: &[Arg::Read, Arg::Size, Arg::Number, Arg::Number, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: trace_printk,
};

/// `long bpf_snprintf(str, str_size, fmt, data, data_len)`.
pub const SNPRINTF: Helper = Helper {
    id: 165,
    name: "snprintf",
    args: &[Arg::Write, Arg::Size, Arg::Text, Arg::Read, Arg::Size],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: snprintf,
};

/// `long bpf_trace_vprintk(fmt, fmt_size, data, data_len)`.
pub const TRACE_VPRINTK: Helper = Helper {
    id: 177,
    name: "trace_vprintk",
    args: &[Arg::Read, Arg::Size, Arg::Read, Arg::Size],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: trace_vprintk,
};

/// Most arguments of `snprintf` and `trace_vprintk`.
const MAX_ARGUMENTS: usize = 12;
/// Bytes of the kernel's line, its zero included.
const LINE: usize = 1024;
/// Longest format of `snprintf` that is read.
const MAX_FORMAT: u32 = 1 << 16;

fn trace_printk(cpu: &mut Cpu<'_>, [text, size, a, b, c]: [u64; 5]) -> Result<u64, FaultReason> {
    let text = memory::copy(cpu, TRACE_PRINTK.name, text, size as u32)?;
    Ok(trace(cpu, text.bytes(), &[a, b, c]))
}

fn trace_vprintk(cpu: &mut Cpu<'_>, [text, size, data, len, _]: [u64; 5]) -> Result<u64, FaultReason> {
    let text = memory::copy(cpu, TRACE_VPRINTK.name, text, size as u32)?;
    Ok(match arguments(cpu, TRACE_VPRINTK.name, data, len as u32)? {
        Ok(arguments) => trace(cpu, text.bytes(), &arguments),
        Err(errno) => errno.result(),
    })
}

fn snprintf(cpu: &mut Cpu<'_>, [to, size, text, data, len]: [u64; 5]) -> Result<u64, FaultReason> {
    let text = memory::text(cpu, SNPRINTF.name, text, MAX_FORMAT)?;
    let arguments = match arguments(cpu, SNPRINTF.name, data, len as u32)? {
        Ok(arguments) => arguments,
        Err(errno) => return Ok(errno.result()),
    };
    let made = match expand(cpu, &text, &arguments, size as u32 as usize) {
        Ok(made) => made,
        Err(errno) => return Ok(errno.result()),
    };
    let size = size as u32 as usize;
    if size > 0 {
        // What does not fit is cut off, with a zero at the end.
        let mut bytes = made.text;
        bytes.truncate(size - 1);
        bytes.push(0);
        memory::write(cpu, SNPRINTF.name, to, &bytes)?;
    }
    Ok(length(made.len.saturating_add(1)))
}

/// A line for the host; its length, or an error.
fn trace(cpu: &mut Cpu<'_>, text: &[u8], arguments: &[u64]) -> u64 {
    let Some(end) = text.iter().position(|b| *b == 0) else {
        return Errno::INVAL.result();
    };
    match expand(cpu, &text[..end], arguments, LINE) {
        Err(errno) => errno.result(),
        Ok(mut made) => {
            made.text.truncate(LINE - 1);
            if cpu.world.finds_room() {
                cpu.world.emit(Event::Trace(String::from_utf8_lossy(&made.text).into_owned()));
            }
            length(made.len)
        }
    }
}

/// Helpers return lengths as the kernel's `int`.
fn length(len: u64) -> u64 {
    i64::from(len as i32) as u64
}

fn expand(cpu: &Cpu<'_>, text: &[u8], arguments: &[u64], size: usize) -> Result<Formatted, Errno> {
    format(text, arguments, size as u64, cpu)
}

impl Memory for Cpu<'_> {
    fn text(&self, address: u64, max: usize) -> Option<Vec<u8>> {
        memory::peek_text(self, address, max)
    }

    fn bytes(&self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        self.read("format", address, bytes as u32).ok().map(<[u8]>::to_vec)
    }
}

/// The arguments that lie in memory.
fn arguments(cpu: &Cpu<'_>, helper: &'static str, data: u64, len: u32) -> Result<Result<Vec<u64>, Errno>, FaultReason> {
    if !len.is_multiple_of(8) || len as usize > MAX_ARGUMENTS * 8 || len > 0 && data == 0 {
        return Ok(Err(Errno::INVAL));
    }
    let bytes = memory::read(cpu, helper, data, len)?;
    let word = |b: &[u8]| u64::from_le_bytes(std::array::from_fn(|i| b[i]));
    Ok(Ok(bytes.chunks_exact(8).map(word).collect()))
}
