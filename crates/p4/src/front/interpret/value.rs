//! Values while a program runs.

use num_bigint::{BigInt, BigUint, Sign};
use std::rc::Rc;

/// A value. Numbers of at most 128 bits are `Bits`, whatever their sign; wider ones are `Wide`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// Low bits of `bit<W>` or `int<W>`, and the number of a member of an enum or of an error.
    Bits(u128),
    /// The same of more than 128 bits.
    Wide(Box<BigUint>),
    /// `int`.
    Int(Box<BigInt>),
    Bool(bool),
    /// Bits of a varbit, the first one highest, and how many there are.
    Varbit(Box<BigUint>, u32),
    Text(Rc<str>),
    /// A struct, tuple, list or the result of applying a table.
    Struct(Box<[Value]>),
    Header(Box<Header>),
    Stack(Box<Stack>),
    Union(Box<[Value]>),
    /// What has no value: the result of a function without one.
    None,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Header {
    pub valid: bool,
    pub fields: Box<[Value]>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stack {
    /// Index of `next`.
    pub next: u32,
    pub elements: Box<[Value]>,
}

/// Width of a number, and whether its highest bit is a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub width: u32,
    pub signed: bool,
}

/// Ones in the low bits.
pub(crate) fn ones(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1u128 << width) - 1 }
}

impl Value {
    /// A number of that width with these low bits.
    pub fn of_big(number: BigUint, width: u32) -> Value {
        if width > 128 {
            return Value::Wide(Box::new(low_bits(number, width)));
        }
        Value::Bits(low_u128(&number) & ones(width))
    }

    /// The number as a type of that width holds it.
    pub fn of_int(number: &BigInt, width: u32) -> Value {
        match (number.sign(), width) {
            (Sign::Minus, _) => {
                let all = BigInt::from(1) << width;
                let rest: BigInt = number % &all;
                let rest = if rest.sign() == Sign::Minus { rest + all } else { rest };
                Value::of_big(rest.magnitude().clone(), width)
            }
            _ => Value::of_big(number.magnitude().clone(), width),
        }
    }

    /// The low 128 bits.
    pub fn bits(&self) -> u128 {
        match self {
            Value::Bits(bits) => *bits,
            Value::Bool(bit) => u128::from(*bit),
            Value::Wide(number) | Value::Varbit(number, _) => low_u128(number),
            Value::Int(number) => match Value::of_int(number, 128) {
                Value::Bits(bits) => bits,
                _ => 0,
            },
            _ => 0,
        }
    }

    /// All bits as a number without sign.
    pub fn big(&self) -> BigUint {
        match self {
            Value::Wide(number) | Value::Varbit(number, _) => BigUint::clone(number),
            Value::Int(number) => number.magnitude().clone(),
            other => BigUint::from(other.bits()),
        }
    }

    /// The number that the bits are in that type.
    pub fn number(&self, ty: Number) -> BigInt {
        if let Value::Int(number) = self {
            return BigInt::clone(number);
        }
        let number = BigInt::from(self.big());
        match ty.signed && ty.width > 0 && number.bit(u64::from(ty.width) - 1) {
            true => number - (BigInt::from(1) << ty.width),
            false => number,
        }
    }

    pub fn is_true(&self) -> bool {
        matches!(self, Value::Bool(true))
    }

    /// Parts of what has parts.
    pub fn parts(&self) -> &[Value] {
        match self {
            Value::Struct(parts) | Value::Union(parts) => parts,
            Value::Header(header) => &header.fields,
            Value::Stack(stack) => &stack.elements,
            _ => &[],
        }
    }

    pub fn parts_mut(&mut self) -> &mut [Value] {
        match self {
            Value::Struct(parts) | Value::Union(parts) => parts,
            Value::Header(header) => &mut header.fields,
            Value::Stack(stack) => &mut stack.elements,
            _ => &mut [],
        }
    }

    /// Whether a header is valid, or one of a union's.
    pub fn is_valid(&self) -> bool {
        match self {
            Value::Header(header) => header.valid,
            Value::Union(all) => all.iter().any(Value::is_valid),
            _ => false,
        }
    }

    /// Makes a header valid or not; of a union all.
    pub fn set_valid(&mut self, valid: bool) {
        match self {
            Value::Header(header) => header.valid = valid,
            Value::Union(all) => all.iter_mut().for_each(|header| header.set_valid(false)),
            _ => {}
        }
    }

    /// Whether `==` holds. Headers that are not valid are equal whatever is in them.
    pub fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Header(a), Value::Header(b)) => {
                a.valid == b.valid && (!a.valid || a.fields.iter().zip(&b.fields).all(|(a, b)| a.equals(b)))
            }
            (Value::Struct(_) | Value::Stack(_) | Value::Union(_), _) => {
                let (these, those) = (self.parts(), other.parts());
                these.len() == those.len() && these.iter().zip(those).all(|(a, b)| a.equals(b))
            }
            _ => self == other,
        }
    }
}

fn low_u128(number: &BigUint) -> u128 {
    let mut digits = number.iter_u64_digits();
    let low = digits.next().unwrap_or(0);
    u128::from(low) | (u128::from(digits.next().unwrap_or(0)) << 64)
}

/// The low bits of a number.
pub(crate) fn low_bits(number: BigUint, width: u32) -> BigUint {
    match number.bits() <= u64::from(width) {
        true => number,
        false => number & ((BigUint::from(1u8) << width) - 1u8),
    }
}
