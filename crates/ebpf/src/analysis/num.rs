//! What is known of a 64-bit number: bits, bounds, and bounds of its lower half.

use super::range::Range;
use super::tnum::{Tnum, low};

/// A set of 64-bit numbers: those that satisfy all three descriptions. Never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Num {
    /// Known bits.
    pub bits: Tnum,
    /// Bounds of the whole.
    pub whole: Range,
    /// Bounds of the lower 32 bits.
    pub half: Range,
}

impl Num {
    /// All numbers.
    pub fn unknown() -> Self {
        Self { bits: Tnum::UNKNOWN, whole: Range::full(64), half: Range::full(32) }
    }

    /// One number.
    pub fn constant(x: u64) -> Self {
        Self { bits: Tnum::constant(x), whole: Range::constant(64, x), half: Range::constant(32, x) }
    }

    /// Unsigned bounds.
    pub fn unsigned(umin: u64, umax: u64) -> Self {
        Self { whole: Range::unsigned(64, umin, umax), ..Self::unknown() }.settled()
    }

    /// Signed bounds.
    pub fn signed(smin: i64, smax: i64) -> Self {
        Self { whole: Range::signed(64, smin, smax), ..Self::unknown() }.settled()
    }

    /// `bits` low bits unknown, zero above.
    pub fn of_width(bits: u32) -> Self {
        Self::unsigned(0, low(bits))
    }

    /// The number, if it is only one.
    pub fn as_constant(self) -> Option<u64> {
        (self.whole.umin == self.whole.umax).then_some(self.whole.umin)
    }

    /// Whether nothing is known.
    pub fn is_unknown(self) -> bool {
        self == Self::unknown()
    }

    /// Whether `x` is one of them.
    pub fn contains(self, x: u64) -> bool {
        self.bits.contains(x) && self.whole.contains(64, x) && self.half.contains(32, x)
    }

    /// Lets each description sharpen the others; `None` when they contradict each other.
    pub fn settle(self) -> Option<Self> {
        let mut n = self;
        // Each round carries facts one step further; more than a few find nothing new.
        for _ in 0..4 {
            let before = n;
            n.whole = n.whole.meet(bounds_of_bits(64, n.bits))?.reconcile(64)?;
            n.half = n.half.meet(bounds_of_bits(32, n.bits.truncate(32)))?.reconcile(32)?;
            n.half_from_whole()?;
            n.whole_from_half()?;
            let of_half = Tnum::range(n.half.umin, n.half.umax);
            n.bits = n.bits.meet(Tnum::range(n.whole.umin, n.whole.umax))?;
            n.bits = n.bits.meet(Tnum::UNKNOWN.with_low(32, of_half))?;
            if n == before {
                break;
            }
        }
        Some(n)
    }

    /// [`Num::settle`] of what holds a number by construction.
    pub(super) fn settled(self) -> Self {
        self.settle().unwrap_or_else(Self::unknown)
    }

    fn half_from_whole(&mut self) -> Option<()> {
        let w = self.whole;
        if w.umin >> 32 == w.umax >> 32 {
            let r = Range::unsigned(32, w.umin & low(32), w.umax & low(32));
            self.half = self.half.meet(r)?.reconcile(32)?;
        }
        if w.smin >> 32 == w.smax >> 32 {
            let r = Range::unsigned(32, w.smin as u64 & low(32), w.smax as u64 & low(32));
            self.half = self.half.meet(r)?.reconcile(32)?;
        }
        if i32::try_from(w.smin).is_ok() && i32::try_from(w.smax).is_ok() {
            self.half = self.half.meet(Range::signed(32, w.smin, w.smax))?.reconcile(32)?;
        }
        Some(())
    }

