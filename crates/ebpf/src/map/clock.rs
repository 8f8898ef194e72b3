//! Which entry an LRU map gives up: second chance (CLOCK).
//!
//! The policy, shared with the hardware: slots form a ring with a hand. Each slot has a bit
//! *used* and a bit *touched*. A program's lookup and any update of an entry that is there set
//! *touched*; a new entry starts without it, so that a scan of keys seen once does not drive out
//! those in use. When the map is full, the hand goes on until it meets a used slot that is not
//! touched; it clears *touched* on its way. That slot is the victim, and the hand stands behind it.
//!
//! So an entry touched since the hand last passed it stays as long as there is one that is not,
//! and each step of the hand is paid by a touch before.

/// The ring.
#[derive(Debug)]
pub(super) struct Clock {
    slots: u32,
    hand: u32,
    used: Vec<u64>,
    touched: Vec<u64>,
}

impl Clock {
    pub fn new(slots: u32) -> Self {
        let words = (slots as usize).div_ceil(64);
        Self { slots, hand: 0, used: vec![0; words], touched: vec![0; words] }
    }

    /// The slot holds an entry now.
    pub fn occupy(&mut self, slot: u32, touched: bool) {
        let (word, bit) = Self::bit(slot);
        self.used[word] |= bit;
        self.touched[word] = if touched { self.touched[word] | bit } else { self.touched[word] & !bit };
    }

    /// The slot holds none.
    pub fn release(&mut self, slot: u32) {
        let (word, bit) = Self::bit(slot);
        self.used[word] &= !bit;
        self.touched[word] &= !bit;
    }

    /// The entry was looked up or changed.
    #[inline]
    pub fn touch(&mut self, slot: u32) {
        let (word, bit) = Self::bit(slot);
        self.touched[word] |= bit;
    }

    /// The slot to give up; `None` when none is in use.
    pub fn victim(&mut self) -> Option<u32> {
        // Twice around is enough: the first round clears every touch.
        for _ in 0..2 * u64::from(self.slots) + 1 {
            let slot = self.hand;
            self.hand = if slot + 1 == self.slots { 0 } else { slot + 1 };
            let (word, bit) = Self::bit(slot);
            if self.used[word] & bit == 0 {
                continue;
            }
            if self.touched[word] & bit == 0 {
                return Some(slot);
            }
            self.touched[word] &= !bit;
        }
        None
    }

    fn bit(slot: u32) -> (usize, u64) {
        (slot as usize / 64, 1 << (slot % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hand_passes_touched_slots_once() {
        assert_eq!(Clock::new(4).victim(), None);
        let mut clock = Clock::new(4);
        (0..4).for_each(|slot| clock.occupy(slot, false));
        clock.touch(0);
        clock.touch(2);
        assert_eq!(clock.victim(), Some(1));
        assert_eq!(clock.victim(), Some(3));
        assert_eq!(clock.victim(), Some(0), "its second chance is over");
        clock.release(1);
        (0..4).filter(|&s| s != 1).for_each(|slot| clock.touch(slot));
        assert_eq!(clock.victim(), Some(2), "all touched: the first behind the hand");
    }
}
