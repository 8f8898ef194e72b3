//! Values, places and conditions.

use super::Parser;
use crate::state::Relation;
use crate::text::ast::*;
use crate::text::error::{Read, place};
use crate::text::lexer::Token;

/// Terms of one expression, pieces of one condition.
const MOST_TERMS: usize = 64;

impl Parser<'_> {
    /// `a + b - c`
    pub(super) fn expr(&mut self) -> Read<Expr> {
        let start = self.span();
        let first = self.term()?;
        let mut rest = Vec::new();
        while let Some(op) = self.operator() {
            if rest.len() >= MOST_TERMS {
                return Err(self.expected(format!("at most {MOST_TERMS} terms")));
            }
            self.advance();
            rest.push((op, self.term()?));
        }
        Ok(Expr { first, rest, span: self.since(start) })
    }

    fn operator(&self) -> Option<BinOp> {
        let Token::Mark(mark) = self.token() else { return None };
        Some(match *mark {
            "+" => BinOp::Add,
            "-" => BinOp::Sub,
            "&" => BinOp::And,
            "|" => BinOp::Or,
            "^" => BinOp::Xor,
            _ => return None,
        })
    }

    fn term(&mut self) -> Read<Term> {
        let start = self.span();
        let inverted = self.mark("~");
        let negated = !inverted && self.mark("-");
        let kind = self.primary()?;
        let shift = match self.token() {
            Token::Mark("<<") => Some(Shift::Left),
            Token::Mark(">>") => Some(Shift::Right),
            _ => None,
        };
        let shift = match shift {
            None => None,
            Some(shift) => {
                self.advance();
                let start = self.span();
                let kind = self.primary()?;
                let span = self.since(start);
                let first = Term { kind, inverted: false, negated: false, shift: None, span };
                Some((shift, Box::new(Expr { first, rest: Vec::new(), span })))
            }
        };
        Ok(Term { kind, inverted, negated, shift, span: self.since(start) })
    }

    fn primary(&mut self) -> Read<TermKind> {
        let number = match self.token() {
            Token::Number(n, digits) => Some((*n, *digits)),
            Token::Ipv4(a) => Some((u128::from(*a), 0)),
            Token::Mac(m) => Some((u128::from(*m), 0)),
            Token::Text(t) => Some((t.iter().fold(0, |v, b| v << 8 | u128::from(*b)), 2 * t.len() as u8)),
            _ => None,
        };
        if let Some((n, digits)) = number {
            self.advance();
            return Ok(TermKind::Number(n, digits));
        }
        if self.mark("(") {
            let inner = self.deeper(|p| p.expr())?;
            self.need(")")?;
            return Ok(TermKind::Group(Box::new(inner)));
        }
        if matches!(self.token(), Token::Name(_)) && *self.ahead(1) == Token::Mark("(") {
            let name = self.name("a function")?;
            self.advance();
            let arguments = self.deeper(|p| p.list(|p| p.expr()))?;
            self.need(")")?;
            return Ok(TermKind::Call(name, arguments));
        }
        if !matches!(self.token(), Token::Name(_)) {
            return Err(self.expected("a value or a name"));
        }
        self.place().map(TermKind::Place)
    }

    /// `name[x][hi:lo]`
    pub(super) fn place(&mut self) -> Read<Place> {
        let start = self.span();
        let name = self.name("a name")?;
        let mut brackets = Vec::new();
        while self.is_mark("[") {
            let start = self.span();
            if brackets.len() == 3 {
                return Err(self.expected("at most three pairs of brackets"));
            }
            self.advance();
            let first = Box::new(self.deeper(|p| p.expr())?);
            let second = if self.mark(":") { Some(Box::new(self.deeper(|p| p.expr())?)) } else { None };
            self.need("]")?;
            brackets.push(Bracket { first, second, span: self.since(start) });
        }
        Ok(Place { name, brackets, span: self.since(start) })
    }

    /// `*`, `value` or `value/mask`
    pub(super) fn pattern(&mut self) -> Read<Pattern> {
        let start = self.span();
        if self.mark("*") {
            return Ok(Pattern { value: None, mask: None, span: start });
        }
        let value = Some(self.expr()?);
        let mask = if self.mark("/") { Some(self.expr()?) } else { None };
        Ok(Pattern { value, mask, span: self.since(start) })
    }

    /// `@14`
    pub(super) fn at_byte(&mut self) -> Read<Expr> {
        self.need("@")?;
        self.expr()
    }

    /// `14:20`
    pub(super) fn range(&mut self) -> Read<(Expr, Expr)> {
        let start = self.expr()?;
        self.need(":")?;
        Ok((start, self.expr()?))
    }

    /// A header by name or number.
    pub(super) fn header(&mut self) -> Read<HeaderRef> {
        Ok(HeaderRef { of: self.expr()? })
    }

    /// `a or b and not c`
    pub(super) fn condition(&mut self) -> Read<Bool> {
        let mut all = vec![self.conjunction()?];
        while self.take("or") {
            self.few(all.len())?;
            all.push(self.conjunction()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Bool::Any(all) })
    }

    fn few(&self, n: usize) -> Read<()> {
        if n < MOST_TERMS { Ok(()) } else { Err(self.expected(format!("at most {MOST_TERMS} terms"))) }
    }

    fn conjunction(&mut self) -> Read<Bool> {
        let mut all = vec![self.negation()?];
        while self.take("and") {
            self.few(all.len())?;
            all.push(self.negation()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Bool::All(all) })
    }

    fn negation(&mut self) -> Read<Bool> {
        if self.take("not") {
            return Ok(Bool::Not(Box::new(self.deeper(|p| p.negation())?)));
        }
        if self.mark("(") {
            let inner = self.deeper(|p| p.condition())?;
            self.need(")")?;
            return Ok(inner);
        }
        let constant = self.is("true") || self.is("always");
        if self.take("true") || self.take("false") || self.take("always") {
            return Ok(Bool::Constant(constant));
        }
        if self.take("table") {
            return self.expr().map(Bool::Table);
        }
        let start = self.span();
        let left = self.expr()?;
        match self.relation() {
            Some(relation) => {
                self.advance();
                let right = self.expr()?;
                Ok(Bool::Compare(Box::new(Compare { left, relation, right, span: self.since(start) })))
            }
            None => match left.first {
                Term { kind: TermKind::Place(p), shift: None, inverted: false, negated: false, .. }
                    if p.brackets.is_empty() && left.rest.is_empty() =>
                {
                    Ok(Bool::Name(p.name))
                }
                _ => Err(self.expected("a comparison: ==, !=, <, <=, > or >=")),
            },
        }
    }

    fn relation(&self) -> Option<Relation> {
        let Token::Mark(mark) = self.token() else { return None };
        Some(match *mark {
            "==" => Relation::Eq,
            "!=" => Relation::Ne,
            "<" => Relation::Lt,
            "<=" => Relation::Le,
            ">" => Relation::Gt,
            ">=" => Relation::Ge,
            _ => return None,
        })
    }

    /// One comparison.
    pub(super) fn comparison(&mut self) -> Read<Compare> {
        let start = self.span();
        match self.condition()? {
            Bool::Compare(compare) => Ok(*compare),
            _ => Err(place(self.since(start), "a condition", "one comparison")),
        }
    }
}
