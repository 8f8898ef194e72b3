//! Where a visit to a stage ends. What the program holds is kept in variables, and the next visit begins with those.
//!
//! What is known stays known; a value that only names a variable which has not changed stays a name for it. All else is written to the
//! variable of its place, or to a new one if it is only being computed with.

use super::follow::{Event, Follower, Need, Refusal, RefusalKind, Stop, Way};
use super::value::V;
use crate::ir::{Bits, Leaf, Loc, LocInfo, Next, Operation, Src};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Bits of a cell.
pub(super) const CELL: u32 = 32;

/// Most visits on a way: three times the stages of the longest pipeline, because visits that come to nothing are left out later.
const MOST_CUTS: u32 = 36;

impl Follower<'_, '_> {
    /// Ends the visit.
    pub fn cut(&mut self) -> Way<()> {
        if self.cuts >= MOST_CUTS {
            let what = format!("a chain of more than {MOST_CUTS} stages up to here");
            return Err(Stop::Refused(Box::new(Refusal::new(self.span, RefusalKind::TooMuch, what))));
        }
        let assigns = self.changes();
        let (access, bounds) = (self.access.take(), std::mem::take(&mut self.bounds));
        // What comes next is found when the way is followed further.
        let leaf = Leaf { access, bounds, assigns, next: Next::Drop };
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
        while bits.is_made() || compound(&bits) {
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
        let mut assigns = BTreeMap::new();
        let mut slots = std::mem::take(&mut self.slots);
        for (slot, value) in slots.iter_mut().enumerate() {
            value.leaves(&mut Vec::new(), &mut |path, bits| {
                if bits.has_cell() {
                    *bits = self.without_cells(bits, &changed, &mut assigns);
                    return;
                }
                if stays(bits, &changed) {
                    return;
                }
                let width = bits.width();
                let loc = self.locs.of(LocInfo::Leaf(slot, path.to_vec()), width);
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
        self.hash = self.hash.take().filter(|(data, _)| stays(data, &changed));
        assigns
    }

    fn keep(&mut self, bits: &mut Bits, whole: bool, changed: &BTreeSet<Loc>, assigns: &mut BTreeMap<Loc, Bits>) {
        if bits.has_cell() {
            *bits = self.without_cells(bits, changed, assigns);
            return;
        }
        let one = bits.is_known() || matches!(&bits.segs[..], [seg] if matches!(seg.src, Src::Loc(..)));
        if stays(bits, changed) && (one || !whole) {
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
            let one = Bits { segs: vec![seg.clone()] };
            out = out.concat(match &seg.src {
                Src::Cell(when, low) => {
                    let cell = Bits::of(CELL, Src::Cell(*when, 0));
                    let held = assigns.iter().find(|(_, other)| **other == cell).map(|(loc, _)| *loc);
                    let loc = held.unwrap_or_else(|| {
                        self.temps += 1;
                        self.locs.lines.keep(self.temps, self.span);
                        self.locs.of(LocInfo::Temp(self.temps, CELL), CELL)
                    });
                    assigns.insert(loc, cell);
                    Bits::of(seg.width, Src::Loc(loc, *low))
                }
                Src::Op(operation) if one.has_cell() => {
                    let [a, b] = [&operation.a, &operation.b].map(|bits| self.without_cells(bits, changed, assigns));
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

    /// Variables whose place holds something else than they do.
    fn changed(&mut self) -> BTreeSet<Loc> {
        let mut changed = BTreeSet::new();
        let mut slots = std::mem::take(&mut self.slots);
        for (slot, value) in slots.iter_mut().enumerate() {
            let locs = &mut self.locs;
            value.leaves(&mut Vec::new(), &mut |path, bits| {
                let width = bits.width();
                let loc = locs.of(LocInfo::Leaf(slot, path.to_vec()), width);
                if *bits != Bits::of(width, Src::Loc(loc, 0)) {
                    changed.insert(loc);
                }
            });
        }
        self.slots = slots;
        changed
    }
}

/// Whether bits say the same behind the end of the visit.
fn stays(bits: &Bits, changed: &BTreeSet<Loc>) -> bool {
    bits.segs.iter().all(|seg| match &seg.src {
        Src::Const(_) => true,
        Src::Loc(loc, _) => !changed.contains(loc),
        Src::Param(..) | Src::Cell(..) | Src::Hash(..) | Src::Op(_) => false,
    })
}
