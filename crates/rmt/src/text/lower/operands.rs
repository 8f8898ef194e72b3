//! Operands of an action: bits are brought to their place, and shared rows are allotted.

use super::scope::Thing;
use crate::action::{A, B, Cross, Picks};
use crate::phv::{Class, Container};
use crate::text::error::{Located, Read, TextProblem, bits, value};
use crate::text::names::Bits;
use sluice_packet::text::Span;

/// Bits that an operand has to meet: a container's class, its lowest bit and their number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub class: Class,
    pub lo: u8,
    pub width: u8,
}

impl Slot {
    pub fn whole(class: Class) -> Self {
        Self { class, lo: 0, width: class.bits() as u8 }
    }

    pub fn mask(self) -> u64 {
        ((1u64 << self.width) - 1) << self.lo
    }
}

/// An operand that has its bits in place; what it is taken from is not allotted yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Imm(u64),
    /// A container of the class as it is.
    Pick(Container),
    /// Rotated left by so many bits, and masked.
    Rotated(Container, u8, u64),
    /// Action data from this 2-byte position.
    Data(u8),
    /// Cross value, shifted right by 16 times this.
    Cross(Cross, u8, Cut),
}

/// Words of the cross value that are cleared before the shift, the highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// So many at most: the others are read.
    Most(u8),
    /// So many: the next lower one is read, and zeros above it.
    Exactly(u8),
}

impl Cut {
    /// Of a source of which bits below `end` are read, and, if `clean`, zeros above.
    pub fn behind(end: u8, clean: bool) -> Self {
        let words = 3 - end.div_ceil(16).min(3);
        if clean { Self::Exactly(words) } else { Self::Most(words) }
    }

    /// What is both.
    fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Most(a), Self::Most(b)) => Some(Self::Most(a.min(b))),
            (Self::Most(most), Self::Exactly(n)) | (Self::Exactly(n), Self::Most(most)) => {
                (n <= most).then_some(Self::Exactly(n))
            }
            (Self::Exactly(a), Self::Exactly(b)) => (a == b).then_some(self),
        }
    }
}

/// Brings a thing to its slot. `shown` is what stands in the text.
pub(super) fn bring(thing: Thing, slot: Slot, span: Span, shown: &str) -> Read<Source> {
    let width = thing.width();
    if width > slot.width {
        let expected = format!("at most {} as here, [{}:0] behind it takes the low ones", slot.width, slot.width - 1);
        return Err(bits(span, format!("{shown} has {width} bits"), expected));
    }
    let same = width == slot.width;
    let unmet = |why: &str| {
        Err(bits(span, format!("{shown} {why}"), "bits that stand at the same place, or 16 or 32 above it"))
    };
    let unclean = |what: &str| {
        let expected = format!("as many bits written: [{}:{}] of what is written", slot.lo + width - 1, slot.lo);
        Err(bits(span, format!("{shown} comes with {what} above its {width} bits"), expected))
    };
    // Lowest bit of the thing within what the cross value is made of, and the bits of that.
    let (from, lo, total) = match thing {
        Thing::Value(v) if v >> slot.width == 0 => return Ok(Source::Imm((v as u64) << slot.lo)),
        Thing::Value(v) => {
            let allowed = format!("at most {:#x}, {} bits", (1u64 << slot.width) - 1, slot.width);
            return Err(value(span, "the value", format!("{v:#x}"), allowed));
        }
        Thing::Bits(b) if b.container.class() == slot.class => return Ok(within_class(b, slot, same)),
        Thing::Bits(b) => (Cross::Container(b.container), b.lo, b.container.class().bits() as u8),
        Thing::Hash { lo, .. } => (Cross::Hash, lo, 32),
        Thing::Number { lo, .. } => (Cross::Number, lo, 16),
        Thing::Data { end, .. } => {
            // The class's bytes end where its bit `slot.lo` is the thing's lowest.
            let start = i32::from(end) + i32::from(slot.lo) - slot.class.bits() as i32;
            if start % 16 != 0 || !(0..128).contains(&start) {
                return unmet("cannot be moved there from the action data");
            }
            if !same {
                return unclean("other bytes of the action data");
            }
            return Ok(Source::Data((start / 16) as u8));
        }
        Thing::Word { word, lo, .. } => {
            if lo % 16 != slot.lo % 16 {
                return unmet("does not stand at these bits of its word");
            }
            // Word whose bit 0 is bit 0 of the result.
            let first = i32::from(word) + i32::from(lo / 16) - i32::from(slot.lo / 16);
            let end = slot.lo + width;
            if !(0..=15).contains(&first) {
                return unmet("cannot be moved there");
            }
            // Behind the last word there are zeros.
            let clean = !same && first * 16 + i32::from(end) < 256;
            if clean && !end.is_multiple_of(16) {
                return unclean("other bits of its word");
            }
            return Ok(Source::Cross(Cross::Words(first as u8), 0, Cut::behind(end, clean)));
        }
    };
    let Some(distance) = lo.checked_sub(slot.lo).filter(|d| d % 16 == 0 && *d <= 32) else {
        return unmet("cannot be moved there");
    };
    let clean = !same && lo + width < total;
    if clean && !(lo + width).is_multiple_of(16) {
        return unclean("other bits of it");
    }
    Ok(Source::Cross(from, distance / 16, Cut::behind(lo + width, clean)))
}

