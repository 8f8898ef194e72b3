//! Methods that values of the language have by themselves.

use super::calls::{Call, Called};
use super::definitions::Param;
use super::types::Type;
use super::{Checker, Value};
use crate::front::syntax::ast::{Argument, Direction, Expr, Fields, Name};

impl Checker<'_> {
    /// Whether values of a type have a size in bits; that of a type parameter is known later.
    fn has_size(&self, ty: &Type) -> bool {
        self.bits(ty, true).is_some() || self.is_generic(ty)
    }

    fn is_generic(&self, ty: &Type) -> bool {
        self.look_into(true, || match ty {
            Type::Unknown | Type::Parameter(_) | Type::Infer(_) | Type::Any => true,
            Type::Tuple(all) | Type::Braces(all) => all.iter().any(|ty| self.is_generic(ty)),
            Type::Stack(element, _) => self.is_generic(element),
            _ => self.fields(ty).is_some_and(|(_, fields)| fields.iter().any(|(_, ty)| self.is_generic(ty))),
        })
    }

    /// Methods that values of the language have by themselves.
    pub(super) fn method_of_value(&mut self, owner: &Expr, ty: &Type, member: &Name, call: &Call<'_>) -> Type {
        let fields = self.fields(ty).map(|(kind, _)| kind);
        let is_stack = matches!(ty, Type::Stack(element, _) if self.fields(element).is_some());
        let number =
            Param { name: "count".into(), ty: Type::Int, direction: Direction::None, optional: false, absent: false };
        let (parameters, result) = match &*member.text {
            "isValid" if matches!(fields, Some(Fields::Header | Fields::Union)) => (vec![], Type::Bool),
            "setValid" | "setInvalid" if fields == Some(Fields::Header) => (vec![], Type::Void),
            "push_front" | "pop_front" if is_stack => (vec![number], Type::Void),
            "minSizeInBits" | "minSizeInBytes" | "maxSizeInBits" | "maxSizeInBytes" if self.has_size(ty) => {
                (vec![], Type::Int)
            }
            _ => {
                self.no_member(ty, member, &[]);
                return self.arguments_alone(call.arguments);
            }
        };
        if result == Type::Void {
            self.place_written(owner);
        }
        self.bind(&parameters, &[], call, Called::Function);
        if let ("push_front" | "pop_front", [Argument { value, .. }]) = (&*member.text, call.arguments)
            && let Some(Value::Number(count)) = self.constant(value)
        {
            self.within_range(value.at.span, "how far a stack is moved", &count, 1, i32::MAX as u32);
        }
        result
    }
}
