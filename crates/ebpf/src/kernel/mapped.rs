//! Memory shared with the kernel, for ring buffers and perf events. Second and last place of `unsafe` here.
#![allow(unsafe_code)]

use crate::Errno;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// A mapping of a descriptor.
pub struct Mapped {
    start: *mut u8,
    bytes: usize,
    writable: bool,
}

impl Mapped {
    /// Maps `bytes` of `fd` from `offset`.
    pub fn new(fd: i32, offset: usize, bytes: usize, writable: bool) -> Result<Self, Errno> {
        let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new mapping at an address the kernel chooses; nothing that exists is replaced.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, libc::MAP_SHARED, fd, offset as libc::off_t) };
        if start == libc::MAP_FAILED {
            return Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)));
        }
        Ok(Self { start: start.cast(), bytes, writable })
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.bytes, "word {offset} of {} mapped bytes", self.bytes);
        // SAFETY: aligned and inside of the mapping, which lives as long as `self`; shared with the
        // kernel, which like we uses whole words there.
        unsafe { AtomicU64::from_ptr(self.start.add(offset).cast()) }
    }

    /// The 64-bit word at `offset`; what was written before it is seen.
    pub fn load(&self, offset: usize) -> u64 {
        // The standard allows only relaxed loads of memory that cannot be written.
        let word = self.word(offset).load(Ordering::Relaxed);
        std::sync::atomic::fence(Ordering::Acquire);
        word
    }

    /// Writes the 64-bit word at `offset`, after everything that was read.
    pub fn store(&self, offset: usize, word: u64) {
        assert!(self.writable, "a mapping that is only read");
        self.word(offset).store(word, Ordering::Release);
    }

    /// A copy of the bytes at `offset`, which the kernel does not write until it is told that they are read.
    pub fn copy(&self, offset: usize, bytes: usize) -> Vec<u8> {
        assert!(offset <= self.bytes && bytes <= self.bytes - offset, "{bytes} at {offset} of {}", self.bytes);
        let mut out = vec![0; bytes];
        // SAFETY: inside of the mapping, and `out` is new memory.
        unsafe { std::ptr::copy_nonoverlapping(self.start.add(offset), out.as_mut_ptr(), bytes) };
        out
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing refers to it any more.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

/// Bytes of a page.
pub fn page_bytes() -> usize {
    // SAFETY: no memory involved.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// A `struct perf_event_attr` of the first published size.
#[cfg(target_os = "linux")]
#[repr(C)]
#[derive(Default)]
struct PerfAttr {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    bp_addr: u64,
}

/// Opens the event that programs write to on processor `cpu`.
#[cfg(target_os = "linux")]
pub fn open_bpf_output(cpu: u32) -> Result<OwnedFd, Errno> {
    use std::os::fd::FromRawFd;
    let attr = PerfAttr {
        kind: 1, // PERF_TYPE_SOFTWARE
        size: size_of::<PerfAttr>() as u32,
        config: 10, // PERF_COUNT_SW_BPF_OUTPUT
        sample_period: 1,
        sample_type: 1 << 10, // PERF_SAMPLE_RAW
        wakeup_events: 1,
        ..PerfAttr::default()
    };
    // SAFETY: `attr` is live and as long as its `size` says.
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, std::ptr::from_ref(&attr), -1, cpu, -1, 8) };
    if fd < 0 {
        return Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)));
    }
    // SAFETY: the kernel has just given this descriptor, nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Elsewhere there are no perf events.
#[cfg(not(target_os = "linux"))]
pub fn open_bpf_output(_: u32) -> Result<OwnedFd, Errno> {
    Err(Errno(78))
}
