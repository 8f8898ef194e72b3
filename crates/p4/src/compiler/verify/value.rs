//! Bits of the graph with all that they come from: what they are as a number, worked out bit by bit and by nothing of the compiler.

use super::run::Stop;
use crate::compiler::ir::{Bits, Loc, Op, Operation, Src, When};

/// Bits, the lowest first.
pub(crate) type Value = Vec<bool>;

/// Where bits come from.
pub(crate) struct Inputs<'a> {
    pub var: &'a mut dyn FnMut(Loc) -> Result<Value, Stop>,
    pub params: &'a [Value],
    /// The cell before and behind the visit, if it looks at one.
    pub cell: Option<(u32, u32)>,
    pub hash: &'a dyn Fn(&[bool]) -> u32,
}

/// A number of so many bits.
pub(crate) fn of(width: u32, number: u128) -> Value {
    (0..width).map(|at| at < 128 && number >> at & 1 == 1).collect()
}

/// The number, of which the lowest 128 bits count.
pub(crate) fn number(value: &[bool]) -> u128 {
    value.iter().take(128).enumerate().fold(0, |all, (at, bit)| all | u128::from(*bit) << at)
}

/// Some bits of a value; above its highest there are zeros.
pub(crate) fn slice(value: &[bool], low: u32, width: u32) -> Value {
    (low..low + width).map(|at| value.get(at as usize).copied().unwrap_or(false)).collect()
}

/// Bytes as they stand in a packet: the first bit is the highest of the first byte.
pub(crate) fn of_bytes(bytes: &[u8], first: u32, width: u32) -> Value {
    let bit = |at: u32| bytes.get((at / 8) as usize).is_some_and(|byte| byte >> (7 - at % 8) & 1 == 1);
    (first..first + width).rev().map(bit).collect()
}

/// Puts a value into bytes, its highest bit first.
pub(crate) fn put_bytes(bytes: &mut [u8], first: u32, value: &[bool]) {
    for (at, bit) in (first..).zip(value.iter().rev()) {
        let mask = 0x80 >> (at % 8);
        match (bytes.get_mut((at / 8) as usize), bit) {
            (Some(byte), true) => *byte |= mask,
            (Some(byte), false) => *byte &= !mask,
            (None, _) => {}
        }
    }
}

/// What bits are.
pub(crate) fn evaluate(bits: &Bits, inputs: &mut Inputs) -> Result<Value, Stop> {
    let mut all = Value::new();
    for seg in bits.segs.iter().rev() {
        let one = match &seg.src {
            Src::Const(number) => of(seg.width, u128::from(*number)),
            Src::Loc(loc, low) => slice(&(inputs.var)(*loc)?, *low, seg.width),
            Src::Param(at, low) => match inputs.params.get(*at as usize) {
                Some(value) => slice(value, *low, seg.width),
                None => return Err(Stop::Wrong(format!("it takes parameter {at} where there is none"))),
            },
            Src::Cell(when, low) => {
                let Some((old, new)) = inputs.cell else {
                    return Err(Stop::Wrong("it takes a cell's value where it looks at none".to_string()));
                };
                slice(&of(32, if *when == When::Old { old } else { new }.into()), *low, seg.width)
            }
            Src::Hash(data, low) => {
                let data = evaluate(data, inputs)?;
                slice(&of(32, (inputs.hash)(&data).into()), *low, seg.width)
            }
            Src::Op(operation) => {
                let whole = operate(operation, inputs)?;
                // Of a wider operation the upper bits are meant.
                slice(&whole, whole.len() as u32 - seg.width, seg.width)
            }
        };
        all.extend(one);
    }
    Ok(all)
}

