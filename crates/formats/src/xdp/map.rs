//! Maps of the XDP engine: what one takes of value memory and search memory, and its rows.
//!
//! Search memory holds, from a map's first row on: its state, the slots set aside (four in a row), the beginnings of its chains (four in a row), used
//! and touched bits of an LRU map (64 slots in a row), entries. In external memory each of them begins at a multiple of 256 rows, but for what is set
//! aside. docs/design/hxdp-core.md says what each means.

use super::codes::XdpMapKind;
use super::rows::{XdpMapRow, XdpMapState, XdpSearchRow};
use super::target::{KEY_BYTES, OUTSIDE_SEARCH, VALUE_BYTES};
use crate::row::Row;

/// Most chains of a map, as a power of two: of narrow and of wide links.
const MOST_CHAIN_BITS: [u32; 2] = [14, 20];
/// Most slots of all copies of a map, and of a trie.
pub const MOST_SLOTS: u64 = 1 << 17;
/// The same where links are wide.
pub const MOST_WIDE_SLOTS: u64 = (1 << 24) - 1;
/// Rows of search memory outside in which a map's row counts.
const OUTSIDE_ROWS: u32 = 256;
/// Most slots of an array: those of a word of 8 bytes that 1 GiB has.
pub const MOST_ELEMENTS: u64 = 1 << 27;
/// Bytes of a key in an entry's first row: behind a narrow and behind a wide link.
const FIRST_KEY_BYTES: [u32; 2] = [12, 8];
/// Slots of a trie beyond its entries: a value that was replaced stays until so many others were.
const TRIE_SPARE: u32 = 64;

/// What a map is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapShape {
    /// Its kind.
    pub kind: XdpMapKind,
    /// Each context has a copy of every value.
    pub per_cpu: bool,
    /// A full map gives up an entry that was not used for long.
    pub lru: bool,
    /// Programs may not change it.
    pub constant: bool,
    /// Bytes of a key.
    pub key_bytes: u32,
    /// Bytes of a value.
    pub value_bytes: u32,
    /// Most entries.
    pub entries: u32,
    /// Contexts of the engine.
    pub contexts: u32,
    /// Offset of the spin lock in a value.
    pub lock: Option<u32>,
    /// Links of entries have a word of their own: on engines with external memory.
    pub wide: bool,
}

/// Where a map is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapPlacement {
    /// The module.
    pub module: u8,
    /// Address of the first value; 0 where programs see none.
    pub first: u32,
    /// Values lie in external memory.
    pub outside: bool,
    /// First 4 KiB of value memory, or 64 KiB of external memory.
    pub base: u16,
    /// First row of search memory, as the host counts them.
    pub search: u32,
    /// What the hash begins with.
    pub seed: u32,
}

/// What the engine has not, of a map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapLimit {
    /// The key.
    #[error("keys of {0} bytes, of 1 to {KEY_BYTES}")]
    Key(u32),
    /// The value.
    #[error("values of {0} bytes, of 1 to {VALUE_BYTES}")]
    Value(u32),
    /// Entries.
    #[error("{0} places for values, of at most {1}")]
    Slots(u64, u64),
}

impl XdpMapKind {
    /// Whether entries lie in chains.
    pub fn has_chains(self) -> bool {
        matches!(self, Self::Hash | Self::KeyedReferences | Self::KeyedMaps)
    }

    /// Whether it has elements without keys.
    pub fn is_queue(self) -> bool {
        matches!(self, Self::Queue | Self::Stack)
    }

    /// Whether an entry names an interface.
    pub fn names_interfaces(self) -> bool {
        matches!(self, Self::Devices | Self::KeyedReferences)
    }
}

impl MapShape {
    /// Whether the engine can have such a map at all.
    pub fn check(&self) -> Result<(), MapLimit> {
        let (key, value) = (self.key_bytes as usize, self.value_bytes as usize);
        if (key == 0) != self.kind.is_queue() || key > KEY_BYTES {
            return Err(MapLimit::Key(self.key_bytes));
        }
        if value == 0 || value > VALUE_BYTES {
            return Err(MapLimit::Value(self.value_bytes));
        }
        let most = match self.kind {
            XdpMapKind::Array if !self.per_cpu => MOST_ELEMENTS,
            XdpMapKind::Trie => MOST_SLOTS,
            _ if self.wide => MOST_WIDE_SLOTS,
            _ => MOST_SLOTS,
        };
        match (u64::from(self.slots()) + u64::from(self.sent_to_slot().is_some())) * u64::from(self.copies()) {
            slots if slots > most => Err(MapLimit::Slots(slots, most)),
            _ => Ok(()),
        }
    }

