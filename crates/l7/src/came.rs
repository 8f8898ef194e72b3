//! Which packets of a message have come.

/// A bit for each number that a packet can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Came([u64; 4]);

impl Came {
    /// Packet 0 has come.
    pub(crate) fn first() -> Self {
        Self([1, 0, 0, 0])
    }

    /// Whether this one has.
    pub(crate) fn has(self, number: u8) -> bool {
        self.0[usize::from(number / 64)] >> (number % 64) & 1 == 1
    }

    /// This one has come; false if it had before.
    pub(crate) fn add(&mut self, number: u8) -> bool {
        let is_new = !self.has(number);
        self.0[usize::from(number / 64)] |= 1 << (number % 64);
        is_new
    }

    /// Whether all packets of a message of so many have come.
    pub(crate) fn is_all(self, packets: u8) -> bool {
        self.0.iter().map(|word| word.count_ones()).sum::<u32>() == u32::from(packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_have_come_with_the_last_one_and_each_counts_once() {
        for packets in [1, 2, 63, 64, 65, 128, 255] {
            let mut came = Came::first();
            for number in (1..packets).rev() {
                assert!(!came.is_all(packets) && !came.has(number));
                assert!(came.add(number) && !came.add(number) && came.has(number));
            }
            assert!(came.is_all(packets), "{packets}");
        }
    }
}
