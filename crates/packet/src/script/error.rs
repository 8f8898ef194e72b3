//! What can be wrong with a packet script.

use std::fmt;

use crate::notation::Problem;
use crate::text::{Position, write_excerpt};

/// What is wrong with a script, and where.
#[derive(Debug)]
pub struct ScriptError {
    /// Name of the file.
    pub file: String,
    /// Where; `None` if the file as a whole is meant.
    pub position: Option<Position>,
    /// The line, and how many characters of it are meant.
    pub excerpt: Option<(String, usize)>,
    /// What is wrong.
    pub problem: Box<ScriptProblem>,
}

impl ScriptError {
    /// Code by which the problem is explained.
    pub fn code(&self) -> &'static str {
        self.problem.code()
    }
}

impl std::error::Error for ScriptError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.problem)
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error[{}]: {}", self.code(), self.problem)?;
        let Some(position) = self.position else {
            return write!(f, " --> {}", self.file);
        };
        let excerpt = self.excerpt.as_ref().map(|(line, width)| (line.as_str(), *width));
        write_excerpt(f, &self.file, position, excerpt)
    }
}

/// What is wrong with a script, without the place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptProblem {
    /// A packet in it is wrong.
    #[error(transparent)]
    Packet(#[from] Problem),
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The file is no UTF-8 text.
    #[error("byte {at} of the file is no UTF-8, expected text")]
    NotText {
        /// The byte.
        at: usize,
    },
    /// No statement of that name.
    #[error("unknown statement {found}, expected one of {allowed}")]
    UnknownStatement {
        /// What stands there.
        found: String,
        /// The statements there are.
        allowed: String,
    },
    /// The statement does not go on like that.
    #[error("found {found}, expected {expected}")]
    Expected {
        /// What stands there.
        found: String,
        /// What may stand there.
        expected: String,
    },
    /// A value is out of its range or not of its form.
    #[error("{what} is {found}, expected {allowed}")]
    BadValue {
        /// Which value.
        what: String,
        /// What stands there.
        found: String,
        /// What may stand there.
        allowed: String,
    },
    /// The statement has no such option.
    #[error("`{statement}` has no option {found}, expected one of {allowed}")]
    UnknownOption {
        /// The statement.
        statement: &'static str,
        /// What stands there.
        found: String,
        /// Its options.
        allowed: String,
    },
    /// An option is given twice, or one that is needed is missing.
    #[error("`{statement}` has {found}, expected {expected}")]
    Options {
        /// The statement.
        statement: &'static str,
        /// What is wrong.
        found: String,
        /// What is right.
        expected: String,
    },
    /// The tenant is not declared.
    #[error("unknown tenant `{found}`, declared above are {declared}")]
    UnknownTenant {
        /// What stands there.
        found: String,
        /// The tenants there are.
        declared: String,
    },
    /// Two tenants share what they cannot share.
    #[error("{what} belongs to tenant `{owner}` (line {line}), expected one of its own")]
    Taken {
        /// Name, ID or VLAN.
        what: String,
        /// Whose it is.
        owner: String,
        /// Where that was said.
        line: usize,
    },
    /// The tenant's table is of another kind, or there is none.
    #[error("a {found} key, expected {expected}")]
    KeyKind {
        /// Kind of the key.
        found: &'static str,
        /// What the table takes.
        expected: String,
    },
    /// Begin, commit and blocks do not fit together.
    #[error("{found}, expected {expected}")]
    Update {
        /// What is wrong.
        found: String,
        /// What is right.
        expected: String,
    },
}

impl ScriptProblem {
    /// Code by which the problem is explained.
    pub fn code(&self) -> &'static str {
        match self {
            ScriptProblem::Packet(problem) => problem.code(),
            ScriptProblem::Io(_) => "E0110",
            ScriptProblem::NotText { .. } => "E0111",
            ScriptProblem::UnknownStatement { .. } => "E0112",
            ScriptProblem::Expected { .. } => "E0113",
            ScriptProblem::BadValue { .. } => "E0114",
            ScriptProblem::UnknownOption { .. } => "E0115",
            ScriptProblem::Options { .. } => "E0116",
            ScriptProblem::UnknownTenant { .. } => "E0117",
            ScriptProblem::Taken { .. } => "E0118",
            ScriptProblem::KeyKind { .. } => "E0119",
            ScriptProblem::Update { .. } => "E0120",
        }
    }
}
