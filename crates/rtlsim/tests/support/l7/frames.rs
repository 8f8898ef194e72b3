//! Frames of messages, and of what is none.

use sluice_formats::l7::qnp::Header;
use sluice_formats::random::Rng;
use sluice_l7::message::{self, Addresses};
use sluice_packet::checksum::{Sum, checksum};

const IPV4: usize = 14;
const UDP: usize = 34;

/// Who sends, and to which port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// IPv4 address of the sender.
    pub source: u32,
    /// Its port.
    pub from: u16,
    /// UDP destination port.
    pub to: u16,
}

impl Flow {
    fn addresses(self) -> Addresses {
        Addresses { from: self.source.into(), port_from: self.from, ..Addresses::to_port(self.to) }
    }
}

/// A packet of a message.
pub fn packet(flow: Flow, header: Header, part: &[u8]) -> Vec<u8> {
    message::frame(&flow.addresses(), header, part)
}

/// A UDP packet.
pub fn raw(flow: Flow, payload: &[u8]) -> Vec<u8> {
    message::raw_frame(&flow.addresses(), payload)
}

/// Writes both checksums of a UDP packet, that of UDP where its length is a frame's.
pub fn seal(frame: &mut [u8]) {
    seal_ipv4(frame);
    let length = usize::from(frame[38]) << 8 | usize::from(frame[39]);
    if length < 8 || UDP + length > frame.len() {
        return;
    }
    frame[UDP + 6..UDP + 8].fill(0);
    let pseudo = Sum::new().add_bytes(&frame[IPV4 + 12..UDP]).add_word(17).add_word(length as u16);
    let sum = match pseudo.add_bytes(&frame[UDP..UDP + length]).checksum() {
        0 => u16::MAX,
        sum => sum,
    };
    frame[UDP + 6..UDP + 8].copy_from_slice(&sum.to_be_bytes());
}

/// Writes the checksum of the IPv4 header.
pub fn seal_ipv4(frame: &mut [u8]) {
    frame[IPV4 + 10..IPV4 + 12].fill(0);
    let sum = checksum(&frame[IPV4..UDP]);
    frame[IPV4 + 10..IPV4 + 12].copy_from_slice(&sum.to_be_bytes());
}

/// Breaks something of a packet, and maybe repairs the checksums.
pub fn broken(rng: &mut Rng, mut frame: Vec<u8>) -> Vec<u8> {
    match rng.below(12) {
        0 => frame[12 + rng.index(2)] ^= 1 << rng.below(8),
        1 => frame[14] ^= 1 << rng.below(8),
        2 => {
            frame[20 + rng.index(2)] ^= 1 << rng.below(8);
            seal_ipv4(&mut frame);
        }
        3 => {
            frame[23] ^= 1 << rng.below(8);
            seal_ipv4(&mut frame);
        }
        // Lengths that contradict each other, by little and by much.
        4 | 5 => {
            let at = *rng.choose(&[16, 38]).unwrap();
            let length = u16::from_be_bytes([frame[at], frame[at + 1]]);
            let other = match rng.below(4) {
                0 => length.wrapping_add(1 + rng.below(3) as u16),
                1 => length.wrapping_sub(1 + rng.below(3) as u16),
                2 => rng.below(40) as u16,
                _ => rng.next_u32() as u16,
            };
            frame[at..at + 2].copy_from_slice(&other.to_be_bytes());
            seal_ipv4(&mut frame);
            if rng.chance(1, 2) {
                seal(&mut frame);
            }
        }
        6 => frame[IPV4 + 10] ^= 1 << rng.below(8),
        7 => {
            let at = UDP + rng.index(frame.len() - UDP);
            frame[at] ^= 1 << rng.below(8);
        }
        // A header that contradicts itself.
        8 | 9 if frame.len() > 64 => {
            let at = *rng.choose(&[52, 53, 54]).unwrap();
            frame[at] = *rng.choose(&[0, 1, 2, 63, 64, 65, 255]).unwrap();
            seal(&mut frame);
        }
        10 => frame.truncate(14 + rng.index(frame.len() - 13)),
        _ => {
            let payload = rng.index(24);
            frame.truncate(42);
            frame.extend(rng.bytes(payload));
            frame[16..18].copy_from_slice(&(28 + payload as u16).to_be_bytes());
            frame[38..40].copy_from_slice(&(8 + payload as u16).to_be_bytes());
            seal(&mut frame);
        }
    }
    frame
}
