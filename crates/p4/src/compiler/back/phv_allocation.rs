//! Which container holds which bits.
//!
//! Before: variables, with the ways on which each is needed. After: containers and bits for each. It keeps: two that one packet needs at a time share
//! no bits, and what the parser takes lies as in the packet. Verifier: `back/verify/homes.rs`.

use super::live::Held;
use super::{all_leaves, names};
use crate::compiler::ir::{Bits, CELL, Graph, Loc, LocInfo, Seg, Src};
use crate::compiler::middle::{Refusal, RefusalKind};
use crate::front::interpret::Shape;
use crate::front::interpret::code::Code;
use sluice_rmt::phv::{Class, Container, Word};
use std::collections::{BTreeMap, BTreeSet};

/// Some bits of a variable, and their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Lowest bit of the variable.
    pub low: u32,
    pub width: u32,
    pub container: Container,
    /// Lowest bit of the container.
    pub at: u32,
}

/// A container that holds bytes of a header at its upper end.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub container: Container,
    /// A variable in it, by which the header is found in a packet, and the bits between the chunk's begin and its own.
    pub by: Loc,
    pub before: i32,
    /// All variables in it.
    pub fields: Vec<Loc>,
}

/// A word, the lowest bit of it, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HardwareWord {
    pub word: Word,
    pub low: u32,
    pub width: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Homes {
    /// What is a word, and has no container.
    pub hardware: BTreeMap<Loc, HardwareWord>,
    pub pieces: BTreeMap<Loc, Vec<Piece>>,
    pub chunks: Vec<Chunk>,
    pub node: u8,
    /// Bits of it that say which visit is next.
    pub number: u32,
    pub port: Option<u8>,
    pub length: Option<u8>,
    /// On which ways each container holds something.
    used: [[Held; 8]; 3],
    held: BTreeMap<Loc, Held>,
    /// Whether what fills no container lies at the lower end of one.
    low: bool,
    /// Variables whose lower 32 bits lie in a container of their own.
    words: BTreeSet<Loc>,
}

/// The word that a variable is, if it is one.
fn word(graph: &Graph, loc: Loc) -> Option<HardwareWord> {
    let width = graph.locs.width(loc);
    match graph.locs.info(loc) {
        LocInfo::Word(word, low) => Some(HardwareWord { word: *word, low: *low, width }),
        LocInfo::Time => Some(HardwareWord { word: Word::Arrival, low: 0, width }),
        _ => None,
    }
}

/// Where a field stands in its header: which header, and its first bit.
fn field(code: &Code, graph: &Graph, loc: Loc) -> Option<((usize, Vec<u32>), u32)> {
    match graph.locs.info(loc) {
        // A header of its own: not every way that looks at these bytes looks at as many.
        LocInfo::Look(at, width) => Some(((usize::MAX, vec![*at, *width]), *at)),
        LocInfo::Element(slot, path, header, at) => {
            let mut of = path.clone();
            of.extend([u32::MAX, *header]);
            Some(((*slot, of), at - header))
        }
        LocInfo::Leaf(slot, path) => {
            let parameter = code.of_parser(1)?;
            if parameter.slot != *slot {
                return None;
            }
            // The innermost header on the path.
            let mut shape = &parameter.shape;
            for (depth, at) in path.iter().enumerate() {
                if let Shape::Header(_) = shape {
                    let mut bit = 0;
                    for step in &path[depth..] {
                        let fields = shape.fields()?;
                        bit += fields.shapes[..*step as usize].iter().map(|s| s.bits().unwrap_or(0)).sum::<u32>();
                        shape = shape.part(*step);
                    }
                    return Some(((*slot, path[..depth].to_vec()), bit));
                }
                shape = shape.part(*at);
            }
            None
        }
        _ => None,
    }
}

/// A field of a header: its first bit there, its width, its variable.
type Field = (u32, u32, Loc);
/// Fields that an owner has, by header, and its other variables.
type Owned = (BTreeMap<Vec<u32>, Vec<Field>>, Vec<Loc>);

/// Most headers and variables that a refusal lists.
const MOST_SHOWN: usize = 6;
/// Most bytes of a container that are before one at its lower end.
const MOST_ROOM: u32 = 5;