/// Bits of a container of the same class.
fn within_class(b: Bits, slot: Slot, same: bool) -> Source {
    let size = slot.class.bits() as u8;
    let amount = (size + slot.lo - b.lo) % size;
    if amount == 0 && same {
        return Source::Pick(b.container);
    }
    Source::Rotated(b.container, amount, ((1u64 << b.width) - 1) << slot.lo)
}

/// All of a container as the cross value.
pub(super) fn whole(container: Container) -> (Cross, u8, Cut) {
    (Cross::Container(container), 0, Cut::behind(container.class().bits() as u8, false))
}

/// Who reads what, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    pub span: Span,
}

/// Shared operands of one action, as far as they are allotted.
#[derive(Debug)]
pub(super) struct Allotment<'t> {
    pub text: &'t str,
    pub stage: usize,
    pub action: &'t str,
    picks: [[Option<Container>; 3]; 3],
    /// Amount and mask of R, once something reads it.
    rotation: [Option<(u8, u64)>; 3],
    data: [[Option<u8>; 2]; 3],
    cross: Option<(Cross, u8, Cut)>,
    /// Containers and places that are read, for messages.
    readers: [Vec<String>; 3],
}

impl<'t> Allotment<'t> {
    pub fn new(text: &'t str, stage: usize, action: &'t str) -> Self {
        Self {
            text,
            stage,
            action,
            picks: [[None; 3]; 3],
            rotation: [None; 3],
            data: [[None; 2]; 3],
            cross: None,
            readers: Default::default(),
        }
    }

    /// Fixes the operands of a class.
    pub fn fix(&mut self, class: Class, picks: &Picks) {
        let c = class as usize;
        self.picks[c] = picks.container.map(|i| Some(Container::of(class, i)));
        self.rotation[c] = Some((picks.amount, picks.rotate_mask));
        self.data[c] = picks.data.map(Some);
    }

    fn fail(&self, span: Span, found: String, allowed: &str) -> Located {
        let (stage, action) = (self.stage, self.action.to_string());
        (span, TextProblem::Operands { stage, action, found, allowed: allowed.to_string() })
    }

    fn shown(&self, span: Span) -> String {
        self.text.get(span.start..span.end).unwrap_or_default().to_string()
    }

    fn read_by(&mut self, class: Class, span: Span) {
        let shown = self.shown(span);
        let all = &mut self.readers[class as usize];
        if !all.contains(&shown) {
            all.push(shown);
        }
    }

    /// The cross value.
    pub fn cross(&mut self, (from, shift, cut): (Cross, u8, Cut), need: Need) -> Read<()> {
        let both = match self.cross {
            None => Some(cut),
            Some((f, s, before)) if (f, s) == (from, shift) => before.and(cut),
            Some(_) => None,
        };
        match both {
            Some(cut) => {
                self.cross = Some((from, shift, cut));
                Ok(())
            }
            None => {
                let found = format!("a second cross value is read, `{}`", self.shown(need.span));
                Err(self.fail(
                    need.span,
                    found,
                    "an action has 1 for containers of another size, words, hash and number",
                ))
            }
        }
    }

    /// Pick `i` of a container's class, which only this operand can be.
    pub fn fixed(&mut self, container: Container, i: usize, need: Need) -> Read<()> {
        let class = container.class();
        self.read_by(class, need.span);
        let slot = &mut self.picks[class as usize][i];
        if slot.is_none_or(|c| c == container) {
            *slot = Some(container);
            return Ok(());
        }
        let found = format!("`{}` has to be read in the place of another container", self.shown(need.span));
        Err(self.fail(
            need.span,
            found,
            "one container of a size is read by words and state, and one has its bits moved",
        ))
    }

