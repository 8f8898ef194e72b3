//! AF_PACKET: rings of slots that the kernel copies received frames into, and frames to be sent from.

mod receive;
mod send;

pub(crate) use receive::ReceiveRing;
pub(crate) use send::SendRing;

use crate::sys::{self, socket};
use std::io;
use std::os::fd::OwnedFd;

/// Least bytes of a block, which holds slots.
const BLOCK_BYTES: usize = 1 << 16;

/// What can go wrong, by what was tried.
pub(crate) type Tried<T> = Result<T, (&'static str, io::Error)>;

fn said(what: &'static str) -> impl Fn(io::Error) -> (&'static str, io::Error) {
    move |error| (what, error)
}

/// A socket whose rings have the second version's slots: they are told one by one, not in blocks after a time.
fn open() -> Tried<OwnedFd> {
    // Protocol 0: nothing is received before the socket is bound to its interface.
    let socket = socket::open(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(said("AF_PACKET (needs CAP_NET_RAW)"))?;
    set(&socket, libc::PACKET_VERSION, libc::tpacket_versions::TPACKET_V2 as i32, "TPACKET_V2")?;
    set(&socket, libc::PACKET_VNET_HDR, 1, "PACKET_VNET_HDR")?;
    Ok(socket)
}

fn set(socket: &OwnedFd, option: libc::c_int, value: i32, what: &'static str) -> Tried<()> {
    socket::set(socket, libc::SOL_PACKET, option, &value).map_err(said(what))
}

/// What a ring of so many slots of so many bytes is asked for with.
fn request(slots: usize, slot_bytes: usize) -> libc::tpacket_req {
    let block = slot_bytes.max(BLOCK_BYTES);
    libc::tpacket_req {
        tp_block_size: block as u32,
        tp_block_nr: (slots * slot_bytes / block) as u32,
        tp_frame_size: slot_bytes as u32,
        tp_frame_nr: slots as u32,
    }
}

/// A power of two of slots that fill blocks.
fn whole_blocks(slots: u32, slot_bytes: usize) -> usize {
    (slots as usize).next_power_of_two().max(BLOCK_BYTES.div_ceil(slot_bytes))
}

fn bind(socket: &OwnedFd, interface: u32, protocol: u16) -> io::Result<()> {
    let mut address: libc::sockaddr_ll = sys::zeroed();
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = interface as i32;
    socket::bind(socket, &address)
}

/// A socket that keeps an interface promiscuous and receives nothing.
pub(crate) fn promiscuous(interface: u32) -> Tried<OwnedFd> {
    let socket = socket::open(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(said("AF_PACKET (needs CAP_NET_RAW)"))?;
    let mut membership: libc::packet_mreq = sys::zeroed();
    membership.mr_ifindex = interface as i32;
    membership.mr_type = libc::PACKET_MR_PROMISC as u16;
    socket::set(&socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership)
        .map_err(said("promiscuous mode"))?;
    Ok(socket)
}
