//! A program's text with the names that it has in a sequence.

use super::names::Names;
use super::part::Part;
use super::same::Same;
use crate::front::check::{DefId, Facts, Type};
use crate::front::interpret::key_name;
use crate::front::source::Span;
use crate::front::syntax::ast::{
    Annotation, AnnotationBody, At, Declaration, DeclarationKind, Expr, ExprKind, Name, PropertyValue, Statement,
    StatementKind, given_name,
};
use crate::front::syntax::change::{self, Change, Role};
use std::collections::HashMap;
use std::rc::Rc;

/// What takes the place of names. Fields are found by the types of their owners, so it reads a tree whose expressions have their numbers yet.
pub(super) struct Rewrite<'a> {
    pub facts: &'a Facts,
    pub same: &'a Same,
    pub headers: DefId,
    /// Fields of the headers that have another name, beside those that are another program's.
    pub fields: HashMap<Rc<str>, Rc<str>>,
    /// Names of declarations.
    pub names: HashMap<Rc<str>, Rc<str>>,
    /// Parameters, with what stands for them.
    pub values: HashMap<Rc<str>, Expr>,
}

impl<'a> Rewrite<'a> {
    /// The second program's own text.
    pub fn second(same: &'a Same, second: &'a Part, names: &Names) -> Rewrite<'a> {
        let (fields, names) = (names.fields.clone(), names.renamed.clone());
        Rewrite { facts: &second.facts, same, headers: second.headers, fields, names, values: HashMap::new() }
    }

    /// Has these parameters of a block be those of the first program's.
    pub fn parameters(&mut self, first: &Part, second: &Part, block: usize, which: &[usize]) {
        let (one, two) = (&first.blocks[block].block.parameters, &second.blocks[block].block.parameters);
        for (own, other) in which.iter().filter_map(|at| Some((one.get(*at)?, two.get(*at)?))) {
            self.values.insert(other.name.text.clone(), named(&own.name.text, own.name.span));
        }
    }

    /// A declaration; keys of tables keep the names that they have for the control plane.
    pub fn declaration(&mut self, of: &mut Declaration) {
        if let DeclarationKind::Block(block) = &mut of.kind {
            let locals = block.body.iter_mut().flat_map(|body| &mut body.locals);
            locals.for_each(keep_key_names);
        }
        change::declaration(self, of);
    }

    fn field(&self, owner: &Type, field: &Rc<str>) -> Option<Rc<str>> {
        let same = self.same.field(self.facts, self.headers, owner, field);
        let is_headers = matches!(owner, Type::Named(id, _) if *id == self.headers);
        same.or_else(|| self.fields.get(field).filter(|_| is_headers)).cloned()
    }

    fn type_of(&self, value: &Expr) -> Type {
        self.facts.types.get(value.at.id as usize).cloned().unwrap_or(Type::Unknown)
    }

    /// Fields that a value names which a place of this type takes.
    fn fields_of(&self, value: &mut Expr, ty: &Type) {
        if let ExprKind::Struct(fields, _) = &mut value.kind {
            for (name, _) in fields {
                if let Some(found) = self.field(ty, &name.text) {
                    name.text = found;
                }
            }
        }
    }
}

impl Change for Rewrite<'_> {
    fn name(&mut self, name: &mut Name, role: Role) {
        if role == Role::Part {
            return;
        }
        let same = self.same.types.get(&name.text).map(|(of, _)| of);
        if let Some(found) = same.or_else(|| self.names.get(&name.text)) {
            name.text = found.clone();
        }
    }

    fn expression(&mut self, value: &mut Expr) {
        match &mut value.kind {
            ExprKind::Name { global: false, name } => {
                if let Some(stands) = self.values.get(&name.text) {
                    value.kind = stands.kind.clone();
                    return;
                }
            }
            ExprKind::Member(owner, member) => {
                let ty = self.type_of(owner);
                if let Some(found) = self.field(&ty, &member.text) {
                    member.text = found;
                }
            }
            ExprKind::Cast(_, inner) => {
                let ty = self.facts.types.get(value.at.id as usize).unwrap_or(&Type::Unknown);
                self.fields_of(inner, ty);
            }
            _ => {}
        }
        change::expression(self, value);
    }

    fn statement(&mut self, of: &mut Statement) {
        if let StatementKind::Assign(left, _, right) = &mut of.kind {
            let ty = self.type_of(left);
            self.fields_of(right, &ty);
        }
        change::statement(self, of);
    }
}

/// An expression that is a name.
pub(super) fn named(name: &Rc<str>, span: Span) -> Expr {
    // No number of any expression of the program.
    let at = At { span, id: u32::MAX, height: 0 };
    Expr { kind: ExprKind::Name { global: false, name: Name { text: name.clone(), span } }, at }
}

/// `@name("NAME")`.
pub(super) fn name_annotation(name: &str, span: Span) -> Annotation {
    let body = Some(AnnotationBody::Words(vec![format!("\"{name}\"").into()]));
    Annotation { name: Name { text: "name".into(), span }, body }
}

fn keep_key_names(local: &mut Declaration) {
    let DeclarationKind::Table { properties, .. } = &mut local.kind else { return };
    for property in properties {
        let PropertyValue::Key(keys) = &mut property.value else { continue };
        for key in keys.iter_mut().filter(|key| given_name(&key.annotations).is_none()) {
            let annotation = name_annotation(&key_name(&key.value), key.value.at.span);
            key.annotations.push(annotation);
        }
    }
}
