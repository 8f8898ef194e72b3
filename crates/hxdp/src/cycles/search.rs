//! Operations of the map engine: what each takes of its two halves (docs/design/hxdp-core.md, "Maps").

use crate::op::LOOKUP;
use crate::pass::queues::{GIVEN, PUSH};
use sluice_ebpf::{MapSpec, MapType};
use std::hash::{DefaultHasher, Hash, Hasher};

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
    /// Whose slots have bits of use: of an LRU map.
    pub lru: bool,
    /// Words of 8 bytes of its key.
    pub key: u8,
    /// And of its value.
    pub value: u8,
    /// It only reads search memory, so it may be under way beside another one.
    pub only_looks: bool,
    /// Which map it is, as a number made of its name: nobody looks beside a change of his map.
    pub map: u64,
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
        let mut name = DefaultHasher::new();
        map.name.hash(&mut name);
        Self {
            map: name.finish(),
            lru: map.kind.is_lru(),
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
    /// The index in a key's place.
    pub index_key: u64,
    /// A key of 8 bytes.
    pub key: u64,
    /// Cycles from one key to the next, less those for each 8 bytes behind the first.
    pub key_every: u64,
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
    /// And in an LRU map, which is full: 6 for the entry that goes, less 2 that a lookup in front of it takes for one that is not there.
    pub lru: u64,
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
            index_key: 1,
            key: 3,
            key_every: 3,
            key_word: 1,
            hash: 3,
            index: 5,
            lookup: 4,
            rest: 1,
            trie: 8,
            change: 1,
            lru: 4,
            delete: 3,
            push: 5,
            give: 4,
            give_word: 7,
            least: 1,
        }
    }
}

impl MapEngine {
    /// Of the first half, in front of the hash.
    fn read(&self, search: Search) -> u64 {
        match search.what {
            What::Reference | What::Push | What::Give => self.call + self.index_key,
            _ => self.call + self.key + u64::from(search.key - 1) * self.key_word,
        }
    }

    /// Of the hash.
    fn hash(&self, search: Search) -> u64 {
        match search.key {
            _ if !search.keyed => 0,
            1 => self.hash.saturating_sub(1),
            _ => self.hash,
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
            What::Update if search.keyed => {
                found + self.change + u64::from(search.value) + if search.lru { self.lru } else { 0 }
            }
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

/// The first half, which all cores share: it reads a key while the one before is hashed or waits for the second half.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstHalf {
    /// First cycle in which it takes another operation.
    free: u64,
    /// When the operation before was taken from it.
    pub taken: u64,
}

impl FirstHalf {
    /// When an operation that comes then is found.
    pub fn found(&mut self, comes: u64, engine: &MapEngine, search: Search) -> u64 {
        let begins = comes.max(self.free);
        let read = (begins + engine.read(search)).max(self.taken);
        let every = match search.what {
            What::Reference | What::Push | What::Give => 1,
            _ => engine.key_every + u64::from(search.key - 1) * engine.key_word,
        };
        self.free = (begins + every).max(read + every - engine.read(search));
        read + engine.hash(search)
    }
}

impl FirstHalf {
    /// The same where the key's words come by themselves.
    pub fn given(&mut self, comes: u64, engine: &MapEngine, search: Search) -> u64 {
        let begins = comes.max(self.free).max(self.taken);
        self.free = begins + u64::from(search.key);
        begins + engine.hash(search)
    }
}

/// Until when a map is looked up in beside another operation, and changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfMap {
    looks: u64,
    changes: u64,
}

impl OfMap {
    /// The first cycles in which what is found then may begin beside another operation, and as the one of any kind.
    pub fn before(&self, found: u64, only_looks: bool) -> (u64, u64) {
        (found.max(self.changes), if only_looks { found } else { found.max(self.looks) })
    }

    /// One is under way until then.
    pub fn until(&mut self, end: u64, only_looks: bool, aside: bool) {
        let under_way = if only_looks { &mut self.looks } else { &mut self.changes };
        if !only_looks || aside {
            *under_way = end.max(*under_way);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_while_the_one_before_is_hashed_or_waits() {
        let engine = MapEngine::default();
        let lookup = Search {
            what: What::Lookup,
            keyed: true,
            trie: false,
            key: 1,
            value: 1,
            only_looks: true,
            lru: false,
            map: 0,
        };
        let (mut half, front) = (FirstHalf::default(), engine.read(lookup) + engine.hash(lookup));
        assert_eq!(half.found(10, &engine, lookup), 10 + front);
        assert_eq!(half.found(10, &engine, lookup), 10 + front + engine.key_every);
        // The last one has waited until then, the next one's key is there.
        half.taken = 40;
        assert_eq!(half.found(20, &engine, lookup), 40 + engine.hash(lookup));
    }
}
