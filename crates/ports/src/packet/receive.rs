//! The ring that receives.

use super::{NEEDS_CHECKSUM, Tried, VNET_BYTES, bind, open, request, said, set, whole_blocks};
use crate::drops::PortDrops;
use crate::mapped::Mapping;
use crate::port::Meta;
use crate::sys::socket;
use crate::{checksum, tag};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering::{Acquire, Release};

/// Bytes kept free in front of a frame, beside what the kernel does itself: for a tag. A multiple of 16.
const RESERVE_BYTES: usize = 16;
/// Bytes of a slot in front of its frame, at most: its header, an address, what is told of the frame, the reserve.
const FRONT_BYTES: usize = 80 + VNET_BYTES + RESERVE_BYTES;

/// An open ring.
#[derive(Debug)]
pub(crate) struct ReceiveRing {
    socket: OwnedFd,
    memory: Mapping,
    slots: usize,
    slot_bytes: usize,
    next: usize,
    longest: usize,
    pub drops: PortDrops,
}

impl ReceiveRing {
    /// Opens a ring and binds it to its interface. With a group, the group's rings share the interface's flows.
    pub fn open(interface: u32, slots: u32, longest: usize) -> Tried<Self> {
        let socket = open()?;
        set(&socket, libc::PACKET_RESERVE, RESERVE_BYTES as i32, "PACKET_RESERVE")?;
        set(&socket, libc::PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING")?;
        let slot_bytes = (FRONT_BYTES + longest).next_power_of_two();
        let slots = whole_blocks(slots, slot_bytes);
        socket::set(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request(slots, slot_bytes))
            .map_err(said("PACKET_RX_RING"))?;
        let memory = Mapping::of(socket.as_fd(), 0, slots * slot_bytes).map_err(said("mapping the receive ring"))?;
        bind(&socket, interface, libc::ETH_P_ALL as u16).map_err(said("bind"))?;
        Ok(Self { socket, memory, slots, slot_bytes, next: 0, longest, drops: PortDrops::default() })
    }

    /// Joins the group, or makes one where none is given; its number.
    pub fn join(&self, group: Option<u16>) -> Tried<u16> {
        let hash = libc::PACKET_FANOUT_HASH;
        let kind = if group.is_some() { hash } else { hash | libc::PACKET_FANOUT_FLAG_UNIQUEID };
        let value = u32::from(group.unwrap_or(0)) | kind << 16;
        socket::set(&self.socket, libc::SOL_PACKET, libc::PACKET_FANOUT, &value).map_err(said("PACKET_FANOUT"))?;
        let made: u32 = socket::get(&self.socket, libc::SOL_PACKET, libc::PACKET_FANOUT).map_err(said("PACKET_FANOUT"))?;
        Ok(made as u16)
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    pub fn receive(&mut self, most: usize, take: &mut impl FnMut(&[u8], &Meta)) -> usize {
        let mut given = 0;
        while given < most {
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

    /// Looks at a slot; whether its frame was given.
    fn take(&mut self, at: usize, status: u32, take: &mut impl FnMut(&[u8], &Meta)) -> bool {
        let header: libc::tpacket2_hdr = self.memory.read(at);
        let (mac, length) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        if mac < VNET_BYTES || mac + length > self.slot_bytes {
            self.drops.invalid_descriptor += 1;
            return false;
        }
        if header.tp_len > header.tp_snaplen || length > self.longest {
            self.drops.receive_oversize += 1;
            return false;
        }
        let (mut begin, mut length) = (at + mac, length);
        // flags, kind of merging, its header's bytes, its size, then where the checksum begins and its field behind that.
        let told = self.memory.slice(begin - VNET_BYTES, VNET_BYTES);
        let (flags, start, offset) =
            (told[0], u16::from_ne_bytes([told[6], told[7]]), u16::from_ne_bytes([told[8], told[9]]));
        if flags & NEEDS_CHECKSUM != 0 {
            checksum::complete_at(self.memory.slice_mut(begin, length), start.into(), offset.into());
        }
        if status & libc::TP_STATUS_VLAN_VALID != 0 && length >= tag::MACS_BYTES {
            let kind = (status & libc::TP_STATUS_VLAN_TPID_VALID != 0).then_some(header.tp_vlan_tpid);
            begin -= tag::TAG_BYTES;
            length += tag::TAG_BYTES;
            tag::insert(self.memory.slice_mut(begin, length), tag::bytes(kind, header.tp_vlan_tci));
        }
        let stamp_ns = u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec);
        take(self.memory.slice(begin, length), &Meta { stamp_ns });
        true
    }

    /// Reads what the kernel has counted since the last time.
    pub fn count_drops(&mut self) {
        let statistics = socket::get::<libc::tpacket_stats>(&self.socket, libc::SOL_PACKET, libc::PACKET_STATISTICS);
        self.drops.receive_ring_full += statistics.map_or(0, |s| u64::from(s.tp_drops));
    }
}
