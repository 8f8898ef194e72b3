//! A visit that does more than one action can is cut in two: what one ALU a container, the picks of a size and the cross value give at
//! once stays, the rest is done by a visit behind it. A value that has to come from a container of another size, or to another bit, is
//! first brought to a place of its own from which it can be taken.
//!
//! Before: a visit that is more than a stage does. After: two visits, one behind the other. They keep: together they write, look up and send what
//! the one did, an entry's data are taken where the entry is found. Verifier: `back/verify/split.rs`.

use super::action::{Part, Waits};
use super::cells::cell_of;
use super::phv_allocation::Homes;
use crate::compiler::ir::{Access, Bits, End, Graph, Leaf, Loc, LocInfo, Next, Node, Operation, Src, Test, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Leaves a leaf's look at a cell to a visit behind.
pub(super) fn later(graph: &mut Graph, at: usize, leaf: &Leaf) {
    split(graph, at, leaf, Waits { later: Vec::new(), port: false, access: Some(Vec::new()) });
}

/// Brings two values that a visit compares to places of their own before it; false if they are there already.
pub(super) fn side_by_side(graph: &mut Graph, at: usize, test: &Test) -> bool {
    let Test::Compare { equal, a, b } = test else { return false };
    let mut assigns = BTreeMap::new();
    let mut moved = |bits: &Bits| {
        let is_temp = |loc| matches!(graph.locs.info(loc), LocInfo::Temp(..));
        let alone = matches!(&bits.segs[..], [seg] if matches!(seg.src, Src::Loc(loc, 0) if is_temp(loc)));
        if bits.is_known() || alone {
            return bits.clone();
        }
        let loc = fresh(graph, bits.width());
        assigns.insert(loc, bits.clone());
        own(graph, loc)
    };
    let new = Test::Compare { equal: *equal, a: moved(a), b: moved(b) };
    if assigns.is_empty() {
        return false;
    }
    let mut node = graph.nodes[at].clone();
    replace_test(&mut node.tree, test, &new);
    let behind = graph.nodes.len();
    graph.nodes.push(node);
    graph.spans.push(graph.spans[at]);
    graph.nodes[at].tree = Tree::Leaf(Leaf { assigns, ..Leaf::to(Next::Node(behind)) });
    true
}

fn replace_test(tree: &mut Tree, old: &Test, new: &Test) {
    match tree {
        Tree::Test(test, yes, no) => {
            if test == old {
                *test = new.clone();
            }
            replace_test(yes, old, new);
            replace_test(no, old, new);
        }
        Tree::Table(_, _, all) => all.iter_mut().for_each(|(_, tree)| replace_test(tree, old, new)),
        Tree::Leaf(_) => {}
    }
}

/// Leaves the last of what a visit decides to a visit behind it, or the second half of its only test; false if that is nothing.
pub(super) fn decisions(graph: &mut Graph, homes: &Homes, at: usize) -> bool {
    let mut tree = graph.nodes[at].tree.clone();
    let mut done = last_behind(graph, at, &mut tree);
    // A test of values in several places is several tests.
    if !done
        && let Tree::Test(test, yes, no) = &mut tree
        && let Some((first, rest)) = halves(homes, test)
    {
        **yes = Tree::Test(rest, yes.clone(), no.clone());
        done = behind(graph, at, yes);
        *test = first;
    }
    graph.nodes[at].tree = tree;
    done
}

/// Has a visit behind decide what is deepest in a tree, but for its root.
fn last_behind(graph: &mut Graph, at: usize, tree: &mut Tree) -> bool {
    let mut below: Vec<&mut Tree> = match tree {
        Tree::Test(_, yes, no) => vec![yes, no],
        Tree::Table(_, _, all) => all.iter_mut().map(|(_, tree)| tree).collect(),
        Tree::Leaf(_) => Vec::new(),
    };
    below.sort_by_key(|tree| std::cmp::Reverse(depth(tree)));
    below.into_iter().any(|tree| last_behind(graph, at, tree) || behind(graph, at, tree))
}

fn depth(tree: &Tree) -> usize {
    match tree {
        Tree::Test(_, yes, no) => 1 + depth(yes).max(depth(no)),
        Tree::Table(_, _, all) => 1 + all.iter().map(|(_, tree)| depth(tree)).max().unwrap_or(0),
        Tree::Leaf(_) => 0,
    }
}

/// How many containers of each size a visit looks at beside that with its number.
const LOOKS: [usize; 3] = [1, 2, 2];

/// A test in two: as much of it as one visit looks at, and the rest.
fn halves(homes: &Homes, test: &Test) -> Option<(Test, Test)> {
    let Test::Is(bits, value) = test else { return None };
    let mut containers = [const { BTreeSet::new() }; 3];
    let (mut now, mut later) = ((Bits::default(), Bits::default()), (Bits::default(), Bits::default()));
    let mut top = bits.width();
    for seg in &bits.segs {
        top -= seg.width;
        let (one, is) = (bits.slice(top, seg.width), value.slice(top, seg.width));
        let mut more = containers.clone();
        if let Src::Loc(loc, low) = seg.src {
            let pieces = homes.of(loc, low, seg.width);
            pieces.iter().for_each(|piece| {
                more[piece.container.class() as usize].insert(piece.container.0);
            });
        }
        let fits = now.0.segs.is_empty() || more.iter().zip(LOOKS).all(|(all, most)| all.len() <= most);
        let into = if fits { &mut now } else { &mut later };
        *into = (std::mem::take(&mut into.0).concat(one), std::mem::take(&mut into.1).concat(is));
        if fits {
            containers = more;
        }
    }
    let test = |(bits, value): (Bits, Bits)| Test::Is(bits, value);
    (!later.0.segs.is_empty()).then(|| (test(now), test(later)))
}

/// Has a visit of its own decide, if there is something to decide and it needs no entry's data.
fn behind(graph: &mut Graph, at: usize, tree: &mut Tree) -> bool {
    let mut data = false;
    tree.each_leaf(&mut |leaf| data |= leaf.has_data());
    // Below a table of its own there may be data.
    if matches!(tree, Tree::Leaf(_)) || (data && !has_table(tree)) {
        return false;
    }
    let node = Node { tree: tree.clone(), needs: Vec::new() };
    let number = add(graph, at, node);
    *tree = Tree::Leaf(Leaf::to(Next::Node(number)));
    true
}

fn has_table(tree: &Tree) -> bool {
    match tree {
        Tree::Test(_, yes, no) => has_table(yes) || has_table(no),
        Tree::Table(..) => true,
        Tree::Leaf(_) => false,
    }
}

/// A visit, which may be there already.
fn add(graph: &mut Graph, at: usize, node: Node) -> usize {
    if let Some(number) = graph.nodes.iter().position(|other| *other == node) {
        return number;
    }
    graph.nodes.push(node);
    graph.spans.push(graph.spans[at]);
    graph.nodes.len() - 1
}

/// Cuts a leaf of a node; false if nothing of it can be done first.
pub(super) fn split(graph: &mut Graph, at: usize, leaf: &Leaf, waits: Waits) -> bool {
    let only_moves = waits.later.is_empty() && !waits.port;
    let now = leaf.assigns.clone();
    let mut cut = Cut { graph, now, later: Vec::new(), fresh: BTreeSet::new(), port: None, access: None };
    for part in waits.later {
        cut.leave(&part);
        let mut bits = part.bits.clone();
        for (value, wide) in &part.bridge {
            let low = low_of(value, wide);
            let place = cut.keep(wide);
            bits = replaced(&bits, value, &place.slice(low, value.width()));
        }
        cut.later.push(Part { bits, ..part });
    }
    let mut access = leaf.access.clone();
    let behind = waits.access.map(|bridge| cut.wait(leaf, &bridge));
    if behind.is_some() {
        access = None;
    }
    cut.access = behind.flatten();
    let mut next = leaf.next.clone();
    if waits.port
        && let Next::End(end) = &mut next
    {
        let goal = goal(end);
        let wide = Bits::constant(16 - goal.width(), 0).concat(goal.clone());
        let place = cut.keep(&wide);
        *goal = place.slice(0, goal.width());
    } else if let Next::End(end) = &mut next {
        cut.port = Some(goal(end).clone());
    }
    cut.settle();
    let (now, later, port, behind) = (cut.now, cut.later, cut.port, cut.access);
    let moved = only_moves && behind.is_some();
    if now.is_empty() && access.is_none() && !moved {
        return false;
    }
    if let (Next::End(end), Some(port)) = (&mut next, port) {
        *goal(end) = port;
    }
    let mut assigns: BTreeMap<Loc, Bits> = BTreeMap::new();
    for part in later {
        let own = own(graph, part.loc);
        let whole = assigns.entry(part.loc).or_insert(own);
        *whole = whole.put(part.low, &part.bits);
    }
    let node = Node { tree: Tree::Leaf(Leaf { access: behind, bounds: Vec::new(), assigns, next }), needs: Vec::new() };
    let number = add(graph, at, node);
    let new = Leaf { access, bounds: leaf.bounds.clone(), assigns: now, next: Next::Node(number) };
    graph.nodes[at].tree.each_leaf_mut(&mut |other| {
        if other == leaf {
            *other = new.clone();
        }
    });
    true
}

/// Has a visit do something first, and then what it did, with other values.
pub(super) fn before(graph: &mut Graph, at: usize, first: Leaf, with: &dyn Fn(&Bits) -> Bits) {
    let mut node = graph.nodes[at].clone();
    node.tree.each_leaf_mut(&mut |leaf| leaf.assigns.values_mut().for_each(|bits| *bits = with(bits)));
    let number = add(graph, at, node);
    graph.nodes[at].tree = Tree::Leaf(Leaf { next: Next::Node(number), ..first });
}

/// A place that nothing has yet.
pub(super) fn fresh(graph: &mut Graph, width: u32) -> Loc {
    let number = u32::MAX - graph.locs.all.len() as u32;
    graph.locs.of(LocInfo::Temp(number, width), width)
}

pub(super) fn own(graph: &Graph, loc: Loc) -> Bits {
    Bits::of(graph.locs.width(loc), Src::Loc(loc, 0))
}

/// The group or port that a packet goes to.
fn goal(end: &mut End) -> &mut Bits {
    if end.group.known() == Some(0) { &mut end.port } else { &mut end.group }
}

/// The lowest bit of a value among wider ones that are zero besides.
fn low_of(value: &Bits, wide: &Bits) -> u32 {
    (0..=wide.width() - value.width()).find(|low| wide.slice(*low, value.width()) == *value).unwrap_or(0)
}

/// Bits with a value in them, or in their operation, as it is called now.
fn replaced(bits: &Bits, value: &Bits, by: &Bits) -> Bits {
    if bits == value {
        return by.clone();
    }
    match &bits.segs[..] {
        [seg] => match &seg.src {
            Src::Op(operation) => {
                let of = |bits: &Bits| if bits == value { by.clone() } else { bits.clone() };
                let operation = Operation { op: operation.op, a: of(&operation.a), b: of(&operation.b) };
                Bits::of(seg.width, Src::Op(Rc::new(operation)))
            }
            _ => bits.clone(),
        },
        _ => bits.clone(),
    }
}

/// Each piece of bits, operands included, as something says.
fn map(bits: &Bits, with: &mut dyn FnMut(u32, &Src) -> Option<Bits>) -> Bits {
    let mut out = Bits::default();
    for seg in &bits.segs {
        let one = match (with(seg.width, &seg.src), &seg.src) {
            (Some(bits), _) => bits,
            (None, Src::Op(operation)) => {
                let (a, b) = (map(&operation.a, with), map(&operation.b, with));
                Bits::of(seg.width, Src::Op(Rc::new(Operation { op: operation.op, a, b })))
            }
            (None, Src::Hash(data, low)) => Bits::of(seg.width, Src::Hash(Rc::new(map(data, with)), *low)),
            (None, src) => Bits::of(seg.width, src.clone()),
        };
        out = out.concat(one);
    }
    out
}

/// The bits that an access reads.
fn each_of(access: &mut Access, see: &mut dyn FnMut(&mut Bits)) {
    see(&mut access.index);
    access.change.bits_mut().into_iter().for_each(see);
}

struct Cut<'g> {
    graph: &'g mut Graph,
    now: BTreeMap<Loc, Bits>,
    later: Vec<Part>,
    /// Places that are new: the visit behind reads what is put there now.
    fresh: BTreeSet<Loc>,
    /// The port that the visit behind takes.
    port: Option<Bits>,
    /// The cell that the visit behind looks at.
    access: Option<Access>,
}

