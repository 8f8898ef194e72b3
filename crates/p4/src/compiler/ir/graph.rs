//! The graph: what each visit to a stage looks at and does, and where it leads.

use super::{Bits, Lines};
use crate::front::interpret::Police;
use crate::front::source::Span;
use foldhash::HashMap;
use sluice_rmt::phv::Word;
use std::collections::BTreeMap;
use std::ops::Range;

/// A variable that is kept from stage to stage: a field, a local variable, something that the hardware knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Loc(pub u32);

/// What a variable is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LocInfo {
    /// A part of a slot of the program.
    Leaf(usize, Vec<u32>),
    /// Bits of the packet that no header took.
    Look(u32, u32),
    /// A field of a stack's element as it came: slot and path of the element, first bit of its header in the packet, and of the field.
    Element(usize, Vec<u32>, u32, u32),
    /// A value that waits for the next stage: its number, and its bits.
    Temp(u32, u32),
    Port,
    Length,
    /// Whether the sum that the path verifies is wrong.
    Bad,
    /// When the packet arrived.
    Time,
    /// Bits of a word beside the containers, from this one on.
    Word(Word, u32),
    /// On which of several ways a packet came to a visit that they share: the first of the bits beside the visit's number.
    Way(u32),
    /// The port of a copy, of which only is asked whether it is that of arrival.
    CopyPort,
    /// What the pipeline does not know as the program means it.
    Opaque(&'static str),
}

/// Bits of a visit's number, and those beside it, where there are any.
pub(crate) const NUMBER_BITS: u32 = 10;
pub(crate) const WAY_BITS: u32 = 6;

/// A step that no place has, before the bits that a varbit has.
const SIZED: u32 = u32::MAX;

/// The place of what has another size on each way.
pub(crate) fn sized(path: &[u32], bits: u32) -> Vec<u32> {
    [path, &[SIZED, bits]].concat()
}

/// All variables, with their widths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locs {
    pub all: Vec<(LocInfo, u32)>,
    by: HashMap<LocInfo, Loc>,
    /// Parts of slots, by slot and path.
    leaves: HashMap<usize, HashMap<Vec<u32>, Loc>>,
    /// Where they come from.
    pub lines: Lines,
}

impl Locs {
    /// A part of a slot.
    pub fn leaf(&mut self, slot: usize, path: &[u32], width: u32) -> Loc {
        if let Some(loc) = self.leaves.get(&slot).and_then(|of| of.get(path)) {
            if self.width(*loc) == width {
                return *loc;
            }
            // A varbit that has another length on another way.
            return self.of(LocInfo::Leaf(slot, sized(path, width)), width);
        }
        let loc = self.of(LocInfo::Leaf(slot, path.to_vec()), width);
        self.leaves.entry(slot).or_default().insert(path.to_vec(), loc);
        loc
    }

    pub fn of(&mut self, info: LocInfo, width: u32) -> Loc {
        if let Some(loc) = self.by.get(&info) {
            return *loc;
        }
        let loc = Loc(self.all.len() as u32);
        self.all.push((info.clone(), width));
        self.by.insert(info, loc);
        loc
    }

    /// The variable, if there is one.
    pub fn find(&self, info: &LocInfo) -> Option<Loc> {
        self.by.get(info).copied()
    }

    pub fn info(&self, loc: Loc) -> &LocInfo {
        &self.all[loc.0 as usize].0
    }

    pub fn width(&self, loc: Loc) -> u32 {
        self.all[loc.0 as usize].1
    }

    /// The statement that gives a variable its value: these bits, or else the first one that takes or writes it.
    pub fn line(&self, loc: Loc, bits: Option<&Bits>) -> Option<Span> {
        match self.info(loc) {
            LocInfo::Leaf(slot, path) => {
                let exact = bits.and_then(|bits| self.lines.value(*slot, path, bits));
                let taken = if bits.is_none() { self.lines.taken(*slot, path) } else { None };
                exact.or(taken).or_else(|| self.lines.written(*slot, path)).or_else(|| self.lines.taken(*slot, path))
            }
            LocInfo::Element(slot, path, ..) => self.lines.taken(*slot, path),
            LocInfo::Look(first, bits) => self.lines.ahead(*first, *bits),
            LocInfo::Temp(number, _) => self.lines.kept(*number),
            _ => None,
        }
    }
}

/// What is looked at beside a table's keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Test {
    /// Bits that are kept have these values.
    Is(Bits, Bits),
    /// `a < b`, or `a == b` with `equal`, without sign.
    Compare { equal: bool, a: Bits, b: Bits },
}

