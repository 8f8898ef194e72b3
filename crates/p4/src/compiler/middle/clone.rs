//! Clones. One that leaves as its original does is a destination more; so the clone is followed behind its original, from what the parser took
//! (of ingress) or from what egress left, and both have to come to the same. One whose original is dropped is the packet that leaves.

use super::packet::UNKNOWN;
use super::symbolic::{Follower, Stop, Sum, Way};
use super::value::V;
use crate::compiler::ir::{Bits, Leaf, LocInfo, Next};
use crate::front::interpret::code::{Call, NativeCall};
use crate::front::interpret::native::Native;
use crate::front::interpret::{DROP, Shape};
use crate::front::source::Span;

/// `instance_type` of a clone of ingress, and of egress.
const INSTANCES: [u128; 2] = [1, 2];
/// Numbers of the blocks that a clone goes through, behind those of packets.
const EGRESS: u32 = 5;
const DEPARSER: u32 = 7;

/// A clone that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    pub session: u16,
    keep: Keep,
    pub span: Span,
}

/// Headers that are emitted, by their places, and the checksums that are computed.
type Emitted = (Vec<(usize, Vec<u32>, V)>, Vec<Sum>);

/// Metadata that go with a clone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Keep {
    /// Those of a field list.
    List(u8),
    /// Those that the call names.
    Places(Vec<(usize, Vec<u32>)>),
}

/// Copies the fields of a list, in structs of structs too.
fn copy_list(number: u8, shape: &Shape, from: &V, into: &mut V) {
    let Some(fields) = shape.fields() else { return };
    let parts = from.parts().iter().zip(into.parts_mut());
    for ((lists, shape), (from, into)) in fields.lists.iter().zip(&fields.shapes).zip(parts) {
        match lists.contains(&number) {
            true => *into = from.clone(),
            false => copy_list(number, shape, from, into),
        }
    }
}

impl<'c> Follower<'c> {
    /// Where the headers of a clone wait for it, and where its metadata do.
    fn clone_slots(&self) -> [usize; 2] {
        [self.code.slots + 1, self.code.slots + 2]
    }

    /// `clone(type, session)` and its kin. The last call of a control counts.
    pub fn ask_for_clone(&mut self, native: &'c NativeCall, call: &'c Call) -> Way<()> {
        let session = self.argument(call, 1)?;
        let session = session.bits().and_then(Bits::known).and_then(|session| u16::try_from(session).ok());
        let Some(session) = session else {
            return self.refuse_at(call.span, "a clone whose session is no number of 0 to 65535 that the program says");
        };
        let keep = match native.what {
            Native::CloneKeep => {
                let list = self.argument(call, 2)?;
                let Some(list) = list.bits().and_then(Bits::known) else {
                    return self.refuse_at(call.span, "a clone whose field list is no constant");
                };
                Keep::List(list as u8)
            }
            _ => Keep::Places(native.kept.iter().map(|place| self.path(place)).collect::<Way<_>>()?),
        };
        if self.asked_before {
            let again = "a clone that is cloned again, or a second clone of a packet";
            return self.refuse_at(call.span, again);
        }
        self.asked = Some(Asked { session, keep, span: call.span });
        Ok(())
    }

    /// Has the headers that the parser took wait for a clone of ingress.
    pub fn hold_parsed(&mut self, headers: usize) {
        if self.code.has_clones {
            let [held, _] = self.clone_slots();
            self.slots[held] = self.slots[headers].clone();
        }
    }

    /// At the end of a control: has the metadata that go with a clone wait for it, of egress the headers, too.
    pub fn hold_for_clone(&mut self, slots: &[usize; 3], of_egress: bool) {
        let Some(asked) = self.asked.clone().filter(|_| !self.asked_before) else { return };
        self.asked_before = true;
        let parameters = [2, 3].map(|at| self.code.of_parser(at).map(|parameter| &parameter.shape));
        let [Some(meta), Some(standard)] = parameters else { return };
        let mut kept = [V::fresh(meta), V::fresh(standard)];
        match &asked.keep {
            Keep::List(number) => copy_list(*number, meta, &self.slots[slots[1]], &mut kept[0]),
            Keep::Places(places) => {
                for (slot, path) in places {
                    let Some(at) = slots[1..].iter().position(|other| other == slot) else { continue };
                    if let (Some(from), Some(into)) = (self.slots[*slot].part(path), kept[at].part_mut(path)) {
                        *into = from.clone();
                    }
                }
            }
        }
        self.clone_of_egress = of_egress;
        let [headers, metadata] = self.clone_slots();
        self.slots[metadata] = V::Parts(kept.into());
        if of_egress {
            self.slots[headers] = self.slots[slots[0]].clone();
        }
    }

