//! Longest prefix match: a path-compressed binary trie, as in the kernel, in arrays.
//!
//! A key is a prefix length of 4 little-endian bytes and an address, most significant bit first. A
//! node is an entry or a fork; a fork has two children. Bits of a key behind its prefix are kept, as
//! the kernel keeps them, but never compared.

use sluice_formats::row::Row;
use sluice_formats::xdp::map::{MapPlacement, MapShape};
use sluice_formats::xdp::rows::{XdpMapState, XdpSearchRow};
use std::collections::VecDeque;

/// Flags of an update: only make, only change.
const NOEXIST: u64 = 1;
const EXIST: u64 = 2;
/// Bits of a node number and 1.
const LINK_BITS: u32 = 18;

/// No node, no slot.
const NONE: u32 = u32::MAX;

/// Slots beyond the entries: a value that was deleted or replaced stays readable until this many
/// others were, as it stays in the kernel until the program ends.
pub const SPARE_SLOTS: u32 = 64;

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Bits.
    prefix: u32,
    children: [u32; 2],
    /// Of the value; `NONE` for a fork.
    slot: u32,
}

/// A node, for devices that walk the trie themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrieNode {
    /// Bits of the address that count.
    pub prefix: u32,
    /// Nodes below, by the next bit.
    pub children: [Option<u32>; 2],
    /// Slot of the value; none of a fork.
    pub slot: Option<u32>,
    /// The address.
    pub address: Vec<u8>,
}

/// Why a trie does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrieRefusal {
    /// A key of another length, a prefix longer than the address, or unknown flags.
    Invalid,
    /// Only to be made, and it is there.
    Exists,
    /// To be changed or taken out, and it is not there.
    Missing,
    /// It has as many entries as it may.
    Full,
}

/// The trie. Slots of values are its own to give.
#[derive(Debug)]
pub struct Trie {
    /// Bytes of an address.
    width: usize,
    capacity: u32,
    entries: u32,
    root: u32,
    nodes: Vec<Node>,
    /// Address of each node.
    addresses: Vec<u8>,
    free_nodes: Vec<u32>,
    free_slots: VecDeque<u32>,
    fresh_slot: u32,
}

fn bit(address: &[u8], index: u32) -> usize {
    usize::from(address[index as usize / 8] >> (7 - index % 8) & 1)
}

/// Leading bits that two addresses share, at most `limit`.
#[inline]
fn shared(a: &[u8], b: &[u8], limit: u32) -> u32 {
    let ((a_words, a_rest), (b_words, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut bits = 0;
    for (a, b) in a_words.iter().zip(b_words) {
        let differ = u32::from_be_bytes(*a) ^ u32::from_be_bytes(*b);
        bits += differ.leading_zeros();
        if differ != 0 || bits >= limit {
            return bits.min(limit);
        }
    }
    for (a, b) in a_rest.iter().zip(b_rest) {
        bits += (a ^ b).leading_zeros();
        if a != b {
            break;
        }
    }
    bits.min(limit)
}

impl TrieNode {
    /// Its rows of search memory.
    pub fn rows(&self) -> Vec<XdpSearchRow> {
        let link = |child: Option<u32>| u64::from(child.map_or(0, |child| child + 1));
        let [left, right] = self.children.map(link);
        let head = left
            | right << LINK_BITS
            | u64::from(self.prefix) << (2 * LINK_BITS)
            | u64::from(self.slot.is_some()) << 45
            | u64::from(self.slot.unwrap_or(0)) << 46;
        let mut bytes = head.to_le_bytes().to_vec();
        bytes.extend(&self.address);
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        let word = |row: &[u8], at: usize| u32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]);
        bytes.chunks(16).map(|row| XdpSearchRow { words: [0, 4, 8, 12].map(|at| word(row, at)) }).collect()
    }
}

/// The first row of search memory of a trie with this root.
pub fn state_row(root: Option<u32>) -> XdpSearchRow {
    let state = XdpMapState { hand: root.map_or(0, |root| root + 1), ..XdpMapState::default() };
    let words = state.pack().unwrap_or_default();
    XdpSearchRow { words: [0, 1, 2, 3].map(|i| words.get(i).copied().unwrap_or(0)) }
}

