//! What a comparison says of its operands on either way.

use super::num::Num;
use super::range::Range;
use crate::insn::Cond;

/// A comparison of the instruction set, without its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Above, unsigned.
    Gt,
    /// Above or equal, unsigned.
    Ge,
    /// Below, unsigned.
    Lt,
    /// Below or equal, unsigned.
    Le,
    /// Above, signed.
    SGt,
    /// Above or equal, signed.
    SGe,
    /// Below, signed.
    SLt,
    /// Below or equal, signed.
    SLe,
    /// A bit is 1 in both.
    Set,
    /// No bit is 1 in both: only as the negation of `Set`.
    Clear,
}

impl Test {
    /// Of a branch.
    pub fn of(cond: Cond) -> Self {
        match cond {
            Cond::Eq => Self::Eq,
            Cond::Gt => Self::Gt,
            Cond::Ge => Self::Ge,
            Cond::Set => Self::Set,
            Cond::Ne => Self::Ne,
            Cond::Sgt => Self::SGt,
            Cond::Sge => Self::SGe,
            Cond::Lt => Self::Lt,
            Cond::Le => Self::Le,
            Cond::Slt => Self::SLt,
            Cond::Sle => Self::SLe,
        }
    }

    /// What holds when this does not.
    pub fn negated(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::SGt => Self::SLe,
            Self::SGe => Self::SLt,
            Self::SLt => Self::SGe,
            Self::SLe => Self::SGt,
            Self::Set => Self::Clear,
            Self::Clear => Self::Set,
        }
    }

    /// The same with its operands exchanged.
    pub fn swapped(self) -> Self {
        match self {
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::SGt => Self::SLt,
            Self::SGe => Self::SLe,
            Self::SLt => Self::SGt,
            Self::SLe => Self::SGe,
            same => same,
        }
    }

    /// Whether it holds for two numbers, of which the low `width` bits count.
    pub fn holds(self, width: u32, a: u64, b: u64) -> bool {
        let (ua, ub) = (a & super::tnum::low(width), b & super::tnum::low(width));
        let (sa, sb) = (super::range::signed(width, a), super::range::signed(width, b));
        match self {
            Self::Eq => ua == ub,
            Self::Ne => ua != ub,
            Self::Gt => ua > ub,
            Self::Ge => ua >= ub,
            Self::Lt => ua < ub,
            Self::Le => ua <= ub,
            Self::SGt => sa > sb,
            Self::SGe => sa >= sb,
            Self::SLt => sa < sb,
            Self::SLe => sa <= sb,
            Self::Set => ua & ub != 0,
            Self::Clear => ua & ub == 0,
        }
    }

    /// The operands for which it can hold; `None` when it never does.
    pub fn refine(self, width: u32, a: Num, b: Num) -> Option<(Num, Num)> {
        match self {
            Self::Eq if width == 64 => a.meet(b).map(|m| (m, m)),
            Self::Eq => Some((a.meet_half(b)?, b.meet_half(a)?)),
            Self::Ne => Some((without(width, a, b)?, without(width, b, a)?)),
            Self::Set => Some((with_bit(width, a, b)?, with_bit(width, b, a)?)),
            Self::Clear => Some((cleared(width, a, b)?, cleared(width, b, a)?)),
            Self::Gt | Self::Ge | Self::SGt | Self::SGe => self.swapped().refine(width, b, a).map(|(b, a)| (a, b)),
            Self::Lt | Self::Le | Self::SLt | Self::SLe => self.ordered(width, a, b),
        }
    }

    fn ordered(self, width: u32, a: Num, b: Num) -> Option<(Num, Num)> {
        let (mut ra, mut rb) = (bounds(width, a), bounds(width, b));
        let strict = matches!(self, Self::Lt | Self::SLt);
        if matches!(self, Self::Lt | Self::Le) {
            ra.umax = ra.umax.min(rb.umax.checked_sub(strict.into())?);
            rb.umin = rb.umin.max(ra.umin.checked_add(strict.into())?);
        } else {
            ra.smax = ra.smax.min(rb.smax.checked_sub(strict.into())?);
            rb.smin = rb.smin.max(ra.smin.checked_add(strict.into())?);
        }
        Some((with_bounds(width, a, ra)?, with_bounds(width, b, rb)?))
    }
}

