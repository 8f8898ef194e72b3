//! State accesses.

use super::codes::{code_of, decode_relation, decode_when, encode_relation, encode_when, of_code};
use super::known;
use crate::check::Problem;
use crate::state::{Access, Choice, IndexSource, Operand, StateOp, Update};
use sluice_formats::rmt::codes::{self, StateKind, StateOperand, Taken};
use sluice_formats::rmt::rows::StatePart;

const NONE: u8 = StateKind::None.code();
const ATOM: u8 = StateKind::Access.code();
const METER: u8 = StateKind::Meter.code();
const INDEX_SOURCES: [(IndexSource, u8); 4] = [
    (IndexSource::None, codes::IndexSource::Zero.code()),
    (IndexSource::P2, codes::IndexSource::P2.code()),
    (IndexSource::Data, codes::IndexSource::DataA.code()),
    (IndexSource::X, codes::IndexSource::X.code()),
];
const OPERANDS: [(Operand, u8); 4] = [
    (Operand::Imm(0), StateOperand::Immediate.code()),
    (Operand::X, StateOperand::X.code()),
    (Operand::DataB, StateOperand::DataB.code()),
    (Operand::P1, StateOperand::P1.code()),
];
/// What `taken` is if the old word is compared.
const BY_OLD: u8 = Taken::Old.code();
/// A result goes to the container of the bits below.
const GOES: u8 = 8;

fn encode_operand(operand: Operand) -> (u8, u32) {
    match operand {
        Operand::Imm(v) => (StateOperand::Immediate.code(), v),
        other => (code_of(&OPERANDS, &other), 0),
    }
}

fn decode_operand(at: &str, source: u8, immediate: u32) -> Result<Operand, Problem> {
    Ok(match known(at, source, of_code(&OPERANDS, source))? {
        Operand::Imm(_) => Operand::Imm(immediate),
        other => other,
    })
}

pub(super) fn encode(op: &StateOp) -> StatePart {
    let to = |place: Option<u8>| place.map_or(0, |p| GOES | p);
    let mut part = StatePart {
        when: encode_when(op.when),
        source: code_of(&INDEX_SOURCES, &op.source),
        index_mask: op.index_mask,
        base: op.base,
        old_to: to(op.old_to),
        new_to: to(op.new_to),
        ..StatePart::default()
    };
    match op.access {
        Access::Atom { choice, then, otherwise } => {
            part.kind = ATOM;
            match choice {
                Choice::When(when) => part.condition = encode_when(when),
                Choice::Old(relation, o) => {
                    (part.condition, part.relation) = (BY_OLD, encode_relation(relation));
                    (part.o_source, part.o_immediate) = encode_operand(o);
                }
            }
            (part.t_source, part.t_immediate) = encode_operand(then.value);
            (part.f_source, part.f_immediate) = encode_operand(otherwise.value);
            (part.t_old, part.t_negate) = (then.old, then.negate);
            (part.f_old, part.f_negate) = (otherwise.old, otherwise.negate);
        }
        Access::Meter { limit, cost, top, per_packet, shift } => {
            part.kind = METER;
            (part.o_immediate, part.t_immediate, part.f_immediate) = (limit, cost, top);
            (part.per_packet, part.shift) = (per_packet, shift);
        }
    }
    part
}

pub(super) fn decode(at: &str, part: &StatePart) -> Result<Option<StateOp>, Problem> {
    let access = match part.kind {
        NONE => return Ok(None),
        ATOM => atom(at, part)?,
        METER => Access::Meter {
            limit: part.o_immediate,
            cost: part.t_immediate,
            top: part.f_immediate,
            per_packet: part.per_packet,
            shift: part.shift,
        },
        kind => known(at, kind, None)?,
    };
    let to = |code: u8| (code & GOES != 0).then_some(code & (GOES - 1));
    Ok(Some(StateOp {
        when: known(at, part.when, decode_when(part.when))?,
        source: known(at, part.source, of_code(&INDEX_SOURCES, part.source))?,
        index_mask: part.index_mask,
        base: part.base,
        access,
        old_to: to(part.old_to),
        new_to: to(part.new_to),
    }))
}

fn atom(at: &str, part: &StatePart) -> Result<Access, Problem> {
    let choice = match part.condition {
        BY_OLD => {
            let relation = known(at, part.relation, decode_relation(part.relation))?;
            Choice::Old(relation, decode_operand(at, part.o_source, part.o_immediate)?)
        }
        code => Choice::When(known(at, code, decode_when(code))?),
    };
    let update = |source, immediate, old, negate| {
        Ok::<_, Problem>(Update { old, value: decode_operand(at, source, immediate)?, negate })
    };
    Ok(Access::Atom {
        choice,
        then: update(part.t_source, part.t_immediate, part.t_old, part.t_negate)?,
        otherwise: update(part.f_source, part.f_immediate, part.f_old, part.f_negate)?,
    })
}
