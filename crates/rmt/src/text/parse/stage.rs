//! Stages: key, conditions, memories, tables.

use super::Parser;
use crate::text::ast::*;
use crate::text::error::{Read, place};
use crate::text::lexer::Token;
use sluice_packet::text::Span;

const PARTS: &str =
    "key, condition, predicate, pieces, memory, meter, pages, room, exact, ternary, lpm, default or action";

impl Parser<'_> {
    pub(super) fn stage_item(&mut self, span: Span) -> Read<StageItem> {
        let number = self.expr()?;
        let mut items = Vec::new();
        self.block(|p| p.stage_part().map(|part| items.push(part)))?;
        Ok(StageItem { number, items, span })
    }

    fn stage_part(&mut self) -> Read<StagePart> {
        let start = self.span();
        let word = self.name(PARTS)?;
        Ok(match word.text.as_str() {
            "key" => {
                let parts = self.list(|p| p.expr())?;
                StagePart::Key(parts, self.since(start))
            }
            "pieces" => {
                let places = self.list(|p| p.place())?;
                StagePart::Pieces(places, self.since(start))
            }
            "predicate" => {
                let name = self.name("the name of the predicate")?;
                self.need("=")?;
                StagePart::Predicate(name, self.comparison()?)
            }
            "condition" => {
                let name = self.name("the name of the condition")?;
                self.need("=")?;
                StagePart::Condition(name, self.condition()?)
            }
            "memory" => {
                let name = self.name("the name of the memory")?;
                self.need_word("words")?;
                StagePart::Memory(name, self.expr()?)
            }
            "meter" => StagePart::Meter(self.meter()?),
            "pages" => StagePart::Pages(self.expr()?),
            "room" => {
                let exact = self.is("exact");
                if !(self.take("exact") || self.take("ternary")) {
                    return Err(self.expected("`exact` or `ternary`"));
                }
                StagePart::Room { exact, entries: self.expr()? }
            }
            "exact" => self.entries(EntryKind::Exact, start)?,
            "ternary" => {
                let kind = if self.take("longest") { EntryKind::Longest } else { EntryKind::Ternary };
                self.entries(kind, start)?
            }
            "lpm" => self.entries(EntryKind::Lpm, start)?,
            "default" => StagePart::Default(self.leads()?),
            "action" => StagePart::Action(self.action()?),
            _ => return Err(place(start, Token::Name(word.text).describe(), PARTS)),
        })
    }

    fn meter(&mut self) -> Read<MeterItem> {
        let name = self.name("the name of the meter")?;
        self.need_word("words")?;
        let words = self.expr()?;
        self.need_word("rate")?;
        let rate = self.expr()?;
        let packets = self.is("packets");
        if !(self.take("packets") || self.take("bits")) {
            return Err(self.expected("`packets` or `bits`, each a second"));
        }
        self.need_word("burst")?;
        Ok(MeterItem { name, words, rate, packets, burst: self.expr()? })
    }

    fn entries(&mut self, kind: EntryKind, start: Span) -> Read<StagePart> {
        let mut entries = Vec::new();
        self.block(|p| {
            let start = p.span();
            let key = if p.is_mark("->") { Vec::new() } else { p.list(Self::pattern)? };
            p.need("->")?;
            let leads = p.leads()?;
            entries.push(EntryItem { key, leads, span: p.since(start) });
            Ok(())
        })?;
        Ok(StagePart::Entries(kind, entries, start))
    }

    /// `NAME(VALUE, ...) data 0x01 number 7`
    fn leads(&mut self) -> Read<LeadsItem> {
        let start = self.span();
        let action = self.name("an action")?;
        let arguments = if self.mark("(") {
            let all = if self.is_mark(")") { Vec::new() } else { self.list(|p| p.expr())? };
            self.need(")")?;
            Some(all)
        } else {
            None
        };
        let data = if self.take("data") { Some(self.expr()?) } else { None };
        let number = if self.take("number") { Some(self.expr()?) } else { None };
        Ok(LeadsItem { action, arguments, data, number, span: self.since(start) })
    }
}
