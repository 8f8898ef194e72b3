//! What can be wrong with a script. The pages of the codes are docs/errors/E079x.md.

use sluice_packet::mistake::Mistakes;

/// What is wrong, without the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are the words of the message that stands above them")]
#[non_exhaustive]
pub enum StfProblem {
    /// The line does not go on like that.
    #[error("found {found}, expected {expected}")]
    Expected { found: String, expected: String },
    /// A name that the program has not, or has twice.
    #[error("{what} `{name}`: {why}")]
    Name { what: &'static str, name: String, why: String },
    /// A value that does not fit.
    #[error("{what}: {why}")]
    Value { what: String, why: String },
    /// It is no time or place for this.
    #[error("{what}: {why}")]
    State { what: String, why: String },
}

impl sluice_packet::mistake::Problem for StfProblem {
    const CODE: &'static str = "E0790";

    fn code(&self) -> &'static str {
        match self {
            StfProblem::Expected { .. } => "E0790",
            StfProblem::Name { .. } => "E0791",
            StfProblem::Value { .. } => "E0792",
            StfProblem::State { .. } => "E0793",
        }
    }
}

/// All mistakes of a script that were found.
pub type StfErrors = Mistakes<StfProblem>;