impl Trie {
    /// Without entries, of keys of so many bytes, 5 or more.
    pub fn new(key_size: u32, capacity: u32) -> Self {
        Self {
            width: (key_size as usize).saturating_sub(4),
            capacity,
            entries: 0,
            root: NONE,
            nodes: Vec::new(),
            addresses: Vec::new(),
            free_nodes: Vec::new(),
            free_slots: VecDeque::new(),
            fresh_slot: 0,
        }
    }

    /// The root, and all nodes by number. Nothing leads to those that are free; they hold what they held.
    pub fn nodes(&self) -> (Option<u32>, Vec<TrieNode>) {
        let some = |number: u32| (number != NONE).then_some(number);
        let node = |(number, node): (u32, &Node)| TrieNode {
            prefix: node.prefix,
            children: node.children.map(some),
            slot: some(node.slot),
            address: self.address(number).to_vec(),
        };
        (some(self.root), (0..).zip(&self.nodes).map(node).collect())
    }

    /// Rows of search memory that a map with these entries begins with, by their distance from its first one.
    pub fn rows(&self, shape: &MapShape) -> Vec<(u32, XdpSearchRow)> {
        let (root, nodes) = self.nodes();
        let mut rows: Vec<_> = (0..).zip(shape.empty()).collect();
        if let Some((_, state)) = rows.first_mut() {
            *state = state_row(root);
        }
        let from_zero = MapPlacement { module: 0, first: 0, outside: false, base: 0, search: 0, seed: 0 };
        rows.extend((0..).zip(&nodes).flat_map(|(number, node)| shape.entry(&from_zero, number).zip(node.rows())));
        rows
    }

