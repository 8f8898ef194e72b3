//! A frame between ingress and output: the outer tag comes off and goes on in place.

use sluice_formats::limits::{TAG_BYTES, VLAN_ETHERTYPE};

/// Bytes of the two MAC addresses, before which nothing is ever inserted.
const MACS_BYTES: usize = 12;

/// A frame as the NIC holds it, without the tag that ingress took off.
///
/// The room of the tag stays in front of the bytes, so that neither removing it nor putting
/// it back moves the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    buffer: Vec<u8>,
    start: usize,
}

impl Frame {
    /// A frame from the bytes received; with `tag_off` its outer tag is removed. A frame too
    /// short for a tag stays as it is.
    #[inline]
    pub fn new(mut bytes: Vec<u8>, tag_off: bool) -> Self {
        if tag_off && bytes.len() >= MACS_BYTES + TAG_BYTES {
            bytes.copy_within(0..MACS_BYTES, TAG_BYTES);
            return Self { buffer: bytes, start: TAG_BYTES };
        }
        Self { buffer: bytes, start: 0 }
    }

    /// The same in the memory of the frame that this one was.
    #[inline]
    pub fn refill(&mut self, bytes: &[u8], tag_off: bool) {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend_from_slice(bytes);
        *self = Self::new(buffer, tag_off);
    }

    /// The bytes that leave through a port, in parts: the tag is back between them. Nothing is copied.
    #[inline]
    pub fn port_parts<'a>(&'a self, tag: &'a mut [u8; TAG_BYTES], tci: u16) -> [&'a [u8]; 3] {
        if !self.tag_off() {
            return [self.bytes(), &[], &[]];
        }
        tag[..2].copy_from_slice(&VLAN_ETHERTYPE.to_be_bytes());
        tag[2..].copy_from_slice(&tci.to_be_bytes());
        let (macs, rest) = self.bytes().split_at(MACS_BYTES);
        [macs, tag, rest]
    }

    /// The bytes that tables see.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Whether ingress took a tag off.
    #[inline]
    pub fn tag_off(&self) -> bool {
        self.start != 0
    }

    /// Puts other bytes in the place of those that tables see. Fewer than two MAC addresses have
    /// no place for a tag: then none comes back.
    #[inline]
    pub fn replace(&mut self, bytes: &[u8]) {
        if bytes.len() < MACS_BYTES {
            self.start = 0;
        }
        self.buffer.truncate(self.start);
        self.buffer.extend_from_slice(bytes);
    }

    /// The bytes that leave through a port: the tag is back.
    #[inline]
    pub fn into_port(mut self, tci: u16) -> Vec<u8> {
        if self.tag_off() {
            self.buffer.copy_within(TAG_BYTES..TAG_BYTES + MACS_BYTES, 0);
            self.buffer[MACS_BYTES..MACS_BYTES + 2].copy_from_slice(&VLAN_ETHERTYPE.to_be_bytes());
            self.buffer[MACS_BYTES + 2..MACS_BYTES + TAG_BYTES].copy_from_slice(&tci.to_be_bytes());
        }
        self.buffer
    }

    /// The bytes that reach a host queue: as the tables saw them.
    #[inline]
    pub fn into_host(mut self) -> Vec<u8> {
        if self.tag_off() {
            self.buffer.drain(..self.start);
        }
        self.buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tagged() -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..12).collect();
        bytes.extend([0x81, 0x00, 0x60, 0x07, 0x08, 0x00, 99, 98]);
        bytes
    }

    #[test]
    fn the_tag_comes_off_and_goes_back_unchanged() {
        let frame = Frame::new(tagged(), true);
        assert_eq!(frame.bytes(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 8, 0, 99, 98]);
        assert_eq!(frame.clone().into_host(), frame.bytes());
        assert_eq!(frame.into_port(0x6007), tagged());
    }

    #[test]
    fn a_new_destination_mac_leaves_with_the_frame() {
        let mut frame = Frame::new(tagged(), true);
        let mut bytes = frame.bytes().to_vec();
        bytes[..6].fill(0xaa);
        frame.replace(&bytes);
        assert_eq!(frame.bytes()[..8], [0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 6, 7]);
        assert_eq!(frame.into_port(0x6007)[..14], [0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 6, 7, 8, 9, 10, 11, 0x81, 0]);
    }

    #[test]
    fn a_frame_in_used_memory_is_a_new_one_and_leaves_in_parts_as_whole() {
        let mut frame = Frame::new(vec![7; 200], false);
        for (bytes, tag_off) in [(tagged(), true), (tagged(), false), (vec![1; 13], true), (vec![2; 60], true)] {
            frame.refill(&bytes, tag_off);
            assert_eq!(frame, Frame::new(bytes.clone(), tag_off));
            let mut tag = [0; TAG_BYTES];
            assert_eq!(frame.port_parts(&mut tag, 0x6007).concat(), frame.clone().into_port(0x6007));
        }
    }

    #[test]
    fn a_kept_tag_stays_everywhere() {
        let frame = Frame::new(tagged(), false);
        assert_eq!(frame.bytes(), tagged());
        assert_eq!(frame.clone().into_port(1), tagged());
        assert_eq!(frame.into_host(), tagged());
    }
}
