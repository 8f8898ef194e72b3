//! Where a visit to a stage ends. What the program holds is kept in variables, and the next visit begins with those.
//!
//! What is known stays known; a value that only names a variable which has not changed stays a name for it. All else is written to the
//! variable of its place, or to a new one if it is only being computed with.

use super::symbolic::{Event, Follower, Need, Refusal, RefusalKind, Stop, Way};
use super::value::V;
use crate::compiler::ir::{Access, Array, Bits, CELL, Change, Leaf, Loc, LocInfo, Next, Operation, Src, When};
use crate::front::interpret::TIME_BITS;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Most visits on a way: three times the stages of the longest pipeline, because visits that come to nothing are left out later.
const MOST_CUTS: u32 = 36;

impl Follower<'_> {
    /// Ends the visit. Words of a cell beside the lowest are then looked at by visits of their own.
    pub fn cut(&mut self) -> Way<()> {
        let depth = self.pending.len();
        let more = self.access.as_ref().map_or(0, |access| access.more);
        if let Some(access) = self.access.clone().filter(|_| more > 0) {
            self.pending.push((access.index, true));
            if let Change::Set(value) = &access.change {
                self.pending.push((value.clone(), true));
            }
        }
        let assigns = self.changes();
        let words = std::mem::take(&mut self.cell_words);
        let mut access = self.access.take();
        let whole = access.clone();
        if let Some(access) = &mut access {
            access.more = 0;
            if let (Change::Set(value), true) = (&mut access.change, more > 0) {
                *value = word_of(value, 0);
            }
        }
        let bounds = std::mem::take(&mut self.bounds);
        // What comes next is found when the way is followed further.
        self.end_visit(Leaf { access, bounds, assigns, next: Next::Drop })?;
        let Some(whole) = whole.filter(|_| more > 0) else { return Ok(()) };
        let held: Vec<Bits> = self.pending.drain(depth..).map(|(bits, _)| bits).collect();
        for word in 1..=more {
            // Visits that are otherwise alike differ by the word and what is still to be written.
            self.pending.push((Bits::constant(CELL, word.into()), false));
            self.pending.extend(held.iter().map(|bits| (bits.clone(), false)));
            let change = match &whole.change {
                Change::Set(_) => Change::Set(word_of(&held[1], word)),
                change => change.clone(),
            };
            let array = Array { part: word, ..whole.array };
            let access = Some(Access { array, cells: whole.cells, index: held[0].clone(), change, more: 0 });
            let read = words.iter().filter(|(of, _)| *of == word);
            let assigns = read.map(|(_, loc)| (*loc, Bits::of(CELL, Src::Cell(When::Old, 0)))).collect();
            self.end_visit(Leaf { access, bounds: Vec::new(), assigns, next: Next::Drop })?;
            self.pending.truncate(depth);
        }
        Ok(())
    }

    /// Whether the cell that is being looked at has words that want visits of their own.
    pub fn looks_again(&self) -> bool {
        self.access.as_ref().is_some_and(|access| access.more > 0)
    }

    fn end_visit(&mut self, leaf: Leaf) -> Way<()> {
        if self.cuts >= MOST_CUTS {
            let what = format!("a chain of more than {MOST_CUTS} stages up to here");
            return Err(Stop::Refused(Box::new(Refusal::new(self.span, RefusalKind::TooMuch, what))));
        }
        match self.event(|_| Ok(Need::Cut(Box::new(leaf))))? {
            Event::Cut => {
                self.cuts += 1;
                self.facts.clear();
                self.comparisons = 0;
                self.has_table = false;
                Ok(())
            }
            other => self.refuse(format!("a way that cannot be followed again ({other:?})")),
        }
    }

    /// A value that can be looked at in this visit, or else the next one, as often as one likes.
    pub fn settled(&mut self, bits: Bits) -> Way<Bits> {
        self.kept(bits, false)
    }

    /// The same; with `whole` as a constant or in one piece.
    pub fn kept(&mut self, mut bits: Bits, whole: bool) -> Way<Bits> {
        let compound = |bits: &Bits| whole && bits.segs.len() > 1 && !bits.is_known();
        while bits.is_made() || compound(&bits) || self.has_time(&bits) {
            if self.in_parser {
                return self.refuse("a parser that looks at a value which it computes");
            }
            self.pending.push((bits, whole));
            self.cut()?;
            bits = match self.pending.pop() {
                Some((bits, _)) => bits,
                None => return self.refuse("a way that cannot be followed again"),
            };
        }
        Ok(bits)
    }

    /// Refuses if a visit ended while values were held that nobody kept.
    pub fn unmoved(&self, cuts: u32) -> Way<()> {
        match self.cuts == cuts {
            true => Ok(()),
            false => self.refuse("an expression that needs more than one stage in its middle"),
        }
    }

    /// What is written when the visit ends; afterwards the values are those of the next one.
    pub fn changes(&mut self) -> BTreeMap<Loc, Bits> {
        let changed = self.changed();
        let time = self.locs.find(&LocInfo::Time).map(|time| Bits::of(TIME_BITS, Src::Loc(time, 0)));
        let standard = self.code.of_parser(3).map(|parameter| parameter.slot);
        let mut assigns = BTreeMap::new();
        let mut slots = std::mem::take(&mut self.slots);
        for (slot, value) in slots.iter_mut().enumerate() {
            value.leaves(&mut Vec::new(), &mut |path, bits| {
                if bits.has_cell() {
                    *bits = self.without_cells(bits, &changed, &mut assigns);
                    return;
                }
                // The time goes where it belongs at once, for it takes what only one value of a visit can have.
                let waits = Some(slot) == standard || time.as_ref() != Some(bits);
                if waits && stays(bits, &changed) {
                    return;
                }
                let width = bits.width();
                let loc = self.locs.leaf(slot, path, width);
                let new = Bits::of(width, Src::Loc(loc, 0));
                assigns.insert(loc, std::mem::replace(bits, new));
            });
        }
        self.slots = slots;
        let mut returned = std::mem::replace(&mut self.returned, V::Parts(Vec::new()));
        returned.leaves(&mut Vec::new(), &mut |_, bits| self.keep(bits, false, &changed, &mut assigns));
        self.returned = returned;
        let mut pending = std::mem::take(&mut self.pending);
        pending.iter_mut().for_each(|(bits, whole)| self.keep(bits, *whole, &changed, &mut assigns));
        self.pending = pending;
        let mut sums = std::mem::take(&mut self.sums);
        sums.iter_mut().for_each(|sum| self.keep(&mut sum.data, false, &changed, &mut assigns));
        self.sums = sums;
        let mut verified = self.verified.take();
        if let Some(verified) = &mut verified {
            self.keep(&mut verified.data, false, &changed, &mut assigns);
            self.keep(&mut verified.sum, false, &changed, &mut assigns);
        }
        self.verified = verified;
        self.indices.retain(|(index, ..)| stays(index, &changed));
        self.hash = self.hash.take().filter(|(data, _)| stays(data, &changed));
        assigns
    }

    fn keep(&mut self, bits: &mut Bits, whole: bool, changed: &BTreeSet<Loc>, assigns: &mut BTreeMap<Loc, Bits>) {
        if bits.has_cell() {
            *bits = self.without_cells(bits, changed, assigns);
            return;
        }
        let is_time = self.has_time(bits);
        let one = bits.is_known() || matches!(&bits.segs[..], [seg] if matches!(seg.src, Src::Loc(..)));
        if stays(bits, changed) && (one || !whole) && !is_time {
            return;
        }
        let width = bits.width();
        if let Some((loc, _)) = assigns.iter().find(|(_, other)| *other == bits) {
            *bits = Bits::of(width, Src::Loc(*loc, 0));
            return;
        }
        self.temps += 1;
        self.locs.lines.keep(self.temps, self.span);
        let loc = self.locs.of(LocInfo::Temp(self.temps, width), width);
        let new = Bits::of(width, Src::Loc(loc, 0));
        assigns.insert(loc, std::mem::replace(bits, new));
    }

    /// Bits with the places that a cell is read into; what is computed with it is left to the next visit.
    fn without_cells(&mut self, bits: &Bits, changed: &BTreeSet<Loc>, assigns: &mut BTreeMap<Loc, Bits>) -> Bits {
        let mut out = Bits::default();
        for seg in &bits.segs {
            let one = Bits::one(seg.clone());
            out = out.concat(match &seg.src {
                Src::Cell(when, low) => {
                    let words = (*low / CELL..(low + seg.width).div_ceil(CELL)).rev();
                    words.fold(Bits::default(), |out, word| {
                        let loc = self.word_read(*when, word, assigns);
                        let (from, to) = ((*low).max(CELL * word), (low + seg.width).min(CELL * (word + 1)));
                        out.concat(Bits::of(to - from, Src::Loc(loc, from - CELL * word)))
                    })
                }
                Src::Op(operation) if one.has_cell() => {
                    let [a, b] = [&operation.a, &operation.b].map(|bits| {
                        // What is added in pieces is put together while the cell is read.
                        let in_pieces = bits.segs.len() > 1 && !bits.has_cell() && !bits.has_op();
                        if in_pieces && stays(bits, changed) {
                            let mut whole = bits.clone();
                            self.keep(&mut whole, true, changed, assigns);
                            return whole;
                        }
                        self.without_cells(bits, changed, assigns)
                    });
                    Bits::of(seg.width, Src::Op(Rc::new(Operation { op: operation.op, a, b })))
                }
                _ => {
                    let mut one = one;
                    self.keep(&mut one, false, changed, assigns);
                    one
                }
            });
        }
        out
    }

    /// The variable that a word of the cell is read into.
    fn word_read(&mut self, when: When, word: u32, assigns: &mut BTreeMap<Loc, Bits>) -> Loc {
        let cell = Bits::of(CELL, Src::Cell(when, 0));
        let held = match word {
            0 => assigns.iter().find(|(_, other)| **other == cell).map(|(loc, _)| *loc),
            _ => self.cell_words.iter().find(|(of, _)| *of == word).map(|(_, loc)| *loc),
        };
        if let Some(loc) = held {
            return loc;
        }
        self.temps += 1;
        self.locs.lines.keep(self.temps, self.span);
        let loc = self.locs.of(LocInfo::Temp(self.temps, CELL), CELL);
        if word == 0 {
            assigns.insert(loc, cell);
        } else {
            self.cell_words.push((word, loc));
        }
        loc
    }

    /// Variables whose place holds something else than they do.
    fn changed(&mut self) -> BTreeSet<Loc> {
        let mut changed = BTreeSet::new();
        let mut slots = std::mem::take(&mut self.slots);
        for (slot, value) in slots.iter_mut().enumerate() {
            let locs = &mut self.locs;
            value.leaves(&mut Vec::new(), &mut |path, bits| {
                let width = bits.width();
                let loc = locs.leaf(slot, path, width);
                if !bits.is_loc(loc) {
                    changed.insert(loc);
                }
            });
        }
        self.slots = slots;
        changed
    }
}

/// A word of a cell's value.
fn word_of(value: &Bits, word: u32) -> Bits {
    let low = CELL * word;
    value.slice(low, CELL.min(value.width() - low))
}

/// Whether bits say the same behind the end of the visit.
fn stays(bits: &Bits, changed: &BTreeSet<Loc>) -> bool {
    bits.segs.iter().all(|seg| match &seg.src {
        Src::Const(_) => true,
        Src::Loc(loc, _) => !changed.contains(loc),
        Src::Param(..) | Src::Cell(..) | Src::Hash(..) | Src::Op(_) => false,
    })
}
