//! What a visit does, as an action: one ALU a container, operands from what the containers of a size share.

use super::{NOWHERE, homes::Homes, homes::Piece, too_much};
use crate::ir::{Bits, Deparse, Graph, Leaf, Next, Op, Operation, Src};
use crate::middle::Refusal;
use crate::source::Span;
use sluice_rmt::action::{A, Action, Alu, B, Cross, Op as AluOp, When, WordOp, WordSource};
use sluice_rmt::phv::{Class, Container, DISCARD, EGRESS_PORT, Word};
use sluice_rmt::target::DATA;
use std::collections::BTreeMap;

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

struct Maker<'a> {
    homes: &'a Homes,
    span: Span,
    action: Action,
    images: Vec<Image>,
    data: usize,
    /// Which operands of each size are taken: P0, P1, P2, DA, DB.
    taken: [[bool; 5]; 3],
    crossed: bool,
}

/// The operand that a value is for the ALU of a container.
enum Operand {
    A(A),
    B(B),
}

fn ones(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

pub(crate) fn make(leaf: &Leaf, homes: &Homes, _graph: &Graph, ends: &[Deparse], span: Span) -> Result<Made, Refusal> {
    let mut maker = Maker {
        homes,
        span,
        action: Action::default(),
        images: Vec::new(),
        data: 0,
        taken: Default::default(),
        crossed: false,
    };
    let headers = match &leaf.next {
        Next::Node(at) => {
            let own = Container(homes.node);
            maker.action.alus.push(Alu::whole(own, AluOp::Move, B::Imm(*at as u64 + 1)));
            None
        }
        Next::Drop => {
            let source = WordSource::Imm(DISCARD);
            let word = Word::Egress as u8;
            maker.action.words.push(WordOp { word, source, mask: DISCARD, when: When::Always });
            Some(NOWHERE)
        }
        Next::End(end) => {
            maker.port(&end.port)?;
            Some(ends.iter().position(|other| *other == end.deparse).unwrap_or(0) as u16 + 1)
        }
    };
    if let Some(headers) = headers {
        let (word, source) = (Word::Headers as u8, WordSource::Imm(headers));
        maker.action.words.push(WordOp { word, source, mask: 0xffff, when: When::Always });
    }
    let mut containers: BTreeMap<Container, Vec<(u32, Bits)>> = BTreeMap::new();
    for (loc, bits) in &leaf.assigns {
        for Piece { low, width, container, at } in homes.of(*loc, 0, bits.width()) {
            let part = bits.slice(low, width);
            // Bits that stay as they are.
            let same = homes.of(*loc, low, width);
            if part == Bits::of(width, Src::Loc(*loc, low)) && same.len() == 1 {
                continue;
            }
            containers.entry(container).or_default().push((at, part));
        }
    }
    for (container, parts) in containers {
        maker.alu(container, parts)?;
    }
    Ok(Made { action: maker.action, images: maker.images })
}

impl Maker<'_> {
    fn refuse<T>(&self, what: &str) -> Result<T, Refusal> {
        too_much(self.span, what)
    }

    /// A place in the entry's data.
    fn image(&mut self, class: Class, pieces: Vec<(u32, Bits)>) -> Result<B, Refusal> {
        let bytes = class.bytes();
        let at = match self.images.iter().find(|image| image.bytes == bytes && image.pieces == pieces) {
            Some(image) => image.at,
            None => {
                let at = self.data;
                if at + bytes > DATA {
                    return self.refuse("an action whose entries need more than 16 bytes of data");
                }
                self.data += bytes;
                self.images.push(Image { at, bytes, pieces });
                at
            }
        };
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

    /// The port, bits 8:0 of a word.
    fn port(&mut self, port: &Bits) -> Result<(), Refusal> {
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
                match &self.homes.of(loc, low, 9)[..] {
                    [piece] if piece.at == 0 && piece.container.class() == Class::C2 => {
                        match self.pick(piece.container) {
                            Some(0) => WordSource::P0,
                            _ => return self.refuse("a port among other values"),
                        }
                    }
                    [piece] if piece.at.is_multiple_of(16) && !self.crossed => {
                        self.crossed = true;
                        self.action.cross = Cross::Container(piece.container);
                        self.action.cross_shift = (piece.at / 16) as u8;
                        WordSource::X
                    }
                    _ => return self.refuse("a port that lies at no place from which it can be taken"),
                }
            }
        };
        let word = Word::Scratch1 as u8;
        self.action.words.push(WordOp { word, source, mask: EGRESS_PORT, when: When::Always });
        Ok(())
    }

    fn alu(&mut self, own: Container, mut parts: Vec<(u32, Bits)>) -> Result<(), Refusal> {
        parts.sort_by_key(|(at, _)| *at);
        let mask = parts.iter().fold(0, |all, (at, bits)| all | ones(bits.width()) << at);
        // Pieces, each with its lowest bit.
        let mut pieces: Vec<(u32, Bits)> = Vec::new();
        for (at, bits) in &parts {
            let mut top = at + bits.width();
            for seg in &bits.segs {
                top -= seg.width;
                pieces.push((top, Bits { segs: vec![seg.clone()] }));
            }
        }
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
        let mut made: Vec<&(u32, Bits)> = pieces.iter().filter(|(_, bits)| !bits.is_known()).collect();
        let zeros = pieces.iter().all(|(_, bits)| !bits.is_known() || bits.known() == Some(0));
        let (Some((at, bits)), true) = (made.pop(), made.is_empty()) else {
            return self.refuse("a container that gets bits of several values at a time");
        };
        let (at, bits) = (*at, bits.clone());
        let Some(seg) = bits.segs.first() else { return Ok(()) };
        match &seg.src {
            Src::Op(operation) => {
                if pieces.len() > 1 || operation.a.width() != seg.width {
                    return self.refuse("a computed value beside others in one container");
                }
                self.operation(own, at, mask, &operation.clone())
            }
            _ if !zeros => self.refuse("a container that gets bits of a value beside other constants than zero"),
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
        let [seg] = &bits.segs[..] else { return self.refuse("a value that lies in several pieces") };
        let class = own.class();
        match seg.src {
            Src::Param(..) => Ok(Operand::B(self.image(class, vec![(at, bits.clone())])?)),
            Src::Loc(loc, low) => {
                let [piece] = self.homes.of(loc, low, seg.width)[..] else {
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
                    return self.refuse("a value that moves between containers of different sizes and by some bits");
                };
                let cross = (Cross::Container(piece.container), (shift / 16) as u8);
                if self.crossed && (self.action.cross, self.action.cross_shift) != cross {
                    return self.refuse("an action that takes more than one value from a container of another size");
                }
                self.crossed = true;
                (self.action.cross, self.action.cross_shift) = cross;
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
        let two = self.operand(own, at, &operation.b, mask)?;
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
        let Some((a, b)) = found else { return self.refuse("operands that no ALU takes together") };
        self.action.alus.push(Alu { a, ..Alu::field(own, op, b, mask) });
        Ok(())
    }
}

impl Made {
    /// The data of an entry with these values for the action's parameters.
    pub fn data(&self, values: &[Bits]) -> [u8; DATA] {
        let mut data = [0; DATA];
        for image in &self.images {
            let mut all = 0u64;
            for (at, bits) in &image.pieces {
                let mut top = at + bits.width();
                for seg in &bits.segs {
                    top -= seg.width;
                    let value = match &seg.src {
                        Src::Const(value) => *value,
                        Src::Param(number, low) => values
                            .get(*number as usize)
                            .map_or(0, |value| value.slice(*low, seg.width).known().unwrap_or(0)),
                        _ => 0,
                    };
                    all |= (value as u64) << top;
                }
            }
            let bytes = all.to_be_bytes();
            data[image.at..image.at + image.bytes].copy_from_slice(&bytes[8 - image.bytes..]);
        }
        data
    }
}
