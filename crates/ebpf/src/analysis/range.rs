//! Unsigned and signed bounds of numbers of a given width.

use super::tnum::low;

/// Bounds of a number of some width, at once as unsigned and as signed.
///
/// The width (1 to 64 bits) is not kept: it is an argument where it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Least, unsigned.
    pub umin: u64,
    /// Greatest, unsigned.
    pub umax: u64,
    /// Least, signed.
    pub smin: i64,
    /// Greatest, signed.
    pub smax: i64,
}

/// Least and greatest signed number of `width` bits.
fn signed_limits(width: u32) -> (i64, i64) {
    let max = (low(width) >> 1) as i64;
    (-max - 1, max)
}

/// The low `width` bits of `x` as a signed number.
pub(super) fn signed(width: u32, x: u64) -> i64 {
    (x << (64 - width)) as i64 >> (64 - width)
}

impl Range {
    /// All numbers.
    pub fn full(width: u32) -> Self {
        let (smin, smax) = signed_limits(width);
        Self { umin: 0, umax: low(width), smin, smax }
    }

    /// One number.
    pub fn constant(width: u32, x: u64) -> Self {
        let (u, s) = (x & low(width), signed(width, x));
        Self { umin: u, umax: u, smin: s, smax: s }
    }

    /// From unsigned bounds alone.
    pub fn unsigned(width: u32, umin: u64, umax: u64) -> Self {
        Self { umin, umax, ..Self::full(width) }
    }

    /// From signed bounds alone.
    pub fn signed(width: u32, smin: i64, smax: i64) -> Self {
        Self { smin, smax, ..Self::full(width) }
    }

    /// Whether the low `width` bits of `x` are within.
    pub fn contains(self, width: u32, x: u64) -> bool {
        let (u, s) = (x & low(width), signed(width, x));
        self.umin <= u && u <= self.umax && self.smin <= s && s <= self.smax
    }

    /// Bounds of both.
    pub fn join(self, other: Self) -> Self {
        Self {
            umin: self.umin.min(other.umin),
            umax: self.umax.max(other.umax),
            smin: self.smin.min(other.smin),
            smax: self.smax.max(other.smax),
        }
    }

    /// Bounds of what is in both; `None` when nothing is.
    pub fn meet(self, other: Self) -> Option<Self> {
        let met = Self {
            umin: self.umin.max(other.umin),
            umax: self.umax.min(other.umax),
            smin: self.smin.max(other.smin),
            smax: self.smax.min(other.smax),
        };
        (met.umin <= met.umax && met.smin <= met.smax).then_some(met)
    }

    /// What the signed bounds say of the unsigned ones, and the reverse.
    pub fn reconcile(self, width: u32) -> Option<Self> {
        let mut r = self;
        if signed(width, r.umin) <= signed(width, r.umax) && (r.umin ^ r.umax) >> (width - 1) == 0 {
            (r.smin, r.smax) = (r.smin.max(signed(width, r.umin)), r.smax.min(signed(width, r.umax)));
        }
        if (r.smin < 0) == (r.smax < 0) {
            let (umin, umax) = (r.smin as u64 & low(width), r.smax as u64 & low(width));
            (r.umin, r.umax) = (r.umin.max(umin), r.umax.min(umax));
        }
        (r.umin <= r.umax && r.smin <= r.smax).then_some(r)
    }

    /// Bounds of all numbers from `lo` to `hi` after wrapping to `width` bits.
    fn wrapped(width: u32, unsigned: Option<(i128, i128)>, signed: Option<(i128, i128)>) -> Self {
        let full = Self::full(width);
        let modulus = 1i128 << width;
        let fold = |bounds: Option<(i128, i128)>, least: i128| {
            let (lo, hi) = bounds?;
            let turns = lo.checked_sub(least)?.div_euclid(modulus);
            (hi.checked_sub(least)?.div_euclid(modulus) == turns).then(|| (lo - turns * modulus, hi - turns * modulus))
        };
        let (umin, umax) = fold(unsigned, 0).map_or((full.umin, full.umax), |(l, h)| (l as u64, h as u64));
        let (smin, smax) =
            fold(signed, i128::from(full.smin)).map_or((full.smin, full.smax), |(l, h)| (l as i64, h as i64));
        Self { umin, umax, smin, smax }
    }

    /// Sum.
    pub fn add(self, width: u32, o: Self) -> Self {
        let u = (i128::from(self.umin) + i128::from(o.umin), i128::from(self.umax) + i128::from(o.umax));
        let s = (i128::from(self.smin) + i128::from(o.smin), i128::from(self.smax) + i128::from(o.smax));
        Self::wrapped(width, Some(u), Some(s))
    }

    /// Difference.
    pub fn sub(self, width: u32, o: Self) -> Self {
        let u = (i128::from(self.umin) - i128::from(o.umax), i128::from(self.umax) - i128::from(o.umin));
        let s = (i128::from(self.smin) - i128::from(o.smax), i128::from(self.smax) - i128::from(o.smin));
        Self::wrapped(width, Some(u), Some(s))
    }

    /// Product.
    pub fn mul(self, width: u32, o: Self) -> Self {
        let product = |a: u64, b: u64| i128::try_from(u128::from(a) * u128::from(b)).ok();
        let u = product(self.umin, o.umin).zip(product(self.umax, o.umax));
        let corners = [(self.smin, o.smin), (self.smin, o.smax), (self.smax, o.smin), (self.smax, o.smax)]
            .map(|(a, b)| i128::from(a) * i128::from(b));
        let s = corners.iter().copied().min().zip(corners.iter().copied().max());
        Self::wrapped(width, u, s)
    }

