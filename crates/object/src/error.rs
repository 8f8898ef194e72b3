//! What objects and loads are refused for. Pages: docs/errors/E0201.md to E0207.md.

/// An object or load that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// Bytes that are not the binary form.
    #[error("offset {offset}: found {found}, expected {expected}")]
    Binary {
        /// Byte offset in the file.
        offset: usize,
        /// Found there.
        found: String,
        /// Allowed there.
        expected: String,
    },
    /// Another format version.
    #[error("{what} of format version {found}; this build reads version {allowed}")]
    Version {
        /// "object" or "load".
        what: &'static str,
        /// Version found.
        found: u64,
        /// Version this build reads.
        allowed: u32,
    },
    /// The checksum at the end differs.
    #[error("offset {offset}: checksum is {found:#010x}, the bytes before it give {expected:#010x}")]
    Checksum {
        /// Byte offset of the checksum.
        offset: usize,
        /// Checksum found.
        found: u32,
        /// Checksum of the bytes.
        expected: u32,
    },
    /// Text that is not the JSON form.
    #[error("line {line}, column {column}: {what}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong and what is allowed.
        what: String,
    },
    /// A value that no object may have.
    #[error("{path}: found {found}, allowed: {allowed}")]
    Value {
        /// Where in the object: `demands.entries`.
        path: String,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// A key that does not fit the key kind and mask.
    #[error("{path}: found {found}, allowed: {allowed}")]
    Key {
        /// Where in the object: `entries[3].match.src`.
        path: String,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// Two entries with one key.
    #[error("entries[{second}] has the same masked key as entries[{first}]; each key may stand once")]
    DuplicateKey {
        /// The first of them.
        first: usize,
        /// The second.
        second: usize,
    },
}

impl ObjectError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Binary { .. } => "E0201",
            Self::Version { .. } => "E0202",
            Self::Checksum { .. } => "E0203",
            Self::Json { .. } => "E0204",
            Self::Value { .. } => "E0205",
            Self::Key { .. } => "E0206",
            Self::DuplicateKey { .. } => "E0207",
        }
    }

    /// The same error, found inside `outer`.
    pub(crate) fn within(self, outer: &str) -> Self {
        match self {
            Self::Value { path, found, allowed } => Self::Value { path: format!("{outer}.{path}"), found, allowed },
            Self::Key { path, found, allowed } => Self::Key { path: format!("{outer}.{path}"), found, allowed },
            other => other,
        }
    }
}

pub(crate) fn bad(path: impl Into<String>, found: impl ToString, allowed: impl Into<String>) -> ObjectError {
    ObjectError::Value { path: path.into(), found: found.to_string(), allowed: allowed.into() }
}

pub(crate) fn bad_key(path: impl Into<String>, found: impl ToString, allowed: impl Into<String>) -> ObjectError {
    ObjectError::Key { path: path.into(), found: found.to_string(), allowed: allowed.into() }
}