fn bounds(width: u32, n: Num) -> Range {
    if width == 32 { n.half } else { n.whole }
}

fn with_bounds(width: u32, n: Num, range: Range) -> Option<Num> {
    let range = range.meet(range)?;
    if width == 32 { Num { half: range, ..n } } else { Num { whole: range, ..n } }.settle()
}

/// `n` without the one number that `other` is, if it is one and lies at an edge.
fn without(width: u32, n: Num, other: Num) -> Option<Num> {
    let o = bounds(width, other);
    if o.umin != o.umax {
        return Some(n);
    }
    let mut r = bounds(width, n);
    if r.umin == o.umin {
        r.umin = r.umin.checked_add(1)?;
    }
    if r.umax == o.umax {
        r.umax = r.umax.checked_sub(1)?;
    }
    if r.smin == o.smin {
        r.smin = r.smin.checked_add(1)?;
    }
    if r.smax == o.smax {
        r.smax = r.smax.checked_sub(1)?;
    }
    with_bounds(width, n, r)
}

fn low_bits(width: u32, n: Num) -> super::tnum::Tnum {
    n.bits.truncate(width)
}

/// `n` where some bit of `other` is 1.
fn with_bit(width: u32, n: Num, other: Num) -> Option<Num> {
    let common = low_bits(width, n).max() & low_bits(width, other).max();
    if common == 0 {
        return None;
    }
    if common.is_power_of_two() {
        let mut set = n;
        set.bits.value |= common;
        set.bits.mask &= !common;
        return set.settle();
    }
    Some(n)
}

/// `n` where no bit that is surely 1 in `other` is.
fn cleared(width: u32, n: Num, other: Num) -> Option<Num> {
    let surely = low_bits(width, other).min();
    if n.bits.value & surely != 0 {
        return None;
    }
    let mut clear = n;
    clear.bits.mask &= !surely;
    clear.settle()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::any_num;
    use sluice_formats::random::{Rng, test_seed};

    const ALL: [Test; 12] = [
        Test::Eq,
        Test::Ne,
        Test::Gt,
        Test::Ge,
        Test::Lt,
        Test::Le,
        Test::SGt,
        Test::SGe,
        Test::SLt,
        Test::SLe,
        Test::Set,
        Test::Clear,
    ];

    #[test]
    fn operands_for_which_a_test_holds_are_kept() {
        let mut rng = Rng::new(test_seed("analysis_branch"));
        for _ in 0..50_000 {
            let (a, x) = any_num(&mut rng);
            let (mut b, mut y) = any_num(&mut rng);
            if rng.chance(1, 4) {
                (b, y) = (b.join(Num::constant(x)), x);
            }
            for test in ALL {
                for width in [32, 64] {
                    let way = if test.holds(width, x, y) { test } else { test.negated() };
                    let refined = way.refine(width, a, b);
                    let kept = refined.is_some_and(|(a, b)| a.contains(x) && b.contains(y));
                    assert!(kept, "{way:?}{width} {a:?} {b:?}: {x:#x} {y:#x} -> {refined:?}");
                }
            }
        }
    }

    #[test]
    fn an_index_below_its_limit_is_bounded_and_an_impossible_way_is_found() {
        let (i, n) = (Num::unknown(), Num::constant(16));
        let (below, _) = Test::Lt.refine(64, i, n).unwrap();
        assert_eq!((below.whole.umin, below.whole.umax), (0, 15));
        assert_eq!(Test::Gt.refine(64, below, Num::constant(20)), None);
        assert_eq!(Test::Ne.refine(64, n, n), None);
    }
}
