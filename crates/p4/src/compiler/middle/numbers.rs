//! Operators that no ALU has: with signs, with saturation, products, and shifts by what the packet says.

use super::symbolic::{Follower, Way};
use super::value::V;
use crate::compiler::ir::{Bits, Op};
use crate::front::interpret::value::Number;
use crate::front::source::Span;
use crate::front::syntax::ast::Binary;

/// Widest number that is shifted by what the packet says: each number of places is a way of its own.
const MOST_SHIFTED: u32 = 32;
/// Most powers of two of a product with a constant.
const MOST_TERMS: usize = 4;

impl Follower<'_> {
    /// A product with a constant: powers of two that are added and subtracted, each behind the first a stage more.
    pub fn product(&mut self, number: Number, span: Span, value: Bits, k: u128) -> Way<Bits> {
        let terms = signed_powers(k, value.width());
        if terms.len() > MOST_TERMS {
            let what =
                format!("a product with {k}: {} powers of two added and subtracted, at most {MOST_TERMS}", terms.len());
            return self.refuse_at(span, what);
        }
        let value = self.kept(value, true)?;
        let mut parts = Vec::with_capacity(terms.len());
        for (power, _) in &terms {
            let V::Bits(part) = self.shifted(Binary::ShiftLeft, number, value.clone(), *power)? else {
                return self.refuse_at(span, "a product of this form");
            };
            parts.push(part);
        }
        let mut parts = self.all_kept(parts)?;
        parts.reverse();
        let mut sum = Bits::constant(value.width(), 0);
        for (_, is_less) in terms {
            let Some(part) = parts.pop() else { break };
            let op = if is_less { Op::Sub } else { Op::Add };
            sum = self.while_held(&mut parts, |this| this.operate(op, sum, part))?;
        }
        Ok(sum)
    }

    /// `a < b` of numbers in two's complement.
    pub fn less_signed(&mut self, a: Bits, b: Bits) -> Way<bool> {
        let (a, b) = self.shown(a, b, true)?;
        let low = a.width() - 1;
        let is_negative = |this: &mut Self, bits: &Bits| this.equal_bits(bits.slice(low, 1), Bits::constant(1, 1));
        let (first, second) = (is_negative(self, &a)?, is_negative(self, &b)?);
        if first != second || low == 0 {
            return Ok(first && !second);
        }
        // Of one sign they are in the order of their lower bits.
        self.less(a.slice(0, low), b.slice(0, low))
    }

    /// What is above a number that is shifted to the right, or made wider.
    pub fn fill(&mut self, number: Number, value: &mut Bits, width: u32) -> Way<Bits> {
        if !number.signed {
            return Ok(Bits::constant(width, 0));
        }
        *value = self.settled(std::mem::take(value))?;
        let sign = value.slice(value.width() - 1, 1);
        let mut held = [std::mem::take(value)];
        let is_negative = self.while_held(&mut held, |this| this.equal_bits(sign, Bits::constant(1, 1)))?;
        let [back] = held;
        *value = back;
        Ok(if is_negative { Bits::ones(width) } else { Bits::constant(width, 0) })
    }

    /// A shift by what is not known before the program runs.
    pub fn shifted_by(&mut self, operator: Binary, number: Number, value: Bits, by: Bits) -> Way<V> {
        let width = value.width();
        if width > MOST_SHIFTED {
            return self.refuse(format!("a shift of {width} bits by what is not known before the program runs"));
        }
        let mut held = [value];
        let by = self.while_held(&mut held, |this| this.settled(by))?;
        for places in 0..width {
            if by.width() < 64 && u64::from(places) >> by.width() != 0 {
                break;
            }
            let same = Bits::constant(by.width(), places.into());
            let by = by.clone();
            if self.while_held(&mut held, |this| this.equal_bits(by, same))? {
                let [value] = held;
                // A visit may end while the value is moved: ways that move it by other numbers of places are not one.
                self.trail.push(places);
                let shifted = self.shifted(operator, number, value, places)?;
                self.trail.pop();
                return Ok(shifted);
            }
        }
        let [value] = held;
        self.trail.push(width);
        let shifted = self.shifted(operator, number, value, width)?;
        self.trail.pop();
        Ok(shifted)
    }

    /// `|+|` and `|-|` without sign.
    pub fn saturated(&mut self, operator: Binary, a: Bits, b: Bits) -> Way<Bits> {
        let width = a.width();
        let (a, b) = self.shown(a, b, true)?;
        let mut both = [a, b];
        if operator == Binary::SaturatingSubtract {
            let [a, b] = both.clone();
            return match self.while_held(&mut both, |this| this.less(a, b))? {
                true => Ok(Bits::constant(width, 0)),
                false => self.operate(Op::Sub, both[0].clone(), both[1].clone()),
            };
        }
        if both[0].is_known() {
            both.swap(0, 1);
        }
        // What is left up to the largest number.
        let inverse = Bits::operate(Op::Xor, &both[1], &Bits::ones(width));
        let left = self.while_held(&mut both, |this| this.kept(inverse, true))?;
        let a = both[0].clone();
        match self.while_held(&mut both, |this| this.less(left, a))? {
            true => Ok(Bits::ones(width)),
            false => self.operate(Op::Add, both[0].clone(), both[1].clone()),
        }
    }

    /// The same with signs: the sum has another sign than both, or the difference than the first where that has another than the second.
    pub fn saturated_with_sign(&mut self, operator: Binary, a: Bits, b: Bits) -> Way<Bits> {
        let (width, top) = (a.width(), a.width() - 1);
        let (a, b) = self.shown(a, b, true)?;
        let op = if operator == Binary::SaturatingAdd { Op::Add } else { Op::Sub };
        let mut held = [a.clone(), b.clone()];
        let value = self.while_held(&mut held, |this| {
            let value = this.operate(op, a, b)?;
            this.kept(value, true)
        })?;
        let [a, b] = held;
        let mut held = [a, b, value];
        let mut is_negative = [false; 3];
        for (at, is) in is_negative.iter_mut().enumerate() {
            let sign = held[at].slice(top, 1);
            *is = self.while_held(&mut held, |this| this.equal_bits(sign, Bits::constant(1, 1)))?;
        }
        let [first, second, result] = is_negative;
        let over = (first == second) == (op == Op::Add) && result != first;
        let [_, _, value] = held;
        Ok(match (over, first) {
            (false, _) => value,
            (true, true) => Bits::constant(1, 1).concat(Bits::constant(top, 0)),
            (true, false) => Bits::constant(1, 0).concat(Bits::ones(width - 1)),
        })
    }
}

/// A number as powers of two below 2^`width` that are added, or subtracted (`true`), as few as there are; one that is added first.
fn signed_powers(mut number: u128, width: u32) -> Vec<(u32, bool)> {
    let mut all = Vec::new();
    let mut power = 0;
    while number > 0 && power < width {
        if number & 1 == 1 {
            let is_less = number & 3 == 3;
            all.push((power, is_less));
            number = if is_less { number.wrapping_add(1) } else { number - 1 };
        }
        number >>= 1;
        power += 1;
    }
    all.sort_by_key(|(power, is_less)| (*is_less, std::cmp::Reverse(*power)));
    all
}
