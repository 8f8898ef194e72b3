//! Numbers in a row, given out in ranges: rows of tables, pages of memories.

use std::collections::BTreeMap;

/// Numbers in a row, given out in ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::linker) struct RangeSpace {
    /// First number and length of each free range; no two touch.
    free: BTreeMap<u32, u32>,
}

impl RangeSpace {
    pub fn new(all: u32) -> Self {
        Self { free: BTreeMap::from([(0, all)]) }
    }

    /// Takes the lowest of the shortest ranges that are long enough.
    pub fn take(&mut self, length: u32) -> Option<u32> {
        if length == 0 {
            return Some(0);
        }
        let (&start, &have) = self.free.iter().filter(|(_, n)| **n >= length).min_by_key(|(s, n)| (**n, **s))?;
        self.free.remove(&start);
        if have > length {
            self.free.insert(start + length, have - length);
        }
        Some(start)
    }

    /// Takes the last ones of a range that end in front of a number.
    pub fn take_last(&mut self, length: u32, before: u32) -> Option<u32> {
        if length == 0 {
            return Some(0);
        }
        let end_of = |(start, n): (&u32, &u32)| (*start, *n, (start + n).min(before));
        let (start, have, end) =
            self.free.iter().rev().map(end_of).find(|(start, _, end)| end.saturating_sub(*start) >= length)?;
        self.free.remove(&start);
        let first = end - length;
        for (start, end) in [(start, first), (end, start + have)] {
            if end > start {
                self.free.insert(start, end - start);
            }
        }
        Some(first)
    }

    pub fn give_back(&mut self, mut start: u32, mut length: u32) {
        if length == 0 {
            return;
        }
        if let Some(behind) = self.free.remove(&(start + length)) {
            length += behind;
        }
        if let Some((&before, &n)) = self.free.range(..start).next_back()
            && before + n == start
        {
            (start, length) = (before, n + length);
        }
        self.free.insert(start, length);
    }

    pub fn free(&self) -> u32 {
        self.free.values().sum()
    }

    pub fn longest(&self) -> u32 {
        self.free.values().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_split_and_joined_again() {
        let mut space = RangeSpace::new(16);
        let taken: Vec<u32> = [4, 4, 8].iter().map(|&n| space.take(n).unwrap()).collect();
        assert_eq!((taken.as_slice(), space.take(1), space.free()), (&[0, 4, 8][..], None, 0));
        space.give_back(0, 4);
        space.give_back(8, 8);
        assert_eq!((space.take(5), space.longest()), (Some(8), 4));
        // The shortest that is long enough, so that long ones stay.
        assert_eq!((space.take(3), space.take(1)), (Some(13), Some(0)));
        for (start, length) in [(13, 3), (0, 1), (8, 5), (4, 4)] {
            space.give_back(start, length);
        }
        assert_eq!(space, RangeSpace::new(16));
    }

    #[test]
    fn the_last_ones_in_front_of_a_number() {
        let mut space = RangeSpace::new(16);
        assert_eq!(
            [space.take_last(3, 12), space.take_last(2, 12), space.take_last(1, 20)],
            [Some(9), Some(7), Some(15)]
        );
        assert_eq!((space.take_last(8, 16), space.free()), (None, 10));
        space.give_back(7, 5);
        assert_eq!((space.take_last(15, 16), space.free()), (Some(0), 0));
    }
}
