//! What stands inside of parsers, controls and tables.

use super::Parser;
use crate::error::{Problem, Read};
use crate::front::source::Mark;
use crate::front::syntax::ast::{
    ActionRef, Annotation, BlockKind, Body, Declaration, DeclarationKind, Entry, ExprKind, KeyElement, Property,
    PropertyValue, SelectCase, State, Statement, Transition,
};

/// One thing in the braces of a parser or control.
enum Part {
    Local(Declaration),
    State(State),
    Apply(Vec<Statement>),
}

/// What is wrong with a declaration behind a state.
fn late() -> Problem {
    let (found, expected) = ("a declaration behind a state", "all of them before the first state");
    Problem::Expected { found: found.to_string(), expected: expected.to_string() }
}

impl Parser<'_> {
    /// The body of a parser or control.
    pub(super) fn body(&mut self, kind: BlockKind) -> Read<Body> {
        let depth = self.scopes.depth();
        let (mut applied, mut stated) = (false, false);
        let parts = self.braced(|p| {
            while p.scopes.depth() > depth {
                p.scopes.pop();
            }
            if applied {
                return p.expected("`}` behind `apply {...}`");
            }
            let begin = p.span();
            let part = if kind == BlockKind::Parser { p.parser_part() } else { p.control_part() }?;
            applied |= matches!(part, Part::Apply(_));
            stated |= matches!(part, Part::State(_));
            match part {
                Part::Local(_) if stated => Err((begin, late())),
                part => Ok(part),
            }
        })?;
        let end = self.last();
        let mut body = Body { locals: Vec::new(), states: Vec::new(), apply: Vec::new(), end };
        for part in parts {
            match part {
                Part::Local(local) => body.locals.push(local),
                Part::State(state) => body.states.push(state),
                Part::Apply(apply) => body.apply = apply,
            }
        }
        if kind == BlockKind::Control && !applied && self.notes.is_empty() {
            self.at -= 1;
            return self.expected("`apply {...}`");
        }
        Ok(body)
    }

    fn parser_part(&mut self) -> Read<Part> {
        let annotations = self.annotations()?;
        let begin = self.span();
        match self.word_ahead(0).map(|(text, _)| &**text) {
            Some("state") if self.word_ahead(1).is_some() && self.ahead(2).is(Mark::LeftBrace) => {
                self.at += 1;
                self.state(annotations).map(Part::State)
            }
            Some("const") => Ok(Part::Local(Declaration { annotations, ..self.constant()? })),
            Some("value_set") => {
                let kind = self.value_set()?;
                Ok(Part::Local(Declaration { annotations, kind, span: begin.to(self.last()) }))
            }
            Some("action" | "table" | "apply") => self.expected("a state, a variable or an instance"),
            _ => self.local(annotations).map(Part::Local),
        }
    }

    fn control_part(&mut self) -> Read<Part> {
        let annotations = self.annotations()?;
        let begin = self.span();
        let kind = match self.word_ahead(0).map(|(text, _)| &**text) {
            Some("apply") if self.ahead(1).is(Mark::LeftBrace) || self.ahead(1).is(Mark::At) => {
                self.at += 1;
                return self.block().map(Part::Apply);
            }
            Some("const") => return Ok(Part::Local(Declaration { annotations, ..self.constant()? })),
            Some("action") => self.action()?,
            Some("table") => self.table()?,
            Some("value_set") => {
                return self
                    .expected("`apply`, an action, a table, a variable or an instance: value sets are of parsers");
            }
            _ => return self.local(annotations).map(Part::Local),
        };
        Ok(Part::Local(Declaration { annotations, kind, span: begin.to(self.last()) }))
    }

    fn state(&mut self, annotations: Vec<Annotation>) -> Read<State> {
        let name = self.name("the name of a state")?;
        self.scopes.push();
        let depth = self.scopes.depth();
        let mut transition = None;
        let statements = self.braced(|p| {
            while p.scopes.depth() > depth {
                p.scopes.pop();
            }
            if transition.is_some() {
                return p.expected("`}` behind the transition");
            }
            if p.take_word("transition") {
                transition = Some(p.transition()?);
                return Ok(None);
            }
            p.statement().map(Some)
        });
        while self.scopes.depth() >= depth {
            self.scopes.pop();
        }
        let statements = statements?.into_iter().flatten().collect();
        Ok(State { annotations, name, statements, transition })
    }

    fn transition(&mut self) -> Read<Transition> {
        let begin = self.span();
        if !self.take_word("select") {
            let state = self.name("a state or `select`")?;
            self.expect(Mark::Semicolon)?;
            return Ok(Transition::Direct(state));
        }
        self.expect(Mark::LeftParen)?;
        let keys = self.list(Mark::RightParen, Self::expression)?;
        let span = begin.to(self.last());
        let cases = self.braced(|p| {
            let values = p.key_values()?;
            p.expect(Mark::Colon)?;
            let state = p.name("a state")?;
            p.expect(Mark::Semicolon)?;
            Ok(SelectCase { values, state })
        })?;
        self.take(Mark::Semicolon);
        Ok(Transition::Select { keys, cases, span })
    }

    fn table(&mut self) -> Read<DeclarationKind> {
        self.at += 1;
        let name = self.name("the name of a table")?;
        self.scopes.declare(&name.text, false);
        let properties = self.braced(Self::property)?;
        Ok(DeclarationKind::Table { name, properties })
    }

    fn property(&mut self) -> Read<Property> {
        let annotations = self.annotations()?;
        let constant = self.take_word("const");
        let name = self.name("a property, such as `key` or `actions`")?;
        self.expect(Mark::Equals)?;
        let value = match &*name.text {
            "key" => PropertyValue::Key(self.braced(Self::key_element)?),
            "actions" => PropertyValue::Actions(self.braced(|p| {
                let action = p.action_ref()?;
                p.expect(Mark::Semicolon)?;
                Ok(action)
            })?),
            "entries" => PropertyValue::Entries(self.braced(Self::entry)?),
            _ => {
                let value = PropertyValue::Value(self.expression()?);
                self.expect(Mark::Semicolon)?;
                value
            }
        };
        Ok(Property { annotations, constant, name, value })
    }

    fn key_element(&mut self) -> Read<KeyElement> {
        let value = self.expression()?;
        self.expect(Mark::Colon)?;
        let kind = self.name("a match kind")?;
        let annotations = self.annotations()?;
        self.expect(Mark::Semicolon)?;
        Ok(KeyElement { value, kind, annotations })
    }

    /// An action with arguments or without.
    fn action_ref(&mut self) -> Read<ActionRef> {
        let annotations = self.annotations()?;
        let value = self.postfix()?;
        let plain = match &value.kind {
            ExprKind::Name { .. } => true,
            ExprKind::Call(callee, types, _) => matches!(callee.kind, ExprKind::Name { .. }) && types.is_empty(),
            _ => false,
        };
        if !plain {
            self.at -= 1;
            return self.expected("an action, with arguments or without");
        }
        Ok(ActionRef { annotations, value })
    }

    fn entry(&mut self) -> Read<Entry> {
        let begin = self.span();
        let constant = self.take_word("const");
        let mut priority = None;
        let named = matches!(self.word_ahead(0), Some((text, _)) if &**text == "priority");
        if named && self.ahead(1).is(Mark::Equals) {
            self.at += 2;
            priority = Some(self.expression()?);
            self.expect(Mark::Colon)?;
        }
        let values = self.key_values()?;
        self.expect(Mark::Colon)?;
        let mut action = self.action_ref()?;
        action.annotations.append(&mut self.annotations()?);
        self.expect(Mark::Semicolon)?;
        Ok(Entry { constant, priority, values, action, span: begin.to(self.last()) })
    }
}
