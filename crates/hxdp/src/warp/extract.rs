//! What the engine puts into a register or a word of a key: parts of the frame, and constants.

use super::bits::{Bit, Bits, Seen};

/// Bits of the frame that stand one behind the other in a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Part {
    /// First byte of the frame that is read.
    pub offset: u8,
    /// Bytes that are read: 1 to 8.
    pub bytes: u8,
    /// They are a number in network order.
    pub swap: bool,
    /// How far the number is shifted down.
    pub down: u8,
    /// How many bits are kept of it then.
    pub width: u8,
    /// At which bit they are put.
    pub up: u8,
}

/// A number: its parts, and the bits that are always set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Extract {
    /// What the frame gives; no two share a bit.
    pub parts: Vec<Part>,
    /// What is set beside them.
    pub constant: u64,
}

impl Part {
    /// The bit of what is seen that is bit `n` of the number that is read.
    fn source(&self, n: usize) -> u16 {
        let byte = if self.swap { usize::from(self.bytes) - 1 - n / 8 } else { n / 8 };
        (8 * (usize::from(self.offset) + byte) + n % 8) as u16
    }

    /// Of a packet.
    pub fn of(&self, seen: &Seen) -> u64 {
        let byte = |n: u8| u64::from(seen.bytes.get(usize::from(self.offset + n)).copied().unwrap_or(0));
        let number = (0..self.bytes).fold(0, |number, n| {
            let place = if self.swap { self.bytes - 1 - n } else { n };
            number | byte(n) << (8 * place)
        });
        let kept = if self.width == 64 { u64::MAX } else { (1 << self.width) - 1 };
        (number >> self.down & kept) << self.up
    }
}

impl Extract {
    /// Of a number; none where the engine cannot make it.
    pub fn new(bits: &Bits) -> Option<Self> {
        let mut extract = Self::default();
        let mut at = 0;
        while at < 64 {
            match bits.0[at] {
                Bit::Zero => at += 1,
                Bit::One => {
                    extract.constant |= 1 << at;
                    at += 1;
                }
                Bit::Not(_) => return None,
                Bit::Is(first) => {
                    let part =
                        [false, true].into_iter().map(|swap| run(bits, at, first, swap)).max_by_key(|p| p.width)?;
                    at += usize::from(part.width);
                    extract.parts.push(part);
                }
            }
        }
        Some(extract)
    }

    /// Of a packet.
    pub fn of(&self, seen: &Seen) -> u64 {
        self.parts.iter().fold(self.constant, |number, part| number | part.of(seen))
    }

    /// The number that it makes.
    pub fn bits(&self) -> Bits {
        let mut bits = Bits::constant(self.constant);
        for part in &self.parts {
            for n in 0..usize::from(part.width) {
                bits.0[usize::from(part.up) + n] = Bit::Is(part.source(n + usize::from(part.down)));
            }
        }
        bits
    }

    /// Steps of the engine that it takes.
    pub fn steps(&self) -> usize {
        self.parts.len() + usize::from(self.constant != 0 || self.parts.is_empty())
    }
}

/// The longest part from a bit on.
fn run(bits: &Bits, at: usize, first: u16, swap: bool) -> Part {
    // In network order the bits of the next higher place are those of the byte before.
    let next = |source: u16| match swap {
        true if source % 8 == 7 => (source / 8).checked_sub(1).map(|byte| byte * 8),
        _ => source.checked_add(1),
    };
    let (mut width, mut source, mut last) = (0, Some(first), first);
    while let Some(n) = source {
        let bytes = (n / 8).abs_diff(first / 8) + 1;
        if at + usize::from(width) >= 64 || bits.0[at + usize::from(width)] != Bit::Is(n) || bytes > 8 {
            break;
        }
        (width, last, source) = (width + 1, n, next(n));
    }
    let (low, high) = if swap { (last / 8, first / 8) } else { (first / 8, last / 8) };
    Part { offset: low as u8, bytes: (high - low + 1) as u8, swap, down: (first % 8) as u8, width, up: at as u8 }
}
