//! What a visit does, as an action: one ALU a container, operands from what the containers of a size share.
//!
//! Before: a leaf, and where variables lie. After: an action and the places of an entry's data, or what has to wait. It keeps: all is read as it was
//! before, nothing else is written. Verifier: `back/verify/action.rs`.

use super::cells::{Place, cell_of};
use super::{NOWHERE, ends_at, phv_allocation::Homes, phv_allocation::Piece, too_much};
use crate::compiler::ir::{Array, Bits, Deparse, End, HASH, Leaf, Loc, Next, Op, Operation, Seg, Src};
use crate::compiler::middle::Refusal;
use crate::front::source::Span;
use sluice_object::rmt::logical::LogicalMove;
use sluice_rmt::action::{A, Action, Alu, B, Cross, Op as AluOp, When, WordOp, WordSource};
use sluice_rmt::phv::{Class, Container, DESTINATION_BITS, DISCARD, EGRESS_PORT, EXCEPT_INGRESS, Word};
use sluice_rmt::target::DATA;
use std::collections::BTreeMap;

/// Whether a word gets the destinations of a session, which stands for them.
pub(super) fn is_clone(op: &WordOp) -> bool {
    op.word == Word::Egress as u8 && op.mask == DESTINATION_BITS
}

/// Bits of an entry's data that go to one container.
#[derive(Clone, Debug, PartialEq)]
struct Image {
    /// First byte of the data, and bytes.
    at: usize,
    bytes: usize,
    /// Lowest bit of each piece, and what it is.
    pieces: Vec<(u32, Bits)>,
}

/// An action, and how its data are made.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub action: Action,
    images: Vec<Image>,
}

pub(super) struct Maker<'a> {
    pub(super) homes: &'a Homes,
    /// The visit.
    node: usize,
    span: Span,
    pub(super) action: Action,
    images: Vec<Image>,
    data: usize,
    /// Which operands of each size are taken: P0, P1, P2, DA, DB.
    pub(super) taken: [[bool; 5]; 3],
    pub(super) crossed: bool,
    /// What would help an operand that is not to be had: the value, and bits of a container's size with it at its place.
    pub(super) bridge: Vec<(Bits, Bits)>,
}

/// The operand that a value is for the ALU of a container.
enum Operand {
    A(A),
    B(B),
}

fn ones(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// What a leaf's action cannot do at once.
#[derive(Debug)]
pub(crate) struct Unmade {
    /// Why, if nothing can be done about it.
    pub why: Refusal,
    pub waits: Waits,
}

/// What waits for the next visit.
#[derive(Debug)]
pub(crate) struct Waits {
    /// Parts of variables.
    pub later: Vec<Part>,
    /// The port waits, too.
    pub port: bool,
    /// The look at a cell waits, with its values brought to other places first.
    pub access: Option<Vec<(Bits, Bits)>>,
}

/// Bits that go to a variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub loc: Loc,
    pub low: u32,
    pub bits: Bits,
    /// Values that have to be brought to another place first: bits of a container's size, with the value at its place.
    pub bridge: Vec<(Bits, Bits)>,
}

