//! What values of a type look like: their parts, their bits, and what they are before they are written.

use super::bits::{Bits, big_at, number_at};
use super::value::{Header, Number, Stack, Value, ones};
use num_bigint::BigUint;
use std::rc::Rc;

/// The form of a type's values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Bool,
    Number(Number),
    /// Most bits of a varbit.
    Varbit(u32),
    Int,
    Text,
    Error,
    /// Names of an enum without a type of its own.
    Enum(Rc<[Rc<str>]>),
    Struct(Rc<Fields>),
    Header(Rc<Fields>),
    Union(Rc<Fields>),
    Stack(Rc<Shape>, u32),
    /// What is no value: an extern, or nothing.
    Nothing,
}

impl Shape {
    /// How many single values it has.
    pub fn leaves(&self) -> u64 {
        match self {
            Shape::Struct(fields) | Shape::Header(fields) | Shape::Union(fields) => {
                fields.shapes.iter().map(Shape::leaves).fold(0, u64::saturating_add)
            }
            Shape::Stack(element, size) => element.leaves().max(1).saturating_mul((*size).into()),
            _ => 1,
        }
    }
}

/// Fields of a shape.
#[derive(Debug, PartialEq)]
pub(crate) struct Fields {
    pub names: Vec<Rc<str>>,
    pub shapes: Vec<Shape>,
    /// Lists of fields that are kept with a clone, by `@field_list`, for each field.
    pub lists: Vec<Vec<u8>>,
    /// Names for the control plane, if there are others.
    pub given: Vec<Option<Rc<str>>>,
    /// Containers of fields that a system program shares, by `@container`.
    pub containers: Vec<Option<Rc<str>>>,
    /// Bits of a header without varbit.
    pub bits: Option<u32>,
}

/// Where noise comes from when what is undefined is not zero.
#[derive(Clone, Debug)]
pub(crate) struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Noise {
        Noise(seed)
    }

    /// 64 bits (splitmix64).
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn bits(&mut self, width: u32) -> u128 {
        ((u128::from(self.next()) << 64) | u128::from(self.next())) & ones(width)
    }
}

impl Shape {
    /// A value that was never written: zero, or noise.
    pub fn fresh(&self, noise: &mut Option<Noise>) -> Value {
        match self {
            Shape::Bool => Value::Bool(noise.as_mut().is_some_and(|noise| noise.next() & 1 == 1)),
            Shape::Number(number) if number.width > 128 => {
                let mut all = BigUint::default();
                if let Some(noise) = noise {
                    (0..number.width.div_ceil(64)).for_each(|_| all = (&all << 64u8) + noise.next());
                }
                Value::of_big(all, number.width)
            }
            Shape::Number(number) => Value::Bits(noise.as_mut().map_or(0, |noise| noise.bits(number.width))),
            Shape::Varbit(_) => Value::Varbit(Box::default(), 0),
            Shape::Int => Value::Int(Box::default()),
            Shape::Text => Value::Text(Rc::from("")),
            // A value that is none of the type's would be no noise, but nonsense.
            Shape::Error | Shape::Enum(_) => Value::Bits(0),
            Shape::Struct(fields) => Value::Struct(fields.shapes.iter().map(|shape| shape.fresh(noise)).collect()),
            Shape::Union(fields) => Value::Union(fields.shapes.iter().map(|shape| shape.fresh(noise)).collect()),
            Shape::Header(fields) => {
                let fields = fields.shapes.iter().map(|shape| shape.fresh(noise)).collect();
                Value::Header(Box::new(Header { valid: false, fields }))
            }
            Shape::Stack(element, size) => {
                let elements = (0..*size).map(|_| element.fresh(noise)).collect();
                Value::Stack(Box::new(Stack { next: 0, elements }))
            }
            Shape::Nothing => Value::None,
        }
    }

    /// Zero, whatever is chosen for what is undefined.
    pub fn zero(&self) -> Value {
        self.fresh(&mut None)
    }

    /// Parts of what has parts with names.
    pub fn fields(&self) -> Option<&Rc<Fields>> {
        match self {
            Shape::Struct(fields) | Shape::Header(fields) | Shape::Union(fields) => Some(fields),
            _ => None,
        }
    }

    /// The shape of one part.
    pub fn part(&self, at: u32) -> &Shape {
        match self {
            Shape::Stack(element, _) => element,
            _ => self.fields().and_then(|fields| fields.shapes.get(at as usize)).unwrap_or(&Shape::Nothing),
        }
    }

    /// The number that a value is, if it is one.
    pub fn number(&self) -> Number {
        match self {
            Shape::Number(number) => *number,
            Shape::Bool => Number { width: 1, signed: false },
            Shape::Varbit(width) => Number { width: *width, signed: false },
            _ => Number { width: 32, signed: false },
        }
    }

    /// Bits of a value of fixed size.
    pub fn bits(&self) -> Option<u32> {
        match self {
            Shape::Bool => Some(1),
            Shape::Number(number) => Some(number.width),
            Shape::Error | Shape::Enum(_) => Some(32),
            Shape::Struct(fields) | Shape::Header(fields) | Shape::Union(fields) => {
                fields.shapes.iter().try_fold(0u32, |sum, shape| sum.checked_add(shape.bits()?))
            }
            Shape::Stack(element, size) => element.bits()?.checked_mul(*size),
            _ => None,
        }
    }

    /// A value out of bits that are there.
    pub fn unpack(&self, bytes: &[u8], at: &mut usize) -> Value {
        match self {
            Shape::Bool => {
                *at += 1;
                Value::Bool(number_at(bytes, *at - 1, 1) == 1)
            }
            Shape::Number(Number { width, .. }) => {
                *at += *width as usize;
                let from = *at - *width as usize;
                match *width {
                    0..=128 => Value::Bits(number_at(bytes, from, *width)),
                    _ => Value::of_big(big_at(bytes, from, *width), *width),
                }
            }
            Shape::Error | Shape::Enum(_) => {
                *at += 32;
                Value::Bits(number_at(bytes, *at - 32, 32))
            }
            Shape::Struct(fields) => Value::Struct(fields.shapes.iter().map(|shape| shape.unpack(bytes, at)).collect()),
            Shape::Header(fields) => {
                let fields = fields.shapes.iter().map(|shape| shape.unpack(bytes, at)).collect();
                Value::Header(Box::new(Header { valid: true, fields }))
            }
            Shape::Stack(element, size) => {
                let elements = (0..*size).map(|_| element.unpack(bytes, at)).collect();
                Value::Stack(Box::new(Stack { next: *size, elements }))
            }
            _ => self.zero(),
        }
    }

    /// Appends the bits of a value; headers that are not valid have none.
    pub fn pack(&self, value: &Value, into: &mut Bits) {
        match (self, value) {
            (_, Value::Header(header)) if !header.valid => {}
            (Shape::Struct(fields) | Shape::Header(fields) | Shape::Union(fields), _) => {
                fields.shapes.iter().zip(value.parts()).for_each(|(shape, part)| shape.pack(part, into));
            }
            (Shape::Stack(element, _), _) => value.parts().iter().for_each(|part| element.pack(part, into)),
            (_, Value::Bool(bit)) => into.push(u128::from(*bit), 1),
            (_, Value::Bits(bits)) => into.push(*bits, self.number().width),
            (_, Value::Wide(number)) => into.push_big(number, self.number().width),
            (_, Value::Varbit(number, width)) => into.push_big(number, *width),
            (_, Value::Int(number)) => into.push_big(number.magnitude(), 32),
            _ => {}
        }
    }
}