    /// Whether its values may lie in external memory: those that programs or the host read and write one by one.
    pub fn may_lie_outside(&self) -> bool {
        matches!(self.kind, XdpMapKind::Array | XdpMapKind::Hash | XdpMapKind::Trie)
    }

    /// Whether search memory says where entries are; those of other kinds are found by index.
    pub fn searched(&self) -> bool {
        self.has_chains() || self.kind == XdpMapKind::Trie || self.kind.is_queue()
    }

    /// Whether its entries lie in chains.
    pub fn has_chains(&self) -> bool {
        self.kind.has_chains()
    }

    /// Copies of each value.
    pub fn copies(&self) -> u32 {
        if self.per_cpu { self.contexts } else { 1 }
    }

    /// Slots set aside for changes: one a context where values are not changed in place.
    pub fn asides(&self) -> u32 {
        if self.has_chains() && !self.per_cpu { self.contexts } else { 0 }
    }

    /// Slots of one copy.
    pub fn slots(&self) -> u32 {
        let spare = match self.kind {
            XdpMapKind::Trie => TRIE_SPARE,
            // Behind its ring one a context, for what was popped.
            XdpMapKind::Queue | XdpMapKind::Stack => self.contexts,
            _ => self.asides(),
        };
        self.entries.saturating_add(spare)
    }

    /// The spin lock as rows say it: its word of 4 bytes in a value, and 1; 0 is none.
    pub fn lock_word(&self) -> u8 {
        self.lock.map_or(0, |offset| u8::try_from(offset / 4 + 1).unwrap_or(0))
    }

    /// Values lie every 2^shift bytes.
    pub fn shift(&self) -> u8 {
        u64::from(self.value_bytes.max(8)).next_power_of_two().trailing_zeros() as u8
    }

    /// Where a devmap keeps the destinations that its entries name: behind its last slot.
    pub fn sent_to_slot(&self) -> Option<u32> {
        self.kind.names_interfaces().then(|| self.slots())
    }

    /// Bytes of all values, with what lies between them.
    pub fn all_values(&self) -> u64 {
        (u64::from(self.slots()) * u64::from(self.copies())).saturating_mul(1 << self.shift())
    }

    /// Bytes of value memory.
    pub fn value_memory(&self) -> u64 {
        self.all_values().saturating_add(self.sent_to_slot().map_or(0, |_| 1 << self.shift()))
    }

    fn entry_rows(&self) -> u32 {
        let beyond = match self.kind {
            // A key begins with 4 bytes of prefix length; a node's first row has 8 bytes of the address.
            XdpMapKind::Trie => self.key_bytes.saturating_sub(4 + 8),
            _ => self.key_bytes.saturating_sub(FIRST_KEY_BYTES[usize::from(self.wide)]),
        };
        1 + beyond.div_ceil(16)
    }

    /// An entry takes 2^shift rows of search memory.
    fn entry_shift(&self) -> u8 {
        self.entry_rows().next_power_of_two().trailing_zeros() as u8
    }

    fn bucket_bits(&self) -> u8 {
        self.entries.next_power_of_two().trailing_zeros().clamp(2, MOST_CHAIN_BITS[usize::from(self.wide)]) as u8
    }

    /// Rows in front of buckets, clock bits and entries, and of all, in external memory or on the chip.
    fn parts(&self, outside: bool) -> [u32; 4] {
        let aligned = |rows: u32| if outside { rows.next_multiple_of(OUTSIDE_ROWS) } else { rows };
        let asides = aligned(1 + self.asides().div_ceil(4));
        let buckets = if self.has_chains() { aligned(1u32 << (self.bucket_bits() - 2)) } else { 0 };
        let clock = if self.lru { aligned(self.slots().div_ceil(64)) } else { 0 };
        // A trie of n entries has n - 1 forks at most.
        let entries = match self.kind {
            XdpMapKind::Trie => 2 * self.entries,
            // Its state alone.
            XdpMapKind::Queue | XdpMapKind::Stack => 0,
            _ => self.slots(),
        };
        let entry = asides + buckets + clock;
        [asides, asides + buckets, entry, entry + (entries << self.entry_shift())]
    }

    /// Rows of search memory, in external memory or on the chip.
    pub fn search_rows(&self, outside: bool) -> u32 {
        if self.searched() { self.parts(outside)[3] } else { 0 }
    }

