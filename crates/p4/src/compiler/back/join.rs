//! Joins a visit that looks at a cell with the last one behind it, where that one only puts the cell's value into a field.
//!
//! Before: a visit reads a cell to a value on its way, the next one writes that to a field of 32 bits, and the packet leaves. After: the
//! first writes the field, and the packet leaves from there. Needs: nothing. Leaves alone: visits that compute, decide or lead on. Verifier: `back/verify/alike.rs`.

use crate::compiler::ir::{Bits, Graph, Leaf, Loc, LocInfo, Next, Src, Tree};
use std::collections::BTreeMap;

/// The graph with such visits joined; nothing if there are none.
pub(super) fn joined(graph: &Graph) -> Option<Graph> {
    let mut nodes = graph.nodes.clone();
    let mut any = false;
    for node in &mut nodes {
        node.tree.each_leaf_mut(&mut |leaf| {
            if let Some(joined) = both(graph, leaf) {
                *leaf = joined;
                any = true;
            }
        });
    }
    any.then(|| reached(Graph { nodes, ..graph.clone() }))
}

/// A leaf with what the visit behind it does.
fn both(graph: &Graph, leaf: &Leaf) -> Option<Leaf> {
    let (Some(_), Next::Node(behind)) = (&leaf.access, &leaf.next) else { return None };
    let Tree::Leaf(last) = &graph.nodes[*behind].tree else { return None };
    let ends = matches!(last.next, Next::End(_) | Next::Drop);
    if last.access.is_some() || !last.bounds.is_empty() || !ends {
        return None;
    }
    // Nobody else is behind: values on their way end here, but for those that go out as they are.
    let goes_out = |loc: &Loc| match &last.next {
        Next::End(end) => end.deparse.outs.iter().any(|out| out.loc == *loc),
        _ => false,
    };
    let is_temp = |loc: &Loc| matches!(graph.locs.info(*loc), LocInfo::Temp(..) | LocInfo::Way(_));
    let mut assigns: BTreeMap<Loc, Bits> = leaf.assigns.clone();
    assigns.retain(|loc, _| !is_temp(loc) || goes_out(loc));
    for (loc, bits) in &last.assigns {
        assigns.insert(*loc, before(bits, &leaf.assigns)?);
    }
    let mut next = last.next.clone();
    if let Next::End(end) = &mut next {
        for bits in [&mut end.port, &mut end.group] {
            *bits = before(bits, &leaf.assigns).filter(|bits| !bits.has_cell())?;
        }
    }
    Some(Leaf { access: leaf.access.clone(), bounds: leaf.bounds.clone(), assigns, next })
}

/// Bits as they are before these are written, if that is no computation, and a cell's value only as a whole.
fn before(bits: &Bits, written: &BTreeMap<Loc, Bits>) -> Option<Bits> {
    let mut out = Bits::default();
    for seg in &bits.segs {
        out = out.concat(match &seg.src {
            Src::Loc(loc, low) => match written.get(loc) {
                Some(value) => value.slice(*low, seg.width),
                None => Bits::one(seg.clone()),
            },
            Src::Const(_) => Bits::one(seg.clone()),
            Src::Param(..) | Src::Cell(..) | Src::Op(_) | Src::Hash(..) => return None,
        });
    }
    let whole = matches!(&out.segs[..], [seg] if matches!(seg.src, Src::Cell(_, 0)) && seg.width == 32);
    let moved = out.segs.iter().all(|seg| matches!(seg.src, Src::Const(_) | Src::Param(..) | Src::Loc(..)));
    (whole || moved).then_some(out)
}

/// The graph without visits that no packet comes to.
pub(super) fn reached(mut graph: Graph) -> Graph {
    let mut is_reached = vec![false; graph.nodes.len()];
    let mut open: Vec<usize> = graph.paths.iter().filter_map(|path| node_of(&path.next)).collect();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut is_reached[at], true) {
            graph.nodes[at].tree.each_leaf(&mut |leaf| open.extend(node_of(&leaf.next)));
        }
    }
    let number: Vec<usize> =
        (0..is_reached.len()).map(|at| is_reached[..at].iter().filter(|is| **is).count()).collect();
    let change = |next: &mut Next| {
        if let Next::Node(at) = next {
            *at = number[*at];
        }
    };
    graph.paths.iter_mut().for_each(|path| change(&mut path.next));
    graph.nodes.iter_mut().for_each(|node| node.tree.each_leaf_mut(&mut |leaf| change(&mut leaf.next)));
    let mut at = is_reached.iter();
    graph.nodes.retain(|_| *at.next().unwrap_or(&false));
    let mut at = is_reached.iter();
    graph.spans.retain(|_| *at.next().unwrap_or(&false));
    graph
}

fn node_of(next: &Next) -> Option<usize> {
    match next {
        Next::Node(at) => Some(*at),
        _ => None,
    }
}