fn operate(operation: &Operation, inputs: &mut Inputs) -> Result<Value, Stop> {
    let (a, b) = (evaluate(&operation.a, inputs)?, evaluate(&operation.b, inputs)?);
    if a.len() != b.len() {
        return Err(Stop::Wrong(format!("it computes with {} and {} bits", a.len(), b.len())));
    }
    let each = |with: fn(bool, bool) -> bool| a.iter().zip(&b).map(|(a, b)| with(*a, *b)).collect();
    Ok(match operation.op {
        Op::And => each(|a, b| a & b),
        Op::Or => each(|a, b| a | b),
        Op::Xor => each(|a, b| a ^ b),
        Op::Add => sum(&a, &b, false),
        Op::Sub => sum(&a, &b.iter().map(|bit| !bit).collect::<Value>(), true),
    })
}

fn sum(a: &[bool], b: &[bool], mut carry: bool) -> Value {
    let each = a.iter().zip(b).map(|(a, b)| {
        let (bit, next) = (a ^ b ^ carry, (a & b) | (carry & (a ^ b)));
        carry = next;
        bit
    });
    each.collect()
}

/// Whether a value is less than another, or equal to it.
pub(crate) fn compares(equal: bool, a: &[bool], b: &[bool]) -> bool {
    let last = a.iter().rev().zip(b.iter().rev()).find(|(a, b)| a != b);
    match last {
        None => equal,
        Some((a, b)) => !equal && !a & b,
    }
}

/// The internet checksum of words, with zeros in place of the sum.
pub(crate) fn internet(bytes: &[u8], (start, words, at): (u32, u32, u32)) -> u16 {
    let byte = |n: u32| if n == at || n == at + 1 { 0 } else { bytes.get(n as usize).copied().unwrap_or(0).into() };
    let mut sum: u32 = (0..words).map(|word| byte(start + 2 * word) << 8 | byte(start + 2 * word + 1)).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::Seg;
    use std::rc::Rc;

    fn value(bits: &Bits) -> u128 {
        let mut var = |loc: Loc| Ok(of(16, u128::from(loc.0)));
        let inputs = &mut Inputs { var: &mut var, params: &[of(8, 0xab)], cell: Some((7, 9)), hash: &|_| 0x1234_5678 };
        number(&evaluate(bits, inputs).unwrap())
    }

    #[test]
    fn bits_are_what_they_come_from_the_highest_first() {
        let loc = |number: u32, low, width| Bits::of(width, Src::Loc(Loc(number), low));
        assert_eq!(value(&loc(0x1234, 4, 8).concat(Bits::constant(4, 5))), 0x235);
        assert_eq!(value(&Bits::of(4, Src::Param(0, 4)).concat(Bits::of(4, Src::Param(0, 0)))), 0xab);
        assert_eq!(value(&Bits::of(8, Src::Cell(When::Old, 0)).concat(Bits::of(8, Src::Cell(When::New, 0)))), 0x0709);
        assert_eq!(value(&Bits::of(16, Src::Hash(Rc::new(loc(1, 0, 3)), 16))), 0x1234);
        for (op, wanted) in [(Op::Add, 0x0100), (Op::Sub, 0x00fe), (Op::And, 1), (Op::Or, 0xff), (Op::Xor, 0xfe)] {
            let operation = Operation { op, a: loc(0xff, 0, 16), b: loc(1, 0, 16) };
            assert_eq!(value(&Bits::one(Seg { width: 16, src: Src::Op(Rc::new(operation)) })), wanted);
        }
        let sum = Bits::operate(Op::Add, &loc(0xff, 0, 16), &loc(1, 0, 16));
        assert_eq!(value(&sum.slice(8, 8)), 1);
    }

    #[test]
    fn comparisons_and_checksums() {
        assert!(compares(false, &of(8, 3), &of(8, 200)) && !compares(false, &of(8, 200), &of(8, 3)));
        assert!(!compares(false, &of(8, 3), &of(8, 3)) && compares(true, &of(8, 3), &of(8, 3)));
        // The example of RFC 1071, section 3.
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(internet(&bytes, (0, 4, 90)), !0xddf2);
        assert_eq!(of_bytes(&bytes, 20, 8), of(8, 0x20));
        let mut other = bytes;
        put_bytes(&mut other, 20, &of(8, 0xff));
        assert_eq!(other[2..4], [0xff, 0xf3]);
    }
}
