//! The ring that receives.

use super::{Tried, bind, open, request, said, set, whole_blocks};
use crate::drops::PortDrops;
use crate::mapped::Mapping;
use crate::port::Meta;
use crate::segments::Segments;
use crate::sys::socket;
use crate::told::{TOLD_BYTES, Told};
use crate::{checksum, tag};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering::{Acquire, Release};

/// Bytes kept free in front of a frame, beside what the kernel does itself: for a tag. A multiple of 16.
const RESERVE_BYTES: usize = 16;
/// Bytes of a slot in front of its frame, at most: its header, an address, what is told of the frame, the reserve.
const FRONT_BYTES: usize = 80 + TOLD_BYTES + RESERVE_BYTES;

/// Bytes of the largest packet that the kernel has, with what is told of it.
const LARGE_BYTES: usize = TOLD_BYTES + 65_536 + 64;
/// Bytes of large packets that wait beside the ring.
const LARGE_WAITING_BYTES: i32 = 16 << 20;

/// An open ring.
#[derive(Debug)]
pub(crate) struct ReceiveRing {
    socket: OwnedFd,
    memory: Mapping,
    slots: usize,
    slot_bytes: usize,
    next: usize,
    longest: usize,
    /// A large packet as it came.
    large: Vec<u8>,
    /// What is left of one, with its tag and stamp.
    segments: Segments,
    segment_tag: Option<[u8; tag::TAG_BYTES]>,
    segment_meta: Meta,
    /// A segment with its tag.
    tagged: Vec<u8>,
    pub drops: PortDrops,
}