    /// Its row of the table of maps.
    pub fn row(&self, place: &MapPlacement) -> XdpMapRow {
        let [bucket, clock, entry, _] = if self.searched() { self.parts(place.search_outside()) } else { [0; 4] };
        let search = |rows: u32| search_field(place.search + rows);
        XdpMapRow {
            valid: true,
            module_id: place.module,
            kind: self.kind.code(),
            per_cpu: self.per_cpu,
            lru: self.lru,
            constant: self.constant,
            key_bytes: self.key_bytes as u8,
            value_bytes: self.value_bytes as u16,
            shift: self.shift(),
            entries: self.entries,
            slots: self.slots(),
            first: place.first,
            outside: place.outside,
            base: place.base,
            state: search(0),
            bucket: search(bucket),
            bucket_bits: self.bucket_bits(),
            clock: search(clock),
            entry: search(entry),
            entry_shift: self.entry_shift(),
            seed: place.seed,
            lock: self.lock_word(),
        }
    }

    /// Rows of search memory with a slot's entry, or a trie's node.
    pub fn entry(&self, place: &MapPlacement, slot: u32) -> std::ops::Range<u32> {
        let first = place.search + self.parts(place.search_outside())[2] + (slot << self.entry_shift());
        first..first + self.entry_rows()
    }

    /// The key in an entry's rows.
    pub fn key(&self, rows: &[XdpSearchRow]) -> Vec<u8> {
        let words = rows.iter().flat_map(|row| row.words).skip(if self.wide { 2 } else { 1 });
        words.flat_map(u32::to_le_bytes).take(self.key_bytes as usize).collect()
    }

    /// Rows of search memory on the chip that an empty map begins with, from its first one on. Entries need none.
    pub fn empty(&self) -> Vec<XdpSearchRow> {
        let mut rows = self.first_rows();
        let all = if self.searched() { self.parts(false)[2] } else { 0 };
        rows.resize(all as usize, XdpSearchRow::default());
        rows
    }

    /// Those of them that are not zero: what is free, and what is set aside.
    pub fn first_rows(&self) -> Vec<XdpSearchRow> {
        if !self.searched() {
            return Vec::new();
        }
        let state = XdpMapState { fresh: self.asides(), ..XdpMapState::default() };
        let words = state.pack().unwrap_or_default();
        let mut rows = vec![XdpSearchRow { words: [0, 1, 2, 3].map(|i| words.get(i).copied().unwrap_or_default()) }];
        let asides: Vec<u32> = (0..self.asides()).collect();
        rows.extend(
            asides
                .chunks(4)
                .map(|four| XdpSearchRow { words: [0, 1, 2, 3].map(|i| four.get(i).copied().unwrap_or_default()) }),
        );
        rows
    }
}

impl MapShape {
    /// Rows of search memory that a map with these keys begins with, by their distance from its first one; the first key has the first slot behind
    /// those set aside.
    pub fn holding(&self, keys: &[Vec<u8>], seed: u32) -> Vec<(u32, XdpSearchRow)> {
        let mut rows = self.empty();
        let Some(state) = rows.first_mut().filter(|_| !keys.is_empty()) else { return (0..).zip(rows).collect() };
        state.words[0] = keys.len() as u32;
        state.words[1] = self.asides() + keys.len() as u32;
        let [bucket, clock, entry, _] = self.parts(false);
        let mut entries = Vec::new();
        for (slot, key) in (self.asides()..).zip(keys) {
            let chain = self.chain(key, seed);
            let head = &mut rows[(bucket + chain / 4) as usize].words[(chain % 4) as usize];
            let link = std::mem::replace(head, slot + 1);
            let mut bytes = match self.wide {
                true => [link, chain].map(u32::to_le_bytes).concat(),
                false => (chain << LINK_BITS | link).to_le_bytes().to_vec(),
            };
            bytes.extend(key);
            bytes.resize(bytes.len().next_multiple_of(16), 0);
            let word = |row: &[u8], at: usize| u32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]);
            let first = entry + (slot << self.entry_shift());
            entries.extend(
                (first..)
                    .zip(bytes.chunks(16))
                    .map(|(at, row)| (at, XdpSearchRow { words: [0, 4, 8, 12].map(|b| word(row, b)) })),
            );
            if self.lru {
                rows[(clock + slot / 64) as usize].words[(slot / 32 % 2) as usize] |= 1 << (slot % 32);
            }
        }
        (0..).zip(rows).chain(entries).collect()
    }

    /// The same of a queue or stack with so many elements, which lie in its first slots.
    pub fn filled(&self, elements: u32) -> Vec<(u32, XdpSearchRow)> {
        vec![(0, XdpSearchRow { words: [elements, elements % self.entries.max(1), 0, 0] })]
    }

    /// Number of a key's chain, as sluice_xdp_hash computes it.
    pub fn chain(&self, key: &[u8], seed: u32) -> u32 {
        let mut sum = 0u64;
        for (index, chunk) in (0u32..).zip(key.chunks(8)) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let word = u64::from_le_bytes(word);
            let turned = ((u64::from(seed) << 32 | u64::from(seed)) >> (5 * index)) as u32;
            let left = (word as u32).wrapping_add(turned);
            let right = ((word >> 32) as u32).wrapping_add(turned.rotate_right(13) | 1);
            let product = u64::from(left) * u64::from(right);
            sum = if index == 0 { product } else { sum.rotate_left(13).wrapping_add(product) };
        }
        let folded = (sum >> 50) ^ (sum >> 36) ^ (sum >> 22) ^ (sum >> 8);
        folded as u32 & ((1 << self.bucket_bits()) - 1)
    }
}

