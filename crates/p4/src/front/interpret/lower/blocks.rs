//! Bodies of parsers and controls.

use super::{Binding, Lowered, Lowerer};
use crate::front::interpret::code::{Action, Control, Next, Parser, Set, St, State, Transition};
use crate::front::syntax::ast::{self, Block, Declaration, DeclarationKind, Name, given_name};

impl<'p> Lowerer<'p> {
    pub(super) fn control(&mut self, block: &'p Block) -> Lowered<usize> {
        let parameters = self.parameters(&block.parameters)?;
        let Some(body) = &block.body else { return self.refuse(block.name.span, "a control without a body") };
        let locals = self.locals(&body.locals)?;
        let body = self.statements(&body.apply)?;
        self.code.controls.push(Control { parameters, locals, body });
        Ok(self.code.controls.len() - 1)
    }

    pub(super) fn parser(&mut self, block: &'p Block) -> Lowered<usize> {
        let parameters = self.parameters(&block.parameters)?;
        let Some(body) = &block.body else { return self.refuse(block.name.span, "a parser without a body") };
        let locals = self.locals(&body.locals)?;
        let next = |name: &Name| match &*name.text {
            "accept" => Next::Accept,
            word => match body.states.iter().position(|state| &*state.name.text == word) {
                Some(at) => Next::State(at),
                None => Next::Reject,
            },
        };
        let mut states = Vec::with_capacity(body.states.len());
        for state in &body.states {
            let statements = self.statements(&state.statements)?;
            let transition = match &state.transition {
                None => Transition::Direct(Next::Reject),
                Some(ast::Transition::Direct(name)) => Transition::Direct(next(name)),
                Some(ast::Transition::Select { keys, cases, .. }) => {
                    let (keys, types) = self.keys(keys)?;
                    let mut all = Vec::with_capacity(cases.len());
                    for case in cases {
                        let sets = self.sets(&case.values, &types)?;
                        if !sets.iter().any(Set::is_empty) {
                            all.push((sets, next(&case.state)));
                        }
                    }
                    Transition::Select(keys, all)
                }
            };
            let span = match &state.transition {
                None => state.name.span,
                Some(ast::Transition::Direct(name)) => name.span,
                Some(ast::Transition::Select { keys, span, .. }) => keys.first().map_or(*span, |key| key.at.span),
            };
            states.push(State { body: statements, span, transition });
        }
        let start = body.states.iter().position(|state| &*state.name.text == "start");
        let start = start.map_or(Next::Reject, Next::State);
        self.code.parsers.push(Parser { parameters, locals, states, start });
        Ok(self.code.parsers.len() - 1)
    }

    fn locals(&mut self, all: &'p [Declaration]) -> Lowered<Vec<St>> {
        let mut out = Vec::new();
        for declaration in all {
            out.extend(self.local(declaration)?);
        }
        Ok(out)
    }

    /// A declaration of a block, and what it does each time when the block runs.
    pub(super) fn local(&mut self, declaration: &'p Declaration) -> Lowered<Vec<St>> {
        let mut out = Vec::new();
        match &declaration.kind {
            DeclarationKind::Instance(instance) => self.instance(instance, &declaration.annotations)?,
            DeclarationKind::Action { name, parameters, body } => {
                let id = self.declared(name)?;
                let full = self.path(given_name(&declaration.annotations).unwrap_or(&name.text));
                self.tell_action(name, parameters, &declaration.annotations)?;
                let parameters = self.parameters(parameters)?;
                let body = self.statements(body)?;
                self.code.actions.push(Action { name: full, parameters, body });
                self.bind(id, Binding::Action(self.code.actions.len() - 1));
            }
            DeclarationKind::Table { name, properties } => {
                self.table(name, properties, &declaration.annotations)?;
            }
            DeclarationKind::ValueSet { name, size, .. } => {
                let id = self.declared(name)?;
                self.tell_value_set(id, name, size, &declaration.annotations)?;
                let full = self.path(given_name(&declaration.annotations).unwrap_or(&name.text));
                self.code.value_sets.push(full);
                self.bind(id, Binding::ValueSet(self.code.value_sets.len() - 1));
            }
            _ => self.variable(declaration, &mut out)?,
        }
        Ok(out)
    }
}
