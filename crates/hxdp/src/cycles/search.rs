//! Operations of the map engine: what each takes of its two halves (docs/design/hxdp-core.md, "Maps").

use crate::op::LOOKUP;
use crate::pass::queues::{GIVEN, PUSH};
use sluice_ebpf::{MapSpec, MapType};

/// What is done with a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// Looks a key up.
    Lookup,
    /// Writes a value, into an entry that is there or a new one.
    Update,
    /// Takes an entry out.
    Delete,
    /// Writes an element of a queue or stack.
    Push,
    /// Copies one to the context's own slot.
    Give,
    /// Reads an entry by index, without a key in memory: `redirect_map`, `tail_call`.
    Reference,
}

/// An operation. The entry is taken to be the first of its chain: what chains do is not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Search {
    /// What is done.
    pub what: What,
    /// Found by its key's hash, not by index.
    pub keyed: bool,
    /// A trie, whose walk is taken to be of two nodes.
    pub trie: bool,
    /// Words of 8 bytes of its key.
    pub key: u8,
    /// And of its value.
    pub value: u8,
    /// It only reads search memory, so it may be under way beside another one.
    pub only_looks: bool,
}

impl Search {
    /// Of a helper with this number, on a map of this kind.
    pub fn new(helper: i32, map: &MapSpec) -> Self {
        let what = match helper {
            2 => What::Update,
            3 => What::Delete,
            PUSH => What::Push,
            id if GIVEN.contains(&id) => What::Give,
            1 | 195 => What::Lookup,
            _ => What::Reference,
        };
        let words = |bytes: u32| bytes.div_ceil(8).min(255) as u8;
        let indexed = [
            MapType::Array,
            MapType::PercpuArray,
            MapType::ProgArray,
            MapType::Devmap,
            MapType::Cpumap,
            MapType::Xskmap,
            MapType::ArrayOfMaps,
        ];
        let trie = map.kind == MapType::LpmTrie;
        Self {
            what,
            keyed: !indexed.contains(&map.kind) && !trie && !map.kind.is_queue(),
            trie,
            key: words(map.key_size).max(1),
            value: words(map.value_size).max(1),
            only_looks: helper == LOOKUP && matches!(map.kind, MapType::Hash | MapType::PercpuHash | MapType::LpmTrie),
        }
    }
}

/// Cycles of the map engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapEngine {
    /// First half: an operation by index without a key in memory.
    pub call: u64,
    /// A key of 8 bytes besides.
    pub key: u64,
    /// Each 8 bytes of the key behind them.
    pub key_word: u64,
    /// The hash of one with more than 8 bytes besides; of a shorter one a cycle less.
    pub hash: u64,
    /// Second half: entry of an array, or reference by index.
    pub index: u64,
    /// Lookup by hash.
    pub lookup: u64,
    /// Each 16 bytes of the key behind the first.
    pub rest: u64,
    /// Lookup in a trie.
    pub trie: u64,
    /// What an update takes besides its lookup and a cycle for each word of its value.
    pub change: u64,
    /// The same of a delete.
    pub delete: u64,
    /// A push, besides a cycle for each word of its value.
    pub push: u64,
    /// A pop or peek, and each word of its value.
    pub give: u64,
    /// As above.
    pub give_word: u64,
    /// Cycles in the second half that no operation takes less than.
    pub least: u64,
}

impl Default for MapEngine {
    fn default() -> Self {
        Self {
            call: 1,
            key: 3,
            key_word: 1,
            hash: 3,
            index: 5,
            lookup: 4,
            rest: 1,
            trie: 9,
            change: 1,
            delete: 3,
            push: 5,
            give: 4,
            give_word: 7,
            least: 1,
        }
    }
}

impl MapEngine {
    /// Of the first half.
    pub fn front(&self, search: Search) -> u64 {
        let hash = match search.key {
            _ if !search.keyed => 0,
            1 => self.hash.saturating_sub(1),
            _ => self.hash,
        };
        match search.what {
            What::Reference | What::Push | What::Give => self.call + hash,
            _ => self.call + self.key + u64::from(search.key - 1) * self.key_word + hash,
        }
    }

    /// Of the second half.
    pub fn back(&self, search: Search) -> u64 {
        let found = match (search.keyed, search.trie) {
            (true, _) => self.lookup + u64::from((search.key - 1) / 2) * self.rest,
            (_, true) => self.trie,
            _ => self.index,
        };
        let cycles = match search.what {
            What::Lookup | What::Reference => found,
            What::Update if search.keyed => found + self.change + u64::from(search.value),
            What::Update => found + u64::from(search.value),
            What::Delete => found + self.delete,
            What::Push => self.push + u64::from(search.value),
            What::Give => self.give + u64::from(search.value) * self.give_word,
        };
        cycles.max(self.least)
    }

    /// Cycles at the end of an operation in which nobody else reaches values: while an update writes its value.
    pub fn locked(&self, search: Search) -> u64 {
        if matches!(search.what, What::Update | What::Push) { u64::from(search.value) } else { 0 }
    }
}