/// Bits of a slot and 1 in a narrow link; above them an entry has its chain.
const LINK_BITS: u32 = 18;

/// A row of search memory as a map's row has it.
fn search_field(row: u32) -> u16 {
    match row.checked_sub(OUTSIDE_SEARCH) {
        Some(outside) => 1 << 15 | (outside / OUTSIDE_ROWS) as u16,
        None => row as u16,
    }
}

/// The row of search memory that a map's row has.
pub fn search_row(field: u16) -> u32 {
    if field & 1 << 15 == 0 { field.into() } else { OUTSIDE_SEARCH + u32::from(field & 0x7fff) * OUTSIDE_ROWS }
}

impl MapPlacement {
    /// Whether its rows of search memory lie in external memory.
    pub fn search_outside(&self) -> bool {
        self.search >= OUTSIDE_SEARCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(kind: XdpMapKind, key_bytes: u32, entries: u32) -> MapShape {
        MapShape {
            kind,
            per_cpu: false,
            lru: false,
            constant: false,
            key_bytes,
            value_bytes: 12,
            entries,
            contexts: 8,
            lock: None,
            wide: false,
        }
    }

    #[test]
    fn a_hash_map_has_state_asides_chains_and_entries() {
        let map = MapShape { lru: true, ..shape(XdpMapKind::Hash, 13, 100) };
        let place = MapPlacement { module: 3, first: 0x4000_0000, outside: false, base: 2, search: 50, seed: 9 };
        let row = map.row(&place);
        // One row of state, two of asides, 128 chains in 32 rows, 108 slots in two rows of bits, two rows an entry.
        assert_eq!((row.state, row.bucket, row.clock, row.entry), (50, 53, 85, 87));
        assert_eq!((row.bucket_bits, row.entry_shift, row.shift, row.slots), (7, 1, 4, 108));
        assert_eq!(map.search_rows(false), 37 + 216);
        let empty = map.empty();
        assert_eq!((empty.len(), empty[0].words, empty[2].words), (37, [0, 8, 0, 0], [4, 5, 6, 7]));
        assert_eq!(map.value_memory(), 108 * 16);
    }

    #[test]
    fn a_wide_map_has_links_of_a_word_and_more_chains() {
        let map = MapShape { lru: true, wide: true, ..shape(XdpMapKind::Hash, 13, 1 << 20) };
        let first = OUTSIDE_SEARCH + 3 * 4096;
        let place = MapPlacement { module: 3, first: 0x4000_0000, outside: true, base: 2, search: first, seed: 9 };
        let row = map.row(&place);
        // In 256 rows: one with state and asides, 2^18 of chains, 2^14 of bits and one more for 8 slots set aside.
        assert_eq!((row.state, row.bucket, row.clock), (0x8000 + 48, 0x8000 + 49, 0x8000 + 49 + 1024));
        assert_eq!((row.entry, row.bucket_bits, row.entry_shift), (0x8000 + 49 + 1024 + 65, 20, 1));
        assert_eq!(search_row(row.entry), map.entry(&place, 0).start);
        assert_eq!(map.search_rows(true), 256 * (1 + 1024 + 65) + 2 * ((1 << 20) + 8));
        assert_eq!([8, 9, 24, 25, 64].map(|b| MapShape { key_bytes: b, ..map }.entry_rows()), [1, 2, 2, 3, 5]);
        let small = MapShape { entries: 2, ..map };
        let rows = small.holding(&[vec![7; 13]], 9);
        let entry = &rows[rows.len() - 2..];
        assert_eq!(entry[0].1.words, [0, small.chain(&[7; 13], 9), 0x0707_0707, 0x0707_0707]);
        assert_eq!(small.key(&[entry[0].1, entry[1].1]), [7; 13]);
    }

    #[test]
    fn a_queue_has_a_row_of_state_and_a_slot_more_for_each_context() {
        let queue = shape(XdpMapKind::Queue, 0, 5);
        assert_eq!((queue.check(), queue.search_rows(false), queue.slots()), (Ok(()), 1, 13));
        assert_eq!((queue.empty().len(), queue.empty()[0].words), (1, [0; 4]));
        assert_eq!(queue.filled(5), [(0, XdpSearchRow { words: [5, 0, 0, 0] })]);
        assert_eq!(queue.filled(2)[0].1.words, [2, 2, 0, 0]);
        assert_eq!(queue.value_memory(), 13 * 16);
        assert_eq!(shape(XdpMapKind::Stack, 4, 5).check(), Err(MapLimit::Key(4)));
        assert_eq!(shape(XdpMapKind::Hash, 0, 5).check(), Err(MapLimit::Key(0)));
    }

    #[test]
    fn what_is_too_large_is_said() {
        assert_eq!(shape(XdpMapKind::Hash, 65, 1).check(), Err(MapLimit::Key(65)));
        let large = MapShape { value_bytes: 513, ..shape(XdpMapKind::Hash, 4, 1) };
        assert_eq!(large.check(), Err(MapLimit::Value(513)));
        assert_eq!(MapShape { kind: XdpMapKind::Array, ..large }.check(), Err(MapLimit::Value(513)));
        assert_eq!(shape(XdpMapKind::Hash, 4, 1 << 17).check(), Err(MapLimit::Slots((1 << 17) + 8, 1 << 17)));
        assert_eq!(shape(XdpMapKind::Array, 4, 1 << 27).check(), Ok(()));
        assert_eq!(shape(XdpMapKind::Array, 4, (1 << 27) + 1).check(), Err(MapLimit::Slots((1 << 27) + 1, 1 << 27)));
        let copies = MapShape { per_cpu: true, ..shape(XdpMapKind::Array, 4, 1 << 15) };
        assert_eq!(copies.check(), Err(MapLimit::Slots(1 << 18, 1 << 17)));
        let wide = |kind, entries| MapShape { wide: true, ..shape(kind, 4, entries) };
        assert_eq!(MapShape { wide: true, ..copies }.check(), Ok(()));
        assert_eq!(wide(XdpMapKind::Hash, (1 << 24) - 9).check(), Ok(()));
        assert_eq!(wide(XdpMapKind::Hash, (1 << 24) - 8).check(), Err(MapLimit::Slots(1 << 24, (1 << 24) - 1)));
        assert_eq!(wide(XdpMapKind::Trie, (1 << 17) - 63).check(), Err(MapLimit::Slots((1 << 17) + 1, 1 << 17)));
    }

    #[test]
    fn a_devmap_has_a_word_behind_its_last_slot() {
        let devices = MapShape { value_bytes: 4, ..shape(XdpMapKind::Devices, 4, 6) };
        assert_eq!((devices.sent_to_slot(), devices.all_values(), devices.value_memory()), (Some(6), 48, 56));
        let keyed = MapShape { kind: XdpMapKind::KeyedReferences, ..devices };
        assert_eq!((keyed.sent_to_slot(), keyed.value_memory()), (Some(14), 120));
        assert_eq!(shape(XdpMapKind::Devices, 4, 1 << 17).check(), Err(MapLimit::Slots((1 << 17) + 1, 1 << 17)));
    }

    #[test]
    fn keys_take_the_rows_that_they_need() {
        let rows = |kind, bytes| 1 << shape(kind, bytes, 4).entry_shift();
        assert_eq!([1, 12, 13, 28, 29, 60, 61, 64].map(|b| rows(XdpMapKind::Hash, b)), [1, 1, 2, 2, 4, 4, 8, 8]);
        assert_eq!([5, 8, 12, 13, 20, 28].map(|b| rows(XdpMapKind::Trie, b)), [1, 1, 1, 2, 2, 2]);
    }
}
