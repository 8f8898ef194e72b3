//! Raw system calls. With `mapped` the only modules with `unsafe`; every function is safe to call.
//!
//! Pointers that are given to the kernel are made here, from references that live past the call.
#![allow(unsafe_code)]

pub mod bpf;
pub mod device;
pub mod socket;
pub mod thread;

use std::io;

/// A type of plain numbers: all zeros is a value of it, and so is what the kernel writes there.
///
/// # Safety
/// The type is `repr(C)` or a number, and each pattern of bits is a value of it.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($name:ty),* $(,)?) => { $(
        // SAFETY: numbers, or a struct of libc of numbers alone.
        unsafe impl Plain for $name {}
    )* };
}

plain!(
    i32,
    u16,
    u32,
    u64,
    libc::packet_mreq,
    libc::sockaddr_ll,
    libc::sockaddr_xdp,
    libc::tpacket2_hdr,
    libc::tpacket_req,
    libc::tpacket_stats,
    libc::xdp_desc,
    libc::xdp_mmap_offsets,
    libc::xdp_options,
    libc::xdp_statistics,
    libc::xdp_umem_reg,
);

/// All zeros.
pub fn zeroed<T: Plain>() -> T {
    // SAFETY: the trait says that this is a value.
    unsafe { std::mem::zeroed() }
}

/// The result of a system call that answers -1 on failure.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// The same of one that answers a length.
fn checked_length(result: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}
