//! Codes that several rows share, in the order of docs/design/rmt-rows.md.

use crate::action::When;
use crate::state::Relation;

const RELATIONS: [Relation; 6] = [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge];

/// The place of a value in the list of its codes.
pub(super) fn code_of<T: PartialEq>(all: &[T], value: &T) -> u8 {
    all.iter().position(|v| v == value).unwrap_or(0) as u8
}

pub(super) fn encode_when(when: When) -> u8 {
    match when {
        When::Always => 0,
        When::If(i) => 1 + 2 * i,
        When::Unless(i) => 2 + 2 * i,
    }
}

pub(super) fn decode_when(code: u8) -> Option<When> {
    match code {
        0 => Some(When::Always),
        1 | 3 => Some(When::If(code / 2)),
        2 | 4 => Some(When::Unless(code / 2 - 1)),
        _ => None,
    }
}

pub(super) fn encode_relation(relation: Relation) -> u8 {
    code_of(&RELATIONS, &relation)
}

pub(super) fn decode_relation(code: u8) -> Option<Relation> {
    RELATIONS.get(usize::from(code)).copied()
}
