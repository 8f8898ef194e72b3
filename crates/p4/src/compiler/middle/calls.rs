//! Calls and tables.

use super::expressions::truth_of;
use super::symbolic::{Event, Flow, Follower, Need, Stop, Way};
use super::value::V;
use crate::compiler::ir::{Access, Array, Bits, Bound, CELL, Change, Src};
use crate::front::interpret::code::{Argument, Call, Callee, ObjectKind, Parameter};
use crate::front::interpret::value::Value;
use crate::front::syntax::ast::Direction;

/// Most entries of a table with a direct counter of bytes, if it has no size.
const MOST_ENTRIES: usize = 1024;

impl<'c> Follower<'c> {
    pub fn call(&mut self, call: &'c Call) -> Way<V> {
        let code = self.code;
        match &call.callee {
            Callee::Native(native) => self.native(native, call),
            Callee::Function(at) => {
                let function = &code.functions[*at];
                self.invoke(&function.parameters, &call.arguments, |follower| {
                    follower.returned = V::Fixed(Value::None);
                    follower.statements(&function.body)
                })?;
                Ok(std::mem::replace(&mut self.returned, V::Fixed(Value::None)))
            }
            Callee::Action(at) => {
                let action = &code.actions[*at];
                self.invoke(&action.parameters, &call.arguments, |follower| follower.statements(&action.body))?;
                Ok(V::Fixed(Value::None))
            }
            Callee::Control(at) => {
                let control = &code.controls[*at];
                self.within(&control.parameters, &call.arguments, |follower| {
                    follower.statements(&control.locals)?;
                    follower.statements(&control.body)
                })?;
                Ok(V::Fixed(Value::None))
            }
            Callee::Parser(at) => {
                let at = *at;
                self.within(&code.parsers[at].parameters, &call.arguments, |follower| {
                    follower.states(at).map(|()| Flow::Next)
                })?;
                Ok(V::Fixed(Value::None))
            }
        }
    }

