//! Predicates and the two conditions of a stage.

use super::Lower;
use super::scope::Thing;
use super::stage::Context;
use crate::action::When;
use crate::phv::Class;
use crate::stage::{Left, Predicate, Right, TRUTH_P0, TRUTH_P1};
use crate::state::Relation;
use crate::text::ast::*;
use crate::text::error::{Located, Read, TextProblem, bits, operation, place, unknown};
use sluice_packet::text::Span;

/// One side of a comparison: what is compared, and the bits that are said.
struct Side {
    thing: Thing,
    mask: Option<u64>,
}

impl Lower<'_> {
    /// Predicates and conditions of a stage, in the order of their places.
    pub(super) fn conditions(&mut self, context: &mut Context, item: &StageItem) {
        let mut named: Vec<(&Name, &Compare)> = Vec::new();
        let mut conditions: Vec<(&Name, &Bool)> = Vec::new();
        for part in &item.items {
            match part {
                StagePart::Predicate(name, compare) => named.push((name, compare)),
                StagePart::Condition(name, value) => conditions.push((name, value)),
                _ => {}
            }
        }
        // Those with a place in their name first.
        named.sort_by_key(|(n, _)| !matches!(n.text.as_str(), "p0" | "p1"));
        for (name, compare) in named {
            let lowered = self.predicate(compare);
            let Some(predicate) = self.notes.ok(lowered) else { continue };
            let slots: &[usize] = match name.text.as_str() {
                "p0" => &[0],
                "p1" => &[1],
                _ => &[0, 1],
            };
            let fixed = slots.len() == 1;
            let twice = context.predicate_names.iter().flatten().find(|p| p.0 == name.text).map(|p| p.1);
            let fresh = if fixed && twice.is_none() { Ok(()) } else { self.scope.fresh(name, twice) };
            if self.notes.ok(fresh).is_none() {
                continue;
            }
            let Some(&free) = slots.iter().find(|i| context.key.predicates[**i].is_none()) else {
                self.notes.push(context.too_many_predicates(name.span));
                continue;
            };
            context.key.predicates[free] = Some(predicate);
            context.predicate_names[free] = Some((name.text.clone(), name.span));
            self.places.put(format!("stages[{}].key.predicates[{free}]", context.stage), compare.span);
        }
        conditions.sort_by_key(|(n, _)| !matches!(n.text.as_str(), "c0" | "c1"));
        for (name, value) in conditions {
            let slots: &[usize] = match name.text.as_str() {
                "c0" => &[0],
                "c1" => &[1],
                _ => &[0, 1],
            };
            let twice = context.conditions.iter().flatten().find(|c| c.0 == name.text).map(|c| c.1);
            let fresh = if slots.len() == 1 && twice.is_none() { Ok(()) } else { self.scope.fresh(name, twice) };
            if self.notes.ok(fresh).is_none() {
                continue;
            }
            let Some(&free) = slots.iter().find(|i| context.conditions[**i].is_none()) else {
                let found = "a third condition".to_string();
                let allowed = "a stage has 2".to_string();
                self.notes.push((name.span, TextProblem::Stage { stage: context.stage, found, allowed }));
                continue;
            };
            let truth = self.truth(context, value);
            if let Some(truth) = self.notes.ok(truth) {
                if matches!(truth, 0 | 0b1111) && !matches!(value, Bool::Constant(_) | Bool::Table(_)) {
                    let found =
                        if truth == 0 { "a condition that never holds" } else { "a condition that always holds" };
                    self.notes.warn(place(name.span, found, "one that packets decide, or `true` or `false`"));
                }
                context.key.truth[free] = truth;
            }
            context.conditions[free] = Some((name.text.clone(), name.span));
        }
    }

    /// Truth table of a condition: bit `p0 + 2 * p1`.
    fn truth(&mut self, context: &mut Context, value: &Bool) -> Read<u8> {
        match value {
            Bool::Constant(c) => Ok(if *c { 0b1111 } else { 0 }),
            Bool::Table(bits) => self.scope.number(bits, "the table", 0, 15).map(|t| t as u8),
            Bool::Not(inner) => self.truth(context, inner).map(|t| !t & 0b1111),
            Bool::All(all) => all.iter().try_fold(0b1111, |t, b| Ok(t & self.truth(context, b)?)),
            Bool::Any(all) => all.iter().try_fold(0, |t, b| Ok(t | self.truth(context, b)?)),
            Bool::Name(name) => {
                let slot = context.predicate_names.iter().position(|p| p.as_ref().is_some_and(|p| p.0 == name.text));
                if let Some(slot) = slot {
                    return Ok([TRUTH_P0, TRUTH_P1][slot]);
                }
                let slot = context.conditions.iter().position(|c| c.as_ref().is_some_and(|c| c.0 == name.text));
                match slot {
                    Some(slot) => Ok(context.key.truth[slot]),
                    None => {
                        let known = context.predicate_names.iter().flatten().map(|p| p.0.clone());
                        let known: Vec<String> =
                            known.chain(context.conditions.iter().flatten().map(|c| c.0.clone())).collect();
                        Err(unknown(name.span, "predicate", &name.text, super::scope::list(known.iter())))
                    }
                }
            }
            Bool::Compare(compare) => {
                let predicate = self.predicate(compare)?;
                let nothing = self.scope.value(&compare.right) == Ok(0);
                if nothing && matches!(compare.relation, Relation::Lt | Relation::Ge) {
                    let found = "a comparison with 0 that all values pass, or none: they have no sign";
                    self.notes.warn(place(compare.span, found, "`== 0` or `!= 0`"));
                }
                let there = context.key.predicates.iter().position(|p| *p == Some(predicate));
                let slot = there.or_else(|| context.key.predicates.iter().position(Option::is_none));
                let slot = slot.ok_or_else(|| context.too_many_predicates(compare.span))?;
                context.key.predicates[slot] = Some(predicate);
                self.places.put(format!("stages[{}].key.predicates[{slot}]", context.stage), compare.span);
                Ok([TRUTH_P0, TRUTH_P1][slot])
            }
        }
    }

    /// A thing with a mask: `a`, `a[7:0]`, `a & 0xf0`, or a value.
    fn side(&self, expr: &Expr) -> Read<Side> {
        if let Term { kind: TermKind::Place(p), shift: None, inverted: false, negated: false, .. } = &expr.first {
            let thing = self.scope.thing(p, &[])?;
            if !matches!(thing, Thing::Value(_)) {
                return match &expr.rest[..] {
                    [] => Ok(Side { thing, mask: None }),
                    [(BinOp::And, term)] => {
                        let mask = Expr { first: term.clone(), rest: Vec::new(), span: term.span };
                        Ok(Side { thing, mask: Some(self.scope.bits_value(&mask, "the mask", 48)?) })
                    }
                    _ => Err(operation(
                        expr.span,
                        self.scope.shown(expr.span),
                        "a container, a word, bits of them or `& MASK`",
                    )),
                };
            }
        }
        Ok(Side { thing: Thing::Value(self.scope.value(expr)?), mask: None })
    }

    fn predicate(&self, compare: &Compare) -> Read<Predicate> {
        let (left, right) = (self.side(&compare.left)?, self.side(&compare.right)?);
        let wrong = |span: Span, what: &str| -> Located {
            operation(span, what, "a container or a metadata word, compared with a container or a value")
        };
        let (a, lo, width, whole) = match left.thing {
            Thing::Bits(b) => (Left::Container(b.container), b.lo, b.width, b.container.class().bits() as u8),
            Thing::Word { word, lo, width } if lo + width <= 16 => (Left::Word(word), lo, width, 16),
            Thing::Word { .. } => {
                return Err(bits(compare.left.span, "more than one metadata word is compared", "one word of 16 bits"));
            }
            Thing::Value(_) => return Err(wrong(compare.left.span, "a value on the left side")),
            _ => return Err(wrong(compare.left.span, "what no comparison reads")),
        };
        let said = if width == whole && lo == 0 { None } else { Some(((1u64 << width) - 1) << lo) };
        if said.is_some() && left.mask.is_some() {
            return Err(place(compare.left.span, "bits and a mask", "one of both"));
        }
        let own = left.mask.or(said);
        let (b, mask) = match right.thing {
            Thing::Value(v) => {
                let mask = own.unwrap_or(Class::C6.ones() >> (48 - u32::from(whole)));
                // Within bits the value is theirs; with a mask it is the container's.
                let (shift, limit) = if left.mask.is_some() { (0, 48) } else { (lo, width) };
                if v >> limit != 0 {
                    return Err(crate::text::error::value(
                        compare.right.span,
                        "the value",
                        format!("{v:#x}"),
                        format!("at most {:#x}, {limit} bits as on the left side", (1u64 << limit) - 1),
                    ));
                }
                (Right::Imm((v as u64) << shift), mask)
            }
            Thing::Bits(r) => {
                let same = if r.is_whole() { None } else { Some(r.mask()) };
                let other = right.mask.or(same);
                let wide = width.max(r.width);
                let mask = match (own, other) {
                    (None, None) => (1u64 << wide) - 1,
                    (Some(m), None) if left.mask.is_some() => m,
                    (Some(m), Some(n)) if m == n => m,
                    _ => {
                        let found = format!(
                            "{} is compared with {}",
                            self.scope.shown(compare.left.span),
                            self.scope.shown(compare.right.span)
                        );
                        return Err(bits(compare.span, found, "the same bits on both sides"));
                    }
                };
                (Right::Container(r.container), mask)
            }
            _ => return Err(wrong(compare.right.span, "what stands on the left side only")),
        };
        Ok(Predicate { a, b, mask, relation: compare.relation })
    }

    /// A guard of a statement within another one.
    pub(super) fn when(&self, context: &Context, outer: When, guard: &Bool, span: Span) -> Read<When> {
        let (name, holds) = match guard {
            Bool::Constant(true) => return Ok(outer),
            Bool::Name(name) => (name, true),
            Bool::Not(inner) => match &**inner {
                Bool::Name(name) => (name, false),
                _ => return Err(operation(span, "more than a condition", "a condition of the stage or `not` and one")),
            },
            _ => return Err(operation(span, "more than a condition", "a condition of the stage or `not` and one")),
        };
        let slot = match name.text.as_str() {
            "c0" => Some(0),
            "c1" => Some(1),
            _ => context.conditions.iter().position(|c| c.as_ref().is_some_and(|c| c.0 == name.text)),
        };
        let Some(slot) = slot else {
            let known: Vec<String> = context.conditions.iter().flatten().map(|c| c.0.clone()).collect();
            return Err(unknown(name.span, "condition", &name.text, super::scope::list(known.iter())));
        };
        let inner = if holds { When::If(slot as u8) } else { When::Unless(slot as u8) };
        if outer != When::Always && outer != inner {
            return Err(operation(
                name.span,
                "a condition within another one",
                "one; a condition of the stage may combine both",
            ));
        }
        Ok(inner)
    }
}
