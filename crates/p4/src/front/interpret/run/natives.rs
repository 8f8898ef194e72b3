//! Functions and methods of the language and of the architecture.

use super::places::Found;
use super::{Machine, Run, Stop, fatal};
use crate::front::interpret::code::{Argument, Call, Code, NativeCall, Owner};
use crate::front::interpret::native::Native;
use crate::front::interpret::shape::Shape;
use crate::front::interpret::value::Value;

impl Machine {
    pub fn native(&mut self, code: &Code, native: &NativeCall, call: &Call) -> Run<Value> {
        match native.what {
            Native::Extract | Native::ExtractSized => self.extract(code, &call.arguments)?,
            Native::Lookahead => return self.lookahead(native),
            Native::Length => return Ok(Value::Bits(self.packet.length() as u128)),
            Native::Emit => self.emit(code, &call.arguments)?,
            Native::SetValid | Native::SetInvalid | Native::PushFront | Native::PopFront => {
                self.change(code, native.what, &call.arguments)?;
            }
            Native::StaticAssert | Native::StaticAssertOnly => return Ok(Value::Bool(true)),
            _ => return self.by_values(code, native, call),
        }
        Ok(Value::None)
    }

    /// The object whose method is called.
    pub fn object_of(&self, native: &NativeCall) -> Option<usize> {
        match native.object {
            Owner::None => None,
            Owner::Object(at) => Some(at),
            Owner::Slot(slot) => usize::try_from(self.slots[slot].bits()).ok(),
        }
    }

    /// What works on values: they are copied in, and those that are written out again.
    fn by_values(&mut self, code: &Code, native: &NativeCall, call: &Call) -> Run<Value> {
        let mut values: Vec<Value> = Vec::with_capacity(call.arguments.len());
        let mut shapes: Vec<&Shape> = Vec::with_capacity(call.arguments.len());
        let mut targets: Vec<Option<Found<'_>>> = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            let (value, shape, found) = match argument {
                Argument::In(ex, shape) => (self.value(code, ex)?, shape, None),
                Argument::InOut(target) | Argument::Out(target) => {
                    let found = self.find(code, target)?;
                    (self.current(target, &found), &target.place.shape, Some(found))
                }
                Argument::Absent => (Value::None, &Shape::Nothing, None),
            };
            values.push(value);
            shapes.push(shape);
            targets.push(found);
        }
        let result = match native.what {
            Native::Verify => match values[0].is_true() {
                true => Value::None,
                false => return Err(Stop::Parser(values[1].bits() as u32)),
            },
            Native::Advance => {
                self.advance(values[0].bits())?;
                Value::None
            }
            Native::Assert if !values[0].is_true() => return fatal(call.span, "`assert` does not hold"),
            Native::Multicast if !self.requests.of_ingress => {
                return fatal(call.span, "`multicast` outside of ingress");
            }
            _ => self.v1model(native, &mut values, &shapes),
        };
        for ((argument, found), value) in call.arguments.iter().zip(&targets).zip(values) {
            if let (Argument::Out(target) | Argument::InOut(target), Some(found)) = (argument, found) {
                self.write(target, found, value);
            }
        }
        Ok(result)
    }
}
