//! The packet that is parsed or put together.

use super::places::{part, part_mut};
use super::{Machine, Run, Stop};
use crate::front::interpret::bits::{Bits, big_at};
use crate::front::interpret::code::{Argument, Code, NativeCall, Place, Step};
use crate::front::interpret::native::Native;
use crate::front::interpret::shape::Shape;
use crate::front::interpret::value::{Header, Value};
use std::rc::Rc;

/// Bytes that came in, how far they are parsed, and what was emitted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packet {
    pub bytes: Rc<[u8]>,
    /// Bits that are parsed.
    pub at: usize,
    pub out: Bits,
}

impl Packet {
    /// Bytes that came in.
    pub fn length(&self) -> usize {
        self.bytes.len()
    }

    /// What no header took.
    pub fn payload(&self) -> &[u8] {
        &self.bytes[self.at.div_ceil(8).min(self.bytes.len())..]
    }

    fn has(&self, bits: usize) -> bool {
        self.at.checked_add(bits).is_some_and(|end| end <= 8 * self.bytes.len())
    }
}

impl Machine {
    /// `extract`, with the size of the varbit if there is one.
    pub fn extract(&mut self, code: &Code, arguments: &[Argument]) -> Run<()> {
        let Some(Argument::Out(target)) = arguments.first() else { return Ok(()) };
        let found = self.find(code, target)?;
        let size = match arguments.get(1) {
            Some(Argument::In(ex, _)) => Some(self.value(code, ex)?.bits()),
            _ => None,
        };
        let Shape::Header(fields) = &target.place.shape else { return Ok(()) };
        let value = match (fields.bits, size) {
            (Some(bits), None) => {
                if !self.packet.has(bits as usize) {
                    return Err(Stop::Parser(self.errors.packet_too_short));
                }
                target.place.shape.unpack(&self.packet.bytes, &mut self.packet.at)
            }
            (_, size) => self.varied(&target.place.shape, size.unwrap_or(0))?,
        };
        self.write(target, &found, value);
        self.advance_stacks(&target.place, &found.path);
        Ok(())
    }

    /// A header whose varbit has so many bits.
    fn varied(&mut self, shape: &Shape, size: u128) -> Run<Value> {
        let Shape::Header(fields) = shape else { return Ok(Value::None) };
        let mut total = 0usize;
        for shape in &fields.shapes {
            total += match shape {
                Shape::Varbit(most) if size > u128::from(*most) => {
                    return Err(Stop::Parser(self.errors.header_too_short));
                }
                Shape::Varbit(_) if !size.is_multiple_of(8) => return Err(Stop::Parser(self.errors.invalid_argument)),
                Shape::Varbit(_) => size as usize,
                other => other.bits().unwrap_or(0) as usize,
            };
        }
        if !self.packet.has(total) {
            return Err(Stop::Parser(self.errors.packet_too_short));
        }
        let mut all = Vec::with_capacity(fields.shapes.len());
        for shape in &fields.shapes {
            all.push(match shape {
                Shape::Varbit(_) => {
                    let bits = big_at(&self.packet.bytes, self.packet.at, size as u32);
                    self.packet.at += size as usize;
                    Value::Varbit(Box::new(bits), size as u32)
                }
                other => other.unpack(&self.packet.bytes, &mut self.packet.at),
            });
        }
        Ok(Value::Header(Box::new(Header { valid: true, fields: all.into() })))
    }

    /// Stacks whose `next` was extracted go on to the next one.
    fn advance_stacks(&mut self, place: &Place, path: &[u32]) {
        for (i, step) in place.steps.iter().enumerate() {
            if let (Step::Next(_), Some(Value::Stack(stack))) =
                (step, part_mut(&mut self.slots[place.slot], &path[..i]))
            {
                stack.next = path[i] + 1;
            }
        }
    }

    pub fn lookahead(&mut self, native: &NativeCall) -> Run<Value> {
        let bits = native.result.bits().unwrap_or(0) as usize;
        if !self.packet.has(bits) {
            return Err(Stop::Parser(self.errors.packet_too_short));
        }
        let mut at = self.packet.at;
        Ok(native.result.unpack(&self.packet.bytes, &mut at))
    }

    pub fn advance(&mut self, bits: u128) -> Run<()> {
        let bits = usize::try_from(bits).unwrap_or(usize::MAX);
        if !self.packet.has(bits) {
            return Err(Stop::Parser(self.errors.packet_too_short));
        }
        self.packet.at += bits;
        Ok(())
    }

    /// Appends what is valid.
    pub fn emit(&mut self, code: &Code, arguments: &[Argument]) -> Run<()> {
        let Some(Argument::In(ex, shape)) = arguments.first() else { return Ok(()) };
        if let crate::front::interpret::code::Ex::Read(place) = ex {
            let path = self.path(code, place)?;
            if let Some(value) = part(&self.slots[place.slot], &path) {
                shape.pack(value, &mut self.packet.out);
            }
            return Ok(());
        }
        let value = self.value(code, ex)?;
        shape.pack(&value, &mut self.packet.out);
        Ok(())
    }

    /// `setValid`, `push_front` and their kin.
    pub fn change(&mut self, code: &Code, what: Native, arguments: &[Argument]) -> Run<()> {
        let Some(Argument::InOut(target)) = arguments.first() else { return Ok(()) };
        let found = self.find(code, target)?;
        let count = match arguments.get(1) {
            Some(Argument::In(ex, _)) => usize::try_from(self.value(code, ex)?.bits()).unwrap_or(usize::MAX),
            _ => 0,
        };
        let slot = target.place.slot;
        let noise = &mut self.noise;
        let Some(value) = part_mut(&mut self.slots[slot], &found.path) else { return Ok(()) };
        match (what, value) {
            (Native::SetValid, value) => {
                if !value.is_valid() && noise.is_some() {
                    *value = target.place.shape.fresh(noise);
                }
                value.set_valid(true);
                self.only_one(slot, &found.path);
            }
            (Native::SetInvalid, value) => value.set_valid(false),
            (what, Value::Stack(stack)) => {
                let size = stack.elements.len();
                let count = count.min(size);
                let is_push = what == Native::PushFront;
                if is_push {
                    stack.elements.rotate_right(count)
                } else {
                    stack.elements.rotate_left(count)
                }
                let fresh = if is_push { 0..count } else { size - count..size };
                for at in fresh {
                    stack.elements[at] = target.place.shape.part(0).fresh(noise);
                }
                let next = stack.next as usize;
                stack.next = if is_push { (next + count).min(size) } else { next.saturating_sub(count) } as u32;
            }
            _ => {}
        }
        Ok(())
    }
}
