//! Sessions of clones over a replacement: they stand in a program's actions, as the destinations of its clones.

use sluice_formats::Target;
use sluice_formats::rmt::rows::ActionRow;
use sluice_object::{Destination, Object};
use sluice_rmt::action::{Action, WordOp, WordSource};
use sluice_rmt::encode::object::role_of;
use sluice_rmt::phv::{DESTINATION_BITS, Word};
use std::collections::BTreeMap;

/// Those of a program that runs, for one in its place.
#[derive(Debug)]
pub(crate) struct Sessions {
    target: Target,
    /// Actions with clones that go nowhere.
    actions: Vec<Vec<Action>>,
    /// The same rows with the destinations, by stage.
    rows: BTreeMap<u8, Vec<ActionRow>>,
    /// What the program asks for at these.
    queues: BTreeMap<Destination, u16>,
}

impl Sessions {
    /// Those of a program; nothing if its clones go nowhere.
    pub fn of(running: &Object, target: &Target) -> Option<Self> {
        let (actions, destinations) = actions(running, target).filter(|(_, destinations)| *destinations != 0)?;
        let stages = running.parts.rmt.iter().flat_map(|part| &part.stages);
        let rows = stages.map(|(number, stage)| (*number, stage.actions.clone())).collect();
        let sent = (0..16).filter(|n| destinations >> n & 1 == 1).filter_map(|n| Destination::from_number(n, target));
        let queues = sent.filter_map(|to| Some((to, *running.demands.queues.get(&to)?))).collect();
        Some(Self { target: *target, actions, rows, queues })
    }

    /// Gives them to a program without sessions; false if its actions are others.
    pub fn give(&self, object: &mut Object) -> bool {
        if actions(object, &self.target).is_none_or(|(actions, _)| actions != self.actions) {
            return false;
        }
        let Some(part) = &mut object.parts.rmt else { return false };
        for (number, stage) in &mut part.stages {
            if let Some(rows) = self.rows.get(number) {
                stage.actions.clone_from(rows);
            }
        }
        for (to, cells) in &self.queues {
            object.demands.queues.entry(*to).or_insert(*cells);
        }
        true
    }
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
