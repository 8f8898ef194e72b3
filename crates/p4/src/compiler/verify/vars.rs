//! Variables by themselves, each with a place of its own: what they hold when a run begins comes from a packet, or is chosen when it is first
//! looked at, with care that tests hold as often as not.

use super::run::{Stop, Store, headers};
use super::value::{Value, of, of_bytes, put_bytes, slice};
use crate::compiler::ir::{Bits, Deparse, Loc, LocInfo, Locs, Next, Out, ParserPath, Src, Test};
use sluice_formats::random::Rng;
use sluice_rmt::phv::Word;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Bytes of a packet that is made while it is looked at.
const BYTES: usize = 192;

/// What variables hold when a run begins: the same for several runs.
#[derive(Clone)]
pub(crate) struct Source<'g> {
    pub rng: Rng,
    locs: &'g Locs,
    pub packet: Vec<u8>,
    /// Bits of the packet that somebody looked at.
    seen: Vec<bool>,
    /// Where variables stand in it.
    taken: &'g BTreeMap<Loc, u32>,
    pub others: BTreeMap<Loc, Value>,
    /// Whether only that can be looked at which a packet has when it leaves the parser.
    only_packet: bool,
    /// Whether nothing is chosen.
    is_whole: bool,
    /// Of each end the outgoing bits at which fields begin that go out from where it says that they stand, wherever the packet's own way has
    /// them: an end may be another way's.
    pub stay: HashMap<Deparse, BTreeSet<u32>>,
}

impl<'g> Source<'g> {
    /// A packet, with what the hardware says of it.
    pub fn of(packet: &[u8], locs: &'g Locs, taken: &'g BTreeMap<Loc, u32>, others: BTreeMap<Loc, Value>) -> Self {
        let seen = vec![true; 8 * packet.len()];
        let (rng, packet) = (Rng::new(0), packet.to_vec());
        Source { rng, locs, packet, seen, taken, others, only_packet: true, is_whole: true, stay: HashMap::new() }
    }

    /// A packet that is made while it is looked at.
    pub fn random(mut rng: Rng, locs: &'g Locs, path: &'g ParserPath, only_packet: bool) -> Self {
        let mut packet = rng.bytes(BYTES);
        let mut seen = vec![false; 8 * BYTES];
        // What its way is known by is so.
        for (byte, (mask, value)) in &path.has {
            let at = *byte as usize;
            packet[at] = packet[at] & !mask | value;
            (0..8).filter(|bit| mask >> (7 - bit) & 1 == 1).for_each(|bit| seen[8 * at + bit] = true);
        }
        Source {
            rng,
            locs,
            packet,
            seen,
            taken: &path.taken,
            others: ways(locs, path),
            only_packet,
            is_whole: false,
            stay: HashMap::new(),
        }
    }

    /// What a variable holds.
    pub fn get(&mut self, loc: Loc) -> Result<Value, Stop> {
        let width = self.locs.width(loc);
        if let Some(first) = self.taken.get(&loc) {
            let seen = self.seen.iter_mut().skip(*first as usize).take(width as usize);
            seen.for_each(|seen| *seen = true);
            return Ok(of_bytes(&self.packet, *first, width));
        }
        if let Some(value) = self.others.get(&loc) {
            return Ok(value.clone());
        }
        if self.only_packet && !self.is_told(loc) {
            return Err(Stop::Wrong(format!("it reads {:?}, which nobody has written", self.locs.info(loc))));
        }
        if self.is_whole {
            return Err(Stop::Unknown);
        }
        let value = any(&mut self.rng, width);
        self.others.insert(loc, value.clone());
        Ok(value)
    }

    /// Whether it is neither the packet's nor the program's.
    fn is_told(&self, loc: Loc) -> bool {
        match self.locs.info(loc) {
            LocInfo::Leaf(..) | LocInfo::Look(..) | LocInfo::Element(..) | LocInfo::Temp(..) | LocInfo::Way(_) => false,
            LocInfo::Port | LocInfo::Length | LocInfo::Time | LocInfo::Word(..) => true,
            LocInfo::Opaque(_) | LocInfo::CopyPort | LocInfo::Bad => true,
        }
    }

    /// Has bits of a variable be these, if nobody has looked at them yet.
    fn define(&mut self, loc: Loc, low: u32, value: &[bool]) {
        let width = self.locs.width(loc);
        match self.taken.get(&loc) {
            Some(first) => {
                let begin = (first + width - low) as usize - value.len();
                let Some(seen) = self.seen.get(begin..begin + value.len()) else { return };
                if seen.iter().all(|seen| !seen) {
                    put_bytes(&mut self.packet, begin as u32, value);
                }
            }
            None if !self.others.contains_key(&loc) && (!self.only_packet || self.is_told(loc)) => {
                let mut whole = any(&mut self.rng, width);
                whole.iter_mut().skip(low as usize).zip(value).for_each(|(bit, wanted)| *bit = *wanted);
                self.others.insert(loc, whole);
            }
            None => {}
        }
    }
}

/// Any value; small ones, too.
pub(crate) fn any(rng: &mut Rng, width: u32) -> Value {
    let few = if rng.chance(1, 4) { width.min(4) } else { width };
    (0..width).map(|at| at < few && rng.chance(1, 2)).collect()
}

/// What is needed from a point on.
pub(crate) type Needed<'n> = dyn Fn(&Next) -> BTreeSet<Loc> + 'n;

/// Variables on a run.
pub(crate) struct Vars<'s, 'g> {
    pub source: &'s mut Source<'g>,
    pub written: HashMap<Loc, Value>,
    /// What must not be looked at any more.
    pub dead: BTreeSet<Loc>,
    /// What is still needed from a point on, if that is to be seen.
    pub needed: Option<&'s Needed<'s>>,
}

