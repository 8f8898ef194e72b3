//! Types where they are written.

use super::definitions::Kind;
use super::types::Type;
use super::value::MOST_BITS;
use super::{Checker, Problem};
use crate::front::source::Span;
use crate::front::syntax::ast::{Expr, Fields, Name, TypeExpr, TypeKind};
use num_bigint::BigInt;
use std::rc::Rc;

impl Checker<'_> {
    /// A type as it is written; a mistake in it is noted.
    pub(super) fn ty(&mut self, written: &TypeExpr) -> Type {
        let ty = match &written.kind {
            TypeKind::Bool => Type::Bool,
            TypeKind::Error => Type::Error,
            TypeKind::MatchKind => Type::MatchKind,
            TypeKind::String => Type::Text,
            TypeKind::Void => Type::Void,
            TypeKind::Integer => Type::Int,
            TypeKind::Any => Type::Any,
            TypeKind::Bit(None) => Type::Bit(1),
            TypeKind::Bit(Some(width)) => self.width(width, 0).map_or(Type::Unknown, Type::Bit),
            TypeKind::Int(width) => self.width(width, 1).map_or(Type::Unknown, Type::Signed),
            TypeKind::Varbit(width) => self.width(width, 0).map_or(Type::Unknown, Type::Varbit),
            TypeKind::Named { global, name, arguments } => self.named(*global, name, arguments),
            TypeKind::Stack(element, size) => {
                let element = self.ty(element);
                let size = self.stack_size(size);
                match size {
                    Some(size) if element != Type::Unknown => Type::Stack(Rc::new(element), size),
                    _ => Type::Unknown,
                }
            }
            TypeKind::Tuple(all) => Type::Tuple(all.iter().map(|ty| self.tuple_element(ty)).collect()),
            TypeKind::List(element) => Type::List(Rc::new(self.type_argument(element))),
        };
        let ty = self.of_size(ty, written.span);
        match self.ill_formed(&ty) {
            Some(problem) => {
                self.note(written.span, problem);
                Type::Unknown
            }
            None => ty,
        }
    }

    /// The type of a variable, field, parameter or constant: one that values have.
    pub(super) fn value_type(&mut self, written: &TypeExpr, role: &str) -> Type {
        let ty = self.ty(written);
        self.complete(&ty, written.span, role)
    }

    /// Notes a type that lacks arguments, or that no value has.
    fn complete(&mut self, ty: &Type, span: Span, role: &str) -> Type {
        let allowed = match ty {
            Type::Void => "a type that values have",
            _ if ty.holds_any() && !self.is_object(ty) => "a type that is told whole",
            Type::Named(..) => return self.with_arguments(ty, span),
            Type::Stack(element, _) => {
                self.complete(&element.clone(), span, role);
                return ty.clone();
            }
            _ => return ty.clone(),
        };
        let found = if *ty == Type::Void { "void".to_string() } else { self.show(ty) };
        self.note(span, Problem::TypeUse { found, role: role.to_string(), allowed: allowed.to_string() });
        Type::Unknown
    }

    /// A type in the brackets of another one, or of a call, or one that gets a name; `_` and `void` are types, too.
    pub(super) fn type_argument(&mut self, written: &TypeExpr) -> Type {
        let ty = self.ty(written);
        self.with_arguments(&ty, written.span)
    }

    /// The type of a tuple's element as it is written: a number has a width, and so on. In a list of values it need not.
    fn tuple_element(&mut self, written: &TypeExpr) -> Type {
        let ty = self.type_argument(written);
        if !matches!(ty, Type::Int | Type::Text) {
            return ty;
        }
        let (found, role) = (self.show(&ty), "an element of a tuple".to_string());
        let allowed = "types of a fixed size".to_string();
        self.note(written.span, Problem::TypeUse { found, role, allowed });
        Type::Unknown
    }

    /// Notes a type that lacks type arguments of its own.
    fn with_arguments(&mut self, ty: &Type, span: Span) -> Type {
        if let Type::Named(id, arguments) = ty
            && arguments.len() != self.type_parameters(*id).len()
        {
            let count = self.type_parameters(*id).len();
            let name = self.definition(*id).name.to_string();
            let what = format!("it takes {count} type arguments, found {}", arguments.len());
            self.note(span, Problem::TypeArguments { name, what });
            return Type::Unknown;
        }
        ty.clone()
    }

    /// Type parameters of something declared.
    pub(super) fn type_parameters(&self, id: super::DefId) -> &[super::DefId] {
        match &self.definition(id).kind {
            Kind::Fields { types, .. }
            | Kind::Extern { types, .. }
            | Kind::Block { types, .. }
            | Kind::Package { types, .. } => types,
            _ => &[],
        }
    }

    fn named(&mut self, global: bool, name: &Name, arguments: &[TypeExpr]) -> Type {
        let Some(id) = self.lookup(name, global) else { return Type::Unknown };
        let arguments: Rc<[Type]> = arguments.iter().map(|ty| self.type_argument(ty)).collect();
        let given = arguments.len();
        let ty = match &self.definition(id).kind {
            Kind::TypeParameter if given == 0 => Type::Parameter(id),
            Kind::Alias(ty) if given == 0 => ty.clone(),
            kind if kind.is_type() => {
                let count = self.type_parameters(id).len();
                if given != 0 && given != count {
                    let what = format!("it takes {count} type arguments, found {given}");
                    self.note(name.span, Problem::TypeArguments { name: name.text.to_string(), what });
                    return Type::Unknown;
                }
                Type::Named(id, arguments)
            }
            kind => {
                let found = kind.text().to_string();
                let shown = format!("`{}`", name.text);
                self.note(name.span, Problem::Kind { name: shown, found, expected: "a type".to_string() });
                return Type::Unknown;
            }
        };
        if ty.is_unknown_in() {
            return Type::Unknown;
        }
        ty
    }

    fn width(&mut self, width: &Expr, least: u32) -> Option<u32> {
        let ty = self.infer(width);
        if !matches!(self.base(&ty), Type::Int | Type::Bit(_) | Type::Signed(_) | Type::Unknown) {
            self.mismatch(width.at.span, "a width", &ty, "a number");
            return None;
        }
        let number = self.constant_number(width, "a width")?;
        self.within_range(width.at.span, "a width", &number, least, MOST_BITS as u32)
    }

    fn stack_size(&mut self, size: &Expr) -> Option<u32> {
        let ty = self.infer(size);
        if !matches!(self.base(&ty), Type::Int | Type::Bit(_) | Type::Signed(_) | Type::Unknown) {
            self.mismatch(size.at.span, "the size of a stack", &ty, "a number");
            return None;
        }
        let number = self.constant_number(size, "the size of a stack")?;
        self.within_range(size.at.span, "the size of a stack", &number, 1, 1 << 20)
    }

    /// A number within its range, or a mistake.
    pub(super) fn within_range(
        &mut self,
        span: Span,
        what: &str,
        found: &BigInt,
        least: u32,
        most: u32,
    ) -> Option<u32> {
        let number = u32::try_from(found).ok().filter(|n| (least..=most).contains(n));
        if number.is_none() {
            let found = if found.bits() > 128 { "a number of many digits".to_string() } else { found.to_string() };
            let allowed = format!("{least} to {most}");
            self.note(span, Problem::Range { what: what.to_string(), found, allowed });
        }
        number
    }

    /// What a type is made of where the rules ask for bits: itself, or what a serializable enum is represented by.
    pub(super) fn base(&self, ty: &Type) -> Type {
        let ty = self.known(ty);
        self.underlying(&ty).unwrap_or(ty)
    }

    /// Whether a type is a header.
    pub(super) fn is_header(&self, ty: &Type) -> bool {
        matches!(self.fields(ty), Some((Fields::Header, _)))
    }
}

impl Type {
    /// Whether `_` stands in it.
    fn holds_any(&self) -> bool {
        match self {
            Type::Any => true,
            Type::Named(_, all) | Type::Tuple(all) => all.iter().any(Type::holds_any),
            Type::Stack(element, _) | Type::List(element) => element.holds_any(),
            _ => false,
        }
    }

    /// Whether a mistake in a part of it was noted.
    fn is_unknown_in(&self) -> bool {
        match self {
            Type::Unknown => true,
            Type::Named(_, arguments) => arguments.iter().any(Type::is_unknown_in),
            Type::Tuple(all) => all.iter().any(Type::is_unknown_in),
            Type::Stack(element, _) | Type::List(element) => element.is_unknown_in(),
            _ => false,
        }
    }
}
