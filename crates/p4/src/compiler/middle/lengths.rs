//! Lengths that the packet says, of a varbit or of `advance`: the way parts for each value of the bits that they are computed from.

use super::symbolic::{Follower, Way};
use crate::compiler::ir::{Bits, Loc, Src};
use crate::front::interpret::code::Call;
use crate::front::interpret::{Fields, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// Most bits of the packet that a length is computed from: each of their values is a way.
const MOST_LENGTH_BITS: usize = 6;

impl<'c> Follower<'c> {
    /// The bits of a header's varbit that `extract` is given, or the parser's error.
    pub fn size_of_varbit(&mut self, fields: &Fields, call: &'c Call) -> Way<u32> {
        let size = self.length_of(call, 1)?;
        let most = fields.shapes.iter().find_map(|shape| match shape {
            Shape::Varbit(most) => Some(u128::from(*most)),
            _ => None,
        });
        match size {
            _ if most.is_none_or(|most| size > most) => Err(self.parser_error("HeaderTooShort")),
            _ if !size.is_multiple_of(8) => Err(self.parser_error("ParserInvalidArgument")),
            _ => Ok(size as u32),
        }
    }

    /// A number of bits that an argument says: it is known, or the way parts for each value of the packet's bits which it is computed from.
    pub fn length_of(&mut self, call: &'c Call, at: usize) -> Way<u128> {
        self.parts = true;
        let length = self.argument(call, at);
        self.parts = false;
        match length?.bits().and_then(Bits::known) {
            Some(length) => Ok(length),
            None => self.refuse_at(call.span, "a length that is not computed from the packet alone"),
        }
    }

    /// Bits of the packet, and what is computed from them, as this way has them.
    pub fn parted(&mut self, bits: Bits) -> Way<Bits> {
        let mut from = BTreeSet::new();
        each_bit(&bits, &mut |loc, low| {
            from.insert((loc, low));
        });
        if from.len() > MOST_LENGTH_BITS {
            return self
                .refuse(format!("a length that {} bits of the packet say, at most {MOST_LENGTH_BITS}", from.len()));
        }
        let last = (1u32 << from.len()) - 1;
        let mut says = last;
        for value in 0..last {
            let mut wanted = Vec::with_capacity(from.len());
            for (i, (loc, low)) in from.iter().enumerate() {
                let bit = Bits::constant(1, u128::from(value >> i & 1));
                wanted.push(self.in_packet(&Bits::of(1, Src::Loc(*loc, *low)), bit)?);
            }
            if self.packet_has(wanted)? {
                says = value;
                break;
            }
        }
        let known = from.into_iter().enumerate().map(|(i, bit)| (bit, says >> i & 1 == 1)).collect();
        Ok(with_known(&bits, &known))
    }
}

/// Each bit of a variable that a value is computed from.
fn each_bit(bits: &Bits, see: &mut dyn FnMut(Loc, u32)) {
    for seg in &bits.segs {
        match &seg.src {
            Src::Loc(loc, low) => (0..seg.width).for_each(|bit| see(*loc, low + bit)),
            Src::Op(operation) => {
                each_bit(&operation.a, see);
                each_bit(&operation.b, see);
            }
            _ => {}
        }
    }
}

/// A value with bits that are known.
fn with_known(bits: &Bits, known: &BTreeMap<(Loc, u32), bool>) -> Bits {
    bits.segs.iter().fold(Bits::default(), |out, seg| {
        out.concat(match &seg.src {
            Src::Loc(loc, low) => (0..seg.width).rev().fold(Bits::default(), |out, bit| {
                let bit = known.get(&(*loc, low + bit)).copied().unwrap_or(false);
                out.concat(Bits::constant(1, bit.into()))
            }),
            Src::Op(operation) => {
                let (a, b) = (with_known(&operation.a, known), with_known(&operation.b, known));
                Bits::operate(operation.op, &a, &b).slice(0, seg.width)
            }
            _ => Bits::one(seg.clone()),
        })
    })
}
