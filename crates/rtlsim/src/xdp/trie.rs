//! Tries in search memory: the host keeps them, the engine walks them.

use sluice_formats::xdp::map::{MapPlacement, MapShape};
use sluice_formats::xdp::rows::XdpSearchRow;
use sluice_object::xdp::trie::{TrieNode, state_row};
use std::collections::BTreeSet;

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
            let rows = shape.entry(place, number).zip(nodes[number as usize].rows());
            let old = self.nodes.get(number as usize).map(TrieNode::rows).unwrap_or_default();
            writes.extend(rows.enumerate().filter(|(n, (_, row))| old.get(*n) != Some(row)).map(|(_, write)| write));
        }
        if root != self.root || self.nodes.is_empty() {
            writes.push((place.search, state_row(root)));
        }
        (self.root, self.nodes) = (root, nodes);
        writes
    }

    /// The trie is this one already: a load has written it.
    pub fn begins(&mut self, (root, nodes): (Option<u32>, Vec<TrieNode>)) {
        (self.root, self.nodes) = (root, nodes);
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
