//! Sending alone, for generators of frames.

use crate::error::PortError;
use crate::interface::BESIDE_MTU;
use crate::packet::{SendRing, Tried};
use crate::sys::device;

/// An AF_PACKET send ring on an interface of which nothing is received and nothing is claimed.
#[derive(Debug)]
pub struct Sender {
    ring: SendRing,
    name: String,
    longest: usize,
}

impl Sender {
    /// Opens a ring of so many slots.
    pub fn open(name: &str, slots: u32) -> Result<Self, PortError> {
        let failed = |(what, error)| PortError::Interface { name: name.to_owned(), what, error };
        let ring = || -> Tried<(SendRing, usize)> {
            let index = device::index(name).map_err(|e| ("is not there", e))?;
            let longest = device::mtu(name).map_err(|e| ("its MTU", e))? as usize + BESIDE_MTU;
            Ok((SendRing::open(index, slots, longest)?, longest))
        };
        let (ring, longest) = ring().map_err(failed)?;
        Ok(Self { ring, name: name.to_owned(), longest })
    }

    /// Copies a frame to be sent at the next flush; false when the ring is full or the frame too long.
    pub fn send(&mut self, frame: &[u8]) -> bool {
        frame.len() <= self.longest && self.ring.send(&[frame], frame.len())
    }

    /// The same of a frame as a host with offloads sends it: the checksum over all from `start` on belongs into the field
    /// `offset` bytes behind, where the sum of the pseudo header is now.
    pub fn send_partial(&mut self, frame: &[u8], start: u16, offset: u16) -> bool {
        frame.len() <= self.longest && self.ring.send_partial(frame, start, offset)
    }

    /// Has the kernel send what was given.
    pub fn flush(&mut self) -> Result<(), PortError> {
        let failed = |error| PortError::Interface { name: self.name.clone(), what: "send", error };
        self.ring.flush().map_err(failed)
    }
}
