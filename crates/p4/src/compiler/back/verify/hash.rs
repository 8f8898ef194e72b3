//! Verifier of `hash`: the target's hash of a stage's whole key, the visit's number among it, is by the visit's own action the hash of the
//! bits where the layout says that they lie.

use super::super::{Plan, hash::of_node, leaves};
use super::Containers;
use crate::compiler::ir::{Bits, Src};
use crate::compiler::verify::entries::hash;
use crate::compiler::verify::run::Store;
use crate::compiler::verify::value::{Inputs, Value, evaluate};
use sluice_formats::random::Rng;
use sluice_rmt::phv::{Class, Container};
use sluice_rmt::stage::{Key, PIECE_AT};

/// Checks each hash so often.
pub(super) fn check(plan: &Plan, mut rng: Rng, times: usize) -> Result<(), String> {
    for (at, leaves) in leaves(&plan.graph).into_iter().enumerate() {
        for data in leaves.iter().flat_map(|leaf| leaf.assigns.values()).flat_map(Bits::hashed) {
            for _ in 0..4 * times {
                let mut containers = Containers::random(&plan.homes, &plan.graph.locs, &mut rng);
                containers.set_number(at);
                let bits: Value = {
                    let mut var = |loc| containers.get(loc);
                    let none = &|_: &[bool]| 0;
                    evaluate(data, &mut Inputs { var: &mut var, params: &[], cell: None, hash: none })
                        .unwrap_or_default()
                };
                let meant = hash(&plan.hashes, &bits);
                let whole = key(plan, plan.stages[at], &containers).hash();
                if whole ^ of_node(at) != meant {
                    return Err(format!(
                        "visit {at}: {:#x} is {:#x}, not {meant:#x}",
                        number(&bits),
                        whole ^ of_node(at)
                    ));
                }
            }
        }
        let is_part = |src: &Src| matches!(src, Src::Hash(..));
        if leaves
            .iter()
            .flat_map(|leaf| leaf.assigns.values())
            .any(|bits| bits.segs.len() > 1 && bits.segs.iter().any(|seg| is_part(&seg.src)))
        {
            return Err(format!("visit {at}: a hash among other bits"));
        }
    }
    Ok(())
}

fn number(bits: &[bool]) -> u128 {
    crate::compiler::verify::value::number(bits)
}

/// The key of a stage, of which the visit's number and what is looked at count.
fn key(plan: &Plan, stage: usize, containers: &Containers) -> Key {
    let key = &plan.keys[stage];
    let mut mask = Key::default();
    key.looked.iter().for_each(|bit| mask.put(*bit, 1, 1));
    mask.put(0, plan.homes.number, plan.homes.number_mask());
    let mut whole = Key::default();
    for (i, at) in PIECE_AT.iter().enumerate() {
        let class = Class::ALL[i / 2];
        let place = (0..8).find(|place| key.bit(Container::of(class, *place), 0) == Some(*at));
        if let Some(place) = place {
            whole.put(*at, class.bits(), containers.phv.get(Container::of(class, place)));
        }
    }
    whole.and(&mask)
}
