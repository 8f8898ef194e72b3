//! What the linker refuses. Pages: docs/errors/E0220.md and on.

use super::rmt::RmtError;
use super::spaces::Holder;
use super::xdp::XdpError;
use crate::destination::Destination;
use crate::error::ObjectError;
use crate::xdp::Difference;
use sluice_formats::EngineId;
use std::fmt;

/// An operation that was refused; nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// The object itself is wrong.
    #[error("object `{object}`: {error}")]
    Object {
        /// Its name.
        object: String,
        /// What is wrong.
        error: ObjectError,
    },
    /// The object is for another target.
    #[error("object `{object}` is for target {found}, this NIC is {allowed}")]
    Target {
        /// Its name.
        object: String,
        /// Target it is for.
        found: String,
        /// The NIC's target.
        allowed: String,
    },
    /// The target has no such destination.
    #[error("{what}: {found} does not exist, target {target} has {allowed}")]
    NoDestination {
        /// Where it stands.
        what: String,
        /// Found.
        found: Destination,
        /// Target.
        target: &'static str,
        /// Its destinations.
        allowed: String,
    },
    /// The tenant may not send there.
    #[error("{what}: {found} is not granted to tenant `{tenant}`, it may use: {allowed}")]
    NotGranted {
        /// Where it stands.
        what: String,
        /// Found.
        found: Destination,
        /// Tenant.
        tenant: String,
        /// Destinations it has.
        allowed: String,
    },
    /// The object needs more than its tenant was given.
    #[error("object `{object}` needs {asked} {what}, tenant `{tenant}` was given {given}")]
    Demand {
        /// Object.
        object: String,
        /// Resource.
        what: String,
        /// Needed.
        asked: u64,
        /// Tenant.
        tenant: String,
        /// Given.
        given: u64,
    },
    /// A tenant's ID or name is in use.
    #[error("tenant {id} (`{name}`): {what} is taken by tenant `{holder}`")]
    Taken {
        /// ID asked for.
        id: u16,
        /// Name asked for.
        name: String,
        /// What is taken.
        what: String,
        /// By whom.
        holder: String,
    },
    /// No such tenant.
    #[error("tenant {id} is not admitted; admitted are: {known}")]
    NoTenant {
        /// ID.
        id: u16,
        /// IDs and names.
        known: String,
    },
    /// A setting out of range.
    #[error("{what}: found {found}, allowed: {allowed}")]
    Setting {
        /// Which: "tenant `red`: quantum".
        what: String,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// A resource is used up.
    #[error("{asked} {resource} asked for, {left} left; held by {held}", held = Held(.holders))]
    NoRoom {
        /// Which.
        resource: &'static str,
        /// How much was asked for.
        asked: u32,
        /// How much is left.
        left: String,
        /// Who holds it.
        holders: Vec<Holder>,
    },
    /// An entry has no place.
    #[error(
        "tenant `{tenant}`, key {key}: no place; its sets {set0} (ways 0, 1) and {set1} (ways 2, 3) and all that \
         their entries could move to are full ({used} of {rows} rows used)"
    )]
    NoPlace {
        /// Tenant.
        tenant: String,
        /// The key.
        key: String,
        /// Set of ways 0 and 1.
        set0: u32,
        /// Set of ways 2 and 3.
        set1: u32,
        /// Rows used in the generation's sets.
        used: u32,
        /// Rows of the generation's sets.
        rows: u32,
    },
    /// The operation does not fit what the tenant is doing.
    #[error("tenant `{tenant}`: {operation}: {found}; {allowed}")]
    State {
        /// Tenant.
        tenant: String,
        /// Operation.
        operation: &'static str,
        /// How things are.
        found: String,
        /// What to do instead.
        allowed: &'static str,
    },
    /// A map that is to be kept over a replacement is another one now.
    #[error("tenant `{tenant}`: object `{object}` keeps map `{map}`, but {difference}; nothing was changed")]
    KeptMap {
        /// Tenant.
        tenant: String,
        /// The new object.
        object: String,
        /// Map.
        map: String,
        /// What is another one.
        difference: Box<Difference>,
    },
    /// A run-time operation on an entry.
    #[error("tenant `{tenant}`: {operation} {key}: {found}; {allowed}")]
    Entry {
        /// Tenant.
        tenant: String,
        /// "insert", "modify", "delete".
        operation: &'static str,
        /// The key.
        key: String,
        /// How things are.
        found: String,
        /// What is allowed.
        allowed: String,
    },
    /// A write outside the tenant's space.
    #[error("load `{load}`, step {step}: {what}")]
    Space {
        /// Label of the load.
        load: String,
        /// Step, from 0.
        step: usize,
        /// Whose, found and allowed.
        what: String,
    },
    /// Writes in an order that packets in flight would notice.
    #[error("load `{load}`, step {step}: {what}")]
    Order {
        /// Label of the load.
        load: String,
        /// Step, from 0.
        step: usize,
        /// What must come before.
        what: String,
    },
    /// A refusal of the pipeline's placer.
    #[error(transparent)]
    Rmt(#[from] RmtError),
    /// What an XDP engine in hardware cannot take.
    #[error(transparent)]
    Xdp(Box<XdpError>),
    /// The device has not the engine that an object has a part for.
    #[error("object `{object}` is a program for the engine {engine}, which this device does not have; it has {has}")]
    NoEngine {
        /// Object.
        object: String,
        /// The engine.
        engine: EngineId,
        /// Those that it has.
        has: String,
    },
    /// A load of another format version or target.
    #[error("load `{load}` is for {what} {found}, this NIC has {allowed}")]
    Foreign {
        /// Label of the load.
        load: String,
        /// "format version" or "target".
        what: &'static str,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
}

impl From<XdpError> for LinkError {
    fn from(error: XdpError) -> Self {
        Self::Xdp(Box::new(error))
    }
}

/// What sends, where nobody knows better.
pub(super) const SENDER: &str = "an action of the program, or of an entry";

impl LinkError {
    /// The same with the place that sends where the tenant has no queue, if `place` knows it.
    #[must_use]
    pub fn sent_from(mut self, place: impl Fn(Destination) -> Option<String>) -> Self {
        if let Self::NotGranted { what, found, .. } = &mut self
            && let Some(place) = place(*found)
        {
            *what = what.replace(SENDER, &place);
        }
        self
    }

    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Object { error, .. } => error.code(),
            Self::Target { .. } => "E0220",
            Self::NoDestination { .. } => "E0221",
            Self::NotGranted { .. } => "E0222",
            Self::Demand { .. } => "E0223",
            Self::Taken { .. } => "E0224",
            Self::NoTenant { .. } => "E0225",
            Self::Setting { .. } => "E0226",
            Self::NoRoom { .. } => "E0227",
            Self::NoPlace { .. } => "E0228",
            Self::State { .. } => "E0229",
            Self::Entry { .. } => "E0230",
            Self::Space { .. } => "E0231",
            Self::Order { .. } => "E0232",
            Self::Foreign { .. } => "E0233",
            Self::KeptMap { .. } => "E0470",
            Self::Rmt(error) => error.code(),
            Self::Xdp(error) => error.code(),
            Self::NoEngine { .. } => "E0238",
        }
    }
}

/// "red 128, blue 64", or "nobody".
pub(super) struct Held<'a>(pub(super) &'a [Holder]);

impl fmt::Display for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(|h| format!("{} {}", h.tenant, h.amount)).collect();
        f.write_str(if parts.is_empty() { "nobody" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}
