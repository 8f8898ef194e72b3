//! What is still looked at: by a visit and those behind it, and by the row that puts the packet together.

use super::{all_leaves, deparse, ends_at, leaves};
use crate::ir::{Deparse, Graph, Loc, Next};
use std::collections::{BTreeMap, BTreeSet};

/// The place behind all stages.
const BEHIND: usize = 63;

/// What each visit needs, and each end.
pub(super) struct Live {
    nodes: Vec<BTreeSet<Loc>>,
    ends: Vec<BTreeSet<Loc>>,
}

impl Live {
    pub fn new(graph: &Graph, ends: &[Deparse], shapes: &[deparse::Shape]) -> Live {
        let carried = shapes.iter().map(|shape| shape.carried.clone()).collect();
        let mut live = Live { nodes: vec![BTreeSet::new(); graph.nodes.len()], ends: carried };
        let leaves = leaves(graph);
        for (at, node) in graph.nodes.iter().enumerate() {
            node.tree.decides_by(&mut |loc| {
                live.nodes[at].insert(loc);
            });
        }
        loop {
            let before = live.nodes.clone();
            for (at, leaves) in leaves.iter().enumerate() {
                for leaf in leaves {
                    let mut behind = live.behind(&leaf.next, ends);
                    behind.retain(|loc| !leaf.assigns.contains_key(loc));
                    live.nodes[at].extend(behind);
                    leaf.reads(&mut |loc| {
                        live.nodes[at].insert(loc);
                    });
                }
            }
            if live.nodes == before {
                return live;
            }
        }
    }

    /// Between which stages each variable is held, a bit for the place before each stage; the last is behind all of them.
    pub fn held(&self, graph: &Graph, stages: &[usize], ends: &[Deparse]) -> BTreeMap<Loc, u64> {
        let mut held: BTreeMap<Loc, u64> = BTreeMap::new();
        let mut see = |from: usize, next: &Next| {
            let to = match next {
                Next::Node(at) => stages[*at],
                _ => BEHIND,
            };
            for loc in self.behind(next, ends) {
                *held.entry(loc).or_default() |= (from..=to).fold(0, |all, place| all | 1 << place);
            }
        };
        graph.paths.iter().for_each(|path| see(0, &path.next));
        let leaves = leaves(graph);
        for (at, leaves) in leaves.iter().enumerate() {
            leaves.iter().for_each(|leaf| see(stages[at] + 1, &leaf.next));
        }
        // What is written and no one needs is written all the same.
        for (at, leaves) in leaves.iter().enumerate() {
            for loc in leaves.iter().flat_map(|leaf| leaf.assigns.keys()) {
                *held.entry(*loc).or_default() |= 1 << (stages[at] + 1);
            }
        }
        held
    }

    /// What is needed from there on.
    pub fn behind(&self, next: &Next, ends: &[Deparse]) -> BTreeSet<Loc> {
        match next {
            Next::Node(at) => self.nodes[*at].clone(),
            Next::Drop => BTreeSet::new(),
            Next::End(end) => self.ends[ends_at(ends, &end.deparse)].clone(),
        }
    }
}

/// All that visits decide by and compute with.
pub(super) fn read_by(graph: &Graph) -> BTreeSet<Loc> {
    let mut all = BTreeSet::new();
    let mut see = |loc| {
        all.insert(loc);
    };
    graph.nodes.iter().for_each(|node| node.tree.decides_by(&mut see));
    all_leaves(graph).iter().for_each(|leaf| leaf.reads(&mut see));
    all
}
