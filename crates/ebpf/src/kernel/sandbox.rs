//! A network namespace of a thread's own, with interfaces whose numbers are known.
#![allow(unsafe_code)]

use super::KernelError;
use crate::Errno;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};

/// The calling thread is in a network namespace of its own as long as it lives: interface 1 is its
/// loopback, the others are veth whose peers are there too. Nothing that is done with them leaves it.
pub struct Sandbox {
    before: File,
    _thread_bound: std::marker::PhantomData<*const ()>,
}

/// Receive queues of each interface but the loopback.
pub const QUEUES: u32 = 72;

/// The peer of interface n is interface n above.
const PEERS: u32 = 1000;

#[cfg(target_os = "linux")]
fn last_errno() -> Errno {
    Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL))
}

fn number(e: &std::io::Error) -> Errno {
    Errno(e.raw_os_error().unwrap_or(libc::EIO))
}

#[cfg(target_os = "linux")]
fn open_netlink() -> Result<File, Errno> {
    // SAFETY: no memory involved; the new descriptor is nobody else's.
    unsafe {
        match libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE) {
            fd if fd < 0 => Err(last_errno()),
            fd => Ok(File::from_raw_fd(fd)),
        }
    }
}

#[cfg(target_os = "linux")]
fn leave_namespace() -> Result<(), Errno> {
    // SAFETY: no memory involved.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } == 0 { Ok(()) } else { Err(last_errno()) }
}

#[cfg(target_os = "linux")]
fn enter_namespace(namespace: &File) {
    // SAFETY: no memory involved.
    unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) };
}

#[cfg(not(target_os = "linux"))]
fn open_netlink() -> Result<File, Errno> {
    Err(Errno(78))
}

#[cfg(not(target_os = "linux"))]
fn leave_namespace() -> Result<(), Errno> {
    Err(Errno(78))
}

#[cfg(not(target_os = "linux"))]
fn enter_namespace(_: &File) {}

/// One netlink attribute: length, type, content, padding.
fn attribute(kind: u16, content: &[u8]) -> Vec<u8> {
    let mut out = ((content.len() + 4) as u16).to_ne_bytes().to_vec();
    out.extend(kind.to_ne_bytes());
    out.extend(content);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

impl Sandbox {
    /// Goes into a new namespace with interfaces 1 to `interfaces`.
    pub fn enter(interfaces: u32) -> Result<Self, KernelError> {
        let refused = |what: &str, e| KernelError::new(what, e);
        let before = File::open("/proc/thread-self/ns/net")
            .map_err(|e| refused("the thread's network namespace", number(&e)))?;
        leave_namespace().map_err(|e| refused("a network namespace", e))?;
        let sandbox = Self { before, _thread_bound: std::marker::PhantomData };
        let mut netlink = open_netlink().map_err(|e| refused("a netlink socket", e))?;
        for index in 2..=interfaces {
            let made = Self::add(&mut netlink, index);
            made.map_err(|e| refused(&format!("interface {index} of a network namespace"), e))?;
        }
        Ok(sandbox)
    }

    /// Makes one interface, `RTM_NEWLINK`, and reads the answer.
    fn add(netlink: &mut File, index: u32) -> Result<(), Errno> {
        let mut link = vec![0u8; 16];
        link[4..8].copy_from_slice(&index.to_ne_bytes());
        link.extend(attribute(3, format!("port{}\0", index - 1).as_bytes())); // IFLA_IFNAME
        link.extend(attribute(32, &QUEUES.to_ne_bytes())); // IFLA_NUM_RX_QUEUES
        let mut peer = vec![0u8; 16];
        peer[4..8].copy_from_slice(&(index + PEERS).to_ne_bytes());
        let peer = attribute(2, &attribute(1, &peer)); // IFLA_INFO_DATA, VETH_INFO_PEER
        let kind = attribute(1, b"veth\0"); // IFLA_INFO_KIND
        link.extend(attribute(18, &[kind, peer].concat())); // IFLA_LINKINFO
        let mut message = ((link.len() + 16) as u32).to_ne_bytes().to_vec();
        message.extend(16u16.to_ne_bytes());
        message.extend(0x605u16.to_ne_bytes()); // request, acknowledge, exclusive, create
        message.extend([0; 8]);
        message.extend(link);
        netlink.write_all(&message).map_err(|e| number(&e))?;
        let mut answer = [0; 4096];
        let length = netlink.read(&mut answer).map_err(|e| number(&e))?;
        // An acknowledgement: header of 16 bytes, then the negative error number.
        match answer.get(16..20).filter(|_| length >= 20 && answer[4] == 2) {
            Some(code) => match i32::from_ne_bytes([code[0], code[1], code[2], code[3]]) {
                0 => Ok(()),
                e => Err(Errno(-e)),
            },
            None => Err(Errno::INVAL),
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        enter_namespace(&self.before);
    }
}
