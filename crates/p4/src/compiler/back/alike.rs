//! Makes visits one that do the same once packets which are put together in the same way leave by one end.
//!
//! Before: ways of the parser have visits of their own where headers that nobody touches stand in some packets and not in others. After: one visit for
//! all of them, so that a table's entries have their rows once. It keeps: what each way's packets come to. Verifier: `back/verify/alike.rs`.

use super::{join, one_of_each, written};
use crate::compiler::ir::{Graph, Next, Tree};
use crate::front::interpret::code::Code;
use std::collections::HashMap;

/// The graph with such visits made one; nothing if there are none.
pub(super) fn alike(graph: &Graph, code: &Code) -> Option<Graph> {
    let mut graph = graph.clone();
    let all = written(&graph);
    // Packets that no row puts together are refused where visits get their stages.
    one_of_each(&mut graph, code, &all).ok()?;
    let mut any = false;
    loop {
        let mut first: HashMap<&Tree, usize> = HashMap::new();
        let nodes = graph.nodes.iter().enumerate();
        let number: Vec<usize> = nodes.map(|(at, node)| *first.entry(&node.tree).or_insert(at)).collect();
        let change = |next: &mut Next, changed: &mut bool| {
            if let Next::Node(at) = next {
                *changed |= *at != number[*at];
                *at = number[*at];
            }
        };
        let mut changed = false;
        graph.paths.iter_mut().for_each(|path| change(&mut path.next, &mut changed));
        let leaves = graph.nodes.iter_mut();
        leaves.for_each(|node| node.tree.each_leaf_mut(&mut |leaf| change(&mut leaf.next, &mut changed)));
        if !changed {
            break;
        }
        any = true;
    }
    any.then(|| join::reached(graph))
}
