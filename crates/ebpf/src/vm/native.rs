//! A run for machine code: where packet, stack and counts lie in the host's memory.
//!
//! Nothing here reads or writes by itself: pointers and offsets are given to who does, and who takes on the interpreter's
//! bounds with them. What no bound proves goes through [`Cpu::load_bytes`] and its like.

use super::{Cpu, Ingress, Packet};
use crate::address::{PACKET, STACK, STACK_BYTES};
use crate::{FaultReason, World};
use std::mem::offset_of;

/// Offset of the pointer to the packet in a [`Cpu`].
pub const CPU_PACKET: usize = offset_of!(Cpu<'static>, packet);
/// Offset of the pointer to the world.
pub const CPU_WORLD: usize = offset_of!(Cpu<'static>, world);
/// Offset of executed instructions, 64 bits.
pub const CPU_INSTRUCTIONS: usize = offset_of!(Cpu<'static>, instructions);
/// Offset of taken back edges and calls, 64 bits.
pub const CPU_WORK: usize = offset_of!(Cpu<'static>, work);
/// Offset of their bound, 64 bits.
pub const CPU_LIMIT: usize = offset_of!(Cpu<'static>, limit);
/// Offset of `ingress_ifindex`, 32 bits.
pub const CPU_IFINDEX: usize = offset_of!(Cpu<'static>, ingress) + offset_of!(Ingress, ifindex);
/// Offset of `rx_queue_index`, 32 bits.
pub const CPU_QUEUE: usize = offset_of!(Cpu<'static>, ingress) + offset_of!(Ingress, queue);
/// Offset of r0 in a [`Cpu`]; each register has 64 bits.
pub const CPU_REGISTERS: usize = offset_of!(Cpu<'static>, registers);
/// Offsets of the bounds in a [`Packet`], 32 bits each, counted from the buffer's start.
pub const PACKET_META: usize = offset_of!(Packet, meta);
/// First byte of the frame.
pub const PACKET_DATA: usize = offset_of!(Packet, data);
/// One past its last byte.
pub const PACKET_END: usize = offset_of!(Packet, end);
/// Offset of the time in the world, 64 bits.
pub const WORLD_NOW: usize = offset_of!(World, now_ns);
/// Offset of the processor, 32 bits.
pub const WORLD_CPU: usize = offset_of!(World, cpu);

/// What a run has in the host's memory. Good until the run ends: no helper moves the buffer or the stack.
#[derive(Clone, Copy, Debug)]
pub struct Native {
    /// What is added to a packet's device address.
    pub packet: u64,
    /// What is added to an address of the stack.
    pub stack: u64,
    /// Lowest byte written, by frame: whoever writes to a frame keeps it, so that the frame is cleared.
    pub low: *mut u16,
}

impl Cpu<'_> {
    /// Where this run's memory lies.
    #[inline]
    pub fn native(&mut self) -> Native {
        Native {
            packet: (self.packet.buffer_mut().as_mut_ptr() as u64).wrapping_sub(PACKET.into()),
            stack: (self.stack.memory.as_mut_ptr() as u64).wrapping_sub(STACK.into()),
            low: self.stack.low.as_mut_ptr(),
        }
    }

    /// What no other program of this process has, nor had: that of the program that runs.
    #[inline]
    pub fn stamp(&self) -> u64 {
        self.programs.get(self.program as usize).and_then(Option::as_ref).map_or(0, |loaded| loaded.stamp)
    }

    /// The frame that runs may be written from so many bytes below its end.
    #[inline]
    pub fn may_write_stack(&mut self, below: u16) {
        let frame = self.stack.frame;
        let low = &mut self.stack.low[frame];
        *low = (*low).min((STACK_BYTES as u16).saturating_sub(below));
    }

    /// Opens the next frame for machine code, which keeps its caller's registers itself.
    #[inline]
    pub fn enter_native(&mut self) -> Result<(), FaultReason> {
        self.enter(0)
    }

    /// Closes the frame, whatever program it ended in.
    #[inline]
    pub fn leave_native(&mut self) {
        self.leave();
    }

    /// Whether nothing is held that a program's end asks about.
    #[inline]
    pub fn holds_nothing(&self) -> bool {
        self.held.is_empty()
    }

    /// What a program's end asks of what it holds.
    #[inline]
    pub fn at_exit(&self) -> Result<(), FaultReason> {
        self.held.at_exit()
    }
}
