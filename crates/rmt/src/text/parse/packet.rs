//! Parser and deparser.

use super::Parser;
use crate::text::ast::*;
use crate::text::error::{Read, TextProblem, place};
use crate::text::lexer::Token;
use sluice_packet::text::Span;

impl Parser<'_> {
    pub(super) fn parser_item(&mut self, span: Span) -> Read<ParserItem> {
        const PARTS: &str = "select, node or path";
        let mut item = ParserItem { first: None, nodes: Vec::new(), paths: Vec::new(), span };
        self.block(|p| {
            let start = p.span();
            let word = p.name(PARTS)?;
            match word.text.as_str() {
                "select" => {
                    let select = p.select(start)?;
                    if item.first.is_some() {
                        return Err(place(start, "a second select of the first level", "`node NAME select ...`"));
                    }
                    item.first = Some(select);
                }
                "node" => {
                    let name = p.name("the name of the node")?;
                    p.need_word("select")?;
                    item.nodes.push((name, p.select(start)?));
                }
                "path" => item.paths.push(p.path()?),
                _ => return Err(place(start, Token::Name(word.text).describe(), PARTS)),
            }
            Ok(())
        })?;
        Ok(item)
    }

    fn select(&mut self, start: Span) -> Read<SelectItem> {
        let bytes = if self.is_mark("{") { Vec::new() } else { self.list(Self::selected)? };
        let mut item = SelectItem { bytes, alternatives: Vec::new(), span: self.since(start) };
        self.block(|p| {
            let start = p.span();
            let patterns = p.list(Self::pattern)?;
            let least = if p.take("least") { Some(p.expr()?) } else { None };
            p.need("->")?;
            let to = p.name("a node, a path or `reject`")?;
            item.alternatives.push(AlternativeItem { patterns, least, to, span: p.since(start) });
            Ok(())
        })?;
        Ok(item)
    }

    /// `12:2`, or `12` for one byte.
    fn selected(&mut self) -> Read<(Expr, Expr)> {
        let start = self.expr()?;
        if self.mark(":") {
            return Ok((start, self.expr()?));
        }
        let span = start.span;
        let first = Term { kind: TermKind::Number(1, 0), inverted: false, negated: false, shift: None, span };
        Ok((start, Expr { first, rest: Vec::new(), span }))
    }

    fn path(&mut self) -> Read<PathItem> {
        const PARTS: &str = "take, set, headers, verify or least";
        let name = self.name("the name of the path")?;
        let mut item =
            PathItem { name, takes: Vec::new(), sets: Vec::new(), headers: Vec::new(), verify: None, least: None };
        self.block(|p| {
            let start = p.span();
            let word = p.name(PARTS)?;
            match word.text.as_str() {
                "take" => item.takes.extend(p.list(|p| Ok((p.place()?, p.at_byte()?)))?),
                "set" => item.sets.extend(p.list(|p| {
                    let container = p.place()?;
                    p.need("=")?;
                    Ok((container, p.expr()?))
                })?),
                "headers" => item.headers.extend(p.list(Self::header)?),
                "verify" => {
                    let (from, length) = p.range()?;
                    p.once(item.verify.is_some(), start, "verify")?;
                    item.verify = Some((from, length, p.since(start)));
                }
                "least" => {
                    let least = p.expr()?;
                    p.once(item.least.is_some(), start, "least")?;
                    item.least = Some(least);
                }
                _ => return Err(place(start, Token::Name(word.text).describe(), PARTS)),
            }
            Ok(())
        })?;
        Ok(item)
    }

    /// That a statement is the first of its kind.
    pub(super) fn once(&self, there: bool, span: Span, what: &str) -> Read<()> {
        if !there {
            return Ok(());
        }
        let problem = TextProblem::Place { found: format!("a second `{what}`"), expected: "one".into() };
        Err((span, problem))
    }

    pub(super) fn deparser_item(&mut self, span: Span) -> Read<DeparserItem> {
        const PARTS: &str = "when, * or row";
        let mut item = DeparserItem { patterns: Vec::new(), rows: Vec::new(), span };
        self.block(|p| {
            let start = p.span();
            let tests = if p.mark("*") {
                Vec::new()
            } else {
                let word = p.name(PARTS)?;
                match word.text.as_str() {
                    "row" => {
                        item.rows.push(p.row()?);
                        return Ok(());
                    }
                    "when" => p.tests()?,
                    _ => return Err(place(start, Token::Name(word.text).describe(), PARTS)),
                }
            };
            p.need("->")?;
            let row = p.name("a row")?;
            item.patterns.push(WhenItem { tests, row, span: p.since(start) });
            Ok(())
        })?;
        Ok(item)
    }

    fn tests(&mut self) -> Read<Vec<Test>> {
        const TESTS: &str = "path, valid, invalid or headers";
        let mut tests = Vec::new();
        loop {
            let word = self.name(TESTS)?;
            tests.push(match word.text.as_str() {
                "path" => Test::Path(self.pattern()?),
                "valid" => Test::Valid(self.list(Self::header)?),
                "invalid" => Test::Invalid(self.list(Self::header)?),
                "headers" => {
                    let bits = matches!(self.token(), Token::Number(..)) && *self.ahead(1) == Token::Mark("/");
                    if bits { Test::HeaderBits(self.pattern()?) } else { Test::Headers(self.list(Self::header)?) }
                }
                _ => return Err(place(word.span, Token::Name(word.text).describe(), TESTS)),
            });
            if !self.take("and") {
                return Ok(tests);
            }
        }
    }

    fn row(&mut self) -> Read<RowItem> {
        const PARTS: &str = "put, grow, shrink, checksum, adjust or least";
        let name = self.name("the name of the row")?;
        let mut item =
            RowItem { name, puts: Vec::new(), moves: None, checksums: Vec::new(), adjust: None, least: None };
        self.block(|p| {
            let start = p.span();
            let word = p.name(PARTS)?;
            match word.text.as_str() {
                "put" => item.puts.extend(p.list(|p| Ok((p.place()?, p.at_byte()?)))?),
                "grow" | "shrink" => {
                    let bytes = p.expr()?;
                    p.need_word("at")?;
                    let at = p.expr()?;
                    p.once(item.moves.is_some(), start, "grow or shrink")?;
                    item.moves = Some((bytes, at, word.text == "shrink", p.since(start)));
                }
                "checksum" => {
                    let which = if p.mark("[") {
                        let which = p.expr()?;
                        p.need("]")?;
                        Some(which)
                    } else {
                        None
                    };
                    let (from, length) = p.range()?;
                    p.need_word("at")?;
                    let at = p.expr()?;
                    item.checksums.push((which, from, length, at, p.since(start)));
                }
                "adjust" => {
                    let bytes = p.range()?;
                    p.need_word("at")?;
                    let at = p.expr()?;
                    let was = if p.take("was") { Some(p.range()?) } else { None };
                    let udp = p.take("udp");
                    p.once(item.adjust.is_some(), start, "adjust")?;
                    item.adjust = Some(AdjustItem { bytes, at, was, udp, span: p.since(start) });
                }
                "least" => {
                    let least = p.expr()?;
                    p.once(item.least.is_some(), start, "least")?;
                    item.least = Some(least);
                }
                _ => return Err(place(start, Token::Name(word.text).describe(), PARTS)),
            }
            Ok(())
        })?;
        Ok(item)
    }
}
