//! The packet buffer: headroom, metadata, frame, tailroom, as the kernel's test run lays them out.

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
    /// The buffer.
    pub(crate) buffer: Vec<u8>,
    /// First byte of metadata; equals `data` without metadata.
    pub(crate) meta: u32,
    /// First byte of the frame.
    pub(crate) data: u32,
    /// One past its last byte.
    pub(crate) end: u32,
}

impl Packet {
    /// A frame with fresh headroom and tailroom, all zero.
    pub fn new(frame: &[u8]) -> Self {
        let mut packet = Self { buffer: Vec::new(), meta: 0, data: 0, end: 0 };
        packet.set(frame);
        packet
    }

    /// Another frame in the same buffer; nothing of the one before is left.
    pub fn set(&mut self, frame: &[u8]) {
        let room = (frame.len() as u32).max(MAX_GROWN);
        self.buffer.clear();
        self.buffer.resize((HEADROOM + room) as usize, 0);
        (self.meta, self.data) = (HEADROOM, HEADROOM);
        self.end = HEADROOM + frame.len() as u32;
        self.buffer[HEADROOM as usize..self.end as usize].copy_from_slice(frame);
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

    /// Moves the bounds; bytes that come into view at the end are zero. Bounds that are none
    /// change nothing and give false.
    pub fn set_bounds(&mut self, meta: u32, data: u32, end: u32) -> bool {
        if !(RESERVED <= meta && meta <= data && data <= end && end as usize <= self.buffer.len()) {
            return false;
        }
        if end > self.end {
            self.buffer[self.end as usize..end as usize].fill(0);
        }
        (self.meta, self.data, self.end) = (meta, data, end);
        true
    }

    /// The buffer from metadata to end, to move bytes in it.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.meta as usize..self.end as usize]
    }
}
