//! A state of the matching: which paths are under way at the position, and which have to begin again.

use super::path::{Path, Piece};
use sluice_formats::l7::rows::L7MovePart;

/// A path under way: its piece's move is done, and so much of its text is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Item {
    /// The path's number: lower ones win.
    pub path: usize,
    /// Its piece.
    pub piece: usize,
    /// Bytes of the piece's text that have matched.
    pub matched: usize,
}

/// What may still win. All numbers rise, and are below `won`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// Paths under way at the position.
    pub live: Vec<Item>,
    /// Paths that begin again when none of those wins.
    pub rest: Vec<usize>,
    /// The path that wins when none of those does either.
    pub won: Option<usize>,
}

impl State {
    /// Without what can no longer win: paths of the same rule, and of later ones.
    pub fn trimmed(mut self, paths: &[Path]) -> Self {
        if let Some(won) = self.won {
            let before = |path: usize| paths[path].rule < paths[won].rule;
            self.live.retain(|item| before(item.path));
            self.rest.retain(|&path| before(path));
        }
        self
    }

    /// Begins paths again: those that begin with the first one's move, at most so many of them.
    pub fn begun(paths: &[Path], mut rest: Vec<usize>, won: Option<usize>, together: usize) -> (L7MovePart, Self) {
        let go = paths[rest[0]].pieces[0].go;
        let mut live = Vec::new();
        rest.retain(|&path| {
            let begins = live.len() < together && paths[path].pieces[0].go == go;
            if begins {
                live.push(Item { path, piece: 0, matched: 0 });
            }
            !begins
        });
        (go, Self { live, rest, won })
    }
}

/// How the position moves behind a hit, as far as an item minds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Onward {
    /// The path has won.
    Done,
    /// So.
    Move(L7MovePart),
}

impl Item {
    /// Its piece.
    pub fn piece<'a>(&self, paths: &'a [Path]) -> &'a Piece {
        &paths[self.path].pieces[self.piece]
    }

    /// What is left to compare of its text.
    pub fn text<'a>(&self, paths: &'a [Path]) -> &'a [u8] {
        &self.piece(paths).text[self.matched..]
    }

    /// Whether the field has to end behind `length` bytes more.
    pub fn ends(&self, paths: &[Path], length: usize) -> bool {
        self.text(paths).len() == length && self.piece(paths).ends
    }

    /// What comes behind `length` bytes of its text.
    pub fn onward(&self, paths: &[Path], length: usize) -> Onward {
        if self.text(paths).len() > length {
            return Onward::Move(L7MovePart::default());
        }
        paths[self.path].pieces.get(self.piece + 1).map_or(Onward::Done, |next| Onward::Move(next.go))
    }

    /// The item behind them; none when the path has won.
    pub fn behind(&self, paths: &[Path], length: usize) -> Option<Item> {
        if self.text(paths).len() > length {
            return Some(Item { matched: self.matched + length, ..*self });
        }
        let next = Item { piece: self.piece + 1, matched: 0, ..*self };
        (next.piece < paths[self.path].pieces.len()).then_some(next)
    }
}

/// What a row of a state compares, and for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// Bytes.
    pub length: usize,
    /// How the position moves behind a hit.
    pub go: L7MovePart,
    /// Items that it compares for; the others are tried in turn.
    pub taken: Vec<Item>,
}

/// Chooses for the first item and as many others as can go with it; among those, the most bytes, up to `most`.
pub(super) fn choose(paths: &[Path], live: &[Item], most: usize) -> Choice {
    let first = live[0].text(paths).len();
    let lengths = if first == 0 { 0..=0 } else { 1..=first.min(most) };
    let choices = lengths.rev().map(|length| {
        let mut go = None;
        let taken = live.iter().copied().filter(|item| {
            if item.text(paths).len() < length {
                return false;
            }
            match (item.onward(paths, length), go) {
                (Onward::Done, _) => true,
                (Onward::Move(m), None) => {
                    go = Some(m);
                    true
                }
                (Onward::Move(m), Some(agreed)) => m == agreed,
            }
        });
        let taken: Vec<_> = taken.collect();
        Choice { length, go: go.unwrap_or_default(), taken }
    });
    // The first of those with the most items: lengths fall.
    choices.reduce(|best, other| if other.taken.len() > best.taken.len() { other } else { best }).expect("a length")
}
