//! Frames by hand: the tests know every byte without the crates that they test.

/// IPv4 addresses and UDP ports of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuple {
    pub src: [u8; 4],
    pub dst: [u8; 4],
    pub sport: u16,
    pub dport: u16,
}

/// Shortest frame that `udp` makes: the three headers.
pub const SHORTEST: usize = 42;

/// A UDP frame of `length` bytes without FCS and without tag.
pub fn udp(dmac: [u8; 6], tuple: &Tuple, length: usize) -> Vec<u8> {
    assert!(length >= SHORTEST, "{length} bytes do not hold the headers");
    let mut frame = Vec::with_capacity(length + 4);
    frame.extend(dmac);
    frame.extend([0x02, 0, 0, 0, 0xaa, 0x01]);
    frame.extend([0x08, 0x00]);
    let total = ((length - 14) as u16).to_be_bytes();
    let mut ip = [0x45, 0, total[0], total[1], 0, 0, 0x40, 0, 64, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    ip[12..16].copy_from_slice(&tuple.src);
    ip[16..20].copy_from_slice(&tuple.dst);
    let sum: u32 = ip.chunks_exact(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    ip[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    frame.extend(ip);
    frame.extend(tuple.sport.to_be_bytes());
    frame.extend(tuple.dport.to_be_bytes());
    frame.extend(((length - 34) as u16).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend((frame.len()..length).map(|i| i as u8));
    frame
}

/// The frame with an outer 0x8100 tag.
pub fn with_tag(mut frame: Vec<u8>, tci: u16) -> Vec<u8> {
    let [high, low] = tci.to_be_bytes();
    frame.splice(12..12, [0x81, 0x00, high, low]);
    frame
}
