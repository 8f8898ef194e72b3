//! What is wrong with a `nic.toml`, where, and what is allowed. Pages: docs/errors/E0301.md on.

use std::fmt;
use std::ops::Range;

/// A configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Name of the file.
    pub file: String,
    /// Line and column, from 1, and the line's text.
    pub place: Option<(usize, usize, String)>,
    /// What is wrong.
    pub problem: Box<ConfigProblem>,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigProblem {
    /// The file cannot be read.
    #[error("cannot be read: {what}")]
    Unreadable {
        /// Why.
        what: String,
    },
    /// It is not TOML.
    #[error("this is not TOML: {what}")]
    Syntax {
        /// What the parser says.
        what: String,
    },
    /// A key that does not exist, is missing, or holds another type.
    #[error("{what}")]
    Shape {
        /// What was found and what is allowed.
        what: String,
    },
    /// A value that is not allowed.
    #[error("{what}: found {found}, allowed: {allowed}")]
    Value {
        /// Which.
        what: String,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// The object of a tenant.
    #[error("tenant `{tenant}`: {what}")]
    Object {
        /// Whose.
        tenant: String,
        /// What is wrong with it.
        what: String,
        /// Code of the object's own error, where it has one.
        code: Option<&'static str>,
    },
}

impl ConfigProblem {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "E0301",
            Self::Syntax { .. } => "E0302",
            Self::Shape { .. } => "E0303",
            Self::Value { .. } => "E0304",
            Self::Object { code, .. } => code.unwrap_or("E0305"),
        }
    }
}

impl ConfigError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        self.problem.code()
    }

    pub(super) fn whole(file: &str, problem: ConfigProblem) -> Self {
        Self { file: file.to_owned(), place: None, problem: Box::new(problem) }
    }

    /// An error at a range of bytes of the text.
    pub(super) fn at(file: &str, text: &str, span: Range<usize>, problem: ConfigProblem) -> Self {
        let mut at = span.start.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let begin = text[..at].rfind('\n').map_or(0, |n| n + 1);
        let line = text[..at].matches('\n').count() + 1;
        let column = text[begin..at].chars().count() + 1;
        let shown: String = text[begin..].lines().next().unwrap_or("").chars().take(200).collect();
        Self { file: file.to_owned(), place: Some((line, column, shown)), problem: Box::new(problem) }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, code, problem) = (&self.file, self.code(), &self.problem);
        match &self.place {
            None => write!(f, "{file}: [{code}] {problem}"),
            Some((line, column, text)) => {
                write!(f, "{file}:{line}:{column}: [{code}] {problem}\n  {line} | {text}")
            }
        }
    }
}

impl std::error::Error for ConfigError {}
