//! Expressions. What is true or false is decided where it is asked, so that no truth is ever a value that has to be kept.

use super::symbolic::{Follower, Way};
use super::value::{V, bits_of};
use crate::compiler::ir::{Bits, Op, Src};
use crate::front::interpret::Shape;
use crate::front::interpret::code::Ex;
use crate::front::interpret::numbers;
use crate::front::interpret::value::{Number, Value};
use crate::front::source::Span;
use crate::front::syntax::ast::{Binary, Unary};

impl<'c> Follower<'c> {
    pub fn truth(&mut self, ex: &'c Ex) -> Way<bool> {
        match self.value(ex)? {
            V::Bits(bits) => match bits.known() {
                Some(value) => Ok(value != 0),
                None => self.equal_bits(bits, Bits::constant(1, 1)),
            },
            _ => self.refuse("a condition of this form"),
        }
    }

    /// Two expressions of a statement are two places, even if they are the same.
    pub fn value(&mut self, ex: &'c Ex) -> Way<V> {
        let (depth, at) = (self.trail.len(), std::ptr::from_ref(ex) as usize as u64);
        self.trail.extend([(at >> 32) as u32, at as u32]);
        let parts = self.parts;
        // Of what is sliced only the slice counts.
        self.parts = parts && !matches!(ex, Ex::Slice(..));
        let value = self.value_here(ex);
        self.parts = parts;
        let value = match (value?, ex) {
            (V::Bits(bits), Ex::Read(_) | Ex::Part(..) | Ex::Slice(..) | Ex::Call(_)) if parts => {
                V::Bits(self.parted(bits)?)
            }
            (value, _) => value,
        };
        self.trail.truncate(depth);
        Ok(value)
    }

