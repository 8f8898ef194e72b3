//! Mistakes in a text that people write: all of a file at once, each with its code, its place and the line.

use crate::text::{Position, Span, line_at, position, write_excerpt};
use std::fmt;

/// What is wrong in a text, without the place: its words are its `Display`.
pub trait Problem: fmt::Debug + fmt::Display {
    /// Code of a file with no mistake that could be named.
    const CODE: &'static str;

    /// Code by which it is explained.
    fn code(&self) -> &'static str;
}

/// One mistake, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake<P> {
    /// Name of the file.
    pub file: String,
    /// Line and column, from 1.
    pub position: Position,
    /// The line, and how many characters of it are meant.
    pub excerpt: (String, usize),
    /// What is wrong.
    pub problem: P,
}

impl<P: Problem> Mistake<P> {
    /// A mistake in a piece of the text; a piece of several lines is marked in its first one.
    pub fn new(file: &str, text: &str, span: Span, problem: P) -> Self {
        let shown = text.get(span.start..span.end).unwrap_or_default();
        let width = shown.lines().next().unwrap_or_default().chars().count();
        let excerpt = (line_at(text, span.start).to_string(), width);
        Self { file: file.to_string(), position: position(text, span.start), excerpt, problem }
    }

    /// Code by which the mistake is explained.
    pub fn code(&self) -> &'static str {
        self.problem.code()
    }
}

impl<P: Problem> std::error::Error for Mistake<P> {}

impl<P: Problem> fmt::Display for Mistake<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error[{}]: {}", self.code(), self.problem)?;
        write_excerpt(f, &self.file, self.position, Some((&self.excerpt.0, self.excerpt.1)))
    }
}

/// All mistakes of a file that were found, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes<P>(pub Vec<Mistake<P>>);

impl<P: Problem> Mistakes<P> {
    /// Code of the first one.
    pub fn code(&self) -> &'static str {
        self.0.first().map_or(P::CODE, Mistake::code)
    }
}

impl<P: Problem> std::error::Error for Mistakes<P> {}

impl<P: Problem> fmt::Display for Mistakes<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if i > 0 { "\n\n" } else { "" })?;
        }
        Ok(())
    }
}
