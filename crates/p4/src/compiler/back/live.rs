//! What is still looked at: by a visit and those behind it, and by the row that puts the packet together.
//!
//! Before: the graph and the bytes that each end takes from containers. After: what each visit and each end needs. It keeps: what nobody needs may
//! have any value. Verifier: `back/verify/live.rs`.

use super::{all_leaves, deparse, ends_at, leaves};
use crate::compiler::ir::{Deparse, Graph, Loc, Next};
use std::collections::{BTreeMap, BTreeSet};

/// On which ways something is held.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    always: bool,
    ways: Vec<u64>,
}

impl Held {
    pub fn always() -> Held {
        Held { always: true, ways: Vec::new() }
    }

    fn add(&mut self, way: usize) {
        if self.ways.len() <= way / 64 {
            self.ways.resize(way / 64 + 1, 0);
        }
        self.ways[way / 64] |= 1 << (way % 64);
    }

    pub fn join(&mut self, other: &Held) {
        self.always |= other.always;
        if self.ways.len() < other.ways.len() {
            self.ways.resize(other.ways.len(), 0);
        }
        self.ways.iter_mut().zip(&other.ways).for_each(|(all, more)| *all |= more);
    }

    pub fn is_never(&self) -> bool {
        !self.always && self.ways.iter().all(|ways| *ways == 0)
    }

    /// Whether both are held on one way.
    pub fn meets(&self, other: &Held) -> bool {
        self.always || other.always || self.ways.iter().zip(&other.ways).any(|(a, b)| a & b != 0)
    }
}

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

    /// On which ways from visit to visit each variable is held: what one packet never has at a time may share a container.
    pub fn held(&self, graph: &Graph, ends: &[Deparse]) -> BTreeMap<Loc, Held> {
        let mut held: BTreeMap<Loc, Held> = BTreeMap::new();
        let mut way = 0;
        let mut see = |next: &Next, written: &mut dyn Iterator<Item = Loc>| {
            // What is written and no one needs is written all the same.
            for loc in self.behind(next, ends).into_iter().chain(written) {
                held.entry(loc).or_default().add(way);
            }
            way += 1;
        };
        graph.paths.iter().for_each(|path| see(&path.next, &mut std::iter::empty()));
        for leaf in leaves(graph).iter().flatten() {
            see(&leaf.next, &mut leaf.assigns.keys().copied());
        }
        held
    }

    /// What is needed from there on.
    pub fn behind(&self, next: &Next, ends: &[Deparse]) -> BTreeSet<Loc> {
        match next {
            Next::Node(at) => self.nodes[*at].clone(),
            Next::Drop | Next::Onward => BTreeSet::new(),
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
