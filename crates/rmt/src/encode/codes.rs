//! Codes that several rows share, and values by their codes.

use crate::action::When;
use crate::state::Relation;
use sluice_formats::rmt::codes::{self, When as Code};

const RELATIONS: [(Relation, u8); 6] = [
    (Relation::Eq, codes::Relation::Eq.code()),
    (Relation::Ne, codes::Relation::Ne.code()),
    (Relation::Lt, codes::Relation::Lt.code()),
    (Relation::Le, codes::Relation::Le.code()),
    (Relation::Gt, codes::Relation::Gt.code()),
    (Relation::Ge, codes::Relation::Ge.code()),
];

const WHENS: [(When, u8); 5] = [
    (When::Always, Code::Always.code()),
    (When::If(0), Code::If0.code()),
    (When::Unless(0), Code::Unless0.code()),
    (When::If(1), Code::If1.code()),
    (When::Unless(1), Code::Unless1.code()),
];

/// The code of a value in the list of both. All values have one; conditions are 0 and 1.
pub(super) fn code_of<T: PartialEq>(all: &[(T, u8)], value: &T) -> u8 {
    all.iter().find(|(v, _)| v == value).map_or(0, |(_, code)| *code)
}

/// The value of a code.
pub(super) fn of_code<T: Copy>(all: &[(T, u8)], code: u8) -> Option<T> {
    all.iter().find(|(_, c)| *c == code).map(|(value, _)| *value)
}

pub(super) fn encode_when(when: When) -> u8 {
    code_of(&WHENS, &when)
}

pub(super) fn decode_when(code: u8) -> Option<When> {
    of_code(&WHENS, code)
}

pub(super) fn encode_relation(relation: Relation) -> u8 {
    code_of(&RELATIONS, &relation)
}

pub(super) fn decode_relation(code: u8) -> Option<Relation> {
    of_code(&RELATIONS, code)
}
