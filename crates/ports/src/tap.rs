//! TAP devices: one descriptor a queue, one system call a frame.
//!
//! The kernel's stack leaves checksums and the cutting of large packets to us: one call brings up to 64 KiB of a stream
//! then. Both are done here; tags are in place.

use crate::checksum;
use crate::drops::PortDrops;
use crate::packet::Tried;
use crate::port::Meta;
use crate::segments::Segments;
use crate::sys::{device, socket};
use crate::told::{TOLD_BYTES, Told};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;

/// Bytes of a read: the largest packet that the kernel may hand over.
const BUFFER_BYTES: usize = TOLD_BYTES + 65_536 + 64;
/// What is left to us: checksums; segments of TCP over IPv4 and IPv6, also with congestion marks.
const OFFLOADS: u32 = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
/// Segments of UDP over both, too (since Linux 6.2).
const UDP_OFFLOADS: u32 = libc::TUN_F_USO4 | libc::TUN_F_USO6;

/// One queue of a device.
#[derive(Debug)]
pub(crate) struct Tap {
    queue: OwnedFd,
    buffer: Vec<u8>,
    longest: usize,
    /// What is left of a large packet.
    segments: Segments,
    pub drops: PortDrops,
}

/// Opens one queue of a device, which is made where it is not there and goes with the process then.
pub(crate) fn open_queue(name: &str, several: bool) -> Tried<OwnedFd> {
    let said = |what| move |error| (what, error);
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
    let file = options.open("/dev/net/tun").map_err(said("/dev/net/tun"))?;
    let queue = OwnedFd::from(file);
    let flags = libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    // A device that is there keeps the kind it was made with.
    let first = if several { libc::IFF_MULTI_QUEUE } else { 0 };
    let join = |kind| device::join_tap(&queue, name, (flags | kind) as i16);
    match join(first) {
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) && !several => join(libc::IFF_MULTI_QUEUE),
        result => result,
    }
    .map_err(said("TAP (needs CAP_NET_ADMIN, or a device that is yours)"))?;
    device::set_tap_header(&queue, TOLD_BYTES as i32).map_err(said("TUNSETVNETHDRSZ"))?;
    device::set_tap_offloads(&queue, OFFLOADS | UDP_OFFLOADS)
        .or_else(|_| device::set_tap_offloads(&queue, OFFLOADS))
        .or_else(|_| device::set_tap_offloads(&queue, 0))
        .map_err(said("TUNSETOFFLOAD"))?;
    Ok(queue)
}

impl Tap {
    pub fn new(queue: OwnedFd, longest: usize) -> Self {
        Self {
            queue,
            buffer: vec![0; BUFFER_BYTES],
            longest,
            segments: Segments::default(),
            drops: PortDrops::default(),
        }
    }

    pub fn socket(&self) -> &OwnedFd {
        &self.queue
    }

    pub fn receive(&mut self, most: usize, take: &mut impl FnMut(&[u8], &Meta)) -> io::Result<usize> {
        let mut given = 0;
        while given < most {
            if let Some(segment) = self.segments.cut() {
                if segment.len() > self.longest {
                    self.drops.receive_oversize += 1;
                    continue;
                }
                take(segment, &Meta::default());
                given += 1;
                continue;
            }
            match socket::read(&self.queue, &mut self.buffer) {
                Ok(length) if length <= TOLD_BYTES => {}
                Ok(length) => given += usize::from(self.take(length, take)),
                Err(e) if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => break,
                Err(e) if given == 0 => return Err(e),
                Err(_) => break,
            }
        }
        Ok(given)
    }

    /// Looks at what was read; whether a frame was given. Of a large packet the segments come afterwards.
    fn take(&mut self, length: usize, take: &mut impl FnMut(&[u8], &Meta)) -> bool {
        let (told, frame) = self.buffer[..length].split_at_mut(TOLD_BYTES);
        let told = Told::of(told);
        if frame.len() > self.longest {
            if told.merged == 0 || !self.segments.take(frame, told.merged, told.size, told.start) {
                self.drops.receive_oversize += 1;
            }
            return false;
        }
        if let Some((start, offset)) = told.checksum {
            checksum::complete_at(frame, start, offset);
        }
        take(frame, &Meta::default());
        true
    }

    /// The frame's length is one that [`crate::port`] lets pass.
    pub fn send(&mut self, parts: &[&[u8]]) -> io::Result<bool> {
        // Nothing is left to the stack.
        const NOTHING: [u8; TOLD_BYTES] = [0; TOLD_BYTES];
        let mut all: [&[u8]; socket::MAX_PARTS] = [&[]; socket::MAX_PARTS];
        all[0] = &NOTHING;
        all[1..=parts.len()].copy_from_slice(parts);
        match socket::write(&self.queue, &all[..=parts.len()]) {
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
