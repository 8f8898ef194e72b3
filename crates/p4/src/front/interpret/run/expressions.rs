//! Values of expressions.

use super::places::part;
use super::{Machine, Run, fatal};
use crate::front::interpret::code::{Code, Ex};
use crate::front::interpret::numbers;
use crate::front::interpret::value::{Header, Stack, Value};

impl Machine {
    pub fn value(&mut self, code: &Code, ex: &Ex) -> Run<Value> {
        Ok(match ex {
            Ex::Constant(value) => value.clone(),
            Ex::Read(place) => return self.read(code, place),
            Ex::Part(value, at) => {
                let value = self.value(code, value)?;
                value.parts().get(*at as usize).cloned().unwrap_or(Value::None)
            }
            Ex::At(value, index, shape) => {
                let value = self.value(code, value)?;
                let at = usize::try_from(self.value(code, index)?.bits()).unwrap_or(usize::MAX);
                match value.parts().get(at) {
                    Some(part) => part.clone(),
                    None => shape.fresh(&mut self.noise),
                }
            }
            Ex::Unary(operator, ty, value) => numbers::unary(*operator, *ty, &self.value(code, value)?),
            Ex::Binary(operator, ty, span, both) => {
                let one = self.value(code, &both.0)?;
                let two = self.value(code, &both.1)?;
                match numbers::binary(*operator, *ty, &one, &two) {
                    Some(value) => value,
                    None => return fatal(*span, "a division by zero"),
                }
            }
            Ex::Equal(both) => {
                let one = self.value(code, &both.0)?;
                Value::Bool(one.equals(&self.value(code, &both.1)?))
            }
            Ex::And(both) => match self.value(code, &both.0)?.is_true() {
                true => return self.value(code, &both.1),
                false => Value::Bool(false),
            },
            Ex::Or(both) => match self.value(code, &both.0)?.is_true() {
                true => Value::Bool(true),
                false => return self.value(code, &both.1),
            },
            Ex::Choice(all) => match self.value(code, &all.0)?.is_true() {
                true => return self.value(code, &all.1),
                false => return self.value(code, &all.2),
            },
            Ex::Resize(from, to, value) => numbers::resize(&self.value(code, value)?, *from, *to),
            Ex::ToBool(value) => Value::Bool(self.value(code, value)?.bits() != 0),
            Ex::FromBool(value) => Value::Bits(self.value(code, value)?.bits()),
            Ex::Concat(low, width, both) => {
                let one = self.value(code, &both.0)?;
                numbers::concat(&one, &self.value(code, &both.1)?, *low, *width)
            }
            Ex::Slice(of, width, both) => {
                let value = self.value(code, &both.0)?;
                let low = u32::try_from(self.value(code, &both.1)?.bits()).unwrap_or(u32::MAX);
                numbers::slice(&value, low, *width, *of)
            }
            Ex::Struct(all) => Value::Struct(self.values(code, all)?.into()),
            Ex::Header(all) => Value::Header(Box::new(Header { valid: true, fields: self.values(code, all)?.into() })),
            Ex::Stack(all, shape, size) => {
                let mut elements = self.values(code, all)?;
                let next = elements.len() as u32;
                elements.resize_with(*size as usize, || shape.fresh(&mut self.noise));
                Value::Stack(Box::new(Stack { next, elements: elements.into() }))
            }
            Ex::IsValid(value) => match &**value {
                Ex::Read(place) => {
                    let path = self.path(code, place)?;
                    Value::Bool(part(&self.slots[place.slot], &path).is_some_and(Value::is_valid))
                }
                value => Value::Bool(self.value(code, value)?.is_valid()),
            },
            Ex::LastIndex(place) => {
                let path = self.path(code, place)?;
                match part(&self.slots[place.slot], &path) {
                    Some(Value::Stack(stack)) => Value::Bits(u128::from(stack.next.wrapping_sub(1))),
                    _ => Value::Bits(0),
                }
            }
            Ex::Apply(table) => return self.apply(code, *table),
            Ex::Call(call) => return self.call(code, call),
        })
    }

    fn values(&mut self, code: &Code, all: &[Ex]) -> Run<Vec<Value>> {
        all.iter().map(|ex| self.value(code, ex)).collect()
    }
}
