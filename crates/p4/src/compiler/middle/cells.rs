//! Registers, counters and meters: a visit looks at one cell at most, reads it as it was and changes it at once.

use super::symbolic::{Follower, Way};
use super::value::V;
use crate::compiler::ir::{Access, Array, Bits, Bound, CELL, Change, Op, Src, When};
use crate::front::interpret::code::{Argument, Call, NativeCall, ObjectKind, Owner};
use crate::front::interpret::value::Number;
use crate::front::source::Span;

/// Most bits of a register: four words.
const MOST_BITS: u32 = 4 * CELL;

/// Words of a cell beside the lowest.
fn more_words(width: u32) -> u32 {
    width.div_ceil(CELL) - 1
}

impl<'c> Follower<'c> {
    fn object_of(&self, native: &NativeCall) -> Option<usize> {
        match native.object {
            Owner::None => None,
            Owner::Object(at) => Some(at),
            Owner::Slot(slot) => match &self.slots[slot] {
                V::Fixed(value) => usize::try_from(value.bits()).ok(),
                V::Bits(bits) => bits.known().and_then(|at| usize::try_from(at).ok()),
                _ => None,
            },
        }
    }

    /// What is kept is changed once for a packet, and not once for each of its copies.
    pub fn once(&self, span: Span) -> Way<()> {
        match self.for_copies {
            true => self.refuse_at(span, "state that changes once for each copy of a packet"),
            false => Ok(()),
        }
    }

    /// `counter.count(index)`.
    pub fn count(&mut self, native: &'c NativeCall, call: &'c Call) -> Way<()> {
        self.once(call.span)?;
        let Some(object) = self.object_of(native) else { return self.refuse_at(call.span, "a counter of this form") };
        let ObjectKind::Counter { cells, packets, bytes, .. } = &self.code.objects[object].kind else { return Ok(()) };
        let Some(mut index) = self.cell_index(call, 0, *cells)? else { return Ok(()) };
        for (counts, bytes) in [(*packets, false), (*bytes, true)] {
            if !counts {
                continue;
            }
            index = self.free(index)?;
            let by = match bytes {
                false => Bits::constant(CELL, 1),
                true => Bits::constant(CELL - 16, 0).concat(self.length()),
            };
            let change = Change::Add { by, negate: false };
            let array = Array { object, part: u32::from(bytes) };
            self.locs.lines.look(array, call.span);
            self.access = Some(Access { array, cells: *cells, index: index.clone(), change, more: 0 });
        }
        Ok(())
    }

    /// A meter to which nobody gave rates is green; rates are refused when they are given.
    pub fn color(&mut self, call: &'c Call, at: usize) -> Way<()> {
        let Some(Argument::Out(target) | Argument::InOut(target)) = call.arguments.get(at) else {
            return self.refuse_at(call.span, "a meter of this form");
        };
        let (slot, path, low) = self.find(target)?;
        let width = target.width();
        self.write(target, slot, &path, low, V::Bits(Bits::constant(width, 0)))
    }

    /// `police.execute(index, color)`: a visit's only access.
    pub fn police(&mut self, native: &'c NativeCall, call: &'c Call) -> Way<()> {
        self.once(call.span)?;
        let object = self.object_of(native).map(|at| (at, &self.code.objects[at].kind));
        let Some((object, ObjectKind::Police { cells, police })) = object else {
            return self.refuse_at(call.span, "a meter of this form");
        };
        // Without such a meter it is green.
        let mut color = Bits::constant(1, 0);
        if let Some(index) = self.cell_index(call, 0, *cells)? {
            let array = Array { object, part: 0 };
            self.locs.lines.look(array, call.span);
            let index = self.free(index)?;
            self.access = Some(Access { array, cells: *cells, index, change: Change::Police(*police), more: 0 });
            color = Bits::of(1, Src::Cell(When::New, 0));
        }
        self.give(call, 1, color)
    }

    pub fn register(&self, native: &NativeCall, call: &Call) -> Way<(usize, usize, Number)> {
        let Some(object) = self.object_of(native) else { return self.refuse_at(call.span, "a register of this form") };
        let ObjectKind::Register { cells, shape } = &self.code.objects[object].kind else {
            return self.refuse_at(call.span, "a register of this form");
        };
        let width = shape.bits().unwrap_or(0);
        if width == 0 || width > MOST_BITS || shape.fields().is_some() {
            let what = format!("a register of {width} bits; cells have at most {MOST_BITS}, in one piece");
            return self.refuse_at(call.span, what);
        }
        Ok((object, *cells, Number { width, signed: false }))
    }

    /// `register.read(result, index)`.
    pub fn read_register(&mut self, native: &'c NativeCall, call: &'c Call) -> Way<()> {
        let (object, cells, number) = self.register(native, call)?;
        let Some(Argument::Out(target) | Argument::InOut(target)) = call.arguments.first() else {
            return self.refuse_at(call.span, "a register of this form");
        };
        let (slot, path, low) = self.find(target)?;
        let width = number.width;
        let value = match self.cell_index(call, 1, cells)? {
            None => Bits::constant(width, 0),
            Some(index) => {
                let array = Array { object, part: 0 };
                self.locs.lines.look(array, call.span);
                let same = self.access.as_ref().filter(|access| access.array == array && access.index == index);
                match same.map(|access| &access.change) {
                    Some(Change::Keep) => Bits::of(width, Src::Cell(When::Old, 0)),
                    Some(Change::Set(value)) => value.clone(),
                    Some(Change::Add { .. } | Change::Choose { .. } | Change::Police(_)) => {
                        Bits::of(width, Src::Cell(When::New, 0))
                    }
                    None => {
                        let index = self.free(index)?;
                        self.access =
                            Some(Access { array, cells, index, change: Change::Keep, more: more_words(width) });
                        Bits::of(width, Src::Cell(When::Old, 0))
                    }
                }
            }
        };
        self.write(target, slot, &path, low, V::Bits(value))
    }

