//! What a thread uses of the machine: its time, its core.

use super::{Plain, checked, zeroed};
use std::io;
use std::time::Duration;

/// CPU time of the calling thread, in the kernel and outside.
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live struct of the kind that is written.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

// SAFETY: an array of numbers.
unsafe impl Plain for libc::cpu_set_t {}

/// Keeps the calling thread on one core.
pub fn pin(core: usize) -> io::Result<()> {
    let mut set: libc::cpu_set_t = zeroed();
    if core >= libc::CPU_SETSIZE as usize {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the core is one that the set has a bit for.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: the pointer is to a live set as long as said.
    checked(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) }).map(drop)
}