    /// A block, whose parameters are the places of its caller where they are apart from each other.
    fn within(
        &mut self,
        parameters: &'c [Parameter],
        arguments: &'c [Argument],
        run: impl FnOnce(&mut Self) -> Way<Flow>,
    ) -> Way<()> {
        let mut places: Vec<(usize, Vec<u32>)> = Vec::new();
        let mut refs = Vec::new();
        let mut fresh = Vec::new();
        let mut copies = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            match argument {
                Argument::In(ex, shape) => {
                    let value = self.value(ex)?;
                    self.slots[parameter.slot] = self.shaped(value, shape);
                }
                Argument::Out(target) | Argument::InOut(target) => {
                    let (slot, path, _) = self.find(target)?;
                    if target.slice.is_some() {
                        return self.refuse_at(self.span, "a slice as argument of a block");
                    }
                    // It would make the other members invalid before it is given back.
                    let is_union = |end: &usize| matches!(self.slots[slot].part(&path[..*end]), Some(V::Union(_)));
                    if (0..path.len()).any(|end| is_union(&end)) {
                        return self.refuse_at(self.span, "a member of a union as argument of a block");
                    }
                    // A part of a header that is not valid reads as zero, whatever is written to it: the block has a variable of its own.
                    if self.slots[slot].part(&path).is_none() && !self.slots[slot].is_formless(&path) {
                        self.slots[parameter.slot] = V::fresh(&parameter.shape);
                        copies.push((parameter.slot, slot, path));
                        continue;
                    }
                    let apart = |other: &(usize, Vec<u32>)| {
                        other.0 != slot || !(path.starts_with(&other.1) || other.1.starts_with(&path))
                    };
                    if !places.iter().all(apart) {
                        return self.refuse("two arguments of a block that are one variable");
                    }
                    if parameter.direction == Direction::Out {
                        fresh.push((slot, path.clone(), &parameter.shape));
                    }
                    places.push((slot, path.clone()));
                    refs.push((parameter.slot, (slot, path)));
                }
                Argument::Absent => {}
            }
        }
        let before: Vec<(usize, V)> = match self.in_parser {
            true => refs.iter().map(|(_, (slot, _))| (*slot, self.slots[*slot].clone())).collect(),
            false => Vec::new(),
        };
        // Not before all arguments have their values.
        for (slot, path, shape) in fresh {
            if let Some(value) = self.slots[slot].part_mut(&path) {
                *value = V::fresh(shape);
            }
        }
        for (slot, place) in &refs {
            self.refs.insert(*slot, place.clone());
        }
        let result = run(self);
        // The error of a sub-parser is one of its caller, to whom it gives nothing back.
        if matches!(result, Err(Stop::Parser(_))) {
            before.into_iter().for_each(|(slot, value)| self.slots[slot] = value);
        }
        if matches!(result, Ok(_) | Err(Stop::Exit)) {
            refs.iter().for_each(|(slot, _)| {
                self.refs.remove(slot);
            });
            // A header that becomes valid has what was written to it before.
            for (own, slot, path) in copies {
                let value = self.slots[own].clone();
                if let Some(into) = self.slots[slot].part_mut(&path) {
                    *into = value;
                }
            }
        }
        result.map(drop)
    }

    /// Copies in, runs, copies out, also when the callee exits.
    fn invoke(
        &mut self,
        parameters: &'c [Parameter],
        arguments: &'c [Argument],
        run: impl FnOnce(&mut Self) -> Way<Flow>,
    ) -> Way<()> {
        let mut values = Vec::with_capacity(arguments.len());
        let mut targets = Vec::with_capacity(arguments.len());
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let (value, target) = self.beside_values(&mut values, |this| match argument {
                Argument::In(ex, shape) => {
                    let value = this.value(ex)?;
                    Ok((Some(this.shaped(value, shape)), None))
                }
                Argument::InOut(target) => {
                    let (slot, path, low) = this.find(target)?;
                    Ok((Some(this.current(target, slot, &path, low)?), Some((target, slot, path, low))))
                }
                Argument::Out(target) => {
                    let (slot, path, low) = this.find(target)?;
                    Ok((None, Some((target, slot, path, low))))
                }
                Argument::Absent => Ok((None, None)),
            })?;
            values.push(match (value, &parameter.default) {
                (Some(value), _) => value,
                (None, Some(value)) => V::of(value, &parameter.shape),
                (None, None) => V::fresh(&parameter.shape),
            });
            targets.push(target);
        }
        for (parameter, value) in parameters.iter().zip(values) {
            self.slots[parameter.slot] = value;
        }
        let result = run(self);
        if !matches!(result, Ok(_) | Err(Stop::Exit)) {
            return result.map(drop);
        }
        for (parameter, target) in parameters.iter().zip(targets) {
            if let Some((target, slot, path, low)) = target
                && matches!(parameter.direction, Direction::Out | Direction::InOut)
            {
                let value = self.slots[parameter.slot].clone();
                self.write(target, slot, &path, low, value)?;
            }
        }
        result.map(drop)
    }

    /// A table: a visit looks into one at most, by keys that are there when it begins.
    pub fn apply(&mut self, at: usize) -> Way<V> {
        let code = self.code;
        let table = &code.tables[at];
        let is_word = |follower: &Self, value: &V| value.bits().is_some_and(|bits| follower.has_word(bits));
        self.locs.lines.apply(at, self.span);
        if table.has_selector {
            return self.refuse("an action selector");
        }
        let counted = table.direct.iter().find_map(|object| match code.objects[*object].kind {
            ObjectKind::Counter { bytes: true, .. } => Some(*object),
            _ => None,
        });
        let counts = |object: &usize| matches!(code.objects[*object].kind, ObjectKind::Counter { .. });
        if table.direct.iter().any(counts) {
            self.once(self.span)?;
        }
        let before = self.pending.len();
        for key in &table.keys {
            let value = self.value(&key.value)?;
            match self.shaped(value, &key.shape) {
                value if is_word(self, &value) => return self.refuse(
                    "a word beside the headers (a port, a queue's depth) as a table's key; a condition may look at it",
                ),
                V::Bits(bits) => self.pending.push((bits, false)),
                _ => return self.refuse("a key that is no number"),
            }
        }
        let alone = !self.ends.before.contains(&at) || self.facts.is_empty() && self.access.is_none();
        let mut ready = alone && !self.has_table && (counted.is_none() || self.access.is_none());
        while !ready || self.pending[before..].iter().any(|(bits, _)| bits.is_made()) {
            self.cut()?;
            ready = true;
        }
        let keys: Vec<Bits> = self.pending.drain(before..).map(|(bits, _)| bits).collect();
        self.has_table = true;
        let alt = match self.event(|_| Ok(Need::Table(at, keys)))? {
            Event::Alt(alt) => alt,
            other => return self.refuse(format!("a way that cannot be followed again ({other:?})")),
        };
        let listed = &table.actions[alt.action];
        let action = &code.actions[listed.action];
        let data = &action.parameters[listed.bound.len()..];
        if let (Some(object), true) = (counted, alt.hit) {
            // Behind the entry's own data there is its number.
            let index = Bits::of(16, Src::Param(data.len() as u32, 0));
            let cells =
                table.size.map_or(MOST_ENTRIES, |size| MOST_ENTRIES.min(size as usize)).max(table.entries.len());
            self.bounds.push((index.clone(), Bound::Within(0..cells)));
            let by = Bits::constant(CELL - 16, 0).concat(self.length());
            let change = Change::Add { by, negate: false };
            let array = Array { object, part: 1 };
            self.locs.lines.look(array, self.span);
            self.access = Some(Access { array, cells, index, change, more: 0 });
        }
        self.trail.push(u32::from(alt.hit));
        self.trail.push(alt.action as u32);
        self.invoke(&action.parameters, &listed.bound, |follower| {
            for (number, parameter) in data.iter().enumerate() {
                follower.slots[parameter.slot] = follower.entry_value(parameter, number as u32)?;
            }
            if follower.ends.found.contains(&at) {
                follower.cut()?;
            }
            follower.statements(&action.body)
        })?;
        if self.ends.behind.contains(&at) {
            self.cut()?;
        }
        self.trail.truncate(self.trail.len().saturating_sub(2));
        Ok(V::Parts(vec![truth_of(alt.hit), V::Bits(Bits::constant(32, alt.action as u128))]))
    }

    /// What an entry gives for a parameter.
    fn entry_value(&mut self, parameter: &Parameter, number: u32) -> Way<V> {
        match V::fresh(&parameter.shape) {
            V::Bits(bits) => Ok(V::Bits(Bits::of(bits.width(), Src::Param(number, 0)))),
            _ => self.refuse("an action whose data are no numbers"),
        }
    }
}
