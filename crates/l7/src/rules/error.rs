//! What can be wrong with a file of rules. The pages of the codes are docs/errors/E085x.md.

use sluice_packet::mistake::{self, Mistake, Mistakes};
use sluice_packet::text::{Span, quote};

/// Mistakes of a file that are shown; behind them reading ends.
pub const MOST_ERRORS: usize = 20;

/// One mistake, and where it is.
pub type RulesError = Mistake<Problem>;
/// All mistakes of a file that were found by their places, at least one and at most [`MOST_ERRORS`].
pub type RulesErrors = Mistakes<Problem>;

/// What is wrong, without the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// No text, or what no word is.
    #[error("found {found}, expected {expected}")]
    Word {
        /// Found.
        found: String,
        /// Expected.
        expected: String,
    },
    /// The statement does not go on like that, or does not stand here.
    #[error("found {found}, expected {expected}")]
    Expected {
        /// Found.
        found: String,
        /// Expected.
        expected: String,
    },
    /// A number out of its range.
    #[error("{what} is {found}, expected {allowed}")]
    Value {
        /// Which value.
        what: String,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// A name that is not there.
    #[error("unknown {what} {found}, expected {allowed}")]
    Unknown {
        /// What it should name.
        what: String,
        /// Found.
        found: String,
        /// Names there are.
        allowed: String,
    },
    /// Said or taken before.
    #[error("{what} stands before, in line {line}: once is allowed")]
    Twice {
        /// What.
        what: String,
        /// Line of the first.
        line: u32,
    },
    /// A part that has to be there.
    #[error("{owner} has no {part}: expected {expected}")]
    Missing {
        /// What has it not.
        owner: String,
        /// The part.
        part: &'static str,
        /// How it is written.
        expected: &'static str,
    },
    /// A `*` that leads nowhere.
    #[error("found {found} behind `*`, expected {allowed}")]
    Star {
        /// What stands behind it.
        found: String,
        /// Stop bytes there are, or the end.
        allowed: String,
    },
    /// An escape, `.{N}` or `$` that a pattern does not have.
    #[error("found {found} in a pattern, expected {expected}")]
    Pattern {
        /// Found.
        found: String,
        /// Expected.
        expected: String,
    },
    /// More than there is room for.
    #[error("{what}: found {found}, allowed: at most {most}")]
    Size {
        /// What.
        what: String,
        /// Found.
        found: usize,
        /// Allowed.
        most: usize,
    },
    /// A field of a group that is not the same one, or is not there, for all whose messages go to it.
    #[error(
        "group `{group}` by {field}: {found}; expected one index of it in all message types whose messages go there"
    )]
    GroupField {
        /// The group.
        group: String,
        /// Its field.
        field: String,
        /// What contradicts it.
        found: String,
    },
}

impl mistake::Problem for Problem {
    const CODE: &'static str = "E0851";

    fn code(&self) -> &'static str {
        match self {
            Self::Word { .. } => "E0850",
            Self::Expected { .. } => "E0851",
            Self::Value { .. } => "E0852",
            Self::Unknown { .. } => "E0853",
            Self::Twice { .. } => "E0854",
            Self::Missing { .. } => "E0855",
            Self::Star { .. } => "E0856",
            Self::Pattern { .. } => "E0857",
            Self::Size { .. } => "E0858",
            Self::GroupField { .. } => "E0859",
        }
    }
}

/// A mistake and the piece of the text that it is about.
pub(super) type Located = (Span, Problem);
/// A result of reading.
pub(super) type Read<T> = Result<T, Located>;

/// Mistakes so far.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub found: Vec<Located>,
}

impl Notes {
    /// Takes note of a mistake.
    pub fn push(&mut self, located: Located) {
        // The same place twice says nothing new.
        if !self.full() && self.found.iter().all(|found| found.0 != located.0) {
            self.found.push(located);
        }
    }

    /// The value, or notes the mistake.
    pub fn ok<T>(&mut self, result: Read<T>) -> Option<T> {
        result.map_err(|e| self.push(e)).ok()
    }

    /// Whether no more will be taken.
    pub fn full(&self) -> bool {
        self.found.len() >= MOST_ERRORS
    }
}

/// A value out of its range.
pub(super) fn value(span: Span, what: impl ToString, found: impl ToString, allowed: impl ToString) -> Located {
    let (what, found, allowed) = (what.to_string(), found.to_string(), allowed.to_string());
    (span, Problem::Value { what, found, allowed })
}

/// A name that is not there, with those that are.
pub(super) fn unknown<'n>(span: Span, what: &str, found: &str, names: impl Iterator<Item = &'n str>) -> Located {
    const SHOWN: usize = 8;
    let mut all: Vec<&str> = names.take(SHOWN + 1).collect();
    let more = all.len() > SHOWN;
    all.truncate(SHOWN);
    let allowed = match all[..] {
        [] => format!("one that is declared; there is no {what}"),
        _ => format!("one of {}{}", all.join(", "), if more { ", ..." } else { "" }),
    };
    (span, Problem::Unknown { what: what.to_string(), found: quote(found), allowed })
}
