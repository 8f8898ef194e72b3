//! What needs more stages than there are: the longest chain of visits, each with what it does and where.

use super::{leaves, names};
use crate::compiler::ir::{Graph, Next};
use crate::compiler::middle::{Refusal, RefusalKind};
use crate::front::interpret::code::Code;

/// Most steps of a chain that are shown.
const MOST_STEPS: usize = 16;

/// The refusal of a graph whose visits have these levels, where there are so many stages: at the visit that no longer fits.
pub(super) fn refusal(graph: &Graph, code: &Code, levels: &[usize], there: usize) -> Refusal {
    let deepest = levels.iter().copied().max().unwrap_or(0);
    let chain = chain(graph, levels);
    let (first, rest) = (chain.iter().take(MOST_STEPS), chain.len().saturating_sub(MOST_STEPS));
    // The first visit behind the last stage; the chain has one on each level.
    let over = chain.iter().find(|at| levels[**at] == there).or(chain.last());
    let span = over.map(|at| names::line(graph, *at)).unwrap_or_default();
    let what = format!("a chain of {} stages, and there are {there}", deepest + 1);
    let mut refusal = Refusal::new(span, RefusalKind::TooMuch, what);
    refusal.notes = first.map(|at| (Some(names::line(graph, *at)), names::visit(graph, *at, code))).collect();
    if rest > 0 {
        refusal.notes.push((None, format!("and {rest} more")));
    }
    refusal
}

/// A visit of each level, each the reason why the next is no earlier.
fn chain(graph: &Graph, levels: &[usize]) -> Vec<usize> {
    let deepest = levels.iter().copied().max().unwrap_or(0);
    let Some(mut at) = levels.iter().position(|level| *level == deepest) else { return Vec::new() };
    let leaves = leaves(graph);
    let looks = super::cells::looks(graph);
    let mut chain = vec![at];
    while levels[at] > 0 {
        let leads = |to: usize| {
            let before = |from: &usize| levels[*from] + 1 == levels[to];
            let to_it = |from: &usize| leaves[*from].iter().any(|leaf| leaf.next == Next::Node(to));
            (0..levels.len()).find(|from| before(from) && to_it(from))
        };
        // One that another visit to the same cells holds back is there because of that one.
        let arrays: Vec<_> = looks.iter().filter(|(node, _)| *node == at).map(|(_, array)| *array).collect();
        let beside = looks.iter().filter(|(_, array)| arrays.contains(array)).map(|(node, _)| *node);
        let Some(from) = leads(at).or_else(|| beside.clone().find_map(leads)) else { break };
        chain.push(from);
        at = from;
    }
    chain.reverse();
    chain
}
