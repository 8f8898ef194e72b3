//! What an XDP engine in hardware cannot take. Pages: docs/errors/E0805.md and on.

use crate::linker::error::Held;
use crate::linker::spaces::Holder;
use crate::xdp::{XdpMemory, XdpRefusal};

/// A program that was refused; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum XdpError {
    /// It needs what the engine has not, or does not become rows.
    #[error("tenant `{tenant}`, object `{object}`: {refusal}")]
    Refused {
        /// Tenant.
        tenant: String,
        /// Object.
        object: String,
        /// Why.
        refusal: XdpRefusal,
    },
    /// It never fits, whoever else is there.
    #[error("tenant `{tenant}`, object `{object}`: {asked} {resource}, target {target} has {all}{fit}{beside}", beside = fit.beside())]
    TooMuch {
        /// Tenant.
        tenant: String,
        /// Object.
        object: String,
        /// Which resource, with what it is for.
        resource: String,
        /// How much is asked for.
        asked: u64,
        /// Target.
        target: &'static str,
        /// All there is.
        all: u64,
        /// Which `max_entries` would fit.
        fit: Fit,
    },
    /// Others hold it.
    #[error(
        "tenant `{tenant}`, object `{object}`: {asked} {resource}, {left} left of {all}; {held}{fit}",
        held = Taken(*own, holders)
    )]
    NoRoom {
        /// Tenant.
        tenant: String,
        /// Object.
        object: String,
        /// Which resource, with what it is for.
        resource: String,
        /// How much is asked for.
        asked: u64,
        /// How much is left.
        left: u64,
        /// All there is.
        all: u64,
        /// How much other maps or rows of this very program have taken.
        own: u64,
        /// Who holds it; a program that is being replaced holds its own until it is gone.
        holders: Vec<Holder>,
        /// Which `max_entries` would fit.
        fit: Fit,
    },
    /// A map that the engine cannot have.
    #[error("tenant `{tenant}`, object `{object}`, map `{map}`: {what}: found {found}, allowed: {allowed}")]
    Map {
        /// Tenant.
        tenant: String,
        /// Object.
        object: String,
        /// Map.
        map: String,
        /// What of it.
        what: &'static str,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// A map that cannot lie where somebody says.
    #[error("tenant `{tenant}`, object `{object}`, map `{map}`: `{place}` is said: found {found}, allowed: {allowed}")]
    Place {
        /// Tenant.
        tenant: String,
        /// Object.
        object: String,
        /// Map.
        map: String,
        /// What is said.
        place: XdpMemory,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
}

impl XdpError {
    /// With how many entries the map that does not fit would; none where no number would.
    pub fn fit(&self) -> Option<(&str, u32)> {
        let (Self::TooMuch { fit, .. } | Self::NoRoom { fit, .. }) = self else { return None };
        fit.0.as_ref().filter(|(_, entries)| *entries > 0).map(|(map, entries)| (map.as_str(), *entries))
    }

    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused { refusal, .. } => refusal.code,
            Self::TooMuch { .. } => "E0806",
            Self::NoRoom { .. } => "E0807",
            Self::Map { .. } => "E0808",
            Self::Place { .. } => "E0809",
        }
    }
}

/// Who has what is not left: the program itself, and others.
struct Taken<'a>(u64, &'a [Holder]);

impl std::fmt::Display for Taken<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self(0, holders) => write!(f, "held by {}", Held(holders)),
            Self(own, []) => write!(f, "{own} taken by the program's other maps"),
            Self(own, holders) => write!(f, "{own} taken by the program's other maps, held by {}", Held(holders)),
        }
    }
}

impl Fit {
    /// An empty engine has room for a map, however small, if the program's other maps leave some.
    fn beside(&self) -> &'static str {
        if matches!(self.0, Some((_, 0))) { " beside the program's other maps" } else { "" }
    }
}

/// The number of entries with which a map would fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fit(pub Option<(String, u32)>);

impl std::fmt::Display for Fit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some((_, 0)) => f.write_str("; no number of entries would fit"),
            Some((map, entries)) => write!(f, "; max_entries of `{map}` would fit up to {entries}"),
            None => Ok(()),
        }
    }
}
