//! Expressions to operands: constants are folded, moved bits masked, each brought to its place.

use super::Lower;
use super::action::Work;
use super::operands::{Slot, Source, bring};
use super::scope::Thing;
use crate::phv::Container;
use crate::text::ast::*;
use crate::text::error::{Read, bits, operation};
use crate::text::names::{Bits, Parameter};
use sluice_packet::text::Span;

/// One operand before it is brought to its place.
#[derive(Clone, Debug)]
pub(super) struct Factor {
    pub what: What,
    pub mask: Option<u64>,
    pub inverted: bool,
    pub negated: bool,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Thing(Thing),
    /// Moved up by so many bits.
    Up(Thing, u8),
    /// Moved down: masks fold into the rotator.
    Down(Thing),
    Rotl(Container, u8),
}

impl Lower<'_> {
    /// What an expression is made of: constants are folded, moved bits masked.
    pub(super) fn factors(&self, expr: &Expr, parameters: &[Parameter]) -> Read<Vec<(BinOp, Factor)>> {
        let mut all: Vec<(BinOp, Factor)> = Vec::new();
        let terms = std::iter::once((BinOp::Add, &expr.first)).chain(expr.rest.iter().map(|(op, t)| (*op, t)));
        for (op, term) in terms {
            let next = self.factor(term, parameters)?;
            let span = expr.span;
            if let Some((_, last)) = all.last_mut() {
                let moved = !matches!(last.what, What::Thing(_)) && last.mask.is_none();
                match (last.what, next.what) {
                    (What::Thing(Thing::Value(a)), What::Thing(Thing::Value(b))) if !next.inverted && !last.negated => {
                        let folded = match op {
                            BinOp::Add => a.checked_add(b),
                            BinOp::Sub => a.checked_sub(b),
                            BinOp::And => Some(a & b),
                            BinOp::Or => Some(a | b),
                            BinOp::Xor => Some(a ^ b),
                        };
                        let wrong =
                            || crate::text::error::value(span, "the value", "below 0 or above 128 bits", "one between");
                        last.what = What::Thing(Thing::Value(folded.ok_or_else(wrong)?));
                        continue;
                    }
                    (_, What::Thing(Thing::Value(m))) if moved && op == BinOp::And && !next.inverted => {
                        last.mask = Some(u64::try_from(m).unwrap_or(u64::MAX));
                        last.span = span;
                        continue;
                    }
                    _ => {}
                }
            }
            all.push((op, next));
        }
        if all.len() > 2 {
            return Err(operation(expr.span, "more than one operation", "one in a statement"));
        }
        Ok(all)
    }

    fn factor(&self, term: &Term, parameters: &[Parameter]) -> Read<Factor> {
        let plain = |what| Factor { what, mask: None, inverted: term.inverted, negated: term.negated, span: term.span };
        let mut factor = match &term.kind {
            TermKind::Number(n, _) => plain(What::Thing(Thing::Value(*n))),
            TermKind::Place(p) => plain(What::Thing(self.scope.thing(p, parameters)?)),
            TermKind::Group(inner) => {
                let mut factors = self.factors(inner, parameters)?;
                match (factors.len(), factors.pop()) {
                    (1, Some((_, f))) if !(f.inverted || f.negated) => {
                        Factor { inverted: term.inverted, negated: term.negated, span: term.span, ..f }
                    }
                    _ => {
                        return Err(operation(
                            inner.span,
                            "an operation in parentheses",
                            "one operation in a statement",
                        ));
                    }
                }
            }
            TermKind::Call(name, arguments) if name.text == "rotl" && arguments.len() == 2 => {
                let factors = self.factors(&arguments[0], parameters)?;
                let [(_, Factor { what: What::Thing(Thing::Bits(b)), inverted: false, negated: false, .. })] =
                    &factors[..]
                else {
                    return Err(operation(arguments[0].span, self.scope.shown(arguments[0].span), "a whole container"));
                };
                if !b.is_whole() {
                    return Err(bits(arguments[0].span, "bits of a container are rotated", "a whole container"));
                }
                let most = u128::from(b.container.class().bits()) - 1;
                let amount = self.scope.number(&arguments[1], "the amount", 0, most)?;
                plain(What::Rotl(b.container, amount as u8))
            }
            TermKind::Call(name, _) => {
                return Err(operation(
                    term.span,
                    format!("`{}` here", name.text),
                    "`d = min(d, a)`, `d = max(d, a)` or `rotl(a, 4)`",
                ));
            }
        };
        let Some((shift, amount)) = &term.shift else { return Ok(factor) };
        let amount = self.scope.number(amount, "the shift", 0, 127)? as u8;
        let wrong = || operation(term.span, self.scope.shown(term.span), "bits moved once, by less than there are");
        factor.what = match (factor.what, shift) {
            (What::Thing(Thing::Value(v)), Shift::Right) => What::Thing(Thing::Value(v >> amount)),
            (What::Thing(Thing::Value(v)), Shift::Left) if v.leading_zeros() >= amount.into() => {
                What::Thing(Thing::Value(v << amount))
            }
            (What::Thing(t), Shift::Right) if amount < t.width() => What::Down(t.slice(amount, t.width() - amount)),
            (What::Thing(t @ Thing::Bits(b)), Shift::Left) if u32::from(amount) < b.container.class().bits() => {
                What::Up(t, amount)
            }
            _ => return Err(wrong()),
        };
        Ok(factor)
    }

    /// The factor in its place.
    pub(super) fn source(&self, factor: &Factor, slot: Slot) -> Read<Source> {
        let shown = self.scope.shown(factor.span);
        if factor.negated {
            return Err(operation(factor.span, "a sign before an operand", "`d = a - b`"));
        }
        let within = |b: Bits, up: u8| -> Read<Source> {
            if b.container.class() != slot.class {
                return Err(bits(
                    factor.span,
                    format!("bits of {shown} are moved"),
                    "a container of the same size, or no `<<` and no mask",
                ));
            }
            if up >= slot.width {
                return Err(bits(
                    factor.span,
                    format!("{shown} is moved beyond what is written"),
                    format!("{} bits", slot.width),
                ));
            }
            let size = slot.class.bits() as u8;
            // What is moved above the bits written is lost.
            let kept = ((1u64 << b.width.min(slot.width - up)) - 1) << up;
            let mask = (kept & factor.mask.unwrap_or(u64::MAX)) << slot.lo;
            Ok(Source::Rotated(b.container, (size + slot.lo + up - b.lo) % size, mask))
        };
        match (factor.what, factor.mask) {
            (What::Thing(t) | What::Down(t), None) => bring(t, slot, factor.span, &shown),
            (What::Down(Thing::Bits(b)), Some(_)) => {
                let width = b.width.min(64 - factor.mask.unwrap_or(0).leading_zeros() as u8);
                within(Bits { width: width.max(1), ..b }, 0)
            }
            (What::Up(Thing::Bits(b), up), _) => within(b, up),
            (What::Rotl(c, amount), mask) => {
                if c.class() != slot.class {
                    return Err(bits(factor.span, format!("{shown} is rotated"), "a container of the same size"));
                }
                let mask = mask.map_or(slot.class.ones(), |m| (m << slot.lo) & slot.mask());
                Ok(Source::Rotated(c, amount, mask))
            }
            _ => Err(operation(factor.span, format!("a mask on {shown}"), "a container whose bits are moved")),
        }
    }

    /// The one operand of an expression, in its place.
    pub(super) fn operand(&self, work: &Work, expr: &Expr, slot: Slot) -> Read<Source> {
        match &self.factors(expr, work.parameters)?[..] {
            [(_, f)] if !f.inverted => self.source(f, slot),
            _ => Err(operation(expr.span, "an operation", "one container or value")),
        }
    }
}
