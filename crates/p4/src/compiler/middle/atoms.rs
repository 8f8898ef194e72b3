//! Atoms of sluice.p4: words that a packet reads and changes at once, also by what they hold.

use super::symbolic::{Follower, Way};
use super::value::V;
use crate::compiler::ir::{Access, Array, Becomes, Bits, CELL, Change, Src, When};
use crate::front::interpret::code::{Call, NativeCall};
use crate::front::interpret::native::{AtomValue, Native};

impl<'c> Follower<'c> {
    /// One of an atom's methods: a visit's only access, which gives the word as it was and as it becomes.
    pub fn atom(&mut self, native: &'c NativeCall, call: &'c Call) -> Way<()> {
        self.once(call.span)?;
        let (object, cells, _) = self.register(native, call)?;
        let results = match native.what {
            Native::AtomRead => [Some(1), None],
            Native::AtomWrite => [Some(2), None],
            Native::AtomAdd => [Some(2), Some(3)],
            _ => [Some(6), Some(7)],
        };
        let (mut old, mut now) = (Bits::constant(CELL, 0), Bits::constant(CELL, 0));
        if let Some(index) = self.cell_index(call, 0, cells)? {
            let array = Array { object, part: 0 };
            self.locs.lines.look(array, call.span);
            let mut held = [index];
            let mut change = self.while_held(&mut held, |this| this.change_of(native.what, call))?;
            // The access is in one visit, with all that it computes with.
            let values = change.bits().into_iter().cloned().collect();
            let mut values = self.while_held(&mut held, |this| this.all_kept(values))?;
            let [index] = held;
            let index = self.while_held(&mut values, |this| this.free(index))?;
            change.bits_mut().into_iter().zip(values).for_each(|(bits, kept)| *bits = kept);
            old = Bits::of(CELL, Src::Cell(When::Old, 0));
            now = match &change {
                Change::Keep => old.clone(),
                Change::Set(value) => value.clone(),
                _ => Bits::of(CELL, Src::Cell(When::New, 0)),
            };
            self.access = Some(Access { array, cells, index, change, more: 0 });
        }
        for (at, value) in results.into_iter().zip([old, now]) {
            if let Some(at) = at {
                self.give(call, at, value)?;
            }
        }
        Ok(())
    }

    fn change_of(&mut self, what: Native, call: &'c Call) -> Way<Change> {
        Ok(match what {
            Native::AtomWrite => Change::Set(self.word_of(call, 1)?),
            Native::AtomAdd => Change::Add { by: self.word_of(call, 1)?, negate: false },
            Native::AtomChoose => {
                let limit = self.word_of(call, 1)?;
                let mut held = vec![limit];
                let yes = self.while_held(&mut held, |this| this.becomes(call, 2))?;
                held.push(yes.value);
                let no = self.while_held(&mut held, |this| this.becomes(call, 4))?;
                let value = held.pop().unwrap_or_default();
                let limit = held.pop().unwrap_or_default();
                Change::Choose { limit, yes: Becomes { value, ..yes }, no }
            }
            _ => Change::Keep,
        })
    }

    /// An `AtomValue` that is known, and its operand.
    fn becomes(&mut self, call: &'c Call, at: usize) -> Way<Becomes> {
        let what = self.argument(call, at)?;
        let Some(what) = what.bits().and_then(Bits::known).and_then(AtomValue::from_number) else {
            return self.refuse_at(call.span, "an atom whose values are chosen by the packet");
        };
        let operand = self.word_of(call, at + 1)?;
        let (old, negate) = what.terms();
        let value = if what == AtomValue::Old { Bits::constant(CELL, 0) } else { operand };
        Ok(Becomes { old, value, negate })
    }

    fn word_of(&mut self, call: &'c Call, at: usize) -> Way<Bits> {
        match self.argument(call, at)? {
            V::Bits(bits) if bits.width() == CELL => Ok(bits),
            _ => self.refuse_at(call.span, "an operand of this form"),
        }
    }

    /// Values that are kept in one piece each, all in the same visit. One number of an entry may come from it at once.
    pub fn all_kept(&mut self, mut values: Vec<Bits>) -> Way<Vec<Bits>> {
        let mut given = values.iter().filter(|bits| bits.is_made());
        if let Some(one) = given.next()
            && matches!(&one.segs[..], [seg] if matches!(seg.src, Src::Param(..)))
            && given.all(|other| other == one)
            && values.iter().all(|bits| bits.segs.len() == 1 && !self.has_time(bits))
        {
            return Ok(values);
        }
        loop {
            let cuts = self.cuts;
            for at in 0..values.len() {
                let value = values[at].clone();
                values[at] = self.while_held(&mut values, |this| this.kept(value, true))?;
            }
            if self.cuts == cuts {
                return Ok(values);
            }
        }
    }
}
