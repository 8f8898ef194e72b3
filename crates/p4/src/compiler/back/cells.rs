//! Registers and counters: which stage keeps which cells, and a visit's look at one as the stage's state access.
//!
//! Before: visits with their stages. After: the stage and the first word of each array, and a visit's state access. It keeps: an array is in one stage,
//! and no word is of two. Verifiers: `back/verify/places.rs`, of the access `action.rs`.

use super::action::Maker;
use super::{leaves, names, too_much};
use crate::compiler::ir::{Access, Array, Becomes, Bits, Change, Graph, Leaf, Loc, Next, Src, When as Cell};
use crate::compiler::middle::{Refusal, RefusalKind};
use crate::front::interpret::code::Code;
use crate::front::source::Span;
use sluice_rmt::action::{Cross, When};
use sluice_rmt::phv::Class;
use sluice_rmt::state::{Access as Atom, Choice, IndexSource, Operand, Relation, StateOp, Update};
use sluice_rmt::target::{PAGE_WORDS, Target};
use std::collections::{BTreeMap, BTreeSet};

/// Words that an access reaches.
const REACH: usize = 4096;

/// Where an array lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub stage: usize,
    /// First word of the module's.
    pub base: usize,
    pub cells: usize,
}

/// All arrays, each in the stage of the visits that look at it.
pub(super) fn places(
    graph: &Graph,
    code: &Code,
    stages: &[usize],
    target: &Target,
) -> Result<BTreeMap<Array, Place>, Refusal> {
    let mut places: BTreeMap<Array, Place> = BTreeMap::new();
    let mut used = vec![0; target.stages];
    for (at, leaves) in leaves(graph).into_iter().enumerate() {
        for access in leaves.iter().filter_map(|leaf| leaf.access.as_ref()) {
            let stage = stages[at];
            if places.contains_key(&access.array) {
                continue;
            }
            let (base, cells) = (used[stage], access.cells);
            used[stage] += cells;
            places.insert(access.array, Place { stage, base, cells });
            let there = REACH.min(target.words);
            if used[stage] > there {
                let what = format!("{} cells in one stage, and there are {there}", used[stage]);
                return Err(too_many(graph, code, &places, stage, what));
            }
        }
    }
    Ok(places)
}

/// The refusal of cells that are too many in a stage: at those of which there are most, with who has how many.
fn too_many(graph: &Graph, code: &Code, places: &BTreeMap<Array, Place>, stage: usize, what: String) -> Refusal {
    let mut here: Vec<(Array, usize)> =
        places.iter().filter(|(_, place)| place.stage == stage).map(|(array, place)| (*array, place.cells)).collect();
    here.sort_by_key(|(array, cells)| (std::cmp::Reverse(*cells), *array));
    let most = here.first().map(|(array, _)| *array);
    let mut refusal =
        Refusal::new(most.map_or(Span::default(), |array| line(graph, array)), RefusalKind::TooMuch, what);
    refusal.notes = here
        .iter()
        .map(|(array, cells)| (Some(line(graph, *array)), format!("{} has {cells}", names::cells(*array, code))))
        .collect();
    refusal
}

/// Where cells are looked at.
fn line(graph: &Graph, array: Array) -> Span {
    graph.locs.lines.cells(array).unwrap_or_default()
}

/// The refusal of cells that a packet comes to twice.
pub(super) fn twice<T>(graph: &Graph, code: &Code, array: Array) -> Result<T, Refusal> {
    let what = "a register, or counter, that a packet looks at in two stages";
    too_much(line(graph, array), format!("{what}: {}", names::cells(array, code)))
}

/// Pages of 64 words that a stage needs.
pub(super) fn pages(places: &BTreeMap<Array, Place>, stage: usize) -> u16 {
    let words = places.values().filter(|place| place.stage == stage).map(|place| place.cells).sum::<usize>();
    words.div_ceil(PAGE_WORDS) as u16
}

/// The cell's value that a variable gets whole, if it is one.
pub(super) fn cell_of(bits: &Bits) -> Option<Cell> {
    match &bits.segs[..] {
        [seg] => match seg.src {
            Src::Cell(when, 0) => Some(when),
            _ => None,
        },
        _ => None,
    }
}