/// A key of a table, as it is when the table is applied.
pub(crate) type Key = Bits;

/// Which entry was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Alt {
    pub hit: bool,
    /// Number of the action among those of the table.
    pub action: usize,
}

/// What a visit decides, in its order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Tree {
    Test(Test, Box<Tree>, Box<Tree>),
    Table(usize, Vec<Key>, Vec<(Alt, Tree)>),
    Leaf(Leaf),
}

/// Bits of a word of state, which a visit looks at whole.
pub(crate) const CELL: u32 = 32;

/// Cells that are kept from packet to packet: an object of the program, and which words of it. Of a counter 0 is its packets and 1 its
/// bytes, of a register 0 is bits 31:0, 1 the next above, of a meter 0 is the time up to which its rate is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Array {
    pub object: usize,
    pub part: u32,
}

/// What becomes of a cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Change {
    Keep,
    Set(Bits),
    Add {
        by: Bits,
        negate: bool,
    },
    /// What it becomes by whether it is at least the limit, without sign.
    Choose {
        limit: Bits,
        yes: Becomes,
        no: Becomes,
    },
    /// A packet of a meter of two colours, which its new value is: 0 green, 1 red.
    Police(Police),
}

/// `(old or 0) + value`, or minus it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Becomes {
    pub old: bool,
    pub value: Bits,
    pub negate: bool,
}

impl Change {
    /// What it computes with beside the cell.
    pub fn bits(&self) -> Vec<&Bits> {
        match self {
            Change::Keep | Change::Police(_) => Vec::new(),
            Change::Set(value) | Change::Add { by: value, .. } => vec![value],
            Change::Choose { limit, yes, no } => vec![limit, &yes.value, &no.value],
        }
    }

    /// The same, to change it.
    pub fn bits_mut(&mut self) -> Vec<&mut Bits> {
        match self {
            Change::Keep | Change::Police(_) => Vec::new(),
            Change::Set(value) | Change::Add { by: value, .. } => vec![value],
            Change::Choose { limit, yes, no } => vec![limit, &mut yes.value, &mut no.value],
        }
    }
}

/// A visit's look at a cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Access {
    pub array: Array,
    /// How many there are.
    pub cells: usize,
    pub index: Bits,
    pub change: Change,
    /// Further words of the cells, each looked at by a visit of its own.
    pub more: u32,
}

impl Access {
    /// The bits that it reads.
    pub fn bits(&self) -> impl Iterator<Item = &Bits> {
        std::iter::once(&self.index).chain(self.change.bits())
    }
}

/// What a value of an entry may be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Bound {
    /// An index or a group.
    Within(Range<usize>),
    PowerOfTwo,
}

impl Bound {
    /// What is allowed, if it is something else.
    pub fn broken_by(&self, value: u128) -> Option<String> {
        match self {
            Bound::Within(range) if usize::try_from(value).map_or(true, |value| !range.contains(&value)) => {
                Some(format!("there are {} to {}", range.start, range.end - 1))
            }
            Bound::PowerOfTwo if !value.is_power_of_two() => Some("powers of two are allowed".to_string()),
            _ => None,
        }
    }
}

/// What is done, at once, and what comes next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Leaf {
    pub access: Option<Access>,
    /// Bits of an entry's data, and what they may be: entries with others are refused.
    pub bounds: Vec<(Bits, Bound)>,
    pub assigns: BTreeMap<Loc, Bits>,
    pub next: Next,
}

impl Graph {
    /// How many bits of its container say which visit is next.
    pub fn number_bits(&self) -> u32 {
        if self.ways > 0 { NUMBER_BITS } else { NUMBER_BITS + WAY_BITS }
    }
}

impl End {
    /// A packet to a port.
    pub fn to(port: Bits, deparse: Deparse) -> End {
        End { port, group: Bits::constant(16, 0), except_arrival: false, clone: None, deparse }
    }
}

impl Tree {
    /// What is looked at to decide.
    pub fn decides_by(&self, see: &mut dyn FnMut(Loc)) {
        match self {
            Tree::Test(Test::Is(a, b) | Test::Compare { a, b, .. }, yes, no) => {
                a.locs(see);
                b.locs(see);
                yes.decides_by(see);
                no.decides_by(see);
            }
            Tree::Table(_, keys, all) => {
                keys.iter().for_each(|key| key.locs(see));
                all.iter().for_each(|(_, tree)| tree.decides_by(see));
            }
            Tree::Leaf(_) => {}
        }
    }

