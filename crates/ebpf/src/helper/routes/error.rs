//! What is wrong with a routes file. Pages: docs/errors/E0460.md to E0465.md.

/// A mistake in a routes file, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: found {found}, allowed: {allowed}")]
pub struct RoutesError {
    /// What kind of mistake.
    pub mistake: Mistake,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// Found.
    pub found: String,
    /// Allowed.
    pub allowed: String,
}

/// Kinds of mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A word that no line has there.
    Word,
    /// No address, prefix, MAC address or number.
    Value,
    /// Something that every such line has is missing.
    Missing,
    /// An interface that no line declares.
    Interface,
    /// An interface, address or neighbour that stands twice.
    Twice,
    /// More entries than fit.
    TooMany,
}

impl RoutesError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self.mistake {
            Mistake::Word => "E0460",
            Mistake::Value => "E0461",
            Mistake::Missing => "E0462",
            Mistake::Interface => "E0463",
            Mistake::Twice => "E0464",
            Mistake::TooMany => "E0465",
        }
    }
}
