//! TAP devices: one descriptor a queue, one system call a frame.
//!
//! No offload is taken from the kernel (`TUNSETOFFLOAD` with nothing), so its stack completes checksums and cuts large
//! segments before a frame is handed over, and puts tags in.

use crate::drops::PortDrops;
use crate::packet::Tried;
use crate::port::Meta;
use crate::sys::{device, socket};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;

/// Bytes of a read: the longest frame that the kernel may hand over.
const BUFFER_BYTES: usize = 65_536 + 64;

/// One queue of a device.
#[derive(Debug)]
pub(crate) struct Tap {
    queue: OwnedFd,
    buffer: Vec<u8>,
    longest: usize,
    pub drops: PortDrops,
}

/// Opens one queue of a device, which is made where it is not there and goes with the process then.
pub(crate) fn open_queue(name: &str, several: bool) -> Tried<OwnedFd> {
    let said = |what| move |error| (what, error);
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
    let file = options.open("/dev/net/tun").map_err(said("/dev/net/tun"))?;
    let queue = OwnedFd::from(file);
    let flags = libc::IFF_TAP | libc::IFF_NO_PI;
    // A device that is there keeps the kind it was made with.
    let first = if several { libc::IFF_MULTI_QUEUE } else { 0 };
    let join = |kind| device::join_tap(&queue, name, (flags | kind) as i16);
    match join(first) {
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) && !several => join(libc::IFF_MULTI_QUEUE),
        result => result,
    }
    .map_err(said("TAP (needs CAP_NET_ADMIN, or a device that is yours)"))?;
    device::set_tap_offloads(&queue, 0).map_err(said("TUNSETOFFLOAD"))?;
    Ok(queue)
}

impl Tap {
    pub fn new(queue: OwnedFd, longest: usize) -> Self {
        Self { queue, buffer: vec![0; BUFFER_BYTES], longest, drops: PortDrops::default() }
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.queue
    }

    pub fn receive(&mut self, most: usize, take: &mut impl FnMut(&[u8], &Meta)) -> io::Result<usize> {
        let mut given = 0;
        while given < most {
            match socket::read(&self.queue, &mut self.buffer) {
                Ok(length) if length > self.longest => self.drops.receive_oversize += 1,
                Ok(length) => {
                    take(&self.buffer[..length], &Meta::default());
                    given += 1;
                }
                Err(e) if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => break,
                Err(e) if given == 0 => return Err(e),
                Err(_) => break,
            }
        }
        Ok(given)
    }

    /// The frame's length is one that [`crate::port`] lets pass.
    pub fn send(&mut self, parts: &[&[u8]]) -> io::Result<bool> {
        match socket::write(&self.queue, parts) {
            Ok(_) => Ok(true),
            Err(e) if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR)) => Ok(false),
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => {
                self.drops.send_refused += 1;
                Ok(true)
            }
            Err(e) => Err(e),
        }
    }
}

/// Frames that the kernel had for this device's reader and no room for, since the device was made.
pub(crate) fn missed(name: &str) -> u64 {
    // The thread's own name space; what is sent to the device is received by its reader.
    let text = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    missed_in(&text, name).unwrap_or(0)
}

fn missed_in(text: &str, name: &str) -> Option<u64> {
    const SEND_DROPPED: usize = 11;
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
    line.split_ascii_whitespace().nth(SEND_DROPPED)?.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_reader_missed_is_read_from_its_own_line() {
        let text = "Inter-|   Receive  |  Transmit\n tap10: 1 2 3 4 5 6 7 8 9 10 11 99 13 14 15 16\n  tap1:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
        assert_eq!(super::missed_in(text, "tap1"), Some(12));
        assert_eq!(super::missed_in(text, "tap10"), Some(99));
        assert_eq!(super::missed_in(text, "tap"), None);
    }
}
