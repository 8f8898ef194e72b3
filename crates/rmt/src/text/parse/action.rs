//! Actions and their statements.

use super::Parser;
use crate::text::ast::*;
use crate::text::error::{Read, place};
use crate::text::lexer::Token;

const RAW: [&str; 5] = ["picks", "cross", "alu", "word", "access"];

impl Parser<'_> {
    pub(super) fn action(&mut self) -> Read<ActionItem> {
        let name = self.name("the name of the action")?;
        let mut parameters = Vec::new();
        if self.mark("(") && !self.mark(")") {
            parameters = self.list(|p| {
                let name = p.name("the name of a parameter")?;
                p.need(":")?;
                Ok((name, p.expr()?))
            })?;
            self.need(")")?;
        }
        Ok(ActionItem { name, parameters, statements: self.statements()? })
    }

    fn statements(&mut self) -> Read<Vec<Statement>> {
        let mut all = Vec::new();
        self.block(|p| p.statement().map(|s| all.push(s)))?;
        Ok(all)
    }

    fn statement(&mut self) -> Read<Statement> {
        let start = self.span();
        let word = match self.token() {
            Token::Name(n) => n.clone(),
            _ => return Err(self.expected("a statement")),
        };
        // Names of containers may be words of the language: what follows decides.
        let assigns = matches!(self.ahead(1), Token::Mark("=" | "+=" | "-=" | "&=" | "|=" | "^=" | "[" | "->"));
        let raw = RAW.contains(&word.as_str());
        let kind = if assigns && !raw { self.assign()? } else { self.named(&word)? };
        let guard = if self.take("if") { Some(self.condition()?) } else { None };
        Ok(Statement { kind, guard, span: self.since(start) })
    }

    fn named(&mut self, word: &str) -> Read<StatementKind> {
        let start = self.span();
        self.advance();
        Ok(match word {
            "send" => StatementKind::Send(self.list(|p| p.expr())?),
            "queue" => StatementKind::Queue(self.expr()?),
            "group" => StatementKind::Group(self.expr()?),
            "except_ingress" => StatementKind::ExceptIngress,
            "discard" => StatementKind::Discard,
            "valid" | "invalid" => StatementKind::Headers { valid: word == "valid", headers: self.list(Self::header)? },
            "if" => {
                let condition = self.condition()?;
                let then = self.statements()?;
                let otherwise = if self.take("else") { self.statements()? } else { Vec::new() };
                StatementKind::If { condition, then, otherwise }
            }
            "picks" => StatementKind::Picks(Box::new(self.picks()?)),
            "cross" => {
                let from = self.expr()?;
                StatementKind::Cross(from, if self.take("cut") { Some(self.expr()?) } else { None })
            }
            "alu" => StatementKind::Alu(Box::new(RawAlu {
                own: self.place()?,
                op: self.name("an operation")?,
                a: self.name("own, p0, p1 or x")?,
                b: self.expr()?,
                mask: self.after("mask")?,
            })),
            "word" => {
                let word = self.name("a metadata word")?;
                self.need("=")?;
                StatementKind::Word(Box::new(RawWord { word, source: self.expr()?, mask: self.after("mask")? }))
            }
            "access" => StatementKind::Access(Box::new(self.access()?)),
            _ => {
                let expected = "a container, a word or a memory and what it gets, or send, queue, group, \
                                except_ingress, discard, valid, invalid or if";
                return Err(place(start, Token::Name(word.to_string()).describe(), expected));
            }
        })
    }

    fn assign(&mut self) -> Read<StatementKind> {
        let to = self.place()?;
        let op = match self.token() {
            Token::Mark("=") => Some(AssignOp::Set),
            Token::Mark("+=") => Some(AssignOp::By(BinOp::Add)),
            Token::Mark("-=") => Some(AssignOp::By(BinOp::Sub)),
            Token::Mark("&=") => Some(AssignOp::By(BinOp::And)),
            Token::Mark("|=") => Some(AssignOp::By(BinOp::Or)),
            Token::Mark("^=") => Some(AssignOp::By(BinOp::Xor)),
            _ => None,
        };
        let mut value = None;
        if op.is_some() {
            self.advance();
            value = Some(Box::new(if self.take("if") {
                let condition = self.condition()?;
                self.need_word("then")?;
                let then = Box::new(self.expr()?);
                self.need_word("else")?;
                AssignValue::Choose { condition, then, otherwise: Box::new(self.expr()?) }
            } else {
                AssignValue::Expr(self.expr()?)
            }));
        } else if !self.is_mark("->") {
            return Err(self.expected("`=`, `+=`, `-=`, `&=`, `|=`, `^=` or `->`"));
        }
        Ok(StatementKind::Assign { to, op, value, results: Box::new(self.results()?) })
    }

    /// `-> old a, new b`
    fn results(&mut self) -> Read<Results> {
        let mut results = Results::default();
        if !self.mark("->") {
            return Ok(results);
        }
        loop {
            let start = self.span();
            let word = self.name("`old` or `new` and a container")?;
            let slot = match word.text.as_str() {
                "old" => &mut results.old,
                "new" => &mut results.new,
                _ => return Err(place(start, Token::Name(word.text).describe(), "`old` or `new`")),
            };
            let there = slot.is_some();
            *slot = Some(self.place()?);
            self.once(there, start, &word.text)?;
            if !self.mark(",") {
                return Ok(results);
            }
        }
    }

    fn after(&mut self, word: &'static str) -> Read<Expr> {
        self.need_word(word)?;
        self.expr()
    }

    /// `c4 = c4[0], c4[1], c4[2] rotate 0 mask 0 data 0, 0`
    fn picks(&mut self) -> Read<RawPicks> {
        let class = self.name("c2, c4 or c6")?;
        self.need("=")?;
        let containers = self.list(Self::place)?;
        let rotate = self.after("rotate")?;
        let mask = self.after("mask")?;
        let first = self.after("data")?;
        self.need(",")?;
        Ok(RawPicks { class, containers, rotate, mask, data: [first, self.expr()?] })
    }

    fn access(&mut self) -> Read<RawAccess> {
        let source = self.name("none, p2, da or x")?;
        let mask = self.after("mask")?;
        let base = self.after("base")?;
        let what = if self.take("meter") {
            let limit = self.after("limit")?;
            let cost = self.after("cost")?;
            let top = self.after("top")?;
            let packets = self.is("packet");
            if !(self.take("packet") || self.take("byte")) {
                return Err(self.expected("`packet` or `byte`"));
            }
            RawWhat::Meter { limit, cost, top, packets, shift: self.after("shift")? }
        } else {
            self.need_word("choose")?;
            let condition = self.condition()?;
            let then = self.after("then")?;
            RawWhat::Atom { condition, then, otherwise: self.after("else")? }
        };
        Ok(RawAccess { source, mask, base, what, results: self.results()? })
    }
}
