//! Arithmetic on numbers: what each operation makes of one number, and of all of a [`Num`].

use super::num::Num;
use super::range::{Range, signed};
use super::tnum::{Tnum, low};
use crate::insn::AluOp;

/// An arithmetic operation of the instruction set, without its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Unsigned quotient, 0 when divided by 0.
    Div,
    /// Signed quotient, 0 when divided by 0.
    SDiv,
    /// Unsigned rest, the dividend when divided by 0.
    Mod,
    /// Signed rest, the dividend when divided by 0.
    SMod,
    /// Bitwise or.
    Or,
    /// Bitwise and.
    And,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left.
    Lsh,
    /// Shift right, zeros from above.
    Rsh,
    /// Shift right, the sign from above.
    Arsh,
    /// 0 less the destination.
    Neg,
}

impl Op {
    /// All.
    pub const ALL: [Self; 14] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::SDiv,
        Self::Mod,
        Self::SMod,
        Self::Or,
        Self::And,
        Self::Xor,
        Self::Lsh,
        Self::Rsh,
        Self::Arsh,
        Self::Neg,
    ];

    /// Of an instruction; a move is none of these.
    pub fn of(op: AluOp) -> Option<Self> {
        Some(match op {
            AluOp::Add => Self::Add,
            AluOp::Sub => Self::Sub,
            AluOp::Mul => Self::Mul,
            AluOp::Div => Self::Div,
            AluOp::Or => Self::Or,
            AluOp::And => Self::And,
            AluOp::Lsh => Self::Lsh,
            AluOp::Rsh => Self::Rsh,
            AluOp::Mod => Self::Mod,
            AluOp::Xor => Self::Xor,
            AluOp::Arsh => Self::Arsh,
            AluOp::Sdiv => Self::SDiv,
            AluOp::Smod => Self::SMod,
            AluOp::Mov => return None,
        })
    }

    /// The result on two numbers; of 32 bits, zero-extended, when `width` is 32.
    pub fn concrete(self, width: u32, a: u64, b: u64) -> u64 {
        let (a, b) = (a & low(width), b & low(width));
        let (sa, sb) = (signed(width, a), signed(width, b));
        let k = (b & u64::from(width - 1)) as u32;
        let result = match self {
            Self::Add => a.wrapping_add(b),
            Self::Sub => a.wrapping_sub(b),
            Self::Mul => a.wrapping_mul(b),
            Self::Div => a.checked_div(b).unwrap_or(0),
            Self::SDiv => {
                if sb == 0 {
                    0
                } else {
                    sa.wrapping_div(sb) as u64
                }
            }
            Self::Mod => a.checked_rem(b).unwrap_or(a),
            Self::SMod => {
                if sb == 0 {
                    a
                } else {
                    sa.wrapping_rem(sb) as u64
                }
            }
            Self::Or => a | b,
            Self::And => a & b,
            Self::Xor => a ^ b,
            Self::Lsh => a << k,
            Self::Rsh => a >> k,
            Self::Arsh => (sa >> k) as u64,
            Self::Neg => a.wrapping_neg(),
        };
        result & low(width)
    }

    /// Every result on two numbers of `a` and `b`.
    pub fn apply(self, width: u32, a: Num, b: Num) -> Num {
        let (a, b) = if width == 32 { (a.low_half(), b.low_half()) } else { (a, b) };
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
            return Num::constant(self.concrete(width, x, y));
        }
        match self {
            Self::Neg => Self::Sub.apply(width, Num::constant(0), a),
            Self::Lsh | Self::Rsh | Self::Arsh => shift(self, width, a, b),
            _ => {
                let bits = self.bits(a.bits, b.bits);
                let half = self.range(32, a.half, b.half);
                if width == 32 {
                    return extend(bits, half.unwrap_or(Range::full(32)));
                }
                let whole = self.range(64, a.whole, b.whole).unwrap_or(Range::full(64));
                let half = half.filter(|_| self.low_bits_decide()).unwrap_or(Range::full(32));
                Num { bits, whole, half }.settled()
            }
        }
    }

    /// Whether the lower half of the result depends on the lower halves only.
    fn low_bits_decide(self) -> bool {
        !matches!(self, Self::Div | Self::SDiv | Self::Mod | Self::SMod)
    }

    fn bits(self, a: Tnum, b: Tnum) -> Tnum {
        match self {
            Self::Add => a.plus(b),
            Self::Sub => a.minus(b),
            Self::Mul => a.times(b),
            Self::Or => a.or(b),
            Self::And => a.and(b),
            Self::Xor => a.xor(b),
            _ => Tnum::UNKNOWN,
        }
    }

    fn range(self, width: u32, a: Range, b: Range) -> Option<Range> {
        Some(match self {
            Self::Add => a.add(width, b),
            Self::Sub => a.sub(width, b),
            Self::Mul => a.mul(width, b),
            Self::Div => a.udiv(width, b),
            Self::SDiv => a.sdiv(width, b),
            Self::Mod => a.umod(width, b),
            Self::SMod => a.smod(width, b),
            Self::And => Range::unsigned(width, 0, a.umax.min(b.umax)),
            Self::Or => Range::unsigned(width, a.umin.max(b.umin), low(width)),
            _ => return None,
        })
    }
}

/// A 32-bit result in a register.
fn extend(bits: Tnum, half: Range) -> Num {
    Num { bits: bits.truncate(32), whole: Range::unsigned(64, half.umin, half.umax), half }.settled()
}

