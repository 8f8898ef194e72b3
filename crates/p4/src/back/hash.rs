//! The target's hash: where its bits lie in the key of their stage, of which all else is left out.

use super::homes::Homes;
use super::leaves;
use super::rows::StageKey;
use crate::interpret::HashLayouts;
use crate::ir::{Bits, Graph, Src};
use crate::middle::{Refusal, RefusalKind};
use sluice_object::rmt::LogicalValue;
use sluice_rmt::stage::Key;

/// The hash of a key in which only a visit's number stands. A hash of several parts is the parts' hashes, each with zeros in place of
/// the others, one over the other, and over that of zeros; so this takes the number out.
pub(super) fn of_node(number: usize) -> u32 {
    let mut key = Key::default();
    key.0[..2].copy_from_slice(&((number + 1) as u16).to_le_bytes());
    key.hash() ^ Key::default().hash()
}

/// What a visit hashes.
pub(super) fn hashed(graph: &Graph, at: usize) -> Vec<Bits> {
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

/// A mask of the bits that a stage hashes.
pub(super) fn mask(graph: &Graph, homes: &Homes, stages: &[usize], number: usize, key: &StageKey) -> LogicalValue {
    let here = (0..graph.nodes.len()).filter(|at| stages[*at] == number);
    let all = here.flat_map(|at| hashed(graph, at)).filter_map(|data| places(&data, homes, key));
    all.flatten().flatten().fold(LogicalValue::default(), |mask, bit| mask.with(bit.into()))
}

/// The first visit with a hash beside which its stage looks at something else.
pub(super) fn crowded(graph: &Graph, homes: &Homes, stages: &[usize], keys: &[StageKey]) -> Option<usize> {
    for at in 0..graph.nodes.len() {
        let key = &keys[stages[at]];
        let mut own = LogicalValue::default();
        for data in hashed(graph, at) {
            let Some(places) = places(&data, homes, key) else { return Some(at) };
            own = places.into_iter().flatten().fold(own, |own, bit| own.with(bit.into()));
        }
        let is_own = |bit: u32| own.bit(bit);
        if own != LogicalValue::default() && !(key.tests.is_empty() && key.looked.iter().all(|bit| is_own(*bit))) {
            return Some(at);
        }
    }
    None
}

/// Where the bits lie that are hashed, by how many they are: the same for all calls, so that equal values have equal hashes.
pub(super) fn layouts(
    graph: &Graph,
    homes: &Homes,
    stages: &[usize],
    keys: &[StageKey],
) -> Result<HashLayouts, Refusal> {
    let mut layouts = HashLayouts::default();
    for at in 0..leaves(graph).len() {
        for data in hashed(graph, at) {
            let width = data.width();
            let refuse = |what: &str| {
                Refusal::new(graph.spans[at], RefusalKind::TooMuch, format!("`hash` of {width} bits {what}"))
            };
            let Some(places) = places(&data, homes, &keys[stages[at]]) else {
                return Err(refuse("that lie in no containers"));
            };
            if *layouts.entry(width as usize).or_insert_with(|| places.clone()) != places {
                return Err(refuse("at two places of a key, which would be two hashes"));
            }
        }
    }
    Ok(layouts)
}