pub(crate) fn make(
    leaf: &Leaf,
    homes: &Homes,
    ends: &[Deparse],
    cells: &BTreeMap<Array, Place>,
    (node, span): (usize, Span),
) -> Result<Made, Unmade> {
    let mut maker = Maker {
        homes,
        node,
        span,
        action: Action::default(),
        images: Vec::new(),
        data: 0,
        taken: Default::default(),
        crossed: false,
        bridge: Vec::new(),
    };
    let mut why = None;
    let mut port = false;
    let mut waits = None;
    if let Some(access) = &leaf.access {
        let base = cells.get(&access.array).map_or(0, |place| place.base);
        if let Err(refusal) = maker.tried(|maker| maker.access(access, leaf, base)) {
            why = Some(refusal);
            waits = Some(std::mem::take(&mut maker.bridge));
        }
    }
    let headers = match &leaf.next {
        Next::Node(at) => {
            let own = Container(homes.node);
            let (mut value, mut mask) = (*at as u64 + 1, homes.number_mask());
            for (loc, bits) in &leaf.assigns {
                for piece in homes.of(*loc, 0, bits.width()).iter().filter(|piece| piece.container == own) {
                    value |= (bits.known().unwrap_or(0) as u64) << piece.at;
                    mask |= ones(piece.width) << piece.at;
                }
            }
            maker.action.alus.push(Alu::field(own, AluOp::Move, B::Imm(value), mask));
            None
        }
        Next::Drop => {
            maker.write(Word::Egress, WordSource::Imm(DISCARD), DISCARD);
            Some(NOWHERE)
        }
        Next::End(end) => {
            if end.except_arrival {
                maker.write(Word::Egress, WordSource::Imm(EXCEPT_INGRESS), EXCEPT_INGRESS);
            }
            if let Some(session) = end.clone {
                // Destinations come with the program's entries.
                maker.write(Word::Egress, WordSource::Imm(session), DESTINATION_BITS);
            }
            if let Err(refusal) = maker.tried(|maker| maker.goal(end)) {
                why.get_or_insert(refusal);
                port = true;
            }
            Some(ends_at(ends, &end.deparse) as u16 + 1)
        }
        Next::Onward => None,
    };
    if let Err(refusal) = maker.words(leaf) {
        why.get_or_insert(refusal);
    }
    if let Some(headers) = headers {
        maker.write(Word::Headers, WordSource::Imm(headers), 0xffff);
    }
    let mut containers: BTreeMap<Container, Vec<(u32, Part)>> = BTreeMap::new();
    for (loc, bits) in leaf.assigns.iter().filter(|(_, bits)| cell_of(bits).is_none()) {
        let parts = maker.parts(*loc, bits).into_iter();
        // Beside the visit's number they are written with it.
        for (container, at, part) in parts.filter(|(container, ..)| homes.number == 0 || container.0 != homes.node) {
            containers.entry(container).or_default().push((at, part));
        }
    }
    let mut later = Vec::new();
    for (container, parts) in containers {
        for (at, group) in groups(parts).into_iter().enumerate() {
            maker.bridge.clear();
            let pieces = group.iter().map(|(at, part)| (*at, part.bits.clone())).collect();
            // One ALU a container: what is left of its pieces waits.
            let tried = match at {
                0 => maker.tried(|maker| maker.alu(container, pieces)),
                _ => maker.refuse("a container that gets bits of several values at a time"),
            };
            if let Err(refusal) = tried {
                why.get_or_insert(refusal);
                let bridge = std::mem::take(&mut maker.bridge);
                later.extend(group.into_iter().map(|(_, part)| Part { bridge: bridge.clone(), ..part }));
            }
        }
    }
    match why {
        None => Ok(Made { action: maker.action, images: maker.images }),
        Some(why) => Err(Unmade { why, waits: Waits { later, port, access: waits } }),
    }
}

/// The pieces that a container gets, in groups of what one ALU can write: an entry's data and constants first, each value by itself, zeros
/// with the first one.
fn groups(parts: Vec<(u32, Part)>) -> Vec<Vec<(u32, Part)>> {
    let has = |part: &Part, kind: fn(&Src) -> bool| part.bits.segs.iter().any(|seg| kind(&seg.src));
    let (known, values): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(_, part)| part.bits.is_known());
    let (data, mut values): (Vec<_>, Vec<_>) =
        values.into_iter().partition(|(_, part)| has(part, |src| matches!(src, Src::Param(..))));
    // Values of operations are written by themselves.
    let zeros = known.iter().all(|(_, part)| part.bits.known() == Some(0));
    let mut all = Vec::new();
    let mut first: Vec<(u32, Part)> = known.into_iter().chain(data).collect();
    if zeros
        && !first.iter().any(|(_, part)| !part.bits.is_known())
        && let Some(at) = values.iter().position(|(_, part)| !part.bits.has_op())
    {
        first.push(values.remove(at));
    }
    if !first.is_empty() {
        all.push(first);
    }
    all.extend(values.into_iter().map(|value| vec![value]));
    all
}

