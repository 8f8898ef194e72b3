//! The target's hash: where its bits lie in the key of their stage, of which all else is left out.
//!
//! Before: lists that are hashed. After: where each bit lies, the same for all lists of a length. It keeps: equal values have equal hashes. Verifier:
//! `back/verify/hash.rs`.

use super::phv_allocation::Homes;
use super::rows::StageKey;
use crate::compiler::ir::{Bits, Graph, Leaf, Loc, Next, Seg, Src};
use crate::compiler::middle::{Refusal, RefusalKind};
use crate::front::interpret::HashLayouts;
use sluice_rmt::stage::Key;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The hash of a key in which only a visit's number stands. A hash of several parts is the parts' hashes, each with zeros in place of
/// the others, one over the other, and over that of zeros; so this takes the number out.
pub(super) fn of_node(number: usize) -> u32 {
    let mut key = Key::default();
    key.0[..2].copy_from_slice(&((number + 1) as u16).to_le_bytes());
    key.hash() ^ Key::default().hash()
}

/// What a visit hashes.
fn hashed(graph: &Graph, at: usize) -> Vec<Bits> {
    let leaves = super::leaves_of(&graph.nodes[at].tree);
    leaves.iter().flat_map(|leaf| leaf.assigns.values()).flat_map(|bits| bits.hashed().cloned()).collect()
}

/// Bits of the stage's key that bits lie in, the lowest first; nothing for constants.
fn places(data: &Bits, homes: &Homes, key: &StageKey) -> Option<Vec<Option<u8>>> {
    let mut all = Vec::new();
    for bit in 0..data.width() {
        let one = data.slice(bit, 1);
        all.push(match one.segs.first().map(|seg| &seg.src) {
            Some(Src::Const(_)) => None,
            Some(Src::Loc(loc, low)) => {
                let piece = *homes.of(*loc, *low, 1).first()?;
                Some(key.bit(piece.container, piece.at)? as u8)
            }
            _ => return None,
        });
    }
    Some(all)
}

/// Whether a stage hashes; then all that it looks at is what it hashes (see [`crowded`]).
pub(super) fn in_stage(graph: &Graph, stages: &[usize], number: usize) -> bool {
    (0..graph.nodes.len()).any(|at| stages[at] == number && !hashed(graph, at).is_empty())
}

/// The first visit with a hash beside which its stage looks at something else.
pub(super) fn crowded(graph: &Graph, homes: &Homes, stages: &[usize], keys: &[StageKey]) -> Option<usize> {
    (0..graph.nodes.len()).find(|at| {
        let key = &keys[stages[*at]];
        let others = |data: &Bits| {
            let own: BTreeSet<u32> = places(data, homes, key).into_iter().flatten().flatten().map(u32::from).collect();
            !key.tests.is_empty() || key.looked != own
        };
        hashed(graph, *at).iter().any(others)
    })
}

/// Where the bits lie that are hashed, by how many they are: the same for all calls, so that equal values have equal hashes. Otherwise how
/// many bits lie at several places.
pub(super) fn layouts(
    graph: &Graph,
    homes: &Homes,
    stages: &[usize],
    keys: &[StageKey],
) -> Result<Result<HashLayouts, u32>, Refusal> {
    let mut layouts = HashLayouts::default();
    for at in 0..graph.nodes.len() {
        for data in hashed(graph, at) {
            let width = data.width();
            let Some(places) = places(&data, homes, &keys[stages[at]]) else {
                let what = format!("`hash` of {width} bits that lie in no containers");
                return Err(Refusal::new(graph.spans[at], RefusalKind::TooMuch, what));
            };
            if *layouts.entry(width as usize).or_insert_with(|| places.clone()) != places {
                return Ok(Err(width));
            }
        }
    }
    Ok(Ok(layouts))
}

/// Brings lists of as many bits, that lie at several places, to one before they are hashed.
pub(super) fn gather(graph: &mut Graph, width: u32) -> Result<(), Refusal> {
    let mut places: Vec<Loc> = Vec::new();
    for at in 0..graph.nodes.len() {
        for data in hashed(graph, at).into_iter().filter(|data| data.width() == width) {
            let span = graph.spans[at];
            let refuse =
                |what: &str| Err(Refusal::new(span, RefusalKind::TooMuch, format!("`hash` of {width} bits {what}")));
            if places.is_empty() {
                places = data.segs.iter().map(|seg| super::split::fresh(graph, seg.width)).collect();
            }
            let widths = places.iter().map(|loc| graph.locs.width(*loc));
            if !widths.eq(data.segs.iter().map(|seg| seg.width)) {
                return refuse("in lists of other widths than each other's");
            }
            let own: Vec<Bits> = places.iter().map(|loc| super::split::own(graph, *loc)).collect();
            let all = own.iter().cloned().fold(Bits::default(), Bits::concat);
            if all == data {
                return refuse("at two places of a key, which would be two hashes");
            }
            let assigns = places.iter().copied().zip(data.segs.iter().map(|seg| Bits::one(seg.clone())));
            let first = Leaf { assigns: assigns.collect(), ..Leaf::to(Next::Drop) };
            super::split::before(graph, at, first, &|bits| match &bits.segs[..] {
                [Seg { width, src: Src::Hash(of, low) }] if **of == data => {
                    Bits::of(*width, Src::Hash(Rc::new(all.clone()), *low))
                }
                _ => bits.clone(),
            });
        }
    }
    Ok(())
}