/// Fields of a header, those that share bytes together.
fn groups(mut fields: Vec<Field>) -> Vec<Vec<Field>> {
    fields.sort();
    let mut all: Vec<Vec<Field>> = Vec::new();
    for field in fields {
        match all.last_mut() {
            Some(group) if field.0 / 8 < bytes_of(group).end => group.push(field),
            _ => all.push(vec![field]),
        }
    }
    all
}

/// The bytes of a header that fields lie in.
fn bytes_of(fields: &[Field]) -> std::ops::Range<u32> {
    let begin = fields.first().map_or(0, |(bit, ..)| bit / 8);
    begin..fields.iter().map(|(bit, width, _)| (bit + width).div_ceil(8)).max().unwrap_or(begin)
}

/// How many bytes are before fields in every packet that has them.
fn room(graph: &Graph, fields: &[Field]) -> u32 {
    let Some((bit, _, loc)) = fields.first() else { return 0 };
    let first = graph.paths.iter().filter_map(|path| path.taken.get(loc));
    first.map(|at| (at - bit % 8) / 8).min().unwrap_or(u32::MAX / 2)
}

/// The refusal of values that are too many: at the header, or variable, that needs most containers, with who needs how many.
fn too_many(code: &Code, graph: &Graph, wanted: &BTreeSet<Loc>) -> Refusal {
    // Headers of a stack are apart from each other.
    let mut owners: BTreeMap<String, Owned> = BTreeMap::new();
    for loc in wanted {
        let owner = owners.entry(names::owner(graph, *loc, code)).or_default();
        match (graph.locs.info(*loc), field(code, graph, *loc)) {
            (LocInfo::Bad | LocInfo::Word(..) | LocInfo::Time | LocInfo::Way(_), _) => {}
            (_, Some(((_, header), bit))) => {
                owner.0.entry(header).or_default().push((bit, graph.locs.width(*loc), *loc));
            }
            _ => owner.1.push(*loc),
        }
    }
    let containers = |bits: u32| bits.div_ceil(48) as usize;
    let mut needs: Vec<(usize, String, Vec<Loc>)> = owners
        .into_iter()
        .map(|(name, (headers, others))| {
            let locs = headers.values().flatten().map(|(.., loc)| *loc).chain(others.iter().copied()).collect();
            let groups = headers.into_values().flat_map(groups);
            let grouped: usize = groups.map(|group| containers(8 * bytes_of(&group).len() as u32)).sum();
            (grouped + others.iter().map(|loc| containers(graph.locs.width(*loc))).sum::<usize>(), name, locs)
        })
        .filter(|(count, ..)| *count > 0)
        .collect();
    needs.sort_by_key(|(count, name, _)| (std::cmp::Reverse(*count), name.clone()));
    let line = |locs: &[Loc]| locs.iter().find_map(|loc| graph.locs.line(*loc, None));
    let span = needs.iter().find_map(|(.., locs)| line(locs)).unwrap_or_default();
    let what = "more values at a time than there are containers (8 of 2, 4 and 6 bytes each)";
    let mut refusal = Refusal::new(span, RefusalKind::TooMuch, what);
    refusal.notes = needs
        .iter()
        .take(MOST_SHOWN)
        .map(|(count, name, locs)| {
            let fields = names::listed(locs.iter().map(|loc| names::name(graph, *loc, code)));
            let of = if fields == format!("`{name}`") { String::new() } else { format!(", for {fields}") };
            (line(locs), format!("`{name}` needs {count}{of}"))
        })
        .collect();
    refusal
}

/// Variables of several words, those that are put together out of a cell's: then each word moves by itself.
fn of_words(graph: &Graph) -> BTreeSet<Loc> {
    let is_word = |seg: &Seg| match seg.src {
        Src::Loc(loc, 0) => matches!(graph.locs.info(loc), LocInfo::Temp(_, CELL)),
        _ => false,
    };
    let whole = |bits: &Bits| match &bits.segs[..] {
        [above @ .., low] => low.width == CELL && !above.is_empty() && above.iter().chain([low]).all(is_word),
        [] => false,
    };
    let assigns = all_leaves(graph).into_iter().flat_map(|leaf| &leaf.assigns);
    assigns.filter(|(_, bits)| whole(bits)).map(|(loc, _)| *loc).collect()
}

