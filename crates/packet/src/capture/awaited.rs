//! Files that have to be waited for, as pipes and terminals, until somebody says stop.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// Whether whoever waits is to stop.
pub type Stop = fn() -> bool;

/// A file whose reads and whose writer are waited for until `Stop` says so. Then reads fail with an error of which
/// [`was_stopped`] is true.
#[derive(Debug)]
pub struct Awaited {
    file: File,
    /// A pipe or terminal; a file always has its bytes.
    waits: bool,
    stop: Stop,
}

#[derive(Debug, thiserror::Error)]
#[error("stopped while waiting for bytes")]
struct Stopped;

/// Whether reading ended because it was told to stop.
pub fn was_stopped(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Stopped>())
}

impl Awaited {
    /// Opens a file. A pipe is opened at once, also where nobody writes to it yet.
    pub fn open(path: &Path, stop: Stop) -> io::Result<(Self, Metadata)> {
        let file = open(path)?;
        let metadata = file.metadata()?;
        Ok((Self { file, waits: !metadata.is_file(), stop }, metadata))
    }

    /// Waits for a file that is open already.
    pub fn of(file: File, stop: Stop) -> Self {
        let waits = !file.metadata().is_ok_and(|metadata| metadata.is_file());
        Self { file, waits, stop }
    }
}

impl Read for Awaited {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.waits {
            if (self.stop)() {
                return Err(io::Error::other(Stopped));
            }
            if !is_ready(&self.file)? {
                continue;
            }
            // Another reader of the same pipe may have been faster.
            match self.file.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
        self.file.read(buffer)
    }
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let without_waiting = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    File::options().read(true).custom_flags(without_waiting).open(path)
}

/// Waits a little for bytes or the end of the file.
#[cfg(unix)]
fn is_ready(file: &File) -> io::Result<bool> {
    wait_for(file, rustix::event::PollFlags::IN)
}

/// Waits a little until a file takes bytes, or has nobody any more who would.
#[cfg(unix)]
pub(super) fn is_writable(file: &File) -> io::Result<bool> {
    wait_for(file, rustix::event::PollFlags::OUT)
}

#[cfg(unix)]
fn wait_for(file: &File, what: rustix::event::PollFlags) -> io::Result<bool> {
    use rustix::event::{PollFd, Timespec, poll};
    // Bounds the time from a signal to the end of the wait.
    const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    match poll(&mut [PollFd::new(file, what)], Some(&PATIENCE)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(not(unix))]
fn is_ready(_file: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(not(unix))]
pub(super) fn is_writable(_file: &File) -> io::Result<bool> {
    Ok(true)
}
