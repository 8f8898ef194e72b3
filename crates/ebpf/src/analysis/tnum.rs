//! Known bits: for each bit 0, 1 or unknown.

/// Bits that are known and bits that are not. `value & mask` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tnum {
    /// Bits known to be 1.
    pub value: u64,
    /// Bits that are not known.
    pub mask: u64,
}

/// The low `width` bits.
pub(super) fn low(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

impl Tnum {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { value: 0, mask: u64::MAX };

    /// Every bit is known.
    pub fn constant(value: u64) -> Self {
        Self { value, mask: 0 }
    }

    /// What all numbers from `min` to `max` have in common: their leading bits.
    pub fn range(min: u64, max: u64) -> Self {
        let differing = 64 - (min ^ max).leading_zeros();
        let mask = low(differing);
        Self { value: min & !mask, mask }
    }

    /// Smallest number it allows.
    pub fn min(self) -> u64 {
        self.value
    }

    /// Largest number it allows.
    pub fn max(self) -> u64 {
        self.value | self.mask
    }

    /// Whether it allows `x`.
    pub fn contains(self, x: u64) -> bool {
        x & !self.mask == self.value
    }

    /// Allows what either allows.
    pub fn join(self, other: Self) -> Self {
        let mask = self.mask | other.mask | (self.value ^ other.value);
        Self { value: self.value & !mask, mask }
    }

    /// Allows what both allow; `None` when that is nothing.
    pub fn meet(self, other: Self) -> Option<Self> {
        let known = !self.mask & !other.mask;
        if (self.value ^ other.value) & known != 0 {
            return None;
        }
        let mask = self.mask & other.mask;
        Some(Self { value: (self.value | other.value) & !mask, mask })
    }

    /// The low `width` bits, zero above.
    pub fn truncate(self, width: u32) -> Self {
        Self { value: self.value & low(width), mask: self.mask & low(width) }
    }

    /// Bits from `width` up of `self`, those below of `other`.
    pub fn with_low(self, width: u32, other: Self) -> Self {
        let low = low(width);
        Self { value: self.value & !low | other.value & low, mask: self.mask & !low | other.mask & low }
    }

    fn add_carry(self, other: Self, carry: u64) -> Self {
        // Carries grow with the operands, so a carry that the least and the greatest sum agree
        // on is the carry of every sum.
        let least = self.min().wrapping_add(other.min()).wrapping_add(carry);
        let greatest = self.max().wrapping_add(other.max()).wrapping_add(carry);
        let carries_least = least ^ self.min() ^ other.min();
        let carries_greatest = greatest ^ self.max() ^ other.max();
        let mask = self.mask | other.mask | (carries_least ^ carries_greatest);
        Self { value: least & !mask, mask }
    }

    /// Sum.
    pub fn plus(self, other: Self) -> Self {
        self.add_carry(other, 0)
    }

    /// Difference: `self + !other + 1`.
    pub fn minus(self, other: Self) -> Self {
        self.add_carry(Self { value: !other.max(), mask: other.mask }, 1)
    }

    /// Product, bit by bit of the first factor.
    pub fn times(self, other: Self) -> Self {
        if self.mask == 0 && other.mask == 0 {
            return Self::constant(self.value.wrapping_mul(other.value));
        }
        let (mut sum, mut rest, mut shifted) = (Self::constant(0), self, other);
        while rest.max() != 0 {
            if rest.value & 1 == 1 {
                sum = sum.plus(shifted);
            } else if rest.mask & 1 == 1 {
                sum = sum.plus(Self { value: 0, mask: shifted.max() });
            }
            rest = rest.right(1);
            shifted = shifted.left(1);
        }
        sum
    }

    /// Bits that are 1 in both.
    pub fn and(self, other: Self) -> Self {
        let value = self.value & other.value;
        Self { value, mask: self.max() & other.max() & !value }
    }

    /// Bits that are 1 in either.
    pub fn or(self, other: Self) -> Self {
        let value = self.value | other.value;
        Self { value, mask: (self.mask | other.mask) & !value }
    }

    /// Bits that differ.
    pub fn xor(self, other: Self) -> Self {
        let mask = self.mask | other.mask;
        Self { value: (self.value ^ other.value) & !mask, mask }
    }

    /// Shifted left by `k` below 64.
    pub fn left(self, k: u32) -> Self {
        Self { value: self.value << k, mask: self.mask << k }
    }

    /// Shifted right by `k` below 64, zeros from above.
    pub fn right(self, k: u32) -> Self {
        Self { value: self.value >> k, mask: self.mask >> k }
    }

    /// The low `width` bits shifted right by `k` below `width`, the sign from above.
    pub fn sar(self, width: u32, k: u32) -> Self {
        // An unknown sign is a 1 of the mask, and spreads like any other.
        let up = 64 - width;
        let shift = |x: u64| (((x << up) as i64 >> up) >> k) as u64 & low(width);
        Self { value: shift(self.value), mask: shift(self.mask) }
    }

    /// Every bit of `f(x)` for a function that moves bits, such as a byte swap.
    pub fn permute(self, f: impl Fn(u64) -> u64) -> Self {
        Self { value: f(self.value), mask: f(self.mask) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bits: u32) -> Vec<Tnum> {
        let n = 1u64 << bits;
        (0..n)
            .flat_map(|mask| (0..n).map(move |value| Tnum { value, mask }))
            .filter(|t| t.value & t.mask == 0)
            .collect()
    }

    fn members(t: Tnum, bits: u32) -> impl Iterator<Item = u64> {
        (0..1u64 << bits).filter(move |x| t.contains(*x))
    }

    #[test]
    fn every_operation_holds_for_all_four_bit_numbers() {
        type Op = (&'static str, fn(Tnum, Tnum) -> Tnum, fn(u64, u64) -> u64);
        let ops: [Op; 6] = [
            ("add", Tnum::plus, u64::wrapping_add),
            ("sub", Tnum::minus, u64::wrapping_sub),
            ("mul", Tnum::times, u64::wrapping_mul),
            ("and", Tnum::and, |a, b| a & b),
            ("or", Tnum::or, |a, b| a | b),
            ("xor", Tnum::xor, |a, b| a ^ b),
        ];
        for (name, abstractly, concretely) in ops {
            for a in all(4) {
                for b in all(4) {
                    let result = abstractly(a, b);
                    assert_eq!(result.value & result.mask, 0, "{name} {a:?} {b:?}");
                    for x in members(a, 4) {
                        for y in members(b, 4) {
                            assert!(result.contains(concretely(x, y)), "{name} {a:?} {b:?}: {x} {y}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn sums_of_four_bit_numbers_are_as_precise_as_can_be() {
        for a in all(4) {
            for b in all(4) {
                let best = members(a, 4)
                    .flat_map(|x| members(b, 4).map(move |y| Tnum::constant(x + y)))
                    .reduce(Tnum::join)
                    .unwrap();
                assert_eq!(a.plus(b), best, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn join_meet_and_shifts_hold_for_all_four_bit_numbers() {
        for a in all(4) {
            for k in 0..4 {
                for x in members(a, 4) {
                    assert!(a.left(k).contains(x << k) && a.right(k).contains(x >> k));
                    let signed = (((x << 60) as i64 >> 60) >> k) as u64 & 15;
                    assert!(a.sar(4, k).contains(signed), "{a:?} {x} {k}");
                }
            }
            for b in all(4) {
                for x in 0..16 {
                    let (inside_a, inside_b) = (a.contains(x), b.contains(x));
                    assert!(!(inside_a || inside_b) || a.join(b).contains(x));
                    assert_eq!(a.meet(b).is_some_and(|m| m.contains(x)), inside_a && inside_b);
                }
            }
        }
    }
}
