//! Tries in search memory: the host keeps them, the engine walks them.

use sluice_ebpf::map::TrieNode;
use sluice_formats::row::Row;
use sluice_formats::xdp::map::{MapPlacement, MapShape};
use sluice_formats::xdp::rows::{XdpMapState, XdpSearchRow};
use std::collections::BTreeSet;

/// Bits of a slot or node number and 1.
const LINK_BITS: u32 = 18;

/// A trie as it stands in search memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trie {
    root: Option<u32>,
    nodes: Vec<TrieNode>,
}

impl Trie {
    /// The trie becomes another one. Gives the rows to write, in an order in which each walk between two of them finds the old trie or the
    /// new one, if one operation lies between both.
    pub fn becomes(
        &mut self,
        (root, nodes): (Option<u32>, Vec<TrieNode>),
        shape: &MapShape,
        place: &MapPlacement,
    ) -> Vec<(u32, XdpSearchRow)> {
        let reached = self.reached();
        let changed: Vec<u32> =
            (0..nodes.len() as u32).filter(|&n| self.nodes.get(n as usize) != nodes.get(n as usize)).collect();
        // First what no walk reaches, then what leads there.
        let (later, first): (Vec<u32>, Vec<u32>) = changed.into_iter().partition(|n| reached.contains(n));
        let mut writes = Vec::new();
        for number in first.into_iter().chain(later) {
            let rows = shape.entry(place, number).zip(rows(&nodes[number as usize]));
            let old = self.nodes.get(number as usize).map(self::rows).unwrap_or_default();
            writes.extend(rows.enumerate().filter(|(n, (_, row))| old.get(*n) != Some(row)).map(|(_, write)| write));
        }
        if root != self.root || self.nodes.is_empty() {
            let state = XdpMapState { hand: root.map_or(0, |root| root + 1), ..XdpMapState::default() };
            let words = state.pack().unwrap_or_default();
            writes.push((
                place.search.into(),
                XdpSearchRow { words: [0, 1, 2, 3].map(|i| words.get(i).copied().unwrap_or(0)) },
            ));
        }
        (self.root, self.nodes) = (root, nodes);
        writes
    }

    /// Nodes that a walk reaches.
    fn reached(&self) -> BTreeSet<u32> {
        let (mut reached, mut left) = (BTreeSet::new(), Vec::from_iter(self.root));
        while let Some(number) = left.pop() {
            if reached.insert(number) {
                left.extend(self.nodes[number as usize].children.into_iter().flatten());
            }
        }
        reached
    }
}

/// A node's rows.
fn rows(node: &TrieNode) -> Vec<XdpSearchRow> {
    let link = |child: Option<u32>| u64::from(child.map_or(0, |child| child + 1));
    let [left, right] = node.children.map(link);
    let head = left
        | right << LINK_BITS
        | u64::from(node.prefix) << (2 * LINK_BITS)
        | u64::from(node.slot.is_some()) << 45
        | u64::from(node.slot.unwrap_or(0)) << 46;
    let mut bytes = head.to_le_bytes().to_vec();
    bytes.extend(&node.address);
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    let word = |row: &[u8], at: usize| u32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]);
    bytes.chunks(16).map(|row| XdpSearchRow { words: [0, 4, 8, 12].map(|at| word(row, at)) }).collect()
}
