//! Which types may stand in which: the table of section 7.2.9 of the specification.

use super::definitions::{DefId, Kind};
use super::types::Type;
use super::{Checker, Problem};
use crate::front::syntax::ast::{Direction, Fields};

/// Most fields that are looked at in a type, so that nothing takes long.
const DEEPEST: usize = 64;

impl Checker<'_> {
    /// What is wrong with a type by its parts, once type arguments are put in.
    pub(super) fn ill_formed(&self, ty: &Type) -> Option<Problem> {
        let wrong = |found: &Type, role: &str, allowed: &str| {
            let (role, allowed) = (role.to_string(), allowed.to_string());
            Some(Problem::TypeUse { found: self.show(found), role, allowed })
        };
        match ty {
            Type::Tuple(all) => all.iter().find_map(|element| match element {
                Type::Void | Type::List(_) => wrong(element, "an element of a tuple", "types of a fixed size"),
                _ if self.is_object(element) => wrong(element, "an element of a tuple", "types of values"),
                _ => self.ill_formed(element),
            }),
            Type::List(element) if self.is_object(element) || **element == Type::Void => {
                wrong(element, "an element of a list", "types of values")
            }
            Type::List(element) => self.ill_formed(element),
            Type::Stack(element, _) => match self.may_stand_in_array(element) {
                true => self.ill_formed(element),
                false => wrong(element, "an element of a stack", "headers, header unions and types of fixed size"),
            },
            Type::Named(id, arguments) if !arguments.is_empty() => {
                if let Some(argument) = arguments.iter().find(|argument| **argument == Type::Void) {
                    let external = matches!(
                        self.definition(*id).kind,
                        Kind::Extern { .. } | Kind::Package { .. } | Kind::Block { .. }
                    );
                    if !external {
                        return wrong(argument, "a type argument", "types of values");
                    }
                }
                if let Some(directed) = self.directed(*id, arguments) {
                    return wrong(&directed, "a type argument", "types of values: a method passes it with a direction");
                }
                let (kind, fields) = self.fields(ty)?;
                fields.iter().find_map(|(_, field)| match self.may_stand_in(kind, field, DEEPEST) {
                    Ok(()) => None,
                    Err(allowed) => wrong(field, role(kind), allowed),
                })
            }
            _ => None,
        }
    }

    /// An object that a method of an extern would take with a direction, once its type arguments are put in.
    fn directed(&self, id: DefId, arguments: &[Type]) -> Option<Type> {
        let Kind::Extern { types, methods, .. } = &self.definition(id).kind else { return None };
        let all = methods.iter().flat_map(|method| &method.parameters);
        let mut put = all.filter(|p| p.direction != Direction::None).map(|p| self.substitute(&p.ty, types, arguments));
        put.find(|ty| self.is_object(ty))
    }

    /// Whether values of a type are objects, which are no values: externs, parsers, controls, packages, tables.
    pub(super) fn is_object(&self, ty: &Type) -> bool {
        match ty {
            Type::Named(id, _) => {
                matches!(self.definition(*id).kind, Kind::Extern { .. } | Kind::Block { .. } | Kind::Package { .. })
            }
            Type::Table(_) => true,
            _ => false,
        }
    }

    fn may_stand_in_array(&self, element: &Type) -> bool {
        match element {
            Type::Unknown | Type::Parameter(_) | Type::Infer(_) | Type::Any => true,
            Type::Bit(_) | Type::Signed(_) | Type::Varbit(_) | Type::Bool => true,
            // Arrays of arrays, but no stacks of stacks.
            Type::Stack(of, _) => !matches!(self.fields(of), Some((Fields::Header | Fields::Union, _))),
            Type::Named(..) => !self.is_object(element),
            _ => false,
        }
    }

    /// Whether a field may have that type, or what is allowed.
    pub(super) fn may_stand_in(&self, kind: Fields, field: &Type, depth: usize) -> Result<(), &'static str> {
        self.look_into(Ok(()), || self.may_stand_in_it(kind, field, depth))
    }

    fn may_stand_in_it(&self, kind: Fields, field: &Type, depth: usize) -> Result<(), &'static str> {
        if depth == 0 || matches!(field, Type::Unknown | Type::Parameter(_) | Type::Infer(_)) {
            return Ok(());
        }
        let named = match field {
            Type::Named(id, _) => Some(&self.definition(*id).kind),
            _ => None,
        };
        match kind {
            Fields::Union => match self.is_header(field) {
                true => Ok(()),
                false => Err("headers"),
            },
            Fields::Header => {
                let allowed = "bit, int, varbit, bool, enums with a representation, and structs and stacks of these";
                match field {
                    Type::Bit(_) | Type::Signed(_) | Type::Varbit(_) | Type::Bool => Ok(()),
                    Type::Stack(element, _) => match &**element {
                        Type::Bit(_) | Type::Signed(_) | Type::Bool | Type::Stack(..) => {
                            self.may_stand_in(kind, element, depth - 1).map_err(|_| allowed)
                        }
                        Type::Named(..) => self.may_stand_in(kind, element, depth - 1).map_err(|_| allowed),
                        _ => Err(allowed),
                    },
                    _ => match named {
                        Some(Kind::Enum { underlying: Some(_), .. }) => Ok(()),
                        Some(Kind::New(of)) => self.may_stand_in(kind, of, depth - 1).map_err(|_| allowed),
                        Some(Kind::Fields { kind: Fields::Struct, .. }) => {
                            let (_, fields) = self.fields(field).unwrap_or((kind, Vec::new()));
                            fields.iter().try_for_each(|(_, ty)| match ty {
                                Type::Varbit(_) => Err(allowed),
                                _ => self.may_stand_in(kind, ty, depth - 1).map_err(|_| allowed),
                            })
                        }
                        _ => Err(allowed),
                    },
                }
            }
            Fields::Struct => {
                let allowed = "types of values that have a size";
                match field {
                    Type::Void
                    | Type::Int
                    | Type::Text
                    | Type::MatchKind
                    | Type::List(_)
                    | Type::Any
                    | Type::Set(_) => Err(allowed),
                    _ if self.is_object(field) => Err(allowed),
                    _ => Ok(()),
                }
            }
        }
    }
}

/// Fields of what, as a message says it.
pub(super) fn role(kind: Fields) -> &'static str {
    match kind {
        Fields::Struct => "a field of a struct",
        Fields::Header => "a field of a header",
        Fields::Union => "a field of a header union",
    }
}