    /// `register.write(index, value)`.
    pub fn write_register(&mut self, native: &'c NativeCall, call: &'c Call) -> Way<()> {
        self.once(call.span)?;
        let (object, cells, number) = self.register(native, call)?;
        let Some(index) = self.cell_index(call, 0, cells)? else { return Ok(()) };
        let mut held = [index];
        let V::Bits(value) = self.while_held(&mut held, |this| this.argument(call, 1))? else {
            return self.refuse_at(call.span, "a value of this form in a register");
        };
        let [index] = &held;
        let array = Array { object, part: 0 };
        self.locs.lines.look(array, call.span);
        let is_same = self.access.as_ref().is_some_and(|access| access.array == array && access.index == *index);
        if !is_same {
            let value = self.while_held(&mut held, |this| this.kept(value, true))?;
            let ([index], mut held) = (held, [value]);
            let index = self.while_held(&mut held, |this| this.free(index))?;
            let [value] = held;
            self.access =
                Some(Access { array, cells, index, change: Change::Set(value), more: more_words(number.width) });
            return Ok(());
        }
        let is_wide = more_words(number.width) > 0;
        let old = Bits::of(number.width, Src::Cell(When::Old, 0));
        let change = match &value.segs[..] {
            _ if value == old => Change::Keep,
            [seg] if !value.has_cell() && !matches!(seg.src, Src::Op(_)) => Change::Set(value.clone()),
            _ if value.is_known() => Change::Set(value.clone()),
            [seg] => match &seg.src {
                Src::Op(_) if is_wide => {
                    let what = format!("a register of more than {CELL} bits that is changed by what it holds");
                    return self.refuse_at(call.span, what);
                }
                Src::Op(operation) => {
                    let plain = |bits: &Bits| !bits.has_cell() && !bits.has_op() && bits.segs.len() == 1;
                    let (a, b) = (&operation.a.without_zeros_if_aligned(), &operation.b.without_zeros_if_aligned());
                    match operation.op {
                        // With the zeros above, which nothing else may lie in.
                        Op::Add if *a == old && plain(b) => Change::Add { by: operation.b.clone(), negate: false },
                        Op::Add if *b == old && plain(a) => Change::Add { by: operation.a.clone(), negate: false },
                        Op::Sub if *a == old && plain(b) => Change::Add { by: operation.b.clone(), negate: true },
                        _ => return self.refuse_at(call.span, "a register that is changed by other than adding to it"),
                    }
                }
                _ => return self.refuse_at(call.span, "a register that gets what it held in another form"),
            },
            _ => return self.refuse_at(call.span, "a register that gets a value of several pieces"),
        };
        let earlier = self.access.as_ref().map(|access| access.change.clone());
        if earlier.is_some_and(|change| change != Change::Keep) {
            return self.refuse_at(call.span, "a cell of a register that is written twice for a packet");
        }
        if let (Change::Add { .. }, [seg]) = (&change, &value.segs[..]) {
            // What was computed for it is what it becomes.
            let (sum, new) = (seg.src.clone(), Src::Cell(When::New, 0));
            self.rename(&sum, &new);
        }
        if let Some(access) = &mut self.access {
            access.change = change;
        }
        Ok(())
    }

    /// Calls a computed value by another name, wherever it is held.
    fn rename(&mut self, from: &Src, to: &Src) {
        let change =
            |bits: &mut Bits| bits.segs.iter_mut().filter(|seg| seg.src == *from).for_each(|seg| seg.src = to.clone());
        for value in self.slots.iter_mut().chain(std::iter::once(&mut self.returned)) {
            value.leaves(&mut Vec::new(), &mut |_, bits| change(bits));
        }
        self.pending.iter_mut().for_each(|(bits, _)| change(bits));
        self.sums.iter_mut().for_each(|sum| change(&mut sum.data));
    }

    /// Has a visit that looks at no cell yet; the index stays what it is.
    pub fn free(&mut self, index: Bits) -> Way<Bits> {
        if self.access.is_none() {
            return Ok(index);
        }
        let mut held = [index];
        self.while_held(&mut held, Self::cut)?;
        let [index] = held;
        Ok(index)
    }

    /// An index that is below the number of cells, or nothing.
    pub fn cell_index(&mut self, call: &'c Call, at: usize, cells: usize) -> Way<Option<Bits>> {
        let V::Bits(mut index) = self.argument(call, at)? else {
            return self.refuse_at(call.span, "an index of this form");
        };
        if self.in_parser {
            return self.refuse_at(call.span, "registers and counters in the parser");
        }
        if let Some(at) = index.known() {
            return Ok((at < cells as u128).then(|| Bits::constant(16, at)));
        }
        // Zeros above say nothing.
        index = index.without_zeros();
        if let [seg] = &index.segs[..]
            && matches!(seg.src, Src::Param(..))
        {
            self.bounds.push((index.clone(), Bound::Within(0..cells)));
            return Ok(Some(index));
        }
        index = self.kept(index, true)?;
        let width = index.width();
        if width < 64 && 1u128 << width <= cells as u128 {
            return Ok(Some(index));
        }
        if let Some((.., below)) = self.indices.iter().find(|(other, of, _)| *other == index && *of == cells) {
            return Ok(below.then_some(index));
        }
        let mut held = [index.clone()];
        let below = self.while_held(&mut held, |this| this.less(index, Bits::constant(width, cells as u128)))?;
        let [index] = held;
        self.indices.push((index.clone(), cells, below));
        Ok(below.then_some(index))
    }
}