    fn value_here(&mut self, ex: &'c Ex) -> Way<V> {
        Ok(match ex {
            Ex::Constant(value) => V::known_as(value),
            Ex::Read(place) => return self.read(place),
            Ex::Part(value, at) => {
                let value = self.value(value)?;
                value.parts().get(*at as usize).cloned().unwrap_or(V::Fixed(Value::None))
            }
            Ex::At(value, index, shape) => {
                let value = self.value(value)?;
                let cuts = self.cuts;
                let index = self.value(index)?;
                let at = self.index(&index, &value, &[])?;
                self.unmoved(cuts)?;
                value.parts().get(at as usize).cloned().unwrap_or_else(|| V::fresh(shape))
            }
            Ex::Unary(operator, number, value) => {
                if *operator == Unary::Not {
                    return Ok(truth_of(!self.truth(value)?));
                }
                let value = self.value(value)?;
                if let Some(known) = value.known(*number) {
                    return Ok(self.of(numbers::unary(*operator, *number, &known), *number));
                }
                let Some(bits) = value.bits().cloned() else { return self.refuse("an operator on no number") };
                let width = bits.width();
                match operator {
                    Unary::Plus => V::Bits(bits),
                    Unary::Complement => {
                        let all = Bits::ones(width);
                        V::Bits(self.operate(Op::Xor, bits, all)?)
                    }
                    _ => V::Bits(self.operate(Op::Sub, Bits::constant(width, 0), bits)?),
                }
            }
            Ex::Binary(operator, number, span, both) => {
                let one = self.value(&both.0)?;
                let (one, two) = self.beside(one, *number, &both.1)?;
                return self.binary(*operator, *number, *span, one, two);
            }
            Ex::Equal(both) => {
                let one = self.value(&both.0)?;
                let two = match &one {
                    V::Bits(bits) => {
                        let number = Number { width: bits.width(), signed: false };
                        let (one, two) = self.beside(one, number, &both.1)?;
                        return Ok(V::Bits(Bits::constant(1, u128::from(self.equals(&one, &two)?))));
                    }
                    V::Fixed(_) => {
                        let two = self.value(&both.1)?;
                        return Ok(truth_of(self.equals(&two, &one)?));
                    }
                    _ => {
                        let cuts = self.cuts;
                        let two = self.value(&both.1)?;
                        self.unmoved(cuts)?;
                        two
                    }
                };
                truth_of(self.equals(&one, &two)?)
            }
            Ex::And(both) => truth_of(self.truth(&both.0)? && self.truth(&both.1)?),
            Ex::Or(both) => truth_of(self.truth(&both.0)? || self.truth(&both.1)?),
            Ex::Choice(all) => {
                let holds = self.truth(&all.0)?;
                self.value(if holds { &all.1 } else { &all.2 })?
            }
            Ex::Resize(from, to, value) => {
                let value = self.value(value)?;
                if let Some(known) = value.known(*from) {
                    return Ok(self.of(numbers::resize(&known, *from, *to), *to));
                }
                let Some(mut bits) = value.bits().cloned() else { return self.refuse("a cast of this form") };
                V::Bits(match (from.signed, to.width > from.width) {
                    (true, true) => {
                        bits = self.settled(bits)?;
                        let top = bits.slice(from.width - 1, 1);
                        let negative = self.equal_bits(top, Bits::constant(1, 1))?;
                        let fill = Bits::constant_of(
                            to.width - from.width,
                            &vec![if negative { 0xff } else { 0 }; (to.width - from.width).div_ceil(8) as usize],
                        );
                        fill.concat(bits)
                    }
                    _ => self.slice(bits, 0, to.width)?,
                })
            }
            Ex::ToBool(value) => truth_of(self.truth(value)?),
            Ex::FromBool(value) => self.value(value)?,
            Ex::Concat(low, width, both) => {
                let one = self.value(&both.0)?;
                let high = Number { width: width - low, signed: false };
                let V::Bits(one) = self.of_v(one, high) else { return self.refuse("numbers in a row of this form") };
                self.pending.push((one, false));
                let two = self.value(&both.1)?;
                let V::Bits(two) = self.of_v(two, Number { width: *low, signed: false }) else {
                    return self.refuse("numbers in a row of this form");
                };
                let Some((one, _)) = self.pending.pop() else { return self.refuse("numbers in a row of this form") };
                V::Bits(one.concat(two))
            }
            Ex::Slice(of, width, both) => {
                let value = self.value(&both.0)?;
                let low = self.value(&both.1)?;
                let Some(low) = low.known(Number { width: 32, signed: false }) else {
                    return self.refuse("a slice whose place is not known before the program runs");
                };
                let low = low.bits() as u32;
                match self.of_v(value, *of) {
                    V::Bits(bits) => V::Bits(self.slice(bits, low, *width)?),
                    V::Fixed(value) => {
                        self.of(numbers::slice(&value, low, *width, *of), Number { width: *width, signed: false })
                    }
                    _ => return self.refuse("a slice of what is no number"),
                }
            }
            Ex::Struct(all) => V::Parts(self.values(all)?),
            Ex::Header(all) => V::Header(true, self.values(all)?),
            Ex::Stack(all, shape, size) => {
                let mut elements = self.values(all)?;
                let next = elements.len() as u32;
                elements.resize_with(*size as usize, || V::fresh(shape));
                V::Stack(next, elements)
            }
            Ex::IsValid(value) => match &**value {
                Ex::Read(place) => {
                    let (slot, path) = self.path(place)?;
                    truth_of(self.slots[slot].part(&path).is_some_and(V::is_valid))
                }
                value => {
                    let value = self.value(value)?;
                    truth_of(value.is_valid())
                }
            },
            Ex::LastIndex(place) => {
                let (slot, path) = self.path(place)?;
                match self.slots[slot].part(&path) {
                    Some(V::Stack(next, _)) => V::Bits(Bits::constant(32, u128::from(next.wrapping_sub(1)))),
                    _ => V::Bits(Bits::constant(32, 0)),
                }
            }
            Ex::Apply(table) => return self.apply(*table),
            Ex::Call(call) => return self.call(call),
        })
    }

    fn values(&mut self, all: &'c [Ex]) -> Way<Vec<V>> {
        let mut out: Vec<V> = Vec::with_capacity(all.len());
        for ex in all {
            let value = self.beside_values(&mut out, |this| this.value(ex))?;
            out.push(value);
        }
        Ok(out)
    }

    /// A second value, while the first one waits.
    fn beside(&mut self, one: V, number: Number, ex: &'c Ex) -> Way<(V, V)> {
        let one = self.of_v(one, number);
        let V::Bits(bits) = one else {
            let two = self.value(ex)?;
            return Ok((one, two));
        };
        self.pending.push((bits, false));
        let two = self.value(ex)?;
        match self.pending.pop() {
            Some((bits, _)) => {
                let number = Number { width: bits.width(), signed: number.signed };
                Ok((V::Bits(bits), self.of_v(two, number)))
            }
            None => self.refuse("a way that cannot be followed again"),
        }
    }

    /// A value that is known as bits of a number.
    fn of(&self, value: Value, number: Number) -> V {
        match value {
            Value::Bits(_) | Value::Wide(_) => V::Bits(bits_of(&value, number.width)),
            Value::Bool(bit) => truth_of(bit),
            other => V::Fixed(other),
        }
    }

    fn of_v(&self, value: V, number: Number) -> V {
        match value {
            V::Fixed(value) => self.of(value, number),
            other => other,
        }
    }

