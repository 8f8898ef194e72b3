//! Types of values.

use super::definitions::{DefId, Definition, Kind};
use super::{Checker, Problem};
use crate::front::source::Span;
use crate::front::syntax::ast::Fields;
use std::rc::Rc;

/// A type. The lower half are types of expressions only, which nobody can write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// A mistake was noted, or nothing is known.
    Unknown,
    Bool,
    /// `int`, as large as it has to be.
    Int,
    Bit(u32),
    Signed(u32),
    Varbit(u32),
    Text,
    Error,
    MatchKind,
    Void,
    /// Something declared: fields, enum, extern, parser, control, package; with its type arguments.
    Named(DefId, Rc<[Type]>),
    /// A type parameter.
    Parameter(DefId),
    /// A type that is being found.
    Infer(u32),
    Stack(Rc<Type>, u32),
    Tuple(Rc<[Type]>),
    List(Rc<Type>),
    /// `_`.
    Any,
    /// `{a, b}`.
    Braces(Rc<[Type]>),
    /// `{x = a}`, and whether `...` stands in it.
    Pairs(Rc<[(Rc<str>, Type)]>, bool),
    /// `{#}`.
    Invalid,
    /// `...`.
    Dots,
    /// Values that a key is compared with.
    Set(Rc<Type>),
    Table(DefId),
    /// What applying a table gives.
    Applied(DefId),
    /// Which action of a table ran.
    ActionRun(DefId),
}

/// Fields with their types.
pub(crate) type NamedTypes = Vec<(Rc<str>, Type)>;

/// Most parts of a type.
const MOST_PARTS: usize = 1 << 16;

/// Deepest nesting of a type.
const DEEPEST: usize = 256;

/// How many of so many parts a type leaves; 0 if it has as many or more, or is nested deeper than is left.
fn parts(ty: &Type, left: usize, deep: usize) -> usize {
    let left = if deep == 0 { 0 } else { left.saturating_sub(1) };
    let all = |all: &[Type]| all.iter().fold(left, |left, ty| if left == 0 { 0 } else { parts(ty, left, deep - 1) });
    match ty {
        _ if left == 0 => 0,
        Type::Named(_, types) | Type::Tuple(types) | Type::Braces(types) => all(types),
        Type::Stack(element, _) | Type::List(element) | Type::Set(element) => parts(element, left, deep - 1),
        Type::Pairs(pairs, _) => {
            pairs.iter().fold(left, |left, (_, ty)| if left == 0 { 0 } else { parts(ty, left, deep - 1) })
        }
        _ => left,
    }
}

/// Type parameters that stand in a type.
fn parameters(ty: &Type, all: &mut Vec<DefId>) {
    match ty {
        Type::Parameter(id) if !all.contains(id) => all.push(*id),
        Type::Named(_, types) | Type::Tuple(types) => types.iter().for_each(|ty| parameters(ty, all)),
        Type::Stack(element, _) | Type::List(element) => parameters(element, all),
        _ => {}
    }
}

/// A type with type arguments in the places of its parameters.
pub(crate) fn substitute(ty: &Type, parameters: &[DefId], arguments: &[Type]) -> Type {
    if parameters.is_empty() {
        return ty.clone();
    }
    let put = |ty: &Type| substitute(ty, parameters, arguments);
    match ty {
        Type::Parameter(id) => match parameters.iter().position(|p| p == id) {
            Some(at) => arguments.get(at).cloned().unwrap_or(Type::Unknown),
            None => ty.clone(),
        },
        Type::Named(id, all) => Type::Named(*id, all.iter().map(put).collect()),
        Type::Stack(element, size) => Type::Stack(Rc::new(put(element)), *size),
        Type::Tuple(all) => Type::Tuple(all.iter().map(put).collect()),
        Type::List(element) => Type::List(Rc::new(put(element))),
        Type::Set(element) => Type::Set(Rc::new(put(element))),
        _ => ty.clone(),
    }
}

/// Fields of a struct, header or union with their types.
pub(super) fn fields(definitions: &[Definition], ty: &Type) -> Option<(Fields, NamedTypes)> {
    let Type::Named(id, arguments) = ty else { return None };
    let Kind::Fields { kind, types, fields } = &definitions[id.index()].kind else { return None };
    let put = |(name, ty): &(Rc<str>, Type)| (name.clone(), substitute(ty, types, arguments));
    Some((*kind, fields.iter().map(put).collect()))
}

