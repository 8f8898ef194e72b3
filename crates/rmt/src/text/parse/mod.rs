//! Words to the syntax tree. A statement that cannot be read is skipped; reading goes on behind it.

mod action;
mod expr;
mod packet;
mod stage;

use super::ast::*;
use super::error::{Diagnostics, Located, Read, TextProblem, place};
use super::lexer::{Lexeme, MOST_BYTES, Token, words};
use crate::check::Role;
use sluice_packet::text::Span;

/// Blocks, parentheses and brackets within each other.
const MOST_DEPTH: usize = 24;

pub(super) struct Parser<'n> {
    words: Vec<Lexeme>,
    at: usize,
    depth: usize,
    pub notes: &'n mut Diagnostics,
}

/// The file, with mistakes noted; what cannot be read is left out.
pub(super) fn file(text: &str, notes: &mut Diagnostics) -> File {
    let mut name = Name { text: "unnamed".into(), span: Span::default() };
    if text.len() > MOST_BYTES {
        let problem = TextProblem::Size { what: "bytes of the file", found: text.len(), most: MOST_BYTES };
        notes.push((Span::default(), problem));
        return File { role: Role::Tenant, name, items: Vec::new() };
    }
    let words = words(text, notes);
    let mut p = Parser { words, at: 0, depth: 0, notes };
    let role = if p.is("system") { Role::System } else { Role::Tenant };
    if p.take("module") || p.take("system") {
        match p.name("the name of the module").and_then(|n| p.end().map(|()| n)) {
            Ok(found) => name = found,
            Err(e) => p.skip(e),
        }
    } else {
        let e = p.expected("`module NAME` or `system NAME` in the first line");
        p.notes.push(e);
    }
    let mut items = Vec::new();
    while *p.token() != Token::Eof && !p.notes.full() {
        if p.take_end() {
            continue;
        }
        match p.item().and_then(|item| p.end().map(|()| item)) {
            Ok(item) => items.push(item),
            Err(e) => {
                p.skip(e);
                // A brace too many.
                while p.mark("}") {}
            }
        }
    }
    File { role, name, items }
}

const ITEMS: &str = "const, container, header, share, group, state, port_numbers, demands, parser, stage or deparser";

