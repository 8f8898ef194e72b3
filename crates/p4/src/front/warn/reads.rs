//! Reads of variables and `out` parameters that nothing was written to on any way there.
//!
//! A way through a parser, control, action or function is followed with all that may have been written on it; what is written in
//! part counts as written in that part. Where a table is applied its actions are followed. What is missed is a read that only some
//! ways have written before: nothing is said of it.

use super::{Looked, Warned, walk};
use crate::front::check::{DefId, Kind, Param, Type};
use crate::front::syntax::ast::{
    Argument, Block, BlockKind, Body, Declaration, DeclarationKind, Direction, Expr, ExprKind, Fields, ForOver,
    Parameter, PropertyValue, Statement, StatementKind, Transition,
};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Most statements that are followed in a program; beyond them nothing is said.
const MOST_STEPS: usize = 200_000;

/// A variable, and members that lead to a part of it.
type Place = (DefId, Vec<Rc<str>>);
/// What may have been written on a way.
type Written = HashSet<Place>;

pub(super) fn look(looked: &mut Looked<'_>) {
    let mut ways = Ways {
        actions: actions(looked),
        tables: tables(looked),
        looked,
        tracked: HashSet::new(),
        bad: Vec::new(),
        good: HashSet::new(),
        steps: 0,
        inside: Vec::new(),
        reports: true,
    };
    for declaration in ways.looked.declarations() {
        match &declaration.kind {
            DeclarationKind::Function { prototype, body, .. } => {
                ways.open(&prototype.parameters);
                ways.statements(body, &mut Written::new());
            }
            DeclarationKind::Block(block) => ways.block(block),
            _ => {}
        }
    }
    if ways.steps >= MOST_STEPS {
        return;
    }
    let (bad, good) = (ways.bad, ways.good);
    for (expression, name) in bad {
        if !good.contains(&expression.at.id) {
            looked.warn(expression.at.span, Warned::Unwritten { name });
        }
    }
}

/// Bodies of all actions.
fn actions<'p>(looked: &Looked<'p>) -> HashMap<DefId, (&'p [Parameter], &'p [Statement])> {
    let mut all = HashMap::new();
    let mut take = |declaration: &'p Declaration| {
        if let DeclarationKind::Action { name, parameters, body } = &declaration.kind
            && let Some(id) = looked.declared(name)
        {
            all.insert(id, (&parameters[..], &body[..]));
        }
    };
    for declaration in looked.declarations() {
        take(declaration);
        if let DeclarationKind::Block(Block { body: Some(body), .. }) = &declaration.kind {
            body.locals.iter().for_each(&mut take);
        }
    }
    all
}

/// Keys and actions of all tables.
fn tables<'p>(looked: &Looked<'p>) -> HashMap<DefId, (Vec<&'p Expr>, Vec<&'p Expr>)> {
    let mut all = HashMap::new();
    for body in looked.blocks().filter_map(|block| block.body.as_ref()) {
        for local in &body.locals {
            let DeclarationKind::Table { name, properties } = &local.kind else { continue };
            let Some(id) = looked.declared(name) else { continue };
            let (mut keys, mut actions) = (Vec::new(), Vec::new());
            for property in properties {
                match &property.value {
                    PropertyValue::Key(all) => keys.extend(all.iter().map(|key| &key.value)),
                    PropertyValue::Actions(all) => actions.extend(all.iter().map(|action| &action.value)),
                    _ => {}
                }
            }
            all.insert(id, (keys, actions));
        }
    }
    all
}

struct Ways<'l, 'p> {
    looked: &'l Looked<'p>,
    actions: HashMap<DefId, (&'p [Parameter], &'p [Statement])>,
    tables: HashMap<DefId, (Vec<&'p Expr>, Vec<&'p Expr>)>,
    /// Variables that have nothing in the beginning.
    tracked: HashSet<DefId>,
    /// Reads of what was not written, and numbers of those that were written on another way.
    bad: Vec<(&'p Expr, String)>,
    good: HashSet<u32>,
    steps: usize,
    /// Actions that are being followed.
    inside: Vec<DefId>,
    reports: bool,
}

impl<'p> Ways<'_, 'p> {
    /// Parameters of `out` have nothing in the beginning.
    fn open(&mut self, parameters: &'p [Parameter]) {
        for parameter in parameters.iter().filter(|p| p.direction == Direction::Out) {
            if let Some(id) = self.looked.declared(&parameter.name) {
                self.tracked.insert(id);
            }
        }
    }

