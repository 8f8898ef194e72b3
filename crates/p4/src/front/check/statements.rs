//! Statements.

use super::definitions::{Definition, Kind};
use super::types::Type;
use super::value::Value;
use super::{Checker, Place, Problem};
use crate::front::source::Span;
use crate::front::syntax::ast::{
    DeclarationKind, Expr, ExprKind, ForOver, Name, Statement, StatementKind, SwitchCase, TypeExpr,
};
use std::rc::Rc;

/// Whether every way through the statements leaves by `return` or `exit`.
pub(super) fn leaves(all: &[Statement]) -> bool {
    all.iter().any(|statement| match &statement.kind {
        StatementKind::Return(_) | StatementKind::Exit => true,
        StatementKind::Block(_, all) => leaves(all),
        StatementKind::If(_, yes, Some(no)) => leaves(std::slice::from_ref(yes)) && leaves(std::slice::from_ref(no)),
        StatementKind::Switch(_, cases) => {
            let has_default = cases.iter().any(|case| matches!(case.label.kind, ExprKind::Default));
            has_default
                && cases.iter().filter_map(|case| case.body.as_ref()).all(|body| leaves(std::slice::from_ref(body)))
        }
        _ => false,
    })
}

impl Checker<'_> {
    pub(super) fn statements(&mut self, all: &[Statement]) {
        for statement in all {
            if self.notes.full() {
                return;
            }
            self.statement(statement);
        }
    }

    pub(super) fn statement(&mut self, statement: &Statement) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Empty => {}
            StatementKind::Assign(left, operator, right) => {
                let ty = self.infer(left);
                self.place_written(left);
                if self.is_object(&ty) || matches!(ty, Type::Void | Type::Set(_)) {
                    return self.mismatch(left.at.span, "what is written", &ty, "a value");
                }
                match operator {
                    None => {
                        self.expect(right, &ty, "the value assigned");
                    }
                    Some(operator) => {
                        let by = self.infer(right);
                        let result = self.binary_types(*operator, (left, ty.clone()), (right, by), span);
                        if result != Type::Unknown && !self.fits(&result, &ty) {
                            let expected = self.show(&ty);
                            self.mismatch(span, "the value assigned", &result, expected);
                        }
                    }
                }
            }
            StatementKind::Call(call) => {
                self.infer(call);
            }
            StatementKind::If(condition, yes, no) => {
                self.expect(condition, &Type::Bool, "the condition");
                self.scoped(|c| c.statement(yes));
                if let Some(no) = no {
                    self.scoped(|c| c.statement(no));
                }
            }
            StatementKind::Block(annotations, all) => {
                self.annotations(annotations);
                self.scoped(|c| c.statements(all));
            }
            StatementKind::Return(value) => self.return_statement(value.as_ref(), span),
            StatementKind::Exit => {
                if matches!(self.place, Place::State | Place::Function | Place::Method) {
                    self.not_here("`exit`", span);
                }
            }
            StatementKind::Break | StatementKind::Continue => {
                if self.loops == 0 {
                    let what = format!("`{}`", self.sources.slice(span).trim_end_matches(';'));
                    self.note(span, Problem::Place { what, place: "outside of a loop".to_string() });
                }
            }
            StatementKind::Switch(value, cases) => {
                if matches!(self.place, Place::State | Place::Action) {
                    self.not_here("`switch`", span);
                }
                self.switch(value, cases);
            }
            StatementKind::For { .. } | StatementKind::ForIn { .. } if self.place == Place::State => {
                self.not_here("`for`", span)
            }
            StatementKind::For { init, condition, update, body } => self.scoped(|c| {
                c.statements(init);
                c.expect(condition, &Type::Bool, "the condition");
                c.statements(update);
                c.looped(body);
            }),
            StatementKind::ForIn { declared, variable, over, body } => self.scoped(|c| {
                c.for_in(declared, variable, over);
                c.looped(body);
            }),
            StatementKind::Declaration(declaration) => match declaration.kind {
                DeclarationKind::Constant { .. } | DeclarationKind::Variable { .. } => self.declaration(declaration),
                _ => self.not_here("this declaration", span),
            },
        }
    }

    fn looped(&mut self, body: &Statement) {
        self.loops += 1;
        self.scoped(|c| c.statement(body));
        self.loops -= 1;
    }

    fn not_here(&mut self, what: &str, span: Span) {
        let place = self.place.text().to_string();
        self.note(span, Problem::Place { what: what.to_string(), place });
    }

    fn return_statement(&mut self, value: Option<&Expr>, span: Span) {
        if self.place == Place::State {
            return self.not_here("`return`", span);
        }
        let result = self.result.clone().unwrap_or(Type::Void);
        let wrong = |checker: &mut Self, what: String| {
            checker.note(span, Problem::Return { function: "return".to_string(), what });
        };
        match (value, &result) {
            (None, Type::Void | Type::Unknown) => {}
            (None, _) => {
                let what = format!("no value, expected {}", self.show(&result));
                wrong(self, what);
            }
            (Some(_), Type::Void) => wrong(self, "a value, where nothing is returned".to_string()),
            (Some(value), _) => {
                self.expect(value, &result, "the value returned");
            }
        }
    }

    fn for_in(&mut self, declared: &TypeExpr, variable: &Name, over: &ForOver) {
        let element = match over {
            ForOver::Range(low, high) => {
                let (one, two) = (self.infer(low), self.infer(high));
                let (low_type, high_type) = (self.base(&one), self.base(&two));
                let number = |ty: &Type| matches!(ty, Type::Int | Type::Bit(_) | Type::Signed(_) | Type::Unknown);
                if !number(&low_type) || !number(&high_type) || (!self.fits(&one, &two) && !self.fits(&two, &one)) {
                    self.mismatch(high.at.span, "the end of a range", &two, "two numbers of one type");
                    Type::Unknown
                } else if low_type == Type::Int {
                    two
                } else {
                    one
                }
            }
            ForOver::List(list) => match self.infer(list) {
                Type::Stack(element, _) | Type::List(element) => Type::clone(&element),
                Type::Unknown => Type::Unknown,
                ty => {
                    self.mismatch(list.at.span, "what a loop goes over", &ty, "a stack, a list or a range");
                    Type::Unknown
                }
            },
        };
        let ty = self.value_type(declared, "the type of a variable");
        if !self.fits(&element, &ty) {
            let expected = self.show(&ty);
            self.mismatch(variable.span, "what the loop gives its variable", &element, expected);
        }
        let kind = Kind::Variable { ty, read_only: None, parameter: false };
        self.define(Definition { name: variable.text.clone(), span: variable.span, kind });
    }

    fn switch(&mut self, value: &Expr, cases: &[SwitchCase]) {
        let ty = self.infer(value);
        let allowed = match &ty {
            Type::ActionRun(_) | Type::Unknown => true,
            ty => {
                let of = self.renamed(ty).unwrap_or_else(|| ty.clone());
                let is_enum =
                    matches!(&of, Type::Named(id, _) if matches!(self.definition(*id).kind, Kind::Enum { .. }));
                is_enum || matches!(of, Type::Bit(_) | Type::Signed(_) | Type::Int | Type::Error | Type::Bool)
            }
        };
        if !allowed {
            self.mismatch(value.at.span, "what a switch goes by", &ty, "a number, an enum, an error or an action_run");
        }
        let mut seen: Vec<(Value, Span)> = Vec::new();
        let mut names: Vec<Rc<str>> = Vec::new();
        for (i, case) in cases.iter().enumerate() {
            let span = case.label.at.span;
            let wrong = |checker: &mut Self, what: &str| {
                checker.note(span, Problem::Label { what: what.to_string() });
            };
            match (&case.label.kind, &ty) {
                (ExprKind::Default, _) => {
                    if i + 1 < cases.len() {
                        wrong(self, "`default` is the last label");
                    }
                }
                (ExprKind::Name { name, .. }, Type::ActionRun(table)) => {
                    let Kind::Table(table) = &self.definition(*table).kind else { continue };
                    let known = table.actions.contains(&name.text);
                    let all: Vec<&str> = table.actions.iter().map(|action| &**action).collect();
                    if !known {
                        let what =
                            format!("`{}` is no action of the table; its actions are {}", name.text, all.join(", "));
                        wrong(self, &what);
                    } else if names.contains(&name.text) {
                        wrong(self, &format!("label `{}` stands twice", name.text));
                    }
                    names.push(name.text.clone());
                }
                (_, Type::ActionRun(_)) => wrong(self, "a label here is the name of an action"),
                (_, Type::Unknown) => {
                    self.infer(&case.label);
                }
                _ => {
                    if !self.expect(&case.label, &ty, "a label") || self.type_of(&case.label) == Type::Unknown {
                        continue;
                    }
                    let Some(label) = self.constant(&case.label) else {
                        let what = "a label".to_string();
                        self.note(span, Problem::Constant { what, why: "as labels of a switch are".to_string() });
                        continue;
                    };
                    let label = self.cast_value(label, &self.base(&ty));
                    if seen.iter().any(|(other, _)| *other == label && label != Value::Known) {
                        wrong(self, "this label stands twice");
                    }
                    seen.push((label, span));
                }
            }
        }
        for body in cases.iter().filter_map(|case| case.body.as_ref()) {
            self.scoped(|c| c.statement(body));
        }
    }
}
