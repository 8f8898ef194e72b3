//! Names by which the control plane knows tables, actions, value sets and instances: no two of a kind alike. Actions that do the
//! same may share one.
//!
//! Names belong to instances: they are looked for in what `main` is made of, and in the instances that stand there. An action that is
//! in no table, and that nothing calls, has none. A program without `main` may be a part of any other: all its blocks are looked at.

use super::definitions::DefId;
use super::{Checker, Problem};
use crate::error::place;
use crate::front::source::Span;
use crate::front::syntax::ast::{
    Annotation, Argument, Block, Declaration, DeclarationKind, Expr, ExprKind, Instance, Name, Program, TypeKind,
    given_name,
};
use crate::front::warn::walk;
use std::collections::{HashMap, HashSet};

/// Most instances that are looked into.
const MOST_INSTANCES: usize = 10_000;
/// Deepest instances in one another.
const DEEPEST: usize = 64;

impl Checker<'_> {
    /// Notes what has the name of another one of its kind.
    pub(super) fn control_names(&mut self, program: &Program) {
        let instances = instances(program);
        let mut names = Names {
            blocks: HashMap::new(),
            used: self.facts.names.iter().flatten().copied().collect(),
            seen: HashMap::new(),
            left: MOST_INSTANCES,
            deep: 0,
        };
        for declaration in &program.declarations {
            if let DeclarationKind::Block(block) = &declaration.kind {
                let own = given_name(&declaration.annotations).unwrap_or(&block.name.text);
                names.blocks.entry(&block.name.text).or_insert((own, block));
                let several = instances.get(&*block.name.text).is_some_and(|count| *count > 1);
                for table in block.body.iter().flat_map(|body| &body.locals).filter(|_| several) {
                    self.several_tables(table);
                }
            }
        }
        for declaration in &program.declarations {
            self.control_name("", declaration, &mut names);
        }
        for block in roots(program) {
            if let Some((own, block)) = names.blocks.get(block).copied() {
                self.names_of(own, block, &mut names);
            }
        }
    }

    /// Names of what stands in an instance of a parser or control, and in the instances there.
    fn names_of<'p>(&mut self, path: &str, block: &'p Block, names: &mut Names<'p>) {
        let Some(body) = &block.body else { return };
        if names.left == 0 || names.deep == DEEPEST {
            return;
        }
        names.left -= 1;
        names.deep += 1;
        for local in &body.locals {
            self.control_name(&format!("{path}."), local, names);
            let DeclarationKind::Instance(instance) = &local.kind else { continue };
            let inner = full_name(&format!("{path}."), &local.annotations, &instance.name);
            if let TypeKind::Named { name, .. } = &instance.ty.kind
                && let Some((_, block)) = names.blocks.get(&*name.text).copied()
            {
                self.names_of(&inner, block, names);
            }
            // What it is made of has a name that begins with its own.
            for (at, given) in blocks_in(&instance.arguments).into_iter().enumerate() {
                if let Some((_, block)) = names.blocks.get(given).copied() {
                    self.names_of(&format!("{inner}.{at}"), block, names);
                }
            }
        }
        let mut applied = Vec::new();
        walk::expressions_of_body(body, &mut |value| {
            if let ExprKind::Member(owner, member) = &value.kind
                && &*member.text == "apply"
            {
                applied.extend(named(owner));
            }
        });
        for name in applied {
            if let Some((own, block)) = names.blocks.get(name).copied() {
                self.names_of(&format!("{path}.{own}"), block, names);
            }
        }
        names.deep -= 1;
    }

    /// A table with a whole name is one table; its control has one instance.
    fn several_tables(&mut self, declaration: &Declaration) {
        let DeclarationKind::Table { name, .. } = &declaration.kind else { return };
        if given_name(&declaration.annotations).is_some_and(|given| given.starts_with('.')) {
            let why = "its name for the control plane is whole, but its control has several instances".to_string();
            self.note(name.span, Problem::ControlName { what: format!("table `{}`", name.text), why });
        }
    }

    fn control_name<'p>(&mut self, outer: &str, declaration: &'p Declaration, names: &mut Names<'p>) {
        let (what, name): (&'static str, &Name) = match &declaration.kind {
            DeclarationKind::Action { name, .. } => ("action", name),
            DeclarationKind::Table { name, .. } => ("table", name),
            DeclarationKind::ValueSet { name, .. } => ("value set", name),
            DeclarationKind::Instance(instance) => ("instance", &instance.name),
            _ => return,
        };
        // What the control plane does not see has no name there.
        if declaration.annotations.iter().any(|a| &*a.name.text == "hidden") {
            return;
        }
        let used = || self.facts.declared(name).is_none_or(|id| names.used.contains(&id));
        if what == "action" && !used() {
            return;
        }
        let full = full_name(outer, &declaration.annotations, name);
        let other = names.seen.insert((what, full.clone()), (name.span, &declaration.kind));
        let other = other.filter(|(first, other)| !first.is_at(name.span) && !do_the_same(other, &declaration.kind));
        if let Some((first, _)) = other {
            let why =
                format!("{what} `{full}` is known to the control plane already, from {}", place(first, self.sources));
            self.note(name.span, Problem::ControlName { what: format!("`{}`", name.text), why });
        }
    }
}