    fn block(&mut self, block: &'p Block) {
        let Some(body) = &block.body else { return };
        self.open(&block.parameters);
        let mut written = Written::new();
        for local in &body.locals {
            self.variable(local, &mut written);
        }
        match block.kind {
            BlockKind::Control => self.statements(&body.apply, &mut written),
            BlockKind::Parser => self.parser(body, written),
        }
    }

    /// States are followed until no more is written on any way; then reads are told.
    fn parser(&mut self, body: &'p Body, start: Written) {
        let mut entries: HashMap<&str, Written> = HashMap::from([("start", start)]);
        self.reports = false;
        let mut changed = true;
        while changed && self.steps < MOST_STEPS {
            changed = false;
            for state in &body.states {
                let Some(mut written) = entries.get(&*state.name.text).cloned() else { continue };
                self.statements(&state.statements, &mut written);
                let mut to = |name: &'p str| {
                    let known = entries.contains_key(name);
                    let entry = entries.entry(name).or_default();
                    let before = entry.len();
                    entry.extend(written.iter().cloned());
                    changed |= entry.len() != before || !known;
                };
                match &state.transition {
                    Some(Transition::Direct(next)) => to(&next.text),
                    Some(Transition::Select { cases, .. }) => cases.iter().for_each(|case| to(&case.state.text)),
                    None => {}
                }
            }
        }
        self.reports = true;
        for state in &body.states {
            let Some(mut written) = entries.get(&*state.name.text).cloned() else { continue };
            self.statements(&state.statements, &mut written);
            if let Some(Transition::Select { keys, .. }) = &state.transition {
                keys.iter().for_each(|key| self.read(key, &mut written));
            }
        }
    }

    fn variable(&mut self, declaration: &'p Declaration, written: &mut Written) {
        let DeclarationKind::Variable { name, value, .. } = &declaration.kind else { return };
        if let Some(value) = value {
            self.read(value, written);
        } else if let Some(id) = self.looked.declared(name) {
            self.tracked.insert(id);
        }
        if let (Some(_), Some(id)) = (value, self.looked.declared(name)) {
            written.insert((id, Vec::new()));
        }
    }

    fn statements(&mut self, all: &'p [Statement], written: &mut Written) {
        all.iter().for_each(|statement| self.statement(statement, written));
    }

    fn one(&mut self, statement: &'p Statement, written: &Written) -> Written {
        let mut written = written.clone();
        self.statement(statement, &mut written);
        written
    }

    fn statement(&mut self, statement: &'p Statement, written: &mut Written) {
        self.steps += 1;
        if self.steps >= MOST_STEPS {
            return;
        }
        match &statement.kind {
            StatementKind::Assign(left, operator, right) => {
                self.read(right, written);
                if operator.is_some() {
                    self.read(left, written);
                }
                self.write(left, written);
            }
            StatementKind::If(condition, yes, no) => {
                self.read(condition, written);
                let then = self.one(yes, written);
                if let Some(no) = no {
                    *written = self.one(no, written);
                }
                written.extend(then);
            }
            StatementKind::Block(_, all) => self.statements(all, written),
            StatementKind::Switch(value, cases) => {
                self.read(value, written);
                let ways: Vec<Written> =
                    cases.iter().filter_map(|case| case.body.as_ref()).map(|body| self.one(body, written)).collect();
                ways.into_iter().for_each(|way| written.extend(way));
            }
            StatementKind::For { init, condition, update, body } => {
                self.statements(init, written);
                let reports = std::mem::replace(&mut self.reports, false);
                let mut round = self.one(body, written);
                self.statements(update, &mut round);
                self.reports = reports;
                // What one round writes the next one reads.
                self.read(condition, written);
                written.extend(round);
                self.statement(body, written);
                self.statements(update, written);
            }
            StatementKind::ForIn { variable, over, body, .. } => {
                match over {
                    ForOver::Range(low, high) => [low, high].into_iter().for_each(|end| self.read(end, written)),
                    ForOver::List(list) => self.read(list, written),
                }
                if let Some(id) = self.looked.declared(variable) {
                    written.insert((id, Vec::new()));
                }
                let reports = std::mem::replace(&mut self.reports, false);
                let round = self.one(body, written);
                self.reports = reports;
                written.extend(round);
                self.statement(body, written);
            }
            StatementKind::Declaration(declaration) => self.variable(declaration, written),
            _ => walk::of_statement(statement).into_iter().for_each(|value| self.read(value, written)),
        }
    }

    /// The place that an expression names; indices and slices are of the whole.
    fn place(&self, value: &Expr) -> Option<Place> {
        match &value.kind {
            ExprKind::Name { .. } => Some((self.looked.facts.name(value)?, Vec::new())),
            ExprKind::Member(owner, member) => {
                let (root, mut path) = self.place(owner)?;
                path.push(member.text.clone());
                Some((root, path))
            }
            ExprKind::Index(owner, _) | ExprKind::Slice(owner, ..) | ExprKind::Part(owner, ..) => self.place(owner),
            _ => None,
        }
    }

    fn write(&mut self, left: &'p Expr, written: &mut Written) {
        match &left.kind {
            ExprKind::Index(owner, index) => {
                self.read(index, written);
                self.write(owner, written);
            }
            ExprKind::Slice(owner, ..) | ExprKind::Part(owner, ..) => self.write(owner, written),
            _ => written.extend(self.place(left)),
        }
    }

    /// Whether a place is one of headers, or of a stack of them: those are valid or not, which is another warning.
    fn has_header(&self, value: &Expr) -> bool {
        let ty = self.looked.facts.types.get(value.at.id as usize);
        let here = match ty {
            Some(Type::Stack(..)) => true,
            Some(ty) => matches!(self.looked.facts.fields(ty), Some((Fields::Header | Fields::Union, _))),
            None => true,
        };
        here || match &value.kind {
            ExprKind::Member(owner, _) | ExprKind::Index(owner, _) | ExprKind::Slice(owner, ..) => {
                self.has_header(owner)
            }
            _ => false,
        }
    }

    /// Whether a type has nothing that could be written, or headers.
    fn says_nothing(&self, ty: &Type, deep: usize) -> bool {
        match self.looked.facts.fields(ty) {
            Some((Fields::Struct, fields)) => {
                deep == 0
                    || fields.iter().all(|(_, ty)| self.says_nothing(ty, deep - 1))
                    || fields.iter().any(|(_, ty)| self.holds_header(ty, deep - 1))
            }
            Some(_) => true,
            None => !matches!(ty, Type::Bool | Type::Bit(1..) | Type::Signed(_) | Type::Error | Type::Named(..)),
        }
    }

    fn holds_header(&self, ty: &Type, deep: usize) -> bool {
        match self.looked.facts.fields(ty) {
            Some((Fields::Struct, fields)) => deep > 0 && fields.iter().any(|(_, ty)| self.holds_header(ty, deep - 1)),
            Some(_) => true,
            None => matches!(ty, Type::Stack(..)),
        }
    }

    fn read(&mut self, value: &'p Expr, written: &mut Written) {
        match &value.kind {
            ExprKind::Call(callee, _, arguments) => self.call(callee, arguments, written),
            ExprKind::Name { .. }
            | ExprKind::Member(..)
            | ExprKind::Index(..)
            | ExprKind::Slice(..)
            | ExprKind::Part(..) => {
                if let Some(place) = self.place(value) {
                    self.read_place(value, &place, written);
                }
                self.indices(value, written);
            }
            _ => walk::below(value).into_iter().for_each(|one| self.read(one, written)),
        }
    }

    /// Reads that lie within a place: its indices, or the call that it is a member of.
    fn indices(&mut self, value: &'p Expr, written: &mut Written) {
        match &value.kind {
            ExprKind::Member(owner, _) | ExprKind::Slice(owner, ..) => self.indices(owner, written),
            ExprKind::Index(owner, index) | ExprKind::Part(owner, index, _) => {
                self.read(index, written);
                self.indices(owner, written);
            }
            ExprKind::Name { .. } => {}
            _ => self.read(value, written),
        }
    }

    fn read_place(&mut self, value: &'p Expr, (root, path): &Place, written: &Written) {
        if !self.reports || !self.tracked.contains(root) {
            return;
        }
        let is_written =
            written.iter().any(|(other, to)| other == root && (path.starts_with(to) || to.starts_with(path)));
        let ty = self.looked.facts.types.get(value.at.id as usize);
        let silent = self.has_header(value) || ty.is_none_or(|ty| self.says_nothing(ty, 8));
        if is_written || silent {
            self.good.insert(value.at.id);
        } else {
            let name: Vec<&str> = std::iter::once(&*self.looked.facts.definition(*root).name)
                .chain(path.iter().map(|member| &**member))
                .collect();
            self.bad.push((value, name.join(".")));
        }
    }

    fn call(&mut self, callee: &'p Expr, arguments: &'p [Argument], written: &mut Written) {
        let facts = self.looked.facts;
        if let ExprKind::Member(owner, member) = &callee.kind {
            let ty = facts.types.get(owner.at.id as usize);
            match ty {
                Some(Type::Table(id)) if &*member.text == "apply" => return self.table(*id, written),
                Some(Type::Named(id, _)) => {
                    let parameters = match &facts.definition(*id).kind {
                        Kind::Extern { methods, .. } => {
                            let fits = |m: &&Rc<crate::front::check::Signature>| {
                                m.name == member.text && m.parameters.len() == arguments.len()
                            };
                            methods.iter().find(fits).map(|m| m.parameters.clone())
                        }
                        Kind::Block { parameters, .. } => Some(parameters.clone()),
                        _ => None,
                    };
                    if let Some(parameters) = parameters {
                        return self.arguments(&parameters, arguments, written);
                    }
                }
                _ => {}
            }
            // A method that a value has by itself: it writes to it, or asks for its validity or size.
            written.extend(self.place(owner));
            self.indices(owner, written);
            return arguments.iter().for_each(|argument| self.read(&argument.value, written));
        }
        let Some(id) = facts.name(callee) else {
            return arguments.iter().for_each(|argument| self.read(&argument.value, written));
        };
        match &facts.definition(id).kind {
            Kind::Action(signature) => {
                self.arguments(&signature.parameters, arguments, written);
                self.action(id, written);
            }
            Kind::Function(signature) => self.arguments(&signature.parameters, arguments, written),
            _ => arguments.iter().for_each(|argument| self.read(&argument.value, written)),
        }
    }

    fn arguments(&mut self, parameters: &[Param], arguments: &'p [Argument], written: &mut Written) {
        let mut after = Vec::new();
        for (at, argument) in arguments.iter().enumerate() {
            let parameter = match &argument.name {
                Some(name) => parameters.iter().find(|p| p.name == name.text),
                None => parameters.get(at),
            };
            match parameter.map_or(Direction::In, |p| p.direction) {
                // An extern may write what it gets as `inout` before it reads it.
                Direction::Out | Direction::InOut => after.push(&argument.value),
                Direction::In | Direction::None => self.read(&argument.value, written),
            }
        }
        after.into_iter().for_each(|place| self.write(place, written));
    }

    fn action(&mut self, id: DefId, written: &mut Written) {
        let Some((parameters, body)) = self.actions.get(&id).copied() else { return };
        if self.inside.contains(&id) {
            return;
        }
        self.open(parameters);
        self.inside.push(id);
        self.statements(body, written);
        self.inside.pop();
    }

    fn table(&mut self, id: DefId, written: &mut Written) {
        let Some((keys, actions)) = self.tables.get(&id).cloned() else { return };
        keys.iter().for_each(|key| self.read(key, written));
        let before = written.clone();
        for action in actions {
            let mut way = before.clone();
            match &action.kind {
                ExprKind::Call(callee, _, arguments) => self.call(callee, arguments, &mut way),
                _ => {
                    if let Some(id) = self.looked.facts.name(action) {
                        self.action(id, &mut way);
                    }
                }
            }
            written.extend(way);
        }
    }
}
