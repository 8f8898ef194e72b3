//! What names stand for.

use super::types::Type;
use super::value::Value;
use crate::front::source::Span;
use crate::front::syntax::ast::{BlockKind, Direction, Fields};
use num_bigint::BigInt;
use std::rc::Rc;

/// A definition, in the order of the program. Not an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DefId(u32);

impl DefId {
    pub fn new(index: usize) -> DefId {
        DefId(index as u32)
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A name and what it stands for.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub name: Rc<str>,
    pub span: Span,
    pub kind: Kind,
}

/// A parameter of a function, action, parser, control, package or constructor.
#[derive(Clone, Debug)]
pub(crate) struct Param {
    pub name: Rc<str>,
    pub ty: Type,
    pub direction: Direction,
    /// It may be left out: it has a default, or is marked `@optional`.
    pub optional: bool,
    /// It is marked `@optional`: a parser or control may lack it.
    pub absent: bool,
}

/// What can be called, and how.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub name: Rc<str>,
    pub types: Vec<DefId>,
    pub parameters: Vec<Param>,
    pub result: Type,
    pub is_abstract: bool,
    /// An abstract one that need not be implemented.
    pub optional: bool,
    /// It has no body here.
    pub external: bool,
}

/// The actions of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub actions: Vec<Rc<str>>,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    TypeParameter,
    Alias(Type),
    New(Type),
    Fields { kind: Fields, types: Vec<DefId>, fields: Vec<(Rc<str>, Type)> },
    Enum { underlying: Option<Type>, members: Vec<(Rc<str>, Option<BigInt>)> },
    Extern { types: Vec<DefId>, constructors: Vec<Rc<Signature>>, methods: Vec<Rc<Signature>> },
    Block { kind: BlockKind, types: Vec<DefId>, parameters: Vec<Param>, constructor: Vec<Param>, has_body: bool },
    Package { types: Vec<DefId>, parameters: Vec<Param> },
    Constant { ty: Type, value: Option<Value> },
    Variable { ty: Type, read_only: Option<&'static str>, parameter: bool },
    Instance(Type),
    Action(Rc<Signature>),
    Function(Rc<Signature>),
    Table(Table),
    State,
    ValueSet(Type),
}

impl Kind {
    /// As a message says it.
    pub fn text(&self) -> &'static str {
        match self {
            Kind::TypeParameter | Kind::Alias(_) | Kind::New(_) => "a type",
            Kind::Fields { kind: Fields::Struct, .. } => "a struct type",
            Kind::Fields { kind: Fields::Header, .. } => "a header type",
            Kind::Fields { kind: Fields::Union, .. } => "a header union type",
            Kind::Enum { .. } => "an enum type",
            Kind::Extern { .. } => "an extern type",
            Kind::Block { kind: BlockKind::Parser, .. } => "a parser type",
            Kind::Block { kind: BlockKind::Control, .. } => "a control type",
            Kind::Package { .. } => "a package type",
            Kind::Constant { .. } => "a constant",
            Kind::Variable { .. } => "a variable",
            Kind::Instance(_) => "an instance",
            Kind::Action(_) => "an action",
            Kind::Function(_) => "a function",
            Kind::Table(_) => "a table",
            Kind::State => "a state",
            Kind::ValueSet(_) => "a value set",
        }
    }

    pub fn is_type(&self) -> bool {
        use Kind as K;
        matches!(
            self,
            K::TypeParameter
                | K::Alias(_)
                | K::New(_)
                | K::Fields { .. }
                | K::Enum { .. }
                | K::Extern { .. }
                | K::Block { .. }
                | K::Package { .. }
        )
    }
}
