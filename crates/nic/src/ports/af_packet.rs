//! Interfaces of the machine through AF_PACKET.
//!
//! The kernel takes the outer VLAN tag out of a received frame and hands it over beside it
//! (`PACKET_AUXDATA`). The kept crates for AF_PACKET do not ask for it, and a NIC that tells its
//! tenants apart by VLAN cannot do without: hence these few system calls, and nothing else here.

use super::claim::Claim;
use super::{Input, LinkState, PortError, Received, Sink, Source};
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{SystemTime, UNIX_EPOCH};

/// The largest frame that the kernel may have merged.
const BUFFER_BYTES: usize = 65_536 + 64;
/// Frames that wait for the NIC, with the kernel's bookkeeping: a millisecond of 100 Gbit/s.
const WAITING_BYTES: libc::c_int = 16 << 20;
/// Bytes before the tag's place.
const MACS_BYTES: usize = 12;

/// One interface, opened for all frames both ways, without waiting.
#[derive(Debug)]
pub struct PacketSocket {
    socket: File,
    name: String,
    buffer: Vec<u8>,
    /// Nobody else's NIC has the interface.
    _claim: Claim,
}

impl PacketSocket {
    /// Opens an interface: promiscuous, tags kept, own frames not heard.
    pub fn open(name: &str) -> Result<Self, PortError> {
        let failed = |what| {
            let name = name.to_owned();
            move |error| PortError::Interface { name, what, error }
        };
        let index = interface_index(name).map_err(failed("is not there"))?;
        let claim = Claim::take(index).map_err(failed("claim"))?;
        let claim = claim.ok_or_else(|| PortError::Taken { name: name.to_owned() })?;
        let socket = open_socket().map_err(failed("AF_PACKET (needs CAP_NET_RAW)"))?;
        let one: libc::c_int = 1;
        set_option(&socket, libc::PACKET_AUXDATA, &one).map_err(failed("PACKET_AUXDATA"))?;
        set_option(&socket, libc::PACKET_IGNORE_OUTGOING, &one).map_err(failed("PACKET_IGNORE_OUTGOING"))?;
        // The larger one needs CAP_NET_ADMIN; without, the system's limit holds.
        set_buffer(&socket, libc::SO_RCVBUFFORCE)
            .or_else(|_| set_buffer(&socket, libc::SO_RCVBUF))
            .map_err(failed("SO_RCVBUF"))?;
        bind(&socket, index).map_err(failed("bind"))?;
        // SAFETY: the struct is plain numbers, for which all zeros is a value.
        let mut membership: libc::packet_mreq = unsafe { zeroed() };
        membership.mr_ifindex = index;
        membership.mr_type = libc::PACKET_MR_PROMISC as libc::c_ushort;
        set_option(&socket, libc::PACKET_ADD_MEMBERSHIP, &membership).map_err(failed("promiscuous mode"))?;
        Ok(Self { socket: File::from(socket), name: name.to_owned(), buffer: vec![0; BUFFER_BYTES], _claim: claim })
    }

    fn failed(&self, what: &'static str, error: io::Error) -> PortError {
        PortError::Interface { name: self.name.clone(), what, error }
    }

    /// One received frame with its tag put back.
    fn receive(&mut self) -> io::Result<Vec<u8>> {
        self.buffer.resize(BUFFER_BYTES, 0);
        let (length, tag) = receive_message(&self.socket, &mut self.buffer)?;
        let bytes = &self.buffer[..length];
        Ok(match tag {
            Some(tag) if length >= MACS_BYTES => [&bytes[..MACS_BYTES], &tag, &bytes[MACS_BYTES..]].concat(),
            _ => bytes.to_vec(),
        })
    }
}

impl Source for PacketSocket {
    fn next(&mut self) -> Result<Input, PortError> {
        match self.receive() {
            Ok(bytes) => Ok(Input::Packet(Received { bytes, stamp_ns: now_ns() })),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(Input::Later),
            // The interface went down: it may come up again.
            Err(e) if e.raw_os_error() == Some(libc::ENETDOWN) => Ok(Input::Later),
            Err(e) => Err(self.failed("receive", e)),
        }
    }

    fn missed(&mut self) -> u64 {
        statistics(&self.socket).map_or(0, |s| s.tp_drops.into())
    }
}

impl Sink for PacketSocket {
    fn send(&mut self, bytes: &[u8], _stamp_ns: u64) -> Result<bool, PortError> {
        match self.socket.write(bytes) {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(false),
            // No buffer, down, or longer than its MTU: this frame is lost, the interface goes on.
            Err(e) if matches!(e.raw_os_error(), Some(libc::ENOBUFS | libc::ENETDOWN | libc::EMSGSIZE)) => Ok(false),
            Err(e) => Err(self.failed("send", e)),
        }
    }
}

/// Nanoseconds since 1970.
pub(super) fn now_ns() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_nanos() as u64)
}

/// The result of a system call that answers -1 on failure.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn interface_index(name: &str) -> io::Result<libc::c_int> {
    let name = CString::new(name).map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))?;
    // SAFETY: the pointer is to a string that ends with a zero byte and lives past the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index as libc::c_int),
    }
}

