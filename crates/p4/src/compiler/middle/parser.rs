//! Parsers: the packet's bytes and its length decide which way is taken.

use super::symbolic::{Event, Follower, Need, Stop, Way};
use super::value::V;
use crate::compiler::ir::{Bits, LocInfo, Op, Src, sized};
use crate::front::interpret::Shape;
use crate::front::interpret::code::{Argument, Call, Next, Set, Transition};

/// Bytes of a packet that the parser sees.
const WINDOW: u32 = 128;

impl<'c> Follower<'c> {
    /// Runs a parser up to `accept`.
    pub fn states(&mut self, at: usize) -> Way<()> {
        let parser = &self.code.parsers[at];
        // One that a state calls is followed from its own start.
        let is_packets = at == self.code.pipeline.parser;
        let mut next = match self.resumes.take().filter(|_| is_packets) {
            Some(next) => next,
            None => {
                self.statements(&parser.locals)?;
                parser.start
            }
        };
        loop {
            if is_packets {
                self.keep_for_resuming(next);
            }
            let state = match next {
                Next::Accept => return Ok(()),
                Next::Reject => return Err(Stop::Parser(0)),
                Next::State(at) => &parser.states[at],
            };
            self.steps += 1;
            if self.steps > 2_000 {
                return self.refuse("a parser that goes through more than 2,000 states");
            }
            self.statements(&state.body)?;
            self.span = state.span;
            next = match &state.transition {
                Transition::Direct(next) => *next,
                Transition::Select(keys, cases) => {
                    let mut values = Vec::with_capacity(keys.len());
                    for key in keys {
                        values.push(self.value(key)?);
                    }
                    self.select(&values, cases)?
                }
            };
        }
    }

    fn select(&mut self, keys: &[V], cases: &'c [(Vec<Set>, Next)]) -> Way<Next> {
        for (sets, next) in cases {
            let mut wanted = Some(Vec::new());
            for (set, key) in sets.iter().zip(keys) {
                let found = self.wanted(set, key)?;
                wanted = match (wanted, found) {
                    (Some(mut all), Some(more)) => {
                        all.extend(more);
                        Some(all)
                    }
                    _ => None,
                };
            }
            let Some(wanted) = wanted else { continue };
            if !self.packet_has(wanted)? {
                continue;
            }
            let mut within = true;
            for (set, key) in sets.iter().zip(keys) {
                within = within && self.within_range(set, key)?;
            }
            if within {
                return Ok(*next);
            }
        }
        Err(self.parser_error("NoMatch"))
    }

    /// Whether a key lies between the ends of a range; of other sets nothing is left to ask.
    fn within_range(&mut self, set: &'c Set, key: &V) -> Way<bool> {
        let Set::Range(low, high, number) = set else { return Ok(true) };
        if number.signed {
            return self.refuse("a range of signed numbers in a parser");
        }
        let shape = Shape::Number(*number);
        let (low, high) = (self.value(low)?, self.value(high)?);
        let (V::Bits(low), V::Bits(high)) = (self.shaped(low, &shape), self.shaped(high, &shape)) else {
            return self.refuse("a range of this form");
        };
        let V::Bits(key) = key else { return self.refuse("a key that is no number") };
        Ok(!self.less(key.clone(), low)? && !self.less(high, key.clone())?)
    }

    /// What the packet has to have where a key is in a set; nothing where it never is.
    fn wanted(&mut self, set: &'c Set, key: &V) -> Way<Option<Vec<(u32, Bits, Bits)>>> {
        let V::Bits(key) = key else { return self.refuse("a key that is no number") };
        let width = key.width();
        let (value, mask) = match set {
            Set::Any => return Ok(Some(Vec::new())),
            Set::Value(value) => {
                let value = self.value(value)?;
                (value, Bits::ones(width))
            }
            Set::Mask(value, mask) => {
                let value = self.value(value)?;
                let mask = self.value(mask)?;
                let number = Shape::Number(crate::front::interpret::value::Number { width, signed: false });
                match self.shaped(mask, &number) {
                    V::Bits(mask) if mask.is_known() => (value, mask),
                    _ => return self.refuse("a mask that is not known before the program runs"),
                }
            }
            // What lies between two values is asked after the rest.
            Set::Range(..) => return Ok(Some(Vec::new())),
            // Nobody puts anything into a value set of the pipeline.
            Set::Named(_) => return Ok(None),
        };
        let number = Shape::Number(crate::front::interpret::value::Number { width, signed: false });
        let V::Bits(value) = self.shaped(value, &number) else { return self.refuse("a value of this form") };
        if value.width() != width || !value.is_known() {
            return self.refuse("a case whose value is not known before the program runs");
        }
        let (mut key, mut value) = (key.clone(), value);
        if mask.segs.iter().all(|seg| seg.src == Src::Const(u64::MAX >> (64 - seg.width)))
            && let Some((x, c)) = key.plus()
        {
            value = Bits::operate(Op::Sub, &value, &Bits::constant(width, c));
            key = x;
        }
        let mut out = Vec::new();
        for low in 0..width {
            let at = width - 1 - low;
            let (v, m, k) = (value.slice(at, 1), mask.slice(at, 1), key.slice(at, 1));
            if m.known() == Some(0) {
                continue;
            }
            match k.known() {
                Some(bit) if Some(bit) == v.known() => {}
                Some(_) => return Ok(None),
                None => {
                    let (at, mask, _) = self.in_packet(&k, v.clone())?;
                    out.push((at, mask, v));
                }
            }
        }
        Ok(Some(out))
    }

