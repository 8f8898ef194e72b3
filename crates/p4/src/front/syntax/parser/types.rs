//! Types where they are written.

use super::Parser;
use crate::error::{Problem, Read};
use crate::front::source::{Kind, Mark};
use crate::front::syntax::ast::{Expr, Name, TypeExpr, TypeKind};

impl Parser<'_> {
    /// Whether a word can only begin a type.
    pub(super) fn begins_type(&self, by: usize) -> bool {
        let Some((text, reserved)) = self.word_ahead(by) else { return false };
        match &**text {
            "error" | "match_kind" => !self.ahead(by + 1).is(Mark::Dot),
            "bool" | "bit" | "int" | "varbit" | "string" | "tuple" | "void" => true,
            "list" => self.ahead(by + 1).is(Mark::Less) && !self.scopes.is_type("list"),
            _ => !reserved && self.scopes.is_type(text),
        }
    }

    pub(super) fn ty(&mut self) -> Read<TypeExpr> {
        self.deeper(|p| {
            let begin = p.span();
            let kind = p.type_kind()?;
            let mut ty = TypeExpr { kind, span: begin.to(p.last()) };
            let mut stacks = 0;
            while p.is(Mark::LeftBracket) {
                stacks += 1;
                if p.depth + stacks > super::DEEPEST {
                    return Err(p.too_deep());
                }
                p.at += 1;
                let size = p.expression()?;
                p.expect(Mark::RightBracket)?;
                ty = TypeExpr { kind: TypeKind::Stack(Box::new(ty), Box::new(size)), span: begin.to(p.last()) };
            }
            Ok(ty)
        })
    }

    fn type_kind(&mut self) -> Read<TypeKind> {
        let global = self.take(Mark::Dot);
        let Some((text, reserved)) = self.word_ahead(0) else { return self.expected("a type") };
        let text = text.clone();
        if global || (!reserved && (&*text != "list" || !self.ahead(1).is(Mark::Less))) {
            let name = self.name("the name of a type")?;
            let arguments = if self.take(Mark::Less) { self.type_arguments()? } else { Vec::new() };
            return Ok(TypeKind::Named { global, name, arguments });
        }
        let word = self.span();
        self.at += 1;
        Ok(match &*text {
            "bool" => TypeKind::Bool,
            "error" => TypeKind::Error,
            "match_kind" => TypeKind::MatchKind,
            "string" => TypeKind::String,
            "void" => TypeKind::Void,
            "_" => TypeKind::Any,
            "bit" if !self.is(Mark::Less) => TypeKind::Bit(None),
            "int" if !self.is(Mark::Less) => TypeKind::Integer,
            "bit" => TypeKind::Bit(Some(Box::new(self.width()?))),
            "int" => TypeKind::Int(Box::new(self.width()?)),
            "varbit" => TypeKind::Varbit(Box::new(self.width()?)),
            "tuple" => {
                self.expect(Mark::Less)?;
                TypeKind::Tuple(self.type_arguments()?)
            }
            "list" => {
                self.expect(Mark::Less)?;
                let element = self.ty()?;
                self.expect(Mark::Greater)?;
                TypeKind::List(Box::new(element))
            }
            _ => {
                self.at -= 1;
                return Err((word, Problem::Expected { found: self.word().describe(), expected: "a type".into() }));
            }
        })
    }

    /// Types up to `>`, which is taken.
    pub(super) fn type_arguments(&mut self) -> Read<Vec<TypeExpr>> {
        let mut all = Vec::new();
        while !self.take(Mark::Greater) {
            if !all.is_empty() && !self.take(Mark::Comma) {
                return self.expected("`,` or `>`");
            }
            all.push(self.ty()?);
        }
        Ok(all)
    }

    /// `<8>`, `<2 + 2>` or `<(expression)>`: without parentheses only what binds tighter than `>`.
    fn width(&mut self) -> Read<Expr> {
        self.expect(Mark::Less)?;
        if !matches!(self.word().kind, Kind::Number(_) | Kind::Mark(Mark::LeftParen | Mark::Dot) | Kind::Word { .. }) {
            return self.expected("a number, or an expression in parentheses");
        }
        let width = self.deeper(Self::width_value)?;
        self.expect(Mark::Greater)?;
        Ok(width)
    }

    /// The sizes in brackets behind a name, as in `bit<8> a[16]`: an array of what stands before the name.
    pub(super) fn sized(&mut self, mut ty: TypeExpr) -> Read<TypeExpr> {
        let mut sizes = Vec::new();
        while self.is(Mark::LeftBracket) {
            if self.depth + sizes.len() >= super::DEEPEST {
                return Err(self.too_deep());
            }
            self.at += 1;
            sizes.push(self.expression()?);
            self.expect(Mark::RightBracket)?;
        }
        // The first size is that of the outermost array.
        while let Some(size) = sizes.pop() {
            let span = ty.span;
            ty = TypeExpr { kind: TypeKind::Stack(Box::new(ty), Box::new(size)), span };
        }
        Ok(ty)
    }

    /// `<T, U>` behind the name of what is declared, or nothing.
    pub(super) fn type_parameters(&mut self) -> Read<Vec<Name>> {
        if !self.take(Mark::Less) {
            return Ok(Vec::new());
        }
        let all = self.list(Mark::Greater, |p| p.name("the name of a type parameter"))?;
        all.iter().for_each(|name| self.scopes.declare(&name.text, true));
        Ok(all)
    }
}
