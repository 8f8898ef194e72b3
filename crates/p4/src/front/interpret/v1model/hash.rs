//! Hashes and checksums of v1model, over bytes.

use num_bigint::BigUint;
use sluice_packet::checksum::checksum;
use sluice_rmt::stage::Key;
use std::collections::BTreeMap;

/// CRC-32 as Ethernet has it.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

/// CRC-16 with the polynomial x^16 + x^15 + x^2 + 1, reflected, beginning with 0.
pub(crate) fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xa001 } else { 0 })
    })
}

/// Words of 16 bits, one over the other.
pub(crate) fn xor16(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
    words.fold(0, |all, word| all ^ word)
}

/// Where bits that are hashed lie in a stage's key, the lowest first and nothing for constants; by how many they are.
pub(crate) type HashLayouts = BTreeMap<usize, Vec<Option<u8>>>;

/// The bit from which on the target's hash is that of an algorithm: two algorithms are two parts of it.
pub(crate) fn target_from(algorithm: &str) -> Option<u32> {
    match algorithm {
        "crc32" | "crc32_custom" => Some(0),
        "crc16" | "crc16_custom" => Some(16),
        _ => None,
    }
}

/// The target's hash of bits, the lowest first; 0 where no packet comes to.
pub(crate) fn target(layouts: &HashLayouts, bits: &[bool]) -> u32 {
    let Some(places) = layouts.get(&bits.len()) else { return 0 };
    let mut key = Key::default();
    for (place, _) in places.iter().zip(bits).filter(|(_, bit)| **bit) {
        if let Some(at) = place {
            key.0[usize::from(at / 8)] |= 1 << (at % 8);
        }
    }
    key.hash()
}

/// The value of an algorithm of fixed width by its name.
pub(crate) fn by_name(algorithm: &str, bytes: &[u8]) -> BigUint {
    match algorithm {
        "crc32" | "crc32_custom" => crc32(bytes).into(),
        "crc16" | "crc16_custom" => crc16(bytes).into(),
        "xor16" => xor16(bytes).into(),
        _ => checksum(bytes).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values that catalogues of CRCs give for these nine digits.
    #[test]
    fn crcs_of_nine_digits_are_those_of_the_catalogues() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc16(b"123456789"), 0xbb3d);
    }

    /// The example of RFC 1071, section 3.
    #[test]
    fn the_checksum_is_that_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(by_name("csum16", &bytes), (!0xddf2u16).into());
        assert_eq!(by_name("csum16", &bytes[..7]), (!0xdcfbu16).into());
        assert_eq!(xor16(&[1, 2, 3]), 0x0202);
    }
}