    /// R of a class.
    pub fn rotated(&mut self, container: Container, amount: u8, mask: u64, need: Need) -> Read<()> {
        let class = container.class();
        self.read_by(class, need.span);
        let c = class as usize;
        let pick = self.picks[c][2].is_none_or(|p| p == container);
        let rotation = self.rotation[c].is_none_or(|r| r == (amount, mask));
        if pick && rotation {
            self.picks[c][2] = Some(container);
            self.rotation[c] = Some((amount, mask));
            return Ok(());
        }
        let size = class.bytes();
        let found = format!("bits of a second {size}-byte container are moved, `{}`", self.shown(need.span));
        Err(self.fail(need.span, found, "an action has 1 rotator a size"))
    }

    /// A first operand: pick 0 or 1.
    pub fn first(&mut self, container: Container, need: Need) -> Read<A> {
        let class = container.class();
        self.read_by(class, need.span);
        let picks = &mut self.picks[class as usize];
        if let Some(i) = (0..2).find(|i| picks[*i] == Some(container)).or((0..2).find(|i| picks[*i].is_none())) {
            picks[i] = Some(container);
            return Ok([A::P0, A::P1][i]);
        }
        self.cross(whole(container), need).map(|()| A::X).map_err(|_| self.no_pick(class, need))
    }

    /// A second operand: pick 0 or 1, the rotator, or the cross value.
    pub fn second(&mut self, container: Container, need: Need) -> Read<B> {
        let class = container.class();
        self.read_by(class, need.span);
        let c = class as usize;
        let plain = (0, class.ones());
        let there = (0..2).find(|i| self.picks[c][*i] == Some(container));
        if there.is_none() && self.picks[c][2] == Some(container) && self.rotation[c] == Some(plain) {
            return Ok(B::R);
        }
        if let Some(i) = there.or((0..2).find(|i| self.picks[c][*i].is_none())) {
            self.picks[c][i] = Some(container);
            return Ok([B::P0, B::P1][i]);
        }
        if self.rotated(container, 0, class.ones(), need).is_ok() {
            return Ok(B::R);
        }
        self.cross(whole(container), need).map(|()| B::X).map_err(|_| self.no_pick(class, need))
    }

    fn no_pick(&self, class: Class, need: Need) -> Located {
        let size = class.bytes();
        let found =
            format!("a further {size}-byte container is read (`{}`)", self.readers[class as usize].join("`, `"));
        self.fail(need.span, found, "an action has 3 picks a size, one of them with the rotator, and one cross value")
    }

    /// Place `i` of action data, which only this operand can be.
    pub fn fixed_data(&mut self, class: Class, i: usize, at: u8, need: Need) -> Read<()> {
        let slot = &mut self.data[class as usize][i];
        if slot.is_none_or(|d| d == at) {
            *slot = Some(at);
            return Ok(());
        }
        Err(self.no_data(class, need))
    }

    /// Action data, in either place.
    pub fn any_data(&mut self, class: Class, at: u8, need: Need) -> Read<B> {
        let data = &mut self.data[class as usize];
        if let Some(i) = (0..2).find(|i| data[*i] == Some(at)).or((0..2).find(|i| data[*i].is_none())) {
            data[i] = Some(at);
            return Ok([B::DataA, B::DataB][i]);
        }
        Err(self.no_data(class, need))
    }

    fn no_data(&self, class: Class, need: Need) -> Located {
        let size = class.bytes();
        let found = format!("a further place of {size}-byte action data is read, `{}`", self.shown(need.span));
        let allowed = "an action has 2 a size; of 2 bytes one for words and an index, of 4 bytes one for state";
        self.fail(need.span, found, allowed)
    }

    /// What the rows hold.
    pub fn rows(&self) -> ([Picks; 3], Cross, u8, u8) {
        let picks = Class::ALL.map(|class| {
            let c = class as usize;
            let (amount, rotate_mask) = self.rotation[c].unwrap_or_default();
            Picks {
                container: self.picks[c].map(|p| p.map_or(0, |p| p.0 % 8)),
                amount,
                rotate_mask,
                data: self.data[c].map(Option::unwrap_or_default),
            }
        });
        let (cross, shift, cut) = self.cross.unwrap_or((Cross::None, 0, Cut::Most(0)));
        let cut = if let Cut::Exactly(words) = cut { words } else { 0 };
        (picks, cross, shift, cut)
    }
}
