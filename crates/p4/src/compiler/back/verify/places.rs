//! Verifier of the stages of visits and the places of cells: each visit is behind all that lead to it and within the stages that were asked
//! for; the cells of an array are of one stage, beside those of others, and there.

use super::super::{Plan, leaves};
use crate::compiler::ir::Next;
use sluice_rmt::target::PAGE_WORDS;

/// Words that an access reaches.
const REACH: usize = 4096;

/// Checks all of it.
pub(super) fn check(plan: &Plan, (first, last): (usize, usize)) -> Result<(), String> {
    for (at, leaves) in leaves(&plan.graph).into_iter().enumerate() {
        let stage = plan.stages[at];
        if !(first..=last).contains(&stage) {
            return Err(format!("visit {at} is in stage {stage}, outside of {first} to {last}"));
        }
        for leaf in &leaves {
            if let Next::Node(next) = leaf.next
                && plan.stages[next] <= stage
            {
                return Err(format!(
                    "visit {next} is in stage {}, and visit {at} leads to it from {stage}",
                    plan.stages[next]
                ));
            }
            if let Some(access) = &leaf.access {
                match plan.cells.get(&access.array) {
                    Some(place) if place.stage == stage && place.cells >= access.cells => {}
                    Some(place) => {
                        let array = access.array;
                        return Err(format!("visit {at} of stage {stage} looks at {array:?}, which is {place:?}"));
                    }
                    None => return Err(format!("visit {at} looks at {:?}, which has no place", access.array)),
                }
            }
        }
    }
    let mut all: Vec<_> = plan.cells.values().collect();
    all.sort_by_key(|place| (place.stage, place.base));
    for pair in all.windows(2) {
        if pair[0].stage == pair[1].stage && pair[0].base + pair[0].cells > pair[1].base {
            return Err(format!("cells at {:?} and at {:?} are the same", pair[0], pair[1]));
        }
    }
    let there = |stage: usize| {
        let pages = usize::from(super::super::cells::pages(&plan.cells, stage)) * PAGE_WORDS;
        pages.min(plan.target.words).min(REACH)
    };
    match all.iter().find(|place| place.base + place.cells > there(place.stage)) {
        Some(place) => Err(format!("cells at {place:?}, where the stage has {} words", there(place.stage))),
        None => Ok(()),
    }
}
