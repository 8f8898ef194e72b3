//! One AF_XDP socket with memory of its own: chunks that receive, and chunks that send.
//!
//! A chunk that receives is in the fill ring, with the kernel, in the receive ring, or ours while its frame is looked at. A
//! chunk that sends is free, in the send ring, with the kernel, or in the completion ring.

use super::program::{TAG_MARK, TAG_MARK_BYTES};
use super::ring::{Consumer, Layout, Producer};
use crate::drops::PortDrops;
use crate::mapped::Mapping;
use crate::port::Meta;
use crate::sys::{self, socket};
use crate::{checksum, tag};
use libc::{SOL_SOCKET, SOL_XDP, xdp_desc, xdp_mmap_offsets, xdp_ring_offset};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

const SO_SNDBUFFORCE: libc::c_int = 32;
const SO_BUSY_POLL: libc::c_int = 46;
const SO_PREFER_BUSY_POLL: libc::c_int = 69;
const SO_BUSY_POLL_BUDGET: libc::c_int = 70;
/// Frames that one system call sends at most (since Linux 6.17); before it was 32.
const XDP_MAX_TX_SKB_BUDGET: libc::c_int = 9;
const OLD_BUDGET: u32 = 32;
/// What the kernel keeps free in front of a received frame.
const KERNEL_HEADROOM: u32 = 256;
/// Bytes of frames under way to the kernel's other parts, with its bookkeeping.
const SENDING_BYTES: i32 = 64 << 20;

/// How a socket shares memory with the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bind {
    ZeroCopy,
    Copy,
}

/// What a queue is opened with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueOptions {
    pub interface: u32,
    pub queue: u32,
    pub bind: Bind,
    /// Longest frame.
    pub longest: usize,
    /// Slots of the receive and send rings.
    pub slots: u32,
    /// Microseconds, and frames each time.
    pub busy_poll: Option<(u32, u32)>,
    /// A tag may stand in front of a frame, see [`super::program`].
    pub tags: bool,
    /// A frame may come with a checksum that is still to be completed.
    pub partial: bool,
    /// For how long a queue is waited for that another socket has.
    pub patience: Duration,
}

/// An open socket.
#[derive(Debug)]
pub(crate) struct Queue {
    // First, so that the kernel lets go of the memory before that is unmapped.
    socket: OwnedFd,
    memory: Mapping,
    receive: Consumer<xdp_desc>,
    fill: Producer<u64>,
    send: Producer<xdp_desc>,
    completion: Consumer<u64>,
    /// Chunks that may be sent from, by address.
    free: Vec<u64>,
    chunk: u32,
    /// End of the chunks that receive; behind are those that send.
    receive_end: u64,
    options: QueueOptions,
    /// The beginning of a frame of several pieces.
    pieces: Vec<u8>,
    /// Pieces are under way, and whether they are kept.
    in_pieces: Option<bool>,
    budget: u32,
    counted: libc::xdp_statistics,
    pub drops: PortDrops,
}

