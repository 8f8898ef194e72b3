//! `xdp_adjust_head`, `xdp_adjust_tail`, `xdp_adjust_meta`: the packet's bounds move.

use super::held::context;
use super::{Arg, Helper, Ret};
use crate::map::Class;
use crate::vm::{Cpu, RESERVED};
use crate::{Errno, FaultReason};

/// `long bpf_xdp_adjust_head(ctx, delta)`.
pub const ADJUST_HEAD: Helper = Helper {
    id: 44,
    name: "xdp_adjust_head",
    args: &[Arg::Context, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: true,
    run: adjust_head,
};

/// `long bpf_xdp_adjust_meta(ctx, delta)`.
pub const ADJUST_META: Helper = Helper {
    id: 54,
    name: "xdp_adjust_meta",
    args: &[Arg::Context, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: true,
    run: adjust_meta,
};

/// `long bpf_xdp_adjust_tail(ctx, delta)`.
pub const ADJUST_TAIL: Helper = Helper {
    id: 65,
    name: "xdp_adjust_tail",
    args: &[Arg::Context, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: true,
    run: adjust_tail,
};

/// Shortest frame that is left: an Ethernet header.
const MIN_FRAME: i64 = 14;
/// Most metadata: what the kernel's 8-bit `meta_len` holds, of which only multiples of 4 are taken.
const MAX_META: i64 = 255;

fn adjust_head(cpu: &mut Cpu<'_>, [ctx, delta, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    context(ADJUST_HEAD.name, 1, ctx)?;
    let packet = &mut *cpu.packet;
    let delta = i64::from(delta as i32);
    let (meta, data, end) = (packet.meta(), packet.data(), packet.end());
    let moved = i64::from(data) + delta;
    if moved < i64::from(RESERVED + data - meta) || moved > i64::from(end) - MIN_FRAME {
        return Ok(Errno::INVAL.result());
    }
    // What the tenant has not paid for there is no room for either.
    if delta < 0 && i64::from(end) - moved > i64::from(packet.most()) {
        return Ok(Errno::INVAL.result());
    }
    let (moved, moved_meta) = (moved as u32, (i64::from(meta) + delta) as u32);
    // Metadata stays in front of the frame.
    packet.set_bounds(meta.min(moved_meta), data, end);
    let low = meta.min(moved_meta);
    let metadata = (meta - low) as usize..(data - low) as usize;
    packet.bytes_mut().copy_within(metadata, (moved_meta - low) as usize);
    packet.set_bounds(moved_meta, moved, end);
    Ok(0)
}

fn adjust_meta(cpu: &mut Cpu<'_>, [ctx, delta, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    context(ADJUST_META.name, 1, ctx)?;
    let packet = &mut *cpu.packet;
    let (meta, data) = (i64::from(packet.meta()) + i64::from(delta as i32), i64::from(packet.data()));
    if meta < i64::from(RESERVED) || meta > data {
        return Ok(Errno::INVAL.result());
    }
    if (data - meta) % 4 != 0 || data - meta > MAX_META {
        return Ok(Errno::ACCES.result());
    }
    packet.set_bounds(meta as u32, packet.data(), packet.end());
    Ok(0)
}

fn adjust_tail(cpu: &mut Cpu<'_>, [ctx, delta, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    context(ADJUST_TAIL.name, 1, ctx)?;
    let packet = &mut *cpu.packet;
    let (data, end) = (i64::from(packet.data()), i64::from(packet.end()));
    let moved = end + i64::from(delta as i32);
    // A frame that came longer than the limit keeps its length or shrinks.
    let most = i64::from(packet.limit()).min(data + i64::from(packet.most()));
    if moved > end.max(most) || moved < data + MIN_FRAME {
        return Ok(Errno::INVAL.result());
    }
    // Bytes that come into view are zero.
    packet.set_bounds(packet.meta(), packet.data(), moved as u32);
    Ok(0)
}
