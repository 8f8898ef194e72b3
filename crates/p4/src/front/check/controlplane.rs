//! Names by which the control plane knows tables, actions, value sets and instances: no two of a kind alike. Actions that do the
//! same may share one.

use super::{Checker, Problem};
use crate::error::place;
use crate::front::source::Span;
use crate::front::syntax::ast::{Annotation, Block, Declaration, DeclarationKind, Name, Program, TypeKind, given_name};
use std::collections::HashMap;

impl Checker<'_> {
    /// Notes what has the name of another one of its kind.
    pub(super) fn control_names(&mut self, program: &Program) {
        let mut seen = Seen::new();
        let instances = instances(program);
        for declaration in &program.declarations {
            self.control_name("", declaration, &mut seen);
            if let DeclarationKind::Block(block) = &declaration.kind {
                let several = instances.get(&*block.name.text).is_some_and(|count| *count > 1);
                for table in block.body.iter().flat_map(|body| &body.locals).filter(|_| several) {
                    self.several_tables(table);
                }
                let outer = given_name(&declaration.annotations).unwrap_or(&block.name.text);
                for local in block.body.iter().flat_map(|body| &body.locals) {
                    self.control_name(&format!("{outer}."), local, &mut seen);
                }
            }
        }
    }

    /// A table with a whole name is one table; its control has one instance.
    fn several_tables(&mut self, declaration: &Declaration) {
        let DeclarationKind::Table { name, .. } = &declaration.kind else { return };
        if given_name(&declaration.annotations).is_some_and(|given| given.starts_with('.')) {
            let why = "its name for the control plane is whole, but its control has several instances".to_string();
            self.note(name.span, Problem::ControlName { what: format!("table `{}`", name.text), why });
        }
    }

    fn control_name<'p>(&mut self, outer: &str, declaration: &'p Declaration, seen: &mut Seen<'p>) {
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
        let full = full_name(outer, &declaration.annotations, name);
        let other = seen.insert((what, full.clone()), (name.span, &declaration.kind));
        if let Some((first, _)) = other.filter(|(_, other)| !do_the_same(other, &declaration.kind)) {
            let why =
                format!("{what} `{full}` is known to the control plane already, from {}", place(first, self.sources));
            self.note(name.span, Problem::ControlName { what: format!("`{}`", name.text), why });
        }
    }
}

/// What has a name: where it is, and what it is.
type Seen<'p> = HashMap<(&'static str, String), (Span, &'p DeclarationKind)>;

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
