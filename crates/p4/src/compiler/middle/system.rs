//! A stage of a system program: one visit to every packet, whose words are variables as its fields are.

use super::symbolic::{Follower, Stop, Way};
use super::value::V;
use crate::compiler::ir::{Bits, Leaf, Loc, LocInfo, Locs, Next, Src};
use sluice_rmt::phv::{DESTINATION_BITS, DISCARD, EXCEPT_INGRESS, Word};
use std::collections::BTreeMap;

/// The words of `system_metadata_t`, in its fields' order, with the lowest bit of each and how many there are; fields may have zeros above.
const WORDS: [(Word, u32, u32); 9] = [
    (Word::IngressPort, 0, 3),
    (Word::Length, 0, 16),
    (Word::Tenant, 0, 12),
    (Word::Egress, 0, DESTINATION_BITS.count_ones()),
    (Word::Egress, EXCEPT_INGRESS.trailing_zeros(), 1),
    (Word::Egress, DISCARD.trailing_zeros(), 1),
    (Word::Group, 0, 16),
    (Word::QueueDepth, 0, 16),
    (Word::LinkUse, 0, 16),
];
/// Those of them that the hardware gives.
const READ_ONLY: usize = 3;
/// `packet_length` among them, and `discard`.
pub(crate) const LENGTH_AT: u32 = 1;
pub(crate) const DISCARD_AT: u32 = 5;

/// The variable that a part of a stage's parameter is, and how many bits it has: no more than so many.
pub(crate) fn variable(locs: &mut Locs, is_word: bool, slot: usize, path: &[u32], width: u32) -> (Loc, u32) {
    match path {
        [at] if is_word => {
            let (word, low, bits) = WORDS[*at as usize];
            (locs.of(LocInfo::Word(word, low), bits), bits)
        }
        _ => (locs.leaf(slot, path, width), width),
    }
}

/// What a part of a parameter is before its stage.
fn before(locs: &mut Locs, is_word: bool, slot: usize, path: &[u32], width: u32) -> (Loc, Bits) {
    let (loc, bits) = variable(locs, is_word, slot, path, width);
    (loc, Bits::constant(width - bits, 0).concat(Bits::of(bits, Src::Loc(loc, 0))))
}

impl Follower<'_> {
    /// Follows a stage to its end.
    pub fn system_stage(&mut self, at: usize) -> Way<Leaf> {
        let control = &self.code.controls[at];
        for (number, parameter) in control.parameters.iter().enumerate() {
            let (slot, locs) = (parameter.slot, &mut self.locs);
            let mut value = V::fresh(&parameter.shape);
            value.leaves(&mut Vec::new(), &mut |path, bits| {
                *bits = before(locs, number == 1, slot, path, bits.width()).1;
            });
            self.slots[slot] = value;
        }
        self.trail.push(at as u32);
        let ended = self.statements(&control.locals).and_then(|_| self.statements(&control.body));
        match ended {
            Ok(_) | Err(Stop::Exit) => {}
            Err(stop) => return Err(stop),
        }
        self.pending.clear();
        while self.looks_again() {
            self.cut()?;
        }
        let mut assigns: BTreeMap<Loc, Bits> = BTreeMap::new();
        let mut read_only = None;
        for (number, parameter) in control.parameters.iter().enumerate() {
            let (slot, locs) = (parameter.slot, &mut self.locs);
            let mut value = std::mem::replace(&mut self.slots[slot], V::Parts(Vec::new()));
            value.leaves(&mut Vec::new(), &mut |path, bits| {
                let (loc, own) = before(locs, number == 1, slot, path, bits.width());
                if self.drop && number == 1 && path == [DISCARD_AT] {
                    assigns.insert(loc, Bits::constant(1, 1));
                } else if *bits != own {
                    assigns.insert(loc, bits.clone());
                    if number == 1 && (path[0] as usize) < READ_ONLY {
                        read_only = Some((slot, path.to_vec()));
                    }
                }
            });
            self.slots[slot] = value;
        }
        if let Some((slot, path)) = read_only {
            let at = self.locs.lines.written(slot, &path).unwrap_or(self.span);
            return self.refuse_at(at, "a write to what the hardware says of a packet");
        }
        Ok(Leaf { assigns, ..self.leave(Next::Onward)? })
    }
}