    /// A value as one of a shape: constants get their width.
    pub fn shaped(&self, value: V, shape: &Shape) -> V {
        match (value, shape) {
            (V::Fixed(value), shape) => V::of(&value, shape),
            (V::Parts(all), Shape::Struct(fields)) => {
                V::Parts(all.into_iter().zip(&fields.shapes).map(|(v, s)| self.shaped(v, s)).collect())
            }
            (V::Header(valid, all), Shape::Header(fields)) => {
                V::Header(valid, all.into_iter().zip(&fields.shapes).map(|(v, s)| self.shaped(v, s)).collect())
            }
            (V::Union(all), Shape::Union(fields)) => {
                V::Union(all.into_iter().zip(&fields.shapes).map(|(v, s)| self.shaped(v, s)).collect())
            }
            (V::Stack(next, all), Shape::Stack(element, _)) => {
                V::Stack(next, all.into_iter().map(|v| self.shaped(v, element)).collect())
            }
            (value, _) => value,
        }
    }

    pub fn slice(&mut self, bits: Bits, low: u32, width: u32) -> Way<Bits> {
        let sliced = bits.slice(low, width);
        if !sliced.has_high() {
            return Ok(sliced);
        }
        if self.in_parser {
            return self.refuse("upper bits of a sum in the parser");
        }
        Ok(self.kept(bits, true)?.slice(low, width))
    }

    /// An operation of an ALU; what it works on is kept first where it is computed itself.
    pub fn operate(&mut self, op: Op, a: Bits, b: Bits) -> Way<Bits> {
        let folded = Bits::operate(op, &a, &b);
        let is_plain = |bits: &Bits| matches!(&bits.segs[..], [seg] if matches!(seg.src, Src::Loc(..)));
        if !folded.has_op() || a.has_op() && folded.plus().is_some_and(|(x, _)| is_plain(&x)) {
            return Ok(folded);
        }
        let arithmetic = matches!(op, Op::Add | Op::Sub);
        // A cell is added to with zeros above what is added.
        let is_cell = |bits: &Bits| matches!(&bits.segs[..], [seg] if matches!(seg.src, Src::Cell(..)));
        let to_a_cell = op == Op::Add && (is_cell(&a) || is_cell(&b));
        let low = |bits: &Bits| if to_a_cell { bits.without_zeros_if_aligned() } else { bits.clone() };
        let in_pieces = |bits: &Bits| arithmetic && low(bits).segs.len() > 1 && !bits.is_known();
        let from_entry = |bits: &Bits| bits.segs.iter().any(|seg| matches!(seg.src, Src::Param(..)));
        let mixed = |bits: &Bits| from_entry(bits) && !matches!(&bits.segs[..], [_]);
        let two_entries = |a: &Bits, b: &Bits| from_entry(a) && from_entry(b);
        let (mut a, mut b) = (a, b);
        while a.has_op()
            || b.has_op()
            || in_pieces(&a)
            || in_pieces(&b)
            || mixed(&a)
            || mixed(&b)
            || two_entries(&a, &b)
        {
            if self.in_parser {
                return self.refuse("a value that the parser computes in more than one step");
            }
            self.pending.push((a, true));
            self.pending.push((b, true));
            self.cut()?;
            (a, b) = self.popped()?;
        }
        if op == Op::Sub && !matches!(&a.segs[..], [seg] if matches!(seg.src, Src::Loc(..) | Src::Cell(..))) {
            // No ALU subtracts from a constant: k - x = (x ^ -1) + (k + 1).
            let width = b.width();
            let all = Bits::ones(width);
            let Some(k) = a.known() else { return self.refuse("a subtraction from an entry's data") };
            let inverse = Bits::operate(Op::Xor, &b, &all);
            let more = Bits::operate(Op::Add, &Bits::constant(width, k), &Bits::constant(width, 1));
            return self.operate(Op::Add, inverse, more);
        }
        Ok(Bits::operate(op, &a, &b))
    }