/// What is known of names.
struct Names<'p> {
    /// Parsers and controls with their own names.
    blocks: HashMap<&'p str, (&'p str, &'p Block)>,
    /// What an expression names.
    used: HashSet<DefId>,
    /// What has a name: where it is, and what it is.
    seen: HashMap<(&'static str, String), (Span, &'p DeclarationKind)>,
    left: usize,
    deep: usize,
}

/// Parsers and controls that packages are made of; all, where there is no `main`.
fn roots(program: &Program) -> Vec<&str> {
    let instances = program.declarations.iter().filter_map(|declaration| match &declaration.kind {
        DeclarationKind::Instance(instance) => Some(instance),
        _ => None,
    });
    let instances: Vec<&Instance> = instances.collect();
    if instances.iter().any(|instance| &*instance.name.text == "main") {
        return instances.into_iter().flat_map(|instance| blocks_in(&instance.arguments)).collect();
    }
    let blocks = program.declarations.iter().filter_map(|declaration| match &declaration.kind {
        DeclarationKind::Block(block) => Some(&*block.name.text),
        _ => None,
    });
    blocks.collect()
}

/// Names in arguments, among which are those of parsers and controls.
fn blocks_in(arguments: &[Argument]) -> Vec<&str> {
    let mut all = Vec::new();
    for argument in arguments {
        walk::expressions(&argument.value, &mut |value| all.extend(named(value)));
    }
    all
}

/// The name that an expression is, of a value or of a type.
fn named(value: &Expr) -> Option<&str> {
    match &value.kind {
        ExprKind::Name { name, .. } => Some(&name.text),
        ExprKind::Type(ty) => match &ty.kind {
            TypeKind::Named { name, .. } => Some(&name.text),
            _ => None,
        },
        _ => None,
    }
}

/// Whether two are actions with equal parameters and bodies.
fn do_the_same(one: &DeclarationKind, two: &DeclarationKind) -> bool {
    use DeclarationKind::Action;
    match (one, two) {
        (Action { parameters: a, body: b, .. }, Action { parameters: c, body: d, .. }) => a == c && b == d,
        _ => false,
    }
}

/// How often each parser and control is instantiated in another one.
fn instances(program: &Program) -> HashMap<&str, usize> {
    let mut all = HashMap::new();
    for declaration in &program.declarations {
        let DeclarationKind::Block(Block { body: Some(body), .. }) = &declaration.kind else { continue };
        for local in &body.locals {
            let DeclarationKind::Instance(instance) = &local.kind else { continue };
            if let TypeKind::Named { name, .. } = &instance.ty.kind {
                *all.entry(&*name.text).or_default() += 1;
            }
        }
    }
    all
}

/// The name of the control plane: one that begins with a dot is whole.
fn full_name(outer: &str, annotations: &[Annotation], name: &Name) -> String {
    let given = given_name(annotations).unwrap_or(&name.text);
    match given.strip_prefix('.') {
        Some(whole) => whole.to_string(),
        None => format!("{outer}{given}"),
    }
}