    /// All that it comes to, in their order.
    pub fn each_leaf<'t>(&'t self, see: &mut dyn FnMut(&'t Leaf)) {
        match self {
            Tree::Test(_, yes, no) => {
                yes.each_leaf(see);
                no.each_leaf(see);
            }
            Tree::Table(_, _, all) => all.iter().for_each(|(_, tree)| tree.each_leaf(see)),
            Tree::Leaf(leaf) => see(leaf),
        }
    }

    /// The same, to change them.
    pub fn each_leaf_mut(&mut self, see: &mut dyn FnMut(&mut Leaf)) {
        match self {
            Tree::Test(_, yes, no) => {
                yes.each_leaf_mut(see);
                no.each_leaf_mut(see);
            }
            Tree::Table(_, _, all) => all.iter_mut().for_each(|(_, tree)| tree.each_leaf_mut(see)),
            Tree::Leaf(leaf) => see(leaf),
        }
    }
}

impl Leaf {
    /// What is computed with: for variables, a cell, and where the packet goes.
    pub fn reads(&self, see: &mut dyn FnMut(Loc)) {
        self.assigns.values().for_each(|bits| bits.locs(see));
        self.access.iter().flat_map(Access::bits).for_each(|bits| bits.locs(see));
        if let Next::End(end) = &self.next {
            end.port.locs(see);
            end.group.locs(see);
        }
    }

    /// Whether it needs an entry's data.
    pub fn has_data(&self) -> bool {
        let access = self.access.iter().flat_map(Access::bits);
        let goal = match &self.next {
            Next::End(end) => vec![&end.port, &end.group],
            _ => Vec::new(),
        };
        !self.bounds.is_empty() || self.assigns.values().chain(access).chain(goal).any(Bits::has_data)
    }

    /// One that does nothing.
    pub fn to(next: Next) -> Leaf {
        Leaf { access: None, bounds: Vec::new(), assigns: BTreeMap::new(), next }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Next {
    Node(usize),
    Drop,
    /// Behind a stage of a system program: on to what the packet's own program does.
    Onward,
    End(Box<End>),
}

/// A packet that leaves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct End {
    /// Port, 9 bits.
    pub port: Bits,
    /// Multicast group, 16 bits; 0 is none. With a group the port does not count.
    pub group: Bits,
    /// No copy goes to the port of arrival.
    pub except_arrival: bool,
    /// A clone that is the same packet goes where this session says.
    pub clone: Option<u16>,
    pub deparse: Deparse,
}

/// How the packet is put together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Deparse {
    /// Bytes of the packet that were parsed.
    pub parsed: u32,
    pub outs: Vec<Out>,
    /// Internet checksums: first byte, words, byte of the sum, in the outgoing packet.
    pub sums: Vec<(u32, u32, u32)>,
}

/// A field that goes out, and where it was in the packet as it came, if it was there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Out {
    pub loc: Loc,
    pub width: u32,
    pub from: Option<u32>,
}

/// One visit to a stage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Node {
    pub tree: Tree,
    /// What has to be kept up to it.
    pub needs: Vec<Loc>,
}

/// A way through the parser.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParserPath {
    /// Byte of the packet: mask and value.
    pub bytes: BTreeMap<u32, (u8, u8)>,
    /// The same, with single bits that earlier ways ask for and this one's packets do not have.
    pub has: BTreeMap<u32, (u8, u8)>,
    /// Shorter packets do not take it.
    pub least: u32,
    /// Where variables stand in the packet, by their first bit.
    pub taken: BTreeMap<Loc, u32>,
    /// A checksum that is verified: its first byte, and words of 16 bits.
    pub verify: Option<(u32, u32)>,
    /// Constants that it leaves beside the number of the visit.
    pub ways: BTreeMap<Loc, u64>,
    pub next: Next,
    /// The transition, or the statement, with which it leaves the parser.
    pub span: Span,
}

/// Clones of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clones {
    pub span: Span,
    /// Their originals leave, too.
    pub are_beside: bool,
}

/// A program as the back end takes it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub locs: Locs,
    /// Visits of a system program, one a stage: none is behind another, and none has a number.
    pub is_system: bool,
    /// Bits beside the number of a visit that say on which way a packet came.
    pub ways: u32,
    pub paths: Vec<ParserPath>,
    pub nodes: Vec<Node>,
    /// Where in the program a node is, for messages.
    pub spans: Vec<Span>,
    /// Where in the program a port was written that packets go to.
    pub port_spans: HashMap<Bits, Span>,
    /// Sessions of clones: where one is asked for, and whether the original leaves, too.
    pub clones: BTreeMap<u16, Clones>,
}
