//! The target's hash: where its bits lie in the key of their stage, of which all else is left out.
//!
//! Before: lists that are hashed. After: where each bit lies, the same for all lists of a length. It keeps: equal values have equal hashes. Verifier:
//! `back/verify/hash.rs`.

use super::phv_allocation::Homes;
use super::rows::StageKey;
use crate::compiler::ir::{Bits, Graph, Leaf, Loc, LocInfo, Next, Seg, Src};
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

/// Brings lists of as many bits, that lie at several places, to one before they are hashed. Lists part into pieces where any of them parts:
/// what is two fields in one may be zeros of a header that is not valid in the next.
pub(super) fn gather(graph: &mut Graph, width: u32) -> Result<(), Refusal> {
    let ends = |data: &Bits| {
        let segs = data.segs.iter().rev();
        segs.scan(0, |low, seg| {
            *low += seg.width;
            Some(*low)
        })
        .collect::<BTreeSet<u32>>()
    };
    let lists = (0..graph.nodes.len()).flat_map(|at| hashed(graph, at)).filter(|data| data.width() == width);
    let ends: BTreeSet<u32> = lists.flat_map(|data| ends(&data)).collect();
    // The lowest bit and the width of each piece, the highest first as in a list.
    let lows = std::iter::once(0).chain(ends.iter().copied());
    let mut pieces: Vec<(u32, u32)> = lows.zip(&ends).map(|(low, end)| (low, end - low)).collect();
    pieces.reverse();
    let places: Vec<Loc> = pieces.iter().map(|(_, width)| super::split::fresh(graph, *width)).collect();
    let all = places.iter().map(|loc| super::split::own(graph, *loc)).fold(Bits::default(), Bits::concat);
    for at in 0..graph.nodes.len() {
        for data in hashed(graph, at).into_iter().filter(|data| data.width() == width) {
            if is_gathered(graph, &data) {
                let what = format!("`hash` of {width} bits at two places of a key, which would be two hashes");
                return Err(Refusal::new(graph.spans[at], RefusalKind::TooMuch, what));
            }
            let assigns = places.iter().zip(&pieces).map(|(loc, (low, width))| (*loc, data.slice(*low, *width)));
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

/// Whether a list was brought to places of its own before.
fn is_gathered(graph: &Graph, data: &Bits) -> bool {
    let is_temp = |seg: &Seg| match &seg.src {
        Src::Loc(loc, 0) => matches!(graph.locs.info(*loc), LocInfo::Temp(..)) && graph.locs.width(*loc) == seg.width,
        _ => false,
    };
    data.segs.iter().all(is_temp)
}
