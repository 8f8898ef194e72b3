//! All paths of a program, and the rules that tell them apart.
//!
//! A test has two ways on. The rules of the way on which a test of bits holds come first, so that those of the other need no
//! opposite: a frame that comes to them has failed the test.

use super::key::{Key, asks};
use super::test::Test;
use super::walk::{End, Next, State, Why};
use crate::Stored;
use sluice_ebpf::{Image, Program};
use sluice_object::xdp::warp::RULES;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Leaves that are walked to: more than a table has rules, of which [`Tree::fit`] keeps those that decide most.
const WALKED: usize = 2 * RULES;

/// A place where paths part, or the end of one.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there are few")]
pub enum Node {
    /// A test at the state's slot.
    Test {
        /// What is asked.
        test: Test,
        /// Where it holds, and where not.
        ways: [usize; 2],
    },
    /// An end.
    Leaf(End),
}

/// The paths of a program.
#[derive(Clone, Debug)]
pub struct Tree {
    /// By number; 0 is the root. With where the path has come to.
    pub nodes: Vec<(Node, State)>,
    /// What the tests look at.
    pub key: Key,
}

impl Tree {
    /// Of a program that was validated; cores store to these maps. What lies near its beginning is followed first, and loops last.
    pub fn of(image: &Image, program: &Program, stored: &Stored) -> Self {
        let placeholder = Node::Leaf(End::Cut { slot: 0, why: Why::Room });
        let mut tree = Self { nodes: vec![(placeholder.clone(), State::start(stored))], key: Key::default() };
        // By ways back, tests before it, and number.
        let (mut open, mut leaves) = (BinaryHeap::from([Reverse((0, 0, 0))]), 1);
        while let Some(Reverse((_, depth, at))) = open.pop() {
            let (_, mut state) = tree.nodes[at].clone();
            let (test, taken) = match state.run(image, program) {
                Next::End(end) => {
                    tree.nodes[at] = (Node::Leaf(end), state);
                    continue;
                }
                Next::Test(test, taken) => (test, Some(taken)),
                Next::Split(tests) => {
                    let goes_on = tests.iter().position(|test| !state.ends_where(test, image, program));
                    (tests[goes_on.unwrap_or(0)].clone(), None)
                }
            };
            if asks(&test).is_none() || leaves == WALKED {
                let why = if leaves == WALKED { Why::Room } else { Why::Branch };
                tree.nodes[at] = (Node::Leaf(End::Cut { slot: state.slot, why }), state);
                continue;
            }
            leaves += 1;
            let mut way = |answer: bool| {
                let mut way = state.clone();
                way.facts.learn(&test, answer);
                if let Some(taken) = taken {
                    way.branch(program, answer == taken);
                }
                let end = End::Cut { slot: way.slot, why: Why::Address };
                tree.nodes.push((Node::Leaf(end), way));
                tree.nodes.len() - 1
            };
            let ways = [way(true), way(false)];
            // Where the walk's own test fails, the path ends.
            let on = if taken.is_some() { &ways[..] } else { &ways[..1] };
            open.extend(on.iter().map(|way| Reverse((tree.nodes[*way].1.work, depth + 1, *way))));
            let node = Node::Test { test, ways };
            tree.nodes[at] = (node, state);
        }
        tree.fit();
        tree
    }

    /// The leaves in the order of their rules, each with its tests and their answers.
    pub fn leaves(&self) -> Vec<(usize, Vec<(Test, bool)>)> {
        let mut leaves = Vec::new();
        let mut open = vec![(0, Vec::new())];
        while let Some((at, tests)) = open.pop() {
            match &self.nodes[at].0 {
                Node::Leaf(_) => leaves.push((at, tests)),
                Node::Test { test, ways } => {
                    for (way, answer) in [(ways[1], false), (ways[0], true)] {
                        let mut tests = tests.clone();
                        tests.push((test.clone(), answer));
                        open.push((way, tests));
                    }
                }
            }
        }
        leaves
    }

    /// Rules that it takes if these leaves are plain.
    pub fn rules(&self, is_plain: &dyn Fn(usize) -> bool) -> usize {
        let mut plain = vec![false; self.nodes.len()];
        // Ways on have higher numbers.
        for at in (0..self.nodes.len()).rev() {
            plain[at] = match &self.nodes[at].0 {
                Node::Leaf(_) => is_plain(at),
                Node::Test { ways, .. } => ways.iter().all(|way| plain[*way]),
            };
        }
        // What no rule matches is plain.
        let (mut rules, mut last, mut open) = (0, 0, vec![0]);
        while let Some(at) = open.pop() {
            match &self.nodes[at].0 {
                Node::Test { ways, .. } if !plain[at] => open.extend([ways[1], ways[0]]),
                _ => {
                    rules += 1;
                    last = if plain[at] { last } else { rules };
                }
            }
        }
        last
    }

    /// Makes one leaf of what is plain whatever its tests say, and forgets what nobody asks.
    pub fn prune(&mut self, is_plain: &dyn Fn(usize) -> bool) {
        // Ways on have higher numbers.
        let mut plain = vec![false; self.nodes.len()];
        for at in (0..self.nodes.len()).rev() {
            match &self.nodes[at].0 {
                Node::Leaf(_) => plain[at] = is_plain(at),
                Node::Test { ways, .. } if ways.iter().all(|way| plain[*way]) => {
                    let slot = self.nodes[at].1.slot;
                    self.nodes[at].0 = Node::Leaf(End::Cut { slot, why: Why::Gain });
                    plain[at] = true;
                }
                Node::Test { .. } => {}
            }
        }
        let leaves = self.leaves();
        let tests = leaves.iter().flat_map(|(_, tests)| tests);
        let smaller = tests.into_iter().try_fold(Key::default(), |key, (test, _)| key.with(test));
        // In another order lanes may fit worse.
        self.key = smaller.unwrap_or_else(|| self.key.clone());
    }
}
