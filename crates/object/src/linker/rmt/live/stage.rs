//! The rows of a stage that runs, by what they ask for: which of several is met, and in which memory it lies.

use super::table::{Label, Lowest};
use crate::linker::rmt::entries::{EntryKey, EntryLeads};
use crate::rmt::LogicalRow;
use crate::rmt::logical::encode::{Asked, agree};
use crate::rmt::part::RmtKey;
use std::collections::{BTreeMap, HashMap};

/// Case, label of the entry, and which of its rows: the smaller one wins.
pub(super) type Place = (u16, Label, u16);

/// A row that packets would meet if none before it asked for the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub place: Place,
    pub leads: EntryLeads,
}

/// All that ask for the same bits.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// In the order in which they win; the first one lies in a row.
    all: Vec<Candidate>,
    is_ternary: bool,
}

impl Rows {
    pub fn first(&self) -> Option<&Candidate> {
        self.all.first()
    }

    /// One more.
    pub fn add(&mut self, candidate: Candidate) {
        let at = self.all.partition_point(|other| other.place < candidate.place);
        self.all.insert(at, candidate);
    }

    /// One less.
    pub fn remove(&mut self, place: &Place) {
        self.all.retain(|candidate| candidate.place != *place);
    }
}

/// The rows of a stage.
#[derive(Clone, Debug)]
pub(super) struct LiveStage {
    /// Mask of the stage's key.
    pub mask: RmtKey,
    /// What each case asks for in any event.
    pub guards: Vec<Asked>,
    pub keys: HashMap<Asked, Rows>,
    /// Rows of either memory in their order.
    pub ternary: BTreeMap<Place, Asked>,
    pub exact: BTreeMap<Place, Asked>,
    /// Logical numbers of entries that are counted, by table and position.
    pub numbers: HashMap<(u16, u16), u16>,
    pub free: Lowest,
    pub nobody: u16,
}

/// A row that goes or comes: an exact one by its key, a ternary one by how many are before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::linker::rmt) struct Where {
    pub key: EntryKey,
    /// Ternary rows before it: of one that goes before anything is done, of one that comes while that is still there.
    pub before: usize,
}

/// What is done with the rows of a stage: one comes, one goes, or one comes in the place of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::linker::rmt) struct RowStep {
    /// The pipeline's stage.
    pub stage: u8,
    pub gone: Option<Where>,
    pub comes: Option<(Where, EntryLeads)>,
    /// What comes has the row of what goes.
    pub same_row: bool,
}

/// What becomes of all that ask for the same. Done twice, it is undone.
#[derive(Debug)]
pub(super) struct KeyStep {
    pub asked: Asked,
    pub rows: Option<Rows>,
    /// Where the row stood in its order, and where it will.
    pub old: Option<Placed>,
    pub new: Option<Placed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    place: Place,
    is_ternary: bool,
}

impl LiveStage {
    /// Ternary rows before a place.
    fn before(&self, place: &Place) -> usize {
        self.ternary.range(..place).count()
    }

    /// Whether a ternary row between two places takes some of the packets.
    fn is_taken(&self, asked: &Asked, from: Place, to: Place) -> bool {
        self.ternary.range(from..to).any(|(_, other)| other != asked && agree(other, asked))
    }

    /// Whether an exact row from one place to another is met by some of the packets: it would have to lie among the ternary ones, if one
    /// that asks for this were before it.
    fn takes(&self, asked: &Asked, from: Place, to: Place) -> bool {
        (from.0..=to.0).filter(|case| agree(&self.guards[usize::from(*case)], asked)).any(|case| {
            let (begin, end) = ((case, Label::MIN, 0).max(from), (case, Label::MAX, u16::MAX).min(to));
            begin < end && self.exact.range(begin..end).any(|(_, other)| other != asked && agree(other, asked))
        })
    }

