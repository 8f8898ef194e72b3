//! Which tests a table has room for.
//!
//! A program may ask more than the key has bytes and predicates, and have more paths than there are rules. What least hangs on is
//! given up: the paths end where it is asked, wherever in the program that is.

use super::key::{Asks, Key, asks};
use super::test::Test;
use super::tree::{Node, Tree};
use super::walk::{End, Why};
use sluice_object::xdp::warp::{PREDICATES, RULES};

/// What there is too much of.
enum Full {
    Rules,
    Predicates,
    Lanes,
}

impl Tree {
    /// Gives tests up until rules and key are enough.
    pub fn fit(&mut self) {
        loop {
            let reached = self.reached();
            let tests = distinct(reached.iter().filter_map(|at| self.test(*at)));
            let full = match tests.iter().try_fold(Key::default(), |key, test| key.with(test)) {
                Some(key) if reached.len() < 2 * RULES => {
                    self.key = key;
                    return;
                }
                Some(_) => Full::Rules,
                None if predicates(&tests) > PREDICATES => Full::Predicates,
                None => Full::Lanes,
            };
            let lost = self.lost(&reached);
            // Rules are of one place, what is gathered is of all that ask it.
            let least = match full {
                Full::Rules => reached
                    .iter()
                    .copied()
                    .filter(|at| self.test(*at).is_some())
                    .min_by_key(|at| lost[*at])
                    .map(|at| vec![at]),
                _ => {
                    let helps = |test: &&&Test| {
                        matches!((asks(test), &full), (Some(Asks::Predicate(..)), _) | (_, Full::Lanes))
                    };
                    let places = |test: &Test| -> Vec<usize> {
                        reached.iter().copied().filter(|at| self.test(*at) == Some(test)).collect()
                    };
                    let places = tests.iter().filter(helps).map(|test| places(test));
                    places.min_by_key(|places| places.iter().map(|at| lost[*at]).sum::<usize>())
                }
            };
            let Some(least) = least.filter(|least| !least.is_empty()) else { return };
            for at in least {
                let slot = self.nodes[at].1.slot;
                self.nodes[at].0 = Node::Leaf(End::Cut { slot, why: Why::Room });
            }
        }
    }

    fn test(&self, at: usize) -> Option<&Test> {
        match &self.nodes[at].0 {
            Node::Test { test, .. } => Some(test),
            Node::Leaf(_) => None,
        }
    }

    /// Nodes that a path comes to, each before its ways on.
    fn reached(&self) -> Vec<usize> {
        let mut reached = vec![0];
        let mut next = 0;
        while let Some(at) = reached.get(next) {
            if let Node::Test { ways, .. } = &self.nodes[*at].0 {
                reached.extend(ways);
            }
            next += 1;
        }
        reached
    }

    /// By node, the instructions behind its test that leaves have decided.
    fn lost(&self, reached: &[usize]) -> Vec<usize> {
        let mut lost = vec![0; self.nodes.len()];
        let mut leaves = vec![1; self.nodes.len()];
        let length = |at: usize| self.nodes[at].1.path.len();
        for at in reached.iter().rev() {
            if let Node::Test { ways, .. } = &self.nodes[*at].0 {
                leaves[*at] = ways.iter().map(|way| leaves[*way]).sum();
                lost[*at] = ways.iter().map(|way| lost[*way] + leaves[*way] * (length(*way) - length(*at))).sum();
            }
        }
        lost
    }
}

/// Each once.
fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut seen, one| {
        if !seen.contains(&one) {
            seen.push(one);
        }
        seen
    })
}

/// Predicates that these tests take.
fn predicates(tests: &[&Test]) -> usize {
    let asked = tests.iter().filter_map(|test| asks(test));
    distinct(asked.filter(|asks| matches!(asks, Asks::Predicate(..)))).len()
}
