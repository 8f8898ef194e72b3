//! Has packets that come to one table on several ways share its rows, where the table's key does not tell the ways apart. Which way it was stands
//! beside the visit's number, and is asked behind the table.
//!
//! Before: a visit of each way applies the table by the same key, and leads on from there. After: one visit does for all of them, and those behind it
//! look at the way. It keeps: what each way's packets come to. Verifier: `back/verify/alike.rs`.

use super::join::reached;
use crate::compiler::ir::{Alt, Bits, Graph, Leaf, Loc, LocInfo, NUMBER_BITS, Next, Node, Src, Test, Tree, WAY_BITS};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Most comparisons of a visit.
const MOST_COMPARISONS: usize = 2;

/// The graph with ways that share rows; nothing if there are none.
pub(super) fn shared(graph: &Graph) -> Option<Graph> {
    if graph.is_system || graph.nodes.len() >= 1 << (NUMBER_BITS - 1) {
        return None;
    }
    let mut sharer = Sharer { graph: graph.clone(), live: Vec::new() };
    let mut seen = BTreeSet::new();
    let mut any = false;
    loop {
        sharer.live = live(&sharer.graph);
        let Some(group) = sharer.group(&mut seen) else { break };
        if sharer.share(&group) {
            // Visits that are now one are not looked at again.
            sharer.graph = reached(sharer.graph);
            seen.clear();
            any = true;
        }
    }
    any.then_some(sharer.graph)
}

/// What a table found leads to on each of some ways.
enum Found {
    Same(Tree),
    /// All do the same, and lead on each to their own.
    Leaf(Leaf, Vec<Next>),
}

struct Sharer {
    graph: Graph,
    /// What each visit needs, and those behind it.
    live: Vec<BTreeSet<Loc>>,
}

impl Sharer {
    /// The next visits that can be one; those that were looked at are not looked at again.
    fn group(&self, seen: &mut BTreeSet<usize>) -> Option<Vec<usize>> {
        for first in 0..self.graph.nodes.len() {
            if !matches!(self.graph.nodes[first].tree, Tree::Table(..)) || !seen.insert(first) {
                continue;
            }
            let mut group = vec![first];
            for other in first + 1..self.graph.nodes.len() {
                let apart = group.iter().all(|at| !self.leads(*at, other) && !self.leads(other, *at));
                let with = [&group[..], &[other]].concat();
                if apart && !seen.contains(&other) && self.found(&with).is_some() {
                    group = with;
                }
            }
            if group.len() > 1 {
                return Some(group);
            }
        }
        None
    }

    /// Has some visits be one; false if there are no bits left to tell their ways apart.
    fn share(&mut self, group: &[usize]) -> bool {
        let width = usize::BITS - (group.len() - 1).leading_zeros();
        if self.graph.ways + width > WAY_BITS {
            return false;
        }
        let way = self.graph.locs.of(LocInfo::Way(self.graph.ways), width);
        self.graph.ways += width;
        let Some(all) = self.one(group, way, &mut HashMap::new()) else { return false };
        let place = |next: &Next| match next {
            Next::Node(at) => group.iter().position(|one| one == at),
            _ => None,
        };
        for path in &mut self.graph.paths {
            if let Some(number) = place(&path.next) {
                path.ways.insert(way, number as u64);
                path.next = Next::Node(all);
            }
        }
        for node in &mut self.graph.nodes {
            node.tree.each_leaf_mut(&mut |leaf| {
                if let Some(number) = place(&leaf.next) {
                    leaf.assigns.insert(way, Bits::constant(width, number as u128));
                    leaf.next = Next::Node(all);
                }
            });
        }
        true
    }

    /// The visit that does what each of some does on its way.
    fn one(&mut self, ways: &[usize], way: Loc, made: &mut HashMap<Vec<Next>, usize>) -> Option<usize> {
        let found = self.found(ways)?;
        let Tree::Table(table, keys, _) = &self.graph.nodes[ways[0]].tree else { return None };
        let (table, keys) = (*table, keys.clone());
        let all = found.into_iter().map(|(alt, found)| match found {
            Found::Same(tree) => (alt, tree),
            Found::Leaf(leaf, nexts) => (alt, Tree::Leaf(Leaf { next: self.meet(&nexts, way, made), ..leaf })),
        });
        let tree = Tree::Table(table, keys, all.collect());
        Some(self.add(tree, ways[0]))
    }

