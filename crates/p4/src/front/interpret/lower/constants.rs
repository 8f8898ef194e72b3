//! What is known before the program runs is computed once.

use super::{Lowered, Lowerer};
use crate::front::interpret::code::Ex;
use crate::front::interpret::numbers;
use crate::front::interpret::value::{Header, Number, Value};
use crate::front::syntax::ast::{Binary, Expr};

impl<'p> Lowerer<'p> {
    /// A number that is known before the program runs.
    pub(super) fn constant_of(&mut self, expression: &'p Expr) -> Lowered<u128> {
        match self.value(expression, None)? {
            Ex::Constant(value) => Ok(value.bits()),
            _ => self.refuse(expression.at.span, "a constant that is not known before the program runs"),
        }
    }

    /// The sum of two positions.
    pub(super) fn sum(&self, one: Ex, two: Ex) -> Ex {
        let number = Number { width: 32, signed: false };
        fold(Ex::Binary(Binary::Add, number, crate::front::source::Span::default(), Box::new((one, two))))
    }
}

/// The value of an operator whose operands are known, or the operator.
pub(super) fn fold(ex: Ex) -> Ex {
    use Ex::Constant as C;
    match ex {
        Ex::Unary(operator, ty, value) => match *value {
            C(value) => C(numbers::unary(operator, ty, &value)),
            other => Ex::Unary(operator, ty, Box::new(other)),
        },
        Ex::Binary(operator, ty, span, both) => match *both {
            (C(one), C(two)) => match numbers::binary(operator, ty, &one, &two) {
                Some(value) => C(value),
                None => Ex::Binary(operator, ty, span, Box::new((C(one), C(two)))),
            },
            both => Ex::Binary(operator, ty, span, Box::new(both)),
        },
        Ex::Equal(both) => match *both {
            (C(one), C(two)) => C(Value::Bool(one.equals(&two))),
            both => Ex::Equal(Box::new(both)),
        },
        Ex::And(both) => match *both {
            (C(Value::Bool(false)), _) => C(Value::Bool(false)),
            (C(Value::Bool(true)), other) => other,
            both => Ex::And(Box::new(both)),
        },
        Ex::Or(both) => match *both {
            (C(Value::Bool(true)), _) => C(Value::Bool(true)),
            (C(Value::Bool(false)), other) => other,
            both => Ex::Or(Box::new(both)),
        },
        Ex::Choice(all) => match *all {
            (C(Value::Bool(true)), yes, _) => yes,
            (C(Value::Bool(false)), _, no) => no,
            all => Ex::Choice(Box::new(all)),
        },
        Ex::Resize(from, to, value) => match *value {
            C(value) => C(numbers::resize(&value, from, to)),
            other => Ex::Resize(from, to, Box::new(other)),
        },
        Ex::ToBool(value) => match *value {
            C(value) => C(Value::Bool(value.bits() != 0)),
            other => Ex::ToBool(Box::new(other)),
        },
        Ex::FromBool(value) => match *value {
            C(value) => C(Value::Bits(value.bits())),
            other => Ex::FromBool(Box::new(other)),
        },
        Ex::Concat(low, width, both) => match *both {
            (C(one), C(two)) => C(numbers::concat(&one, &two, low, width)),
            both => Ex::Concat(low, width, Box::new(both)),
        },
        Ex::Slice(of, width, both) => match *both {
            (C(value), C(low)) => C(numbers::slice(&value, low.bits() as u32, width, of)),
            both => Ex::Slice(of, width, Box::new(both)),
        },
        Ex::Struct(all) => match known(all) {
            Ok(values) => C(Value::Struct(values)),
            Err(all) => Ex::Struct(all),
        },
        Ex::Header(all) => match known(all) {
            Ok(fields) => C(Value::Header(Box::new(Header { valid: true, fields }))),
            Err(all) => Ex::Header(all),
        },
        Ex::Part(value, at) => match *value {
            C(value) => C(value.parts().get(at as usize).cloned().unwrap_or(Value::None)),
            other => Ex::Part(Box::new(other), at),
        },
        other => other,
    }
}

fn known(all: Vec<Ex>) -> Result<Box<[Value]>, Vec<Ex>> {
    match all.iter().all(|ex| matches!(ex, Ex::Constant(_))) {
        true => Ok(all
            .into_iter()
            .map(|ex| match ex {
                Ex::Constant(value) => value,
                _ => Value::None,
            })
            .collect()),
        false => Err(all),
    }
}
