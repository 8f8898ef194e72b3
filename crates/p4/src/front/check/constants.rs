//! Values of constant expressions, as far as they are wanted; the expression's types are known before.

use super::definitions::Kind;
use super::types::Type;
use super::value::{MOST_BITS, Value, compare, saturate, wrap};
use super::{Checker, Problem};
use crate::front::source::Span;
use crate::front::syntax::ast::{Binary, Expr, ExprKind, Fields, Unary};
use num_bigint::{BigInt, Sign};
use std::rc::Rc;

impl Checker<'_> {
    /// The value of an expression; `None` where it is none that is known before the program runs.
    pub(super) fn constant(&mut self, expression: &Expr) -> Option<Value> {
        let ty = self.type_of(expression);
        if ty == Type::Unknown {
            // What is wrong with it was said.
            return Some(Value::Known);
        }
        let value = match &expression.kind {
            ExprKind::Bool(value) => Value::Bool(*value),
            ExprKind::Number(number) => Value::Number(number.value.clone()),
            ExprKind::Text(text) => Value::Text(text.clone()),
            ExprKind::Name { global, name } if self.is_match_kind(name, *global) => Value::Known,
            ExprKind::Name { global, name } => {
                let id = *self.scopes.find(&name.text, *global).last()?;
                match &self.definition(id).kind {
                    Kind::Constant { value, .. } => value.clone()?,
                    _ => return None,
                }
            }
            ExprKind::List(values) => {
                Value::List(values.iter().map(|value| self.constant(value)).collect::<Option<_>>()?)
            }
            ExprKind::Struct(fields, _) => {
                let pair = |(name, value): &(crate::front::syntax::ast::Name, Expr)| {
                    Some((name.text.clone(), self.constant(value)?))
                };
                Value::Fields(fields.iter().map(pair).collect::<Option<_>>()?)
            }
            ExprKind::Invalid | ExprKind::Dots => Value::Known,
            ExprKind::Unary(operator, value) => match (operator, self.constant(value)?) {
                (_, Value::Known) => Value::Known,
                (Unary::Not, Value::Bool(value)) => Value::Bool(!value),
                (Unary::Minus, Value::Number(number)) => Value::Number(wrap(-number, &ty)),
                (Unary::Plus, Value::Number(number)) => Value::Number(number),
                (Unary::Complement, Value::Number(number)) => Value::Number(wrap(-number - 1, &ty)),
                _ => return None,
            },
            ExprKind::Binary(operator, left, right) => {
                let (one, two) = (self.constant(left)?, self.constant(right)?);
                let (left, right) = (self.type_of(left), self.type_of(right));
                self.binary_value(*operator, one, two, (&left, &right, &ty), expression.at.span)?
            }
            ExprKind::Choice(condition, yes, no) => match self.constant(condition)? {
                Value::Bool(true) => self.constant(yes)?,
                Value::Bool(false) => self.constant(no)?,
                _ => Value::Known,
            },
            ExprKind::Cast(_, value) => {
                let value = self.constant(value)?;
                self.cast_value(value, &ty)
            }
            ExprKind::Member(owner, member) => return self.member_value(owner, &member.text, &ty),
            ExprKind::Index(owner, index) => match (self.constant(owner)?, self.constant(index)?) {
                (Value::List(values), Value::Number(at)) => values.get(usize::try_from(at).ok()?)?.clone(),
                (Value::Known, _) | (_, Value::Known) => Value::Known,
                _ => return None,
            },
            ExprKind::Slice(value, high, low) => {
                match (self.constant(value)?, self.constant(high)?, self.constant(low)?) {
                    (Value::Number(number), Value::Number(high), Value::Number(low)) => {
                        let low = u32::try_from(low).ok()?;
                        let width = u32::try_from(high).ok()?.checked_sub(low)? + 1;
                        Value::Number(wrap(number >> low, &Type::Bit(width)))
                    }
                    _ => Value::Known,
                }
            }
            ExprKind::Call(callee, _, arguments) => {
                let ExprKind::Member(owner, member) = &callee.kind else {
                    let is_assert =
                        matches!(&callee.kind, ExprKind::Name { name, .. } if &*name.text == "static_assert");
                    let all = arguments.iter().all(|argument| self.constant(&argument.value).is_some());
                    return (is_assert && all).then_some(Value::Bool(true));
                };
                return self.size_value(owner, &member.text);
            }
            _ => return None,
        };
        Some(value)
    }

    /// A value as a variable or parameter of a type holds it.
    pub(super) fn cast_value(&self, value: Value, ty: &Type) -> Value {
        let ty = self.underlying(ty).or_else(|| self.renamed(ty)).unwrap_or_else(|| ty.clone());
        let value = match value {
            Value::Member(id, name) => match &self.definition(id).kind {
                Kind::Enum { members, .. } if !matches!(ty, Type::Named(..)) => {
                    match members.iter().find(|(member, _)| *member == name) {
                        Some((_, Some(number))) => Value::Number(number.clone()),
                        _ => Value::Known,
                    }
                }
                _ => return Value::Member(id, name),
            },
            value => value,
        };
        match (value, &ty) {
            (Value::Number(number), Type::Bool) => Value::Bool(number.sign() != Sign::NoSign),
            (Value::Number(number), _) => Value::Number(wrap(number, &ty)),
            (Value::Bool(bit), Type::Bit(_)) => Value::Number(u8::from(bit).into()),
            (value, _) => value,
        }
    }

    fn member_value(&mut self, owner: &Expr, member: &Rc<str>, ty: &Type) -> Option<Value> {
        if self.denotes_type(owner).is_some() {
            return Some(match ty {
                Type::Error => Value::Error(member.clone()),
                Type::Named(id, _) => Value::Member(*id, member.clone()),
                _ => Value::Known,
            });
        }
        if let (Type::Stack(_, size), "size") = (self.type_of(owner), &**member) {
            return Some(Value::Number(size.into()));
        }
        match self.constant(owner)? {
            Value::Fields(fields) => fields.into_iter().find(|(name, _)| name == member).map(|(_, value)| value),
            Value::List(values) => {
                let (_, fields) = self.fields(&self.type_of(owner))?;
                values.into_iter().nth(fields.iter().position(|(name, _)| name == member)?)
            }
            Value::Known => Some(Value::Known),
            _ => None,
        }
    }

    /// `minSizeInBits()` and its kin.
    fn size_value(&mut self, owner: &Expr, method: &str) -> Option<Value> {
        let maximal = method.starts_with("max");
        let divisor = match method {
            "minSizeInBits" | "maxSizeInBits" => 1u64,
            "minSizeInBytes" | "maxSizeInBytes" => 8,
            _ => return None,
        };
        let ty = self.denotes_type(owner).unwrap_or_else(|| self.type_of(owner));
        Some(match self.bits(&ty, maximal) {
            Some(bits) => Value::Number(bits.div_ceil(divisor).into()),
            None => Value::Known,
        })
    }

    /// Bits of a value of that type: the least or the most.
    pub(super) fn bits(&self, ty: &Type, maximal: bool) -> Option<u64> {
        self.look_into(None, || self.bits_in(ty, maximal))
    }

    fn bits_in(&self, ty: &Type, maximal: bool) -> Option<u64> {
        if let Some(ty) = self.underlying(ty).or_else(|| self.renamed(ty)) {
            return self.bits(&ty, maximal);
        }
        if let Some((kind, fields)) = self.fields(ty) {
            let mut each = fields.iter().map(|(_, ty)| self.bits(ty, maximal));
            return match kind {
                Fields::Union if maximal => each.try_fold(0, |most, bits| Some(bits?.max(most))),
                Fields::Union => each.try_fold(u64::MAX, |least, bits| Some(bits?.min(least))),
                _ => each.try_fold(0u64, |sum, bits| sum.checked_add(bits?)),
            };
        }
        match ty {
            Type::Bool => Some(1),
            Type::Bit(width) | Type::Signed(width) => Some(u64::from(*width)),
            Type::Varbit(width) => Some(if maximal { u64::from(*width) } else { 0 }),
            Type::Stack(element, size) => self.bits(element, maximal)?.checked_mul(u64::from(*size)),
            Type::Tuple(all) => all.iter().try_fold(0u64, |sum, ty| sum.checked_add(self.bits(ty, maximal)?)),
            _ => None,
        }
    }

    fn binary_value(
        &mut self,
        operator: Binary,
        left: Value,
        right: Value,
        (left_type, right_type, ty): (&Type, &Type, &Type),
        span: Span,
    ) -> Option<Value> {
        use Binary as B;
        let (one, two) = match (left, right) {
            (Value::Bool(false), _) if operator == B::And => return Some(Value::Bool(false)),
            (Value::Bool(true), _) if operator == B::Or => return Some(Value::Bool(true)),
            (Value::Known, _) | (_, Value::Known) => return Some(Value::Known),
            (Value::Number(one), Value::Number(two)) => (one, two),
            (Value::Bool(one), Value::Bool(two)) => {
                return Some(Value::Bool(match operator {
                    B::And => one && two,
                    B::Or => one || two,
                    B::Equal => one == two,
                    B::NotEqual => one != two,
                    _ => return None,
                }));
            }
            (Value::Text(one), Value::Text(two)) if operator == B::Concat => {
                let length = (one.len() + two.len()) as u64;
                if length > MOST_BITS {
                    return self.huge(span, length);
                }
                return Some(Value::Text(format!("{one}{two}").into()));
            }
            (one @ (Value::Member(..) | Value::Number(_)), two @ (Value::Member(..) | Value::Number(_)))
                if !matches!(operator, B::Equal | B::NotEqual) =>
            {
                let number = |checker: &Self, value, ty: &Type| {
                    let ty = checker.underlying(ty).unwrap_or(Type::Int);
                    match checker.cast_value(value, &ty) {
                        Value::Number(number) => Some(number),
                        _ => None,
                    }
                };
                (number(self, one, left_type)?, number(self, two, right_type)?)
            }
            (one, two) => {
                return match operator {
                    B::Equal => Some(Value::Bool(one == two)),
                    B::NotEqual => Some(Value::Bool(one != two)),
                    _ => None,
                };
            }
        };
        if let Some(compared) = compare(operator, &one, &two) {
            return Some(Value::Bool(compared));
        }
        let bits = match operator {
            B::Multiply => one.bits() + two.bits(),
            B::ShiftLeft if one.sign() == Sign::NoSign => 0,
            B::ShiftLeft => match (ty, u64::try_from(&two)) {
                // What leaves at the top is not computed.
                (Type::Bit(width) | Type::Signed(width), by) if by.map_or(true, |by| by >= u64::from(*width)) => {
                    return Some(Value::Number(0.into()));
                }
                (_, by) => one.bits().saturating_add(by.unwrap_or(u64::MAX)),
            },
            _ => one.bits().max(two.bits()) + 1,
        };
        if bits > 2 * MOST_BITS {
            return self.huge(span, bits);
        }
        let zero = two.sign() == Sign::NoSign;
        let number = match operator {
            B::Add => one + two,
            B::Subtract => one - two,
            B::Multiply => one * two,
            B::Divide | B::Modulo if zero => return Some(Value::Known),
            B::Divide => one / two,
            B::Modulo => one % two,
            B::BitAnd => one & two,
            B::BitOr => one | two,
            B::BitXor => one ^ two,
            B::SaturatingAdd => return Some(Value::Number(saturate(one + two, ty))),
            B::SaturatingSubtract => return Some(Value::Number(saturate(one - two, ty))),
            B::ShiftLeft => one << u64::try_from(&two).ok()?,
            B::ShiftRight => match u64::try_from(&two) {
                Ok(by) => one >> by,
                Err(_) if one.sign() == Sign::Minus => BigInt::from(-1),
                Err(_) => BigInt::from(0),
            },
            B::Concat => {
                let width = |ty: &Type| match self.underlying(ty).unwrap_or_else(|| ty.clone()) {
                    Type::Bit(width) | Type::Signed(width) => Some(width),
                    _ => None,
                };
                let low = width(right_type)?;
                (one << low) + wrap(two, &Type::Bit(low))
            }
            _ => return None,
        };
        let number = wrap(number, ty);
        if number.bits() > MOST_BITS {
            return self.huge(span, number.bits());
        }
        Some(Value::Number(number))
    }

    fn huge(&mut self, span: Span, bits: u64) -> Option<Value> {
        let what = "the result of this operator".to_string();
        self.note(span, Problem::Huge { what, found: bits.to_string(), most: MOST_BITS.to_string() });
        Some(Value::Known)
    }
}
