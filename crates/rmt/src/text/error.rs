//! What can be wrong with a module's text.

use crate::check;
use sluice_packet::mistake::{self, Mistake, Mistakes};
use sluice_packet::text::Span;

/// Mistakes of a file that are shown; behind them reading ends.
pub const MOST_ERRORS: usize = 20;

/// One mistake, and where it is.
pub type TextError = Mistake<TextProblem>;
/// All mistakes of a file that were found, at least one and at most [`MOST_ERRORS`].
pub type TextErrors = Mistakes<TextProblem>;

/// What is wrong, without the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextProblem {
    /// No text, or a character that no word has.
    #[error("found {found}, expected {expected}")]
    Character {
        /// Found.
        found: String,
        /// Expected.
        expected: String,
    },
    /// The statement does not go on like that.
    #[error("found {found}, expected {expected}")]
    Expected {
        /// Found.
        found: String,
        /// Expected.
        expected: String,
    },
    /// A value out of its range or not of its form.
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
    /// Declared or said before.
    #[error("{what} stands before, in line {line}: once is allowed")]
    Twice {
        /// What.
        what: String,
        /// Line of the first.
        line: usize,
    },
    /// A name of the language is declared.
    #[error("`{name}` is a name of the language, expected another one")]
    Reserved {
        /// The name.
        name: String,
    },
    /// Something does not stand in this place, or is missing.
    #[error("found {found}, expected {expected}")]
    Place {
        /// Found.
        found: String,
        /// Expected.
        expected: String,
    },
    /// Bits of source and destination do not meet.
    #[error("{found}, expected {expected}")]
    Bits {
        /// Found.
        found: String,
        /// Expected.
        expected: String,
    },
    /// No ALU computes this.
    #[error("found {found}, expected {expected}")]
    Operation {
        /// Found.
        found: String,
        /// Expected.
        expected: String,
    },
    /// An action needs more operands than there are.
    #[error("stage {stage}, action `{action}`: {found}; {allowed}")]
    Operands {
        /// Stage.
        stage: usize,
        /// Action.
        action: String,
        /// What ran out, and who wants it.
        found: String,
        /// What there is.
        allowed: String,
    },
    /// Two statements of an action write the same.
    #[error("stage {stage}, action `{action}`: a second write of {what}, the first is in line {line}; {allowed}")]
    Second {
        /// Stage.
        stage: usize,
        /// Action.
        action: String,
        /// What is written.
        what: String,
        /// Line of the first.
        line: usize,
        /// What there is.
        allowed: String,
    },
    /// More conditions, comparisons or key containers than a stage has.
    #[error("stage {stage}: {found}; {allowed}")]
    Stage {
        /// Stage.
        stage: usize,
        /// What ran out.
        found: String,
        /// What there is.
        allowed: String,
    },
    /// An entry does not fit its key or its action.
    #[error("{found}, expected {expected}")]
    Entry {
        /// Found.
        found: String,
        /// Expected.
        expected: String,
    },
    /// Too long or too deep.
    #[error("{what}: found {found}, allowed: at most {most}")]
    Size {
        /// What.
        what: &'static str,
        /// Found.
        found: usize,
        /// Allowed.
        most: usize,
    },
    /// A meter's rate or burst that its rows do not express.
    #[error("meter `{name}`: {found}, expected {allowed}")]
    Meter {
        /// Its name.
        name: String,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// A row makes the outer VLAN tag: no mistake, but a warning.
    #[error(
        "row `{row}` makes the outer VLAN tag of path `{path}`: {found}; expected a VLAN of the tenant's, since a frame \
         leaves no port as another tenant's (foreign_vlan)"
    )]
    OuterTag {
        /// Deparser row.
        row: String,
        /// Parse path.
        path: String,
        /// What is put, and which VLANs that makes.
        found: String,
    },
    /// The program breaks a rule of the target.
    #[error(transparent)]
    Rule(#[from] check::Problem),
}

impl mistake::Problem for TextProblem {
    const CODE: &'static str = "E0602";

    fn code(&self) -> &'static str {
        match self {
            Self::Character { .. } => "E0601",
            Self::Expected { .. } => "E0602",
            Self::Value { .. } => "E0603",
            Self::Unknown { .. } => "E0604",
            Self::Twice { .. } => "E0605",
            Self::Reserved { .. } => "E0606",
            Self::Place { .. } => "E0607",
            Self::Bits { .. } => "E0608",
            Self::Operation { .. } => "E0609",
            Self::Operands { .. } => "E0610",
            Self::Second { .. } => "E0611",
            Self::Stage { .. } => "E0612",
            Self::Entry { .. } => "E0613",
            Self::Size { .. } => "E0614",
            Self::Meter { .. } => "E0615",
            Self::OuterTag { .. } => "E0616",
            Self::Rule(_) => "E0650",
        }
    }
}

/// A mistake and the piece of the text that it is about.
pub(super) type Located = (Span, TextProblem);
/// A result of reading.
pub(super) type Read<T> = Result<T, Located>;

/// Mistakes so far.
#[derive(Debug)]
pub(super) struct Diagnostics {
    pub found: Vec<Located>,
    /// What is no mistake and has no effect.
    pub warnings: Vec<Located>,
    most: usize,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self { found: Vec::new(), warnings: Vec::new(), most: MOST_ERRORS }
    }
}

impl Diagnostics {
    /// Takes any number; none is kept.
    pub fn unbounded() -> Self {
        Self { found: Vec::new(), warnings: Vec::new(), most: 0 }
    }

    /// Takes note of a mistake.
    pub fn push(&mut self, located: Located) {
        // The same place twice says nothing new.
        if self.found.len() < self.most && self.found.iter().all(|f| f.0 != located.0) {
            self.found.push(located);
        }
    }

    /// Takes note of what has no effect.
    pub fn warn(&mut self, located: Located) {
        if self.warnings.len() < self.most {
            self.warnings.push(located);
        }
    }

    /// The value, or notes the mistake.
    pub fn ok<T>(&mut self, result: Read<T>) -> Option<T> {
        result.map_err(|e| self.push(e)).ok()
    }

    /// Whether no more will be taken.
    pub fn full(&self) -> bool {
        self.most > 0 && self.found.len() >= self.most
    }
}

/// `{found}, expected {expected}` with the code of a value.
pub(super) fn value(span: Span, what: impl ToString, found: impl ToString, allowed: impl ToString) -> Located {
    let (what, found, allowed) = (what.to_string(), found.to_string(), allowed.to_string());
    (span, TextProblem::Value { what, found, allowed })
}

/// Something that does not stand here.
pub(super) fn place(span: Span, found: impl ToString, expected: impl ToString) -> Located {
    (span, TextProblem::Place { found: found.to_string(), expected: expected.to_string() })
}

/// Bits that do not meet.
pub(super) fn bits(span: Span, found: impl ToString, expected: impl ToString) -> Located {
    (span, TextProblem::Bits { found: found.to_string(), expected: expected.to_string() })
}

/// What no ALU does.
pub(super) fn operation(span: Span, found: impl ToString, expected: impl ToString) -> Located {
    (span, TextProblem::Operation { found: found.to_string(), expected: expected.to_string() })
}

/// A name that is not there.
pub(super) fn unknown(span: Span, what: impl ToString, found: &str, allowed: impl ToString) -> Located {
    let found = sluice_packet::text::quote(found);
    (span, TextProblem::Unknown { what: what.to_string(), found, allowed: allowed.to_string() })
}
