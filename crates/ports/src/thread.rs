//! What a thread that polls ports wants to know and set of itself.

use std::io;
use std::time::Duration;

/// CPU time of the calling thread, in the kernel and outside.
pub fn cpu_time() -> Duration {
    crate::sys::thread::cpu_time()
}

/// Keeps the calling thread on one core.
pub fn pin(core: usize) -> io::Result<()> {
    crate::sys::thread::pin(core)
}
