//! Accesses of memories and meters.

use super::Lower;
use super::action::Work;
use super::factors::{Factor, What};
use super::operands::{Allotment, Cut, Need, Slot, Source, bring, whole};
use super::scope::Thing;
use crate::action::{Cross, When};
use crate::phv::{Class, Container};
use crate::state::{Access, Choice, IndexSource, Operand, Relation, StateOp, Update};
use crate::text::ast::*;
use crate::text::error::{Read, TextProblem, bits, operation, place};
use crate::text::names::{Bits, MemoryName};
use sluice_packet::text::Span;

/// An access whose operands are not allotted yet.
pub(super) struct StateWork {
    pub when: When,
    pub index: (Index, Span),
    pub index_mask: u16,
    pub base: u16,
    pub what: Atom,
    pub old_to: Option<u8>,
    pub new_to: Option<u8>,
}

/// Where an index comes from.
#[derive(Clone, Copy)]
pub(super) enum Index {
    None,
    Pick(Container),
    Data(u8),
    Cross(Cross, u8, Cut),
}

type Value = (Source, Span);

/// What is done with the word.
pub(super) enum Atom {
    Update { choice: Choose, then: (bool, Value, bool), otherwise: (bool, Value, bool) },
    Row(Access),
}

pub(super) enum Choose {
    When(When),
    Old(Relation, Value),
}

const KEEP: (bool, Value, bool) = (true, (Source::Imm(0), Span { start: 0, end: 0 }), false);

