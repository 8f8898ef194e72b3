//! What a program tells the control plane and no packet needs: annotations, and types as they are declared.

use crate::front::check::Type;
use crate::front::source::Span;
use crate::front::syntax::ast::Annotation;
use std::rc::Rc;

/// In the order of the actions, tables, objects and value sets of the code.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub actions: Vec<ToldAction>,
    pub tables: Vec<ToldTable>,
    pub objects: Vec<ToldObject>,
    pub value_sets: Vec<ToldSet>,
    /// Types of digests, each once, and where the first is sent.
    pub digests: Vec<(Type, Span)>,
}

#[derive(Debug)]
pub(crate) struct ToldAction {
    pub span: Span,
    pub annotations: Vec<Annotation>,
    /// Those that the control plane gives.
    pub data: Vec<ToldParameter>,
    /// It is declared outside of controls.
    pub global: bool,
}

#[derive(Debug)]
pub(crate) struct ToldParameter {
    pub name: Rc<str>,
    pub span: Span,
    pub annotations: Vec<Annotation>,
    pub ty: Type,
}

#[derive(Debug)]
pub(crate) struct ToldTable {
    pub span: Span,
    pub annotations: Vec<Annotation>,
    /// Annotations and types of the keys.
    pub keys: Vec<(Vec<Annotation>, Type, Span)>,
    /// Annotations of its actions; one that stands by itself has none here.
    pub actions: Vec<Vec<Annotation>>,
    /// Whether entries end when nobody uses them.
    pub times_out: bool,
    /// Where its own entries stand, and its default action.
    pub entries: Vec<Span>,
    pub default: Option<Span>,
}

#[derive(Debug)]
pub(crate) struct ToldObject {
    pub span: Span,
    pub annotations: Vec<Annotation>,
    /// Type arguments.
    pub types: Vec<Type>,
    /// Member of `CounterType` or `MeterType`; nothing of others.
    pub unit: Rc<str>,
    /// `size`, if it has one.
    pub size: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct ToldSet {
    pub span: Span,
    pub annotations: Vec<Annotation>,
    pub element: Type,
    /// Annotations of the fields, if its values are of a struct.
    pub fields: Option<Vec<Vec<Annotation>>>,
    pub size: u64,
}
