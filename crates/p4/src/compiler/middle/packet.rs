//! The way of a packet through the blocks of v1model, and how it is put together at its end. Egress is folded behind ingress.

use super::symbolic::{Event, Flow, Follower, Need, Stop, Sum, Way};
use super::value::V;
use crate::compiler::ir::{Bits, Deparse, End, Leaf, Loc, LocInfo, Next, Out, Src};
use crate::front::interpret::code::{Argument, Call, Ex};
use crate::front::interpret::{DROP, TIME_BITS, TIMES};
use crate::front::source::Span;
use sluice_rmt::phv::Word;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Bytes that the deparser sees.
const WINDOW: u32 = 128;
/// Bytes that it puts at once; fewer on `tiny`.
const BEAT: u32 = 64;
/// Bits of its smallest container.
const LEAST_CONTAINER: u32 = 16;
/// Metadata that the pipeline does not know as v1model means them.
pub(super) const UNKNOWN: [&str; 4] = ["enq_timestamp", "enq_qdepth", "deq_timedelta", "deq_qdepth"];

/// Number of ingress among a packet's blocks.
pub(super) const INGRESS: u32 = 1;

/// What a checksum covers: its first byte, words of 16 bits, the byte of the sum.
type Covered = (u32, u32, u32);

impl<'c> Follower<'c> {
    /// Follows the packet to its end, from its beginning or from behind the parser.
    pub fn packet(&mut self) -> Way<Leaf> {
        if let Some(control) = self.system {
            return self.system_stage(control);
        }
        let pipeline = self.code.pipeline;
        let slots = [1, 2, 3].map(|at| self.code.parsers[pipeline.parser].parameters[at].slot);
        let dropped = match self.parsed {
            Some(dropped) => dropped,
            None => self.parse(&slots)?,
        };
        match self.event(|_| Ok(Need::Parsed))? {
            Event::Parsed => {}
            other => return self.refuse(format!("a way that cannot be followed again ({other:?})")),
        }
        if dropped {
            return self.leave(Next::Drop);
        }
        self.block(pipeline.ingress, &slots, INGRESS)?;
        self.hold_for_clone(&slots, false);
        if self.drop {
            return self.dropped(&slots);
        }
        if let Some((group, except_arrival)) = self.group()? {
            if let Some(asked) = &self.asked {
                return self.refuse_at(asked.span, "a clone of a packet that goes to a multicast group");
            }
            return self.copies(group, except_arrival, &slots);
        }
        let port = self.standard("egress_spec");
        if port.width() != 9 {
            return self.refuse("a port that is no number of 9 bits");
        }
        if port.known() == Some(DROP) {
            return self.dropped(&slots);
        }
        self.set_standard("egress_port", port.clone());
        self.set_standard("egress_spec", Bits::constant(9, 0));
        // It goes out in one piece.
        self.pending.push((port, true));
        self.block(pipeline.egress, &slots, 2)?;
        self.hold_for_clone(&slots, true);
        self.finish(&slots, None)
    }

    /// The packet's bytes: what its path knows, or, where there is no parser, the word.
    pub fn length(&mut self) -> Bits {
        let info = if self.system.is_some() { LocInfo::Word(Word::Length, 0) } else { LocInfo::Length };
        let length = self.locs.of(info, 16);
        self.loc_bits(length)
    }

    /// Gives the metadata the port of arrival.
    pub fn set_arrival_port(&mut self) {
        let port = self.locs.of(LocInfo::Port, 9);
        let bits = self.loc_bits(port);
        self.set_standard("ingress_port", bits);
    }

    /// Gives them the length.
    pub fn set_length(&mut self) {
        let bits = Bits::constant(16, 0).concat(self.length());
        self.set_standard("packet_length", bits);
    }

    /// Gives them the time of arrival.
    pub fn set_times(&mut self) {
        for name in TIMES {
            if self.standard(name).width() == TIME_BITS {
                let loc = self.locs.of(LocInfo::Time, TIME_BITS);
                let bits = self.loc_bits(loc);
                self.set_standard(name, bits);
            }
        }
    }