    fn binary(&mut self, operator: Binary, number: Number, span: Span, one: V, two: V) -> Way<V> {
        use Binary as B;
        let shift = matches!(operator, B::ShiftLeft | B::ShiftRight);
        if let (Some(a), Some(b)) = (one.known(number), two.known(number)) {
            return match numbers::binary(operator, number, &a, &b) {
                Some(value) => Ok(self.of(value, number)),
                None => self.refuse_at(span, "a division by zero"),
            };
        }
        let (Some(a), Some(b)) = (one.bits().cloned(), two.bits().cloned()) else {
            return match (one.bits(), &two, shift) {
                (Some(a), V::Fixed(by), true) => {
                    let by = u32::try_from(by.bits()).unwrap_or(u32::MAX);
                    self.shifted(operator, number, a.clone(), by)
                }
                _ => self.refuse_at(span, "an operator on these values"),
            };
        };
        let width = a.width();
        Ok(match operator {
            B::Add => V::Bits(self.operate(Op::Add, a, b)?),
            B::Subtract => V::Bits(self.operate(Op::Sub, a, b)?),
            B::BitAnd => V::Bits(self.operate(Op::And, a, b)?),
            B::BitOr => V::Bits(self.operate(Op::Or, a, b)?),
            B::BitXor => V::Bits(self.operate(Op::Xor, a, b)?),
            B::ShiftLeft | B::ShiftRight => match b.known() {
                Some(by) => return self.shifted(operator, number, a, u32::try_from(by).unwrap_or(u32::MAX)),
                None => return self.shifted_by(operator, number, a, b),
            },
            B::Multiply => {
                let (value, k) = match (a.known(), b.known()) {
                    (None, Some(k)) => (a, k),
                    (Some(k), None) => (b, k),
                    _ => return self.refuse_at(span, "a product of two values that the packet decides"),
                };
                match k {
                    0 => V::Bits(Bits::constant(width, 0)),
                    k if k.is_power_of_two() => {
                        return self.shifted(B::ShiftLeft, number, value, k.trailing_zeros());
                    }
                    k => V::Bits(self.product(number, span, value, k)?),
                }
            }
            B::Divide | B::Modulo if !number.signed && b.known().is_some_and(u128::is_power_of_two) => {
                let by = b.known().unwrap_or(1).trailing_zeros();
                if operator == B::Divide {
                    return self.shifted(B::ShiftRight, number, a, by);
                }
                let low = self.slice(a, 0, by)?;
                V::Bits(Bits::constant(width - by, 0).concat(low))
            }
            B::Less | B::Greater | B::LessEqual | B::GreaterEqual => {
                let (first, second) = if matches!(operator, B::Less | B::GreaterEqual) { (a, b) } else { (b, a) };
                let less = match number.signed {
                    true => self.less_signed(first, second)?,
                    false => self.less(first, second)?,
                };
                truth_of(less == matches!(operator, B::Less | B::Greater))
            }
            B::SaturatingAdd | B::SaturatingSubtract => match number.signed {
                false => V::Bits(self.saturated(operator, a, b)?),
                true => V::Bits(self.saturated_with_sign(operator, a, b)?),
            },
            B::Equal => truth_of(self.equal_bits(a, b)?),
            B::NotEqual => truth_of(!self.equal_bits(a, b)?),
            other => return self.refuse_at(span, format!("the operator {other:?} on values that the packet decides")),
        })
    }

    pub fn shifted(&mut self, operator: Binary, number: Number, mut value: Bits, by: u32) -> Way<V> {
        let width = value.width();
        if operator == Binary::ShiftLeft {
            let by = by.min(width);
            let low = self.slice(value, 0, width - by)?;
            return Ok(V::Bits(low.concat(Bits::constant(by, 0))));
        }
        let by = by.min(width);
        let above = self.fill(number, &mut value, by)?;
        if by == width {
            return Ok(V::Bits(above));
        }
        let high = self.slice(value, by, width - by)?;
        Ok(V::Bits(above.concat(high)))
    }

    /// Whether `==` holds; headers that are not valid are equal whatever is in them.
    fn equals(&mut self, one: &V, two: &V) -> Way<bool> {
        match (one, two) {
            // Varbits of two lengths.
            (V::Bits(a), V::Bits(b)) if a.width() != b.width() => Ok(false),
            (V::Bits(a), V::Bits(b)) => self.equal_bits(a.clone(), b.clone()),
            (V::Bits(a), V::Fixed(value)) | (V::Fixed(value), V::Bits(a)) => {
                self.equal_bits(a.clone(), bits_of(value, a.width()))
            }
            (V::Fixed(a), V::Fixed(b)) => Ok(a.equals(b)),
            (V::Header(a, x), V::Header(b, y)) => {
                if a != b {
                    return Ok(false);
                }
                if !a {
                    return Ok(true);
                }
                self.all_equal(x, y)
            }
            (V::Parts(x), V::Parts(y)) | (V::Union(x), V::Union(y)) | (V::Stack(_, x), V::Stack(_, y)) => {
                self.all_equal(x, y)
            }
            _ => self.refuse("a comparison of values of this form"),
        }
    }

    fn all_equal(&mut self, x: &[V], y: &[V]) -> Way<bool> {
        if x.len() != y.len() {
            return Ok(false);
        }
        // Values in a row: a computed one among them would need a place while the others are looked at.
        for (a, b) in x.iter().zip(y) {
            for v in [a, b] {
                if matches!(v, V::Bits(bits) if bits.is_made()) {
                    return self.refuse("a comparison of structs with values that are computed in them");
                }
            }
            let cuts = self.cuts;
            if !self.equals(a, b)? {
                return Ok(false);
            }
            self.unmoved(cuts)?;
        }
        Ok(true)
    }
}

/// A bool.
pub(super) fn truth_of(value: bool) -> V {
    V::Bits(Bits::constant(1, u128::from(value)))
}
