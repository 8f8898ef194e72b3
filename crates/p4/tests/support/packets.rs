//! Packets like those of a script.

use sluice_formats::random::Rng;

/// The packets that a script sends.
pub fn of_script(script: &str) -> Vec<Vec<u8>> {
    script.lines().filter_map(packet).collect()
}

/// The bytes of a line that sends a packet.
fn packet(line: &str) -> Option<Vec<u8>> {
    let (_, bytes) = line.trim().strip_prefix("packet")?.trim().split_once(' ')?;
    let digits: Vec<u8> = bytes.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// One of them with some other bytes; of `lengths` two are shorter or longer.
pub fn damaged(rng: &mut Rng, packets: &[Vec<u8>], lengths: u64) -> Vec<u8> {
    let (mut bytes, other) = (rng.choose(packets).unwrap().clone(), rng.choose(packets).unwrap());
    for _ in 0..rng.below(4) {
        let at = rng.index(bytes.len());
        bytes[at] = match rng.below(4) {
            0 => rng.below(256) as u8,
            1 => bytes[at].wrapping_add(1),
            2 => bytes[at] ^ 1 << rng.below(8),
            // What stands there in another packet.
            _ => other.get(at).copied().unwrap_or(0),
        };
    }
    match rng.below(lengths) {
        0 => bytes.truncate(1 + rng.index(bytes.len())),
        1 => (0..rng.below(40)).for_each(|_| bytes.push(rng.below(256) as u8)),
        _ => {}
    }
    bytes
}
