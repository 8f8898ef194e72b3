//! Values of constants.

use super::definitions::DefId;
use super::types::Type;
use crate::front::syntax::ast::Binary;
use num_bigint::{BigInt, Sign};
use std::rc::Rc;

/// Most bits of a number that is computed.
pub(super) const MOST_BITS: u64 = 1 << 16;

/// A value that is known before the program runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(BigInt),
    Bool(bool),
    Text(Rc<str>),
    Error(Rc<str>),
    Member(DefId, Rc<str>),
    List(Vec<Value>),
    Fields(Vec<(Rc<str>, Value)>),
    /// Known where the program is put together, as an argument of a constructor.
    Known,
}

/// A number as a type holds it: its low bits.
pub(crate) fn wrap(number: BigInt, ty: &Type) -> BigInt {
    match ty {
        Type::Bit(width) => low_bits(number, *width),
        Type::Signed(width) if *width > 0 => {
            let low = low_bits(number, *width);
            let half = BigInt::from(1) << (*width - 1);
            if low >= half { low - (BigInt::from(1) << *width) } else { low }
        }
        _ => number,
    }
}

fn low_bits(number: BigInt, width: u32) -> BigInt {
    if number.sign() != Sign::Minus && number.bits() <= u64::from(width) {
        return number;
    }
    let all = BigInt::from(1) << width;
    let rest = number % &all;
    if rest.sign() == Sign::Minus { rest + all } else { rest }
}

/// Whether a comparison holds; `None` of an operator that compares nothing.
pub(crate) fn compare<T: PartialOrd>(operator: Binary, one: &T, two: &T) -> Option<bool> {
    Some(match operator {
        Binary::Equal => one == two,
        Binary::NotEqual => one != two,
        Binary::Less => one < two,
        Binary::LessEqual => one <= two,
        Binary::Greater => one > two,
        Binary::GreaterEqual => one >= two,
        _ => return None,
    })
}

/// A number at the ends of what a type holds.
pub(crate) fn saturate(number: BigInt, ty: &Type) -> BigInt {
    let one = || BigInt::from(1);
    let (low, high) = match ty {
        Type::Bit(width) => (BigInt::from(0), (one() << *width) - 1),
        Type::Signed(width) if *width > 0 => (-(one() << (*width - 1)), (one() << (*width - 1)) - 1),
        _ => return number,
    };
    number.clamp(low, high)
}