fn shift(op: Op, width: u32, a: Num, b: Num) -> Num {
    // The amount is taken modulo the width.
    let amount = Op::And.apply(64, b, Num::constant(u64::from(width - 1)));
    let one = |k: u32| {
        let bits = match op {
            Op::Lsh => a.bits.left(k),
            Op::Rsh => a.bits.right(k),
            _ => a.bits.sar(width, k),
        };
        let range = |width, r: Range| match op {
            Op::Lsh => r.shl(width, k),
            Op::Rsh => r.shr(width, k),
            _ => r.sar(width, k),
        };
        if width == 32 {
            return extend(bits, range(32, a.half));
        }
        let half = if op == Op::Lsh && k < 32 { range(32, a.half) } else { Range::full(32) };
        Num { bits, whole: range(64, a.whole), half }.settled()
    };
    let (from, to) = (amount.whole.umin as u32, amount.whole.umax as u32);
    (from..=to).filter(|k| amount.bits.contains(u64::from(*k))).map(one).reduce(Num::join).unwrap_or_else(Num::unknown)
}

/// The low `from` bits as a signed number of `width` bits, zero-extended.
pub fn sign_extend(width: u32, from: u32, a: Num) -> Num {
    if from == 32 && width == 64 {
        let h = a.half;
        return Num { bits: Tnum::UNKNOWN.with_low(32, a.bits), whole: Range::signed(64, h.smin, h.smax), half: h }
            .settled();
    }
    let up = Num::constant(u64::from(width - from));
    Op::Arsh.apply(width, Op::Lsh.apply(width, a, up), up)
}

/// The low `width` bits with their bytes in reverse, zero above.
pub fn byte_swap(width: u32, a: Num) -> Num {
    let bits = a.bits.permute(|x| swap_concrete(width, x));
    Num { bits, ..Num::unknown() }.settled()
}

/// [`byte_swap`] of one number.
pub fn swap_concrete(width: u32, x: u64) -> u64 {
    x.swap_bytes() >> (64 - width)
}

/// The low `width` bits, zero above.
pub fn truncate(width: u32, a: Num) -> Num {
    match width {
        64.. => a,
        32 => a.low_half(),
        _ => Op::And.apply(64, a, Num::constant(low(width))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{any_num, any_word};
    use sluice_formats::random::{Rng, test_seed};

    #[test]
    fn every_operation_of_both_widths_holds_for_random_sets() {
        let mut rng = Rng::new(test_seed("analysis_alu"));
        for _ in 0..20_000 {
            let (a, x) = any_num(&mut rng);
            let (b, y) = any_num(&mut rng);
            for op in Op::ALL {
                for width in [32, 64] {
                    let (result, expected) = (op.apply(width, a, b), op.concrete(width, x, y));
                    assert!(result.contains(expected), "{op:?}{width} {a:?} {b:?}: {x:#x} {y:#x} -> {result:?}");
                }
            }
        }
    }

    #[test]
    fn extending_swapping_and_cutting_hold_for_random_sets() {
        let mut rng = Rng::new(test_seed("analysis_extend"));
        for _ in 0..20_000 {
            let (a, x) = any_num(&mut rng);
            for (width, from) in [(32, 8), (32, 16), (64, 8), (64, 16), (64, 32)] {
                let expected = signed(from, x) as u64 & low(width);
                assert!(sign_extend(width, from, a).contains(expected), "{a:?} {x:#x} {width} {from}");
            }
            for width in [16, 32, 64] {
                assert!(byte_swap(width, a).contains(swap_concrete(width, x)), "{a:?} {x:#x} {width}");
            }
            for width in [8, 16, 32, 64] {
                assert!(truncate(width, a).contains(x & low(width)), "{a:?} {x:#x} {width}");
            }
        }
    }

    #[test]
    fn joins_meets_and_widening_keep_what_they_must() {
        let mut rng = Rng::new(test_seed("analysis_join"));
        for _ in 0..20_000 {
            let (a, x) = any_num(&mut rng);
            let (b, y) = any_num(&mut rng);
            let join = a.join(b);
            assert!(join.contains(x) && join.contains(y), "{a:?} {b:?}");
            for thresholds in [&[][..], &[-8, 0, 1, 255, 65535]] {
                assert!(a.widen(b, thresholds).includes(join), "{a:?} {b:?} {thresholds:?}");
            }
            if b.contains(x) {
                assert!(a.meet(b).is_some_and(|m| m.contains(x)), "{a:?} {b:?} {x:#x}");
            }
            let same_half = Num::constant(any_word(&mut rng) & !low(32) | x & low(32));
            assert!(a.meet_half(same_half).is_some_and(|m| m.contains(x)), "{a:?} {x:#x}");
        }
    }

    #[test]
    fn widening_ends_soon() {
        let mut rng = Rng::new(test_seed("analysis_widen"));
        for _ in 0..200 {
            let mut n = any_num(&mut rng).0;
            let mut changes = 0;
            for _ in 0..1000 {
                let wider = n.widen(any_num(&mut rng).0, &[]);
                changes += u32::from(wider != n);
                n = wider;
            }
            assert!(changes <= 80, "{changes}");
        }
    }

    #[test]
    fn a_masked_byte_shifted_and_scaled_keeps_exact_bounds() {
        let length = Op::And.apply(64, Num::of_width(8), Num::constant(15));
        let bytes = Op::Lsh.apply(64, length, Num::constant(2));
        assert_eq!((bytes.whole.umin, bytes.whole.umax, bytes.bits.mask), (0, 60, 60));
        let swapped = byte_swap(16, Num::of_width(16));
        assert_eq!((swapped.whole.umin, swapped.whole.umax), (0, 65535));
    }
}
