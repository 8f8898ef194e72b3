//! Tables, actions, variables and parameters that nothing uses.

use super::{Looked, Warned, is_silenced, is_unused_by_name, walk};
use crate::front::check::DefId;
use crate::front::syntax::ast::{
    Annotation, Block, Declaration, DeclarationKind, Expr, ExprKind, Name, Parameter, Statement, StatementKind,
    TypeKind,
};
use std::collections::HashSet;

/// What is named anywhere, and what is named for more than to be assigned.
struct Used {
    named: HashSet<DefId>,
    read: HashSet<DefId>,
}

pub(super) fn look(looked: &mut Looked<'_>) {
    let used = used(looked);
    let outside = given_to_packages(looked);
    for declaration in looked.declarations() {
        match &declaration.kind {
            DeclarationKind::Action { .. } | DeclarationKind::Function { .. } => callable(looked, declaration, &used),
            DeclarationKind::Block(block) => of_block(looked, block, &used, &outside),
            _ => {}
        }
    }
}

/// Expressions that are assigned as a whole or in part are no reads of what they name.
fn used(looked: &Looked<'_>) -> Used {
    let facts = looked.facts;
    let mut assigned: HashSet<u32> = HashSet::new();
    let mut see = |statement: &Statement| {
        if let StatementKind::Assign(left, None, _) = &statement.kind {
            assigned.extend(root(left));
        }
    };
    looked.declarations().for_each(|declaration| walk::statements_of(declaration, &mut see));
    let names = || facts.names.iter().enumerate().filter_map(|(at, id)| Some((at as u32, (*id)?)));
    let read = names().filter(|(at, _)| !assigned.contains(at)).map(|(_, id)| id).collect();
    Used { named: names().map(|(_, id)| id).collect(), read }
}

/// The number of the name that a place begins with.
fn root(place: &Expr) -> Option<u32> {
    match &place.kind {
        ExprKind::Name { .. } => Some(place.at.id),
        ExprKind::Member(owner, _)
        | ExprKind::Index(owner, _)
        | ExprKind::Slice(owner, ..)
        | ExprKind::Part(owner, ..) => root(owner),
        _ => None,
    }
}

/// Names of parsers and controls that packages and other controls are made of: their parameters are those of a type.
fn given_to_packages(looked: &Looked<'_>) -> HashSet<String> {
    let mut all = HashSet::new();
    let inside = looked.blocks().filter_map(|block| block.body.as_ref()).flat_map(|body| &body.locals);
    for declaration in looked.declarations().chain(inside) {
        let DeclarationKind::Instance(instance) = &declaration.kind else { continue };
        for argument in &instance.arguments {
            walk::expressions(&argument.value, &mut |value| match &value.kind {
                ExprKind::Name { name, .. } => {
                    all.insert(name.text.to_string());
                }
                ExprKind::Type(ty) => {
                    if let TypeKind::Named { name, .. } = &ty.kind {
                        all.insert(name.text.to_string());
                    }
                }
                _ => {}
            });
        }
    }
    all
}

fn of_block(looked: &mut Looked<'_>, block: &Block, used: &Used, outside: &HashSet<String>) {
    let Some(body) = &block.body else { return };
    let owner = format!("`{}`", block.name.text);
    // Whether something of the program itself calls it: then its parameters are the program's.
    let called = applied_inside(looked, &block.name);
    if called && !outside.contains(&*block.name.text) {
        block.parameters.iter().for_each(|p| parameter(looked, p, &owner, used));
    }
    block.constructor.iter().flatten().for_each(|p| parameter(looked, p, &owner, used));
    for local in &body.locals {
        match &local.kind {
            DeclarationKind::Table { name, .. } => {
                let silent = is_silenced(&local.annotations, "unused-table") || is_unused_by_name(name);
                if !silent && !is_in(looked, name, &used.named) {
                    looked.warn(name.span, Warned::UnusedTable { name: name.text.to_string() });
                }
            }
            DeclarationKind::Action { .. } => callable(looked, local, used),
            DeclarationKind::Variable { name, .. } => variable(looked, name, &local.annotations, used),
            _ => {}
        }
    }
    body.states.iter().for_each(|state| variables(looked, &state.statements, used));
    variables(looked, &body.apply, used);
}

/// Whether an instance of a block is made, or it is applied, in another one.
fn applied_inside(looked: &Looked<'_>, name: &Name) -> bool {
    let Some(id) = looked.declared(name) else { return false };
    looked.facts.definitions.iter().any(|definition| match &definition.kind {
        crate::front::check::Kind::Instance(crate::front::check::Type::Named(of, _)) => *of == id,
        _ => false,
    }) || looked.blocks().any(|block| {
        let mut found = false;
        let body = block.body.iter();
        body.for_each(|body| {
            walk::expressions_of_body(body, &mut |value| {
                if let ExprKind::Member(owner, member) = &value.kind {
                    let same = matches!(&owner.kind, ExprKind::Name { name: other, .. } if other.text == name.text);
                    found |= same && &*member.text == "apply";
                }
            });
        });
        found
    })
}

/// An action or a function.
fn callable(looked: &mut Looked<'_>, declaration: &Declaration, used: &Used) {
    let (name, parameters, what) = match &declaration.kind {
        DeclarationKind::Action { name, parameters, .. } => (name, parameters, "action"),
        DeclarationKind::Function { prototype, .. } => (&prototype.name, &prototype.parameters, "function"),
        _ => return,
    };
    let silent = is_silenced(&declaration.annotations, "unused-action") || is_unused_by_name(name);
    if what == "action" && !silent && !is_in(looked, name, &used.named) {
        looked.warn(name.span, Warned::UnusedAction { name: name.text.to_string() });
    }
    let owner = format!("{what} `{}`", name.text);
    parameters.iter().for_each(|p| parameter(looked, p, &owner, used));
    variables(looked, walk::body(declaration), used);
}

fn parameter(looked: &mut Looked<'_>, parameter: &Parameter, owner: &str, used: &Used) {
    let name = &parameter.name;
    let silent = is_silenced(&parameter.annotations, "unused-parameter") || is_unused_by_name(name);
    if !silent && !is_in(looked, name, &used.named) {
        looked.warn(name.span, Warned::UnusedParameter { name: name.text.to_string(), owner: owner.to_string() });
    }
}

fn variables(looked: &mut Looked<'_>, all: &[Statement], used: &Used) {
    let mut found = Vec::new();
    walk::statements(all, &mut |statement| {
        if let StatementKind::Declaration(declaration) = &statement.kind
            && let DeclarationKind::Variable { name, .. } = &declaration.kind
        {
            found.push((name, &declaration.annotations));
        }
    });
    found.into_iter().for_each(|(name, annotations)| variable(looked, name, annotations, used));
}

fn variable(looked: &mut Looked<'_>, name: &Name, annotations: &[Annotation], used: &Used) {
    if is_silenced(annotations, "unused-variable") || is_unused_by_name(name) || is_in(looked, name, &used.read) {
        return;
    }
    let what = if is_in(looked, name, &used.named) { "assigned, but never read" } else { "never used" };
    looked.warn(name.span, Warned::UnusedVariable { name: name.text.to_string(), what: what.to_string() });
}

/// Whether what a name declares is in a set; what is not known counts as in it.
fn is_in(looked: &Looked<'_>, name: &Name, all: &HashSet<DefId>) -> bool {
    looked.declared(name).is_none_or(|id| all.contains(&id))
}