    /// The packet has so many bits more.
    fn has(&mut self, bits: u32) -> Way<()> {
        let bytes = (self.at + bits).div_ceil(8);
        if bytes > WINDOW {
            return self.refuse(format!("a packet of which more than {WINDOW} bytes are parsed"));
        }
        if bytes <= self.least {
            return Ok(());
        }
        match self.event(|_| Ok(Need::Least))? {
            Event::Yes => {
                self.least = bytes;
                Ok(())
            }
            _ => Err(self.parser_error("PacketTooShort")),
        }
    }

    pub fn extract(&mut self, call: &'c Call) -> Way<()> {
        let Some(Argument::Out(target) | Argument::InOut(target)) = call.arguments.first() else {
            return self.refuse_at(call.span, "`extract` of this form");
        };
        let (slot, path, _) = self.find(target)?;
        let Shape::Header(fields) = &target.place.shape else {
            return self.refuse_at(call.span, "`extract` of this form");
        };
        let size = match call.arguments.get(1) {
            Some(_) => Some(self.size_of_varbit(fields, call)?),
            None => None,
        };
        let bits: u32 = fields.shapes.iter().filter_map(Shape::bits).sum::<u32>() + size.unwrap_or(0);
        if !bits.is_multiple_of(8) || !self.at.is_multiple_of(8) {
            return self.refuse_at(call.span, "a header that is no whole number of bytes");
        }
        self.has(bits)?;
        let mut header = V::fresh(&target.place.shape);
        header.set_valid(true);
        for (part, shape) in header.parts_mut().iter_mut().zip(&fields.shapes) {
            if let Shape::Varbit(_) = shape {
                *part = V::Bits(Bits::constant(size.unwrap_or(0), 0));
            }
        }
        let start = self.at;
        let mut at = start;
        let mut new = Vec::new();
        // Elements of stacks change places: their fields are called by where they stood in the packet.
        let moves = size.is_some()
            || (0..path.len()).any(|depth| matches!(self.slots[slot].part(&path[..depth]), Some(V::Stack(..))));
        let locs = &mut self.locs;
        let element = size.map_or_else(|| path.clone(), |size| sized(&path, size));
        header.leaves(&mut path.clone(), &mut |path, bits| {
            let width = bits.width();
            if width == 0 {
                return;
            }
            let loc = match moves {
                true => locs.of(LocInfo::Element(slot, element.clone(), start, at), width),
                false => locs.leaf(slot, path, width),
            };
            *bits = Bits::of(width, Src::Loc(loc, 0));
            new.push((loc, at));
            at += width;
        });
        self.at = at;
        self.locs.lines.take(slot, &path, call.span);
        if let Some(value) = self.slots[slot].part_mut(&path) {
            *value = V::Fixed(crate::front::interpret::value::Value::None);
        }
        // A header that is extracted again has other bytes: nobody may still mean those of before.
        let mut again = false;
        for (loc, _) in &new {
            again |= self.taken.contains_key(loc);
        }
        if again {
            for value in &mut self.slots {
                value.leaves(&mut Vec::new(), &mut |_, bits| {
                    bits.locs(&mut |loc| {
                        again &= !new.iter().any(|(other, _)| *other == loc);
                    })
                });
            }
            if !again {
                return self.refuse_at(call.span, "a header that is extracted again while its old fields are in use");
            }
        }
        self.taken.extend(new);
        if let Some(value) = self.slots[slot].part_mut(&path) {
            *value = header;
        }
        self.only_one(slot, &path);
        for (at, step) in target.place.steps.iter().enumerate() {
            if matches!(step, crate::front::interpret::code::Step::Next(_)) {
                let outer = path.len() - target.place.steps.len() + at;
                let next = path[outer] + 1;
                if let Some(V::Stack(at, _)) = self.slots[slot].part_mut(&path[..outer]) {
                    *at = next;
                }
            }
        }
        Ok(())
    }

    pub fn lookahead(&mut self, shape: &Shape) -> Way<V> {
        let Some(bits) = shape.bits() else { return self.refuse("`lookahead` of this form") };
        self.has(bits)?;
        let mut value = V::fresh(shape);
        value.set_valid(true);
        let (mut at, span) = (self.at, self.span);
        let locs = &mut self.locs;
        let mut new = Vec::new();
        value.leaves(&mut Vec::new(), &mut |_, bits| {
            let width = bits.width();
            let loc = locs.of(LocInfo::Look(at, width), width);
            locs.lines.look_ahead(at, width, span);
            *bits = Bits::of(width, Src::Loc(loc, 0));
            new.push((loc, at));
            at += width;
        });
        self.taken.extend(new);
        Ok(value)
    }

    pub fn advance(&mut self, call: &'c Call) -> Way<()> {
        let bits = self.length_of(call, 0)?;
        // What is longer than the parser sees is refused where it asks for it.
        let bits = bits.min(u128::from(WINDOW * 8 + 1)) as u32;
        self.has(bits)?;
        self.at += bits;
        Ok(())
    }
}