    /// Follows it to the end of the parser and of what is verified; whether it is dropped there.
    fn parse(&mut self, slots: &[usize; 3]) -> Way<bool> {
        let pipeline = self.code.pipeline;
        if self.resumes.is_none() {
            self.begin();
        }
        self.in_parser = true;
        let mut dropped = false;
        match self.states(pipeline.parser) {
            Ok(()) | Err(Stop::Exit) => {}
            Err(Stop::Drop) => dropped = true,
            Err(Stop::Parser(error)) => {
                self.parsed_error = error;
                self.set_standard("parser_error", Bits::constant(32, u128::from(error)));
            }
            Err(stop) => return Err(stop),
        }
        self.resume = None;
        self.parsed_at = self.span;
        self.hold_parsed(slots[0]);
        // What is verified is bytes of the packet as it came.
        if !dropped {
            self.block(pipeline.verify, slots, 0)?;
        }
        self.in_parser = false;
        self.take_beside(slots[1]);
        self.trail.clear();
        self.refs.clear();
        self.not_given.clear();
        self.parsed = Some(dropped);
        Ok(dropped)
    }

    /// What blocks have when a packet arrives.
    fn begin(&mut self) {
        let (code, pipeline) = (self.code, self.code.pipeline);
        for at in 1..4 {
            let parameter = &code.parsers[pipeline.parser].parameters[at];
            self.slots[parameter.slot] = V::fresh(&parameter.shape);
        }
        self.set_arrival_port();
        self.set_length();
        for name in UNKNOWN {
            let width = self.standard(name).width();
            if width > 0 {
                let loc = self.locs.of(LocInfo::Opaque(name), width);
                let bits = self.loc_bits(loc);
                self.set_standard(name, bits);
            }
        }
        self.set_times();
    }

    /// Metadata that hold an element of a stack are taken by the parser, too: behind it, ways that have them from different elements are alike.
    fn take_beside(&mut self, meta: usize) {
        let mut value = std::mem::replace(&mut self.slots[meta], V::Parts(Vec::new()));
        let (locs, taken) = (&mut self.locs, &mut self.taken);
        value.leaves(&mut Vec::new(), &mut |path, bits| {
            let [seg] = &bits.segs[..] else { return };
            let (Src::Loc(loc, 0), width) = (&seg.src, seg.width) else { return };
            let whole = locs.width(*loc) == width && width.is_multiple_of(8);
            let Some(at) = taken.get(loc).copied().filter(|at| whole && at.is_multiple_of(8)) else { return };
            if let LocInfo::Element(..) = locs.info(*loc) {
                let own = locs.leaf(meta, path, width);
                taken.insert(own, at);
                *bits = Bits::of(width, Src::Loc(own, 0));
            }
        });
        self.slots[meta] = value;
    }

    /// What is behind egress; of copies it is known whether the port of arrival gets one.
    pub fn finish(&mut self, slots: &[usize; 3], except_arrival: Option<bool>) -> Way<Leaf> {
        if self.is_dropped_by_egress()? {
            return self.dropped(slots);
        }
        self.block(self.code.pipeline.compute, slots, 3)?;
        self.emitted_by_deparser(slots, 4)?;
        while self.holds_cells() || self.looks_again() {
            self.cut()?;
        }
        self.see_clone(slots)?;
        self.end(except_arrival)
    }

    /// Whether egress dropped the packet, or the clone.
    pub fn is_dropped_by_egress(&mut self) -> Way<bool> {
        let spec = self.standard("egress_spec");
        if self.drop || spec.known() == Some(DROP) {
            return Ok(true);
        }
        Ok(!spec.is_known() && self.equal_bits(spec, Bits::constant(9, DROP))?)
    }

    /// Whether what goes out has something of a cell that is being looked at, or a value that waits for one.
    pub fn holds_cells(&mut self) -> bool {
        let mut found = self.pending.iter().any(|(bits, _)| bits.has_cell());
        for (slot, path) in &self.out {
            if let Some(header) = self.slots[*slot].part_mut(path) {
                header.leaves(&mut Vec::new(), &mut |_, bits| found |= bits.has_cell());
            }
        }
        found
    }