    fn add(&mut self, tree: Tree, like: usize) -> usize {
        self.graph.nodes.push(Node { tree, needs: Vec::new() });
        self.graph.spans.push(self.graph.spans[like]);
        self.graph.nodes.len() - 1
    }

    /// What comes next on each way: one visit that looks at the way, unless all are the same.
    fn meet(&mut self, nexts: &[Next], way: Loc, made: &mut HashMap<Vec<Next>, usize>) -> Next {
        if nexts.iter().all(|next| *next == nexts[0]) {
            return nexts[0].clone();
        }
        if let Some(at) = made.get(nexts) {
            return Next::Node(*at);
        }
        let nodes: Vec<usize> = nexts.iter().filter_map(node_of).collect();
        // Tables one behind the other.
        let at = if nodes.len() == nexts.len() { self.one(&nodes, way, made) } else { None };
        let at = at.unwrap_or_else(|| {
            let is_small = self.compared(&nodes) <= MOST_COMPARISONS;
            let tree = self.told_apart(nexts, 0, way, is_small);
            self.add(tree, nodes.first().copied().unwrap_or(0))
        });
        made.insert(nexts.to_vec(), at);
        Next::Node(at)
    }

    fn told_apart(&self, nexts: &[Next], first: usize, way: Loc, is_small: bool) -> Tree {
        let here = match &nexts[first] {
            Next::Node(at) if is_small && !has_table(&self.graph.nodes[*at].tree) => self.graph.nodes[*at].tree.clone(),
            next => Tree::Leaf(Leaf::to(next.clone())),
        };
        if nexts[first + 1..].iter().all(|next| *next == nexts[first]) {
            return here;
        }
        let width = self.graph.locs.width(way);
        let test = Test::Is(Bits::of(width, Src::Loc(way, 0)), Bits::constant(width, first as u128));
        Tree::Test(test, Box::new(here), Box::new(self.told_apart(nexts, first + 1, way, is_small)))
    }

    /// How many comparisons these visits have.
    fn compared(&self, nodes: &[usize]) -> usize {
        fn see<'t>(tree: &'t Tree, all: &mut Vec<&'t Test>) {
            if let Tree::Test(test, yes, no) = tree {
                if matches!(test, Test::Compare { .. }) && !all.contains(&test) {
                    all.push(test);
                }
                see(yes, all);
                see(no, all);
            }
        }
        let mut all = Vec::new();
        nodes.iter().for_each(|at| see(&self.graph.nodes[*at].tree, &mut all));
        all.len()
    }

    /// What the table of some visits comes to, if they apply it by one key and what is done with what was found is the same.
    fn found(&self, nodes: &[usize]) -> Option<Vec<(Alt, Found)>> {
        let Tree::Table(table, keys, first) = &self.graph.nodes[nodes[0]].tree else { return None };
        let trees = nodes.iter().map(|at| match &self.graph.nodes[*at].tree {
            Tree::Table(other, by, all) if (other, by) == (table, keys) => Some(all),
            _ => None,
        });
        let trees = trees.collect::<Option<Vec<_>>>()?;
        let of = |alt: &Alt| -> Option<(Alt, Found)> {
            let each = trees.iter().map(|all| all.iter().find(|(other, _)| other == alt).map(|(_, tree)| tree));
            let each = each.collect::<Option<Vec<_>>>()?;
            if each.iter().all(|tree| *tree == each[0]) {
                return Some((*alt, Found::Same(each[0].clone())));
            }
            let (leaf, nexts) = self.together(&each)?;
            Some((*alt, Found::Leaf(leaf, nexts)))
        };
        first.iter().map(|(alt, _)| of(alt)).collect()
    }

    /// A leaf that does what each of some does, and where they lead.
    fn together(&self, trees: &[&Tree]) -> Option<(Leaf, Vec<Next>)> {
        let leaves = trees.iter().map(|tree| match tree {
            Tree::Leaf(leaf) => Some(leaf),
            _ => None,
        });
        let leaves = leaves.collect::<Option<Vec<&Leaf>>>()?;
        let first = *leaves.first()?;
        let mut all = Leaf { next: Next::Drop, ..first.clone() };
        for leaf in &leaves {
            if (&leaf.access, &leaf.bounds) != (&first.access, &first.bounds) {
                return None;
            }
            for (loc, bits) in &leaf.assigns {
                if *all.assigns.entry(*loc).or_insert_with(|| bits.clone()) != *bits {
                    return None;
                }
            }
        }
        for leaf in &leaves {
            // What only others write must be nothing to this one's way.
            let needed = self.behind(&leaf.next);
            if all.assigns.keys().any(|loc| !leaf.assigns.contains_key(loc) && needed.contains(loc)) {
                return None;
            }
            if let Next::End(end) = &leaf.next {
                // The port is looked at behind what is written here.
                let stays = |src: &Src| match src {
                    Src::Const(_) => true,
                    Src::Loc(loc, _) => !all.assigns.contains_key(loc),
                    _ => false,
                };
                if ![&end.port, &end.group].iter().all(|bits| bits.segs.iter().all(|seg| stays(&seg.src))) {
                    return None;
                }
            }
        }
        Some((all, leaves.into_iter().map(|leaf| leaf.next.clone()).collect()))
    }

    fn behind(&self, next: &Next) -> BTreeSet<Loc> {
        match next {
            Next::Node(at) => self.live[*at].clone(),
            Next::Drop | Next::Onward => BTreeSet::new(),
            Next::End(end) => {
                let mut all: BTreeSet<Loc> = end.deparse.outs.iter().map(|out| out.loc).collect();
                [&end.port, &end.group].iter().for_each(|bits| {
                    bits.locs(&mut |loc| {
                        all.insert(loc);
                    });
                });
                all
            }
        }
    }

    /// Whether packets come from one visit to another.
    fn leads(&self, from: usize, to: usize) -> bool {
        let (mut open, mut seen) = (vec![from], BTreeSet::new());
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            if seen.insert(at) {
                self.graph.nodes[at].tree.each_leaf(&mut |leaf| open.extend(node_of(&leaf.next)));
            }
        }
        false
    }
}