    /// Prefix length and address of a key.
    fn split<'a>(&self, key: &'a [u8]) -> Option<(u32, &'a [u8])> {
        let (length, address) = key.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length);
        (address.len() == self.width && length <= self.width as u32 * 8).then_some((length, address))
    }

    fn address(&self, node: u32) -> &[u8] {
        &self.addresses[node as usize * self.width..][..self.width]
    }

    fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// Slot of the longest entry that is a prefix of the key.
    #[inline]
    pub fn find(&self, key: &[u8]) -> Option<u32> {
        let (length, address) = self.split(key)?;
        let (mut at, mut found) = (self.root, NONE);
        while at != NONE {
            let node = self.node(at);
            if node.prefix > length || shared(self.address(at), address, node.prefix) < node.prefix {
                break;
            }
            if node.slot != NONE {
                found = node.slot;
            }
            if node.prefix == length {
                break;
            }
            at = node.children[bit(address, node.prefix)];
        }
        (found != NONE).then_some(found)
    }

    /// Goes down to where a key is or would be: the nodes passed with the side taken, the node there
    /// (or none) and the bits it shares with the key.
    fn descend(&self, length: u32, address: &[u8]) -> (Vec<(u32, usize)>, u32, u32) {
        let (mut path, mut at) = (Vec::new(), self.root);
        while at != NONE {
            let node = self.node(at);
            let common = shared(self.address(at), address, node.prefix.min(length));
            if common != node.prefix || node.prefix == length {
                return (path, at, common);
            }
            let side = bit(address, node.prefix);
            path.push((at, side));
            at = node.children[side];
        }
        (path, NONE, 0)
    }

    /// The node that is exactly this entry, and the path to it.
    fn exact(&self, key: &[u8]) -> Option<(Vec<(u32, usize)>, u32)> {
        let (length, address) = self.split(key)?;
        let (path, at, common) = self.descend(length, address);
        let there = at != NONE && common == length && self.node(at).prefix == length && self.node(at).slot != NONE;
        there.then_some((path, at))
    }

    /// The slot that an update writes, after the checks of its flags.
    pub fn update(&mut self, key: &[u8], flags: u64) -> Result<u32, TrieRefusal> {
        let (length, address) = self.split(key).filter(|_| flags <= EXIST).ok_or(TrieRefusal::Invalid)?;
        let (path, at, common) = self.descend(length, address);
        let same = at != NONE && common == length && self.node(at).prefix == length;
        if same && self.node(at).slot != NONE {
            if flags == NOEXIST {
                return Err(TrieRefusal::Exists);
            }
            let slot = self.take_slot();
            let old = std::mem::replace(&mut self.nodes[at as usize].slot, slot);
            self.free_slots.push_back(old);
            self.set_address(at, address);
            return Ok(slot);
        }
        if flags == EXIST {
            return Err(TrieRefusal::Missing);
        }
        if self.entries >= self.capacity {
            return Err(TrieRefusal::Full);
        }
        self.entries += 1;
        let slot = self.take_slot();
        if same {
            self.nodes[at as usize].slot = slot;
            self.set_address(at, address);
            return Ok(slot);
        }
        let mut children = [NONE; 2];
        if at != NONE && common == length {
            children[bit(self.address(at), length)] = at;
        }
        let entry = self.add(Node { prefix: length, children, slot }, address);
        let mut top = entry;
        if at != NONE && common < length {
            let mut children = [NONE; 2];
            children[bit(address, common)] = entry;
            children[1 - bit(address, common)] = at;
            top = self.add(Node { prefix: common, children, slot: NONE }, address);
        }
        self.hang(path.last().copied(), top);
        Ok(slot)
    }

    /// Takes an entry out.
    pub fn delete(&mut self, key: &[u8]) -> Result<(), TrieRefusal> {
        self.split(key).ok_or(TrieRefusal::Invalid)?;
        let (mut path, at) = self.exact(key).ok_or(TrieRefusal::Missing)?;
        let node = *self.node(at);
        self.entries -= 1;
        self.free_slots.push_back(node.slot);
        let above = path.pop();
        match node.children {
            [NONE, NONE] => {
                self.free_nodes.push(at);
                match above {
                    // A fork with one child left is none: the child takes its place.
                    Some((fork, side)) if self.node(fork).slot == NONE => {
                        let other = self.node(fork).children[1 - side];
                        self.free_nodes.push(fork);
                        self.hang(path.pop(), other);
                    }
                    above => self.hang(above, NONE),
                }
            }
            [child, NONE] | [NONE, child] => {
                self.free_nodes.push(at);
                self.hang(above, child);
            }
            _ => self.nodes[at as usize].slot = NONE,
        }
        Ok(())
    }

    /// Whether this very key is in.
    pub fn has(&self, key: &[u8]) -> bool {
        self.exact(key).is_some()
    }

    /// Slot of the entry that is this very key.
    pub fn slot(&self, key: &[u8]) -> Option<u32> {
        self.exact(key).map(|(_, node)| self.node(node).slot)
    }

    /// The key behind this one, children before their parents; the first for a key that is not there.
    pub fn next(&self, key: Option<&[u8]>) -> Option<Vec<u8>> {
        let Some((mut path, _)) = key.and_then(|key| self.exact(key)) else {
            return self.first_below(self.root);
        };
        while let Some((parent, side)) = path.pop() {
            let parent_node = self.node(parent);
            if side == 0 && parent_node.children[1] != NONE {
                return self.first_below(parent_node.children[1]);
            }
            if parent_node.slot != NONE {
                return Some(self.key(parent));
            }
        }
        None
    }

    fn first_below(&self, mut at: u32) -> Option<Vec<u8>> {
        let mut last = NONE;
        while at != NONE {
            last = at;
            let [left, right] = self.node(at).children;
            at = if left != NONE { left } else { right };
        }
        (last != NONE).then(|| self.key(last))
    }

    fn key(&self, node: u32) -> Vec<u8> {
        [&self.node(node).prefix.to_le_bytes(), self.address(node)].concat()
    }

    fn hang(&mut self, above: Option<(u32, usize)>, node: u32) {
        match above {
            Some((parent, side)) => self.nodes[parent as usize].children[side] = node,
            None => self.root = node,
        }
    }

    fn add(&mut self, node: Node, address: &[u8]) -> u32 {
        let number = match self.free_nodes.pop() {
            Some(number) => number,
            None => {
                self.nodes.push(node);
                self.addresses.resize(self.nodes.len() * self.width, 0);
                self.nodes.len() as u32 - 1
            }
        };
        self.nodes[number as usize] = node;
        self.set_address(number, address);
        number
    }

    fn set_address(&mut self, node: u32, address: &[u8]) {
        self.addresses[node as usize * self.width..][..self.width].copy_from_slice(address);
    }

    fn take_slot(&mut self) -> u32 {
        let all_used = self.fresh_slot >= self.capacity + SPARE_SLOTS;
        if (all_used || self.free_slots.len() > SPARE_SLOTS as usize)
            && let Some(slot) = self.free_slots.pop_front()
        {
            return slot;
        }
        self.fresh_slot += 1;
        self.fresh_slot - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::random::{Rng, test_seed};
    use std::collections::BTreeMap;

    fn masked(length: u32, address: &[u8]) -> Vec<u8> {
        let mut bytes = address.to_vec();
        for (i, byte) in bytes.iter_mut().enumerate() {
            let keep = (length as usize).saturating_sub(8 * i).min(8);
            *byte &= !(0xffu16 >> keep) as u8;
        }
        bytes
    }

    #[test]
    fn the_longest_of_all_prefixes_is_found() {
        let mut rng = Rng::new(test_seed("the_longest_of_all_prefixes_is_found"));
        for width in [1usize, 2, 4, 7, 16] {
            let bits = width as u64 * 8;
            let mut trie = Trie::new(width as u32 + 4, 40);
            let mut model: BTreeMap<(u32, Vec<u8>), u32> = BTreeMap::new();
            for _ in 0..3000 {
                let length = rng.below(bits + 1) as u32;
                let mut address = vec![0; width];
                // Few different bits, so that prefixes nest.
                (0..4).for_each(|_| address[rng.index(width)] |= 1 << rng.below(8));
                let key = [&length.to_le_bytes()[..], &address].concat();
                let name = (length, masked(length, &address));
                match rng.below(3) {
                    0 => {
                        let best = (0..=length).rev().find_map(|l| model.get(&(l, masked(l, &address))));
                        assert_eq!(trie.find(&key), best.copied());
                    }
                    1 => {
                        let removed = model.remove(&name);
                        assert_eq!(trie.delete(&key), removed.map(drop).ok_or(TrieRefusal::Missing));
                    }
                    _ => match trie.update(&key, 0) {
                        Ok(slot) => {
                            assert!(model.values().all(|&s| s != slot));
                            model.insert(name, slot);
                        }
                        Err(e) => assert_eq!((e, model.len()), (TrieRefusal::Full, 40)),
                    },
                }
                assert!(trie.nodes.len() < 2 * 40 + 2);
            }
            let (mut key, mut met) = (None, 0);
            while let Some(next) = trie.next(key.as_deref()) {
                let length = u32::from_le_bytes(next[..4].try_into().unwrap());
                assert!(model.contains_key(&(length, masked(length, &next[4..]))));
                (key, met) = (Some(next), met + 1);
            }
            assert_eq!(met, model.len());
        }
    }

    #[test]
    fn specific_prefixes_come_before_those_that_hold_them() {
        let mut trie = Trie::new(8, 8);
        let keys = [(16, [192, 168, 0, 0]), (24, [192, 168, 0, 0]), (24, [192, 168, 128, 0]), (24, [192, 168, 1, 0])];
        for (length, address) in keys {
            trie.update(&[&u32::to_le_bytes(length)[..], &address].concat(), 0).unwrap();
        }
        let (mut key, mut order) = (None, Vec::new());
        while let Some(next) = trie.next(key.as_deref()) {
            order.push((next[0], next[6]));
            key = Some(next);
        }
        assert_eq!(order, [(24, 0), (24, 1), (24, 128), (16, 0)]);
    }
}
