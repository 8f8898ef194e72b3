//! The project's hash and checksum: CRC-32C (Castagnoli; RFC 3720, appendix B.4).
//!
//! Reflected, initial value and final XOR all ones, byte 0 first. The RTL computes the
//! same function as an XOR tree (`rtl/common/sluice_crc32c.sv`).

const POLYNOMIAL_REFLECTED: u32 = 0x82f6_3b78;

const TABLE: [u32; 256] = {
    let mut table = [0u32; 256];
    let mut i = 0;
    while i < 256 {
        let mut crc = i as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL_REFLECTED } else { crc >> 1 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
};

/// CRC-32C of `bytes`.
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc32c_of(bytes.iter().copied())
}

/// The same of bytes that do not lie in one place.
pub fn crc32c_of(bytes: impl Iterator<Item = u8>) -> u32 {
    !bytes.fold(u32::MAX, |crc, b| (crc >> 8) ^ TABLE[((crc ^ u32::from(b)) & 0xff) as usize])
}

/// CRC-32C over 32-bit words, each taken least significant byte first.
pub fn crc32c_words(words: &[u32]) -> u32 {
    crc32c_of(words.iter().flat_map(|w| w.to_le_bytes()))
}

/// The two set hashes of a masked match key: `(ways 0 and 1, ways 2 and 3)`.
///
/// One CRC serves both: bits 15:0 and bits 31:16 after a mixing step of one LUT level. The
/// step is there because a CRC is linear: keys in rows (addresses, ports) would fall onto few
/// sets, in both halves at once.
pub fn set_hashes(key: &[u8]) -> (u16, u16) {
    let h = crc32c(key);
    let mixed = h ^ (h.rotate_left(7) & h.rotate_left(18)) ^ (h.rotate_left(13) & h.rotate_left(29));
    (mixed as u16, (mixed >> 16) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc_of_the_check_string_is_the_published_value() {
        // RFC 3720 B.4 gives 32 zero bytes and 32 bytes of 0xff; "123456789" is the usual check.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn words_are_taken_least_significant_byte_first() {
        assert_eq!(crc32c_words(&[0x3433_3231, 0x3837_3635]), crc32c(b"12345678"));
    }
}
