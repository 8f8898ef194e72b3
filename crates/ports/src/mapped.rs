//! Memory that is shared with the kernel. With `sys` the only module with `unsafe`.
//!
//! Every access is checked against the mapping's length. Who may touch which bytes when is said by the rings in front of
//! them: the words of a ring change hands by [`Mapping::word`]'s atomic loads and stores, and bytes are asked for only
//! between a load that gave them to us and the store that gives them back.
#![allow(unsafe_code)]

use crate::sys::Plain;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

/// A mapping of our own, gone when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is the mapping's alone, wherever its owner is; nothing in it belongs to a thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Zeroed memory, there at once.
    pub fn anonymous(bytes: usize) -> io::Result<Self> {
        Self::map(bytes, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, -1, 0)
    }

    /// Memory of a socket.
    pub fn of(fd: BorrowedFd<'_>, offset: u64, bytes: usize) -> io::Result<Self> {
        Self::map(bytes, libc::MAP_SHARED | libc::MAP_POPULATE, fd.as_raw_fd(), offset)
    }

    fn map(bytes: usize, flags: libc::c_int, fd: libc::c_int, offset: u64) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the kernel chooses the place, so nothing of ours is covered.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, fd, offset as libc::off_t) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(at.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, bytes })
    }

    /// Where it is, for the kernel.
    pub fn address(&self) -> u64 {
        self.base.as_ptr() as u64
    }

    /// Its length.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// The place of `size` bytes.
    fn at(&self, offset: usize, size: usize) -> *mut u8 {
        assert!(offset <= self.bytes && size <= self.bytes - offset, "{size} bytes at {offset} of {}", self.bytes);
        // SAFETY: the place is inside of the mapping, or at its end.
        unsafe { self.base.as_ptr().add(offset) }
    }

    /// A word that both sides read and write.
    pub fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4), "a word at {offset}");
        // SAFETY: four bytes inside of the mapping, aligned for it is so as a page is; it lives as long as `self`.
        unsafe { &*self.at(offset, 4).cast::<AtomicU32>() }
    }

    /// A value of ours now.
    pub fn read<T: Plain>(&self, offset: usize) -> T {
        // SAFETY: inside of the mapping, and each pattern of bits is a value.
        unsafe { self.at(offset, size_of::<T>()).cast::<T>().read_unaligned() }
    }

    /// Writes a value to a place of ours now.
    pub fn write<T: Plain>(&mut self, offset: usize, value: T) {
        // SAFETY: inside of the mapping.
        unsafe { self.at(offset, size_of::<T>()).cast::<T>().write_unaligned(value) }
    }

    /// Bytes of ours now.
    pub fn slice(&self, offset: usize, bytes: usize) -> &[u8] {
        // SAFETY: inside of the mapping, always initialised; the ring says that the kernel leaves it alone meanwhile, and
        // writing needs `&mut self`.
        unsafe { std::slice::from_raw_parts(self.at(offset, bytes), bytes) }
    }

    /// The same, to be written.
    pub fn slice_mut(&mut self, offset: usize, bytes: usize) -> &mut [u8] {
        // SAFETY: as in `slice`; `&mut self` says that no other reference is there.
        unsafe { std::slice::from_raw_parts_mut(self.at(offset, bytes), bytes) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no reference into it outlives it.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_beyond_the_end() {
        let mut mapping = Mapping::anonymous(4096).unwrap();
        mapping.write(4092, 0x0403_0201u32);
        assert_eq!(mapping.slice(4092, 4), [1, 2, 3, 4]);
        mapping.slice_mut(10, 2).copy_from_slice(&[5, 6]);
        assert_eq!(mapping.read::<u16>(10), 0x0605);
        assert!(std::panic::catch_unwind(|| mapping.slice(4093, 4).len()).is_err());
        assert!(std::panic::catch_unwind(|| mapping.slice(usize::MAX, 2).len()).is_err());
    }
}
