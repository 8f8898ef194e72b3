//! Statements.

use super::constants::fold;
use super::{Binding, Lowered, Lowerer};
use crate::front::check::{Kind, Type};
use crate::front::interpret::code::{Case, Ex, Place, St};
use crate::front::interpret::value::Value;
use crate::front::syntax::ast::{
    Binary, Declaration, DeclarationKind, Expr, ExprKind, ForOver, Name, Statement, StatementKind, SwitchCase,
};

impl<'p> Lowerer<'p> {
    pub(super) fn statements(&mut self, all: &'p [Statement]) -> Lowered<Vec<St>> {
        let mut out = Vec::with_capacity(all.len());
        for statement in all {
            self.statement(statement, &mut out)?;
        }
        Ok(out)
    }

    fn statement(&mut self, statement: &'p Statement, out: &mut Vec<St>) -> Lowered<()> {
        if self.traced && !matches!(statement.kind, StatementKind::Empty | StatementKind::Block(..)) {
            out.push(St::Here(statement.span));
        }
        let one = |lowerer: &mut Self, statement: &'p Statement| lowerer.statements(std::slice::from_ref(statement));
        out.push(match &statement.kind {
            StatementKind::Empty => return Ok(()),
            StatementKind::Assign(left, operator, right) => self.assign(left, *operator, right, statement)?,
            StatementKind::Call(call) => St::Evaluate(self.value(call, None)?),
            StatementKind::If(condition, yes, no) => {
                let no = match no {
                    Some(no) => one(self, no)?,
                    None => Vec::new(),
                };
                St::If(self.value(condition, None)?, one(self, yes)?, no)
            }
            StatementKind::Block(annotations, all) => {
                let all = self.statements(all)?;
                if annotations.iter().any(|a| &*a.name.text == "program") { St::Program(all) } else { St::Block(all) }
            }
            StatementKind::Return(value) => St::Return(match value {
                Some(value) => {
                    let result = self.results.last().cloned();
                    Some(self.value(value, result.as_ref())?)
                }
                None => None,
            }),
            StatementKind::Exit => St::Exit,
            StatementKind::Break => St::Break,
            StatementKind::Continue => St::Continue,
            StatementKind::Switch(value, cases) => self.switch(value, cases)?,
            StatementKind::For { init, condition, update, body } => St::For {
                init: self.statements(init)?,
                condition: self.value(condition, None)?,
                update: self.statements(update)?,
                body: one(self, body)?,
            },
            StatementKind::ForIn { variable, over, body, .. } => self.for_in(variable, over, body)?,
            StatementKind::Declaration(declaration) => return self.variable(declaration, out),
        });
        let written = match &statement.kind {
            StatementKind::Assign(left, ..) => Some(left),
            StatementKind::Call(Expr { kind: ExprKind::Call(callee, _, arguments), .. }) => match &callee.kind {
                ExprKind::Member(_, member) if &*member.text == "extract" => arguments.first().map(|a| &a.value),
                _ => None,
            },
            _ => None,
        };
        if let Some(written) = written.filter(|_| self.traced)
            && let Some(place) = self.place(written)?
            && place.fixed.is_some()
        {
            out.push(St::Show(written.at.span, place));
        }
        Ok(())
    }

    fn assign(
        &mut self,
        left: &'p Expr,
        operator: Option<Binary>,
        right: &'p Expr,
        statement: &'p Statement,
    ) -> Lowered<St> {
        let ty = self.type_of(left);
        let target = self.target(left)?;
        let Some(operator) = operator else { return Ok(St::Assign(target, self.value(right, Some(&ty))?)) };
        let shift = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight);
        let (slot, shape) = (self.slot(), self.shape(&ty));
        let old = Ex::Read(Place { slot, steps: Vec::new(), fixed: Some(Box::default()), shape });
        let both = (old, self.value(right, if shift { None } else { Some(&ty) })?);
        let number = self.number(&ty);
        let computed = match operator {
            Binary::Concat => {
                let low = self.number(&self.type_of(right)).width;
                Ex::Concat(low, number.width, Box::new(both))
            }
            _ => Ex::Binary(operator, number, statement.span, Box::new(both)),
        };
        Ok(St::Update(target, slot, fold(computed)))
    }

    /// A variable or constant among statements, or among the declarations of a block.
    pub(super) fn variable(&mut self, declaration: &'p Declaration, out: &mut Vec<St>) -> Lowered<()> {
        match &declaration.kind {
            DeclarationKind::Variable { name, value, .. } => {
                let id = self.declared(name)?;
                let Kind::Variable { ty, .. } = &self.facts.definition(id).kind else { return Ok(()) };
                let ty = self.put(ty);
                let (shape, slot) = (self.shape(&ty), self.slot());
                out.push(match value {
                    Some(value) => St::Set(slot, self.value(value, Some(&ty))?, shape.clone()),
                    None => St::Fresh(slot, shape.clone()),
                });
                self.bind(id, Binding::Slot(slot, shape));
            }
            DeclarationKind::Constant { name, value, .. } => self.constant(name, value)?,
            _ => {}
        }
        Ok(())
    }

    fn for_in(&mut self, variable: &Name, over: &'p ForOver, body: &'p Statement) -> Lowered<St> {
        let id = self.declared(variable)?;
        let Kind::Variable { ty, .. } = &self.facts.definition(id).kind else {
            return self.refuse(variable.span, "a loop over this variable");
        };
        let ty = self.put(ty);
        let shape = self.shape(&ty);
        let over = match over {
            ForOver::Range(low, high) => Ok((self.value(low, Some(&ty))?, self.value(high, Some(&ty))?)),
            ForOver::List(list) => Err(self.value(list, None)?),
        };
        let slot = self.slot();
        self.bind(id, Binding::Slot(slot, shape));
        let body = self.statements(std::slice::from_ref(body))?;
        Ok(match over {
            Ok(ends) => St::ForRange { slot, number: self.number(&ty), ends: Box::new(ends), body },
            Err(list) => St::ForEach { slot, list, body },
        })
    }

    fn switch(&mut self, value: &'p Expr, cases: &'p [SwitchCase]) -> Lowered<St> {
        let ty = self.type_of(value);
        let mut all: Vec<Case> = Vec::new();
        let mut case = Case { labels: Vec::new(), is_default: false, body: Vec::new() };
        for written in cases {
            match (&written.label.kind, &ty) {
                (ExprKind::Default, _) => case.is_default = true,
                (ExprKind::Name { name, .. }, Type::ActionRun(table)) => {
                    let Some(Binding::Table(at)) = self.binding(*table) else { continue };
                    let actions = &self.code.tables[*at].actions;
                    if let Some(at) = actions.iter().position(|action| action.word == name.text) {
                        case.labels.push(Value::Bits(at as u128));
                    }
                }
                _ => match self.value(&written.label, Some(&ty))? {
                    Ex::Constant(value) => case.labels.push(value),
                    _ => return self.refuse(written.label.at.span, "a label that is not constant"),
                },
            }
            if let Some(body) = &written.body {
                case.body = self.statements(std::slice::from_ref(body))?;
                all.push(case);
                case = Case { labels: Vec::new(), is_default: false, body: Vec::new() };
            }
        }
        let wanted = if ty == Type::Int { None } else { Some(&ty) };
        Ok(St::Switch(self.value(value, wanted)?, all))
    }
}
