//! Where a visit to a stage ends. What the program holds is kept in variables, and the next visit begins with those.
//!
//! What is known stays known; a value that only names a variable which has not changed stays a name for it. All else is written to the
//! variable of its place, or to a new one if it is only being computed with.

use super::follow::{Event, Follower, Need, Way};
use super::value::V;
use crate::ir::{Bits, Loc, LocInfo, Src};
use std::collections::{BTreeMap, BTreeSet};

impl Follower<'_, '_> {
    /// Ends the visit.
    pub fn cut(&mut self) -> Way<()> {
        let changes = self.changes();
        match self.event(|_| Ok(Need::Cut(changes)))? {
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
        if !bits.is_made() {
            return Ok(bits);
        }
        if self.in_parser {
            return self.refuse("a parser that looks at a value which it computes");
        }
        self.pending.push((bits, false));
        self.cut()?;
        match self.pending.pop() {
            Some((bits, _)) => Ok(bits),
            None => self.refuse("a way that cannot be followed again"),
        }
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
            let locs = &mut self.locs;
            value.leaves(&mut Vec::new(), &mut |path, bits| {
                if stays(bits, &changed) {
                    return;
                }
                let width = bits.width();
                let loc = locs.of(LocInfo::Leaf(slot, path.to_vec()), width);
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
        assigns
    }

    fn keep(&mut self, bits: &mut Bits, whole: bool, changed: &BTreeSet<Loc>, assigns: &mut BTreeMap<Loc, Bits>) {
        let one = bits.is_known() || matches!(&bits.segs[..], [seg] if matches!(seg.src, Src::Loc(..)));
        if stays(bits, changed) && (one || !whole) {
            return;
        }
        let width = bits.width();
        self.temps += 1;
        let loc = self.locs.of(LocInfo::Temp(self.temps, width), width);
        let new = Bits::of(width, Src::Loc(loc, 0));
        assigns.insert(loc, std::mem::replace(bits, new));
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
        Src::Param(..) | Src::Op(_) => false,
    })
}
