//! Functions and methods of the language and of v1model.

use super::expressions::truth_of;
use super::symbolic::{Follower, Stop, Sum, Way};
use super::value::V;
use crate::compiler::ir::{Bits, LocInfo};
use crate::front::interpret::DROP;
use crate::front::interpret::code::{Argument, Call, NativeCall};
use crate::front::interpret::native::Native;
use crate::front::interpret::value::Value;
use sluice_rmt::phv::Word;

impl<'c> Follower<'c> {
    pub fn native(&mut self, native: &'c NativeCall, call: &'c Call) -> Way<V> {
        let nothing = V::Fixed(Value::None);
        match native.what {
            Native::Extract | Native::ExtractSized => self.extract(call)?,
            Native::Lookahead => return self.lookahead(&native.result),
            Native::Advance => self.advance(call)?,
            Native::Length => return Ok(V::Bits(Bits::constant(16, 0).concat(self.length()))),
            Native::Emit => self.emit(call)?,
            Native::Verify => {
                let holds = self.argument(call, 0)?;
                let Some(holds) = holds.bits().cloned() else { return self.refuse("a condition of this form") };
                if !self.equal_bits(holds, Bits::constant(1, 1))? {
                    let error = self.argument(call, 1)?;
                    let known = error.bits().and_then(Bits::known);
                    return Err(Stop::Parser(known.unwrap_or(0) as u32));
                }
            }
            Native::SetValid | Native::SetInvalid | Native::PushFront | Native::PopFront => {
                self.change(native.what, call)?;
            }
            Native::StaticAssert | Native::StaticAssertOnly => return Ok(truth_of(true)),
            Native::MarkToDrop => {
                self.no_copies();
                let Some(Argument::InOut(target)) = call.arguments.first() else {
                    return self.refuse("`mark_to_drop` of this form");
                };
                let (slot, path, _) = self.find(target)?;
                for (name, width, value) in [("egress_spec", 9, DROP), ("mcast_grp", 16, 0)] {
                    let field = target.place.shape.fields().and_then(|f| f.names.iter().position(|n| &**n == name));
                    if let Some(at) = field
                        && let Some(part) = self.slots[slot].part_mut(&path)
                        && let Some(part) = part.parts_mut().get_mut(at)
                    {
                        *part = V::Bits(Bits::constant(width, value));
                    }
                }
            }
            Native::MarkToDropOld => self.drop = true,
            Native::Log | Native::LogData => {}
            Native::Clone | Native::CloneData | Native::CloneKeep => self.ask_for_clone(native, call)?,
            Native::VerifyChecksum => self.verify_checksum(call)?,
            Native::UpdateChecksum => self.update_checksum(call)?,
            Native::Count => self.count(native, call)?,
            // Direct counters count by themselves: each entry has its number.
            Native::CountDirect => {}
            Native::MeterExecute => self.color(call, 1)?,
            Native::MeterRead => self.color(call, 0)?,
            Native::RegisterRead => self.read_register(native, call)?,
            Native::RegisterWrite => self.write_register(native, call)?,
            Native::Hash | Native::Crc32c if self.system.is_some() => {
                return self.refuse_at(call.span, "a hash in a system program");
            }
            Native::Hash => self.hash(call)?,
            Native::Crc32c => self.crc32c(call)?,
            Native::AtomRead | Native::AtomWrite | Native::AtomAdd | Native::AtomChoose => self.atom(native, call)?,
            Native::PoliceExecute => self.police(native, call)?,
            Native::Multicast => self.ask_for_copies(call)?,
            Native::LinkStatistics => self.link_statistics(call)?,
            Native::Assert | Native::Assume => return self.refuse_at(call.span, "`assert` and `assume`"),
            other => return self.refuse_at(call.span, word(other).to_string()),
        }
        Ok(nothing)
    }

    pub fn argument(&mut self, call: &'c Call, at: usize) -> Way<V> {
        match call.arguments.get(at) {
            Some(Argument::In(ex, shape)) => {
                let value = self.value(ex)?;
                Ok(self.shaped(value, shape))
            }
            _ => self.refuse_at(call.span, "an argument of this form"),
        }
    }

    /// Gives an argument that goes out its value.
    pub fn give(&mut self, call: &'c Call, at: usize, value: Bits) -> Way<()> {
        let Some(Argument::Out(target) | Argument::InOut(target)) = call.arguments.get(at) else {
            return self.refuse_at(call.span, "an argument of this form");
        };
        let mut held = [value];
        let (slot, path, low) = self.while_held(&mut held, |this| this.find(target))?;
        let [value] = held;
        self.write(target, slot, &path, low, V::Bits(value))
    }