impl Parser<'_> {
    fn token(&self) -> &Token {
        self.words.get(self.at).map_or(&Token::Eof, |l| &l.token)
    }

    fn ahead(&self, n: usize) -> &Token {
        self.words.get(self.at + n).map_or(&Token::Eof, |l| &l.token)
    }

    /// Place of the next word.
    fn span(&self) -> Span {
        self.words.get(self.at).map_or(Span::default(), |l| l.span)
    }

    /// From the start of `from` to the end of the last word taken.
    fn since(&self, from: Span) -> Span {
        let end = self.at.checked_sub(1).and_then(|i| self.words.get(i)).map_or(from.end, |l| l.span.end);
        Span { start: from.start, end: end.max(from.start) }
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.words.len());
    }

    fn is(&self, name: &str) -> bool {
        matches!(self.token(), Token::Name(n) if n == name)
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.token(), Token::Mark(m) if *m == mark)
    }

    /// Takes a word of the language if it comes next.
    fn take(&mut self, name: &str) -> bool {
        let found = self.is(name);
        if found {
            self.advance();
        }
        found
    }

    /// Takes a mark if it comes next.
    fn mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        if found {
            self.advance();
        }
        found
    }

    fn take_end(&mut self) -> bool {
        let found = *self.token() == Token::End;
        if found {
            self.advance();
        }
        found
    }

    /// The error that something else was expected here.
    fn expected(&self, expected: impl ToString) -> Located {
        (self.span(), TextProblem::Expected { found: self.token().describe(), expected: expected.to_string() })
    }

    fn need(&mut self, mark: &'static str) -> Read<()> {
        if self.mark(mark) { Ok(()) } else { Err(self.expected(format!("`{mark}`"))) }
    }

    fn need_word(&mut self, word: &'static str) -> Read<()> {
        if self.take(word) { Ok(()) } else { Err(self.expected(format!("`{word}`"))) }
    }

    /// A name.
    fn name(&mut self, what: &str) -> Read<Name> {
        let span = self.span();
        match self.token().clone() {
            Token::Name(text) => {
                self.advance();
                Ok(Name { text, span })
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The end of a statement: taken, or the end of the block, which is not.
    fn end(&mut self) -> Read<()> {
        if self.take_end() || self.is_mark("}") && self.depth > 0 || *self.token() == Token::Eof {
            return Ok(());
        }
        Err(self.expected("the end of the statement"))
    }

    /// Notes the mistake and goes to the end of the statement.
    fn skip(&mut self, problem: Located) {
        self.notes.push(problem);
        let mut open = 0usize;
        loop {
            match self.token() {
                Token::Eof => return,
                Token::End if open == 0 => return,
                Token::Mark("}") if open == 0 => return,
                Token::Mark("}") => open -= 1,
                Token::Mark("{") => open += 1,
                _ => {}
            }
            self.advance();
        }
    }

    /// One level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MOST_DEPTH {
            let problem =
                TextProblem::Size { what: "blocks within each other", found: MOST_DEPTH + 1, most: MOST_DEPTH };
            return Err((self.span(), problem));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// `{ statement ... }`
    fn block(&mut self, mut statement: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        self.need("{")?;
        self.deeper(|p| {
            loop {
                if p.notes.full() {
                    // Nothing more is reported.
                    p.at = p.words.len();
                    return Ok(());
                }
                if p.take_end() {
                    continue;
                }
                if p.mark("}") {
                    return Ok(());
                }
                if *p.token() == Token::Eof {
                    return Err(p.expected("`}`"));
                }
                if let Err(e) = statement(p).and_then(|()| p.end()) {
                    p.skip(e);
                }
            }
        })
    }

    /// `a, b, c`
    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut all = vec![one(self)?];
        while self.mark(",") {
            all.push(one(self)?);
        }
        Ok(all)
    }

    fn item(&mut self) -> Read<Item> {
        let start = self.span();
        let word = self.name(ITEMS)?;
        match word.text.as_str() {
            "const" => self.declared(|p| p.expr()).map(Item::Const),
            "container" => self.declared(|p| p.place()).map(Item::Container),
            "header" => self.declared(|p| p.expr()).map(Item::Header),
            "share" => self.list(|p| p.place()).map(Item::Share),
            "group" => self.group().map(Item::Group),
            "state" => {
                let keep = self.is("keep");
                if !(self.take("keep") || self.take("zero")) {
                    return Err(self.expected("`keep` or `zero`"));
                }
                Ok(Item::State { keep, span: self.since(start) })
            }
            "port_numbers" => Ok(Item::PortNumbers(start)),
            "demands" => {
                let mut items = Vec::new();
                self.block(|p| p.demand().map(|d| items.push(d)))?;
                Ok(Item::Demands { items, span: start })
            }
            "parser" => self.parser_item(start).map(Item::Parser),
            "stage" => self.stage_item(start).map(Item::Stage),
            "deparser" => self.deparser_item(start).map(Item::Deparser),
            _ => Err(place(start, Token::Name(word.text).describe(), ITEMS)),
        }
    }

    /// `NAME = x, NAME = y`
    fn declared<T>(&mut self, mut one: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<(Name, T)>> {
        self.list(|p| {
            let name = p.name("a name")?;
            p.need("=")?;
            Ok((name, one(p)?))
        })
    }

    fn group(&mut self) -> Read<GroupItem> {
        let name = self.name("the name of the group")?;
        self.need("=")?;
        let number = self.expr()?;
        let mut members = Vec::new();
        self.block(|p| {
            let destination = p.name("a destination as in port0 or host0")?;
            let tag = if p.take("tag") { Some(p.expr()?) } else { None };
            members.push((destination, tag));
            Ok(())
        })?;
        Ok(GroupItem { name, number, members })
    }

    fn demand(&mut self) -> Read<Demand> {
        const DEMANDS: &str = "quantum, rate or queue";
        let word = self.name(DEMANDS)?;
        match word.text.as_str() {
            "quantum" => self.expr().map(Demand::Quantum),
            "rate" => {
                let rate = self.expr()?;
                self.need_word("burst")?;
                Ok(Demand::Rate { rate, burst: self.expr()? })
            }
            "queue" => {
                let destination = self.name("a destination as in port0 or host0")?;
                Ok(Demand::Queue { destination, cells: self.expr()? })
            }
            _ => Err(place(word.span, Token::Name(word.text).describe(), DEMANDS)),
        }
    }
}