impl Maker<'_> {
    /// The state access of a leaf, and the containers that get the cell's values.
    pub(super) fn access(&mut self, access: &Access, leaf: &Leaf, base: usize) -> Result<(), Refusal> {
        let (source, mask, first) = match access.index.known() {
            Some(at) => (IndexSource::None, 0, base + at as usize),
            None => {
                let (source, width) = self.index(&access.index)?;
                (source, (1u32 << width.min(12)) as u16 - 1, base)
            }
        };
        let bridged = self.bridge.len();
        let atom = self.change(&access.change).inspect_err(|_| {
            // The two places for what containers hold are taken: an index that is at one of them has a third, of another size.
            if self.taken[1][1] && self.crossed {
                self.bridge.truncate(bridged);
                if source == IndexSource::X {
                    self.bring(Class::C2, 0, &access.index.slice(0, access.index.width().min(16)));
                }
            }
        })?;
        let mut results = [None, None];
        for (loc, bits) in &leaf.assigns {
            if let Some(when) = cell_of(bits) {
                results[usize::from(when == Cell::New)] = Some(self.result(*loc)?);
            }
        }
        let [old_to, new_to] = results;
        let base = first as u16;
        let op = StateOp { when: When::Always, source, index_mask: mask, base, access: atom, old_to, new_to };
        self.action.state = Some(op);
        Ok(())
    }

    fn change(&mut self, change: &Change) -> Result<Atom, Refusal> {
        let always = Choice::When(When::Always);
        let (choice, then, otherwise) = match change {
            Change::Police(police) => return Ok(police.row()),
            Change::Keep => (always, Update::KEEP, Update::KEEP),
            Change::Set(value) => (always, Update::set(self.cell_operand(value)?), Update::KEEP),
            Change::Add { by, negate } => {
                (always, Update { negate: *negate, ..Update::add(self.cell_operand(by)?) }, Update::KEEP)
            }
            Change::Choose { limit, yes, no } => {
                (Choice::Old(Relation::Ge, self.cell_operand(limit)?), self.update(yes)?, self.update(no)?)
            }
        };
        Ok(Atom::Atom { choice, then, otherwise })
    }

    fn update(&mut self, becomes: &Becomes) -> Result<Update, Refusal> {
        Ok(Update { old: becomes.old, value: self.cell_operand(&becomes.value)?, negate: becomes.negate })
    }

    /// The 4-byte container of a variable.
    fn result(&mut self, loc: Loc) -> Result<u8, Refusal> {
        match self.homes.of(loc, 0, 32)[..] {
            [piece] if piece.container.class() == Class::C4 && piece.width == 32 => Ok(piece.container.0 % 8),
            _ => self.refuse("a cell's value that has no 4-byte container"),
        }
    }

    /// Where an index comes from, and how many of its bits count.
    fn index(&mut self, index: &Bits) -> Result<(IndexSource, u32), Refusal> {
        let [seg] = &index.segs[..] else { return self.refuse("an index in pieces") };
        let width = seg.width;
        match seg.src {
            Src::Param(..) => {
                let low = index.slice(0, width.min(16));
                match self.image(Class::C2, vec![(0, low)])? {
                    sluice_rmt::action::B::DataA => Ok((IndexSource::Data, 16)),
                    _ => self.refuse("an index among other data"),
                }
            }
            Src::Loc(loc, low) if self.homes.hardware.contains_key(&loc) => match self.cross_word(loc, low) {
                true => Ok((IndexSource::X, width.min(16))),
                false => self.refuse("an index that is a word beside another cross value"),
            },
            Src::Loc(loc, low) => {
                let width = width.min(16);
                let found = self.homes.of(loc, low, width);
                let [piece] = found[..] else {
                    self.bring(Class::C2, 0, &index.slice(0, width));
                    return self.refuse("an index in several containers");
                };
                if piece.container.class() == Class::C2 && piece.at == 0 && !self.taken[0][2] {
                    self.taken[0][2] = true;
                    self.action.picks[0].container[2] = piece.container.0 % 8;
                    return Ok((IndexSource::P2, width));
                }
                if piece.at.is_multiple_of(16) && self.cross(Cross::Container(piece.container), (piece.at / 16) as u8) {
                    return Ok((IndexSource::X, width));
                }
                // From another size it comes as the cross value, once it is at bit 0.
                self.bring(piece.container.class(), 0, &index.slice(0, width));
                self.refuse("an index that lies at no place from which it can be taken")
            }
            _ => self.refuse("an index that is computed"),
        }
    }

    /// A value that a cell gets, or is changed by; above its bits there may be others, which no one reads.
    fn cell_operand(&mut self, value: &Bits) -> Result<Operand, Refusal> {
        if let Some(value) = value.known() {
            return Ok(Operand::Imm(value as u32));
        }
        let bare = value.without_zeros();
        let [seg] = &bare.segs[..] else {
            self.bring(Class::C4, 0, value);
            return self.refuse("a cell's value in pieces");
        };
        // Zeros above count: then nothing may lie above it that comes with it.
        let exact = bare.width() < value.width();
        let alone = |end: u32, of: u32| !exact || end == of;
        // Words of the cross value above the value, which are cut off.
        let cut = |end: u32| match exact {
            false => Some(0),
            true => 3u32.checked_sub(end / 16).filter(|_| end.is_multiple_of(16)).map(|cut| cut as u8),
        };
        match seg.src {
            Src::Param(..) => {
                let place = (self.place(4, vec![(0, bare.clone())])? / 2) as u8;
                let (taken, pick) = (&mut self.taken[1][4], &mut self.action.picks[1].data[1]);
                if *taken && *pick != place {
                    return self.refuse("a second value of an entry for a cell");
                }
                (*taken, *pick) = (true, place);
                Ok(Operand::DataB)
            }
            Src::Loc(loc, low) if cut(low + seg.width).is_some_and(|cut| self.cross_word_cut(loc, low, cut)) => {
                Ok(Operand::X)
            }
            Src::Loc(loc, low) => {
                if let [piece] = self.homes.of(loc, low, seg.width)[..] {
                    let class = piece.container.class();
                    let is_alone = alone(piece.at + piece.width, class.bits());
                    let (taken, pick) = (&mut self.taken[1][1], &mut self.action.picks[1].container[1]);
                    let place = piece.container.0 % 8;
                    if is_alone && class == Class::C4 && piece.at == 0 && (!*taken || *pick == place) {
                        (*taken, *pick) = (true, place);
                        return Ok(Operand::P1);
                    }
                    let cut = if is_alone { Some(0) } else { cut(piece.at + piece.width) };
                    if let Some(cut) = cut
                        && piece.at.is_multiple_of(16)
                        && self.cross_cut(Cross::Container(piece.container), (piece.at / 16) as u8, cut)
                    {
                        return Ok(Operand::X);
                    }
                }
                self.bring(Class::C4, 0, value);
                self.refuse("a cell's value that lies at no place from which it can be taken")
            }
            _ => self.refuse("a cell's value that is computed"),
        }
    }
}