impl Homes {
    /// A container for each variable; those in `larger` lie so many sizes above the smallest that holds them.
    /// A container holds values that are not needed at one time one after the other.
    pub fn new(
        code: &Code,
        graph: &Graph,
        wanted: &BTreeSet<Loc>,
        larger: &BTreeMap<Loc, usize>,
        held: &BTreeMap<Loc, Held>,
    ) -> Result<Homes, Refusal> {
        Homes::build(code, graph, wanted, larger, held).ok_or_else(|| too_many(code, graph, wanted))
    }

    fn build(
        code: &Code,
        graph: &Graph,
        wanted: &BTreeSet<Loc>,
        larger: &BTreeMap<Loc, usize>,
        held: &BTreeMap<Loc, Held>,
    ) -> Option<Homes> {
        let mut homes = Homes { held: held.clone(), words: of_words(graph), ..Homes::default() };
        homes.node = homes.take(2, 0, Held::always())?.0;
        homes.number = graph.number_bits();
        let mut headers: BTreeMap<(usize, Vec<u32>), Vec<Field>> = BTreeMap::new();
        let mut others = Vec::new();
        for loc in wanted {
            let width = graph.locs.width(*loc);
            homes.hardware.extend(word(graph, *loc).map(|word| (*loc, word)));
            match (graph.locs.info(*loc), field(code, graph, *loc)) {
                (LocInfo::Port, _) => {
                    let container = homes.take(2, 0, Held::always())?;
                    homes.port = Some(container.0);
                    homes.pieces.insert(*loc, vec![Piece { low: 0, width, container, at: 0 }]);
                }
                (LocInfo::Way(low), _) => {
                    let (container, at) = (Container(homes.node), homes.number + low);
                    homes.pieces.insert(*loc, vec![Piece { low: 0, width, container, at }]);
                }
                // Words have it.
                (LocInfo::Bad | LocInfo::Word(..) | LocInfo::Time, _) => {}
                (LocInfo::Length, _) => {
                    let container = homes.take(2, 0, Held::always())?;
                    homes.length = Some(container.0);
                    homes.pieces.insert(*loc, vec![Piece { low: 0, width, container, at: 0 }]);
                }
                (_, Some((header, bit))) => headers.entry(header).or_default().push((bit, width, *loc)),
                // Taken by the parser as a header of its own.
                _ if graph.paths.iter().any(|path| path.taken.contains_key(loc)) => {
                    headers.insert((usize::MAX, vec![u32::MAX, loc.0]), vec![(0, width, *loc)]);
                }
                _ => others.push(*loc),
            }
        }
        let groups: Vec<Vec<Field>> = headers.into_values().flat_map(groups).collect();
        // Bytes at the lower end of their containers lie as other values do; all of them, or none.
        let odd = |group: &&Vec<Field>| !bytes_of(group).len().is_multiple_of(2);
        homes.low = groups.iter().filter(odd).all(|group| room(graph, group) >= MOST_ROOM);
        for group in &groups {
            homes.group(group, larger, room(graph, group))?;
        }
        for loc in others {
            let mut left = graph.locs.width(loc);
            let mut pieces = Vec::new();
            while left > 0 {
                let width = if homes.words.contains(&loc) { (left - 1) % CELL + 1 } else { left.min(48) };
                left -= width;
                let container =
                    homes.take(width.div_ceil(8), larger.get(&loc).copied().unwrap_or(0), homes.held(&loc))?;
                pieces.push(Piece { low: left, width, container, at: 0 });
            }
            homes.pieces.insert(loc, pieces);
        }
        Some(homes)
    }

    /// Those of a system program: fields lie in the containers that it says, whose parts are all that it has.
    pub fn shared(graph: &Graph, fields: &BTreeMap<Loc, Container>) -> Homes {
        let mut homes = Homes::default();
        for at in 0..graph.locs.all.len() {
            let loc = Loc(at as u32);
            homes.hardware.extend(word(graph, loc).map(|word| (loc, word)));
        }
        for (loc, container) in fields {
            let piece = Piece { low: 0, width: graph.locs.width(*loc), container: *container, at: 0 };
            homes.pieces.insert(*loc, vec![piece]);
        }
        homes
    }

