//! State accesses: atom and meter.

use super::action::{DA, DB, Operand, when};
use super::frame::{Frame, X, ZERO};
use super::key::relation;
use sluice_formats::rmt::codes::{IndexSource, StateKind, StateOperand, Taken};
use sluice_formats::rmt::rows::StatePart;

/// What is done with the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Atom,
    Meter,
}

/// A state access.
#[derive(Clone, Debug)]
pub struct State {
    kind: Kind,
    when: u8,
    source: u8,
    index_mask: usize,
    base: usize,
    relation: u8,
    /// `taken` by the conditions, as of `when`; none: by the comparison.
    condition: Option<u8>,
    o: Operand,
    t: Operand,
    f: Operand,
    t_old: bool,
    t_negate: bool,
    f_old: bool,
    f_negate: bool,
    old_to: Option<u8>,
    new_to: Option<u8>,
    per_packet: bool,
    shift: u32,
}

/// What a packet brings to an access.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// The stage's conditions.
    pub conditions: u8,
    /// Ticks when it entered the pipeline.
    pub queueing: u64,
    /// Its bytes.
    pub length: u16,
}

/// Old and new word, or a meter's colour, with the containers that they go to.
pub type Shown = [Option<(u8, u32)>; 2];

impl State {
    /// From its part of an action row; no access for kinds that are not there. `use_slot` sees every operand.
    pub fn compile(part: &StatePart, pick1: u8, pick2: u8, use_slot: &mut impl FnMut(u8)) -> Option<Self> {
        let kind = match StateKind::from_code(part.kind) {
            Some(StateKind::Access) => Kind::Atom,
            Some(StateKind::Meter) => Kind::Meter,
            Some(StateKind::None) | None => return None,
        };
        let mut operand = |source: u8, immediate: u32| {
            let slot = match (kind, StateOperand::from_code(source)) {
                (Kind::Meter, _) | (_, Some(StateOperand::Immediate)) => {
                    return Operand { slot: ZERO, immediate: immediate.into() };
                }
                (_, Some(StateOperand::X)) => X,
                (_, Some(StateOperand::DataB)) => DB + 2,
                (_, Some(StateOperand::P1) | None) => pick1,
            };
            use_slot(slot);
            Operand::of(slot)
        };
        let (o, t, f) = (
            operand(part.o_source, part.o_immediate),
            operand(part.t_source, part.t_immediate),
            operand(part.f_source, part.f_immediate),
        );
        let source = match IndexSource::from_code(part.source) {
            Some(IndexSource::Zero) => ZERO,
            Some(IndexSource::P2) => pick2,
            Some(IndexSource::DataA) => DA,
            Some(IndexSource::X) | None => X,
        };
        use_slot(source);
        let to = |to: u8| (to & 8 != 0).then_some(8 + to % 8);
        Some(Self {
            kind,
            when: when(part.when),
            source,
            index_mask: part.index_mask.into(),
            base: part.base.into(),
            relation: part.relation,
            condition: (part.condition != Taken::Old.code()).then(|| when(part.condition)),
            o,
            t,
            f,
            t_old: part.t_old,
            t_negate: part.t_negate,
            f_old: part.f_old,
            f_negate: part.f_negate,
            old_to: to(part.old_to),
            new_to: to(part.new_to),
            per_packet: part.per_packet,
            shift: part.shift.into(),
        })
    }

    /// Index of the word among the module's, if there is an access at all.
    #[inline]
    pub fn index(&self, frame: &Frame, conditions: u8) -> Option<usize> {
        let index = (frame.get(self.source) as usize & self.index_mask) + self.base;
        (self.when >> conditions & 1 == 1).then_some(index)
    }

    /// Does the access.
    #[inline]
    pub fn access(&self, word: &mut u32, frame: &Frame, packet: &Packet) -> Shown {
        let old = *word;
        let new = match self.kind {
            Kind::Atom => {
                let taken = match self.condition {
                    Some(when) => when >> packet.conditions & 1 == 1,
                    None => relation(self.relation, old.into(), self.o.value(frame) & 0xffff_ffff),
                };
                let (operand, keep, negate) =
                    if taken { (&self.t, self.t_old, self.t_negate) } else { (&self.f, self.f_old, self.f_negate) };
                let (from, by) = (if keep { old } else { 0 }, operand.value(frame) as u32);
                *word = if negate { from.wrapping_sub(by) } else { from.wrapping_add(by) };
                *word
            }
            Kind::Meter => self.meter(word, packet),
        };
        [self.old_to.map(|to| (to, old)), self.new_to.map(|to| (to, new))]
    }

    /// The colour: 0 green, 1 red.
    fn meter(&self, word: &mut u32, packet: &Packet) -> u32 {
        let (limit, cost, top) = (self.o.immediate as u32, self.t.immediate as u32, self.f.immediate as u32);
        // 48 bits of stamp and 8 below them fit 64 bits.
        let now = ((packet.queueing << 16 >> 8) >> self.shift) as u32;
        let inc = if self.per_packet { cost } else { ((u64::from(packet.length) * u64::from(cost)) >> 16) as u32 };
        let ahead = match word.wrapping_sub(now) {
            ahead if ahead > top => 0,
            ahead => ahead,
        };
        if ahead > limit {
            return 1;
        }
        *word = now.wrapping_add(ahead).wrapping_add(inc);
        0
    }
}
