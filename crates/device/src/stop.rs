//! The wish that work ends, whatever it waits for.
//!
//! Whoever hears Ctrl-C or SIGTERM says by when ([`within`]). A device looks at it while it lets time pass, and answers
//! [`DeviceError::Stopped`] from then on: a `wait` of 10^9 ticks is left where it is. What can be read without letting
//! time pass can still be read.

use crate::error::DeviceError;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Milliseconds since [`begin`] at which work ends; the greatest number: never.
static END: AtomicU64 = AtomicU64::new(u64::MAX);

fn begin() -> Instant {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    *BEGIN.get_or_init(Instant::now)
}

/// Work is to end when so much time has passed; of several wishes the earliest counts.
pub fn within(time: Duration) {
    let end = begin().elapsed().saturating_add(time).as_millis() as u64;
    END.fetch_min(end, Ordering::Relaxed);
}

/// Whether work is to end now.
pub fn due() -> bool {
    let end = END.load(Ordering::Relaxed);
    // Without a wish no clock is asked.
    end != u64::MAX && begin().elapsed().as_millis() as u64 >= end
}

/// An error where work is to end now.
pub fn check() -> Result<(), DeviceError> {
    if due() { Err(DeviceError::Stopped) } else { Ok(()) }
}