    /// Fields that share bytes.
    fn group(&mut self, fields: &[Field], larger: &BTreeMap<Loc, usize>, room: u32) -> Option<()> {
        let Some(first) = fields.first() else { return Some(()) };
        let bytes = bytes_of(fields);
        let (begin, end) = (bytes.start, bytes.end);
        let up = fields.iter().filter_map(|(_, _, loc)| larger.get(loc).copied()).max().unwrap_or(0);
        let mut at = begin;
        while at < end {
            let by_words = fields.len() == 1 && self.words.contains(&first.2);
            let bytes = if by_words { (end - at - 1) % (CELL / 8) + 1 } else { (end - at).min(6) };
            let inside = fields.iter().filter(|(bit, width, _)| *bit < 8 * (at + bytes) && bit + width > 8 * at);
            let inside: Vec<Loc> = inside.map(|(_, _, loc)| *loc).collect();
            let mut held = Held::default();
            inside.iter().for_each(|loc| held.join(&self.held(loc)));
            let container = self.take(bytes, up, held)?;
            let size = container.bytes() as u32;
            // The bytes before it are taken, too, if it is to lie at the lower end.
            let unused = size - bytes;
            let early = if self.low && room + (at - begin) >= unused { unused } else { 0 };
            let before = first.0 as i32 - 8 * at as i32 + 8 * early as i32;
            self.chunks.push(Chunk { container, by: first.2, before, fields: inside });
            for (bit, width, loc) in fields {
                let (from, to) = ((*bit).max(8 * at), (bit + width).min(8 * (at + bytes)));
                if from < to {
                    let piece = Piece {
                        low: bit + width - to,
                        width: to - from,
                        container,
                        at: 8 * (size - early) - (to - 8 * at),
                    };
                    self.pieces.entry(*loc).or_default().push(piece);
                }
            }
            at += bytes;
        }
        Some(())
    }

    /// What of the container with the visit's number is a number.
    pub fn number_mask(&self) -> u64 {
        (1 << self.number) - 1
    }

    /// What a visit's container is with the number of a visit in it.
    pub fn with_number(&self, there: u64, at: usize) -> u64 {
        there & !self.number_mask() | (at as u64 + 1)
    }

    /// What stands beside the number of a visit where these are left there.
    pub fn beside(&self, graph: &Graph, ways: &BTreeMap<Loc, u64>) -> u16 {
        let pieces = ways.iter().flat_map(|(loc, way)| {
            self.of(*loc, 0, graph.locs.width(*loc)).into_iter().map(move |piece| (*way as u16) << piece.at)
        });
        pieces.fold(0, |all, bits| all | bits)
    }

    /// On which ways a variable is held; all of them if nothing is known of it.
    fn held(&self, loc: &Loc) -> Held {
        self.held.get(loc).cloned().unwrap_or_else(Held::always)
    }

    fn take(&mut self, bytes: u32, larger: usize, held: Held) -> Option<Container> {
        let smallest = (bytes.div_ceil(2) - 1) as usize;
        let from = (smallest + larger).min(2).max(smallest);
        for class in (from..3).chain(smallest..from) {
            let used = &mut self.used[class];
            // One that is empty, or else one whose values are no longer needed then.
            let place = used.iter().position(Held::is_never).or(used.iter().position(|used| !used.meets(&held)));
            if let Some(place) = place {
                used[place].join(&held);
                return Some(Container::of(Class::ALL[class], place as u8));
            }
        }
        None
    }

    /// Where some bits of a variable lie, the highest first.
    pub fn of(&self, loc: Loc, low: u32, width: u32) -> Vec<Piece> {
        let mut out = Vec::new();
        for piece in self.pieces.get(&loc).map_or(&[][..], Vec::as_slice) {
            let (from, to) = (piece.low.max(low), (piece.low + piece.width).min(low + width));
            if from < to {
                let at = piece.at + from - piece.low;
                out.push(Piece { low: from, width: to - from, container: piece.container, at });
            }
        }
        out.sort_by_key(|piece| std::cmp::Reverse(piece.low));
        out
    }

    /// Byte of the packet at which a chunk's container is taken, if its header is there.
    pub fn taken(&self, chunk: &Chunk, taken: &BTreeMap<Loc, u32>) -> Option<u32> {
        let first = *taken.get(&chunk.by)? as i32 - chunk.before;
        u32::try_from(first).ok().map(|bit| bit / 8)
    }
}
