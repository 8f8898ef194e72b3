//! The flat frame that a packet's values stand in: containers, metadata words, shared operands.

/// First slot of the metadata words; below it are the 24 containers by number.
pub const WORD: u8 = 24;
/// Cross value.
pub const X: u8 = 40;
/// Rotated operand R, by class.
pub const R: u8 = 41;
/// DA and DB of class k: `DATA + 2 * k`, `DATA + 2 * k + 1`.
pub const DATA: u8 = 44;
/// Always zero: the operand beside which an immediate stands.
pub const ZERO: u8 = 50;
const SLOTS: usize = 64;

/// Bits of a container.
pub fn bits(container: u8) -> u32 {
    16 * (u32::from(container / 8) + 1)
}

/// Values by slot.
#[derive(Clone, Debug)]
pub struct Frame {
    values: [u64; SLOTS],
    /// Results of an action before any of them is written.
    pub results: [u64; 32],
}

impl Default for Frame {
    fn default() -> Self {
        Self { values: [0; SLOTS], results: [0; 32] }
    }
}

impl Frame {
    /// Containers and metadata are zero for every packet.
    pub fn clear(&mut self) {
        self.values[..usize::from(X)].fill(0);
    }

    /// A slot's value.
    #[inline]
    pub fn get(&self, slot: u8) -> u64 {
        self.values[usize::from(slot) % SLOTS]
    }

    /// Sets a slot.
    #[inline]
    pub fn set(&mut self, slot: u8, value: u64) {
        self.values[usize::from(slot) % SLOTS] = value;
    }

    /// A metadata word, 0 to 15.
    #[inline]
    pub fn word(&self, word: usize) -> u16 {
        self.values[usize::from(WORD) + word % 16] as u16
    }

    /// Sets a metadata word.
    #[inline]
    pub fn set_word(&mut self, word: usize, value: u16) {
        self.values[usize::from(WORD) + word % 16] = value.into();
    }

    /// Three metadata words from this one, the first lowest; zero beyond the last.
    pub fn three_words(&self, first: u8) -> u64 {
        let word = |i: usize| if i < 16 { u64::from(self.word(i)) } else { 0 };
        let first = usize::from(first);
        word(first) | word(first + 1) << 16 | word(first + 2) << 32
    }
}