    /// A control on the packet's own places.
    pub fn block(&mut self, at: usize, slots: &[usize; 3], number: u32) -> Way<()> {
        let control = &self.code.controls[at];
        let depth = self.pending.len();
        self.refs.clear();
        for (parameter, slot) in control.parameters.iter().zip(slots) {
            self.refs.insert(parameter.slot, (*slot, Vec::new()));
        }
        self.trail.clear();
        self.trail.push(number);
        self.returned = V::Fixed(crate::front::interpret::value::Value::None);
        let ended = self.statements(&control.locals).and_then(|_| self.statements(&control.body));
        match ended {
            Ok(Flow::Next | Flow::Return | Flow::Break | Flow::Continue) | Err(Stop::Exit) => {
                self.pending.truncate(depth);
                Ok(())
            }
            // What is asked next depends on what is being computed with.
            Err(stop) => Err(stop),
        }
    }

    fn field(&self, name: &str) -> Option<(usize, usize)> {
        let parameter = self.code.of_parser(3)?;
        let at = parameter.shape.fields()?.names.iter().position(|field| &**field == name)?;
        Some((parameter.slot, at))
    }

    /// Whether a place is `egress_spec`.
    pub fn is_port(&self, slot: usize, path: &[u32]) -> bool {
        self.code.of_parser(3).is_some_and(|standard| standard.slot == slot)
            && matches!(path, [at] if self.field("egress_spec").is_some_and(|field| field.1 == *at as usize))
    }

    pub fn standard(&self, name: &str) -> Bits {
        let found = self.field(name).and_then(|(slot, at)| self.slots[slot].parts().get(at));
        found.and_then(V::bits).cloned().unwrap_or_default()
    }

    /// The statement that gave a field of the metadata what it holds, or else the last one.
    pub fn standard_line(&self, name: &str) -> Span {
        let Some((slot, at)) = self.field(name) else { return self.span };
        let (path, lines) = ([at as u32], &self.locs.lines);
        let value = lines.value(slot, &path, &self.standard(name));
        value.or_else(|| lines.written(slot, &path)).unwrap_or(self.span)
    }

    pub fn set_standard(&mut self, name: &str, bits: Bits) {
        if let Some((slot, at)) = self.field(name)
            && let Some(part) = self.slots[slot].parts_mut().get_mut(at)
        {
            *part = V::Bits(bits);
        }
    }

    pub fn emit(&mut self, call: &'c Call) -> Way<()> {
        let Some(Argument::In(Ex::Read(place), _)) = call.arguments.first() else {
            return self.refuse_at(call.span, "`emit` of this form");
        };
        let (slot, path) = self.path(place)?;
        let mut found = Vec::new();
        if let Some(value) = self.slots[slot].part(&path) {
            headers(value, &mut path.clone(), &mut found);
        }
        for path in found {
            self.locs.lines.emit(slot, &path, call.span);
            self.out.push((slot, path));
        }
        Ok(())
    }

    /// A packet that leaves without anything that is written for it.
    pub fn leave(&mut self, next: Next) -> Way<Leaf> {
        if self.looks_again() {
            self.cut()?;
        }
        Ok(Leaf { access: self.access.take(), bounds: std::mem::take(&mut self.bounds), ..Leaf::to(next) })
    }