impl Lower<'_> {
    #[allow(clippy::too_many_arguments)] // the parts of one statement
    pub(super) fn access(
        &mut self,
        work: &mut Work,
        memory: &MemoryName,
        to: &Place,
        op: Option<AssignOp>,
        value: Option<&AssignValue>,
        results: &Results,
        (when, span): (When, Span),
    ) -> Read<()> {
        let [bracket] = &to.brackets[..] else {
            return Err(place(to.span, self.scope.shown(to.span), format!("an index as in {}[0]", memory.name)));
        };
        let (index, index_mask, offset) = self.index(work, bracket, memory)?;
        let what = match (&memory.meter, op, value) {
            (Some(meter), None, None) => match super::meter::row(meter) {
                Ok(row) => Atom::Row(row),
                // The declaration has been answered.
                Err(_) => return Ok(()),
            },
            (Some(_), ..) => {
                return Err(operation(span, "a write of a meter", format!("{}[i] -> new c", memory.name)));
            }
            (None, None, _) | (None, _, None) => {
                Atom::Update { choice: Choose::When(When::Always), then: KEEP, otherwise: KEEP }
            }
            (None, Some(AssignOp::Set), Some(AssignValue::Choose { condition, then, otherwise })) => Atom::Update {
                choice: self.choice(work, condition, span)?,
                then: self.update(work, then)?,
                otherwise: self.update(work, otherwise)?,
            },
            (None, Some(op), Some(AssignValue::Expr(value))) => {
                let then = match op {
                    AssignOp::Set => self.update(work, value)?,
                    AssignOp::By(by @ (BinOp::Add | BinOp::Sub)) => {
                        (true, self.state_operand(work, value)?, by == BinOp::Sub)
                    }
                    AssignOp::By(_) => {
                        return Err(operation(span, "bits combined in a memory", "`=`, `+=` or `-=`"));
                    }
                };
                Atom::Update { choice: Choose::When(When::Always), then, otherwise: KEEP }
            }
            (None, Some(_), Some(AssignValue::Choose { .. })) => {
                return Err(operation(span, "a choice that is added", "`= if ... then old + a else old`"));
            }
        };
        let (old_to, new_to) = (self.result(&results.old)?, self.result(&results.new)?);
        if matches!(what, Atom::Row(_)) && new_to.is_none() {
            return Err(place(span, "a meter without `-> new`", "a container for its colour"));
        }
        let base = memory.base + offset;
        self.put_state(work, StateWork { when, index, index_mask, base, what, old_to, new_to }, span)
    }

    /// The action's one access.
    pub(super) fn put_state(&mut self, work: &mut Work, state: StateWork, span: Span) -> Read<()> {
        if let Some((_, first)) = &work.state {
            let (stage, action, line) = (work.context.stage, work.name.to_string(), self.scope.line(*first));
            let allowed = "a packet has one access in a stage".to_string();
            return Err((span, TextProblem::Second { stage, action, what: "state".into(), line, allowed }));
        }
        work.state = Some((state, span));
        Ok(())
    }

    /// Place in its class of a container that gets a result.
    pub(super) fn result(&self, to: &Option<Place>) -> Read<Option<u8>> {
        let Some(to) = to else { return Ok(None) };
        let container = self.scope.container(to)?;
        if container.class() != Class::C4 {
            return Err(bits(to.span, format!("{} gets a word", self.scope.shown(to.span)), "a container of 4 bytes"));
        }
        Ok(Some(container.0 % 8))
    }

    fn index(&self, work: &Work, bracket: &Bracket, memory: &MemoryName) -> Read<((Index, Span), u16, u16)> {
        let span = bracket.span;
        if bracket.second.is_some() {
            return Err(place(span, "a range", "one index"));
        }
        let factors = self.factors(&bracket.first, work.parameters)?;
        let [(_, Factor { what, mask: None, inverted: false, negated: false, .. })] = &factors[..] else {
            return Err(operation(span, "an operation in the index", "one container, parameter or value"));
        };
        let (What::Thing(thing) | What::Down(thing)) = *what else {
            return Err(operation(span, "moved bits in the index", "one container, parameter or value"));
        };
        let most = memory.words - 1;
        let width = thing.width().min(16);
        let mask = most & ((1u32 << width) - 1) as u16;
        let shown = self.scope.shown(bracket.first.span);
        let slot = Slot { class: Class::C2, lo: 0, width };
        let index = match thing {
            Thing::Value(v) => {
                if v > most.into() {
                    return Err(crate::text::error::value(span, "the index", v, format!("at most {most}")));
                }
                return Ok(((Index::None, span), 0, v as u16));
            }
            Thing::Bits(b) if b.container.class() == Class::C2 && b.lo == 0 => Index::Pick(b.container),
            Thing::Bits(Bits { container, lo, .. }) => match lo {
                0 | 16 | 32 => Index::Cross(Cross::Container(container), lo / 16, Cut::behind(lo + width, false)),
                _ => return Err(bits(span, format!("{shown} begins at bit {lo}"), "bits from 0, 16 or 32 on")),
            },
            other => match bring(other.slice(0, width), slot, span, &shown)? {
                Source::Data(at) => Index::Data(at),
                Source::Cross(from, shift, cut) => Index::Cross(from, shift, cut),
                _ => return Err(operation(span, shown, "a container, a parameter, a word, `hash` or `number`")),
            },
        };
        Ok(((index, span), mask, 0))
    }

    /// A 32-bit operand.
    pub(super) fn state_operand(&self, work: &Work, expr: &Expr) -> Read<Value> {
        Ok((self.operand(work, expr, Slot::whole(Class::C4))?, expr.span))
    }

    /// `old`, `old + a`, `old - a`, `a`, `-a`.
    fn update(&self, work: &Work, expr: &Expr) -> Read<(bool, Value, bool)> {
        let is_old = |term: &Term| match &term.kind {
            TermKind::Place(p) => {
                p.name.text == "old" && p.brackets.is_empty() && !term.negated && term.shift.is_none()
            }
            _ => false,
        };
        let alone = |term: &Term, rest: &[(BinOp, Term)]| {
            let first = Term { negated: false, ..term.clone() };
            Expr { first, rest: rest.to_vec(), span: term.span }
        };
        match (&expr.first, &expr.rest[..]) {
            (first, []) if is_old(first) => Ok(KEEP),
            (first, [(op @ (BinOp::Add | BinOp::Sub), second), rest @ ..]) if is_old(first) => {
                Ok((true, self.state_operand(work, &alone(second, rest))?, *op == BinOp::Sub))
            }
            (first, [(BinOp::Add, second)]) if is_old(second) => {
                Ok((true, self.state_operand(work, &alone(first, &[]))?, first.negated))
            }
            (first, []) if first.negated => Ok((false, self.state_operand(work, &alone(first, &[]))?, true)),
            _ => Ok((false, self.state_operand(work, expr)?, false)),
        }
    }

    fn choice(&self, work: &Work, condition: &Bool, span: Span) -> Read<Choose> {
        let Bool::Compare(compare) = condition else {
            return Ok(Choose::When(self.when(work.context, When::Always, condition, span)?));
        };
        match &compare.left.first.kind {
            TermKind::Place(p)
                if p.name.text == "old" && compare.left.rest.is_empty() && compare.left.first.shift.is_none() =>
            {
                Ok(Choose::Old(compare.relation, self.state_operand(work, &compare.right)?))
            }
            _ => Err(operation(
                compare.span,
                self.scope.shown(compare.span),
                "`old` on the left side, or a condition of the stage",
            )),
        }
    }

    /// Allots the operands of an access.
    pub(super) fn state_row(&mut self, work: &StateWork, shared: &mut Allotment) -> Read<StateOp> {
        let need = Need { span: work.index.1 };
        let source = match work.index.0 {
            Index::None => IndexSource::None,
            Index::Data(at) => shared.fixed_data(Class::C2, 0, at, need).map(|()| IndexSource::Data)?,
            Index::Cross(from, shift, cut) => shared.cross((from, shift, cut), need).map(|()| IndexSource::X)?,
            Index::Pick(c) => match shared.fixed(c, 2, need) {
                Ok(()) => IndexSource::P2,
                Err(e) => shared.cross(whole(c), need).map(|()| IndexSource::X).map_err(|_| e)?,
            },
        };
        let mut operand = |(source, span): Value| -> Read<Operand> {
            let need = Need { span };
            match source {
                Source::Imm(v) => Ok(Operand::Imm(v as u32)),
                Source::Data(at) => shared.fixed_data(Class::C4, 1, at, need).map(|()| Operand::DataB),
                Source::Cross(from, shift, cut) => shared.cross((from, shift, cut), need).map(|()| Operand::X),
                Source::Pick(c) => match shared.fixed(c, 1, need) {
                    Ok(()) => Ok(Operand::P1),
                    Err(e) => shared.cross(whole(c), need).map(|()| Operand::X).map_err(|_| e),
                },
                Source::Rotated(..) => Err(bits(
                    span,
                    "moved bits are an operand of state",
                    "a whole 4-byte container, or bits of another size in place",
                )),
            }
        };
        let access = match &work.what {
            Atom::Row(access) => *access,
            Atom::Update { choice, then, otherwise } => {
                let choice = match *choice {
                    Choose::When(when) => Choice::When(when),
                    Choose::Old(relation, value) => Choice::Old(relation, operand(value)?),
                };
                let mut update = |&(old, value, negate): &(bool, Value, bool)| -> Read<Update> {
                    Ok(Update { old, value: operand(value)?, negate })
                };
                Access::Atom { choice, then: update(then)?, otherwise: update(otherwise)? }
            }
        };
        let StateWork { when, index_mask, base, old_to, new_to, .. } = *work;
        Ok(StateOp { when, source, index_mask, base, access, old_to, new_to })
    }
}