impl ReceiveRing {
    /// Opens a ring and binds it to its interface.
    pub fn open(interface: u32, slots: u32, longest: usize) -> Tried<Self> {
        let socket = open()?;
        set(&socket, libc::PACKET_RESERVE, RESERVE_BYTES as i32, "PACKET_RESERVE")?;
        set(&socket, libc::PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING")?;
        // What is larger than a slot comes by the socket as well: slots need not be as large as the largest packet is.
        set(&socket, libc::PACKET_COPY_THRESH, 1, "PACKET_COPY_THRESH")?;
        // The larger one needs CAP_NET_ADMIN; without, the system's limit holds.
        let _ = socket::set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &LARGE_WAITING_BYTES)
            .or_else(|_| socket::set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &LARGE_WAITING_BYTES));
        let slot_bytes = (FRONT_BYTES + longest).next_power_of_two();
        let slots = whole_blocks(slots, slot_bytes);
        socket::set(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request(slots, slot_bytes))
            .map_err(said("PACKET_RX_RING"))?;
        let memory = Mapping::of(socket.as_fd(), 0, slots * slot_bytes).map_err(said("mapping the receive ring"))?;
        bind(&socket, interface, libc::ETH_P_ALL as u16).map_err(said("bind"))?;
        Ok(Self {
            socket,
            memory,
            slots,
            slot_bytes,
            next: 0,
            longest,
            large: vec![0; LARGE_BYTES],
            segments: Segments::default(),
            segment_tag: None,
            segment_meta: Meta::default(),
            tagged: Vec::new(),
            drops: PortDrops::default(),
        })
    }

    /// Joins the group whose rings share the interface's flows, or makes one where none is given; its number.
    pub fn join(&self, group: Option<u16>) -> Tried<u16> {
        let hash = libc::PACKET_FANOUT_HASH;
        let kind = if group.is_some() { hash } else { hash | libc::PACKET_FANOUT_FLAG_UNIQUEID };
        let value = u32::from(group.unwrap_or(0)) | kind << 16;
        socket::set(&self.socket, libc::SOL_PACKET, libc::PACKET_FANOUT, &value).map_err(said("PACKET_FANOUT"))?;
        let made: u32 =
            socket::get(&self.socket, libc::SOL_PACKET, libc::PACKET_FANOUT).map_err(said("PACKET_FANOUT"))?;
        Ok(made as u16)
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    pub fn receive(&mut self, most: usize, take: &mut impl FnMut(&[u8], &Meta)) -> usize {
        let mut given = 0;
        while given < most {
            if !self.segments.is_empty() {
                given += usize::from(self.take_segment(take));
                continue;
            }
            let at = self.next * self.slot_bytes;
            let status = self.memory.word(at).load(Acquire);
            if status & libc::TP_STATUS_USER == 0 {
                break;
            }
            given += usize::from(self.take(at, status, take));
            self.memory.word(at).store(libc::TP_STATUS_KERNEL, Release);
            self.next = (self.next + 1) % self.slots;
        }
        given
    }

    /// Gives the next segment of a large packet; whether there was one.
    fn take_segment(&mut self, take: &mut impl FnMut(&[u8], &Meta)) -> bool {
        let Some(segment) = self.segments.cut() else { return false };
        let tag_bytes = self.segment_tag.map_or(0, |tag| tag.len());
        if segment.len() + tag_bytes > self.longest {
            self.drops.receive_oversize += 1;
            return false;
        }
        let Some(tag) = self.segment_tag else {
            take(segment, &self.segment_meta);
            return true;
        };
        self.tagged.clear();
        self.tagged.extend_from_slice(&[0; tag::TAG_BYTES]);
        self.tagged.extend_from_slice(segment);
        tag::insert(&mut self.tagged, tag);
        take(&self.tagged, &self.segment_meta);
        true
    }

    /// Looks at a slot; whether its frame was given. Of a large packet the segments come afterwards.
    fn take(&mut self, at: usize, status: u32, take: &mut impl FnMut(&[u8], &Meta)) -> bool {
        let header: libc::tpacket2_hdr = self.memory.read(at);
        let (mac, mut length) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        if mac < TOLD_BYTES || mac + length > self.slot_bytes {
            self.drops.invalid_descriptor += 1;
            return false;
        }
        let mut begin = at + mac;
        let told = Told::of(self.memory.slice(begin - TOLD_BYTES, TOLD_BYTES));
        let kind = (status & libc::TP_STATUS_VLAN_TPID_VALID != 0).then_some(header.tp_vlan_tpid);
        let tag = (status & libc::TP_STATUS_VLAN_VALID != 0).then(|| tag::bytes(kind, header.tp_vlan_tci));
        let stamp_ns = u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec);
        let meta = Meta { stamp_ns };
        let is_cut_off = header.tp_len > header.tp_snaplen;
        if is_cut_off || length > self.longest {
            let is_taken = if !is_cut_off {
                let whole = self.memory.slice(begin, length);
                self.segments.take(whole, told.merged, told.size, told.start)
            } else {
                status & libc::TP_STATUS_COPY != 0 && self.take_large(begin, length)
            };
            (self.segment_tag, self.segment_meta) = (tag, meta);
            self.drops.receive_oversize += u64::from(!is_taken);
            return false;
        }
        if let Some((start, offset)) = told.checksum {
            checksum::complete_at(self.memory.slice_mut(begin, length), start, offset);
        }
        if let Some(tag) = tag
            && length >= tag::MACS_BYTES
        {
            begin -= tag::TAG_BYTES;
            length += tag::TAG_BYTES;
            tag::insert(self.memory.slice_mut(begin, length), tag);
        }
        take(self.memory.slice(begin, length), &meta);
        true
    }

    /// Reads a packet that is larger than a slot, whose beginning the slot has, from the socket; whether it is one that can
    /// be cut.
    fn take_large(&mut self, begin: usize, length: usize) -> bool {
        let Ok(count @ TOLD_BYTES..) = socket::read(&self.socket, &mut self.large) else { return false };
        let (told, packet) = self.large[..count].split_at(TOLD_BYTES);
        // Slot and packet belong together by their order. The tag is the slot's: it must not get to another's packet.
        if packet.get(..length) != Some(self.memory.slice(begin, length)) {
            return false;
        }
        let told = Told::of(told);
        self.segments.take(packet, told.merged, told.size, told.start)
    }

    /// Reads what the kernel has counted since the last time.
    pub fn count_drops(&mut self) {
        let statistics = socket::get::<libc::tpacket_stats>(&self.socket, libc::SOL_PACKET, libc::PACKET_STATISTICS);
        self.drops.receive_ring_full += statistics.map_or(0, |s| u64::from(s.tp_drops));
    }
}
