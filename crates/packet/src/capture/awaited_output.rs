//! Outputs that have to be waited for, as pipes, until somebody says stop.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::awaited::{Stop, is_writable};

/// How long a pipe may take nothing once the command is to end. A reader that is slow has its bytes.
pub const LAST_PATIENCE: Duration = Duration::from_secs(3);
/// A pipe that can be written to takes so many bytes at once (`PIPE_BUF`).
const TAKEN_AT_ONCE: usize = 4096;

/// A file whose writes, and whose reader, are waited for. When `Stop` has said so and nobody reads, they fail.
#[derive(Debug)]
pub struct AwaitedOutput {
    file: File,
    /// A pipe or device; a file always takes its bytes.
    waits: bool,
    stop: Stop,
    gave_up: bool,
}

impl AwaitedOutput {
    /// Opens a file and leaves what is in it. Whoever reads a pipe is waited for.
    pub fn open(path: &Path, stop: Stop) -> io::Result<Self> {
        loop {
            match open(path) {
                Err(e) if has_no_reader(path, &e) && stop() => return Err(unread("before the signal")),
                Err(e) if has_no_reader(path, &e) => std::thread::sleep(Duration::from_millis(20)),
                other => return Ok(Self::of(other?, stop)),
            }
        }
    }

    /// Waits for a file that is open already.
    pub fn of(file: File, stop: Stop) -> Self {
        let waits = !file.metadata().is_ok_and(|metadata| metadata.is_file());
        Self { file, waits, stop, gave_up: false }
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Fails where the command is to end and nothing was taken for too long.
    fn check_patience(&mut self, stopped: &mut Option<Instant>) -> io::Result<()> {
        if !(self.stop)() {
            return Ok(());
        }
        let since = stopped.get_or_insert_with(Instant::now);
        // What a buffer still holds is not waited for again.
        self.gave_up |= since.elapsed() >= LAST_PATIENCE;
        if self.gave_up { Err(unread(&format!("for {} s after the signal", LAST_PATIENCE.as_secs()))) } else { Ok(()) }
    }
}

impl Write for AwaitedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.waits {
            return self.file.write(bytes);
        }
        let mut stopped = None;
        loop {
            if self.gave_up || !is_writable(&self.file)? {
                self.check_patience(&mut stopped)?;
                continue;
            }
            // Another writer of the same pipe may have been faster.
            match self.file.write(&bytes[..bytes.len().min(TAKEN_AT_ONCE)]) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.check_patience(&mut stopped)?,
                result => return result,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn unread(when: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("nobody read it {when}, the output is not complete"))
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let without_waiting = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    File::options().write(true).create(true).truncate(false).custom_flags(without_waiting).open(path)
}

/// Whether this is what a pipe without a reader says.
#[cfg(unix)]
fn has_no_reader(path: &Path, error: &io::Error) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let is_pipe = || std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
    error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) && is_pipe()
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).open(path)
}

#[cfg(not(unix))]
fn has_no_reader(_path: &Path, _error: &io::Error) -> bool {
    false
}
