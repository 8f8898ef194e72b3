//! The Internet checksum: RFC 1071 sums and RFC 1624 updates.

use std::net::IpAddr;

/// A running one's complement sum of 16-bit big-endian words (RFC 1071).
///
/// Each slice added starts on an even position; an odd one is padded with a zero byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum(u64);

impl Sum {
    /// The empty sum.
    pub fn new() -> Sum {
        Sum(0)
    }

    /// Adds `bytes`.
    #[must_use]
    pub fn add_bytes(mut self, bytes: &[u8]) -> Sum {
        // Words of 32 bits are congruent to their two halves modulo 2^16 - 1, and 2^32 of
        // them fit before the 64-bit sum could overflow.
        let mut chunks = bytes.chunks_exact(4);
        for c in &mut chunks {
            self.0 += u64::from(u32::from_be_bytes([c[0], c[1], c[2], c[3]]));
        }
        let mut last = [0; 4];
        last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        self.0 += u64::from(u32::from_be_bytes(last));
        self
    }

    /// Adds one word.
    #[must_use]
    pub fn add_word(mut self, word: u16) -> Sum {
        self.0 += u64::from(word);
        self
    }

    /// Adds the pseudo-header of TCP, UDP and ICMPv6 (RFC 9293, 768, 8200 section 8.1).
    ///
    /// `length` is the transport header with its payload, in bytes.
    #[must_use]
    pub fn add_pseudo_header(self, src: IpAddr, dst: IpAddr, protocol: u8, length: u32) -> Sum {
        let sum = match (src, dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => self.add_bytes(&src.octets()).add_bytes(&dst.octets()),
            _ => self.add_bytes(&v6_octets(src)).add_bytes(&v6_octets(dst)),
        };
        sum.add_bytes(&length.to_be_bytes()).add_word(u16::from(protocol))
    }

    /// The sum folded to 16 bits, not complemented: 0xffff over data whose checksum is good.
    pub fn folded(self) -> u16 {
        let mut sum = self.0;
        while sum >> 16 != 0 {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    /// The checksum to store: the folded sum, complemented.
    pub fn checksum(self) -> u16 {
        !self.folded()
    }
}

fn v6_octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// The checksum of `bytes`, whose checksum field is zero.
pub fn checksum(bytes: &[u8]) -> u16 {
    Sum::new().add_bytes(bytes).checksum()
}

/// Whether `bytes`, checksum field included, add up.
pub fn is_valid(bytes: &[u8]) -> bool {
    Sum::new().add_bytes(bytes).folded() == 0xffff
}

/// The checksum after one word changed from `old` to `new`: HC' = ~(~HC + ~m + m')
/// (RFC 1624, section 3, eqn. 3).
pub fn update(checksum: u16, old: u16, new: u16) -> u16 {
    Sum::new().add_word(!checksum).add_word(!old).add_word(new).checksum()
}

/// [`update`] for a change of several words. Both slices have the same even length and
/// stand on an even offset of the summed data; of an excess in one, nothing is used.
pub fn update_bytes(checksum: u16, old: &[u8], new: &[u8]) -> u16 {
    let words = old.chunks(2).zip(new.chunks(2));
    words.fold(checksum, |sum, (old, new)| update(sum, word(old), word(new)))
}

fn word(bytes: &[u8]) -> u16 {
    u16::from_be_bytes([bytes[0], bytes.get(1).copied().unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::random::{Rng, test_seed};

    #[test]
    fn the_example_of_rfc_1071_sums_to_ddf2() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::new().add_bytes(&bytes).folded(), 0xddf2);
        assert_eq!(checksum(&bytes), !0xddf2);
    }

    #[test]
    fn the_example_of_rfc_1624_gives_zero_and_not_minus_zero() {
        assert_eq!(update(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn an_odd_tail_counts_as_the_high_byte() {
        assert_eq!(checksum(&[0x12, 0x34, 0x56]), checksum(&[0x12, 0x34, 0x56, 0]));
        assert_eq!(checksum(&[]), 0xffff);
    }

    #[test]
    fn sums_agree_with_an_independent_library_and_updates_with_a_full_sum() {
        let mut rng = Rng::new(test_seed("checksum"));
        for _ in 0..2_000 {
            let len = rng.index(80) * 2 + 2;
            let mut bytes = rng.bytes(len);
            let old_sum = checksum(&bytes);
            let theirs = etherparse::checksum::Sum16BitWords::new().add_slice(&bytes);
            assert_eq!(old_sum, theirs.ones_complement().to_be());
            let at = rng.index(len / 2) * 2;
            let changed = (rng.index((len - at) / 2) + 1) * 2;
            let new = rng.bytes(changed);
            let old = bytes[at..at + new.len()].to_vec();
            bytes[at..at + new.len()].copy_from_slice(&new);
            let updated = update_bytes(old_sum, &old, &new);
            // The two zeros of one's complement are one number.
            assert_eq!(updated % 0xffff, checksum(&bytes) % 0xffff);
        }
    }
}
