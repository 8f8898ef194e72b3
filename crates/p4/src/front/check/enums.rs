//! Enums, and the numbers that their members have.

use super::definitions::Kind;
use super::types::Type;
use super::value::Value;
use super::{Checker, Problem};
use crate::front::source::Span;
use crate::front::syntax::ast::{Expr, Name, TypeExpr};
use std::rc::Rc;

impl Checker<'_> {
    pub(super) fn enumeration(&mut self, ty: Option<&TypeExpr>, name: &Name, members: &[(Name, Option<Expr>)]) {
        self.distinct(members.iter().map(|(name, _)| name));
        let underlying = ty.map(|written| {
            let ty = self.value_type(written, "what represents an enum");
            match ty {
                Type::Bit(_) | Type::Signed(_) | Type::Unknown => ty,
                _ => {
                    let (found, role) = (self.show(&ty), "what represents an enum".to_string());
                    self.note(written.span, Problem::TypeUse { found, role, allowed: "bit<W> and int<W>".to_string() });
                    Type::Unknown
                }
            }
        });
        let all = self.scoped(|c| c.enum_members(underlying.as_ref(), members));
        self.define_named(name, Kind::Enum { underlying, members: all });
    }

    /// Members of an enum with their numbers; each may name those before it.
    fn enum_members(
        &mut self,
        underlying: Option<&Type>,
        members: &[(Name, Option<Expr>)],
    ) -> Vec<(Rc<str>, Option<num_bigint::BigInt>)> {
        let mut all: Vec<(Rc<str>, Option<num_bigint::BigInt>)> = Vec::with_capacity(members.len());
        for (member, value) in members {
            let wrong = |checker: &mut Self, found: &str, expected: &str| {
                let (found, expected) = (format!("`{}` {found}", member.text), expected.to_string());
                checker.note(member.span, Problem::Expected { found, expected });
            };
            let number = match (underlying, value) {
                (None, None) => None,
                (None, Some(_)) => {
                    wrong(self, "with a value", "a member without value: this enum has no type");
                    None
                }
                (Some(_), None) => {
                    wrong(self, "without value", "a value, for the enum has a type");
                    None
                }
                (Some(ty), Some(value)) => {
                    let found = self.infer(value);
                    let written = if found == Type::Int { self.constant(value) } else { None };
                    self.expect_type(value, &found, ty, "the value of a member");
                    if *ty == Type::Unknown {
                        continue;
                    }
                    if let Some(Value::Number(number)) = written {
                        self.member_in_range(&number, ty, value.at.span);
                    }
                    match self.constant_number(value, "the value of a member") {
                        Some(number) => match self.cast_value(Value::Number(number), ty) {
                            Value::Number(number) => Some(number),
                            _ => None,
                        },
                        None => None,
                    }
                }
            };
            if let (Some(ty), Some(number)) = (underlying, &number) {
                let value = Some(Value::Number(number.clone()));
                if self.scopes.innermost(&member.text).is_empty() {
                    self.define_named(member, Kind::Constant { ty: ty.clone(), value });
                }
            }
            all.push((member.text.clone(), number));
        }
        all
    }

    /// Notes a number that what represents an enum does not hold.
    fn member_in_range(&mut self, number: &num_bigint::BigInt, ty: &Type, span: Span) {
        if super::value::wrap(number.clone(), ty) == *number {
            return;
        }
        let found = if number.bits() > 128 { "a number of many digits".to_string() } else { number.to_string() };
        let allowed = format!("what {} holds", self.show(ty));
        self.note(span, Problem::Range { what: "the value of a member".to_string(), found, allowed });
    }
}