/// What each visit needs, and those behind it.
fn live(graph: &Graph) -> Vec<BTreeSet<Loc>> {
    let mut sharer = Sharer { graph: graph.clone(), live: vec![BTreeSet::new(); graph.nodes.len()] };
    loop {
        let mut all = sharer.live.clone();
        for (at, node) in graph.nodes.iter().enumerate() {
            node.tree.decides_by(&mut |loc| {
                all[at].insert(loc);
            });
            node.tree.each_leaf(&mut |leaf| {
                let behind = sharer.behind(&leaf.next);
                all[at].extend(behind.into_iter().filter(|loc| !leaf.assigns.contains_key(loc)));
                leaf.reads(&mut |loc| {
                    all[at].insert(loc);
                });
            });
        }
        if all == sharer.live {
            return all;
        }
        sharer.live = all;
    }
}

/// Leaves of a visit that packets come to which have this beside its number.
pub(super) fn leaves_on<'t>(tree: &'t Tree, ways: &BTreeMap<Loc, u64>, into: &mut Vec<&'t Leaf>) {
    match tree {
        Tree::Test(Test::Is(bits, value), yes, no) => {
            let known = match &bits.segs[..] {
                [seg] => match seg.src {
                    Src::Loc(loc, 0) => ways.get(&loc).map(|way| Some(u128::from(*way)) == value.known()),
                    _ => None,
                },
                _ => None,
            };
            if known != Some(false) {
                leaves_on(yes, ways, into);
            }
            if known != Some(true) {
                leaves_on(no, ways, into);
            }
        }
        Tree::Test(Test::Compare { .. }, yes, no) => {
            leaves_on(yes, ways, into);
            leaves_on(no, ways, into);
        }
        Tree::Table(_, _, all) => all.iter().for_each(|(_, tree)| leaves_on(tree, ways, into)),
        Tree::Leaf(leaf) => into.push(leaf),
    }
}

/// What stands beside the number behind a leaf.
pub(super) fn leave(graph: &Graph, leaf: &Leaf, ways: &mut BTreeMap<Loc, u64>) {
    for (loc, bits) in &leaf.assigns {
        if let (LocInfo::Way(_), Some(way)) = (graph.locs.info(*loc), bits.known()) {
            ways.insert(*loc, way as u64);
        }
    }
}

fn node_of(next: &Next) -> Option<usize> {
    match next {
        Next::Node(at) => Some(*at),
        _ => None,
    }
}

fn has_table(tree: &Tree) -> bool {
    match tree {
        Tree::Test(_, yes, no) => has_table(yes) || has_table(no),
        Tree::Table(..) => true,
        Tree::Leaf(_) => false,
    }
}