/// Levels beyond which a packet looks at the same cells in two stages.
pub(super) const MOST_LEVELS: usize = 256;

/// Nodes that look at cells.
pub(super) fn looks(graph: &Graph) -> Vec<(usize, Array)> {
    let mut looks = Vec::new();
    for (at, leaves) in leaves(graph).into_iter().enumerate() {
        looks.extend(leaves.iter().filter_map(|leaf| leaf.access.as_ref()).map(|access| (at, access.array)));
    }
    looks.dedup();
    looks
}

/// A visit that looks at cells at which another way from it looks further behind: its look has to wait, too.
pub(super) fn between(graph: &Graph, code: &Code) -> Result<Option<(usize, Leaf)>, Refusal> {
    let leaves = leaves(graph);
    // What is looked at from a visit on.
    let mut from: Vec<BTreeSet<Array>> = vec![BTreeSet::new(); leaves.len()];
    let behind = |from: &[BTreeSet<Array>], leaf: &Leaf| match leaf.next {
        Next::Node(next) => from[next].clone(),
        _ => BTreeSet::new(),
    };
    loop {
        let before = from.clone();
        for (at, leaves) in leaves.iter().enumerate() {
            for leaf in leaves {
                let more = behind(&from, leaf);
                from[at].extend(more);
                from[at].extend(leaf.access.iter().map(|access| access.array));
            }
        }
        if from == before {
            break;
        }
    }
    for (at, leaves) in leaves.iter().enumerate() {
        for leaf in leaves {
            let Some(access) = &leaf.access else { continue };
            if behind(&from, leaf).contains(&access.array) {
                return twice(graph, code, access.array);
            }
            if leaves.iter().any(|other| behind(&from, other).contains(&access.array)) {
                return Ok(Some((at, Leaf::clone(leaf))));
            }
        }
    }
    Ok(None)
}

/// Visits that look at the same cells are of one level: the highest of them.
pub(super) fn level(graph: &Graph, code: &Code, looks: &[(usize, Array)], levels: &mut [usize]) -> Result<(), Refusal> {
    let mut highest: BTreeMap<Array, usize> = BTreeMap::new();
    for (at, array) in looks {
        let level = highest.entry(*array).or_default();
        *level = (*level).max(levels[*at]);
    }
    for (at, array) in looks {
        // A visit may look at another array, too, which is further behind.
        levels[*at] = levels[*at].max(highest[array]);
        if levels[*at] > MOST_LEVELS {
            return twice(graph, code, *array);
        }
    }
    Ok(())
}
