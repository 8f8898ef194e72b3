//! Why a map is not made. Pages: docs/errors/E0430.md to E0434.md.

use crate::Errno;

/// Why a map was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// A size or limit that this kind of map does not take.
    #[error("map `{map}`: {what} is {found}, allowed: {allowed}")]
    Declaration {
        /// Name.
        map: String,
        /// Which attribute.
        what: &'static str,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
        /// What the kernel answers.
        errno: Errno,
    },
    /// A flag, or two together, that this kind of map does not take.
    #[error("map `{map}`: map_flags is {found:#x}, allowed for {kind}: {allowed}")]
    Flags {
        /// Name.
        map: String,
        /// Kind of map.
        kind: &'static str,
        /// Found.
        found: u32,
        /// Allowed.
        allowed: String,
        /// What the kernel answers.
        errno: Errno,
    },
    /// No address space left.
    #[error(
        "map `{map}` with {entries} entries needs {asked} bytes of values, {left} of {all} are left: give it at most \
         about {fit} entries (`--max-entries {map}=N`, or `map_sizes` in nic.toml)"
    )]
    Space {
        /// Name.
        map: String,
        /// Its entries.
        entries: u32,
        /// How many would fit, but for what rounding to pages takes.
        fit: u64,
        /// Asked.
        asked: u64,
        /// Left.
        left: u64,
        /// In all.
        all: u64,
    },
    /// A map of maps and what it holds.
    #[error("map `{map}`: its inner map is {found}, allowed: {allowed}")]
    Inner {
        /// Name.
        map: String,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
        /// What the kernel answers.
        errno: Errno,
    },
    /// A spin lock where none may be.
    #[error("map `{map}`: found {found}, allowed: {allowed}")]
    SpinLock {
        /// Name.
        map: String,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
        /// What the kernel answers.
        errno: Errno,
    },
}

impl MapError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Declaration { .. } => "E0430",
            Self::Flags { .. } => "E0431",
            Self::Space { .. } => "E0432",
            Self::Inner { .. } => "E0433",
            Self::SpinLock { .. } => "E0434",
        }
    }

    /// The kernel's error number.
    pub fn errno(&self) -> Errno {
        match self {
            Self::Declaration { errno, .. }
            | Self::Flags { errno, .. }
            | Self::Inner { errno, .. }
            | Self::SpinLock { errno, .. } => *errno,
            Self::Space { .. } => Errno::NOMEM,
        }
    }
}
