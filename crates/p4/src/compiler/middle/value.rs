//! Values while a program is followed: its structs and headers, and bits of which it is known where they come from.

use crate::compiler::ir::Bits;
use crate::front::interpret::Shape;
use crate::front::interpret::value::{Number, Value};

/// A value. Whether a header is valid is always known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum V {
    /// A number, a bool, an enum, an error; a varbit, which has as many bits as this way gives it.
    Bits(Bits),
    /// What has no bits: `int`, text, nothing.
    Fixed(Value),
    Parts(Vec<V>),
    Header(bool, Vec<V>),
    Stack(u32, Vec<V>),
    Union(Vec<V>),
}

impl V {
    /// What was never written: zero.
    pub fn fresh(shape: &Shape) -> V {
        let all = |fields: &crate::front::interpret::Fields| fields.shapes.iter().map(V::fresh).collect();
        match shape {
            Shape::Bool => V::Bits(Bits::constant(1, 0)),
            Shape::Number(number) => V::Bits(Bits::constant(number.width, 0)),
            Shape::Error | Shape::Enum(_) => V::Bits(Bits::constant(32, 0)),
            Shape::Struct(fields) => V::Parts(all(fields)),
            Shape::Header(fields) => V::Header(false, all(fields)),
            Shape::Union(fields) => V::Union(all(fields)),
            Shape::Stack(element, size) => V::Stack(0, (0..*size).map(|_| V::fresh(element)).collect()),
            Shape::Varbit(_) => V::Bits(Bits::default()),
            other => V::Fixed(other.zero()),
        }
    }

    /// A value that is known, as one of a shape.
    pub fn of(value: &Value, shape: &Shape) -> V {
        match (value, shape) {
            (Value::Struct(parts), Shape::Struct(fields)) => {
                V::Parts(parts.iter().zip(&fields.shapes).map(|(value, shape)| V::of(value, shape)).collect())
            }
            (Value::Header(header), Shape::Header(fields)) => {
                let parts = header.fields.iter().zip(&fields.shapes);
                V::Header(header.valid, parts.map(|(value, shape)| V::of(value, shape)).collect())
            }
            (Value::Stack(stack), Shape::Stack(element, _)) => {
                V::Stack(stack.next, stack.elements.iter().map(|value| V::of(value, element)).collect())
            }
            (Value::Union(parts), Shape::Union(fields)) => {
                V::Union(parts.iter().zip(&fields.shapes).map(|(value, shape)| V::of(value, shape)).collect())
            }
            (Value::Bits(_) | Value::Wide(_) | Value::Bool(_), shape) => match shape {
                Shape::Bool => V::Bits(Bits::constant(1, value.bits())),
                Shape::Error | Shape::Enum(_) => V::Bits(Bits::constant(32, value.bits())),
                Shape::Number(number) => V::Bits(bits_of(value, number.width)),
                _ => V::Fixed(value.clone()),
            },
            (Value::Varbit(number, bits), _) => V::Bits(Bits::constant_of(*bits, &number.to_bytes_be())),
            _ => V::Fixed(value.clone()),
        }
    }

    /// A value that is known, whose numbers are as wide as what they are used with.
    pub fn known_as(value: &Value) -> V {
        let all = |parts: &[Value]| parts.iter().map(V::known_as).collect();
        match value {
            Value::Bool(bit) => V::Bits(Bits::constant(1, u128::from(*bit))),
            Value::Struct(parts) => V::Parts(all(parts)),
            Value::Header(header) => V::Header(header.valid, all(&header.fields)),
            Value::Stack(stack) => V::Stack(stack.next, all(&stack.elements)),
            Value::Union(parts) => V::Union(all(parts)),
            other => V::Fixed(other.clone()),
        }
    }

    /// All bits in it, one behind the other.
    pub fn concatenated(mut self) -> Bits {
        let mut whole = Bits::default();
        self.leaves(&mut Vec::new(), &mut |_, bits| whole = std::mem::take(&mut whole).concat(bits.clone()));
        whole
    }

    /// Whether a path leads into a value that has no parts of which anything is known.
    pub fn is_formless(&self, path: &[u32]) -> bool {
        let end = path.iter().try_fold(self, |value, at| match value {
            V::Fixed(_) => Err(true),
            _ => value.parts().get(*at as usize).ok_or(false),
        });
        end.err().unwrap_or(false)
    }

    /// The bits, if it is a number, a bool, an enum or an error.
    pub fn bits(&self) -> Option<&Bits> {
        match self {
            V::Bits(bits) => Some(bits),
            _ => None,
        }
    }

    /// The value, if all of it is known.
    pub fn known(&self, number: Number) -> Option<Value> {
        match self {
            V::Fixed(value) => Some(value.clone()),
            V::Bits(bits) if bits.width() <= 128 && number.width <= 128 => bits.known().map(Value::Bits),
            _ => None,
        }
    }

    pub fn parts(&self) -> &[V] {
        match self {
            V::Parts(all) | V::Header(_, all) | V::Stack(_, all) | V::Union(all) => all,
            _ => &[],
        }
    }

    pub fn parts_mut(&mut self) -> &mut [V] {
        match self {
            V::Parts(all) | V::Header(_, all) | V::Stack(_, all) | V::Union(all) => all,
            _ => &mut [],
        }
    }

    pub fn is_valid(&self) -> bool {
        match self {
            V::Header(valid, _) => *valid,
            V::Union(all) => all.iter().any(V::is_valid),
            _ => false,
        }
    }

    pub fn set_valid(&mut self, value: bool) {
        match self {
            V::Header(valid, _) => *valid = value,
            V::Union(all) => all.iter_mut().for_each(|header| header.set_valid(false)),
            _ => {}
        }
    }

    /// A part that is read; nothing of a header that is not valid.
    pub fn part(&self, path: &[u32]) -> Option<&V> {
        path.iter().try_fold(self, |value, at| match value {
            V::Header(false, _) => None,
            _ => value.parts().get(*at as usize),
        })
    }

    /// A part that is written to, valid or not.
    pub fn part_mut(&mut self, path: &[u32]) -> Option<&mut V> {
        path.iter().try_fold(self, |value, at| value.parts_mut().get_mut(*at as usize))
    }

    /// All bits in it, with their places.
    pub fn leaves(&mut self, path: &mut Vec<u32>, see: &mut dyn FnMut(&[u32], &mut Bits)) {
        match self {
            V::Bits(bits) => see(path, bits),
            _ => {
                for (at, part) in self.parts_mut().iter_mut().enumerate() {
                    path.push(at as u32);
                    part.leaves(path, see);
                    path.pop();
                }
            }
        }
    }
}

/// Bits of a number.
pub(crate) fn bits_of(value: &Value, width: u32) -> Bits {
    match value {
        Value::Wide(number) => Bits::constant_of(width, &number.to_bytes_be()),
        value => Bits::constant(width, value.bits()),
    }
}
