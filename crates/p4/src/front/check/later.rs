//! Where names are declared, for uses that stand before.

use crate::front::source::Span;
use crate::front::syntax::ast::{Declaration, DeclarationKind, Name, Program};
use std::collections::HashMap;
use std::rc::Rc;

/// A declaration.
pub(super) struct Later {
    pub span: Span,
    /// The parser or control that it belongs to.
    pub inside: Option<Span>,
    /// A function, action, parser or control.
    pub is_called: bool,
}

/// All declarations of a program by their names.
pub(super) type Names = HashMap<Rc<str>, Vec<Later>>;

pub(super) fn names(program: &Program) -> Names {
    let mut all = Names::new();
    for declaration in &program.declarations {
        add(declaration, None, &mut all);
        if let DeclarationKind::Block(block) = &declaration.kind {
            for local in block.body.iter().flat_map(|body| &body.locals) {
                add(local, Some(declaration.span), &mut all);
            }
        }
    }
    all
}

fn add(declaration: &Declaration, inside: Option<Span>, all: &mut Names) {
    use DeclarationKind as K;
    let (name, is_called): (&Name, bool) = match &declaration.kind {
        K::Action { name, .. } => (name, true),
        K::Function { prototype, .. } => (&prototype.name, true),
        K::Block(block) => (&block.name, true),
        K::Constant { name, .. } | K::Variable { name, .. } | K::Table { name, .. } | K::ValueSet { name, .. } => {
            (name, false)
        }
        K::Fields { name, .. } | K::Enum { name, .. } | K::Alias { name, .. } | K::Extern { name, .. } => (name, false),
        K::Package { name, .. } => (name, false),
        K::ExternFunction(prototype) => (&prototype.name, false),
        K::Instance(instance) => (&instance.name, false),
        K::Error(_) | K::MatchKind(_) | K::Empty => return,
    };
    all.entry(name.text.clone()).or_default().push(Later { span: name.span, inside, is_called });
}
