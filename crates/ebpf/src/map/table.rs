//! Keys of a hash map, and the slot of each: open addressing over keys that lie one behind the other.
//!
//! The hash has no seed, so that the same operations give the same order everywhere. A key keeps its
//! position in the table until the table grows, so that deleting or changing entries while going
//! through them neither skips nor repeats one.

const EMPTY: u64 = 0;
/// A key was here; searches go on behind it. Its slot number is none that a map has.
const GONE: u64 = u32::MAX as u64;
const FIRST_POSITIONS: usize = 16;

/// Keys to slots. Slots are the caller's to give.
#[derive(Debug)]
pub(super) struct Table {
    key_size: usize,
    /// Upper half: of the hash. Lower half: slot + 1.
    positions: Vec<u64>,
    /// Key of each slot.
    keys: Vec<u8>,
    used: usize,
    gone: usize,
    /// How often keys have changed their positions.
    rebuilt: u64,
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

const MIX: [u64; 3] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03, 0x8cb9_2ba7_2f3d_8dd7];

/// Hash of a key: eight bytes a step, each folded by a 64 by 64 bit product. The last step takes the
/// last eight bytes, some of them again, which costs less than a word of odd length.
#[inline]
fn hash(key: &[u8]) -> u64 {
    if let Ok(four) = <[u8; 4]>::try_from(key) {
        return fold(u64::from(u32::from_le_bytes(four)) ^ MIX[0], MIX[1]);
    }
    let mut state = MIX[0] ^ key.len() as u64;
    let mut step = |word: u64| state = fold(state ^ word, MIX[1]).wrapping_add(MIX[2]);
    if let Some(last) = key.last_chunk::<8>() {
        let (words, rest) = key.as_chunks::<8>();
        words.iter().for_each(|eight| step(u64::from_le_bytes(*eight)));
        if !rest.is_empty() {
            step(u64::from_le_bytes(*last));
        }
    } else if let (Some(first), Some(last)) = (key.first_chunk::<4>(), key.last_chunk::<4>()) {
        step(u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32);
    } else {
        step(key.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }
    fold(state, MIX[2])
}

/// Whether two keys of one length are the same; the common lengths without a call of memcmp.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    if let (Some(a_last), Some(b_last)) = (a.last_chunk::<8>(), b.last_chunk::<8>()) {
        return a_last == b_last && a.as_chunks::<8>().0.iter().eq(b.as_chunks::<8>().0);
    }
    match (<[u8; 4]>::try_from(a), <[u8; 4]>::try_from(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

impl Table {
    pub fn new(key_size: usize) -> Self {
        Self { key_size, positions: vec![EMPTY; FIRST_POSITIONS], keys: Vec::new(), used: 0, gone: 0, rebuilt: 0 }
    }

    /// Keys that are in.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Key of a slot that is in use.
    pub fn key(&self, slot: u32) -> &[u8] {
        let at = slot as usize * self.key_size;
        &self.keys[at..at + self.key_size]
    }

    /// Slot of a key.
    #[inline]
    pub fn find(&self, key: &[u8]) -> Option<u32> {
        self.position(key).map(|p| self.positions[p] as u32 - 1)
    }

    #[inline]
    fn position(&self, key: &[u8]) -> Option<usize> {
        let hash = hash(key);
        let mask = self.positions.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let entry = self.positions[at];
            if entry == EMPTY {
                return None;
            }
            if entry >> 32 == hash >> 32 && entry != GONE && same(self.key(entry as u32 - 1), key) {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a key that is not in, for a slot that has none.
    pub fn insert(&mut self, key: &[u8], slot: u32) {
        // At most half of the positions are taken, so that a search is short and ends.
        if (self.used + self.gone + 1) * 2 > self.positions.len() {
            self.rebuild();
        }
        self.set_key(slot, key);
        self.place(hash(key), slot);
        self.used += 1;
    }

    /// Gives a key another slot; the old one is returned.
    pub fn exchange(&mut self, key: &[u8], slot: u32) -> Option<u32> {
        let position = self.position(key)?;
        let entry = self.positions[position];
        self.positions[position] = entry & !u64::from(u32::MAX) | u64::from(slot + 1);
        self.set_key(slot, key);
        Some(entry as u32 - 1)
    }

    /// Takes a key out; its slot is returned.
    pub fn remove(&mut self, key: &[u8]) -> Option<u32> {
        let position = self.position(key)?;
        Some(self.clear(position))
    }

    /// Takes the key of a slot out.
    pub fn remove_slot(&mut self, slot: u32) {
        if let Some(position) = self.position(self.key(slot)) {
            self.clear(position);
        }
    }

    fn clear(&mut self, mut at: usize) -> u32 {
        let slot = self.positions[at] as u32 - 1;
        self.used -= 1;
        let mask = self.positions.len() - 1;
        if self.positions[(at + 1) & mask] != EMPTY {
            self.positions[at] = GONE;
            self.gone += 1;
            return slot;
        }
        // No search goes on behind here, so what was left before it can go too.
        self.positions[at] = EMPTY;
        loop {
            at = at.wrapping_sub(1) & mask;
            if self.positions[at] != GONE {
                return slot;
            }
            self.positions[at] = EMPTY;
            self.gone -= 1;
        }
    }

    /// The first slot in use at or behind table position `from`, and the position behind it.
    pub fn next(&self, from: usize) -> Option<(usize, u32)> {
        let rest = self.positions.get(from..)?;
        let at = from + rest.iter().position(|&e| e != EMPTY && e != GONE)?;
        Some((at + 1, self.positions[at] as u32 - 1))
    }

    /// The last key in front of a table position.
    pub fn before(&self, position: usize) -> Option<&[u8]> {
        let taken = |&e: &u64| e != EMPTY && e != GONE;
        let at = self.positions.get(..position)?.iter().rposition(taken)?;
        Some(self.key(self.positions[at] as u32 - 1))
    }

    /// Table position behind a key.
    pub fn behind(&self, key: &[u8]) -> Option<usize> {
        self.position(key).map(|p| p + 1)
    }

    fn set_key(&mut self, slot: u32, key: &[u8]) {
        let at = slot as usize * self.key_size;
        if self.keys.len() < at + self.key_size {
            self.keys.resize(at + self.key_size, 0);
        }
        self.keys[at..at + self.key_size].copy_from_slice(key);
    }

    fn place(&mut self, hash: u64, slot: u32) {
        let mask = self.positions.len() - 1;
        let mut at = hash as usize & mask;
        while self.positions[at] != EMPTY && self.positions[at] != GONE {
            at = (at + 1) & mask;
        }
        self.gone -= usize::from(self.positions[at] == GONE);
        self.positions[at] = hash & !u64::from(u32::MAX) | u64::from(slot + 1);
    }

    /// What is another number after keys have changed their positions.
    pub fn order(&self) -> u64 {
        self.rebuilt
    }

    fn rebuild(&mut self) {
        self.rebuilt += 1;
        let positions = ((self.used + 1) * 4).next_power_of_two().max(FIRST_POSITIONS);
        let old = std::mem::replace(&mut self.positions, vec![EMPTY; positions]);
        self.gone = 0;
        for entry in old.into_iter().filter(|&e| e != EMPTY && e != GONE) {
            let slot = entry as u32 - 1;
            let hash = hash(self.key(slot));
            self.place(hash, slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::random::{Rng, test_seed};
    use std::collections::BTreeMap;

    #[test]
    fn a_table_is_a_map_from_keys_to_slots() {
        let mut rng = Rng::new(test_seed("a_table_is_a_map_from_keys_to_slots"));
        for key_size in [1, 3, 4, 7, 8, 13, 16, 33] {
            let mut table = Table::new(key_size);
            let mut model = BTreeMap::new();
            let mut free: Vec<u32> = (0..500).collect(); // 400 keys, and one to exchange
            for _ in 0..4000 {
                let mut key = vec![0; key_size];
                key[0] = rng.below(200) as u8;
                key[key_size - 1] ^= rng.below(2) as u8;
                match rng.below(4) {
                    0 => assert_eq!(table.find(&key), model.get(&key).copied()),
                    1 => {
                        let removed = model.remove(&key);
                        assert_eq!(table.remove(&key), removed);
                        free.extend(removed);
                    }
                    2 if model.contains_key(&key) => {
                        let slot = free.pop().unwrap();
                        let old = model.insert(key.clone(), slot).unwrap();
                        assert_eq!(table.exchange(&key, slot), Some(old));
                        free.push(old);
                    }
                    _ if !model.contains_key(&key) => {
                        let Some(slot) = free.pop() else { continue };
                        table.insert(&key, slot);
                        model.insert(key, slot);
                    }
                    _ => {}
                }
                assert_eq!(table.len(), model.len());
            }
            let (mut seen, mut from) = (BTreeMap::new(), 0);
            while let Some((next, slot)) = table.next(from) {
                seen.insert(table.key(slot).to_vec(), slot);
                from = next;
            }
            assert_eq!(seen, model);
        }
    }

    #[test]
    fn entries_that_come_and_go_leave_no_trace() {
        let mut table = Table::new(4);
        for i in 0..100_000u32 {
            table.insert(&i.to_le_bytes(), i % 8);
            if i >= 7 {
                assert_eq!(table.remove(&(i - 7).to_le_bytes()), Some((i - 7) % 8));
            }
        }
        assert!(table.positions.len() <= 64, "{}", table.positions.len());
    }

    #[test]
    fn going_through_while_deleting_meets_each_key_once() {
        let mut table = Table::new(4);
        (0..1000u32).for_each(|i| table.insert(&i.to_le_bytes(), i));
        let (mut from, mut met) = (0, 0);
        while let Some((next, slot)) = table.next(from) {
            let key = table.key(slot).to_vec();
            table.remove(&key);
            (from, met) = (next, met + 1);
        }
        assert_eq!((met, table.len()), (1000, 0));
    }
}
