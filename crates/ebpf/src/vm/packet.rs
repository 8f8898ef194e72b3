//! The packet buffer: headroom, metadata, frame, tailroom, as the kernel's test run lays them out.

use crate::address::PACKET;

/// Bytes before the frame, the kernel's `XDP_PACKET_HEADROOM`.
pub const HEADROOM: u32 = 256;
/// Bytes at the buffer's start that no program gets: the kernel's `struct xdp_frame`.
pub const RESERVED: u32 = 40;
/// Longest frame that `adjust_tail` makes: 4,096 less headroom and the kernel's shared info.
/// A frame that came longer keeps its length and can only shrink.
pub const MAX_GROWN: u32 = 3520;

/// A frame in its buffer. Offsets count from the buffer's start.
#[derive(Clone, Debug)]
pub struct Packet {
    /// The buffer. Bytes outside of `low..high` are zero.
    buffer: Vec<u8>,
    /// First byte of metadata; equals `data` without metadata.
    pub(super) meta: u32,
    /// First byte of the frame.
    pub(super) data: u32,
    /// One past its last byte.
    pub(super) end: u32,
    /// Lowest `meta` since [`Packet::set`].
    low: u32,
    /// Highest `end` since [`Packet::set`].
    high: u32,
    /// Bytes that the frame may have.
    most: u32,
}

impl Packet {
    /// A frame with fresh headroom and tailroom, all zero.
    pub fn new(frame: &[u8]) -> Self {
        let mut packet = Self { buffer: Vec::new(), meta: 0, data: 0, end: 0, low: 0, high: 0, most: u32::MAX };
        packet.set(frame);
        packet
    }

    /// Another frame in the same buffer; nothing of the one before is left.
    pub fn set(&mut self, frame: &[u8]) {
        let room = HEADROOM as usize + frame.len().max(MAX_GROWN as usize);
        let end = HEADROOM as usize + frame.len();
        // Only what the packet before could reach and the new frame does not cover is cleared.
        let (low, high) = (self.low as usize, self.high as usize);
        self.buffer[low..high.min(HEADROOM as usize).max(low)].fill(0);
        if high > end {
            self.buffer[end..high].fill(0);
        }
        self.buffer.resize(room, 0);
        self.buffer[HEADROOM as usize..end].copy_from_slice(frame);
        (self.meta, self.data, self.end) = (HEADROOM, HEADROOM, end as u32);
        (self.low, self.high) = (HEADROOM, end as u32);
        self.most = u32::MAX;
    }

    /// The frame becomes no more than so many bytes longer than it is now.
    pub fn limit_growth(&mut self, bytes: u32) {
        self.most = (self.end - self.data).saturating_add(bytes);
    }

    /// Bytes that the frame may have: a bound that would make it longer does not move.
    pub fn most(&self) -> u32 {
        self.most
    }

    /// The frame.
    pub fn frame(&self) -> &[u8] {
        &self.buffer[self.data as usize..self.end as usize]
    }

    /// The metadata in front of it.
    pub fn metadata(&self) -> &[u8] {
        &self.buffer[self.meta as usize..self.data as usize]
    }

    /// Offset of the first byte of metadata; equals `data` without metadata.
    pub fn meta(&self) -> u32 {
        self.meta
    }

    /// Offset of the first byte of the frame.
    pub fn data(&self) -> u32 {
        self.data
    }

    /// Offset one past the frame's last byte.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Offset one past the last byte that the frame can grow to.
    pub fn limit(&self) -> u32 {
        HEADROOM + MAX_GROWN
    }

    /// Moves the bounds. Bytes that come into view at the end are zero, as in the kernel; bytes
    /// that come into view at the front are what they were: zero, or what this packet's program
    /// left there. Bounds that are no bounds (`meta <= data <= end` within the buffer, nothing
    /// reserved) change nothing and give false.
    pub fn set_bounds(&mut self, meta: u32, data: u32, end: u32) -> bool {
        if !(RESERVED <= meta && meta <= data && data <= end && end as usize <= self.buffer.len()) {
            return false;
        }
        if end > self.end {
            self.buffer[self.end as usize..end as usize].fill(0);
        }
        (self.meta, self.data, self.end) = (meta, data, end);
        (self.low, self.high) = (self.low.min(meta), self.high.max(end));
        true
    }

    /// The buffer from metadata to end, to move bytes in it.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.meta as usize..self.end as usize]
    }

    /// The whole buffer, which stays where it is until [`Packet::set`].
    pub(super) fn buffer_mut(&mut self) -> &mut [u8] {
        &mut self.buffer
    }

    #[inline(always)]
    fn offset(&self, address: u64, bytes: usize) -> Option<usize> {
        let offset = address.wrapping_sub(PACKET.into());
        let within = offset >= self.meta.into() && offset <= self.end.into();
        (within && bytes as u64 <= u64::from(self.end) - offset).then_some(offset as usize)
    }

    /// Metadata and frame at a device address.
    #[inline(always)]
    pub(super) fn read(&self, address: u64, bytes: usize) -> Option<&[u8]> {
        let offset = self.offset(address, bytes)?;
        self.buffer.get(offset..offset + bytes)
    }

    /// The same to write.
    #[inline(always)]
    pub(super) fn write(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        let offset = self.offset(address, bytes)?;
        self.buffer.get_mut(offset..offset + bytes)
    }
}
