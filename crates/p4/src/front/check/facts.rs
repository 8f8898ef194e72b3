//! What the checker keeps of a program that is right, for whoever runs or translates it.

use super::definitions::{DefId, Definition, Kind};
use super::types::{self, Type};
use crate::front::syntax::ast::{Expr, Fields, Instance, Name};
use std::collections::HashMap;
use std::rc::Rc;

/// A place where something is declared, with its name: a macro may declare several at one place.
type Declared = HashMap<(u32, u32, Rc<str>), DefId>;

/// Types, names and type arguments, by the numbers of expressions and the places of declarations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Types of expressions by their numbers.
    pub types: Vec<Type>,
    /// What names among expressions stand for.
    pub names: Vec<Option<DefId>>,
    /// Type arguments of calls, by the number of what is called.
    pub arguments: HashMap<u32, Rc<[Type]>>,
    /// All that is declared.
    pub definitions: Vec<Definition>,
    /// Numbers of errors, in the order of their declaration.
    pub errors: Vec<Rc<str>>,
    /// Constants that do not fit the type that holds them.
    pub cut: Vec<Cut>,
    declared: Declared,
}

/// A constant of which its type keeps the low bits only.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub span: crate::front::source::Span,
    pub value: num_bigint::BigInt,
    /// The type by its name, and by the bits that it has.
    pub ty: String,
    pub kept_in: Type,
}

impl Facts {
    /// Of a program with so many expressions.
    pub fn new(expressions: usize) -> Facts {
        Facts { names: vec![None; expressions], ..Facts::default() }
    }

    /// Takes note of a declaration.
    pub fn declare(&mut self, name: &Rc<str>, at: crate::front::source::Span, id: DefId) {
        self.declared.insert((at.text, at.start, name.clone()), id);
    }

    /// What a name declares where it stands.
    pub fn declared(&self, name: &Name) -> Option<DefId> {
        self.declared.get(&(name.span.text, name.span.start, name.text.clone())).copied()
    }

    /// Name of the package that an instance is one of.
    pub fn package(&self, instance: &Instance) -> Option<&str> {
        match &self.definition(self.declared(&instance.name)?).kind {
            Kind::Instance(Type::Named(package, _)) => Some(&self.definition(*package).name),
            _ => None,
        }
    }

    /// What an expression that is a name stands for.
    pub fn name(&self, expression: &Expr) -> Option<DefId> {
        self.names.get(expression.at.id as usize).copied().flatten()
    }

    /// The definition of that number.
    pub fn definition(&self, id: DefId) -> &Definition {
        &self.definitions[id.index()]
    }

    /// Fields of a struct, header or union with their types.
    pub fn fields(&self, ty: &Type) -> Option<(Fields, types::NamedTypes)> {
        types::fields(&self.definitions, ty)
    }

    /// What stands behind a type that is represented by another one: a serializable enum, or a new type.
    pub fn represented(&self, ty: &Type) -> Option<Type> {
        let Type::Named(id, _) = ty else { return None };
        match &self.definition(*id).kind {
            Kind::Enum { underlying: Some(of), .. } | Kind::New(of) => Some(of.clone()),
            _ => None,
        }
    }
}