    /// Shifted left by `k` below `width`.
    pub fn shl(self, width: u32, k: u32) -> Self {
        let u = (i128::from(self.umin) << k, i128::from(self.umax) << k);
        let s = (i128::from(self.smin) << k, i128::from(self.smax) << k);
        Self::wrapped(width, Some(u), Some(s))
    }

    /// Shifted right by `k` below `width`, zeros from above.
    pub fn shr(self, width: u32, k: u32) -> Self {
        Self::unsigned(width, self.umin >> k, self.umax >> k)
    }

    /// Shifted right by `k` below `width`, the sign from above.
    pub fn sar(self, width: u32, k: u32) -> Self {
        Self::signed(width, self.smin >> k, self.smax >> k)
    }

    /// Unsigned quotient; by 0 it is 0.
    pub fn udiv(self, width: u32, o: Self) -> Self {
        let umin = if o.umin == 0 { 0 } else { self.umin / o.umax };
        Self::unsigned(width, umin, self.umax / o.umin.max(1))
    }

    /// Unsigned rest; by 0 it is the dividend.
    pub fn umod(self, width: u32, o: Self) -> Self {
        if self.umax < o.umin {
            return self;
        }
        let umax = if o.umin == 0 { self.umax } else { self.umax.min(o.umax - 1) };
        Self::unsigned(width, 0, umax)
    }

    /// Signed quotient; by 0 it is 0, the least number by -1 itself.
    pub fn sdiv(self, width: u32, o: Self) -> Self {
        let (least, greatest) = signed_limits(width);
        if self.smin >= 0 && o.smin > 0 {
            return Self::signed(width, self.smin / o.smax, self.smax / o.smin);
        }
        if self.smin == least {
            return Self::full(width);
        }
        let size = self.smin.abs().max(self.smax.abs());
        Self::signed(width, -size, size.min(greatest))
    }

    /// Signed rest, with the sign of the dividend; by 0 it is the dividend.
    pub fn smod(self, width: u32, o: Self) -> Self {
        let (mut smin, mut smax) = (self.smin.min(0), self.smax.max(0));
        if o.smin > 0 || o.smax < 0 {
            let size = (o.smin.unsigned_abs().max(o.smax.unsigned_abs()) - 1) as i64;
            (smin, smax) = (smin.max(-size), smax.min(size));
        }
        Self::signed(width, smin, smax)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const W: u32 = 4;

    fn intervals() -> Vec<Range> {
        let unsigned = (0..16).flat_map(|a| (a..16).map(move |b| Range::unsigned(W, a, b)));
        let signed = (-8..8).flat_map(|a| (a..8).map(move |b| Range::signed(W, a, b)));
        unsigned.chain(signed).collect()
    }

    fn members(r: Range) -> Vec<u64> {
        (0..16).filter(|x| r.contains(W, *x)).collect()
    }

    fn holds(name: &str, abstractly: fn(Range, u32, Range) -> Range, concretely: fn(u64, u64) -> u64) {
        let all: Vec<(Range, Vec<u64>)> = intervals().into_iter().map(|r| (r, members(r))).collect();
        for (a, xs) in &all {
            for (b, ys) in &all {
                let result = abstractly(*a, W, *b);
                for x in xs {
                    for y in ys {
                        assert!(result.contains(W, concretely(*x, *y)), "{name} {a:?} {b:?}: {x} {y} -> {result:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn arithmetic_holds_for_all_four_bit_intervals() {
        holds("add", Range::add, u64::wrapping_add);
        holds("sub", Range::sub, u64::wrapping_sub);
        holds("mul", Range::mul, u64::wrapping_mul);
        holds("join", |a, _, b| a.join(b), |a, _| a);
    }

    #[test]
    fn division_holds_for_all_four_bit_intervals() {
        holds("udiv", Range::udiv, |a, b| a.checked_div(b).unwrap_or(0));
        holds("umod", Range::umod, |a, b| a.checked_rem(b).unwrap_or(a));
        holds("sdiv", Range::sdiv, |a, b| match (signed(W, a), signed(W, b)) {
            (_, 0) => 0,
            (a, b) => (a / b) as u64,
        });
        holds("smod", Range::smod, |a, b| match (signed(W, a), signed(W, b)) {
            (a, 0) => a as u64,
            (a, b) => (a % b) as u64,
        });
    }

    #[test]
    fn shifts_and_reconciling_hold_for_all_four_bit_intervals() {
        for r in intervals() {
            for x in members(r) {
                for k in 0..W {
                    assert!(r.shl(W, k).contains(W, x << k), "{r:?} {x} << {k}");
                    assert!(r.shr(W, k).contains(W, x >> k), "{r:?} {x} >> {k}");
                    assert!(r.sar(W, k).contains(W, (signed(W, x) >> k) as u64), "{r:?} {x} sar {k}");
                }
                assert!(r.reconcile(W).is_some_and(|n| n.contains(W, x)), "{r:?} {x}");
            }
        }
    }

    #[test]
    fn nothing_is_left_of_bounds_that_contradict_each_other() {
        let r = Range { umin: 9, umax: 10, smin: 1, smax: 3 };
        assert_eq!(r.reconcile(W), None);
    }
}
