//! Conditions, masked key and hash.

use super::frame::{Frame, WORD, ZERO};
use crate::target::{KEY_BYTES, Target};
use sluice_formats::rmt::codes::{PredicateOperand, Relation};
use sluice_formats::rmt::rows::{KeyRow, PredicatePart};
use sluice_formats::row::Wide;

/// A key of 194 bits: bit 0 is bit 0 of word 0.
pub type Key = [u64; 4];

/// A key from its bytes.
pub fn from_bytes(bytes: &Wide<KEY_BYTES>) -> Key {
    let mut padded = [0; 32];
    padded[..KEY_BYTES].copy_from_slice(&bytes.0);
    let (words, _) = padded.as_chunks::<8>();
    std::array::from_fn(|i| u64::from_le_bytes(words[i]))
}

/// What byte i with this value adds to the CRC-32C of 25 bytes; CRCs are linear.
static PARTS: [[u32; 256]; KEY_BYTES] = parts();
/// CRC-32C of 25 zero bytes.
const OF_ZEROS: u32 = 0x1db1_bf80;

const fn parts() -> [[u32; 256]; KEY_BYTES] {
    let mut parts = [[0; 256]; KEY_BYTES];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut step = 0;
        while step < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
            step += 1;
        }
        parts[KEY_BYTES - 1][byte] = crc;
        byte += 1;
    }
    let mut at = KEY_BYTES - 1;
    while at > 0 {
        byte = 0;
        while byte < 256 {
            let behind = parts[at][byte];
            parts[at - 1][byte] = (behind >> 8) ^ parts[KEY_BYTES - 1][(behind & 0xff) as usize];
            byte += 1;
        }
        at -= 1;
    }
    parts
}

/// A comparison by its code; others never hold.
#[inline]
pub fn relation(code: u8, a: u64, b: u64) -> bool {
    match Relation::from_code(code) {
        Some(Relation::Eq) => a == b,
        Some(Relation::Ne) => a != b,
        Some(Relation::Lt) => a < b,
        Some(Relation::Le) => a <= b,
        Some(Relation::Gt) => a > b,
        Some(Relation::Ge) => a >= b,
        None => false,
    }
}

const IMMEDIATE: u8 = PredicateOperand::Immediate.code();

#[derive(Clone, Copy, Debug)]
struct Predicate {
    a: u8,
    b: u8,
    op: u8,
    mask: u64,
    immediate: u64,
}

impl Predicate {
    /// Operands that are not there are zero.
    fn compile(part: &PredicatePart) -> Self {
        let a = if part.a < WORD + 16 { part.a } else { ZERO };
        let (b, immediate) = match part.b {
            IMMEDIATE => (ZERO, part.immediate),
            b if b < WORD => (b, 0),
            _ => (ZERO, 0),
        };
        Self { a, b, op: part.op, mask: part.mask, immediate }
    }

    #[inline]
    fn holds(&self, frame: &Frame) -> bool {
        relation(self.op, frame.get(self.a) & self.mask, (frame.get(self.b) | self.immediate) & self.mask)
    }
}

/// Key and conditions of a module in one generation.
#[derive(Clone, Debug)]
pub struct KeyPlan {
    pieces: [u8; 6],
    mask: Key,
    predicates: [Predicate; 2],
    truth: [u8; 2],
    /// Both truth tables are empty: no predicate needs to be looked at.
    unconditional: bool,
    /// Bytes of the key that the mask does not clear.
    bytes: Vec<u8>,
    set_base: usize,
    set_mask: usize,
}

impl KeyPlan {
    /// From its row.
    pub fn compile(row: &KeyRow, target: &Target) -> Self {
        Self {
            pieces: std::array::from_fn(|i| 8 * (i as u8 / 2) + row.pieces[i] % 8),
            mask: from_bytes(&row.mask),
            predicates: [Predicate::compile(&row.predicates[0]), Predicate::compile(&row.predicates[1])],
            truth: row.truth,
            unconditional: row.truth == [0, 0],
            bytes: (0..KEY_BYTES as u8).filter(|&i| row.mask.0[usize::from(i)] != 0).collect(),
            set_base: usize::from(row.set_base) * target.base_unit(),
            set_mask: (1 << row.set_bits) - 1,
        }
    }

    /// Condition 0 in bit 0, condition 1 in bit 1.
    #[inline]
    pub fn conditions(&self, frame: &Frame) -> u8 {
        if self.unconditional {
            return 0;
        }
        let row = u8::from(self.predicates[0].holds(frame)) + 2 * u8::from(self.predicates[1].holds(frame));
        (self.truth[0] >> row & 1) | (self.truth[1] >> row & 1) << 1
    }

    /// The masked key.
    #[inline]
    pub fn key(&self, frame: &Frame, conditions: u8) -> Key {
        let piece = |i: usize| frame.get(self.pieces[i]);
        [
            (piece(0) | piece(1) << 16 | piece(2) << 32) & self.mask[0],
            (piece(3) | piece(4) << 32) & self.mask[1],
            (piece(4) >> 32 | piece(5) << 16) & self.mask[2],
            u64::from(conditions) & self.mask[3],
        ]
    }

    /// The bits of a key that count.
    pub fn masks(&self, key: &Key) -> Key {
        std::array::from_fn(|i| key[i] & self.mask[i])
    }

    /// CRC-32C of the masked key.
    #[inline]
    pub fn hash(&self, key: &Key) -> u32 {
        let part = |i: u8| PARTS[usize::from(i)][usize::from((key[usize::from(i / 8)] >> (8 * (i % 8))) as u8)];
        self.bytes.iter().fold(OF_ZEROS, |h, &i| h ^ part(i))
    }

    /// The sets that keys may lead to.
    pub fn region(&self, target: &Target) -> impl Iterator<Item = usize> + use<> {
        let (base, mask, sets) = (self.set_base, self.set_mask, target.sets());
        let among = (0..=mask).take(sets).filter(move |low| low & base & mask == 0);
        among.map(move |low| (base | low) % sets)
    }

    /// The set that each way is looked up in. Numbers of sets are powers of two; what lies above is cut off.
    pub fn sets(&self, hash: u32, target: &Target) -> [usize; 4] {
        let h = hash;
        let mixed = h ^ (h.rotate_left(7) & h.rotate_left(18)) ^ (h.rotate_left(13) & h.rotate_left(29));
        let set = |half: u32| (self.set_base | half as usize & 0xffff & self.set_mask) % target.sets();
        [set(mixed), set(mixed), set(mixed >> 16), set(mixed >> 16)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::DEFAULT;
    use sluice_formats::hash::crc32c;
    use sluice_formats::random::{Rng, test_seed};

    #[test]
    fn the_hash_is_the_crc_of_the_masked_key_as_25_bytes() {
        let mut rng = Rng::new(test_seed("rmt_fast_hash"));
        let all = [0xff; KEY_BYTES];
        for mask in [[0; KEY_BYTES], all, std::array::from_fn(|i| [0, 0xff, 0x0f][i % 3])] {
            let plan = KeyPlan::compile(&KeyRow { mask: Wide(mask), ..KeyRow::default() }, &DEFAULT);
            let mut bytes = [0; KEY_BYTES];
            rng.fill(&mut bytes);
            bytes.iter_mut().zip(mask).for_each(|(b, m)| *b &= m);
            assert_eq!(plan.hash(&from_bytes(&Wide(bytes))), crc32c(&bytes));
        }
    }
}
