//! `verify_checksum`: the parser adds the words up, sum and all, and the status word says whether that is wrong.

use super::symbolic::{Follower, Verified, Way};
use super::value::V;
use crate::compiler::ir::{Bits, LocInfo, Src, Test};
use crate::front::interpret::Shape;
use crate::front::interpret::code::{Argument, Call, Ex};

impl<'c> Follower<'c> {
    /// The algorithm's name, if it is said in the program.
    pub fn algorithm(&self, call: &'c Call, at: usize) -> &'c str {
        match call.arguments.get(at) {
            Some(Argument::In(Ex::Constant(value), Shape::Enum(names))) => {
                names.get(value.bits() as usize).map_or("", |name| name)
            }
            _ => "",
        }
    }

    /// Whether a checksum is that of the internet.
    pub fn is_internet(&self, call: &'c Call) -> bool {
        self.algorithm(call, 3) == "csum16"
    }

    /// `verify_checksum(condition, data, sum, algorithm)`, before the packet is parsed whole.
    pub fn verify_checksum(&mut self, call: &'c Call) -> Way<()> {
        let condition = self.argument(call, 0)?;
        let Some(condition) = condition.bits().cloned() else { return self.refuse_at(call.span, "this condition") };
        if !self.equal_bits(condition, Bits::constant(1, 1))? {
            return Ok(());
        }
        let data = self.argument(call, 1)?.concatenated();
        let V::Bits(sum) = self.argument(call, 2)? else { return self.refuse_at(call.span, "a sum of this form") };
        let loc = self.locs.of(LocInfo::Bad, 1);
        let bad = self.loc_bits(loc);
        let span = if self.is_internet(call) && self.verified.is_none() { self.covered(&data, &sum) } else { None };
        let Some(span) = span else {
            // A program that does not look at it may verify what it likes.
            let loc = self.locs.of(LocInfo::Opaque("checksum_error"), 1);
            let bits = self.loc_bits(loc);
            self.set_standard("checksum_error", bits);
            return Ok(());
        };
        let of_sum = self.first_bit(&sum).unwrap_or(0) / 8;
        let inside =
            |byte: &u32| *byte >= span.0 && *byte < span.0 + 2 * span.1 && *byte != of_sum && *byte != of_sum + 1;
        let nonzero = self.given.iter().any(|(byte, (_, value))| inside(byte) && *value != 0);
        self.verified = Some(Verified { data, sum, nonzero, span });
        self.set_standard("checksum_error", bad);
        Ok(())
    }

    /// Where a piece of the packet begins.
    fn first_bit(&self, bits: &Bits) -> Option<u32> {
        match &bits.segs[..] {
            [seg] => match seg.src {
                Src::Loc(loc, low) => Some(self.taken.get(&loc)? + self.locs.width(loc) - low - seg.width),
                _ => None,
            },
            _ => None,
        }
    }

    /// First byte and words that data and their sum cover, if they are bytes of the packet in a row.
    fn covered(&self, data: &Bits, sum: &Bits) -> Option<(u32, u32)> {
        let of_sum = self.first_bit(sum).filter(|_| sum.width() == 16)?;
        let mut begin = None;
        let mut at = 0;
        for seg in &data.segs {
            let first = self.first_bit(&Bits::one(seg.clone()))?;
            match begin {
                None => (begin, at) = (Some(first.min(if first == of_sum + 16 { of_sum } else { first })), first),
                Some(_) if first == at => {}
                Some(_) if at == of_sum && first == of_sum + 16 => at = first,
                Some(_) => return None,
            }
            at += seg.width;
        }
        let (begin, end) = (begin?, if at == of_sum { at + 16 } else { at });
        let good = begin % 8 == 0 && (end - begin) % 16 == 0 && of_sum >= begin && of_sum + 16 <= end;
        let alone = data.width() + 16 == end - begin;
        (good && alone && (of_sum - begin) % 16 == 0).then(|| (begin / 8, (end - begin) / 16))
    }

    /// Whether `checksum_error` is set. The parser's sum is right, too, where the checksum is 0xffff in place of 0.
    pub fn is_bad(&mut self) -> Way<bool> {
        let loc = self.locs.of(LocInfo::Bad, 1);
        let bad = self.loc_bits(loc);
        let test = Test::Compare { equal: true, a: bad.clone(), b: Bits::constant(1, 1) };
        let known = self.facts.iter().any(|(known, _)| *known == test);
        if !known {
            self.room_for_comparison()?;
        }
        let mut is = self.decide(test)?;
        if !is
            && let Some(Verified { data, sum, nonzero, .. }) = self.verified.clone()
            && self.equal_bits(sum, Bits::constant(16, 0xffff))?
        {
            let nonzero = nonzero || self.shows_nonzero(&data);
            let zero = Bits::constant(data.width(), 0);
            is = nonzero || !self.equal_bits(data, zero)?;
        }
        for value in &mut self.slots {
            value.leaves(&mut Vec::new(), &mut |_, bits| {
                if *bits == bad {
                    *bits = Bits::constant(1, u128::from(is));
                }
            });
        }
        Ok(is)
    }

    /// Whether a value is that of `checksum_error`, which is decided where it is read.
    pub fn is_of_sum(&self, value: &V) -> bool {
        match value {
            V::Bits(bits) => match &bits.segs[..] {
                [seg] => matches!(seg.src, Src::Loc(loc, _) if *self.locs.info(loc) == LocInfo::Bad),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether something that was found out on the way says that bits are not all zero.
    fn shows_nonzero(&self, data: &Bits) -> bool {
        let among = |bits: &Bits| {
            bits.segs.iter().all(|seg| match seg.src {
                Src::Loc(loc, low) => data.segs.iter().any(|other| match other.src {
                    Src::Loc(of, from) => of == loc && from <= low && low + seg.width <= from + other.width,
                    _ => false,
                }),
                _ => false,
            })
        };
        self.facts.iter().any(|(test, holds)| match test {
            Test::Is(bits, value) => (value.known() == Some(0)) != *holds && value.is_known() && among(bits),
            Test::Compare { .. } => false,
        })
    }
}
