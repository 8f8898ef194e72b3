//! Spaces that belong to one tenant: aligned power-of-two ranges of match sets.

use sluice_formats::hash::set_hashes;
use sluice_formats::rmt::target::{EXACT_WAYS, SET_BASE_BITS};
use std::collections::BTreeSet;

/// Who holds how much of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Name of the tenant.
    pub tenant: String,
    /// How much.
    pub amount: u32,
}

impl Holder {
    /// Those that hold something, most first.
    pub(super) fn most_first(all: impl Iterator<Item = Self>) -> Vec<Self> {
        let mut some: Vec<Self> = all.filter(|h| h.amount > 0).collect();
        some.sort_by(|a, b| b.amount.cmp(&a.amount).then_with(|| a.tenant.cmp(&b.tenant)));
        some
    }
}

/// A tenant's match sets: `1 << bits` of them from `base` on, a multiple of their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region {
    /// First set.
    pub base: u32,
    /// Sets, as a power of two.
    pub bits: u32,
}

/// Entries that a set of a large half may hold on average, of its four rows.
const DENSE_PER_SET: u32 = 3;
/// The same for small halves, where chance weighs more.
const SPARSE_PER_SET: u32 = 2;
/// Halves of so many sets are large.
const LARGE_SETS: u32 = 32;

/// One row of an exact table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// Way, 0 to 3.
    pub way: u8,
    /// Set of the table, not of the region.
    pub set: u32,
}

impl Region {
    /// Number of sets.
    pub fn sets(self) -> u32 {
        1 << self.bits
    }

    /// Number of rows.
    pub fn rows(self) -> u32 {
        self.sets() * EXACT_WAYS as u32
    }

    /// Whether the set is in the region.
    pub fn contains(self, set: u32) -> bool {
        set >> self.bits == self.base >> self.bits
    }

    /// Where a masked key may lie: ways 0 and 1 by the first hash, 2 and 3 by the second.
    pub fn slots(self, key: &impl AsRef<[u8]>) -> [Slot; 4] {
        let (hash0, hash1) = set_hashes(key.as_ref());
        let set = |hash: u16| self.base | (u32::from(hash) & (self.sets() - 1));
        let (set0, set1) = (set(hash0), set(hash1));
        [Slot { way: 0, set: set0 }, Slot { way: 1, set: set0 }, Slot { way: 2, set: set1 }, Slot { way: 3, set: set1 }]
    }

    /// The half that one generation uses: the lower one generation 0, the upper one 1.
    ///
    /// A key that is in both generations would otherwise need two of its four rows, and one
    /// replacement in ten of a half-full table by the same keys would find no place. With
    /// halves, a table that fits once always fits, whatever runs beside it.
    pub fn half(self, generation: u8) -> Region {
        let bits = self.bits.saturating_sub(1);
        Region { base: self.base | u32::from(generation & 1) << bits, bits }
    }

    /// The region for a table of this many entries and its replacement beside it, out of a
    /// table of `1 << table_bits` sets; none when even that is too small.
    ///
    /// Two hashes with two rows each are full for random keys at 89.7 % in the limit of large
    /// tables, and earlier in small ones. So a half is filled to three quarters from 32 sets
    /// on and to one half below, and one set holds any four entries. Only a tenant that would
    /// otherwise not fit into the whole table gets a small half filled to three quarters.
    pub fn bits_for(entries: u32, table_bits: u32) -> Option<u32> {
        let sets_at = |per_set: u32| entries.div_ceil(per_set).max(1).next_power_of_two().trailing_zeros();
        let dense = sets_at(DENSE_PER_SET);
        let half = match entries {
            0..=4 => 0,
            _ if 1 << dense >= LARGE_SETS => dense,
            _ => sets_at(SPARSE_PER_SET),
        };
        // A key row names the first set of a half in so many bits.
        let least = table_bits.saturating_sub(SET_BASE_BITS);
        [half, dense].map(|bits| bits.max(least) + 1).into_iter().find(|bits| *bits <= table_bits)
    }

    /// Most entries of one tenant in a table of `1 << table_bits` sets.
    pub fn most_entries(table_bits: u32) -> u32 {
        match table_bits {
            0 => 0,
            1 => 4,
            _ => DENSE_PER_SET << (table_bits - 1),
        }
    }
}

/// Buddy allocator over the match sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetSpace {
    /// Free blocks, smallest first, lowest base first: the order in which they are taken.
    free: BTreeSet<(u32, u32)>,
    bits: u32,
}

impl SetSpace {
    /// All of `sets` free; `sets` is a power of two.
    pub fn new(sets: u32) -> Self {
        let bits = sets.trailing_zeros();
        Self { free: BTreeSet::from([(bits, 0)]), bits }
    }

    /// Free sets in all.
    pub fn free(&self) -> u32 {
        self.free.iter().map(|(bits, _)| 1u32 << bits).sum()
    }

    /// Sets of the largest free block.
    pub fn largest_block(&self) -> u32 {
        self.free.last().map_or(0, |(bits, _)| 1 << bits)
    }

    /// Takes a region of `1 << bits` sets.
    pub fn take(&mut self, bits: u32) -> Option<Region> {
        let (mut have, base) = *self.free.range((bits, 0)..).next()?;
        self.free.remove(&(have, base));
        while have > bits {
            have -= 1;
            self.free.insert((have, base + (1 << have)));
        }
        Some(Region { base, bits })
    }

    /// Gives a region back and joins it with its free buddies.
    pub fn give_back(&mut self, region: Region) {
        let Region { mut base, mut bits } = region;
        while bits < self.bits && self.free.remove(&(bits, base ^ (1 << bits))) {
            base &= !(1 << bits);
            bits += 1;
        }
        self.free.insert((bits, base));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_split_and_joined_again() {
        let mut space = SetSpace::new(16);
        let a = space.take(1).unwrap();
        let b = space.take(3).unwrap();
        let c = space.take(0).unwrap();
        assert_eq!((a.base, b.base, c.base), (0, 8, 2));
        assert!(space.take(3).is_none());
        assert_eq!((space.free(), space.largest_block()), (5, 4));
        for region in [b, a, c] {
            space.give_back(region);
        }
        assert_eq!(space, SetSpace::new(16));
    }

    #[test]
    fn a_region_has_room_for_both_generations() {
        let on_default = |entries| Region::bits_for(entries, 9);
        assert_eq!(
            [4, 5, 8, 32, 33, 96, 97, 192, 384, 385, 768].map(on_default),
            [2, 3, 3, 5, 6, 6, 7, 7, 8, 9, 9].map(Some)
        );
        assert_eq!(on_default(769), None);
        let on_soft = |entries| Region::bits_for(entries, 16);
        assert_eq!([1, 768, 769, 98_304, 98_305].map(on_soft), [Some(9), Some(9), Some(10), Some(16), None]);
        let on_tiny = |entries| Region::bits_for(entries, 4);
        assert_eq!([8, 16, 17, 24, 25, u32::MAX].map(on_tiny), [Some(3), Some(4), Some(4), Some(4), None, None]);
        assert_eq!((Region::most_entries(9), Region::most_entries(4)), (768, 24));
        let region = Region { base: 8, bits: 3 };
        assert_eq!((region.half(0), region.half(1)), (Region { base: 8, bits: 2 }, Region { base: 12, bits: 2 }));
    }
}
