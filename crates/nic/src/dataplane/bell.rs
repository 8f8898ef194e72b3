//! Wakes a worker that sleeps on its interfaces.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

/// A bell that a sleeping worker hears, as a socket that can be polled.
pub(crate) struct Bell {
    asleep: AtomicBool,
    ringer: UnixStream,
    listener: UnixStream,
}

impl Bell {
    /// One that nobody listens to yet.
    pub fn new() -> io::Result<Self> {
        let (ringer, listener) = UnixStream::pair()?;
        ringer.set_nonblocking(true)?;
        listener.set_nonblocking(true)?;
        Ok(Self { asleep: AtomicBool::new(false), ringer, listener })
    }

    /// Wakes its worker, if it sleeps or is about to.
    pub fn ring(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            // A full socket wakes as well.
            let _ = (&self.ringer).write(&[0]);
        }
    }

    /// From now on it is heard.
    pub fn hear(&self) {
        self.asleep.store(true, Ordering::SeqCst);
    }

    /// Awake again.
    pub fn heard(&self) {
        self.asleep.store(false, Ordering::SeqCst);
        let mut rung = [0; 64];
        while (&self.listener).read(&mut rung).is_ok_and(|count| count == rung.len()) {}
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}
