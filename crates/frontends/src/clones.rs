//! Sessions of clones over a replacement: they stand in a program's actions, as the destinations of its clones.

use sluice_formats::Target;
use sluice_object::{Destination, Object};
use sluice_rmt::action::{Action, WordOp, WordSource};
use sluice_rmt::encode::object::role_of;
use sluice_rmt::phv::{DESTINATION_BITS, Word};

/// Gives a P4 program without sessions those of the running one; false if the clones of that one have destinations and the
/// new program's actions are others.
pub(crate) fn keep(object: &mut Object, running: &Object, target: &Target) -> bool {
    let Some((before, destinations)) = actions(running, target).filter(|(_, destinations)| *destinations != 0) else {
        return true;
    };
    if actions(object, target).is_none_or(|(after, _)| after != before) {
        return false;
    }
    let (Some(part), Some(of)) = (&mut object.parts.rmt, &running.parts.rmt) else { return false };
    for (number, stage) in &mut part.stages {
        if let Some(of) = of.stages.get(number) {
            stage.actions.clone_from(&of.actions);
        }
    }
    let sent = (0..16).filter(|n| destinations >> n & 1 == 1);
    for destination in sent.filter_map(|n| Destination::from_number(n, target)) {
        if let Some(cells) = running.demands.queues.get(&destination) {
            object.demands.queues.entry(destination).or_insert(*cells);
        }
    }
    true
}

/// Actions of all stages with clones that go nowhere, and all destinations that these have.
fn actions(object: &Object, target: &Target) -> Option<(Vec<Vec<Action>>, u16)> {
    let part = object.parts.rmt.as_ref().filter(|part| part.logical.is_some())?;
    let program = sluice_rmt::decode(part, &target.rmt, role_of(part)).ok()?;
    let mut destinations = 0;
    let mut all: Vec<Vec<Action>> =
        program.stages.into_iter().map(|stage| stage.map_or_else(Vec::new, |stage| stage.actions)).collect();
    for op in all.iter_mut().flatten().flat_map(|action| &mut action.words).filter(|op| is_clone(op)) {
        if let WordSource::Imm(to) = &mut op.source {
            destinations |= std::mem::take(to);
        }
    }
    Some((all, destinations))
}

/// Whether a word gets the destinations of a session; the compiler writes these for nothing else.
fn is_clone(op: &WordOp) -> bool {
    op.word == Word::Egress as u8 && op.mask == DESTINATION_BITS
}
