//! States of parsers: those that no way leads to, and those that end without a transition.

use super::{Looked, Warned, is_silenced};
use crate::front::syntax::ast::{State, Transition};
use std::collections::HashSet;

pub(super) fn look(looked: &mut Looked<'_>) {
    for block in looked.blocks() {
        let Some(body) = &block.body else { continue };
        let reached = reached(&body.states);
        for state in &body.states {
            let name = || state.name.text.to_string();
            if !reached.contains(&*state.name.text) && !is_silenced(&state.annotations, "unused-state") {
                looked.warn(state.name.span, Warned::UnusedState { name: name() });
            }
            if state.transition.is_none() && !is_silenced(&state.annotations, "no-transition") {
                looked.warn(state.name.span, Warned::NoTransition { name: name() });
            }
        }
    }
}

/// States to which a way from `start` leads.
fn reached(states: &[State]) -> HashSet<&str> {
    let mut left = vec!["start"];
    let mut seen = HashSet::new();
    while let Some(name) = left.pop() {
        if !seen.insert(name) {
            continue;
        }
        let transition =
            states.iter().find(|state| &*state.name.text == name).and_then(|state| state.transition.as_ref());
        match transition {
            Some(Transition::Direct(next)) => left.push(&next.text),
            Some(Transition::Select { cases, .. }) => left.extend(cases.iter().map(|case| &*case.state.text)),
            None => {}
        }
    }
    seen
}
