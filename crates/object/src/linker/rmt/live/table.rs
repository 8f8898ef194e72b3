//! The entries of a table that runs: their order, and the number that each keeps.

use crate::rmt::logical::{LogicalCall, LogicalEntry};
use std::collections::{BTreeMap, BTreeSet};

/// Where an entry stands among those of its table; what no entry matches stands behind all of them.
pub(super) type Label = i128;

/// The label of what no entry matches.
pub(super) const MISS: Label = Label::MAX;
/// Between two neighbours at first.
const GAP: Label = 1 << 64;
/// Between two that came one after the other, beside each other: there is room for as many of them as anybody adds.
const STEP: Label = 1 << 32;

/// Numbers of which the lowest free one is taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Lowest {
    /// All from here on are free.
    next: u16,
    /// And these.
    freed: BTreeSet<u16>,
}

impl Lowest {
    /// All but these are free.
    pub fn but(taken: impl Iterator<Item = u16>) -> Self {
        let taken: BTreeSet<u16> = taken.collect();
        let next = taken.last().map_or(0, |last| last + 1);
        Self { next, freed: (0..next).filter(|number| !taken.contains(number)).collect() }
    }

    /// The lowest free one.
    pub fn lowest(&self) -> u16 {
        self.freed.first().copied().unwrap_or(self.next)
    }

    /// Takes a number: the lowest free one, or one that was given back.
    pub fn take(&mut self, number: u16) {
        if !self.freed.remove(&number) {
            self.next = number + 1;
        }
    }

    /// Gives a number back.
    pub fn give_back(&mut self, number: u16) {
        self.freed.insert(number);
    }
}

/// An entry, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub entry: LogicalEntry,
    pub label: Label,
}

/// The entries of a table.
#[derive(Clone, Debug)]
pub(super) struct LiveTable {
    /// Positions of the entries, in the order in which they win.
    pub order: Vec<u16>,
    /// Entries by the position that each keeps.
    pub entries: Vec<Option<Standing>>,
    pub free: Lowest,
    pub default: LogicalCall,
    /// Label of the one that came last.
    last: Label,
    /// Stages and cases that look it up.
    pub looked_up: Vec<(u8, u16)>,
}

/// What an operation does with a table. Done twice, it is undone.
#[derive(Debug)]
pub(super) enum TableStep {
    /// An entry comes that is here, or goes and is here then.
    Move { at: usize, position: u16, standing: Option<Standing> },
    /// The other action of an entry.
    Call { position: u16, call: LogicalCall },
    /// The other default action.
    Default(LogicalCall),
}

impl LiveTable {
    pub fn new(entries: &[LogicalEntry], positions: &[u16], default: LogicalCall) -> Self {
        let mut all = vec![None; positions.iter().max().map_or(0, |last| usize::from(*last) + 1)];
        for (at, (entry, position)) in entries.iter().zip(positions).enumerate() {
            all[usize::from(*position)] = Some(Standing { entry: entry.clone(), label: at as Label * GAP });
        }
        let free = Lowest::but(positions.iter().copied());
        Self { order: positions.to_vec(), entries: all, free, default, last: MISS, looked_up: Vec::new() }
    }

    /// The entry that keeps a position.
    pub fn entry(&self, position: u16) -> Option<&Standing> {
        self.entries.get(usize::from(position))?.as_ref()
    }

    /// Entries in their order.
    pub fn in_order(&self) -> impl Iterator<Item = (u16, &Standing)> {
        self.order.iter().filter_map(|position| Some((*position, self.entry(*position)?)))
    }

    fn label_at(&self, at: usize) -> Option<Label> {
        self.entry(*self.order.get(at)?).map(|standing| standing.label)
    }

    /// A label for an entry with so many before it; nothing where two neighbours have none between them.
    pub fn label(&self, at: usize) -> Option<Label> {
        let before = at.checked_sub(1).and_then(|before| self.label_at(before));
        match (before, self.label_at(at)) {
            (None, None) => Some(0),
            (Some(before), None) => Some(before + GAP),
            (None, Some(behind)) => Some(behind - GAP),
            (Some(before), Some(behind)) => {
                let half = (behind - before) / 2;
                let label = match self.last {
                    last if last == before => before + half.min(STEP),
                    last if last == behind => behind - half.min(STEP),
                    _ => before + half,
                };
                (before < label && label < behind).then_some(label)
            }
        }
    }

    /// Gives all entries labels with gaps between them; the new ones by the old ones.
    pub fn label_anew(&mut self) -> BTreeMap<Label, Label> {
        let mut new = BTreeMap::new();
        for (at, position) in self.order.iter().enumerate() {
            if let Some(standing) = self.entries.get_mut(usize::from(*position)).and_then(Option::as_mut) {
                new.insert(standing.label, at as Label * GAP);
                standing.label = at as Label * GAP;
            }
        }
        new
    }

    /// Does a step, or undoes it.
    pub fn toggle(&mut self, step: &mut TableStep) {
        match step {
            TableStep::Move { at, position, standing } => {
                let slot = usize::from(*position);
                match standing.take() {
                    Some(comes) => {
                        self.last = comes.label;
                        self.order.insert(*at, *position);
                        self.free.take(*position);
                        if self.entries.len() <= slot {
                            self.entries.resize(slot + 1, None);
                        }
                        self.entries[slot] = Some(comes);
                    }
                    None => {
                        self.order.remove(*at);
                        self.free.give_back(*position);
                        *standing = self.entries[slot].take();
                    }
                }
            }
            TableStep::Call { position, call } => {
                if let Some(standing) = &mut self.entries[usize::from(*position)] {
                    std::mem::swap(&mut standing.entry.call, call);
                }
            }
            TableStep::Default(call) => std::mem::swap(&mut self.default, call),
        }
    }
}
