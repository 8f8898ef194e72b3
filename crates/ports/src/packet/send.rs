//! The ring that sends.

use super::{Tried, bind, open, request, said, set, whole_blocks};
use crate::drops::PortDrops;
use crate::mapped::Mapping;
use crate::sys::socket;
use crate::told::{self, TOLD_BYTES};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const SO_SNDBUFFORCE: libc::c_int = 32;
/// Bytes of frames under way to the kernel's other parts, with its bookkeeping.
const SENDING_BYTES: i32 = 64 << 20;
/// Where a slot's bytes begin: behind its header.
const FRAME_AT: usize = 32;

/// An open ring.
#[derive(Debug)]
pub(crate) struct SendRing {
    socket: OwnedFd,
    memory: Mapping,
    slots: usize,
    slot_bytes: usize,
    next: usize,
    /// The oldest slot that may still be with the kernel.
    oldest: usize,
    /// Slots from there on that are not known to be free.
    used: usize,
    /// Frames that the kernel was not told of.
    new: bool,
    pub drops: PortDrops,
}

impl SendRing {
    pub fn open(interface: u32, slots: u32, longest: usize) -> Tried<Self> {
        let socket = open()?;
        // A slot that cannot be sent is passed over instead of stopping the ring.
        set(&socket, libc::PACKET_LOSS, 1, "PACKET_LOSS")?;
        set(&socket, libc::PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS")?;
        let slot_bytes = (FRAME_AT + TOLD_BYTES + longest).next_power_of_two();
        let slots = whole_blocks(slots, slot_bytes);
        socket::set(&socket, libc::SOL_PACKET, libc::PACKET_TX_RING, &request(slots, slot_bytes))
            .map_err(said("PACKET_TX_RING"))?;
        let memory = Mapping::of(socket.as_fd(), 0, slots * slot_bytes).map_err(said("mapping the send ring"))?;
        let _ = socket::set(&socket, libc::SOL_SOCKET, SO_SNDBUFFORCE, &SENDING_BYTES);
        bind(&socket, interface, 0).map_err(said("bind"))?;
        let drops = PortDrops::default();
        Ok(Self { socket, memory, slots, slot_bytes, next: 0, oldest: 0, used: 0, new: false, drops })
    }

    /// Goes on to the oldest slot that is still with the kernel.
    fn reclaim(&mut self) {
        while self.used > 0 {
            match self.memory.word(self.oldest * self.slot_bytes).load(Acquire) {
                libc::TP_STATUS_AVAILABLE => {}
                libc::TP_STATUS_WRONG_FORMAT => {
                    self.drops.send_refused += 1;
                    self.memory.word(self.oldest * self.slot_bytes).store(libc::TP_STATUS_AVAILABLE, Relaxed);
                }
                _ => break,
            }
            self.oldest = (self.oldest + 1) % self.slots;
            self.used -= 1;
        }
    }

    pub fn room(&mut self) -> usize {
        self.reclaim();
        self.slots - self.used
    }

    /// The frame's length is one that [`crate::port`] lets pass.
    pub fn send(&mut self, parts: &[&[u8]], length: usize) -> bool {
        // No offloads; all of the frame is its header, so that the kernel copies it as a whole: it would point into the ring
        // otherwise, and most receivers copy that once more, in pieces.
        self.send_told(parts, length, told::all_header(length))
    }

    /// The same of a frame whose checksum from `start` on is to be completed in the field `offset` bytes behind.
    pub fn send_partial(&mut self, frame: &[u8], start: u16, offset: u16) -> bool {
        self.send_told(&[frame], frame.len(), told::partial(frame.len(), start, offset))
    }

    fn send_told(&mut self, parts: &[&[u8]], length: usize, told: [u8; TOLD_BYTES]) -> bool {
        if self.used == self.slots {
            self.reclaim();
            if self.used == self.slots {
                return false;
            }
        }
        let at = self.next * self.slot_bytes;
        self.memory.slice_mut(at + FRAME_AT, TOLD_BYTES).copy_from_slice(&told);
        let mut to = at + FRAME_AT + TOLD_BYTES;
        for part in parts {
            self.memory.slice_mut(to, part.len()).copy_from_slice(part);
            to += part.len();
        }
        self.memory.write(at + 4, (TOLD_BYTES + length) as u32);
        self.memory.word(at).store(libc::TP_STATUS_SEND_REQUEST, Release);
        self.next = (self.next + 1) % self.slots;
        self.used += 1;
        self.new = true;
        true
    }

    pub fn flush(&mut self) -> io::Result<()> {
        if !self.new {
            return Ok(());
        }
        match socket::kick_send(&self.socket) {
            Ok(_) => {
                self.new = false;
                Ok(())
            }
            // The kernel has no memory now: the next call goes on.
            Err(e) if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR)) => Ok(()),
            Err(e) => Err(e),
        }
    }
}
