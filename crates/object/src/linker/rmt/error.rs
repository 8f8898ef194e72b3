//! What the placer refuses. Pages: docs/errors/E0670.md and on.

use super::EntryKey;
use super::window::{Elsewhere, Window};
use crate::error::ObjectError;
use crate::linker::error::Held;
use crate::linker::spaces::Holder;
use crate::rmt::part::RmtKey;

/// An operation that was refused; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RmtError {
    /// The part itself is wrong.
    #[error("object `{object}`: {error}")]
    Part {
        /// Object or tenant.
        object: String,
        /// What is wrong.
        error: ObjectError,
    },
    /// A resource is used up.
    #[error(
        "{place}: {asked} {resource} asked for by `{tenant}`, {left} left; held by {held}{elsewhere}",
        held = Held(.holders),
        elsewhere = Elsewhere(.elsewhere)
    )]
    NoRoom {
        /// "stage 2", or "the pipeline".
        place: String,
        /// Which.
        resource: &'static str,
        /// By whom.
        tenant: Box<str>,
        /// How much was asked for.
        asked: u32,
        /// How much is left.
        left: Box<str>,
        /// Who holds it.
        holders: Vec<Holder>,
        /// What lacks in the other stages that a tenant's programs could run in.
        elsewhere: Box<[Window]>,
    },
    /// A program needs more than its tenant was given.
    #[error("stage {stage}: the program needs {asked} {resource}, tenant `{tenant}` was given {given}")]
    Given {
        /// Stage.
        stage: u8,
        /// Resource.
        resource: &'static str,
        /// Needed.
        asked: u32,
        /// Tenant.
        tenant: String,
        /// Given.
        given: u32,
    },
    /// A program makes packets longer than its tenant may.
    #[error(
        "the program makes packets up to {asked} bytes longer, tenant `{tenant}` was given {given}: what it adds is \
         charged at the ports"
    )]
    Growth {
        /// Tenant.
        tenant: String,
        /// Needed.
        asked: u16,
        /// Given.
        given: u16,
    },
    /// An entry has no place.
    #[error(
        "stage {stage}: tenant `{tenant}`, exact entry {}: no place; its sets {set0} (ways 0, 1) and {set1} (ways \
         2, 3) and all that their entries could move to are full ({used} of {rows} rows used)",
        super::hex(key)
    )]
    NoPlace {
        /// Stage.
        stage: u8,
        /// Tenant.
        tenant: String,
        /// The key.
        key: RmtKey,
        /// Set of ways 0 and 1.
        set0: u32,
        /// Set of ways 2 and 3.
        set1: u32,
        /// Rows used in the generation's sets.
        used: u32,
        /// Rows of the generation's sets.
        rows: u32,
    },
    /// State that can neither be kept nor begin with zeros.
    #[error("stage {stage}: tenant `{tenant}`: {found}; {allowed}")]
    State {
        /// Stage.
        stage: u8,
        /// Tenant.
        tenant: String,
        /// How things are.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A multicast group that is not the tenant's.
    #[error("tenant `{tenant}`: {found}; {allowed}")]
    Group {
        /// Tenant.
        tenant: String,
        /// Which one, and where it is used.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// Containers that tenant and system program do not agree on.
    #[error("tenant `{tenant}`: {found}; {allowed}")]
    Shared {
        /// Tenant.
        tenant: String,
        /// How things are.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// The module is not there, taken, or does something else.
    #[error("module {module}: {operation}: {found}; {allowed}")]
    Module {
        /// Module.
        module: u8,
        /// Operation.
        operation: &'static str,
        /// How things are.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A run-time operation on an entry.
    #[error("stage {stage}: tenant `{tenant}`: {operation} {key}: {found}; {allowed}")]
    Entry {
        /// Stage.
        stage: u8,
        /// Tenant.
        tenant: String,
        /// "insert", "modify", "delete".
        operation: &'static str,
        /// The key.
        key: Box<EntryKey>,
        /// How things are.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A tenant's rows in a stage of the system module.
    #[error("stage {stage}: tenant `{tenant}` has {found} there; the stage is the system module's")]
    SystemStage {
        /// Stage.
        stage: u8,
        /// Tenant.
        tenant: String,
        /// What it has there.
        found: &'static str,
    },
}

impl RmtError {
    /// What lacks, in short, where a resource is used up.
    pub(super) fn lack(&self) -> String {
        match self {
            Self::NoRoom { place, resource, asked, left, .. } => format!("{place}: {asked} {resource}, {left} left"),
            other => other.to_string(),
        }
    }

    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Part { error, .. } => error.code(),
            Self::NoRoom { .. } => "E0670",
            Self::Given { .. } | Self::Growth { .. } => "E0671",
            Self::NoPlace { .. } => "E0672",
            Self::State { .. } => "E0673",
            Self::Group { .. } => "E0674",
            Self::Shared { .. } => "E0675",
            Self::Module { .. } => "E0676",
            Self::Entry { .. } => "E0677",
            Self::SystemStage { .. } => "E0678",
        }
    }
}
