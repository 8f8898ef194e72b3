//! What can be wrong with a packet in the notation.

use crate::layers::BuildError;
use crate::text::Span;

/// What is wrong, without the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// No layer of that name.
    #[error("unknown layer {found}, expected one of {allowed}")]
    UnknownLayer {
        /// What stands there.
        found: String,
        /// The names there are.
        allowed: String,
    },
    /// The layer has no such field.
    #[error("`{layer}` has no field {found}, expected one of {allowed}")]
    UnknownField {
        /// The layer.
        layer: &'static str,
        /// What stands there.
        found: String,
        /// Its fields.
        allowed: String,
    },
    /// The value does not fit the field.
    #[error("{field} is {found}, expected {allowed}")]
    BadValue {
        /// Layer and field.
        field: String,
        /// What stands there.
        found: String,
        /// What may stand there.
        allowed: String,
    },
    /// The text does not go on as the notation does.
    #[error("found {found}, expected {expected}")]
    Syntax {
        /// What stands there.
        found: String,
        /// What may stand there.
        expected: &'static str,
    },
    /// A field is given twice.
    #[error("{field} is given twice, expected once")]
    Twice {
        /// Layer and field.
        field: String,
    },
    /// A layer stands where it cannot.
    #[error("`{layer}` cannot stand after `{after}`, expected {expected}")]
    Misplaced {
        /// The layer.
        layer: &'static str,
        /// The one before it.
        after: &'static str,
        /// What may stand there.
        expected: &'static str,
    },
    /// A layer of plain bytes says too little or too much about them.
    #[error("`{layer}` has {found}, expected {expected}")]
    Content {
        /// The layer.
        layer: &'static str,
        /// What was given.
        found: String,
        /// The forms there are.
        expected: &'static str,
    },
    /// The packet cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
}

impl Problem {
    /// Code by which the problem is explained.
    pub fn code(&self) -> &'static str {
        match self {
            Problem::UnknownLayer { .. } => "E0101",
            Problem::UnknownField { .. } => "E0102",
            Problem::BadValue { .. } => "E0103",
            Problem::Syntax { .. } => "E0104",
            Problem::Twice { .. } => "E0105",
            Problem::Misplaced { .. } => "E0106",
            Problem::Content { .. } => "E0107",
            Problem::Build(_) => "E0108",
        }
    }
}

/// What is wrong with a packet in the notation, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("[{}] at byte {}: {problem}", problem.code(), span.start)]
pub struct NotationError {
    /// Where, in the text that was parsed.
    pub span: Span,
    /// What.
    #[source]
    pub problem: Problem,
}
