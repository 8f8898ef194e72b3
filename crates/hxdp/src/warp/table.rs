//! A program's table: rules, and what each leads to.

use super::bits::Seen;
use super::key::{Asks, Key, asks};
use super::path::path;
use super::peel::Entry;
use super::test::Test;
use super::tree::{Node, Tree};
use super::rows::Rows;
use super::walk::{Count, End};
use crate::compile::compile_leaf;
use crate::sections::Serial;
use crate::{Bundles, CompileError, Compiled, Target};
use sluice_ebpf::{Image, Program};

/// What becomes of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A core runs the program from its start.
    Plain,
    /// The program ends, and no core runs it.
    Verdict {
        /// r0.
        r0: u64,
        /// What is counted before.
        counts: Vec<Count>,
    },
    /// A core begins at this row, with this.
    Resume {
        /// Row.
        row: u32,
        /// Registers and lookup.
        entry: Entry,
    },
}

/// One rule: a frame matches it where all that it says is so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Mask and value of each of the key's lanes.
    pub lanes: Vec<(u8, u8)>,
    /// Which predicates are asked, and their answers.
    pub predicates: (u8, u8),
}

/// One leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Which frames it has, of those that no leaf before it has.
    pub rule: Rule,
    /// What becomes of them.
    pub action: Action,
    /// How the path ends.
    pub end: End,
    /// eBPF instructions of the path.
    pub path: usize,
    /// Ways back that the path has taken, which count as work.
    pub work: u64,
}

/// A program's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// What is gathered of a frame.
    pub key: Key,
    /// In the order in which rules are asked.
    pub leaves: Vec<Leaf>,
}

impl Rule {
    fn new(key: &Key, tests: &[(Test, bool)]) -> Self {
        let mut rule = Self { lanes: vec![(0, 0); key.lanes.len()], predicates: (0, 0) };
        for (test, answer) in tests {
            match asks(test) {
                Some(Asks::Bytes(bytes)) if *answer => {
                    for (byte, (mask, value)) in bytes {
                        if let Some(at) = key.lanes.iter().position(|lane| *lane == byte) {
                            rule.lanes[at].0 |= mask;
                            rule.lanes[at].1 |= value;
                        }
                    }
                }
                Some(Asks::Predicate(predicate)) => {
                    if let Some(at) = key.predicates.iter().position(|other| *other == predicate) {
                        rule.predicates.0 |= 1 << at;
                        rule.predicates.1 |= u8::from(*answer) << at;
                    }
                }
                // Frames that fail a test of bits come behind those that pass it.
                _ => {}
            }
        }
        rule
    }

    /// Whether a frame's key matches.
    pub fn matches(&self, lanes: &[u8], predicates: u8) -> bool {
        self.lanes.iter().zip(lanes).all(|((mask, value), lane)| lane & mask == *value)
            && predicates & self.predicates.0 == self.predicates.1
    }
}

impl Table {
    /// The leaf of a packet.
    pub fn leaf(&self, seen: &Seen) -> Option<usize> {
        let lanes: Vec<u8> = self.key.lanes.iter().map(|at| seen.bytes[usize::from(*at)]).collect();
        let predicates =
            (0..).zip(&self.key.predicates).fold(0, |all, (at, predicate)| all | u8::from(predicate.holds(seen)) << at);
        self.leaves.iter().position(|leaf| leaf.rule.matches(&lanes, predicates))
    }
}

/// A program with its table.
#[derive(Clone, Debug)]
pub struct Warped {
    /// Its table.
    pub table: Table,
    /// Its rows, and those of the leaves behind them.
    pub bundles: Bundles,
    /// What packets of a flow do one after the other.
    pub serial: Serial,
}

/// A program with its table; `plain` is the program without.
pub fn warp(image: &Image, program: &Program, plain: Compiled, target: &Target) -> Result<Warped, CompileError> {
    let tree = Tree::of(image, program);
    let mut rows = Rows::new(plain);
    let mut leaves = Vec::new();
    for (at, tests) in tree.leaves() {
        let (Node::Leaf(end), state) = &tree.nodes[at] else { continue };
        let action = match *end {
            End::Exit(r0) => Action::Verdict { r0, counts: state.counts.clone() },
            End::Cut { slot, .. } => match path(program, state, slot).filter(|_| !state.path.is_empty()) {
                Some(path) => {
                    let (compiled, entry) = compile_leaf(image, &path, target)?;
                    Action::Resume { row: rows.append(&compiled, &path.slots), entry }
                }
                None => Action::Plain,
            },
        };
        leaves.push(Leaf { rule: Rule::new(&tree.key, &tests), action, end: *end, path: state.path.len(), work: state.work });
    }
    Ok(Warped { table: Table { key: tree.key, leaves }, bundles: rows.bundles, serial: rows.serial })
}
