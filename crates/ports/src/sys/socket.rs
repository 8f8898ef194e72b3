//! Sockets: made, set, bound, asked.

use super::{Plain, checked, checked_length, zeroed};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Makes a socket that does not wait and does not outlive an exec.
pub fn open(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: takes numbers only.
    let fd = checked(unsafe { libc::socket(family, kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sets an option.
pub fn set<T: Plain>(fd: &OwnedFd, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
    let (pointer, length) = (std::ptr::from_ref(value).cast(), size_of::<T>() as libc::socklen_t);
    // SAFETY: pointer and length are those of a live value that the kernel only reads. Of `xdp_umem_reg` the kernel
    // keeps the address: it is that of a mapping that `xdp::socket` drops after its socket.
    checked(unsafe { libc::setsockopt(fd.as_raw_fd(), level, option, pointer, length) }).map(drop)
}

/// Reads an option.
pub fn get<T: Plain>(fd: &OwnedFd, level: libc::c_int, option: libc::c_int) -> io::Result<T> {
    let mut value: T = zeroed();
    let mut length = size_of::<T>() as libc::socklen_t;
    let pointer = (&raw mut value).cast();
    // SAFETY: the pointer is to a live value of the length that the kernel is told.
    checked(unsafe { libc::getsockopt(fd.as_raw_fd(), level, option, pointer, &raw mut length) })?;
    Ok(value)
}

/// Binds to an address.
pub fn bind<T: Plain>(fd: &OwnedFd, address: &T) -> io::Result<()> {
    let (pointer, length) = (std::ptr::from_ref(address).cast(), size_of::<T>() as libc::socklen_t);
    // SAFETY: pointer and length are those of a live address that the kernel only reads.
    checked(unsafe { libc::bind(fd.as_raw_fd(), pointer, length) }).map(drop)
}

/// Sends what is in the send ring.
pub fn kick_send(fd: &OwnedFd) -> io::Result<usize> {
    // SAFETY: no bytes and no address are given.
    let result = unsafe { libc::sendto(fd.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0) };
    checked_length(result)
}

/// Wakes the driver for its fill ring, and polls it where busy polling is on.
pub fn kick_receive(fd: &OwnedFd) -> io::Result<usize> {
    let null = std::ptr::null_mut();
    let (no_address, no_length) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: no room and no address are given.
    checked_length(unsafe { libc::recvfrom(fd.as_raw_fd(), null, 0, libc::MSG_DONTWAIT, no_address, no_length) })
}

/// Reads once into a buffer.
pub fn read(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the pointer is to a buffer as long as said.
    checked_length(unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) })
}

/// Most parts in [`write`]: those of a frame, and what is told of it in front.
pub const MAX_PARTS: usize = 9;

/// Writes several parts as one; at most [`MAX_PARTS`].
pub fn write(fd: &OwnedFd, parts: &[&[u8]]) -> io::Result<usize> {
    let empty = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
    let mut vectors = [empty; MAX_PARTS];
    if parts.len() > MAX_PARTS {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (vector, part) in vectors.iter_mut().zip(parts) {
        *vector = libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() };
    }
    // SAFETY: each vector is of a live slice that the kernel only reads; no more of them are told than there are.
    checked_length(unsafe { libc::writev(fd.as_raw_fd(), vectors.as_ptr(), parts.len() as libc::c_int) })
}

/// Waits until one of the descriptors has something to read, for `milliseconds` at most; how many have.
pub fn wait(fds: &[BorrowedFd<'_>], milliseconds: i32) -> io::Result<usize> {
    let ask = |fd: &BorrowedFd<'_>| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let mut polled: Vec<libc::pollfd> = fds.iter().map(ask).collect();
    // SAFETY: the pointer is to a live array as long as said.
    let result = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, milliseconds) };
    checked(result).map(|n| n as usize)
}
