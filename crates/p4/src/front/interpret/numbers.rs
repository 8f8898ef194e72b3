//! Arithmetic as section 8 of the specification says: in a width, with or without sign.

use super::value::{Number, Value, low_bits, ones};
use crate::front::check::{Type, compare, saturate};
use crate::front::syntax::ast::{Binary, Unary};
use num_bigint::{BigInt, BigUint, Sign};

/// The result of an operator on two numbers of one type; the right one of a shift has any. `None` divides by zero.
pub(crate) fn binary(operator: Binary, ty: Number, left: &Value, right: &Value) -> Option<Value> {
    if let (Value::Bits(a), Value::Bits(b), false) = (left, right, ty.signed)
        && let Some(value) = short(operator, ty.width, *a, *b)
    {
        return Some(value);
    }
    long(operator, ty, left, right)
}

/// The common case: no sign, at most 128 bits.
fn short(operator: Binary, width: u32, a: u128, b: u128) -> Option<Value> {
    use Binary as B;
    let all = ones(width);
    Some(Value::Bits(match operator {
        B::Add => a.wrapping_add(b) & all,
        B::Subtract => a.wrapping_sub(b) & all,
        B::Multiply => a.wrapping_mul(b) & all,
        B::BitAnd => a & b,
        B::BitOr => a | b,
        B::BitXor => a ^ b,
        B::SaturatingAdd => a.checked_add(b).map_or(all, |sum| sum.min(all)),
        B::SaturatingSubtract => a.saturating_sub(b),
        B::ShiftLeft if b >= u128::from(width) => 0,
        B::ShiftLeft => (a << b as u32) & all,
        B::ShiftRight if b >= u128::from(width) => 0,
        B::ShiftRight => a >> b as u32,
        _ => return compare(operator, &a, &b).map(Value::Bool),
    }))
}

fn long(operator: Binary, ty: Number, left: &Value, right: &Value) -> Option<Value> {
    use Binary as B;
    let is_int = matches!((left, right), (Value::Int(_), _));
    let one = left.number(ty);
    let made = |number: BigInt| match is_int {
        true => Value::Int(Box::new(number)),
        false => Value::of_int(&number, ty.width),
    };
    if let B::ShiftLeft | B::ShiftRight = operator {
        let by = u64::try_from(right.big()).unwrap_or(u64::MAX).min(u64::from(ty.width.max(1 << 16)));
        return Some(match operator {
            B::ShiftLeft if !is_int && by >= u64::from(ty.width) => made(BigInt::from(0)),
            B::ShiftLeft => made(one << by),
            _ => made(one >> by),
        });
    }
    let two = right.number(ty);
    if let Some(compared) = compare(operator, &one, &two) {
        return Some(Value::Bool(compared));
    }
    let limits = match ty.signed {
        true => Type::Signed(ty.width),
        false => Type::Bit(ty.width),
    };
    Some(made(match operator {
        B::Add => one + two,
        B::Subtract => one - two,
        B::Multiply => one * two,
        B::BitAnd => one & two,
        B::BitOr => one | two,
        B::BitXor => one ^ two,
        B::SaturatingAdd => saturate(one + two, &limits),
        B::SaturatingSubtract => saturate(one - two, &limits),
        B::Divide | B::Modulo if two.sign() == Sign::NoSign => return None,
        B::Divide => one / two,
        B::Modulo => one % two,
        _ => return None,
    }))
}

/// The result of an operator on one number.
pub(crate) fn unary(operator: Unary, ty: Number, value: &Value) -> Value {
    match (operator, value) {
        (Unary::Not, _) => Value::Bool(!value.is_true()),
        (Unary::Plus, _) => value.clone(),
        (Unary::Minus, Value::Int(number)) => Value::Int(Box::new(-BigInt::clone(number))),
        (Unary::Complement, Value::Int(number)) => Value::Int(Box::new(-BigInt::clone(number) - 1)),
        (Unary::Minus, Value::Bits(bits)) => Value::Bits(bits.wrapping_neg() & ones(ty.width)),
        (Unary::Complement, Value::Bits(bits)) => Value::Bits(!bits & ones(ty.width)),
        (Unary::Minus, _) => Value::of_int(&-value.number(ty), ty.width),
        (Unary::Complement, _) => Value::of_int(&(-value.number(ty) - 1), ty.width),
    }
}

/// A number of another width, or with another sign: the number itself is kept as far as the width allows.
pub(crate) fn resize(value: &Value, from: Number, to: Number) -> Value {
    match value {
        Value::Bits(bits) if to.width <= from.width && to.width <= 128 => Value::Bits(bits & ones(to.width)),
        Value::Bits(bits) if !from.signed && to.width <= 128 => Value::Bits(*bits),
        _ => Value::of_int(&value.number(from), to.width),
    }
}

/// Two numbers in a row.
pub(crate) fn concat(left: &Value, right: &Value, low: u32, width: u32) -> Value {
    match (left, right) {
        (Value::Bits(a), Value::Bits(b)) if width <= 128 => Value::Bits(a.checked_shl(low).unwrap_or(0) | b),
        _ => Value::of_big((left.big() << low) | right.big(), width),
    }
}

/// Bits `low` and up of a number.
pub(crate) fn slice(value: &Value, low: u32, width: u32, of: Number) -> Value {
    match value {
        Value::Bits(bits) => Value::Bits(bits.checked_shr(low).unwrap_or(0) & ones(width)),
        Value::Int(_) => Value::of_int(&(value.number(of) >> low), width),
        _ => Value::of_big(value.big() >> low, width),
    }
}

/// A number with `part` in its bits `low` and up.
pub(crate) fn put(into: &Value, part: &Value, low: u32, width: u32, of: Number) -> Value {
    match (into, part) {
        (Value::Bits(bits), Value::Bits(part)) => {
            let mask = ones(width).checked_shl(low).unwrap_or(0) & ones(of.width);
            Value::Bits((bits & !mask) | (part.checked_shl(low).unwrap_or(0) & mask))
        }
        _ => {
            let all = into.big();
            let above: BigUint = (&all >> (low + width)) << (low + width);
            let below = low_bits(all, low);
            Value::of_big(above | (low_bits(part.big(), width) << low) | below, of.width)
        }
    }
}
