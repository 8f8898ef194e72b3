//! What matchers read: the engine's tables as the hardware has them.

use sluice_formats::l7::compare::MatchShape;
use sluice_formats::l7::rows::{L7GroupRow, L7MatchRow, L7StartRow};

/// The tables of one engine, of all modules together. A row that is not there is as zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Match rows.
    pub rows: Vec<L7MatchRow>,
    /// Start rows.
    pub starts: Vec<L7StartRow>,
    /// Groups.
    pub groups: Vec<L7GroupRow>,
    /// What the engine's match rows hold: a longer compare is a fault.
    pub shape: MatchShape,
}
