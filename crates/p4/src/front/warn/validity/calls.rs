//! What calls do to headers: methods, actions, tables, and parsers and controls that are applied.

use super::{Follow, Ways};
use crate::front::check::{DefId, Kind, Type};
use crate::front::syntax::ast::{Argument, Direction, Expr, ExprKind, Parameter, TypeKind};
use crate::front::warn::main_package::{self, path};

impl<'p> Follow<'_, 'p> {
    pub(super) fn call(&mut self, callee: &'p Expr, arguments: &'p [Argument], ways: &mut Ways) {
        let facts = self.looked.facts;
        if let ExprKind::Member(owner, member) = &callee.kind {
            match (facts.types.get(owner.at.id as usize), &*member.text) {
                (Some(Type::Table(id)), "apply") => return self.table(*id, ways),
                (Some(Type::Named(id, _)), "apply") => return self.apply(*id, arguments, ways),
                (_, "extract") => {
                    if let Some((at, false)) = arguments.first().and_then(|argument| self.header(&argument.value)) {
                        *ways = ways.iter().map(|way| way | 1 << at).collect();
                    }
                    return;
                }
                (_, "setValid" | "setInvalid") => {
                    self.change(self.within(owner));
                    if let Some((at, false)) = self.header(owner) {
                        let valid = &*member.text == "setValid";
                        *ways = ways.iter().map(|way| if valid { way | 1 << at } else { way & !(1 << at) }).collect();
                    } else {
                        self.unknown |= self.within(owner);
                    }
                    return;
                }
                (_, "isValid" | "emit") => return,
                (_, method) if method.ends_with("SizeInBits") || method.ends_with("SizeInBytes") => return,
                (Some(Type::Named(id, _)), _) => {
                    let mut directions: Vec<Direction> = Vec::new();
                    if let Kind::Extern { methods, .. } = &facts.definition(*id).kind {
                        let named = methods.iter().filter(|m| m.name == member.text);
                        let found = named.into_iter().find(|m| m.parameters.len() == arguments.len());
                        directions.extend(found.iter().flat_map(|m| &m.parameters).map(|p| p.direction));
                    }
                    return self.arguments(&directions, arguments, ways);
                }
                _ => return,
            }
        }
        let Some(id) = facts.name(callee) else { return };
        match &facts.definition(id).kind {
            Kind::Action(signature) => {
                let directions: Vec<Direction> = signature.parameters.iter().map(|p| p.direction).collect();
                self.arguments(&directions, arguments, ways);
                self.action(id, ways);
            }
            Kind::Function(signature) => {
                let directions: Vec<Direction> = signature.parameters.iter().map(|p| p.direction).collect();
                self.arguments(&directions, arguments, ways);
                match &*signature.name {
                    "mark_to_drop" => self.dropped(true, ways),
                    // It ends before egress, whatever follows.
                    name if name.starts_with("resubmit") => self.may_drop = true,
                    "multicast" => self.dropped(false, ways),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// What is passed is read, or changed in a way that is not followed.
    fn arguments(&mut self, directions: &[Direction], arguments: &'p [Argument], ways: &mut Ways) {
        for (at, argument) in arguments.iter().enumerate() {
            match directions.get(at).copied().unwrap_or(Direction::In) {
                Direction::Out | Direction::InOut => {
                    self.sends(&argument.value, ways);
                    // A field that is written leaves the header as valid as it was.
                    if !matches!(self.header(&argument.value), Some((_, true))) {
                        self.unknown |= self.within(&argument.value);
                    }
                }
                Direction::In | Direction::None => self.read(&argument.value, ways),
            }
        }
    }

    /// A port that something else may set: whether the packet is dropped is not known any more.
    fn sends(&mut self, argument: &Expr, ways: &mut Ways) {
        if main_package::is_port(argument) {
            self.dropped(false, ways);
            self.may_drop = true;
        }
    }

    fn action(&mut self, id: DefId, ways: &mut Ways) {
        let Some(body) = self.actions.get(&id).copied() else { return };
        if self.deep >= 32 {
            self.too_many = true;
            return;
        }
        self.inside(ways, |follow, ways| follow.statements(body, ways));
    }

    fn table(&mut self, id: DefId, ways: &mut Ways) {
        let Some((keys, actions, has_default)) = self.tables.get(&id).cloned() else { return };
        let valid: Vec<usize> = keys.iter().filter_map(|key| self.tested(&key.value)).collect();
        for key in keys {
            let beside = self.header(&key.value).is_some_and(|(at, _)| valid.contains(&at));
            if !beside {
                self.read(&key.value, ways);
            }
        }
        let sure = std::mem::replace(&mut self.sure, false);
        let mut after = if has_default && !actions.is_empty() { Ways::new() } else { ways.clone() };
        for action in actions {
            let mut way = ways.clone();
            match &action.kind {
                ExprKind::Call(callee, _, arguments) => self.call(callee, arguments, &mut way),
                _ => {
                    if let Some(id) = self.looked.facts.name(action) {
                        self.action(id, &mut way);
                    }
                }
            }
            after.append(&mut way);
        }
        self.sure = sure;
        *ways = after;
    }

    /// The header whose validity an expression asks for.
    fn tested(&self, value: &Expr) -> Option<usize> {
        let ExprKind::Call(callee, _, _) = &value.kind else { return None };
        let ExprKind::Member(owner, member) = &callee.kind else { return None };
        let (at, part) = self.header(owner)?;
        (&*member.text == "isValid" && !part).then_some(at)
    }

    /// A parser or control that this one calls: its parameters stand for the arguments.
    fn apply(&mut self, id: DefId, arguments: &'p [Argument], ways: &mut Ways) {
        let block = self.looked.blocks().find(|block| self.looked.declared(&block.name) == Some(id));
        let Some(block) = block.filter(|_| self.deep < 32) else {
            self.unknown = u64::MAX;
            return;
        };
        for (at, argument) in arguments.iter().enumerate() {
            let parameter: Option<&Parameter> = match &argument.name {
                Some(name) => block.parameters.iter().find(|p| p.name.text == name.text),
                None => block.parameters.get(at),
            };
            let Some(parameter) = parameter else { continue };
            if matches!(parameter.direction, Direction::In | Direction::None)
                && !matches!(parameter.ty.kind, TypeKind::Any)
            {
                self.read(&argument.value, ways);
            }
            let stands = path(self.looked, &argument.value)
                .and_then(|(root, rest)| self.roots.get(&root).map(|base| [base.clone(), rest].concat()));
            if let Some(parameter) = self.looked.declared(&parameter.name) {
                match stands {
                    Some(path) => self.roots.insert(parameter, path),
                    None => self.roots.remove(&parameter),
                };
            }
            if matches!(parameter.direction, Direction::Out | Direction::InOut) {
                self.sends(&argument.value, ways);
            }
            // Those of `out` begin invalid.
            if parameter.direction == Direction::Out {
                let all = self.within(&argument.value);
                *ways = ways.iter().map(|way| way & !all).collect();
            }
        }
        self.inside(ways, |follow, ways| match block.body.as_ref() {
            Some(body) if body.states.is_empty() => follow.statements(&body.apply, ways),
            _ => follow.parser(block, ways),
        });
    }
}