    /// Gives the blocks' parameters what a clone has before egress.
    fn begin_clone(&mut self, slots: &[usize; 3]) {
        let [headers, metadata] = self.clone_slots();
        self.slots[slots[0]] = self.slots[headers].clone();
        if let V::Parts(kept) = self.slots[metadata].clone() {
            for (slot, kept) in slots[1..].iter().zip(kept) {
                self.slots[*slot] = kept;
            }
        }
        let of_egress = self.clone_of_egress;
        if !of_egress {
            // It was parsed again, with what was kept before it.
            for (slot, path) in self.parser_writes.clone() {
                let loc = self.locs.of(LocInfo::Opaque("metadata of a clone that the parser writes, too,"), 1);
                let opaque = self.loc_bits(loc);
                if let Some(part) = self.slots[slot].part_mut(&path) {
                    part.leaves(&mut Vec::new(), &mut |_, bits| {
                        let one = opaque.clone();
                        *bits = (1..bits.width()).fold(one, |all, _| all.concat(opaque.clone()));
                    });
                }
            }
            self.set_arrival_port();
            self.set_standard("parser_error", Bits::constant(32, self.parsed_error.into()));
            self.set_times();
        }
        self.set_length();
        let queues = UNKNOWN.into_iter().map(|name| (name, "queues of a clone"));
        let copies = [("egress_port", "egress_port of a clone"), ("egress_rid", "egress_rid of a clone")];
        for (name, what) in queues.chain(copies) {
            let width = self.standard(name).width();
            if width > 0 {
                let loc = self.locs.of(LocInfo::Opaque(what), 64);
                let bits = self.loc_bits(loc).slice(0, width);
                self.set_standard(name, bits);
            }
        }
        self.set_standard("egress_spec", Bits::constant(9, 0));
        self.set_standard("instance_type", Bits::constant(32, INSTANCES[usize::from(of_egress)]));
        self.drop = false;
        self.sums.clear();
        self.out.clear();
    }

    /// Follows a clone through egress to what is emitted; whether it leaves.
    fn follow_clone(&mut self, slots: &[usize; 3]) -> Way<bool> {
        let pipeline = self.code.pipeline;
        self.begin_clone(slots);
        self.for_copies = true;
        self.block(pipeline.egress, slots, EGRESS)?;
        self.for_copies = false;
        if self.is_dropped_by_egress()? {
            return Ok(false);
        }
        self.block(pipeline.compute, slots, EGRESS + 1)?;
        self.emitted_by_deparser(slots, DEPARSER)?;
        Ok(true)
    }

    /// What is emitted, with the checksums that are computed.
    fn emitted_values(&self) -> Emitted {
        let of = |(slot, path): &(usize, Vec<u32>)| {
            self.slots[*slot].part(path).map(|value| (*slot, path.clone(), value.clone()))
        };
        (self.out.iter().filter_map(of).collect(), self.sums.clone())
    }

    /// Behind all of a packet's blocks: follows its clone, which has to be the same packet.
    pub fn see_clone(&mut self, slots: &[usize; 3]) -> Way<()> {
        let Some(asked) = self.asked.take() else { return Ok(()) };
        let original = self.emitted_values();
        let cuts = self.cuts;
        let held = (self.slots.clone(), self.sums.clone(), self.out.clone(), self.refs.clone(), self.drop);
        let leaves = self.follow_clone(slots)?;
        if self.cuts != cuts {
            return self.refuse_at(asked.span, "a clone that takes a stage more than its original");
        }
        if leaves && self.emitted_values() != original {
            return self.refuse_at(asked.span, "a clone that is another packet than its original");
        }
        (self.slots, self.sums, self.out, self.refs, self.drop) = held;
        self.cloned = leaves.then_some(asked.session);
        self.cloned_at = asked.span;
        Ok(())
    }

    /// A packet that is dropped: its clone leaves, if there is one.
    pub fn dropped(&mut self, slots: &[usize; 3]) -> Way<Leaf> {
        let Some(asked) = self.asked.take() else { return self.leave(Next::Drop) };
        self.pending.clear();
        self.cloned = Some(asked.session);
        self.cloned_at = asked.span;
        if !self.follow_clone(slots)? {
            self.cloned = None;
            return self.leave(Next::Drop);
        }
        while self.holds_cells() || self.looks_again() {
            self.cut()?;
        }
        self.pending.push((Bits::constant(9, DROP), true));
        self.end(None)
    }

    /// Runs the deparser, which says what is emitted.
    pub fn emitted_by_deparser(&mut self, slots: &[usize; 3], number: u32) -> Way<()> {
        let deparser = &self.code.controls[self.code.pipeline.deparser];
        self.refs.insert(deparser.parameters[1].slot, (slots[0], Vec::new()));
        self.trail.push(number);
        match self.statements(&deparser.locals).and_then(|_| self.statements(&deparser.body)) {
            Ok(_) | Err(Stop::Exit) => Ok(()),
            Err(stop) => Err(stop),
        }
    }
}
