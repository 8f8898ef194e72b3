//! Questions about interfaces, and the few things set there: ioctl(2).

use super::{checked, socket};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The part of `struct ifreq` behind the name, large enough for each of its kinds.
#[repr(C, align(8))]
struct Request<T: Copy> {
    name: [u8; libc::IFNAMSIZ],
    value: T,
    rest: [u64; 3],
}

fn request<T: Copy>(name: &str, value: T) -> io::Result<Request<T>> {
    let mut request = Request { name: [0; libc::IFNAMSIZ], value, rest: [0; 3] };
    // The last byte stays zero.
    if name.len() >= libc::IFNAMSIZ || name.bytes().any(|b| b == 0) {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    Ok(request)
}

fn call<T: Copy>(fd: &OwnedFd, code: libc::Ioctl, request: &mut Request<T>) -> io::Result<()> {
    // SAFETY: the request is at least as large as a `struct ifreq`, and live; where it holds an address (ethtool), that
    // is of a struct of the caller in this module which lives past the call.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), code, std::ptr::from_mut(request)) }).map(drop)
}

/// Asks about an interface by name.
fn ask<T: Copy>(name: &str, code: libc::Ioctl, value: T) -> io::Result<T> {
    let mut request = request(name, value)?;
    call(&socket::open(libc::AF_UNIX, libc::SOCK_DGRAM, 0)?, code, &mut request)?;
    Ok(request.value)
}

/// Its index.
pub fn index(name: &str) -> io::Result<u32> {
    ask(name, libc::SIOCGIFINDEX, 0i32).map(|index| index as u32)
}

/// Its flags (`IFF_*`).
pub fn flags(name: &str) -> io::Result<i32> {
    ask(name, libc::SIOCGIFFLAGS, 0i16).map(i32::from)
}

/// Whether its frames begin with an Ethernet header.
pub fn is_ethernet(name: &str) -> io::Result<bool> {
    let address: [u16; 8] = ask(name, libc::SIOCGIFHWADDR, [0; 8])?;
    Ok(matches!(address[0], libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK))
}

/// Sets it up.
pub fn set_up(name: &str) -> io::Result<()> {
    let flags = flags(name)? as i16;
    ask(name, libc::SIOCSIFFLAGS, flags | libc::IFF_UP as i16).map(drop)
}

/// Its MTU.
pub fn mtu(name: &str) -> io::Result<u32> {
    ask(name, libc::SIOCGIFMTU, 0i32).map(|mtu| mtu as u32)
}

/// Sets its MTU.
pub fn set_mtu(name: &str, mtu: u32) -> io::Result<()> {
    ask(name, libc::SIOCSIFMTU, mtu as i32).map(drop)
}

fn ethtool<T>(name: &str, value: &mut T) -> io::Result<()> {
    ask(name, libc::SIOCETHTOOL, std::ptr::from_mut(value) as u64).map(drop)
}

/// `struct ethtool_drvinfo`.
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    version: [u8; 32],
    firmware: [u8; 32],
    bus: [u8; 32],
    rest: [u8; 64],
}

/// Its driver's name.
pub fn driver(name: &str) -> io::Result<String> {
    let mut info =
        DriverInfo { command: 3, driver: [0; 32], version: [0; 32], firmware: [0; 32], bus: [0; 32], rest: [0; 64] };
    ethtool(name, &mut info)?;
    Ok(String::from_utf8_lossy(&info.driver).trim_end_matches('\0').to_owned())
}

/// `struct ethtool_channels`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Channels {
    command: u32,
    most_receive: u32,
    most_send: u32,
    most_other: u32,
    most_combined: u32,
    /// Queues that only receive.
    pub receive: u32,
    /// Queues that only send.
    pub send: u32,
    other: u32,
    /// Queues that do both.
    pub combined: u32,
}

impl Channels {
    /// Queues that receive.
    pub fn receiving(&self) -> u32 {
        self.receive + self.combined
    }
}

/// Its queues.
pub fn channels(name: &str) -> io::Result<Channels> {
    let mut channels = Channels { command: 0x3c, ..Default::default() };
    ethtool(name, &mut channels)?;
    Ok(channels)
}

/// Sets how many queues it has.
pub fn set_channels(name: &str, mut channels: Channels) -> io::Result<()> {
    channels.command = 0x3d;
    ethtool(name, &mut channels)
}

/// A switch of ethtool, by the command that reads it and the one that sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// Received frames are merged by the kernel.
    Gro,
    /// Received frames are merged by the device.
    Lro,
    /// The device takes the tag out of received frames.
    RxVlan,
}

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

impl Offload {
    /// Read command, set command, and the bit of the value.
    fn codes(self) -> (u32, u32, u32) {
        match self {
            Self::Gro => (0x2b, 0x2c, 1),
            Self::Lro => (0x25, 0x26, 1 << 15),
            Self::RxVlan => (0x25, 0x26, 1 << 8),
        }
    }
}

/// Whether an offload is on.
pub fn offload(name: &str, which: Offload) -> io::Result<bool> {
    let (command, _, bit) = which.codes();
    let mut value = Value { command, data: 0 };
    ethtool(name, &mut value)?;
    Ok(value.data & bit != 0)
}

/// Switches an offload on or off.
pub fn set_offload(name: &str, which: Offload, on: bool) -> io::Result<()> {
    let (read, set, bit) = which.codes();
    let mut value = Value { command: read, data: 0 };
    ethtool(name, &mut value)?;
    value.command = set;
    value.data = if on { value.data | bit } else { value.data & !bit };
    ethtool(name, &mut value)
}

/// Joins a TAP device, made where it is not there, as one of its queues; the name it has.
pub fn join_tap(fd: &OwnedFd, name: &str, flags: i16) -> io::Result<String> {
    let mut request = request(name, flags)?;
    call(fd, libc::TUNSETIFF, &mut request)?;
    let end = request.name.iter().position(|b| *b == 0).unwrap_or(0);
    Ok(String::from_utf8_lossy(&request.name[..end]).into_owned())
}

/// Says how many bytes of `struct virtio_net_hdr` stand in front of each frame.
pub fn set_tap_header(fd: &OwnedFd, bytes: i32) -> io::Result<()> {
    // SAFETY: the pointer is to a live number, which is only read.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETVNETHDRSZ, &raw const bytes) }).map(drop)
}

/// Says which offloads the reader of a TAP device takes (`TUN_F_*`); with none, the kernel finishes each frame before.
pub fn set_tap_offloads(fd: &OwnedFd, offloads: u32) -> io::Result<()> {
    // SAFETY: takes a number only.
    checked(unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(offloads)) }).map(drop)
}
