//! Where a visit ends though it need not, so that what it decides beside a table does not multiply the table's rows.

use std::collections::BTreeSet;

/// Tables whose visits do nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ends {
    /// What a visit has decided or counted before such a table is applied stays in a visit of its own.
    pub before: BTreeSet<usize>,
    /// The visit that applies such a table ends with the action that is found.
    pub behind: BTreeSet<usize>,
    /// Or with the entry that is found, whose action is done behind it.
    pub found: BTreeSet<usize>,
}

/// Visits that end only where they have to.
pub(crate) static NO_ENDS: Ends = Ends { before: BTreeSet::new(), behind: BTreeSet::new(), found: BTreeSet::new() };
