//! Names by which the control plane knows tables and actions: no two alike.

use super::{Checker, Problem};
use crate::error::place;
use crate::source::Span;
use crate::syntax::ast::{Annotation, Declaration, DeclarationKind, Name, Program};
use std::collections::HashMap;

impl Checker<'_> {
    /// Notes tables and actions that have one name.
    pub(super) fn control_names(&mut self, program: &Program) {
        let mut seen: HashMap<(&'static str, String), Span> = HashMap::new();
        for declaration in &program.declarations {
            self.control_name("", declaration, &mut seen);
            if let DeclarationKind::Block(block) = &declaration.kind {
                let outer = Self::given_name(&declaration.annotations).unwrap_or(&block.name.text);
                for local in block.body.iter().flat_map(|body| &body.locals) {
                    self.control_name(&format!("{outer}."), local, &mut seen);
                }
            }
        }
    }

    fn control_name(
        &mut self,
        outer: &str,
        declaration: &Declaration,
        seen: &mut HashMap<(&'static str, String), Span>,
    ) {
        let (what, name): (&'static str, &Name) = match &declaration.kind {
            DeclarationKind::Action { name, .. } => ("action", name),
            DeclarationKind::Table { name, .. } => ("table", name),
            _ => return,
        };
        let full = full_name(outer, &declaration.annotations, name);
        if let Some(first) = seen.insert((what, full.clone()), name.span) {
            let why =
                format!("{what} `{full}` is known to the control plane already, from {}", place(first, self.sources));
            self.note(name.span, Problem::ControlName { what: format!("`{}`", name.text), why });
        }
    }
}

/// The name of the control plane: one that begins with a dot is whole.
fn full_name(outer: &str, annotations: &[Annotation], name: &Name) -> String {
    let given = Checker::given_name(annotations).unwrap_or(&name.text);
    match given.strip_prefix('.') {
        Some(whole) => whole.to_string(),
        None => format!("{outer}{given}"),
    }
}