impl Queue {
    /// Opens a socket and binds it to its queue. Frames come once the program gives them.
    pub fn open(options: QueueOptions) -> Result<Self, (&'static str, io::Error)> {
        let said = |what| move |error| (what, error);
        let chunk = if options.longest + TAG_MARK_BYTES <= (2048 - KERNEL_HEADROOM) as usize { 2048 } else { 4096 };
        let fill_slots = options.slots * 2;
        let chunks = fill_slots + options.slots;
        let memory = Mapping::anonymous(chunks as usize * chunk as usize).map_err(said("memory for frames"))?;
        let socket = socket::open(libc::AF_XDP, libc::SOCK_RAW, 0).map_err(said("AF_XDP (needs CAP_NET_RAW)"))?;
        let register = libc::xdp_umem_reg {
            addr: memory.address(),
            len: memory.len() as u64,
            chunk_size: chunk,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        socket::set(&socket, SOL_XDP, libc::XDP_UMEM_REG, &register)
            .map_err(said("memory for the kernel (needs CAP_IPC_LOCK, or a larger `ulimit -l`)"))?;
        let size = |option, slots: u32, what| socket::set(&socket, SOL_XDP, option, &slots).map_err(said(what));
        size(libc::XDP_UMEM_FILL_RING, fill_slots, "XDP_UMEM_FILL_RING")?;
        size(libc::XDP_UMEM_COMPLETION_RING, options.slots, "XDP_UMEM_COMPLETION_RING")?;
        size(libc::XDP_RX_RING, options.slots, "XDP_RX_RING")?;
        size(libc::XDP_TX_RING, options.slots, "XDP_TX_RING")?;
        let offsets: xdp_mmap_offsets =
            socket::get(&socket, SOL_XDP, libc::XDP_MMAP_OFFSETS).map_err(said("XDP_MMAP_OFFSETS"))?;
        let ring = |page: u64, at: xdp_ring_offset, slots: u32, bytes: usize| {
            let layout = Layout {
                producer: at.producer as usize,
                consumer: at.consumer as usize,
                flags: at.flags as usize,
                descriptors: at.desc as usize,
                slots,
            };
            let length = layout.descriptors + slots as usize * bytes;
            Mapping::of(socket.as_fd(), page, length).map(|map| (map, layout)).map_err(said("mapping a ring"))
        };
        let wide = size_of::<xdp_desc>();
        let (map, layout) = ring(libc::XDP_PGOFF_RX_RING as u64, offsets.rx, options.slots, wide)?;
        let receive = Consumer::new(map, layout);
        let (map, layout) = ring(libc::XDP_PGOFF_TX_RING as u64, offsets.tx, options.slots, wide)?;
        let send = Producer::new(map, layout);
        let (map, layout) = ring(libc::XDP_UMEM_PGOFF_FILL_RING, offsets.fr, fill_slots, 8)?;
        let mut fill = Producer::new(map, layout);
        let (map, layout) = ring(libc::XDP_UMEM_PGOFF_COMPLETION_RING, offsets.cr, options.slots, 8)?;
        let completion = Consumer::new(map, layout);
        // Drivers look for chunks when the socket is bound.
        (0..fill_slots).for_each(|n| fill.push(u64::from(n) * u64::from(chunk)));
        fill.publish();
        let receive_end = u64::from(fill_slots) * u64::from(chunk);
        let free = (fill_slots..chunks).rev().map(|n| u64::from(n) * u64::from(chunk)).collect();
        let mut queue = Self {
            socket,
            memory,
            receive,
            fill,
            send,
            completion,
            free,
            chunk,
            receive_end,
            options,
            pieces: Vec::new(),
            in_pieces: None,
            budget: OLD_BUDGET,
            counted: sys::zeroed(),
            drops: PortDrops::default(),
        };
        queue.bind().map_err(said("bind"))?;
        queue.tune();
        Ok(queue)
    }

    fn bind(&self) -> io::Result<()> {
        let mut flags = libc::XDP_USE_NEED_WAKEUP;
        flags |= if self.options.bind == Bind::ZeroCopy { libc::XDP_ZEROCOPY } else { libc::XDP_COPY };
        if self.options.longest > (self.chunk - KERNEL_HEADROOM) as usize {
            flags |= libc::XDP_USE_SG;
        }
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: flags,
            sxdp_ifindex: self.options.interface,
            sxdp_queue_id: self.options.queue,
            sxdp_shared_umem_fd: 0,
        };
        // The kernel takes its time to let go of a socket that was closed.
        let begun = Instant::now();
        loop {
            match socket::bind(&self.socket, &address) {
                Err(e) if e.raw_os_error() == Some(libc::EBUSY) && begun.elapsed() < self.options.patience => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                result => return result,
            }
        }
    }

