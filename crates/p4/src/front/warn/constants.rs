//! Constants that are cut to a width, as the checker has met them, and values of constant expressions.

use super::{Looked, Warned};
use crate::front::check::{Facts, Kind, Type, Value, wrap};
use crate::front::syntax::ast::{Binary, Expr, ExprKind, Unary};
use num_bigint::BigInt;

pub(super) fn look(looked: &mut Looked<'_>) {
    for cut in &looked.facts.cut {
        let value = if cut.value.bits() > 128 { "of many digits".to_string() } else { cut.value.to_string() };
        let kept = wrap(cut.value.clone(), &cut.kept_in).to_string();
        looked.warn(cut.span, Warned::Cut { value, ty: cut.ty.clone(), kept });
    }
}

/// The number that a constant expression is, as its type holds it; nothing if it is not known.
pub(super) fn value(facts: &Facts, expression: &Expr) -> Option<BigInt> {
    let ty = facts.types.get(expression.at.id as usize)?;
    let of = |number| wrap(number, &facts.represented(ty).unwrap_or_else(|| ty.clone()));
    Some(of(match &expression.kind {
        ExprKind::Bool(value) => u8::from(*value).into(),
        ExprKind::Number(number) => number.value.clone(),
        ExprKind::Name { .. } => match &facts.definition(facts.name(expression)?).kind {
            Kind::Constant { value: Some(value), .. } => number_of(facts, value)?,
            _ => return None,
        },
        ExprKind::Member(_, member) => match ty {
            Type::Error => facts.errors.iter().position(|name| *name == member.text)?.into(),
            Type::Named(id, _) => match &facts.definition(*id).kind {
                Kind::Enum { members, .. } => {
                    let at = members.iter().position(|(name, _)| *name == member.text)?;
                    members[at].1.clone().unwrap_or_else(|| at.into())
                }
                _ => return None,
            },
            _ => return None,
        },
        ExprKind::Cast(_, value) => self::value(facts, value)?,
        ExprKind::Unary(Unary::Minus, value) => -self::value(facts, value)?,
        ExprKind::Unary(Unary::Plus, value) => self::value(facts, value)?,
        ExprKind::Unary(Unary::Complement, value) => -self::value(facts, value)? - 1,
        ExprKind::Binary(operator, one, two) => {
            let (one, two) = (self::value(facts, one)?, self::value(facts, two)?);
            match operator {
                Binary::Add => one + two,
                Binary::Subtract => one - two,
                Binary::Multiply => one * two,
                Binary::BitAnd => one & two,
                Binary::BitOr => one | two,
                Binary::BitXor => one ^ two,
                Binary::ShiftLeft if two < 4096.into() => one << u32::try_from(two).ok()?,
                _ => return None,
            }
        }
        _ => return None,
    }))
}

fn number_of(facts: &Facts, value: &Value) -> Option<BigInt> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::Bool(value) => Some(u8::from(*value).into()),
        Value::Error(name) => facts.errors.iter().position(|error| error == name).map(BigInt::from),
        Value::Member(id, name) => match &facts.definition(*id).kind {
            Kind::Enum { members, .. } => {
                let at = members.iter().position(|(member, _)| member == name)?;
                Some(members[at].1.clone().unwrap_or_else(|| at.into()))
            }
            _ => None,
        },
        _ => None,
    }
}