impl Maker<'_> {
    pub(super) fn refuse<T>(&self, what: &str) -> Result<T, Refusal> {
        too_much(self.span, what)
    }

    /// Writes bits of a word.
    fn write(&mut self, word: Word, source: WordSource, mask: u16) {
        self.action.words.push(WordOp { word: word as u8, source, mask, when: When::Always });
    }

    /// Does all of something or nothing of it.
    fn tried(&mut self, run: impl FnOnce(&mut Self) -> Result<(), Refusal>) -> Result<(), Refusal> {
        let before = (self.action.clone(), self.images.clone(), self.data, self.taken, self.crossed);
        let result = run(self);
        if result.is_err() {
            (self.action, self.images, self.data, self.taken, self.crossed) = before;
        }
        result
    }

    /// What a variable gets, piece by piece as its containers hold it and as the values lie in theirs; not what stays as it is.
    fn parts(&self, loc: Loc, bits: &Bits) -> Vec<(Container, u32, Part)> {
        let mut out = Vec::new();
        for Piece { low, width, container, at } in self.homes.of(loc, 0, bits.width()) {
            let mut top = width;
            for seg in bits.slice(low, width).segs {
                top -= seg.width;
                let mut put = |from: u32, seg: Seg| {
                    let bits = Bits::one(seg);
                    let part = Part { loc, low: low + top + from, bits, bridge: Vec::new() };
                    out.push((container, at + top + from, part));
                };
                match seg.src {
                    Src::Loc(other, from) if other == loc && from == low + top => {}
                    Src::Loc(other, _) if self.homes.hardware.contains_key(&other) => put(0, seg),
                    // A value that lies in several containers comes from each of them.
                    Src::Loc(other, from) => {
                        for piece in self.homes.of(other, from, seg.width) {
                            put(piece.low - from, Seg { width: piece.width, src: Src::Loc(other, piece.low) });
                        }
                    }
                    _ => put(0, seg),
                }
            }
        }
        out
    }

    /// Some bytes of the entry's data.
    pub(super) fn place(&mut self, bytes: usize, pieces: Vec<(u32, Bits)>) -> Result<usize, Refusal> {
        if let Some(image) = self.images.iter().find(|image| image.bytes == bytes && image.pieces == pieces) {
            return Ok(image.at);
        }
        let at = self.data;
        if at + bytes > DATA {
            return self.refuse("an action whose entries need more than 16 bytes of data");
        }
        self.data += bytes;
        self.images.push(Image { at, bytes, pieces });
        Ok(at)
    }

    /// Some bytes of the entry's data, as an operand of a size.
    pub(super) fn image(&mut self, class: Class, pieces: Vec<(u32, Bits)>) -> Result<B, Refusal> {
        let at = self.place(class.bytes(), pieces)?;
        let picks = &mut self.action.picks[class as usize];
        let taken = &mut self.taken[class as usize];
        for i in 0..2 {
            if taken[3 + i] && usize::from(picks.data[i]) == at / 2 {
                return Ok([B::DataA, B::DataB][i]);
            }
        }
        for i in 0..2 {
            if !taken[3 + i] {
                taken[3 + i] = true;
                picks.data[i] = (at / 2) as u8;
                return Ok([B::DataA, B::DataB][i]);
            }
        }
        self.refuse("an action that writes entries' data to more than two containers of a size")
    }

    /// Has a value as the cross value, unless that is another one.
    pub(super) fn cross(&mut self, cross: Cross, shift: u8) -> bool {
        self.cross_cut(cross, shift, 0)
    }

    /// The same, with so many words cut off at its top: there are zeros.
    pub(super) fn cross_cut(&mut self, cross: Cross, shift: u8, cut: u8) -> bool {
        let action = &mut self.action;
        if self.crossed && (action.cross, action.cross_shift, action.cross_cut) != (cross, shift, cut) {
            return false;
        }
        self.crossed = true;
        (action.cross, action.cross_shift, action.cross_cut) = (cross, shift, cut);
        true
    }

    /// Has bits of words as the cross value.
    pub(super) fn cross_word(&mut self, loc: Loc, low: u32) -> bool {
        self.cross_word_cut(loc, low, 0)
    }

    /// The same, with words cut off.
    pub(super) fn cross_word_cut(&mut self, loc: Loc, low: u32, cut: u8) -> bool {
        let Some(of) = self.homes.hardware.get(&loc).copied() else { return false };
        let low = of.low + low;
        low.is_multiple_of(16) && self.cross_cut(Cross::Words(of.word as u8), (low / 16) as u8, cut)
    }

    /// One of the two containers of a size that are read as they are.
    fn pick(&mut self, container: Container) -> Option<usize> {
        let class = container.class();
        let place = container.0 % 8;
        let (picks, taken) = (&mut self.action.picks[class as usize], &mut self.taken[class as usize]);
        if let Some(i) = (0..2).find(|i| taken[*i] && picks.container[*i] == place) {
            return Some(i);
        }
        let i = (0..2).find(|i| !taken[*i])?;
        taken[i] = true;
        picks.container[i] = place;
        Some(i)
    }

    /// Says that a value would be to be had from a container of a size with its lowest bit there.
    pub(super) fn bring(&mut self, class: Class, at: u32, bits: &Bits) {
        let above = class.bits().saturating_sub(at + bits.width());
        let wide = Bits::constant(above, 0).concat(bits.clone()).concat(Bits::constant(at, 0));
        self.bridge.push((bits.clone(), wide));
    }

    /// The port, bits 8:0 of a word, or the group.
    fn goal(&mut self, end: &End) -> Result<(), Refusal> {
        let is_group = end.group.known() != Some(0);
        let port = if is_group { &end.group } else { &end.port };
        let width = port.width();
        let source = match port.known() {
            Some(value) => WordSource::Imm(value as u16),
            None if !port.has_op() && port.segs.iter().all(|seg| !matches!(seg.src, Src::Loc(..))) => {
                match self.image(Class::C2, vec![(0, port.clone())])? {
                    B::DataA => WordSource::Data,
                    _ => return self.refuse("a port among other data"),
                }
            }
            None => {
                let [seg] = &port.segs[..] else { return self.refuse("a port that is put together out of pieces") };
                let Src::Loc(loc, low) = seg.src else { return self.refuse("a port that is computed at the end") };
                match &self.homes.of(loc, low, width)[..] {
                    [piece] if piece.at == 0 && piece.container.class() == Class::C2 => {
                        match self.pick(piece.container) {
                            Some(0) => WordSource::P0,
                            _ => return self.refuse("a port among other values"),
                        }
                    }
                    [piece]
                        if piece.at.is_multiple_of(16)
                            && self.cross(Cross::Container(piece.container), (piece.at / 16) as u8) =>
                    {
                        WordSource::X
                    }
                    _ => return self.refuse("a port that lies at no place from which it can be taken"),
                }
            }
        };
        let (word, mask) = if is_group { (Word::Group, 0xffff) } else { (Word::Scratch1, EGRESS_PORT) };
        self.write(word, source, mask);
        Ok(())
    }

    /// What words get that a system program writes, one operation a word.
    fn words(&mut self, leaf: &Leaf) -> Result<(), Refusal> {
        let mut words: BTreeMap<u8, (Word, Vec<(u32, Bits)>)> = BTreeMap::new();
        for (loc, bits) in &leaf.assigns {
            if let Some(of) = self.homes.hardware.get(loc) {
                let (_, pieces) = words.entry(of.word as u8).or_insert((of.word, Vec::new()));
                pieces.push((of.low, bits.clone()));
            }
        }
        for (word, pieces) in words.into_values() {
            let mask = pieces.iter().fold(0, |all, (at, bits)| all | ones(bits.width()) << at) as u16;
            let is_given = |bits: &Bits| bits.segs.iter().all(|seg| matches!(seg.src, Src::Const(_) | Src::Param(..)));
            let source = if pieces.iter().all(|(_, bits)| bits.is_known()) {
                let value = |(at, bits): &(u32, Bits)| (bits.known().unwrap_or(0) as u16) << at;
                WordSource::Imm(pieces.iter().fold(0, |all, piece| all | value(piece)))
            } else if pieces.iter().all(|(_, bits)| is_given(bits)) {
                match self.image(Class::C2, pieces)? {
                    B::DataA => WordSource::Data,
                    _ => return self.refuse("a word among other data of an entry"),
                }
            } else {
                return self.refuse("a word that gets something else than constants and data of an entry");
            };
            self.write(word, source, mask);
        }
        Ok(())
    }

    /// Pieces, each from one source, by the lowest bit that each goes to.
    fn alu(&mut self, own: Container, mut pieces: Vec<(u32, Bits)>) -> Result<(), Refusal> {
        pieces.sort_by_key(|(at, _)| *at);
        let mask = pieces.iter().fold(0, |all, (at, bits)| all | ones(bits.width()) << at);
        let is = |kind: fn(&Src) -> bool| pieces.iter().all(|(_, bits)| bits.segs.iter().all(|seg| kind(&seg.src)));
        if is(|src| matches!(src, Src::Const(_))) {
            let value = pieces.iter().fold(0, |all, (at, bits)| all | (bits.known().unwrap_or(0) as u64) << at);
            self.action.alus.push(Alu::field(own, AluOp::Move, B::Imm(value), mask));
            return Ok(());
        }
        if is(|src| matches!(src, Src::Const(_) | Src::Param(..))) {
            let b = self.image(own.class(), pieces)?;
            self.action.alus.push(Alu::field(own, AluOp::Move, b, mask));
            return Ok(());
        }
        let mut made = pieces.iter().filter(|(_, bits)| !bits.is_known());
        let zeros = pieces.iter().all(|(_, bits)| !bits.is_known() || bits.known() == Some(0));
        let (Some((at, bits)), None, true) = (made.next(), made.next(), zeros) else {
            return self.refuse("a container that gets bits of several values at a time");
        };
        let (at, bits) = (*at, bits.clone());
        let Some(seg) = bits.segs.first() else { return Ok(()) };
        match &seg.src {
            Src::Op(operation) => {
                if operation.a.width() != seg.width {
                    // Upper bits of a sum come out of the whole sum, which needs a place first.
                    self.bridge.push((bits.clone(), operation.a.clone()));
                    return self.refuse("upper bits of a sum");
                }
                if pieces.len() > 1 {
                    return self.refuse("a computed value beside others in one container");
                }
                self.operation(own, at, mask, &operation.clone()).inspect_err(|_| {
                    // It may be to be had in a smaller container, or at another place.
                    let smallest = seg.width.div_ceil(16) as usize * 2;
                    if self.bridge.is_empty() && (smallest < own.bytes() || at > 0) {
                        self.bridge.push((bits.clone(), bits.clone()));
                    }
                })
            }
            Src::Hash(..) => {
                let whole = at == 0 && mask == ones(HASH) && own.class() != Class::C2;
                if !whole || !self.cross(Cross::Hash, 0) {
                    return self.refuse("a hash beside other values");
                }
                let node = B::Imm(super::hash::of_node(self.node).into());
                self.action.alus.push(Alu { a: A::X, ..Alu::field(own, AluOp::Xor, node, mask) });
                Ok(())
            }
            _ => self.moved(own, at, mask, &bits),
        }
    }

    /// Bits of a container, and zeros around them.
    fn moved(&mut self, own: Container, at: u32, mask: u64, bits: &Bits) -> Result<(), Refusal> {
        let bare = ones(bits.width()) << at == mask;
        match self.operand(own, at, bits, mask)? {
            // Rotated bits are masked, so that there are zeros around them.
            Operand::B(b @ B::R) => self.action.alus.push(Alu::field(own, AluOp::Move, b, mask)),
            Operand::B(b) if bare => self.action.alus.push(Alu::field(own, AluOp::Move, b, mask)),
            Operand::A(a) => {
                let keep = ones(bits.width()) << at;
                let alu = Alu { a, ..Alu::field(own, AluOp::And, B::Imm(keep), mask) };
                self.action.alus.push(alu);
            }
            Operand::B(b) => {
                let a = match b {
                    B::P0 => A::P0,
                    B::P1 => A::P1,
                    B::X => A::X,
                    _ => return self.refuse("a value with zeros around it"),
                };
                let keep = ones(bits.width()) << at;
                self.action.alus.push(Alu { a, ..Alu::field(own, AluOp::And, B::Imm(keep), mask) });
            }
        }
        Ok(())
    }

    /// An operand whose lowest bit is to be at that bit of the container.
    fn operand(&mut self, own: Container, at: u32, bits: &Bits, mask: u64) -> Result<Operand, Refusal> {
        if let Some(value) = bits.known() {
            return Ok(Operand::B(B::Imm((value as u64) << at)));
        }
        let class = own.class();
        let [seg] = &bits.segs[..] else {
            self.bring(class, at, bits);
            return self.refuse("a value that lies in several pieces");
        };
        match seg.src {
            Src::Param(..) => Ok(Operand::B(self.image(class, vec![(at, bits.clone())])?)),
            Src::Loc(loc, low) if self.homes.hardware.contains_key(&loc) => {
                match at == 0 && self.cross_word(loc, low) {
                    true => Ok(Operand::B(B::X)),
                    // Another value is the cross value of this visit.
                    false if at == 0 && low.is_multiple_of(16) => self.refuse("a word beside another cross value"),
                    false => {
                        self.bring(class, 0, bits);
                        self.refuse("a word that moves by some bits")
                    }
                }
            }
            Src::Loc(loc, low) => {
                let [piece] = self.homes.of(loc, low, seg.width)[..] else {
                    self.bring(class, at, bits);
                    return self.refuse("a value that lies in several containers");
                };
                if piece.container.class() == class {
                    if piece.at == at {
                        if piece.container == own {
                            return Ok(Operand::A(A::Own));
                        }
                        if let Some(i) = self.pick(piece.container) {
                            return Ok(Operand::B([B::P0, B::P1][i]));
                        }
                    }
                    let picks = &mut self.action.picks[class as usize];
                    let taken = &mut self.taken[class as usize];
                    let amount = ((at + class.bits() - piece.at) % class.bits()) as u8;
                    let keep = (ones(seg.width) << at) & mask;
                    let same = picks.container[2] == piece.container.0 % 8 && picks.amount == amount;
                    if !taken[2] || same && picks.rotate_mask == keep {
                        taken[2] = true;
                        picks.container[2] = piece.container.0 % 8;
                        (picks.amount, picks.rotate_mask) = (amount, keep);
                        return Ok(Operand::B(B::R));
                    }
                    return self.refuse("an action that reads more than three containers of a size");
                }
                let shift = piece.at.checked_sub(at).filter(|shift| shift % 16 == 0 && *shift <= 32);
                let Some(shift) = shift else {
                    // Bits move within a size, and sizes change without.
                    let from = piece.container.class();
                    match from.bytes() > class.bytes() {
                        true => self.bring(from, at, bits),
                        false => self.bring(class, piece.at, bits),
                    }
                    return self.refuse("a value that moves between containers of different sizes and by some bits");
                };
                if !self.cross(Cross::Container(piece.container), (shift / 16) as u8) {
                    return self.refuse("an action that takes more than one value from a container of another size");
                }
                Ok(Operand::B(B::X))
            }
            _ => self.refuse("a value that is computed in more than one step"),
        }
    }

    fn operation(&mut self, own: Container, at: u32, mask: u64, operation: &Operation) -> Result<(), Refusal> {
        let op = match operation.op {
            Op::Add => AluOp::Add,
            Op::Sub => AluOp::Sub,
            Op::And => AluOp::And,
            Op::Or => AluOp::Or,
            Op::Xor => AluOp::Xor,
        };
        let one = self.operand(own, at, &operation.a, mask)?;
        let two = match self.operand(own, at, &operation.b, mask) {
            Ok(two) => two,
            Err(refusal) => {
                // Only one is rotated, or comes from another size; the other is brought to its place first.
                if matches!(one, Operand::B(B::R | B::X))
                    && own.bytes() == 2 * operation.a.width().div_ceil(16) as usize
                    && self.bridge.is_empty()
                {
                    self.bring(own.class(), at, &operation.b);
                }
                return Err(refusal);
            }
        };
        let as_a = |operand: &Operand| match operand {
            Operand::A(a) => Some(*a),
            Operand::B(B::P0) => Some(A::P0),
            Operand::B(B::P1) => Some(A::P1),
            Operand::B(B::X) => Some(A::X),
            Operand::B(_) => None,
        };
        let as_b = |maker: &mut Self, operand: &Operand| match operand {
            Operand::B(b) => Some(*b),
            Operand::A(A::Own) => maker.pick(own).map(|i| [B::P0, B::P1][i]),
            Operand::A(_) => None,
        };
        let mut found = None;
        if let Some(a) = as_a(&one) {
            found = as_b(self, &two).map(|b| (a, b));
        }
        if found.is_none()
            && op != AluOp::Sub
            && let Some(a) = as_a(&two)
        {
            found = as_b(self, &one).map(|b| (a, b));
        }
        let Some((a, b)) = found else {
            for (operand, bits) in [(&one, &operation.a), (&two, &operation.b)] {
                if matches!(operand, Operand::B(B::R | B::X)) {
                    self.bring(own.class(), at, bits);
                }
            }
            return self.refuse("operands that no ALU takes together");
        };
        self.action.alus.push(Alu { a, ..Alu::field(own, op, b, mask) });
        Ok(())
    }
}

impl Made {
    /// The data of an entry but for the action's parameters, and where these go.
    pub fn data(&self) -> ([u8; DATA], Vec<LogicalMove>) {
        let (mut data, mut moves) = ([0; DATA], Vec::new());
        for image in &self.images {
            let mut all = 0u64;
            for (at, bits) in &image.pieces {
                let mut top = at + bits.width();
                for seg in &bits.segs {
                    top -= seg.width;
                    match &seg.src {
                        Src::Const(value) => all |= *value << top,
                        Src::Param(number, low) => moves.push(LogicalMove {
                            parameter: *number as u16,
                            low: *low as u16,
                            bits: seg.width as u16,
                            byte: (image.at + image.bytes - 1) as u8 - (top / 8) as u8,
                            bit: (top % 8) as u8,
                        }),
                        _ => {}
                    }
                }
            }
            let bytes = all.to_be_bytes();
            data[image.at..image.at + image.bytes].copy_from_slice(&bytes[8 - image.bytes..]);
        }
        (data, moves)
    }
}
