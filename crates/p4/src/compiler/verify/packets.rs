//! Packets for a graph: those of its parser's ways, with values that its visits and entries look for, right and wrong checksums, and some that
//! end early.

use super::value::{Value, internet, number, of, put_bytes, slice};
use crate::compiler::ir::{Bits, Graph, Loc, Src, Test, Tree};
use crate::front::interpret::code::{Code, Match};
use sluice_formats::random::Rng;
use std::collections::BTreeMap;

/// Most bytes behind what a way needs.
const BEHIND: u64 = 40;

/// Values that somebody looks for, by variable: the lowest bit, and the bits.
pub(crate) type Wanted = BTreeMap<Loc, Vec<(u32, Value)>>;

/// All that visits compare with constants, and that entries of the program ask for.
pub(crate) fn wanted(graph: &Graph, code: &Code) -> Wanted {
    let mut all = Wanted::new();
    for node in &graph.nodes {
        each(&node.tree, code, &mut all);
    }
    all
}

fn each(tree: &Tree, code: &Code, all: &mut Wanted) {
    let mut want = |bits: &Bits, value: &[bool]| {
        let mut top = bits.width();
        for seg in &bits.segs {
            top -= seg.width;
            if let Src::Loc(loc, low) = seg.src {
                all.entry(loc).or_default().push((low, slice(value, top, seg.width)));
            }
        }
    };
    match tree {
        Tree::Test(test, yes, no) => {
            let (Test::Is(a, b) | Test::Compare { a, b, .. }) = test;
            for (bits, other) in [(a, b), (b, a)] {
                if let Some(known) = other.known() {
                    want(bits, &of(bits.width(), known));
                }
            }
            each(yes, code, all);
            each(no, code, all);
        }
        Tree::Table(table, keys, below) => {
            for entry in &code.tables[*table].entries {
                for (asked, key) in entry.matches.iter().zip(keys) {
                    match asked {
                        Match::Exact(value)
                        | Match::Masked(value, _)
                        | Match::Prefix(value, ..)
                        | Match::Range(value, _) => {
                            want(key, &super::entries::bits_of(value, key.width()));
                        }
                        Match::Any => {}
                    }
                }
            }
            below.iter().for_each(|(_, tree)| each(tree, code, all));
        }
        Tree::Leaf(_) => {}
    }
}

/// A packet of one of the parser's ways.
pub(crate) fn packet(graph: &Graph, wanted: &Wanted, rng: &mut Rng) -> Vec<u8> {
    let Some(path) = rng.choose(&graph.paths) else { return vec![0] };
    let length = path.least as usize + rng.below(BEHIND) as usize;
    let mut bytes = rng.bytes(length.max(1));
    if rng.chance(1, 8) {
        bytes.fill(0);
    }
    for (loc, first) in &path.taken {
        let Some((low, value)) = wanted.get(loc).filter(|_| rng.chance(1, 2)).and_then(|all| rng.choose(all)) else {
            continue;
        };
        let mut value = value.clone();
        if rng.chance(1, 4) && value.len() <= 64 {
            let near = number(&value).wrapping_add(rng.below(3).into()).wrapping_sub(1);
            value = of(value.len() as u32, near);
        }
        let begin = first + graph.locs.width(*loc) - low - value.len() as u32;
        put_bytes(&mut bytes, begin, &value);
    }
    for (byte, (mask, value)) in &path.bytes {
        if let Some(byte) = bytes.get_mut(*byte as usize) {
            *byte = *byte & !mask | value;
        }
    }
    if let Some((start, words)) = path.verify
        && rng.chance(1, 2)
    {
        // Whichever word makes the sum right; the last is the least in the way.
        let at = start + 2 * words - 2;
        let sum = internet(&bytes, (start, words, at));
        put_bytes(&mut bytes, 8 * at, &of(16, sum.into()));
    }
    if rng.chance(1, 8) {
        let kept = 1 + rng.index(bytes.len());
        bytes.truncate(kept);
    }
    bytes
}
