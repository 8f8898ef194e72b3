//! Secrets of hash tables that outsiders fill: who knew them could choose messages, keys or flows that meet in one place.
//!
//! They are a NIC's, not a tenant's: nothing that a tenant brings goes into them. Exact sets have none, for only their tenant's host fills them.

use sluice_formats::address::control;
use sluice_formats::l7::rows::L7SecretRow;
use sluice_formats::l7::target::TABLE_HASHES;
use std::fmt;
use std::io::{self, Read};

/// Where the system gives random bytes.
const SOURCE: &str = "/dev/urandom";
/// What a word is for, so that no table's secret says anything of another one's.
const MESSAGES: u64 = 1;
const MAPS: u64 = 2;
const FLOWS: u64 = 3;
/// The message table's where nothing is drawn: the first words of Pi's fraction.
const KNOWN: [[u32; 4]; TABLE_HASHES] =
    [[0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0, 0x082e_fa98, 0xec4e_6c89]];

/// What the secrets of one NIC come from. The default is one that everybody knows, for tests and files that are compared.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Secrets {
    key: Option<[u64; 2]>,
}

impl fmt::Debug for Secrets {
    /// Nothing that is printed says them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.key.is_some() { "Secrets(..)" } else { "Secrets(known)" })
    }
}

impl Secrets {
    /// From the system's random source.
    pub fn drawn() -> io::Result<Self> {
        let mut bytes = [0; 16];
        std::fs::File::open(SOURCE)?.read_exact(&mut bytes)?;
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Ok(Self { key: Some([word(0), word(8)]) })
    }

    /// From a seed: the same seed, the same bytes.
    pub fn of_seed(seed: u64) -> Self {
        Self { key: Some([seed, 0]) }
    }

    /// Those of the seed, or new ones.
    pub fn of(seed: Option<u64>) -> io::Result<Self> {
        seed.map_or_else(Self::drawn, |seed| Ok(Self::of_seed(seed)))
    }

    /// Rows of the message table's hashes.
    pub(super) fn messages(&self) -> [L7SecretRow; TABLE_HASHES] {
        let Some(key) = self.key else { return KNOWN.map(|words| L7SecretRow { words }) };
        std::array::from_fn(|hash| {
            let half = |n: u64| siphash(key, &[MESSAGES, hash as u64, n]);
            let [low, high] = [half(0), half(1)];
            L7SecretRow { words: [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32] }
        })
    }

    /// Words of the flow hash's; none where those after a reset stay.
    pub(super) fn flows(&self) -> Option<[u32; control::FLOW_SECRET_WORDS as usize]> {
        self.key.map(|key| std::array::from_fn(|word| siphash(key, &[FLOWS, word as u64]) as u32))
    }

    /// What the hash of an XDP map begins with.
    pub(super) fn map(&self, module: u8, map: u32) -> u32 {
        match self.key {
            Some(key) => siphash(key, &[MAPS, module.into(), map.into()]) as u32,
            None => (u32::from(module) << 16 | map).wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b,
        }
    }
}

/// SipHash-2-4 of whole words (Aumasson, Bernstein: "SipHash: a fast short-input PRF", INDOCRYPT 2012).
fn siphash([k0, k1]: [u64; 2], words: &[u64]) -> u64 {
    let mut v = [
        0x736f_6d65_7073_6575 ^ k0,
        0x646f_7261_6e64_6f6d ^ k1,
        0x6c79_6765_6e65_7261 ^ k0,
        0x7465_6462_7974_6573 ^ k1,
    ];
    let length = (words.len() as u64 * 8) << 56;
    for word in words.iter().copied().chain([length]) {
        v[3] ^= word;
        (0..2).for_each(|_| round(&mut v));
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    (0..4).for_each(|_| round(&mut v));
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

fn round(v: &mut [u64; 4]) {
    let [mut a, mut b, mut c, mut d] = *v;
    a = a.wrapping_add(b);
    b = b.rotate_left(13) ^ a;
    a = a.rotate_left(32);
    c = c.wrapping_add(d);
    d = d.rotate_left(16) ^ c;
    a = a.wrapping_add(d);
    d = d.rotate_left(21) ^ a;
    c = c.wrapping_add(b);
    b = b.rotate_left(17) ^ c;
    c = c.rotate_left(32);
    *v = [a, b, c, d];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siphash_is_that_of_the_paper() {
        // Keys 00 to 0f, input 00 to 07, of the authors' list of 64 results.
        let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
        assert_eq!(siphash(key, &[0x0706_0504_0302_0100]), 0x93f5_f579_9a93_2462);
        assert_eq!(siphash(key, &[]), 0x726f_db47_dd0e_0e31);
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_another_one_others() {
        let of = |s: Secrets| (s.messages(), s.map(1, 0), s.map(2, 0), s.map(1, 1), s.flows());
        let (one, two) = (of(Secrets::of_seed(1)), of(Secrets::of_seed(2)));
        assert_eq!(one, of(Secrets::of_seed(1)));
        assert!(one.0 != two.0 && one.1 != two.1 && one.0[0] != one.0[1] && one.4 != two.4);
        assert!(one.1 != one.2 && one.1 != one.3);
    }

    #[test]
    fn secrets_that_are_drawn_are_new_each_time_and_are_not_printed() {
        let (one, two) = (Secrets::drawn().unwrap(), Secrets::drawn().unwrap());
        assert!(one != two && one.messages() != two.messages() && one.map(1, 0) != two.map(1, 0));
        assert_eq!(format!("{one:?}"), "Secrets(..)");
    }
}
