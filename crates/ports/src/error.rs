//! What can go wrong when a port is opened or used.

use crate::port::PortKind;
use std::io;

/// A kind that was not taken, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The kind.
    pub kind: PortKind,
    /// The reason, as a text for people.
    pub why: String,
}

/// A port that cannot be opened, or that failed.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// The system refused something.
    #[error("interface `{name}`: {what}: {error}")]
    Interface {
        /// Its name.
        name: String,
        /// What was tried.
        what: &'static str,
        /// The system's answer.
        error: io::Error,
    },
    /// Another NIC has the interface, or another port of this one.
    #[error(
        "interface `{name}`: another sluice process has it, or another port of this one: each frame would be taken twice; an \
         interface belongs to one port of one NIC"
    )]
    Taken {
        /// Its name.
        name: String,
    },
    /// No kind was possible.
    #[error("interface `{name}`: {}", listed(.refused))]
    NoKind {
        /// Its name.
        name: String,
        /// What was tried.
        refused: Vec<Refused>,
    },
}

fn listed(refused: &[Refused]) -> String {
    let texts: Vec<String> = refused.iter().map(|r| format!("{}: {}", r.kind, r.why)).collect();
    texts.join("; ")
}

impl PortError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Interface { .. } | Self::NoKind { .. } => "E0308",
            Self::Taken { .. } => "E0313",
        }
    }
}
