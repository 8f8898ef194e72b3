//! Values that are known in part: bits in a row, each from a constant, from what is kept, from an entry, or computed.

use super::Loc;
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// Operations that an ALU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Add,
    Sub,
    And,
    Or,
    Xor,
}

/// An operation on two values of one width.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operation {
    pub op: Op,
    pub a: Bits,
    pub b: Bits,
}

/// Where bits come from; the number is the lowest bit that is meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Src {
    Const(u64),
    Loc(Loc, u32),
    /// Parameter of the table's action.
    Param(u32, u32),
    /// The cell that the visit looks at, as it was or as it becomes: there behind the visit.
    Cell(When, u32),
    /// The target's hash of some bits, which the visit has in its key: there behind the visit.
    Hash(Rc<Bits>, u32),
    Op(Rc<Operation>),
}

/// Bits of the target's hash.
pub(crate) const HASH: u32 = 32;

/// Before or after a cell is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum When {
    Old,
    New,
}

/// Some bits from one source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Seg {
    pub width: u32,
    pub src: Src,
}

/// Bits, the highest first. Neighbours that go on where the one before ended are one piece.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Bits {
    pub segs: SmallVec<[Seg; 1]>,
}

/// Most bits of a constant in one piece.
const MOST: u32 = 64;

fn ones(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

impl Bits {
    pub fn of(width: u32, src: Src) -> Bits {
        let mut bits = Bits::default();
        bits.push(Seg { width, src });
        bits
    }

    pub fn constant(width: u32, value: u128) -> Bits {
        let mut bits = Bits::default();
        let mut left = width;
        while left > 0 {
            let take = if left.is_multiple_of(MOST) { MOST } else { left % MOST };
            left -= take;
            let value = if left >= 128 { 0 } else { (value >> left) & ones(take) };
            bits.push(Seg { width: take, src: Src::Const(value as u64) });
        }
        bits
    }

    /// A constant of any width, by its bytes, the highest first.
    pub fn constant_of(width: u32, bytes: &[u8]) -> Bits {
        let mut bits = Bits::default();
        let have = 8 * bytes.len() as u32;
        if have < width {
            bits = Bits::constant(width - have, 0);
        }
        for (at, byte) in bytes.iter().enumerate() {
            let low = have - 8 * (at as u32 + 1);
            if low < width {
                let take = 8.min(width - low);
                bits.push(Seg { width: take, src: Src::Const(u64::from(*byte) & ones(take) as u64) });
            }
        }
        bits
    }

    /// Ones in all bits.
    pub fn ones(width: u32) -> Bits {
        Bits::constant_of(width, &vec![0xff; width.div_ceil(8) as usize])
    }

    pub fn width(&self) -> u32 {
        self.segs.iter().map(|seg| seg.width).sum()
    }

    /// The value, if all of it is known and has at most 128 bits.
    pub fn known(&self) -> Option<u128> {
        if self.width() > 128 {
            return None;
        }
        self.segs.iter().try_fold(0u128, |all, seg| match seg.src {
            Src::Const(value) => Some(all << seg.width | u128::from(value)),
            _ => None,
        })
    }

    pub fn is_known(&self) -> bool {
        self.segs.iter().all(|seg| matches!(seg.src, Src::Const(_)))
    }

    fn push(&mut self, seg: Seg) {
        if seg.width == 0 {
            return;
        }
        if let Some(last) = self.segs.last_mut() {
            let joined = match (&last.src, &seg.src) {
                (Src::Const(a), Src::Const(b)) if last.width + seg.width <= MOST => {
                    Some(Src::Const(a.checked_shl(seg.width).unwrap_or(0) | b))
                }
                (Src::Loc(a, low), Src::Loc(b, next)) if a == b && *low == next + seg.width => Some(seg.src.clone()),
                (Src::Param(a, low), Src::Param(b, next)) if a == b && *low == next + seg.width => {
                    Some(seg.src.clone())
                }
                (Src::Cell(a, low), Src::Cell(b, next)) if a == b && *low == next + seg.width => Some(seg.src.clone()),
                (Src::Hash(a, low), Src::Hash(b, next)) if a == b && *low == next + seg.width => Some(seg.src.clone()),
                _ => None,
            };
            if let Some(src) = joined {
                *last = Seg { width: last.width + seg.width, src };
                return;
            }
        }
        self.segs.push(seg);
    }

    /// One piece.
    pub fn one(seg: Seg) -> Bits {
        Bits { segs: smallvec![seg] }
    }

    /// Whether they are a variable, from its lowest bit on.
    pub fn is_loc(&self, loc: Loc) -> bool {
        matches!(&self.segs[..], [Seg { src: Src::Loc(other, 0), .. }] if *other == loc)
    }

    /// These bits above those.
    pub fn concat(mut self, low: Bits) -> Bits {
        low.segs.into_iter().for_each(|seg| self.push(seg));
        self
    }

    /// Bits `low` and up; above the highest there are zeros.
    pub fn slice(&self, low: u32, width: u32) -> Bits {
        let total = self.width();
        if low >= total {
            return Bits::constant(width, 0);
        }
        let have = width.min(total - low);
        let mut out = Bits::constant(width - have, 0);
        let mut top = total;
        for seg in &self.segs {
            let bottom = top - seg.width;
            let (from, to) = (bottom.max(low), top.min(low + have));
            if from < to {
                out = out.concat(cut(seg, from - bottom, to - from));
            }
            top = bottom;
        }
        out
    }

    /// The same with other bits from `low` on.
    pub fn put(&self, low: u32, part: &Bits) -> Bits {
        let (total, width) = (self.width(), part.width());
        if low >= total {
            return self.clone();
        }
        let width = width.min(total - low);
        let above = self.slice(low + width, total - low - width);
        let below = self.slice(0, low);
        let middle = part.slice(0, width);
        above.concat(middle).concat(below)
    }

    /// An operation, folded as far as bits are known.
    pub fn operate(op: Op, a: &Bits, b: &Bits) -> Bits {
        let width = a.width();
        if let (Some(x), Some(y)) = (a.known(), b.known())
            && width <= 128
        {
            let value = match op {
                Op::Add => x.wrapping_add(y),
                Op::Sub => x.wrapping_sub(y),
                Op::And => x & y,
                Op::Or => x | y,
                Op::Xor => x ^ y,
            };
            return Bits::constant(width, value & ones(width));
        }
        match op {
            Op::Add | Op::Sub => {
                if b.known() == Some(0) {
                    return a.clone();
                }
                if op == Op::Add && a.known() == Some(0) {
                    return b.clone();
                }
                // Constants that are added one after the other are one.
                if let (Some((x, c)), Some(k)) = (a.plus(), b.known()) {
                    let k = if op == Op::Add { k } else { k.wrapping_neg() };
                    return Bits::operate(Op::Add, &x, &Bits::constant(width, c.wrapping_add(k) & ones(width)));
                }
                Bits::of(width, Src::Op(Rc::new(Operation { op, a: a.clone(), b: b.clone() })))
            }
            _ => bitwise(op, a, b),
        }
    }

    /// A value and the constant that is added to it, if that is all.
    pub fn plus(&self) -> Option<(Bits, u128)> {
        let [Seg { width, src: Src::Op(operation) }] = &self.segs[..] else { return None };
        if operation.a.width() != *width || *width > 128 {
            return None;
        }
        match (operation.op, operation.b.known()) {
            (Op::Add, Some(k)) => Some((operation.a.clone(), k)),
            (Op::Sub, Some(k)) => Some((operation.a.clone(), k.wrapping_neg() & ones(*width))),
            _ => None,
        }
    }

    /// What is read by these bits.
    pub fn locs(&self, see: &mut dyn FnMut(Loc)) {
        for seg in &self.segs {
            match &seg.src {
                Src::Loc(loc, _) => see(*loc),
                Src::Op(operation) => {
                    operation.a.locs(see);
                    operation.b.locs(see);
                }
                Src::Hash(data, _) => data.locs(see),
                Src::Const(_) | Src::Param(..) | Src::Cell(..) => {}
            }
        }
    }

    /// The same without zeros above, if the rest then lies where a value of another size can be taken from.
    pub fn without_zeros_if_aligned(&self) -> Bits {
        let low = self.without_zeros();
        match &low.segs[..] {
            [seg] if matches!(seg.src, Src::Loc(_, low) if low.is_multiple_of(16)) => low,
            _ => self.clone(),
        }
    }

    /// The same without zeros above.
    pub fn without_zeros(&self) -> Bits {
        let zeros = self.segs.iter().take(self.segs.len().saturating_sub(1));
        let zeros = zeros.take_while(|seg| seg.src == Src::Const(0)).map(|seg| seg.width).sum::<u32>();
        self.slice(0, self.width() - zeros)
    }

    /// Whether a cell that is being looked at is among them.
    pub fn has_cell(&self) -> bool {
        self.segs.iter().any(|seg| match &seg.src {
            Src::Cell(..) => true,
            Src::Op(operation) => operation.a.has_cell() || operation.b.has_cell(),
            _ => false,
        })
    }

    /// Whether an entry's data, or something computed, is among them.
    pub fn is_made(&self) -> bool {
        self.segs.iter().any(|seg| matches!(seg.src, Src::Param(..) | Src::Cell(..) | Src::Hash(..) | Src::Op(_)))
    }

    /// What they hash.
    pub fn hashed(&self) -> impl Iterator<Item = &Bits> {
        self.segs.iter().filter_map(|seg| match &seg.src {
            Src::Hash(data, _) => Some(&**data),
            _ => None,
        })
    }

    /// Whether something computed is among them.
    pub fn has_op(&self) -> bool {
        self.segs.iter().any(|seg| matches!(seg.src, Src::Op(_)))
    }
}

/// Bits of one piece.
fn cut(seg: &Seg, low: u32, width: u32) -> Bits {
    match &seg.src {
        Src::Const(value) => Bits::constant(width, u128::from(value >> low) & ones(width)),
        Src::Loc(loc, at) => Bits::of(width, Src::Loc(*loc, at + low)),
        Src::Param(param, at) => Bits::of(width, Src::Param(*param, at + low)),
        Src::Cell(when, at) => Bits::of(width, Src::Cell(*when, at + low)),
        Src::Hash(data, at) => Bits::of(width, Src::Hash(data.clone(), at + low)),
        Src::Op(_) if low == 0 && width == seg.width => Bits::of(width, seg.src.clone()),
        Src::Op(op) => match op.op {
            // The low bits of a sum are the sum of the low bits.
            Op::Add | Op::Sub if low == 0 => Bits::operate(op.op, &op.a.slice(0, width), &op.b.slice(0, width)),
            // The lower bits are computed, too, for their carry, and go nowhere.
            Op::Add | Op::Sub => {
                let all = Operation { op: op.op, a: op.a.slice(0, low + width), b: op.b.slice(0, low + width) };
                Bits::high(Rc::new(all), low, width)
            }
            _ => Bits::operate(op.op, &op.a.slice(low, width), &op.b.slice(low, width)),
        },
    }
}

impl Bits {
    /// Upper bits of a sum: a piece that nothing but a place of its own can hold.
    fn high(all: Rc<Operation>, low: u32, width: u32) -> Bits {
        let zero = Bits::constant(low + width, 0);
        let marked = Operation { op: Op::Or, a: Bits::of(low + width, Src::Op(all)), b: zero };
        Bits::of(width, Src::Op(Rc::new(marked)))
    }

    /// Whether an entry's data is among them.
    pub fn has_data(&self) -> bool {
        self.segs.iter().any(|seg| match &seg.src {
            Src::Param(..) => true,
            Src::Op(operation) => operation.a.has_data() || operation.b.has_data(),
            _ => false,
        })
    }

    /// Whether upper bits of a sum are among them, which no ALU gives by themselves.
    pub fn has_high(&self) -> bool {
        self.segs.iter().any(|seg| match &seg.src {
            Src::Op(operation) => operation.a.width() != seg.width || operation.a.has_high() || operation.b.has_high(),
            _ => false,
        })
    }
}

/// Piece by piece, so that masks cost nothing.
fn bitwise(op: Op, a: &Bits, b: &Bits) -> Bits {
    let width = a.width();
    let mut cuts: Vec<u32> = vec![0, width];
    for bits in [a, b] {
        let mut top = width;
        for seg in &bits.segs {
            top -= seg.width;
            cuts.push(top);
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    let mut out = Bits::default();
    for pair in cuts.windows(2).rev() {
        let (low, w) = (pair[0], pair[1] - pair[0]);
        let (x, y) = (a.slice(low, w), b.slice(low, w));
        out = out.concat(match (x.known(), y.known(), op) {
            (Some(x), Some(y), _) => Bits::operate(op, &Bits::constant(w, x), &Bits::constant(w, y)),
            (Some(k), None, _) => with_constant(op, &y, k, w),
            (None, Some(k), _) => with_constant(op, &x, k, w),
            (None, None, Op::And | Op::Or) if x == y => x,
            (None, None, Op::Xor) if x == y => Bits::constant(w, 0),
            _ => Bits::of(w, Src::Op(Rc::new(Operation { op, a: x, b: y }))),
        });
    }
    out
}

/// Runs of equal bits of the constant each give what they give.
fn with_constant(op: Op, x: &Bits, k: u128, width: u32) -> Bits {
    if op == Op::Xor && k != 0 {
        return Bits::of(width, Src::Op(Rc::new(Operation { op, a: x.clone(), b: Bits::constant(width, k) })));
    }
    if op == Op::Xor {
        return x.clone();
    }
    let mut out = Bits::default();
    let mut top = width;
    while top > 0 {
        let bit = (k >> (top - 1)) & 1;
        let mut bottom = top - 1;
        while bottom > 0 && (k >> (bottom - 1)) & 1 == bit {
            bottom -= 1;
        }
        let w = top - bottom;
        out = out.concat(match (op, bit) {
            (Op::And, 0) => Bits::constant(w, 0),
            (Op::Or, 1) => Bits::constant(w, ones(w)),
            _ => x.slice(bottom, w),
        });
        top = bottom;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loc(width: u32) -> Bits {
        Bits::of(width, Src::Loc(Loc(3), 0))
    }

    #[test]
    fn masks_slices_and_shifts_are_pieces_and_no_operations() {
        let masked = Bits::operate(Op::And, &loc(8), &Bits::constant(8, 0xf0));
        assert_eq!(masked, Bits::of(4, Src::Loc(Loc(3), 4)).concat(Bits::constant(4, 0)));
        assert_eq!(loc(8).slice(4, 4).concat(loc(8).slice(0, 4)), loc(8));
        assert_eq!(loc(8).slice(4, 8), Bits::constant(4, 0).concat(Bits::of(4, Src::Loc(Loc(3), 4))));
        let set = Bits::operate(Op::Or, &loc(8), &Bits::constant(8, 0x0f));
        assert_eq!(set.segs.len(), 2);
        assert!(!set.is_made());
    }

    #[test]
    fn constants_of_any_width_fold() {
        let sum = Bits::operate(Op::Add, &Bits::constant(8, 255), &Bits::constant(8, 2));
        assert_eq!(sum.known(), Some(1));
        assert_eq!(Bits::constant(130, 5).width(), 130);
        assert_eq!(Bits::constant_of(12, &[0xab, 0xcd]).known(), Some(0xbcd));
        assert_eq!(Bits::constant(16, 0x1234).put(4, &Bits::constant(4, 0xf)).known(), Some(0x12f4));
    }

    #[test]
    fn the_upper_bits_of_a_sum_are_told_apart_from_sums() {
        let sum = Bits::operate(Op::Add, &loc(8), &Bits::constant(8, 1));
        assert!(!sum.slice(0, 4).has_high());
        assert!(sum.slice(4, 4).has_high());
    }
}
