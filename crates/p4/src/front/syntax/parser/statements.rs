//! Statements of actions, functions, controls and parser states.

use super::Parser;
use crate::error::Read;
use crate::front::source::{Kind, Mark};
use crate::front::syntax::ast::{
    Binary, Declaration, DeclarationKind, ExprKind, ForOver, Statement, StatementKind, SwitchCase,
};

/// Marks that assign the result of an operator.
const COMPOUND: &[(Mark, Binary)] = &[
    (Mark::AddSet, Binary::Add),
    (Mark::SubSet, Binary::Subtract),
    (Mark::MulSet, Binary::Multiply),
    (Mark::DivSet, Binary::Divide),
    (Mark::ModSet, Binary::Modulo),
    (Mark::AndSet, Binary::BitAnd),
    (Mark::OrSet, Binary::BitOr),
    (Mark::XorSet, Binary::BitXor),
    (Mark::ShlSet, Binary::ShiftLeft),
    (Mark::SatAddSet, Binary::SaturatingAdd),
    (Mark::SatSubSet, Binary::SaturatingSubtract),
];

impl Parser<'_> {
    /// Statements in braces, with a scope of their own. Annotations may stand before them: then they are those of one block.
    pub(super) fn block(&mut self) -> Read<Vec<Statement>> {
        let begin = self.span();
        let annotations = self.annotations()?;
        let all = self.braces_of_statements()?;
        if annotations.is_empty() {
            return Ok(all);
        }
        Ok(vec![Statement { kind: StatementKind::Block(annotations, all), span: begin.to(self.last()) }])
    }

    fn braces_of_statements(&mut self) -> Read<Vec<Statement>> {
        self.deeper(|p| {
            p.scopes.push();
            let depth = p.scopes.depth();
            let all = p.braced(|p| {
                while p.scopes.depth() > depth {
                    p.scopes.pop();
                }
                p.statement()
            });
            while p.scopes.depth() >= depth {
                p.scopes.pop();
            }
            all
        })
    }

    pub(super) fn statement(&mut self) -> Read<Statement> {
        self.deeper(|p| {
            let begin = p.span();
            let kind = p.statement_kind()?;
            Ok(Statement { kind, span: begin.to(p.last()) })
        })
    }

    fn statement_kind(&mut self) -> Read<StatementKind> {
        if self.is(Mark::At) {
            let annotations = self.annotations()?;
            if self.is(Mark::LeftBrace) {
                return Ok(StatementKind::Block(annotations, self.block()?));
            }
            let mut statement = self.statement_kind()?;
            if let StatementKind::Declaration(declaration) = &mut statement {
                declaration.annotations = annotations;
            }
            return Ok(statement);
        }
        if self.is(Mark::LeftBrace) {
            return Ok(StatementKind::Block(Vec::new(), self.block()?));
        }
        if self.take(Mark::Semicolon) {
            return Ok(StatementKind::Empty);
        }
        let text = self.word_ahead(0).filter(|(_, reserved)| *reserved).map(|(text, _)| text.clone());
        match text.as_deref() {
            Some("if") => self.conditional(),
            Some("return") => {
                self.at += 1;
                let value = if self.is(Mark::Semicolon) { None } else { Some(self.expression()?) };
                self.expect(Mark::Semicolon)?;
                Ok(StatementKind::Return(value))
            }
            Some("exit") => self.one_word(StatementKind::Exit),
            Some("break") => self.one_word(StatementKind::Break),
            Some("continue") => self.one_word(StatementKind::Continue),
            Some("switch") => self.switch(),
            Some("for") => {
                self.scopes.push();
                let result = self.for_loop();
                self.scopes.pop();
                result
            }
            Some("const") => {
                let declaration = self.constant()?;
                Ok(StatementKind::Declaration(Box::new(declaration)))
            }
            _ if self.at_declaration() => {
                let declaration = self.variable()?;
                Ok(StatementKind::Declaration(Box::new(declaration)))
            }
            _ => {
                let kind = self.assignment_or_call()?;
                if let (StatementKind::Call(_), Some((_, false))) = (&kind, self.word_ahead(0)) {
                    return self.expected("`;`: an instance is declared before the statements");
                }
                self.expect(Mark::Semicolon)?;
                Ok(kind)
            }
        }
    }

    fn one_word(&mut self, kind: StatementKind) -> Read<StatementKind> {
        self.at += 1;
        self.expect(Mark::Semicolon)?;
        Ok(kind)
    }

    /// Whether a variable is declared here: a type and then a name.
    pub(super) fn at_declaration(&mut self) -> bool {
        let at = self.at + usize::from(self.is(Mark::Dot));
        let by = at - self.at;
        let Some((_, reserved)) = self.word_ahead(by) else { return false };
        if reserved || self.ahead(by + 1).is(Mark::Less) || self.ahead(by + 1).is(Mark::LeftBracket) {
            if reserved && !self.begins_type(by) {
                return false;
            }
            if !reserved && self.ahead(by + 1).is(Mark::LeftBracket) && !self.begins_type(by) {
                return false;
            }
            // What is only looked at takes no numbers of expressions.
            let start = (self.at, self.ids);
            let found = self.attempt(|p| p.ty()).is_some() && self.word_ahead(0).is_some_and(|(_, r)| !r);
            (self.at, self.ids) = start;
            return found || (reserved && self.begins_type(by));
        }
        self.word_ahead(by + 1).is_some_and(|(_, reserved)| !reserved)
    }

    fn assignment_or_call(&mut self) -> Read<StatementKind> {
        if self.is(Mark::Concat) {
            return self.expected("a statement; `++` joins two values; to count up, write `i = i + 1` or `i += 1`");
        }
        let left = self.postfix()?;
        if self.take(Mark::Equals) {
            return Ok(StatementKind::Assign(left, None, self.expression()?));
        }
        if self.is(Mark::Greater) && self.touching(Mark::Ge) {
            self.at += 2;
            return Ok(StatementKind::Assign(left, Some(Binary::ShiftRight), self.expression()?));
        }
        if let Some((_, operator)) = COMPOUND.iter().find(|(mark, _)| self.is(*mark)) {
            self.at += 1;
            return Ok(StatementKind::Assign(left, Some(*operator), self.expression()?));
        }
        match left.kind {
            ExprKind::Call(..) => Ok(StatementKind::Call(left)),
            _ if self.is(Mark::ConcatSet) => {
                self.expected("`=` or a call; `++` makes a value longer, so there is no `++=`")
            }
            _ => match self.counting() {
                Some(hint) => self.expected(format!("`=` or a call; {hint}")),
                None => self.expected("`=` or a call"),
            },
        }
    }

    /// What to write in place of `i++` and `i--`, if one of them ends here.
    fn counting(&self) -> Option<&'static str> {
        let ends = |by: usize| [Mark::Semicolon, Mark::RightParen, Mark::Comma].iter().any(|m| self.ahead(by).is(*m));
        match self.word().kind {
            Kind::Mark(Mark::Concat) if ends(1) => {
                Some("`++` joins two values; to count up, write `i = i + 1` or `i += 1`")
            }
            Kind::Mark(Mark::Minus) if self.ahead(1).is(Mark::Minus) && ends(2) => {
                Some("there is no `--`; to count down, write `i = i - 1` or `i -= 1`")
            }
            _ => None,
        }
    }

    fn conditional(&mut self) -> Read<StatementKind> {
        self.at += 1;
        self.expect(Mark::LeftParen)?;
        let condition = self.expression()?;
        if self.is(Mark::Equals) {
            return self.expected("`)`; `==` compares, and `=` assigns, which is a statement of its own");
        }
        self.expect(Mark::RightParen)?;
        let yes = Box::new(self.branch()?);
        let no = if self.take_word("else") { Some(Box::new(self.branch()?)) } else { None };
        Ok(StatementKind::If(condition, yes, no))
    }

    /// A statement that is no declaration.
    fn branch(&mut self) -> Read<Statement> {
        if self.is_word("const") || self.at_declaration() {
            return self.expected("a statement; a declaration stands in braces");
        }
        self.statement()
    }

    fn switch(&mut self) -> Read<StatementKind> {
        self.at += 1;
        self.expect(Mark::LeftParen)?;
        let value = self.expression()?;
        self.expect(Mark::RightParen)?;
        let cases = self.braced(|p| {
            let begin = p.span();
            let label = match p.take_word("default") {
                true => p.node(ExprKind::Default, begin, &[])?,
                false => p.expression()?,
            };
            p.expect(Mark::Colon)?;
            let at = p.span();
            let body = match p.word().kind {
                Kind::Mark(Mark::LeftBrace) => {
                    let kind = StatementKind::Block(Vec::new(), p.block()?);
                    Some(Statement { kind, span: at.to(p.last()) })
                }
                Kind::Mark(Mark::At) => Some(p.statement()?),
                _ => None,
            };
            Ok(SwitchCase { label, body })
        })?;
        Ok(StatementKind::Switch(value, cases))
    }

    /// `for (init; condition; update)` or `for (T x in over)`.
    fn for_loop(&mut self) -> Read<StatementKind> {
        self.at += 1;
        self.expect(Mark::LeftParen)?;
        let over = self.attempt(|p| {
            p.annotations()?;
            let declared = p.ty()?;
            let variable = p.name("a variable")?;
            p.expect_word("in")?;
            Ok((declared, variable))
        });
        if let Some((declared, variable)) = over {
            self.scopes.declare(&variable.text, false);
            let first = self.expression()?;
            let over = match self.take(Mark::Range) {
                true => ForOver::Range(first, self.expression()?),
                false => ForOver::List(first),
            };
            self.expect(Mark::RightParen)?;
            let body = Box::new(self.branch()?);
            return Ok(StatementKind::ForIn { declared, variable, over, body });
        }
        let init = self.simple_statements(Mark::Semicolon, true)?;
        let condition = self.expression()?;
        self.expect(Mark::Semicolon)?;
        let update = self.simple_statements(Mark::RightParen, false)?;
        let body = Box::new(self.branch()?);
        Ok(StatementKind::For { init, condition, update, body })
    }

    /// Assignments, calls and, where allowed, declarations with commas between them.
    fn simple_statements(&mut self, close: Mark, declarations: bool) -> Read<Vec<Statement>> {
        self.list(close, |p| {
            let begin = p.span();
            let annotations = p.annotations()?;
            let kind = if declarations && p.at_declaration() {
                let mut declaration = p.variable_without_end()?;
                declaration.annotations = annotations;
                StatementKind::Declaration(Box::new(declaration))
            } else {
                p.assignment_or_call()?
            };
            Ok(Statement { kind, span: begin.to(p.last()) })
        })
    }

    /// `const T x = v;`
    pub(super) fn constant(&mut self) -> Read<Declaration> {
        let begin = self.span();
        self.expect_word("const")?;
        let ty = self.ty()?;
        let name = self.name("the name of a constant")?;
        self.expect(Mark::Equals)?;
        let value = self.expression()?;
        self.expect(Mark::Semicolon)?;
        self.scopes.declare(&name.text, false);
        let kind = DeclarationKind::Constant { ty, name, value };
        Ok(Declaration { annotations: Vec::new(), kind, span: begin.to(self.last()) })
    }

    /// `T x;` or `T x = v;`
    pub(super) fn variable(&mut self) -> Read<Declaration> {
        let declaration = self.variable_without_end()?;
        self.expect(Mark::Semicolon)?;
        Ok(declaration)
    }

    fn variable_without_end(&mut self) -> Read<Declaration> {
        let begin = self.span();
        let ty = self.ty()?;
        let name = self.name("the name of a variable")?;
        let ty = self.sized(ty)?;
        let value = if self.take(Mark::Equals) { Some(self.expression()?) } else { None };
        self.scopes.declare(&name.text, false);
        let kind = DeclarationKind::Variable { ty, name, value };
        Ok(Declaration { annotations: Vec::new(), kind, span: begin.to(self.last()) })
    }
}
