//! Expressions, and keys, which have ranges and masks beside.

use super::Parser;
use crate::error::{Problem, Read};
use crate::front::source::{Kind, Mark, Span};
use crate::front::syntax::ast::{At, Binary, Expr, ExprKind, Name, TypeExpr, TypeKind, Unary};
use crate::front::syntax::number::number;

/// How tightly unary operators and casts bind.
const UNARY: u8 = 12;

impl Parser<'_> {
    /// A node above others.
    pub(super) fn expr(&mut self, kind: ExprKind, at: At, below: &[u16]) -> Read<Expr> {
        let height = below.iter().max().map_or(0, |height| height + 1);
        if usize::from(height) > super::DEEPEST {
            return Err((at.span, self.too_deep().1));
        }
        let id = self.ids;
        self.ids += 1;
        Ok(Expr { kind, at: At { id, height, ..at } })
    }

    fn leaf(&mut self, kind: ExprKind, begin: Span) -> Read<Expr> {
        let span = begin.to(self.last());
        self.expr(kind, At { span, ..At::default() }, &[])
    }

    pub(super) fn node(&mut self, kind: ExprKind, begin: Span, below: &[u16]) -> Read<Expr> {
        let span = begin.to(self.last());
        self.expr(kind, At { span, ..At::default() }, below)
    }

    /// Any expression.
    pub(super) fn expression(&mut self) -> Read<Expr> {
        self.deeper(|p| {
            let begin = p.span();
            let condition = p.binary(0)?;
            if !p.take(Mark::Question) {
                return Ok(condition);
            }
            let yes = p.expression()?;
            p.expect(Mark::Colon)?;
            let no = p.expression()?;
            let below = [condition.at.height, yes.at.height, no.at.height];
            p.node(ExprKind::Choice(Box::new(condition), Box::new(yes), Box::new(no)), begin, &below)
        })
    }

    /// The operator that comes next, and its words.
    fn operator(&self) -> Option<(Binary, usize)> {
        let Kind::Mark(mark) = self.word().kind else { return None };
        Some(match mark {
            Mark::OrOr => (Binary::Or, 1),
            Mark::AndAnd => (Binary::And, 1),
            Mark::EqEq => (Binary::Equal, 1),
            Mark::Ne => (Binary::NotEqual, 1),
            Mark::Less => (Binary::Less, 1),
            Mark::Le => (Binary::LessEqual, 1),
            Mark::Ge => (Binary::GreaterEqual, 1),
            Mark::Greater if self.touching(Mark::Ge) => return None,
            Mark::Greater if self.touching(Mark::Greater) => (Binary::ShiftRight, 2),
            Mark::Greater => (Binary::Greater, 1),
            Mark::Or => (Binary::BitOr, 1),
            Mark::Xor => (Binary::BitXor, 1),
            Mark::And => (Binary::BitAnd, 1),
            Mark::Shl => (Binary::ShiftLeft, 1),
            Mark::Concat => (Binary::Concat, 1),
            Mark::Plus => (Binary::Add, 1),
            Mark::Minus => (Binary::Subtract, 1),
            Mark::SatAdd => (Binary::SaturatingAdd, 1),
            Mark::SatSub => (Binary::SaturatingSubtract, 1),
            Mark::Star => (Binary::Multiply, 1),
            Mark::Slash => (Binary::Divide, 1),
            Mark::Percent => (Binary::Modulo, 1),
            _ => return None,
        })
    }

    /// Whether that mark follows this word without a blank.
    pub(super) fn touching(&self, mark: Mark) -> bool {
        let (this, next) = (self.word().span, self.ahead(1));
        next.is(mark) && next.span.text == this.text && next.span.start == this.end
    }

    /// The width of a type: an expression without comparisons and shifts, for `>` ends it.
    pub(super) fn width_value(&mut self) -> Read<Expr> {
        self.binary(Binary::Add.level())
    }

    fn binary(&mut self, least: u8) -> Read<Expr> {
        let begin = self.span();
        let mut left = self.unary()?;
        while let Some((operator, words)) = self.operator() {
            let level = operator.level();
            if level < least {
                break;
            }
            self.at += words;
            let right = self.deeper(|p| p.binary(level + 1))?;
            let below = [left.at.height, right.at.height];
            left = self.node(ExprKind::Binary(operator, Box::new(left), Box::new(right)), begin, &below)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Read<Expr> {
        let begin = self.span();
        let operator = match self.word().kind {
            Kind::Mark(Mark::Minus) => Unary::Minus,
            Kind::Mark(Mark::Plus) => Unary::Plus,
            Kind::Mark(Mark::Not) => Unary::Not,
            Kind::Mark(Mark::Tilde) => Unary::Complement,
            Kind::Mark(Mark::LeftParen) if self.at_cast() => {
                return self.deeper(|p| {
                    p.at += 1;
                    let ty = p.ty()?;
                    p.expect(Mark::RightParen)?;
                    let value = p.binary(UNARY)?;
                    let height = value.at.height;
                    p.node(ExprKind::Cast(Box::new(ty), Box::new(value)), begin, &[height])
                });
            }
            _ => return self.postfix(),
        };
        self.deeper(|p| {
            p.at += 1;
            let value = p.binary(UNARY)?;
            let height = value.at.height;
            p.node(ExprKind::Unary(operator, Box::new(value)), begin, &[height])
        })
    }

    /// Whether a type in parentheses follows, and not a value that begins with the name of a type.
    fn at_cast(&self) -> bool {
        let dot = usize::from(self.ahead(1).is(Mark::Dot));
        if !self.begins_type(1 + dot) {
            return false;
        }
        let next = self.ahead(2 + dot);
        let named = self.word_ahead(1 + dot).is_some_and(|(text, reserved)| !reserved && &**text != "list");
        !named || next.is(Mark::RightParen) || next.is(Mark::Less) || next.is(Mark::LeftBracket)
    }

    /// A value with what hangs on it: members, indices, calls.
    pub(super) fn postfix(&mut self) -> Read<Expr> {
        let begin = self.span();
        let mut value = self.primary()?;
        loop {
            let height = value.at.height;
            match self.word().kind {
                Kind::Mark(Mark::Dot) => {
                    self.at += 1;
                    let member = self.member_name()?;
                    value = self.node(ExprKind::Member(Box::new(value), member), begin, &[height])?;
                }
                Kind::Mark(Mark::LeftBracket) => {
                    self.at += 1;
                    value = self.index(value, begin)?;
                }
                Kind::Mark(Mark::LeftParen) => {
                    value = self.call(value, Vec::new(), begin)?;
                }
                Kind::Mark(Mark::Less) => {
                    let types = self.attempt(|p| {
                        p.at += 1;
                        let types = p.type_arguments()?;
                        if p.is(Mark::LeftParen) { Ok(types) } else { p.expected("`(`") }
                    });
                    match types {
                        Some(types) => value = self.call(value, types, begin)?,
                        None => return Ok(value),
                    }
                }
                _ => return Ok(value),
            }
        }
    }

    fn member_name(&mut self) -> Read<Name> {
        match &self.word().kind {
            // `apply` and such are members as well as words.
            Kind::Word { text, reserved: false } => {
                let name = Name { text: text.clone(), span: self.span() };
                self.at += 1;
                Ok(name)
            }
            _ => self.expected("the name of a member"),
        }
    }

    fn call(&mut self, callee: Expr, types: Vec<TypeExpr>, begin: Span) -> Read<Expr> {
        self.expect(Mark::LeftParen)?;
        let arguments = self.arguments()?;
        let mut below: Vec<u16> = arguments.iter().map(|argument| argument.value.at.height).collect();
        below.push(callee.at.height);
        self.node(ExprKind::Call(Box::new(callee), types, arguments), begin, &below)
    }

    fn index(&mut self, value: Expr, begin: Span) -> Read<Expr> {
        let first = self.expression()?;
        let part = self.is(Mark::PlusColon);
        if !part && !self.is(Mark::Colon) {
            self.expect(Mark::RightBracket)?;
            let below = [value.at.height, first.at.height];
            return self.node(ExprKind::Index(Box::new(value), Box::new(first)), begin, &below);
        }
        self.at += 1;
        let second = self.expression()?;
        self.expect(Mark::RightBracket)?;
        let below = [value.at.height, first.at.height, second.at.height];
        let (value, first, second) = (Box::new(value), Box::new(first), Box::new(second));
        let kind = if part { ExprKind::Part(value, first, second) } else { ExprKind::Slice(value, first, second) };
        self.node(kind, begin, &below)
    }

    fn primary(&mut self) -> Read<Expr> {
        let begin = self.span();
        match self.word().kind.clone() {
            Kind::Number(text) => {
                let found = number(&text).map_err(|why| (begin, Problem::Number { found: text.to_string(), why }))?;
                self.at += 1;
                self.leaf(ExprKind::Number(found), begin)
            }
            Kind::Text(text) => {
                self.at += 1;
                self.leaf(ExprKind::Text(text), begin)
            }
            Kind::Mark(Mark::LeftParen) => {
                self.at += 1;
                let value = self.expression()?;
                self.expect(Mark::RightParen)?;
                Ok(value)
            }
            Kind::Mark(Mark::LeftBrace) => self.deeper(Self::braces),
            Kind::Mark(Mark::Invalid) => {
                self.at += 1;
                self.leaf(ExprKind::Invalid, begin)
            }
            Kind::Mark(Mark::Dots) => {
                self.at += 1;
                self.leaf(ExprKind::Dots, begin)
            }
            Kind::Mark(Mark::Dot) => {
                self.at += 1;
                let name = self.name("a name")?;
                self.named(true, name, begin)
            }
            Kind::Word { text, reserved } => {
                if !reserved {
                    let name = self.name("a name")?;
                    return self.named(false, name, begin);
                }
                self.at += 1;
                match &*text {
                    "true" => self.leaf(ExprKind::Bool(true), begin),
                    "false" => self.leaf(ExprKind::Bool(false), begin),
                    "this" => self.leaf(ExprKind::This, begin),
                    "_" => self.leaf(ExprKind::Any, begin),
                    "error" | "match_kind" if self.is(Mark::Dot) => {
                        let kind = if &*text == "error" { TypeKind::Error } else { TypeKind::MatchKind };
                        self.leaf(ExprKind::Type(Box::new(TypeExpr { kind, span: begin })), begin)
                    }
                    _ => {
                        self.at -= 1;
                        self.expected("an expression")
                    }
                }
            }
            _ => self.expected("an expression"),
        }
    }

    /// A name; that of a type may have arguments, as in a constructor.
    fn named(&mut self, global: bool, name: Name, begin: Span) -> Read<Expr> {
        if self.is(Mark::Less) && self.scopes.is_type(&name.text) {
            let arguments = self.attempt(|p| {
                p.at += 1;
                p.type_arguments()
            });
            // `<>` says no more than the name.
            if let Some(arguments) = arguments.filter(|arguments| !arguments.is_empty()) {
                let span = begin.to(self.last());
                let ty = TypeExpr { kind: TypeKind::Named { global, name, arguments }, span };
                return self.leaf(ExprKind::Type(Box::new(ty)), begin);
            }
        }
        self.leaf(ExprKind::Name { global, name }, begin)
    }

    /// `{a, b}`, `{x = a, y = b}` or `{...}`.
    fn braces(&mut self) -> Read<Expr> {
        let begin = self.span();
        self.expect(Mark::LeftBrace)?;
        let named = self.word_ahead(0).is_some_and(|(_, reserved)| !reserved) && self.ahead(1).is(Mark::Equals);
        if !named {
            let all = self.list(Mark::RightBrace, Self::expression)?;
            let below: Vec<u16> = all.iter().map(|value| value.at.height).collect();
            return self.node(ExprKind::List(all), begin, if below.is_empty() { &[0] } else { &below });
        }
        let mut dots = false;
        let mut fields = Vec::new();
        self.list(Mark::RightBrace, |p| {
            if dots {
                return p.expected("`}` behind `...`");
            }
            if p.take(Mark::Dots) {
                dots = true;
                return Ok(());
            }
            let name = p.name("the name of a field")?;
            p.expect(Mark::Equals)?;
            fields.push((name, p.expression()?));
            Ok(())
        })?;
        let below: Vec<u16> = fields.iter().map(|(_, value)| value.at.height).collect();
        self.node(ExprKind::Struct(fields, dots), begin, &below)
    }

    /// One thing that a key is compared with.
    pub(super) fn key_value(&mut self) -> Read<Expr> {
        let begin = self.span();
        if self.take_word("default") {
            return self.leaf(ExprKind::Default, begin);
        }
        let first = self.expression()?;
        let (mask, range) = (self.is(Mark::Mask), self.is(Mark::Range));
        if !mask && !range {
            return Ok(first);
        }
        self.at += 1;
        let second = self.expression()?;
        let below = [first.at.height, second.at.height];
        let (first, second) = (Box::new(first), Box::new(second));
        self.node(if mask { ExprKind::Mask(first, second) } else { ExprKind::Range(first, second) }, begin, &below)
    }

    /// What all keys are compared with: one for each in parentheses, or one alone; a `:` follows.
    pub(super) fn key_values(&mut self) -> Read<Vec<Expr>> {
        if self.is(Mark::LeftParen) {
            let tuple = self.attempt(|p| {
                p.at += 1;
                let all = p.list(Mark::RightParen, Self::key_value)?;
                if p.is(Mark::Colon) { Ok(all) } else { p.expected("`:`") }
            });
            if let Some(tuple) = tuple {
                return Ok(tuple);
            }
        }
        Ok(vec![self.key_value()?])
    }
}