    /// The fields that go out, and what is written for that.
    pub fn end(&mut self, except_arrival: Option<bool>) -> Way<Leaf> {
        let goal = self.pending.pop().map_or_else(Bits::default, |(bits, _)| bits);
        let mut fields: Vec<(Loc, Bits)> = Vec::new();
        let emitted = std::mem::take(&mut self.out);
        let mut whole = emitted.clone();
        whole.sort();
        whole.dedup();
        if whole.len() != emitted.len() {
            let twice = whole.iter().find(|one| emitted.iter().filter(|other| other == one).count() > 1);
            let at = twice.and_then(|(slot, path)| self.locs.lines.emitted(*slot, path)).unwrap_or(self.span);
            return self.refuse_at(at, "a header that is emitted twice");
        }
        for (slot, path) in &emitted {
            let Some(header) = self.slots[*slot].part(path) else { continue };
            let mut header = header.clone();
            let locs = &mut self.locs;
            header.leaves(&mut path.clone(), &mut |path, bits| {
                if bits.width() > 0 {
                    fields.push((locs.leaf(*slot, path, bits.width()), bits.clone()));
                }
            });
        }
        let sums = self.found_sums(&fields)?;
        let summed: BTreeSet<Loc> = sums.iter().map(|(loc, _)| *loc).collect();
        let together = self.together(&fields);
        let name = |this: &Self, loc: &Loc, bits: &Bits| {
            let whole = bits.width().is_multiple_of(8) || together.contains(loc);
            if whole { this.named(bits) } else { None }
        };
        let mut assigns: BTreeMap<Loc, Bits> = BTreeMap::new();
        loop {
            let before = assigns.len();
            let mut places = self.own_places(&fields, &summed);
            let mut bit = 0;
            for (loc, bits) in &fields {
                let at = bit;
                bit += bits.width();
                if bits.is_loc(*loc) || summed.contains(loc) || assigns.contains_key(loc) {
                    continue;
                }
                let named = name(self, loc, bits).filter(|other| !assigns.contains_key(other));
                match named {
                    Some(other) if is_there_too(&mut places, other, at) => {}
                    _ => {
                        assigns.insert(*loc, bits.clone());
                    }
                }
            }
            if assigns.len() == before {
                break;
            }
        }
        let mut outs = Vec::new();
        for (loc, bits) in &fields {
            let named = if assigns.contains_key(loc) || summed.contains(loc) { None } else { name(self, loc, bits) };
            let shown = named.unwrap_or(*loc);
            let from = if assigns.contains_key(&shown) { None } else { self.taken.get(&shown).copied() };
            outs.push(Out { loc: shown, width: bits.width(), from });
        }
        let mut deparse = Deparse { parsed: self.at / 8, outs, sums: sums.into_iter().map(|(_, sum)| sum).collect() };
        deparse.sums.sort_unstable();
        if !self.at.is_multiple_of(8) {
            return self.refuse_at(self.parsed_at, "a parser that ends within a byte");
        }
        let bits: u32 = deparse.outs.iter().map(|out| out.width).sum();
        if !bits.is_multiple_of(8) || bits > 8 * WINDOW {
            let what = format!("outgoing headers of {bits} bits; whole bytes, and {WINDOW} of them at most");
            return self.refuse_at(self.beyond(&deparse.outs), what);
        }
        let end = match except_arrival {
            None => End { clone: self.cloned, ..End::to(goal, deparse) },
            Some(except_arrival) => End { group: goal, except_arrival, ..End::to(Bits::constant(9, 0), deparse) },
        };
        Ok(Leaf { assigns, ..self.leave(Next::End(Box::new(end)))? })
    }

    /// Where variables that are no bytes of the packet go out as their own fields.
    fn own_places(&self, fields: &[(Loc, Bits)], summed: &BTreeSet<Loc>) -> HashMap<Loc, u32> {
        let mut places = HashMap::new();
        let mut bit = 0;
        for (loc, bits) in fields {
            if !summed.contains(loc) && !self.taken.contains_key(loc) && self.named(bits) == Some(*loc) {
                places.insert(*loc, bit);
            }
            bit += bits.width();
        }
        places
    }

    /// Where the first header is emitted that ends within a byte, or behind what the deparser sees.
    fn beyond(&self, outs: &[Out]) -> Span {
        let mut bit = 0;
        let mut last = self.span;
        for out in outs {
            bit += out.width;
            if let LocInfo::Leaf(slot, path) = self.locs.info(out.loc) {
                last = self.locs.lines.emitted(*slot, path).unwrap_or(last);
            }
            if bit > 8 * WINDOW {
                return last;
            }
        }
        last
    }

    /// Parts of bytes that go out beside the neighbours which they had in the packet; others are moved to where their neighbours are kept.
    fn together(&self, fields: &[(Loc, Bits)]) -> BTreeSet<Loc> {
        let mut all = BTreeSet::new();
        let mut group: Vec<(Loc, Option<u32>, u32)> = Vec::new();
        let mut bit = 0;
        for (loc, bits) in fields {
            let from = self.named(bits).and_then(|source| self.taken.get(&source).copied());
            group.push((*loc, from, bits.width()));
            bit += bits.width();
            if bit % 8 != 0 {
                continue;
            }
            let row = group.windows(2).all(|pair| match (pair[0], pair[1]) {
                ((_, Some(first), width), (_, Some(second), _)) => first + width == second,
                _ => false,
            });
            if row && group.first().is_some_and(|(_, from, _)| from.is_some_and(|from| from % 8 == 0)) {
                all.extend(group.iter().map(|(loc, ..)| *loc));
            }
            group.clear();
        }
        all
    }

