//! Which lines of a program give a table's entries more rows than one.

use super::{Plan, leaves, names};
use crate::compiler::ir::{Next, Test, Tree};
use crate::front::source::Span;

/// Lines by what they cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factors {
    /// Where packets come from that meet the table's rows on several ways.
    pub ways: Vec<Span>,
    /// What is decided in one visit with the table.
    pub decided: Vec<Span>,
    /// What the table's stage looks at beside it.
    pub beside: Vec<Span>,
}

impl Plan {
    /// What costs rows of a table.
    pub fn factors(&self, table: usize) -> Factors {
        let mut factors = Factors::default();
        let graph = &self.graph;
        for (own, others) in self.beside(table) {
            if own.len() > 1 {
                let paths = graph.paths.iter().filter(|path| own.iter().any(|at| path.next == Next::Node(*at)));
                factors.ways.extend(paths.map(|path| path.span));
                for (from, leaves) in leaves(graph).into_iter().enumerate() {
                    if leaves.iter().any(|leaf| own.iter().any(|at| leaf.next == Next::Node(*at))) {
                        factors.ways.push(names::line(graph, from));
                    }
                }
            }
            for at in &own {
                tests(&graph.nodes[*at].tree, &mut |test| factors.decided.extend(graph.locs.lines.asked(test)));
            }
            factors.beside.extend(others.iter().map(|at| names::line(graph, *at)));
        }
        for all in [&mut factors.ways, &mut factors.decided, &mut factors.beside] {
            all.sort_by_key(|span| (span.text, span.start));
            all.dedup_by(|a, b| a.is_at(*b));
        }
        factors
    }
}

fn tests<'t>(tree: &'t Tree, see: &mut dyn FnMut(&'t Test)) {
    match tree {
        Tree::Test(test, yes, no) => {
            see(test);
            tests(yes, see);
            tests(no, see);
        }
        Tree::Table(_, _, all) => all.iter().for_each(|(_, tree)| tests(tree, see)),
        Tree::Leaf(_) => {}
    }
}
