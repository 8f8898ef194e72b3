//! `hash`, where it is allowed, and `crc32c`: the target's own, over the key of a stage of which nothing else is looked at.

use super::symbolic::{Follower, Way};
use super::value::V;
use crate::compiler::ir::{Bits, Bound, HASH, Op, Src};
use crate::front::interpret::code::{Argument, Call};
use crate::front::interpret::{hash_by_name, target_hash_from};
use std::rc::Rc;

impl<'c> Follower<'c> {
    /// `hash(result, algorithm, base, data, max)`: base + hash % max.
    pub fn hash(&mut self, call: &'c Call) -> Way<()> {
        let algorithm = self.algorithm(call, 1);
        if !self.code.allowed.target_hash
            && let Some(value) = self.known_hash(call, algorithm)?
        {
            return self.hashed(call, value);
        }
        let Some(low) = target_hash_from(algorithm) else {
            return self.refuse_at(call.span, "`hash` by another algorithm than crc16 and crc32");
        };
        if !self.code.allowed.target_hash {
            let max = self.number(call, 4)?;
            let of_entry = matches!(&max.segs[..], [seg] if matches!(seg.src, Src::Param(..)));
            let flags = match of_entry && !self.code.allowed.power_of_two {
                true => "--hash target and --power-of-two (what an entry gives as the modulus is one)",
                false => "--hash target",
            };
            let what = format!("`hash` by crc16 and crc32; with {flags} it is CRC-32C over a stage's key");
            return self.refuse_at(call.span, what);
        }
        if self.in_parser {
            return self.refuse_at(call.span, "`hash` in the parser");
        }
        let Some(Argument::Out(target) | Argument::InOut(target)) = call.arguments.first() else {
            return self.refuse_at(call.span, "`hash` into something of this form");
        };
        let width = target.width();
        let base = self.number(call, 2)?;
        let mut held = [base];
        let max = self.while_held(&mut held, |this| this.number(call, 4))?;
        let [base] = held;
        if max.known().is_some_and(|max| max < 2) {
            return self.hashed(call, base.slice(0, width));
        }
        let mask = match max.known() {
            Some(max) if max.is_power_of_two() => None,
            Some(max) => return self.refuse_at(call.span, format!("`hash` modulo {max}, which is no power of two")),
            None => {
                let [seg] = &max.segs[..] else {
                    return self.refuse_at(call.span, "`hash` modulo a value of this form");
                };
                if !matches!(seg.src, Src::Param(..)) {
                    return self.refuse_at(call.span, "`hash` modulo a value that the packet decides");
                }
                if !self.code.allowed.power_of_two {
                    let what = "`hash` modulo a value that an entry gives; with --power-of-two those are powers of two";
                    return self.refuse_at(call.span, what);
                }
                self.bounds.push((max.clone(), Bound::PowerOfTwo));
                // One less is asked for, so that upper bits of a number that is too large are no matter.
                Some(max.slice(0, width))
            }
        };
        let whole = self.argument(call, 3)?.concatenated();
        let mut held = vec![base.slice(0, width)];
        held.extend(mask);
        let (hash, mut held) = self.target_hash(whole, held)?;
        let hash = hash.slice(low, HASH - low);
        let within = match (&held[..], max.known()) {
            ([_, mask], _) => self.operate(Op::And, hash.slice(0, width), mask.clone())?,
            (_, Some(max)) => hash.slice(0, max.trailing_zeros()).slice(0, width),
            _ => hash.slice(0, width),
        };
        let mut held = [held.swap_remove(0)];
        let within = self.while_held(&mut held, |this| this.settled(within))?;
        let [base] = held;
        let value = self.operate(Op::Add, within, base)?;
        self.hashed(call, value)
    }

    /// `crc32c(result, data)`: the target's hash, whole.
    pub fn crc32c(&mut self, call: &'c Call) -> Way<()> {
        if self.in_parser {
            return self.refuse_at(call.span, "`crc32c` in the parser");
        }
        let whole = self.argument(call, 1)?.concatenated();
        let (hash, _) = self.target_hash(whole, Vec::new())?;
        self.hashed(call, hash)
    }