    /// The variable whose value bits are, if they are that of one.
    fn named(&self, bits: &Bits) -> Option<Loc> {
        match &bits.segs[..] {
            [seg] => match seg.src {
                Src::Loc(loc, 0) if self.locs.width(loc) == seg.width => match self.locs.info(loc) {
                    LocInfo::Opaque(_) | LocInfo::Port | LocInfo::Length | LocInfo::Bad => None,
                    LocInfo::Word(..) | LocInfo::Time | LocInfo::CopyPort => None,
                    _ => Some(loc),
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// Where the checksums stand: what each covers has to be bytes in a row, with the sum among them.
    fn found_sums(&mut self, fields: &[(Loc, Bits)]) -> Way<Vec<(Loc, Covered)>> {
        let mut found = Vec::new();
        for sum in self.sums.clone() {
            let loc = self.leaf(sum.slot, &sum.path, 16);
            let Some(at) = fields.iter().position(|(field, _)| *field == loc) else { continue };
            let place = |at: usize| fields[..at].iter().map(|(_, bits)| bits.width()).sum::<u32>();
            let mut answer = None;
            // The first field that it covers is that of the sum, or one before it.
            for first in 0..=at {
                let before = fields[first..at].iter().fold(Bits::default(), |all, (_, bits)| all.concat(bits.clone()));
                let mut last = at + 1;
                let mut all = before.clone();
                while all.width() < sum.data.width() && last < fields.len() {
                    all = all.concat(fields[last].1.clone());
                    last += 1;
                }
                let with_zero = before.concat(Bits::constant(16, 0));
                let mut zeroed = with_zero;
                let mut end = at + 1;
                while zeroed.width() < sum.data.width() && end < fields.len() {
                    zeroed = zeroed.concat(fields[end].1.clone());
                    end += 1;
                }
                let start = place(first);
                let bits = match (all == sum.data, zeroed == sum.data) {
                    (true, _) => all.width() + 16,
                    (_, true) => zeroed.width(),
                    _ => continue,
                };
                if start % 8 == 0 && bits % 16 == 0 && place(at) % 8 == 0 && (place(at) - start) % 16 == 0 {
                    answer = Some((start / 8, bits / 16, place(at) / 8));
                }
            }
            match answer {
                Some(answer) => found.push((loc, answer)),
                None => {
                    let what = "a checksum over other bytes than those of a header in their order";
                    return self.refuse_at(sum.span, what);
                }
            }
        }
        if found.len() > 2 {
            let third = self.sums.iter().filter(|sum| found.iter().any(|(loc, _)| self.is_sum(*loc, sum))).nth(2);
            return self.refuse_at(third.map_or(self.span, |sum| sum.span), "more than two checksums in a packet");
        }
        Ok(found)
    }

    fn is_sum(&self, loc: Loc, sum: &Sum) -> bool {
        *self.locs.info(loc) == LocInfo::Leaf(sum.slot, sum.path.clone())
    }
}

/// Valid headers in a value, in the order in which they are emitted.
fn headers(value: &V, path: &mut Vec<u32>, found: &mut Vec<Vec<u32>>) {
    match value {
        V::Header(true, _) => found.push(path.clone()),
        V::Header(false, _) | V::Bits(_) | V::Fixed(_) => {}
        _ => {
            for (at, part) in value.parts().iter().enumerate() {
                path.push(at as u32);
                headers(part, path, found);
                path.pop();
            }
        }
    }
}

/// Whether a variable can go out at this bit, too: in one beat there is one rotation of a container's bytes.
fn is_there_too(places: &mut HashMap<Loc, u32>, loc: Loc, at: u32) -> bool {
    let first = *places.entry(loc).or_insert(at);
    first / (8 * BEAT) != at / (8 * BEAT) || first.abs_diff(at).is_multiple_of(LEAST_CONTAINER)
}
