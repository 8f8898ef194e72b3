//! What is decided by the packet: both ways are followed, and the visit's key tells them apart.

use super::symbolic::{Event, Follower, Need, Way};
use crate::compiler::ir::{Bits, LocInfo, Op, Src, Test};

/// Comparisons that a stage has.
const MOST_COMPARISONS: u32 = 2;
/// Parts of a range that the key tells apart one by one.
const MOST_PREFIXES: u32 = 4;

impl Follower<'_> {
    /// Whether a test holds.
    pub fn decide(&mut self, test: Test) -> Way<bool> {
        if let Some((_, holds)) = self.facts.iter().find(|(known, _)| *known == test) {
            return Ok(*holds);
        }
        if let Test::Is(bits, _) = &test
            && self.facts.iter().any(|(known, holds)| *holds && matches!(known, Test::Is(other, _) if other == bits))
        {
            // It has another value.
            return Ok(false);
        }
        let asked = test.clone();
        let holds = match self.event(|_| Ok(Need::Test(asked)))? {
            Event::Yes => true,
            Event::No => false,
            other => return self.refuse(format!("a way that cannot be followed again ({other:?})")),
        };
        if matches!(test, Test::Compare { .. }) {
            self.comparisons += 1;
        }
        self.facts.push((test, holds));
        Ok(holds)
    }

    /// Values that can be looked at: those that are computed, or come from an entry, are kept first.
    pub fn shown(&mut self, mut a: Bits, mut b: Bits, whole: bool) -> Way<(Bits, Bits)> {
        let compound = |bits: &Bits| whole && bits.segs.len() > 1 && !bits.is_known();
        while a.is_made() || b.is_made() || compound(&a) || compound(&b) {
            if self.in_parser {
                return self.refuse("a parser that looks at a value which it computes");
            }
            self.pending.push((a, whole));
            self.pending.push((b, whole));
            self.cut()?;
            (a, b) = self.popped()?;
        }
        Ok((a, b))
    }

    pub fn popped(&mut self) -> Way<(Bits, Bits)> {
        match (self.pending.pop(), self.pending.pop()) {
            (Some((b, _)), Some((a, _))) => Ok((a, b)),
            _ => self.refuse("a way that cannot be followed again"),
        }
    }

    pub fn equal_bits(&mut self, a: Bits, b: Bits) -> Way<bool> {
        if a == b {
            return Ok(true);
        }
        // x + c == k: x == k - c.
        for (sum, k) in [(&a, &b), (&b, &a)] {
            if let (Some((x, c)), Some(k)) = (sum.plus(), k.known())
                && !x.is_made()
            {
                let width = x.width();
                let k = Bits::operate(Op::Sub, &Bits::constant(width, k), &Bits::constant(width, c));
                return self.equal_bits(x, k);
            }
        }
        if differ(&a, &b) {
            return Ok(false);
        }
        if let Some((is_arrival, asked)) = &mut self.copy {
            let of = |bits: &Bits| match &bits.segs[..] {
                [seg] if seg.width == 9 => match seg.src {
                    Src::Loc(loc, 0) => Some(self.locs.info(loc).clone()),
                    _ => None,
                },
                _ => None,
            };
            let both = (of(&a), of(&b));
            if matches!(
                both,
                (Some(LocInfo::CopyPort), Some(LocInfo::Port)) | (Some(LocInfo::Port), Some(LocInfo::CopyPort))
            ) {
                *asked = true;
                return Ok(*is_arrival);
            }
        }
        let (a, b) = self.shown(a, b, false)?;
        if self.in_parser {
            return self.equal_in_packet(a, b);
        }
        // What is constant on both sides is decided, what is constant on one is a key.
        let (mut keys, mut values, mut others) = (Bits::default(), Bits::default(), Vec::new());
        for (x, y) in pieces(&a, &b) {
            match (x.known(), y.known()) {
                (Some(p), Some(q)) if p == q => {}
                (Some(_), Some(_)) => return Ok(false),
                // A word is compared, and no key.
                (Some(_), None) if self.has_word(&y) => others.push((y, x)),
                (None, Some(_)) if self.has_word(&x) => others.push((x, y)),
                (Some(_), None) => (keys, values) = (keys.concat(y), values.concat(x)),
                (None, Some(_)) => (keys, values) = (keys.concat(x), values.concat(y)),
                (None, None) if x == y => {}
                (None, None) => others.push((x, y)),
            }
        }
        if keys.width() > 0 && !self.decide(Test::Is(keys, values))? {
            return Ok(false);
        }
        for (at, (a, b)) in others.iter().enumerate() {
            let (mut a, mut b) = (a.clone(), b.clone());
            if self.comparisons >= MOST_COMPARISONS {
                if at > 0 {
                    return self.refuse("a comparison of values that lie in too many pieces");
                }
                self.pending.push((a, false));
                self.pending.push((b, false));
                self.cut()?;
                (a, b) = self.popped()?;
                if others.len() > 1 {
                    return self.refuse("a comparison of values that lie in too many pieces");
                }
            }
            if !self.decide(Test::Compare { equal: true, a, b })? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a word of the hardware's is among bits, which is no part of a key; the time of arrival gets a container before it is looked at.
    pub fn has_word(&self, bits: &Bits) -> bool {
        self.is_among(bits, |info| matches!(info, LocInfo::Word(..)))
    }

    /// Whether the time of arrival is among bits.
    pub fn has_time(&self, bits: &Bits) -> bool {
        self.is_among(bits, |info| *info == LocInfo::Time)
    }

    fn is_among(&self, bits: &Bits, is: fn(&LocInfo) -> bool) -> bool {
        let mut has = false;
        bits.locs(&mut |loc| has |= is(self.locs.info(loc)));
        has
    }

    /// `a < b`, without sign.
    pub fn less(&mut self, a: Bits, b: Bits) -> Way<bool> {
        if let (Some(a), Some(b)) = (a.known(), b.known()) {
            return Ok(a < b);
        }
        if a == b || b.known() == Some(0) {
            return Ok(false);
        }
        if self.has_word(&a) || self.has_word(&b) {
            let (a, b) = if self.has_word(&a) { (a, self.kept(b, true)?) } else { (self.kept(a, true)?, b) };
            self.room_for_comparison()?;
            return self.decide(Test::Compare { equal: false, a, b });
        }
        let (a, b) = self.shown(a, b, true)?;
        let width = a.width();
        if let Some(limit) = b.known()
            && width <= 64
            && (self.in_parser || limit.count_ones() <= MOST_PREFIXES)
        {
            return self.below(&a, limit, width);
        }
        if let Some(limit) = a.known()
            && width <= 64
        {
            // k < b: not b < k + 1.
            let limit = limit + 1;
            if limit >> width != 0 {
                return Ok(false);
            }
            if self.in_parser || limit.count_ones() <= MOST_PREFIXES {
                return Ok(!self.below(&b, limit, width)?);
            }
        }
        if self.in_parser {
            return self.refuse("a parser that compares two parts of the packet");
        }
        if width > 48 {
            return self.refuse("a comparison of more than 48 bits");
        }
        let (mut a, mut b) = (a, b);
        if self.comparisons >= MOST_COMPARISONS {
            self.pending.push((a, true));
            self.pending.push((b, true));
            self.cut()?;
            (a, b) = self.popped()?;
        }
        self.decide(Test::Compare { equal: false, a, b })
    }

    /// Whether a value is below a constant: prefix by prefix.
    fn below(&mut self, a: &Bits, limit: u128, width: u32) -> Way<bool> {
        let mut prefix = 0u128;
        for bit in (0..width).rev() {
            if (limit >> bit) & 1 == 1 {
                let high = a.slice(bit, width - bit);
                if self.equal_bits(high, Bits::constant(width - bit, prefix >> bit))? {
                    return Ok(true);
                }
                prefix |= 1 << bit;
            }
        }
        Ok(false)
    }

    /// In the parser the packet's bytes tell ways apart.
    fn equal_in_packet(&mut self, a: Bits, b: Bits) -> Way<bool> {
        let mut wanted = Vec::new();
        for (x, y) in pieces(&a, &b) {
            let (bits, value) = match (x.known(), y.known()) {
                (Some(p), Some(q)) if p == q => continue,
                (Some(_), Some(_)) => return Ok(false),
                (Some(_), None) => (y, x),
                (None, Some(_)) => (x, y),
                (None, None) if x == y => continue,
                _ => return self.refuse("a parser that compares two parts of the packet"),
            };
            wanted.push(self.in_packet(&bits, value)?);
        }
        self.packet_has(wanted)
    }

    /// Where bits stand in the packet.
    pub fn in_packet(&mut self, bits: &Bits, value: Bits) -> Way<(u32, Bits, Bits)> {
        let [seg] = &bits.segs[..] else { return self.refuse("a parser that looks at a value of this form") };
        let Src::Loc(loc, low) = seg.src else {
            return self.refuse("a parser that looks at a value which it computes");
        };
        let first = match self.locs.info(loc) {
            LocInfo::Leaf(..) => self.taken.get(&loc).copied(),
            LocInfo::Look(at, _) | LocInfo::Element(.., at) => Some(*at),
            _ => None,
        };
        let Some(first) = first else { return self.refuse("a parser that looks at what is not in the packet") };
        let at = first + self.locs.width(loc) - low - seg.width;
        Ok((at, Bits::ones(seg.width), value))
    }

    pub fn packet_has(&mut self, wanted: Vec<(u32, Bits, Bits)>) -> Way<bool> {
        if wanted.is_empty() {
            return Ok(true);
        }
        // A key that stands twice in a selection is not two values at once.
        let mut bits = std::collections::BTreeMap::new();
        if wanted.iter().any(|(at, _, v)| *bits.entry((*at, v.width())).or_insert(v.known()) != v.known()) {
            return Ok(false);
        }
        // What was asked before is answered as it was.
        if self.not_given.contains(&wanted) {
            return Ok(false);
        }
        let asked = wanted.clone();
        match self.event(|_| Ok(Need::Packet(asked)))? {
            Event::Yes => {
                super::explore::give(&mut self.given, &wanted);
                Ok(true)
            }
            Event::No => {
                self.not_given.push(wanted);
                Ok(false)
            }
            other => self.refuse(format!("a way that cannot be followed again ({other:?})")),
        }
    }

    /// Has a visit that can compare once more; nothing is held meanwhile.
    pub fn room_for_comparison(&mut self) -> Way<()> {
        if self.comparisons >= MOST_COMPARISONS { self.cut() } else { Ok(()) }
    }
}

/// Both cut where either has a joint.
pub(super) fn pieces(a: &Bits, b: &Bits) -> Vec<(Bits, Bits)> {
    let width = a.width();
    let mut cuts = vec![0, width];
    for bits in [a, b] {
        let mut top = width;
        for seg in &bits.segs {
            top -= seg.width.min(top);
            cuts.push(top);
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).rev().map(|w| (a.slice(w[0], w[1] - w[0]), b.slice(w[0], w[1] - w[0]))).collect()
}

/// Whether a constant bit of one is another one of the other.
fn differ(a: &Bits, b: &Bits) -> bool {
    if a.has_op() || b.has_op() {
        return false;
    }
    pieces(a, b).iter().any(|(x, y)| matches!((x.known(), y.known()), (Some(p), Some(q)) if p != q))
}
