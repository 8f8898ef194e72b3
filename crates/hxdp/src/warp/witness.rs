//! Packets of a leaf.

use super::bits::{Bit, Bits, FRAME, IFINDEX, SEEN, Seen};
use super::test::Test;
use sluice_ebpf::vm::Ingress;
use sluice_formats::random::Rng;

/// Rounds of mending before a packet is given up.
const ROUNDS: usize = 64;
/// Bytes that frames have beyond what their tests ask, at most.
const MORE: usize = 64;

/// A packet, and where it came in.
pub type Witness = (Vec<u8>, Ingress);

/// A random packet for which tests have these answers; none if none is found.
pub fn witness(tests: &[(Test, bool)], rng: &mut Rng) -> Option<Witness> {
    let mut bytes: [u8; SEEN] = std::array::from_fn(|_| rng.index(256) as u8);
    // Few interfaces, as there are.
    bytes[usize::from(IFINDEX)..].fill(0);
    bytes[usize::from(IFINDEX)] = 1 + rng.index(4) as u8;
    let (mut least, mut most) = (1, usize::MAX);
    for (test, answer) in tests {
        match (test, answer) {
            (Test::Long(bytes), true) => least = least.max(*bytes as usize),
            (Test::Long(bytes), false) => most = most.min(*bytes as usize - 1),
            _ => {}
        }
    }
    let mut length = most.min(least + rng.index(MORE));
    for _ in 0..ROUNDS {
        bytes[length.min(FRAME)..FRAME].fill(0);
        let seen = Seen { bytes, length };
        let Some((test, answer)) = tests.iter().find(|(test, answer)| test.holds(&seen) != *answer) else {
            let ifindex = u32::from_le_bytes(std::array::from_fn(|n| bytes[usize::from(IFINDEX) + n]));
            let queue = u32::from_le_bytes(std::array::from_fn(|n| bytes[usize::from(IFINDEX) + 4 + n]));
            let mut frame = bytes[..length.min(FRAME)].to_vec();
            frame.extend((frame.len()..length).map(|_| rng.index(256) as u8));
            return Some((frame, Ingress { ifindex, queue }));
        };
        match (test, answer) {
            (Test::Bits(bits), true) => bits.iter().for_each(|(n, wanted)| put(&mut bytes, *n, *wanted)),
            (Test::Bits(bits), false) => {
                if let Some((n, wanted)) = bits.iter().nth(rng.index(bits.len())) {
                    put(&mut bytes, *n, !wanted);
                }
            }
            (Test::Between { bits, low, high }, true) => {
                let number = low + rng.below(high - low + 1);
                put_number(&mut bytes, bits, number);
            }
            (Test::Between { bits, low, high }, false) => {
                // Below it or beyond, whichever there is.
                let (least, greatest) = bits.bounds();
                let (below, beyond) = (low.saturating_sub(least), greatest.saturating_sub(*high));
                let number = match below > 0 && (beyond == 0 || rng.chance(1, 2)) {
                    true => least + rng.below(below),
                    false => high + 1 + rng.below(beyond.max(1)),
                };
                put_number(&mut bytes, bits, number);
            }
            (Test::Reaches { bits, more }, true) => {
                let (least, _) = bits.bounds();
                let room = (length as i64 - more).max(least as i64) as u64;
                put_number(&mut bytes, bits, least + rng.below(room - least + 1));
                length =
                    length.max(usize::try_from(*more + bits.of(&Seen { bytes, length }) as i64).unwrap_or(0)).min(most);
            }
            (Test::Reaches { bits, .. }, false) => put_number(&mut bytes, bits, rng.next_u64()),
            (Test::Long(_), _) => length = most.min(least + rng.index(MORE)),
        }
    }
    None
}

fn put(bytes: &mut [u8; SEEN], n: u16, value: bool) {
    let byte = &mut bytes[usize::from(n / 8)];
    *byte = *byte & !(1 << (n % 8)) | u8::from(value) << (n % 8);
}

fn put_number(bytes: &mut [u8; SEEN], bits: &Bits, number: u64) {
    for (at, bit) in bits.0.iter().enumerate() {
        let value = number >> at & 1 == 1;
        match *bit {
            Bit::Is(n) => put(bytes, n, value),
            Bit::Not(n) => put(bytes, n, !value),
            Bit::Zero | Bit::One => {}
        }
    }
}
