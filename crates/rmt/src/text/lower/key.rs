//! Keys: which containers they are made of, and values for them.

use super::Lower;
use super::scope::Thing;
use super::stage::Context;
use crate::phv::Container;
use crate::stage::{CONDITION_AT, Key, PIECE_AT, piece_class};
use crate::text::ast::*;
use crate::text::error::{Read, TextProblem, bits, place};
use sluice_packet::text::Span;

/// A part of the key that entries give a value for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// First bit in the key.
    pub at: u32,
    /// Bits.
    pub width: u32,
    /// Those of them that count.
    pub mask: u64,
}

impl Key {
    /// Sets the bits of a value that are one.
    pub(super) fn merge(&mut self, at: u32, value: u64) {
        for i in 0..64 {
            if value >> i & 1 == 1 {
                self.put(at + i, 1, 1);
            }
        }
    }
}

impl Lower<'_> {
    /// Pieces, mask and parts of the key.
    pub(super) fn key(&mut self, context: &mut Context, item: &StageItem) {
        let mut taken: [Option<Container>; 6] = [None; 6];
        let mut first: Option<Span> = None;
        for part in &item.items {
            let StagePart::Pieces(places, span) = part else { continue };
            let read = self.pieces(places, *span);
            if let Some(pieces) = self.notes.ok(read) {
                taken = pieces.map(Some);
            }
            self.places.put(format!("stages[{}].key.pieces", context.stage), *span);
        }
        for part in &item.items {
            let StagePart::Key(exprs, span) = part else { continue };
            if let Some(first) = first.replace(*span) {
                let e = self.scope.twice(*span, "the key of this stage", first);
                self.notes.push(e);
                continue;
            }
            self.places.put(format!("stages[{}].key", context.stage), *span);
            for expr in exprs {
                let read = self.key_part(context, expr, &mut taken);
                let read = read.and_then(|part| {
                    let mut bits = Key::default();
                    bits.merge(part.at, part.mask);
                    let apart = bits.and(&context.key.mask) == Key::default();
                    let found = || format!("{} stands twice in the key", self.scope.shown(expr.span));
                    if apart { Ok(part) } else { Err(place(expr.span, found(), "each bit once")) }
                });
                if let Some(part) = self.notes.ok(read) {
                    context.key.mask.merge(part.at, part.mask);
                    context.parts.push(part);
                }
            }
        }
        context.key.pieces = taken.map(|c| c.map_or(0, |c| c.0 % 8));
    }

    fn pieces(&self, places: &[Place], span: Span) -> Read<[Container; 6]> {
        let wrong = || place(span, "other pieces", "six containers: two of 2, two of 4, two of 6 bytes");
        let all = places.iter().map(|p| self.scope.container(p)).collect::<Read<Vec<_>>>()?;
        let all: [Container; 6] = all.try_into().map_err(|_| wrong())?;
        let good = (0..6).all(|i| all[i].class() == piece_class(i));
        if good { Ok(all) } else { Err(wrong()) }
    }

    fn key_part(&self, context: &Context, expr: &Expr, taken: &mut [Option<Container>; 6]) -> Read<Part> {
        let Term { kind: TermKind::Place(p), shift: None, inverted: false, negated: false, .. } = &expr.first else {
            return Err(place(expr.span, self.scope.shown(expr.span), "a container, bits of one, or a condition"));
        };
        let condition = match p.name.text.as_str() {
            "c0" => Some(0),
            "c1" => Some(1),
            name => context.conditions.iter().position(|c| c.as_ref().is_some_and(|c| c.0 == name)),
        };
        if condition.is_none() && context.predicate_names.iter().flatten().any(|named| named.0 == p.name.text) {
            let found = format!("predicate `{}`", p.name.text);
            let allowed = format!("a container or a condition, as in `condition is_{0} = {0}`", p.name.text);
            return Err(place(p.name.span, found, allowed));
        }
        if let Some(i) = condition {
            if !p.brackets.is_empty() || !expr.rest.is_empty() {
                return Err(place(expr.span, self.scope.shown(expr.span), "the condition alone"));
            }
            return Ok(Part { at: CONDITION_AT + i as u32, width: 1, mask: 1 });
        }
        let (slot, field) = self.piece(context, p, taken)?;
        let mask = match &expr.rest[..] {
            [] => None,
            [(BinOp::And, mask)] => {
                let mask = Expr { first: mask.clone(), rest: Vec::new(), span: mask.span };
                Some(self.scope.bits_value(&mask, "the mask", u32::from(field.width))?)
            }
            _ => return Err(place(expr.span, self.scope.shown(expr.span), "a container and at most `& MASK`")),
        };
        let width = u32::from(field.width);
        let all = ((1u128 << width) - 1) as u64;
        Ok(Part { at: PIECE_AT[slot] + u32::from(field.lo), width, mask: mask.unwrap_or(all) })
    }

    /// The piece that a container has in the key, and which bits of it are meant.
    fn piece(
        &self,
        context: &Context,
        p: &Place,
        taken: &mut [Option<Container>; 6],
    ) -> Read<(usize, crate::text::names::Bits)> {
        let fixed = match p.name.text.as_bytes() {
            [b'k', d @ b'0'..=b'5'] => Some(usize::from(d - b'0')),
            _ => None,
        };
        if let Some(slot) = fixed {
            let container = taken[slot].ok_or_else(|| place(p.span, self.scope.shown(p.span), "`pieces` above it"))?;
            // The brackets are read as those of the container.
            let bits = crate::text::names::Bits::whole(container);
            let [bracket] = &p.brackets[..] else {
                return if p.brackets.is_empty() {
                    Ok((slot, bits))
                } else {
                    Err(place(p.span, self.scope.shown(p.span), "one pair of brackets"))
                };
            };
            let hi = self.scope.number(&bracket.first, "the highest bit", 0, u128::from(bits.width) - 1)?;
            let lo =
                bracket.second.as_ref().map_or(Ok(hi), |lo| self.scope.number(lo, "the lowest bit", 0, hi.into()))?;
            return Ok((slot, crate::text::names::Bits { lo: lo as u8, width: (hi - lo + 1) as u8, ..bits }));
        }
        let field = match self.scope.thing(p, &[])? {
            Thing::Bits(b) => b,
            Thing::Word { .. } => {
                let found = format!("{} is a metadata word", self.scope.shown(p.span));
                return Err(bits(
                    p.span,
                    found,
                    "a container: keys are made of them; move the word into one in a stage before, or compare it in a condition",
                ));
            }
            _ => return Err(place(p.span, self.scope.shown(p.span), "a container, bits of one, or a condition")),
        };
        let class = field.container.class() as usize;
        let slots = [2 * class, 2 * class + 1];
        let there = slots.into_iter().find(|s| taken[*s] == Some(field.container));
        let free = slots.into_iter().find(|s| taken[*s].is_none());
        let Some(slot) = there.or(free) else {
            let size = field.container.bytes();
            let found = format!("a third container of {size} bytes in the key, {}", self.scope.shown(p.span));
            let allowed = "a key has 2 of each size".to_string();
            return Err((p.span, TextProblem::Stage { stage: context.stage, found, allowed }));
        };
        taken[slot] = Some(field.container);
        Ok((slot, field))
    }

    /// Value and mask that an entry gives for a part.
    pub(super) fn key_value(&self, kind: EntryKind, pattern: &Pattern, part: &Part) -> Read<(u64, u64)> {
        let wrong = |found: String, expected: String| (pattern.span, TextProblem::Entry { found, expected });
        let Some(expr) = &pattern.value else {
            if kind == EntryKind::Exact {
                return Err(wrong("`*` in an exact entry".into(), "a value, or the entry under `ternary`".into()));
            }
            return Ok((0, 0));
        };
        let value = self.scope.bits_value(expr, "the value", part.width)?;
        let mask = match (&pattern.mask, kind) {
            (None, _) => part.mask,
            (Some(_), EntryKind::Exact) => {
                return Err(wrong("a mask in an exact entry".into(), "a value, or the entry under `ternary`".into()));
            }
            (Some(length), EntryKind::Lpm) => {
                let length = self.scope.number(length, "the length of the prefix", 0, part.width.into())?;
                let all = ((1u128 << part.width) - 1) as u64;
                let low = ((1u128 << (u64::from(part.width) - length)) - 1) as u64;
                (all & !low) & part.mask
            }
            (Some(mask), _) => self.scope.bits_value(mask, "the mask", part.width)?,
        };
        if mask & !part.mask != 0 {
            return Err(wrong(format!("mask {mask:#x}"), format!("bits within the key's mask {:#x}", part.mask)));
        }
        if value & !mask != 0 {
            let found = format!("{} has bits outside of its mask {mask:#x}", self.scope.shown(pattern.span));
            return Err(wrong(found, format!("{:#x}", value & mask)));
        }
        Ok((value, mask))
    }
}