    /// What is better with, and works without.
    fn tune(&mut self) {
        let slots = self.options.slots as i32;
        if socket::set(&self.socket, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &slots).is_ok() {
            self.budget = self.options.slots;
        }
        let _ = socket::set(&self.socket, SOL_SOCKET, SO_SNDBUFFORCE, &SENDING_BYTES);
        if let Some((microseconds, frames)) = self.options.busy_poll {
            let _ = socket::set(&self.socket, SOL_SOCKET, SO_PREFER_BUSY_POLL, &1i32);
            let _ = socket::set(&self.socket, SOL_SOCKET, SO_BUSY_POLL, &(microseconds as i32));
            let _ = socket::set(&self.socket, SOL_SOCKET, SO_BUSY_POLL_BUDGET, &(frames as i32));
        }
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    pub fn receive(&mut self, most: usize, take: &mut impl FnMut(&[u8], &Meta)) -> io::Result<usize> {
        let mut given = 0;
        while given < most {
            let Some(descriptor) = self.receive.pop() else { break };
            given += usize::from(self.take_piece(descriptor, take));
        }
        self.receive.release();
        let refilled = self.fill.publish();
        if self.options.busy_poll.is_some() && given == 0 || refilled && self.fill.needs_wakeup() {
            self.tolerated(socket::kick_receive(&self.socket))?;
        }
        Ok(given)
    }

    /// Looks at one descriptor and gives its chunk back; whether a frame was given.
    fn take_piece(&mut self, descriptor: xdp_desc, take: &mut impl FnMut(&[u8], &Meta)) -> bool {
        let (address, length) = (descriptor.addr, descriptor.len as usize);
        let base = address - address % u64::from(self.chunk);
        if base >= self.receive_end || (address - base) as usize + length > self.chunk as usize {
            // Not a chunk that we gave: it is not given back, either.
            self.drops.invalid_descriptor += 1;
            return false;
        }
        let at = address as usize;
        let more = descriptor.options & libc::XDP_PKT_CONTD != 0;
        let given = if more || self.in_pieces.is_some() {
            self.add_piece(at, length, more, take)
        } else {
            self.take_whole(at, length, take)
        };
        // There are as many slots as chunks that receive.
        if self.fill.room(1) > 0 {
            self.fill.push(base);
        }
        given
    }

    fn take_whole(&mut self, mut at: usize, mut length: usize, take: &mut impl FnMut(&[u8], &Meta)) -> bool {
        if self.options.tags && at >= TAG_MARK_BYTES {
            let mark: u64 = self.memory.read(at - TAG_MARK_BYTES);
            if mark != 0 {
                // The next frame in this chunk has none unless the program writes it.
                self.memory.write(at - TAG_MARK_BYTES, 0u64);
                if (mark >> 32) as u32 == TAG_MARK && length >= tag::MACS_BYTES {
                    let frame = self.memory.slice_mut(at - tag::TAG_BYTES, length + tag::TAG_BYTES);
                    tag::insert(frame, tag::of_mark(mark));
                    at -= tag::TAG_BYTES;
                    length += tag::TAG_BYTES;
                }
            }
        }
        if length > self.options.longest {
            self.drops.receive_oversize += 1;
            return false;
        }
        if self.options.partial {
            checksum::complete(self.memory.slice_mut(at, length));
        }
        take(self.memory.slice(at, length), &Meta::default());
        true
    }

    fn add_piece(&mut self, at: usize, length: usize, more: bool, take: &mut impl FnMut(&[u8], &Meta)) -> bool {
        let keep = match self.in_pieces {
            Some(keep) => keep,
            None => {
                self.pieces.clear();
                if self.options.tags && at >= TAG_MARK_BYTES {
                    let mark: u64 = self.memory.read(at - TAG_MARK_BYTES);
                    self.memory.write(at - TAG_MARK_BYTES, 0u64);
                    if (mark >> 32) as u32 == TAG_MARK {
                        self.pieces.resize(tag::TAG_BYTES, 0);
                        self.pieces.extend_from_slice(self.memory.slice(at, length));
                        tag::insert(&mut self.pieces, tag::of_mark(mark));
                    }
                }
                if self.pieces.is_empty() {
                    self.pieces.extend_from_slice(self.memory.slice(at, length));
                }
                self.in_pieces = Some(true);
                // The first piece is there already.
                return false;
            }
        };
        let keep = keep && self.pieces.len() + length <= self.options.longest;
        if keep {
            self.pieces.extend_from_slice(self.memory.slice(at, length));
        }
        self.in_pieces = more.then_some(keep);
        if more {
            return false;
        }
        if !keep {
            self.drops.receive_oversize += 1;
            return false;
        }
        if self.options.partial {
            checksum::complete(&mut self.pieces);
        }
        take(&self.pieces, &Meta::default());
        true
    }

    /// Chunks that a frame of this length takes.
    fn chunks_of(&self, length: usize) -> u32 {
        length.div_ceil(self.chunk as usize) as u32
    }

    /// Takes back chunks that were sent.
    fn reclaim(&mut self) {
        while let Some(address) = self.completion.pop() {
            let base = address - address % u64::from(self.chunk);
            if base < self.receive_end || base >= self.memory.len() as u64 {
                self.drops.invalid_descriptor += 1;
                continue;
            }
            self.free.push(base);
        }
        self.completion.release();
    }

    pub fn room(&mut self) -> usize {
        self.reclaim();
        let room = self.send.room(self.options.slots) as usize;
        room.min(self.free.len()) / self.chunks_of(self.options.longest).max(1) as usize
    }

    /// The frame's length is one that [`crate::port`] lets pass.
    pub fn send(&mut self, parts: &[&[u8]], length: usize) -> io::Result<bool> {
        let needed = self.chunks_of(length);
        if self.free.len() < needed as usize {
            self.reclaim();
        }
        if self.free.len() < needed as usize || self.send.room(needed) < needed {
            return Ok(false);
        }
        if needed == 1 {
            let Some(address) = self.free.pop() else { return Ok(false) };
            let mut at = address as usize;
            for part in parts {
                self.memory.slice_mut(at, part.len()).copy_from_slice(part);
                at += part.len();
            }
            self.send.push(xdp_desc { addr: address, len: length as u32, options: 0 });
            return Ok(true);
        }
        let (mut part, mut from, mut left) = (0, 0, length);
        while left > 0 {
            let Some(address) = self.free.pop() else { return Ok(false) };
            let here = left.min(self.chunk as usize);
            let mut filled = 0;
            while filled < here {
                let bytes = &parts[part][from..];
                let count = bytes.len().min(here - filled);
                self.memory.slice_mut(address as usize + filled, count).copy_from_slice(&bytes[..count]);
                filled += count;
                from += count;
                if from == parts[part].len() {
                    (part, from) = (part + 1, 0);
                }
            }
            left -= here;
            let options = if left > 0 { libc::XDP_PKT_CONTD } else { 0 };
            self.send.push(xdp_desc { addr: address, len: here as u32, options });
        }
        Ok(true)
    }

    pub fn flush(&mut self) -> io::Result<()> {
        let new = self.send.publish();
        if !new && !self.send.is_waiting() || !self.send.needs_wakeup() {
            return Ok(());
        }
        // One call sends `budget` frames at most.
        for _ in 0..self.options.slots.div_ceil(self.budget) {
            self.tolerated(socket::kick_send(&self.socket))?;
            if self.budget >= self.options.slots || !self.send.is_waiting() {
                break;
            }
        }
        Ok(())
    }

    /// What the kernel may answer without anything being wrong: it is busy, or has no memory now; the next call goes on.
    fn tolerated(&self, result: io::Result<usize>) -> io::Result<()> {
        match result {
            Err(e) if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EBUSY | libc::ENOBUFS | libc::EINTR)) => {
                Ok(())
            }
            result => result.map(drop),
        }
    }

    /// Reads what the kernel has counted since the last time.
    pub fn count_drops(&mut self) {
        let Ok(now) = socket::get::<libc::xdp_statistics>(&self.socket, SOL_XDP, libc::XDP_STATISTICS) else { return };
        let before = std::mem::replace(&mut self.counted, now);
        self.drops.receive_ring_full += now.rx_ring_full - before.rx_ring_full;
        self.drops.fill_ring_empty += now.rx_fill_ring_empty_descs - before.rx_fill_ring_empty_descs;
        self.drops.receive_other += now.rx_dropped - before.rx_dropped;
        let invalid = now.rx_invalid_descs + now.tx_invalid_descs - before.rx_invalid_descs - before.tx_invalid_descs;
        self.drops.invalid_descriptor += invalid;
    }
}
