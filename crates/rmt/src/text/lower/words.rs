//! Statements to writes of metadata words.

use super::Lower;
use super::action::Work;
use super::factors::{Factor, What};
use super::operands::{Slot, Source, bring};
use super::scope::Thing;
use crate::action::When;
use crate::phv::{Class, Word};
use crate::text::ast::*;
use crate::text::error::{Read, bits, operation, value};
use sluice_packet::text::Span;

/// A metadata write whose source is not allotted yet.
pub(super) struct WordWork {
    pub word: u8,
    pub source: (Source, Span),
    pub mask: u16,
    pub when: When,
    pub span: Span,
}

impl Lower<'_> {
    pub(super) fn send(&mut self, work: &mut Work, all: &[Expr], when: When, span: Span) -> Read<()> {
        let mut mask = 0;
        for expr in all {
            match &self.factors(expr, work.parameters)?[..] {
                [(_, Factor { what: What::Thing(Thing::Value(v)), inverted: false, negated: false, .. })]
                    if *v <= 0xff =>
                {
                    if *v == 0 || mask & *v as u64 != 0 {
                        let found = if *v == 0 { "no destination" } else { "a destination a second time" };
                        return Err(value(expr.span, "where to send", found, "each once, or `discard`"));
                    }
                    mask |= *v as u64;
                }
                _ if all.len() == 1 => {
                    let source = self.word_source(work, expr, 0, 8)?;
                    return self.word(work, (Word::Egress, 0, 8), (source, expr.span), when, span);
                }
                _ => {
                    return Err(operation(
                        expr.span,
                        self.scope.shown(expr.span),
                        "destinations as in port0, or one parameter alone",
                    ));
                }
            }
        }
        self.word(work, (Word::Egress, 0, 8), (Source::Imm(mask), span), when, span)
    }

    /// Source of a word's bits; a container or parameter gives its low ones.
    pub(super) fn word_source(&self, work: &Work, value: &Expr, lo: u8, width: u8) -> Read<Source> {
        let slot = Slot { class: Class::C2, lo, width };
        let mut factors = self.factors(value, work.parameters)?;
        let (1, Some((_, factor))) = (factors.len(), factors.pop()) else {
            return Err(operation(value.span, "an operation on a metadata word", "one container, parameter or value"));
        };
        if factor.inverted {
            return Err(operation(value.span, "`~`", "one container, parameter or value"));
        }
        match factor.what {
            What::Thing(t) if lo == 0 && t.width() > width => {
                bring(t.slice(0, width), slot, value.span, &self.scope.shown(value.span))
            }
            _ => self.source(&factor, slot),
        }
    }

    pub(super) fn word(
        &mut self,
        work: &mut Work,
        (word, lo, width): (Word, u8, u8),
        source: (Source, Span),
        when: When,
        span: Span,
    ) -> Read<()> {
        self.word_bits(work, (word as u8, lo, width), source, when, span)
    }

    pub(super) fn word_bits(
        &mut self,
        work: &mut Work,
        (word, lo, width): (u8, u8, u8),
        source: (Source, Span),
        when: When,
        span: Span,
    ) -> Read<()> {
        let mask = (((1u32 << width) - 1) << lo) as u16;
        let name = super::scope::WORDS.iter().find(|w| w.1 as u8 == word && w.3 == 16).map_or("the word", |w| w.0);
        let allowed = "an action has one write for each word, values for different bits of it are one";
        let raw = work.raw.words.iter().position(|w| w.word == word).and_then(|i| work.raw_words.get(i).copied());
        if let Some(first) = raw {
            return Err(self.second_write(work, span, format!("`{name}`"), first, allowed));
        }
        if let Some(before) = work.words.iter_mut().find(|w| w.word == word) {
            if let (Source::Imm(x), Source::Imm(y)) = (before.source.0, source.0)
                && before.when == when
                && before.mask & mask == 0
            {
                before.source.0 = Source::Imm(x | y);
                before.mask |= mask;
                return Ok(());
            }
            let first = before.span;
            return Err(self.second_write(work, span, format!("`{name}`"), first, allowed));
        }
        if let Source::Rotated(..) = source.0 {
            let found = format!("bits of {} are moved", self.scope.shown(source.1));
            return Err(bits(source.1, found, "a 2-byte container whose bits are in place: a word has no rotator"));
        }
        work.words.push(WordWork { word, source, mask, when, span });
        Ok(())
    }
}