impl Cut<'_> {
    /// A part is not written now.
    fn leave(&mut self, part: &Part) {
        let own = own(self.graph, part.loc);
        if let Some(bits) = self.now.get_mut(&part.loc) {
            *bits = bits.put(part.low, &own.slice(part.low, part.bits.width()));
            if *bits == own {
                self.now.remove(&part.loc);
            }
        }
    }

    /// Leaves a look at a cell, with what it gives, to the visit behind.
    fn wait(&mut self, leaf: &Leaf, bridge: &[(Bits, Bits)]) -> Option<Access> {
        let mut access = leaf.access.clone()?;
        for (value, wide) in bridge {
            let place = self.keep(wide).slice(low_of(value, wide), value.width());
            each_of(&mut access, &mut |bits| {
                // Of an index only the lower bits are brought.
                if *bits == *value || bits.slice(0, value.width()) == *value {
                    *bits = place.clone();
                }
            });
        }
        for (loc, bits) in &leaf.assigns {
            if cell_of(bits).is_some() {
                self.now.remove(loc);
                self.later.push(Part { loc: *loc, low: 0, bits: bits.clone(), bridge: Vec::new() });
            }
        }
        Some(access)
    }

    /// A place of its own for a value, for the visit behind.
    fn keep(&mut self, bits: &Bits) -> Bits {
        let same = self.now.iter().find(|(loc, other)| self.fresh.contains(loc) && *other == bits);
        if let Some((loc, _)) = same {
            return own(self.graph, *loc);
        }
        let loc = fresh(self.graph, bits.width());
        self.fresh.insert(loc);
        self.now.insert(loc, bits.clone());
        own(self.graph, loc)
    }

    /// Sees that the visit behind reads what it means: an entry's data is only here now, and so is what is written over now.
    fn settle(&mut self) {
        self.hold_data();
        let written = |cut: &Self| -> BTreeSet<Loc> {
            let mut read = BTreeSet::new();
            let looks = cut.access.iter().flat_map(Access::bits);
            let bits = cut.later.iter().map(|part| &part.bits).chain(&cut.port).chain(looks);
            bits.for_each(|bits| {
                bits.locs(&mut |loc| {
                    read.insert(loc);
                })
            });
            read.retain(|loc| cut.now.contains_key(loc) && !cut.fresh.contains(loc));
            read
        };
        let before = (self.now.clone(), self.later.clone());
        loop {
            let both = written(self);
            if both.is_empty() {
                break;
            }
            for loc in both {
                let Some(bits) = self.now.remove(&loc) else { continue };
                let mut top = bits.width();
                for seg in bits.segs {
                    top -= seg.width;
                    if seg.src != Src::Loc(loc, top) {
                        let bits = Bits::one(seg);
                        self.later.push(Part { loc, low: top, bits, bridge: Vec::new() });
                    }
                }
            }
        }
        if self.now.keys().all(|loc| self.fresh.contains(loc)) {
            // All of it would wait: what is written over is kept beside.
            (self.now, self.later) = before;
            for loc in written(self) {
                let place = self.keep(&own(self.graph, loc));
                let mut with = |width: u32, src: &Src| match src {
                    Src::Loc(other, low) if *other == loc => Some(place.slice(*low, width)),
                    _ => None,
                };
                let later = std::mem::take(&mut self.later);
                self.later = later.into_iter().map(|part| Part { bits: map(&part.bits, &mut with), ..part }).collect();
                self.port = self.port.as_ref().map(|bits| map(bits, &mut with));
                if let Some(access) = &mut self.access {
                    each_of(access, &mut |bits| *bits = map(bits, &mut with));
                }
            }
        }
        self.hold_data();
    }

    fn hold_data(&mut self) {
        let later = std::mem::take(&mut self.later);
        let mut held = Vec::new();
        for part in later {
            let bits = map(&part.bits, &mut |width, src| self.data(width, src));
            held.push(Part { bits, ..part });
        }
        self.later = held;
        if let Some(port) = self.port.take() {
            self.port = Some(map(&port, &mut |width, src| self.data(width, src)));
        }
        if let Some(mut access) = self.access.take() {
            each_of(&mut access, &mut |bits| *bits = map(bits, &mut |width, src| self.data(width, src)));
            self.access = Some(access);
        }
    }

    fn data(&mut self, width: u32, src: &Src) -> Option<Bits> {
        match src {
            Src::Param(..) => Some(self.keep(&Bits::of(width, src.clone()))),
            _ => None,
        }
    }
}
