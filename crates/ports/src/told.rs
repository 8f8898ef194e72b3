//! What the kernel tells of a frame in front of it, and we of one to be sent (`struct virtio_net_hdr`).

/// Its bytes.
pub(crate) const TOLD_BYTES: usize = 10;
/// The checksum is to be completed.
const NEEDS_CHECKSUM: u8 = 1;

/// What is told of a received frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// Where the checksum begins, and its field behind that, where it is to be completed.
    pub checksum: Option<(usize, usize)>,
    /// Kind of a packet that is to be cut; 0 of a frame.
    pub merged: u8,
    /// Bytes of payload in each segment.
    pub size: usize,
    /// Where the checksum begins, of a packet that is to be cut.
    pub start: usize,
}

impl Told {
    /// From the first bytes, which are enough.
    pub fn of(bytes: &[u8]) -> Self {
        let word = |at: usize| usize::from(u16::from_ne_bytes([bytes[at], bytes[at + 1]]));
        let checksum = (bytes[0] & NEEDS_CHECKSUM != 0).then(|| (word(6), word(8)));
        Self { checksum, merged: bytes[1], size: word(4), start: word(6) }
    }
}

/// Tells that all of a frame of this length is its header, and nothing is to be done to it.
pub(crate) fn all_header(length: usize) -> [u8; TOLD_BYTES] {
    let mut told = [0; TOLD_BYTES];
    told[2..4].copy_from_slice(&(length as u16).to_ne_bytes());
    told
}

/// Tells the same, but that the checksum from `start` on is to be completed in the field `offset` bytes behind.
pub(crate) fn partial(length: usize, start: u16, offset: u16) -> [u8; TOLD_BYTES] {
    let mut told = all_header(length);
    told[0] = NEEDS_CHECKSUM;
    told[6..8].copy_from_slice(&start.to_ne_bytes());
    told[8..].copy_from_slice(&offset.to_ne_bytes());
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_again() {
        let plain = Told { checksum: None, merged: 0, size: 0, start: 0 };
        assert_eq!(Told::of(&all_header(1500)), plain);
        assert_eq!(Told::of(&partial(60, 34, 16)), Told { checksum: Some((34, 16)), start: 34, ..plain });
        let mut told = partial(9000, 54, 16);
        (told[1], told[4]) = (4, 200);
        assert_eq!(Told::of(&told).merged, 4);
        assert_eq!(Told::of(&told).size & 0xff, usize::from(u16::from_ne_bytes([200, 0])) & 0xff);
    }
}
