//! Policies by which tenants share the pipeline's rows when they are all known (Menshen 3.4, docs/decisions/policies.md).
//!
//! A tenant's tables ask for entries, and an entry takes rows of some stages. How many each gets is decided before the first tenant is
//! admitted; which stages of the pipeline his are, too. What a tenant has got, no later one takes.

mod fill;
mod room;

pub use fill::{Claimant, Fraction, Held, dominant, fill};
pub use room::{Claim, Given, RESOURCES, share_out};

use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

/// How tenants share the pipeline's rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Each program gets what it was compiled with: of each stage a quarter, if it asks for so much.
    #[default]
    Fixed,
    /// Dominant resource fairness (Ghodsi et al., NSDI 2011).
    Drf,
    /// The largest sum of utilities, a tenant's being the sum over his tables of 1 + 1/2 + ... + 1/entries by his weight.
    Utility,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fixed, Self::Drf, Self::Utility];

    /// Its name in files and commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Drf => "drf",
            Self::Utility => "utility",
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Policy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|policy| policy.name() == text);
        found.ok_or_else(|| format!("policy `{}`, expected fixed, drf or utility", text.escape_debug()))
    }
}