impl<'s, 'g> Vars<'s, 'g> {
    pub fn new(source: &'s mut Source<'g>) -> Self {
        Vars { source, written: HashMap::new(), dead: BTreeSet::new(), needed: None }
    }
}

impl Store for Vars<'_, '_> {
    fn get(&mut self, loc: Loc) -> Result<Value, Stop> {
        if self.dead.contains(&loc) {
            return Err(Stop::Wrong(format!(
                "{:?} is read where it is said to be needed no more",
                self.source.locs.info(loc)
            )));
        }
        match self.written.get(&loc) {
            Some(value) => Ok(value.clone()),
            None => self.source.get(loc),
        }
    }

    fn put(&mut self, all: Vec<(Loc, Value)>) {
        for (loc, value) in all {
            self.dead.remove(&loc);
            self.written.insert(loc, value);
        }
    }

    fn leads(&mut self, next: &Next) -> Result<(), Stop> {
        if let Some(needed) = self.needed {
            let needed = needed(next);
            self.dead = (0..self.source.locs.all.len() as u32).map(Loc).filter(|loc| !needed.contains(loc)).collect();
        }
        Ok(())
    }

    fn prefer(&mut self, test: &Test) {
        let free = |this: &Self, bits: &Bits| -> Vec<(Loc, u32, u32, u32)> {
            let mut top = bits.width();
            let mut all = Vec::new();
            for seg in &bits.segs {
                top -= seg.width;
                if let Src::Loc(loc, low) = seg.src
                    && !this.written.contains_key(&loc)
                {
                    all.push((loc, low, seg.width, top));
                }
            }
            all
        };
        if self.source.is_whole || !self.source.rng.chance(1, 2) {
            return;
        }
        let (bits, other, equal) = match test {
            Test::Is(bits, value) => (bits, value, true),
            Test::Compare { equal, a, b } if !free(self, a).is_empty() => (a, b, *equal),
            Test::Compare { equal, a, b } => (b, a, *equal),
        };
        let Some(number) = self.known(other) else { return };
        let mut number = number;
        if !equal {
            // Near to where a comparison changes.
            let step: u128 = self.source.rng.below(3).into();
            let moved = super::value::number(&number).wrapping_add(step).wrapping_sub(1);
            number = of(number.len() as u32, moved);
        }
        for (loc, low, width, top) in free(self, bits) {
            self.source.define(loc, low, &slice(&number, top, width));
        }
    }
}

impl Vars<'_, '_> {
    /// A field that goes out: what was written or taken, or else the packet's own bits.
    fn out(&mut self, out: &Out, stays: bool) -> Result<Value, Stop> {
        let is_taken = self.source.taken.contains_key(&out.loc) && !stays;
        let is_there = self.written.contains_key(&out.loc) || is_taken;
        match (out.from, is_there) {
            (Some(from), false) => Ok(of_bytes(&self.source.packet, from, out.width)),
            _ => self.get(out.loc),
        }
    }

    /// The whole packet that leaves.
    pub fn packet(&mut self, deparse: &Deparse) -> Result<Vec<u8>, Stop> {
        // From now on it is no other packet.
        self.source.seen.fill(true);
        let stay = self.source.stay.get(deparse).cloned().unwrap_or_default();
        let mut bytes = headers(deparse, &mut |out, bit| self.out(out, stay.contains(&bit)))?;
        bytes.extend(self.source.packet.get(deparse.parsed as usize..).unwrap_or_default());
        Ok(bytes)
    }

    /// The value of bits that are constants and variables.
    fn known(&mut self, bits: &Bits) -> Option<Value> {
        let mut all = Value::new();
        for seg in bits.segs.iter().rev() {
            all.extend(match seg.src {
                Src::Const(number) => of(seg.width, u128::from(number)),
                Src::Loc(loc, low) => slice(&self.get(loc).ok()?, low, seg.width),
                _ => return None,
            });
        }
        Some(all)
    }
}

/// Whether packets of this length with these bytes take a way.
pub(crate) fn takes(path: &ParserPath, packet: &[u8]) -> bool {
    let has = |(byte, (mask, value)): (&u32, &(u8, u8))| {
        (packet.get(*byte as usize).copied().unwrap_or(0) ^ value) & mask == 0
    };
    packet.len() >= path.least as usize && path.bytes.iter().all(has)
}

/// What a way leaves beside the number of its visit.
fn ways(locs: &Locs, path: &ParserPath) -> BTreeMap<Loc, Value> {
    path.ways.iter().map(|(loc, way)| (*loc, of(locs.width(*loc), u128::from(*way)))).collect()
}

/// What the hardware says of a packet, and what its way leaves.
pub(crate) fn hardware(locs: &Locs, path: &ParserPath, packet: &[u8], port: u16, time: u128) -> BTreeMap<Loc, Value> {
    let mut all = ways(locs, path);
    let wrong = path.verify.is_some_and(|(start, words)| {
        // A sum over everything is zero, but for its complement.
        super::value::internet(packet, (start, words, u32::MAX - 1)) != 0
    });
    for (info, value) in [
        (LocInfo::Port, u128::from(port)),
        (LocInfo::Length, packet.len() as u128),
        (LocInfo::Bad, u128::from(wrong)),
        (LocInfo::Time, time),
        (LocInfo::Word(Word::QueueDepth, 0), 0),
        (LocInfo::Word(Word::LinkUse, 0), 0),
    ] {
        if let Some(loc) = locs.find(&info) {
            all.insert(loc, of(locs.width(loc), value));
        }
    }
    all
}