    /// `link_statistics(statistics)`: the words that the system program writes.
    fn link_statistics(&mut self, call: &'c Call) -> Way<()> {
        let Some(Argument::Out(target) | Argument::InOut(target)) = call.arguments.first() else {
            return self.refuse_at(call.span, "an argument of this form");
        };
        if self.in_parser || self.system.is_some() {
            return self.refuse_at(call.span, "`link_statistics` in the parser or in a system program");
        }
        let words = [Word::QueueDepth, Word::LinkUse].map(|word| {
            let loc = self.locs.of(LocInfo::Word(word, 0), 16);
            V::Bits(self.loc_bits(loc))
        });
        let (slot, path, low) = self.find(target)?;
        self.write(target, slot, &path, low, V::Parts(words.into()))
    }

    fn update_checksum(&mut self, call: &'c Call) -> Way<()> {
        let condition = self.argument(call, 0)?;
        let Some(condition) = condition.bits().cloned() else { return self.refuse("this condition") };
        if !self.equal_bits(condition, Bits::constant(1, 1))? {
            return Ok(());
        }
        if !self.is_internet(call) {
            return self.refuse_at(call.span, "a checksum of another algorithm than csum16");
        }
        let data = self.argument(call, 1)?.concatenated();
        let Some(Argument::InOut(target)) = call.arguments.get(2) else {
            return self.refuse_at(call.span, "a checksum that goes nowhere");
        };
        let (slot, path, _) = self.find(target)?;
        if target.slice.is_some() || target.place.shape.number().width != 16 {
            return self.refuse_at(call.span, "a checksum that is no field of 16 bits");
        }
        if self.sums.iter().any(|sum| sum.slot == slot && sum.path == path) {
            return self.refuse_at(call.span, "a checksum that is computed twice");
        }
        let loc = self.locs.of(LocInfo::Opaque("a checksum that the deparser computes"), 16);
        let bits = self.loc_bits(loc);
        let written = slot;
        if let Some(V::Bits(field)) = self.slots[slot].part_mut(&path) {
            *field = bits;
        }
        self.sums.push(Sum { data, slot: written, path, span: call.span });
        Ok(())
    }

    fn change(&mut self, what: Native, call: &'c Call) -> Way<()> {
        let Some(Argument::InOut(target)) = call.arguments.first() else { return Ok(()) };
        let (slot, path, _) = self.find(target)?;
        let count = match call.arguments.get(1) {
            Some(_) => {
                let count = self.argument(call, 1)?;
                let known = match &count {
                    V::Bits(bits) => bits.known(),
                    V::Fixed(value) => Some(value.bits()),
                    _ => None,
                };
                known.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX))
            }
            None => 0,
        };
        let shape = &target.place.shape;
        let Some(value) = self.slots[slot].part_mut(&path) else { return Ok(()) };
        match (what, value) {
            (Native::SetValid, value) => {
                value.set_valid(true);
                self.locs.lines.write(slot, &path, None, call.span);
                self.only_one(slot, &path);
            }
            (Native::SetInvalid, value) => value.set_valid(false),
            (what, V::Stack(next, elements)) => {
                let size = elements.len();
                let count = count.min(size);
                let is_push = what == Native::PushFront;
                if is_push {
                    elements.rotate_right(count);
                } else {
                    elements.rotate_left(count);
                }
                for at in if is_push { 0..count } else { size - count..size } {
                    elements[at] = V::fresh(shape.part(0));
                }
                let at = *next as usize;
                *next = if is_push { (at + count).min(size) } else { at.saturating_sub(count) } as u32;
            }
            _ => {}
        }
        Ok(())
    }
}

fn word(native: Native) -> &'static str {
    match native {
        Native::Random => "`random`",
        Native::Digest => "`digest`",
        Native::Truncate => "`truncate`",
        Native::VerifyChecksumPayload | Native::UpdateChecksumPayload => "a checksum over the payload",
        Native::ResubmitData | Native::ResubmitKeep => "`resubmit`",
        Native::RecirculateData | Native::RecirculateKeep => "`recirculate`",
        Native::Checksum16Get => "`Checksum16`",
        _ => "this function",
    }
}