    /// What it takes that these rows ask for `asked` from now on; nothing if it is more than this row.
    pub fn plan(&self, stage: u8, asked: Asked, rows: Rows) -> Option<(KeyStep, Option<RowStep>)> {
        let there = self.keys.get(&asked);
        let old = there.and_then(|there| Some((*there.first()?, there.is_ternary)));
        let new = rows.first().copied();
        let (value, mask) = asked;
        let exact = Where { key: EntryKey::Exact(value), before: 0 };
        let ternary = |before: usize| Where { key: EntryKey::Ternary { value, mask }, before };
        let (first, last) = ((0, Label::MIN, 0), (self.guards.len() as u16 - 1, Label::MAX, u16::MAX));
        let mut is_ternary = false;
        let mut step = RowStep { stage, gone: None, comes: None, same_row: false };
        match (old, new) {
            (None, None) => {}
            (None, Some(comes)) => {
                // One that asks for more than the stage's key has is refused where its row would lie.
                is_ternary = mask != self.mask || self.is_taken(&asked, first, comes.place);
                if is_ternary && mask != self.mask && self.takes(&asked, comes.place, last) {
                    return None;
                }
                let at = if is_ternary { ternary(self.before(&comes.place)) } else { exact };
                step.comes = Some((at, comes.leads));
            }
            (Some((goes, was_ternary)), None) => {
                step.gone = Some(if was_ternary { ternary(self.before(&goes.place)) } else { exact });
            }
            (Some((goes, false)), Some(comes)) => {
                is_ternary = goes.place < comes.place && self.is_taken(&asked, goes.place, comes.place);
                step.gone = Some(exact);
                step.same_row = !is_ternary;
                step.comes = Some((if is_ternary { ternary(self.before(&comes.place)) } else { exact }, comes.leads));
            }
            (Some((goes, true)), Some(comes)) => {
                is_ternary = true;
                if comes.place < goes.place && self.takes(&asked, comes.place, goes.place) {
                    return None;
                }
                let (from, to) = (self.before(&goes.place), self.before(&comes.place));
                // One that stands right behind the row has it too.
                step.same_row = to == from || to == from + 1 && comes.place > goes.place;
                step.gone = Some(ternary(from));
                step.comes = Some((ternary(to), comes.leads));
            }
        }
        let is_same = step.same_row && old.map(|(goes, _)| goes.leads) == new.map(|comes| comes.leads);
        let nothing = step.gone.is_none() && step.comes.is_none();
        let old = old.map(|(goes, was_ternary)| Placed { place: goes.place, is_ternary: was_ternary });
        let new = new.map(|comes| Placed { place: comes.place, is_ternary });
        let rows = Some(Rows { is_ternary, ..rows }).filter(|rows| !rows.all.is_empty());
        Some((KeyStep { asked, rows, old, new }, Some(step).filter(|_| !is_same && !nothing)))
    }

    /// Does a step, or undoes it.
    pub fn toggle(&mut self, step: &mut KeyStep) {
        let before = match step.rows.take() {
            Some(rows) => self.keys.insert(step.asked, rows),
            None => self.keys.remove(&step.asked),
        };
        step.rows = before;
        if let Some(Placed { place, is_ternary }) = step.old {
            if is_ternary { &mut self.ternary } else { &mut self.exact }.remove(&place);
        }
        if let Some(Placed { place, is_ternary }) = step.new {
            if is_ternary { &mut self.ternary } else { &mut self.exact }.insert(place, step.asked);
        }
        std::mem::swap(&mut step.old, &mut step.new);
    }

    /// A row of a program that is put in place, behind those before it.
    pub fn push(&mut self, place: Place, row: &LogicalRow) {
        let asked = (row.value, row.mask);
        let leads = EntryLeads { action: row.action, number: row.number, data: row.data };
        let (mask, ternary) = (self.mask, &self.ternary);
        let is_ternary = || row.mask != mask || ternary.values().any(|other| agree(other, &asked));
        match self.keys.entry(asked) {
            std::collections::hash_map::Entry::Occupied(mut there) => {
                there.get_mut().all.push(Candidate { place, leads });
            }
            std::collections::hash_map::Entry::Vacant(none) => {
                let is_ternary = is_ternary();
                none.insert(Rows { all: vec![Candidate { place, leads }], is_ternary });
                if is_ternary { &mut self.ternary } else { &mut self.exact }.insert(place, asked);
            }
        }
    }

    /// Places of a table's rows by their new labels, in the cases that look it up.
    pub fn label_anew(&mut self, cases: &[u16], labels: &BTreeMap<Label, Label>) {
        let new = |(case, label, row): Place| match cases.contains(&case) {
            true => (case, labels.get(&label).copied().unwrap_or(label), row),
            false => (case, label, row),
        };
        for all in [&mut self.ternary, &mut self.exact] {
            *all = std::mem::take(all).into_iter().map(|(place, asked)| (new(place), asked)).collect();
        }
        self.keys.values_mut().flat_map(|rows| &mut rows.all).for_each(|one| one.place = new(one.place));
    }
}