    fn whole_from_half(&mut self) -> Option<()> {
        let (w, h) = (self.whole, self.half);
        if w.umin >> 32 == w.umax >> 32 {
            let top = w.umin & !low(32);
            self.whole = self.whole.meet(Range::unsigned(64, top | h.umin, top | h.umax))?;
        }
        if i32::try_from(w.smin).is_ok() && i32::try_from(w.smax).is_ok() {
            self.whole = self.whole.meet(Range::signed(64, h.smin, h.smax))?;
        }
        self.whole = self.whole.reconcile(64)?;
        Some(())
    }

    /// Every number of either.
    pub fn join(self, o: Self) -> Self {
        Self { bits: self.bits.join(o.bits), whole: self.whole.join(o.whole), half: self.half.join(o.half) }
    }

    /// Every number of both.
    pub fn meet(self, o: Self) -> Option<Self> {
        Self { bits: self.bits.meet(o.bits)?, whole: self.whole.meet(o.whole)?, half: self.half.meet(o.half)? }.settle()
    }

    /// Numbers whose lower half is in both, whatever the upper half is in `self`.
    pub fn meet_half(self, o: Self) -> Option<Self> {
        let bits = self.bits.meet(Tnum::UNKNOWN.with_low(32, o.bits))?;
        Self { bits, half: self.half.meet(o.half)?, ..self }.settle()
    }

    /// Whether every number of `o` is here.
    pub fn includes(self, o: Self) -> bool {
        self.join(o) == self
    }

    /// The lower half, zero above.
    pub fn low_half(self) -> Self {
        let whole = Range { umin: self.half.umin, umax: self.half.umax, ..Range::full(64) };
        Self { bits: self.bits.truncate(32), whole, half: self.half }.settled()
    }

    /// `newer`, joined to `self` so that only a bounded number of such steps changes anything:
    /// bounds that move go to the next of `thresholds` (rising), or all the way without.
    pub fn widen(self, newer: Self, thresholds: &[i64]) -> Self {
        let joined = self.join(newer);
        // Far below the ends sums still do not wrap, and a check can take a bound back.
        let last = [-(1 << 40), 0, 1 << 40];
        let mut n = Self {
            bits: joined.bits,
            whole: widen_range(64, self.whole, joined.whole, if thresholds.is_empty() { &last } else { thresholds }),
            half: widen_range(32, self.half, joined.half, thresholds),
        };
        if thresholds.is_empty() && joined.bits != self.bits {
            // What changes goes; what all have in common, such as an alignment, may stay.
            n.bits.mask = if joined.bits.mask == 0 { 0 } else { u64::MAX << joined.bits.mask.trailing_zeros() };
            n.bits.value &= !n.bits.mask;
        }
        n.settle().unwrap_or(joined).join(joined)
    }
}

fn bounds_of_bits(width: u32, bits: Tnum) -> Range {
    let sign = 1u64 << (width - 1);
    let least = bits.value | bits.mask & sign;
    let greatest = bits.value | bits.mask & !sign;
    let signed = |x| super::range::signed(width, x);
    Range { umin: bits.min(), umax: bits.max(), smin: signed(least), smax: signed(greatest) }
}

fn widen_range(width: u32, old: Range, new: Range, thresholds: &[i64]) -> Range {
    let full = Range::full(width);
    let above = |x: i64| thresholds.iter().copied().find(|t| *t >= x);
    let below = |x: i64| thresholds.iter().rev().copied().find(|t| *t <= x);
    let mut r = new;
    if new.umin < old.umin {
        r.umin = i64::try_from(new.umin).ok().and_then(below).filter(|t| *t >= 0).map_or(0, |t| t as u64);
    }
    if new.umax > old.umax {
        r.umax = i64::try_from(new.umax).ok().and_then(above).map_or(full.umax, |t| (t as u64).min(full.umax));
    }
    if new.smin < old.smin {
        r.smin = below(new.smin).map_or(full.smin, |t| t.max(full.smin));
    }
    if new.smax > old.smax {
        r.smax = above(new.smax).map_or(full.smax, |t| t.min(full.smax));
    }
    r
}
