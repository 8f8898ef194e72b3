//! What can go wrong around a plug-in.

use sluice_device::DeviceError;

/// A plug-in that is missing, of another version, or whose simulation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RtlError {
    /// No such file.
    #[error("plug-in {name} is in none of: {searched}; to build it: {recipe}")]
    Missing {
        /// File name.
        name: String,
        /// Places, separated by commas.
        searched: String,
        /// Command that builds it.
        recipe: &'static str,
    },
    /// The loader refused it.
    #[error("plug-in {path}: {what}")]
    Load {
        /// File.
        path: String,
        /// The loader's words.
        what: String,
    },
    /// Another version of the C interface, format or target.
    #[error("plug-in {path}: {what} is {found}, this program takes {allowed}; to rebuild it: make plugins")]
    Mismatch {
        /// File.
        path: String,
        /// "interface version", "format version", "target hash", "configuration".
        what: &'static str,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
    /// The top could not be started.
    #[error("plug-in {path}: {what}")]
    Open {
        /// File.
        path: String,
        /// The shim's words.
        what: String,
    },
    /// A failed assertion, `$fatal`, or a broken rule of a bus.
    #[error("the RTL simulation failed: {what}")]
    Failed {
        /// Message.
        what: String,
    },
    /// Waves were asked of a plug-in that has none.
    #[error("waves cannot be written to {path}: {what}")]
    Waves {
        /// File asked for.
        path: String,
        /// Why.
        what: String,
    },
    /// The identity could not be read from the configuration ring.
    #[error("the NIC did not identify itself on the configuration ring: {what}")]
    Identity {
        /// Why.
        what: String,
    },
    /// A parameter outside its range.
    #[error("{what} is {found}, allowed is {allowed}")]
    Parameter {
        /// Which.
        what: &'static str,
        /// Found.
        found: String,
        /// Allowed.
        allowed: String,
    },
}

impl From<RtlError> for DeviceError {
    fn from(error: RtlError) -> Self {
        DeviceError::Unavailable(error.to_string())
    }
}