impl Checker<'_> {
    /// A type with all that is known put in for what was not.
    pub(super) fn known(&self, ty: &Type) -> Type {
        match ty {
            Type::Infer(n) => match self.found.get(*n as usize).and_then(Option::as_ref) {
                Some(found) => self.known(found),
                None => ty.clone(),
            },
            Type::Named(id, arguments) if !arguments.is_empty() => {
                Type::Named(*id, arguments.iter().map(|a| self.known(a)).collect())
            }
            Type::Stack(element, size) => Type::Stack(Rc::new(self.known(element)), *size),
            Type::Tuple(all) => Type::Tuple(all.iter().map(|a| self.known(a)).collect()),
            Type::List(element) => Type::List(Rc::new(self.known(element))),
            Type::Set(element) => Type::Set(Rc::new(self.known(element))),
            Type::Braces(all) => Type::Braces(all.iter().map(|a| self.known(a)).collect()),
            Type::Pairs(all, dots) => {
                Type::Pairs(all.iter().map(|(name, ty)| (name.clone(), self.known(ty))).collect(), *dots)
            }
            _ => ty.clone(),
        }
    }

    /// The type, unless it has too many parts.
    pub(super) fn of_size(&mut self, ty: Type, span: Span) -> Type {
        if parts(&ty, MOST_PARTS, DEEPEST) > 0 {
            return ty;
        }
        let what = format!("the type of this has more than {MOST_PARTS} parts, or is nested more than {DEEPEST} deep");
        self.note(span, Problem::Nested { what });
        Type::Unknown
    }

    /// A type that is to be found.
    pub(super) fn fresh(&mut self) -> Type {
        self.found.push(None);
        Type::Infer(self.found.len() as u32 - 1)
    }

    /// A type with something to be found for each of its type parameters.
    pub(super) fn opened(&mut self, ty: &Type) -> Type {
        let mut all = Vec::new();
        parameters(ty, &mut all);
        let fresh: Vec<Type> = all.iter().map(|_| self.fresh()).collect();
        self.substitute(ty, &all, &fresh)
    }

    /// A type with type arguments in the places of its parameters.
    pub(super) fn substitute(&self, ty: &Type, parameters: &[DefId], arguments: &[Type]) -> Type {
        substitute(ty, parameters, arguments)
    }

    /// A type as a message shows it.
    pub(super) fn show(&self, ty: &Type) -> String {
        self.show_within(ty, 4)
    }

    fn show_within(&self, ty: &Type, depth: usize) -> String {
        if depth == 0 {
            return "...".to_string();
        }
        let list = |all: &[Type]| all.iter().map(|a| self.show_within(a, depth - 1)).collect::<Vec<_>>().join(", ");
        match ty {
            Type::Unknown | Type::Any => "_".to_string(),
            Type::Bool => "bool".to_string(),
            Type::Int => "int".to_string(),
            Type::Bit(width) => format!("bit<{width}>"),
            Type::Signed(width) => format!("int<{width}>"),
            Type::Varbit(width) => format!("varbit<{width}>"),
            Type::Text => "string".to_string(),
            Type::Error => "error".to_string(),
            Type::MatchKind => "match_kind".to_string(),
            Type::Void => "void".to_string(),
            Type::Named(id, arguments) => {
                let name = &self.definition(*id).name;
                if arguments.is_empty() { name.to_string() } else { format!("{name}<{}>", list(arguments)) }
            }
            Type::Parameter(id) => self.definition(*id).name.to_string(),
            Type::Infer(_) => match self.known(ty) {
                Type::Infer(_) => "_".to_string(),
                known => self.show_within(&known, depth - 1),
            },
            Type::Stack(element, size) => format!("{}[{size}]", self.show_within(element, depth - 1)),
            Type::Tuple(all) => format!("tuple<{}>", list(all)),
            Type::List(element) => format!("list<{}>", self.show_within(element, depth - 1)),
            Type::Braces(all) => format!("{{{}}}", list(all)),
            Type::Pairs(all, _) => {
                let names: Vec<&str> = all.iter().map(|(name, _)| &**name).collect();
                format!("{{{} = ...}}", names.join(", "))
            }
            Type::Invalid => "{#}".to_string(),
            Type::Dots => "...".to_string(),
            Type::Set(element) => format!("a set of {}", self.show_within(element, depth - 1)),
            Type::Table(id) => format!("table {}", self.definition(*id).name),
            Type::Applied(id) => format!("result of table {}", self.definition(*id).name),
            Type::ActionRun(id) => format!("action of table {}", self.definition(*id).name),
        }
    }

    /// What a serializable enum is represented by.
    pub(super) fn underlying(&self, ty: &Type) -> Option<Type> {
        match ty {
            Type::Named(id, _) => match &self.definition(*id).kind {
                Kind::Enum { underlying: Some(underlying), .. } => Some(underlying.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The type that `type` makes a new one of.
    pub(super) fn renamed(&self, ty: &Type) -> Option<Type> {
        match ty {
            Type::Named(id, _) => match &self.definition(*id).kind {
                Kind::New(of) => Some(of.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Fields of a struct, header or union with their types.
    pub(super) fn fields(&self, ty: &Type) -> Option<(Fields, NamedTypes)> {
        fields(&self.definitions, ty)
    }

    /// A type where another one is needed.
    pub(super) fn mismatch(&mut self, span: Span, what: impl Into<String>, found: &Type, expected: impl Into<String>) {
        if *found != Type::Unknown {
            let found = self.show(found);
            self.note(span, Problem::Mismatch { what: what.into(), found, expected: expected.into() });
        }
    }
}