/// What an interface is now, with its index where it is there.
pub(super) fn interface_state(name: &str) -> (LinkState, Option<u32>) {
    let Ok(index) = interface_index(name) else { return (LinkState::Gone, None) };
    match interface_flags(name) {
        Ok(flags) if flags & libc::IFF_UP != 0 => (LinkState::Up, Some(index as u32)),
        Ok(_) => (LinkState::Down, Some(index as u32)),
        // Deleted between the two questions.
        Err(_) => (LinkState::Gone, None),
    }
}

fn interface_flags(name: &str) -> io::Result<libc::c_int> {
    // Any socket may ask.
    // SAFETY: takes numbers only.
    let fd = checked(unsafe { libc::socket(libc::AF_UNIX, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: the descriptor is new and nobody else's.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: the struct is plain numbers, for which all zeros is a value.
    let mut request: libc::ifreq = unsafe { zeroed() };
    // The last byte stays zero.
    for (to, from) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    // SAFETY: the pointer is to a live struct of the kind that this request fills.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS as _, &raw mut request) })?;
    // SAFETY: the kernel has filled this member of the union.
    Ok(libc::c_int::from(unsafe { request.ifr_ifru.ifru_flags }))
}

fn open_socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // Protocol 0: nothing is received before the socket is bound to its interface.
    // SAFETY: takes numbers only.
    let fd = checked(unsafe { libc::socket(libc::AF_PACKET, kind, 0) })?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn set_option<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    let (pointer, length) = (std::ptr::from_ref(value).cast(), size_of::<T>() as libc::socklen_t);
    // SAFETY: pointer and length are those of a live value that the kernel only reads.
    checked(unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_PACKET, option, pointer, length) }).map(drop)
}

fn set_buffer(socket: &OwnedFd, option: libc::c_int) -> io::Result<()> {
    let (pointer, length) = (std::ptr::from_ref(&WAITING_BYTES).cast(), size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: pointer and length are those of a constant that the kernel only reads.
    checked(unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, pointer, length) }).map(drop)
}

/// Packets since the last call.
fn statistics(socket: &File) -> io::Result<libc::tpacket_stats> {
    // SAFETY: the struct is plain numbers, for which all zeros is a value.
    let mut statistics: libc::tpacket_stats = unsafe { zeroed() };
    let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    let pointer = (&raw mut statistics).cast();
    let option = libc::PACKET_STATISTICS;
    // SAFETY: the pointer is to a live struct of the length that the kernel is told.
    checked(unsafe { libc::getsockopt(socket.as_raw_fd(), libc::SOL_PACKET, option, pointer, &raw mut length) })?;
    Ok(statistics)
}

fn bind(socket: &OwnedFd, index: libc::c_int) -> io::Result<()> {
    // SAFETY: the struct is plain numbers, for which all zeros is a value.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as libc::c_ushort;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index;
    let (pointer, length) = (std::ptr::from_ref(&address).cast(), size_of::<libc::sockaddr_ll>() as libc::socklen_t);
    // SAFETY: pointer and length are those of a live address that the kernel only reads.
    checked(unsafe { libc::bind(socket.as_raw_fd(), pointer, length) }).map(drop)
}

/// Length of the frame in `buffer`, and the four bytes of the tag that the kernel took out.
fn receive_message(socket: &File, buffer: &mut [u8]) -> io::Result<(usize, Option<[u8; 4]>)> {
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // Words, so that the control messages are aligned.
    let mut control = [0u64; 16];
    // SAFETY: the struct is numbers and pointers, for which all zeros is a value.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: every pointer in the message is to memory of the length given with it, which
    // nothing else uses during the call.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    if length < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut tag = None;
    // SAFETY: the kernel has filled the message; the macros walk within its control length.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    while !header.is_null() {
        // SAFETY: the header lies within the control buffer, which is aligned for it.
        let (level, kind, size) = unsafe { ((*header).cmsg_level, (*header).cmsg_type, (*header).cmsg_len) };
        let needed = size_of::<libc::cmsghdr>() + size_of::<libc::tpacket_auxdata>();
        if level == libc::SOL_PACKET && kind == libc::PACKET_AUXDATA && size >= needed {
            // SAFETY: the message is long enough for the struct; it may be unaligned.
            let data = unsafe { libc::CMSG_DATA(header).cast::<libc::tpacket_auxdata>().read_unaligned() };
            if data.tp_status & libc::TP_STATUS_VLAN_VALID != 0 {
                let has_type = data.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
                let ethertype = if has_type { data.tp_vlan_tpid } else { sluice_formats::limits::VLAN_ETHERTYPE };
                let ([a, b], [c, d]) = (ethertype.to_be_bytes(), data.tp_vlan_tci.to_be_bytes());
                tag = Some([a, b, c, d]);
            }
        }
        // SAFETY: as above.
        header = unsafe { libc::CMSG_NXTHDR(&raw const message, header) };
    }
    Ok((length as usize, tag))
}