    /// The target's hash of some bits, and what has to be held meanwhile: a base, and a modulus of which one is taken away.
    fn target_hash(&mut self, whole: Bits, mut held: Vec<Bits>) -> Way<(Bits, Vec<Bits>)> {
        let less = |held: &mut Vec<Bits>| {
            if let [_, mask] = &mut held[..] {
                let one = Bits::constant(mask.width(), 1);
                *mask = Bits::operate(Op::Sub, mask, &one);
            }
        };
        // Kept, and in a visit that looks at nothing else.
        let mut whole = self.while_held(&mut held, |this| this.settled(whole))?;
        if let Some((_, hash)) = self.hash.clone().filter(|(data, _)| *data == whole) {
            if held.iter().any(Bits::is_made) {
                self.while_held(&mut held, Self::cut)?;
            }
            less(&mut held);
            return Ok((hash, held));
        }
        let decided = !self.facts.is_empty() || self.comparisons > 0 || self.has_table;
        if decided || held.iter().any(Bits::is_made) || self.access.is_some() {
            let depth = self.pending.len();
            self.pending.push((whole, false));
            self.while_held(&mut held, Self::cut)?;
            let kept = self.pending.split_off(depth).pop();
            whole = kept.map_or_else(Bits::default, |(bits, _)| bits);
        }
        less(&mut held);
        held.push(Bits::of(HASH, Src::Hash(Rc::new(whole.clone()), 0)));
        // What is hashed may be written now, and is another value then.
        let depth = self.pending.len();
        self.pending.push((whole.clone(), false));
        self.while_held(&mut held, Self::cut)?;
        let kept = self.pending.split_off(depth).pop();
        let hash = held.pop().unwrap_or_default();
        self.hash = kept.filter(|(bits, _)| *bits == whole).map(|_| (whole, hash.clone()));
        Ok((hash, held))
    }

    /// The value by the algorithm itself, if all that it needs is known before the program runs.
    fn known_hash(&mut self, call: &'c Call, algorithm: &str) -> Way<Option<Bits>> {
        let cuts = self.cuts;
        let [base, data, max] = [self.argument(call, 2)?, self.argument(call, 3)?, self.argument(call, 4)?];
        self.unmoved(cuts)?;
        let (Some(base), Some(max)) = (base.bits().and_then(Bits::known), max.bits().and_then(Bits::known)) else {
            return Ok(None);
        };
        let whole = data.concatenated();
        if !whole.is_known() || !matches!(algorithm, "crc32" | "crc16" | "csum16" | "xor16") {
            return Ok(None);
        }
        // The first bit is the highest of its byte.
        let unused = (8 - whole.width() % 8) % 8;
        let whole = whole.concat(Bits::constant(unused, 0));
        let bytes = (0..whole.width() / 8).rev().map(|at| whole.slice(8 * at, 8).known().unwrap_or(0) as u8);
        let hash = hash_by_name(algorithm, &bytes.collect::<Vec<u8>>());
        let hash = hash.iter_u32_digits().next().unwrap_or(0);
        let within = if max == 0 { 0 } else { u128::from(hash) % max };
        Ok(Some(Bits::constant(128, base.wrapping_add(within))))
    }

    /// Writes the result.
    fn hashed(&mut self, call: &'c Call, value: Bits) -> Way<()> {
        let Some(Argument::Out(target) | Argument::InOut(target)) = call.arguments.first() else {
            return self.refuse_at(call.span, "`hash` into something of this form");
        };
        let (slot, path, at) = self.find(target)?;
        self.write(target, slot, &path, at, V::Bits(value.slice(0, target.width())))
    }

    fn number(&mut self, call: &'c Call, at: usize) -> Way<Bits> {
        match self.argument(call, at)? {
            V::Bits(bits) => Ok(bits),
            _ => self.refuse_at(call.span, "an argument of this form"),
        }
    }
}
