//! Reading and writing of places.

use super::{Machine, Run, Stop};
use crate::front::interpret::code::{Code, Place, Step, Target};
use crate::front::interpret::numbers;
use crate::front::interpret::value::Value;
use std::borrow::Cow;

/// Steps into a value.
pub(crate) type Path<'c> = Cow<'c, [u32]>;

/// A target that was found: its path, and the low bit of a slice.
pub(crate) struct Found<'c> {
    pub path: Path<'c>,
    pub low: u32,
}

/// A part of a value; nothing of what is undefined.
pub(crate) fn part<'v>(value: &'v Value, path: &[u32]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, at| match value {
        Value::Header(header) if !header.valid => None,
        _ => value.parts().get(*at as usize),
    })
}

/// A part that is written to, valid or not.
pub(crate) fn part_mut<'v>(value: &'v mut Value, path: &[u32]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, at| value.parts_mut().get_mut(*at as usize))
}

impl Machine {
    /// The steps of a place.
    pub fn path<'c>(&mut self, code: &'c Code, place: &'c Place) -> Run<Path<'c>> {
        if let Some(fixed) = &place.fixed {
            return Ok(Cow::Borrowed(fixed));
        }
        let mut path = Vec::with_capacity(place.steps.len());
        for step in &place.steps {
            let at = match step {
                Step::Part(at) => *at,
                Step::Index(index) => {
                    let index = self.value(code, index)?;
                    u32::try_from(index.bits()).unwrap_or(u32::MAX)
                }
                Step::Next(_) | Step::Last => {
                    let (next, size) = match part_mut(&mut self.slots[place.slot], &path) {
                        Some(Value::Stack(stack)) => (stack.next, stack.elements.len() as u32),
                        _ => (0, 0),
                    };
                    let at = if matches!(step, Step::Next(_)) { Some(next) } else { next.checked_sub(1) };
                    match at.filter(|at| *at < size) {
                        Some(at) if step.is_beyond(at) => return Err(Stop::Drop),
                        Some(at) => at,
                        None => return Err(Stop::Parser(self.errors.stack_out_of_bounds)),
                    }
                }
            };
            path.push(at);
        }
        Ok(Cow::Owned(path))
    }

    pub fn read(&mut self, code: &Code, place: &Place) -> Run<Value> {
        let path = self.path(code, place)?;
        Ok(match part(&self.slots[place.slot], &path) {
            Some(value) => value.clone(),
            None => place.shape.fresh(&mut self.noise),
        })
    }

    pub fn find<'c>(&mut self, code: &'c Code, target: &'c Target) -> Run<Found<'c>> {
        let path = self.path(code, &target.place)?;
        let low = match &target.slice {
            Some((low, _)) => self.value(code, low)?.bits() as u32,
            None => 0,
        };
        Ok(Found { path, low })
    }

    /// What a target has now.
    pub fn current(&mut self, target: &Target, found: &Found<'_>) -> Value {
        let whole = match part(&self.slots[target.place.slot], &found.path) {
            Some(value) => value.clone(),
            None => target.place.shape.fresh(&mut self.noise),
        };
        match &target.slice {
            Some((_, width)) => numbers::slice(&whole, found.low, *width, target.place.shape.number()),
            None => whole,
        }
    }

    pub fn write(&mut self, target: &Target, found: &Found<'_>, value: Value) {
        let Some(into) = part_mut(&mut self.slots[target.place.slot], &found.path) else { return };
        match &target.slice {
            Some((_, width)) => {
                *into = numbers::put(into, &value, found.low, *width, target.place.shape.number());
            }
            None => {
                let is_header = matches!(value, Value::Header(_));
                *into = value;
                if is_header && !found.path.is_empty() {
                    self.only_one(target.place.slot, &found.path);
                }
            }
        }
    }

    /// Where a header of a union became valid, the others are not.
    pub fn only_one(&mut self, slot: usize, path: &[u32]) {
        let mut value = &mut self.slots[slot];
        for at in path {
            if let Value::Union(all) = value
                && all.get(*at as usize).is_some_and(Value::is_valid)
            {
                let others = all.iter_mut().enumerate().filter(|(other, _)| *other != *at as usize);
                others.for_each(|(_, header)| header.set_valid(false));
            }
            match value.parts_mut().get_mut(*at as usize) {
                Some(part) => value = part,
                None => return,
            }
        }
    }
}
