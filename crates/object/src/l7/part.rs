//! Relocatable rows of one program of the l7 engine.

use serde::{Deserialize, Serialize};
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::rows::{L7GroupRow, L7MatchRow, L7PortRow, L7StartRow, L7TargetPart};

/// Rows of one program as they are on the device, but for what only the linker knows: module, generation, where rows
/// and groups lie, rings. Such fields are 0; rows, start rows and groups count from 0, queues are the tenant's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L7Part {
    /// UDP ports: applications, endpoints, raw applications.
    pub applications: Vec<L7Application>,
    /// Start rows; an application's are `types` of them from its `start` on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<L7StartRow>,
    /// Match rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<L7MatchRow>,
    /// Groups of queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<L7GroupRow>,
}

/// What comes to a UDP port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L7Application {
    /// Its name, for people.
    pub name: String,
    /// Its row.
    pub row: L7PortRow,
    /// Packets are dropped while its rules change, in place of going by the old or the new ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discard: bool,
}

impl L7Part {
    /// Every target of the program.
    pub(crate) fn targets(&self) -> impl Iterator<Item = L7TargetPart> + '_ {
        let of_row = |row: &L7MatchRow| row.alternatives.0.map(|a| a.target).into_iter().chain([row.miss]);
        let of_rows = self.rows.iter().flat_map(of_row);
        let of_ports = self.applications.iter().map(|application| application.row.otherwise);
        of_rows.chain(self.starts.iter().map(|row| row.target)).chain(of_ports)
    }

    /// Queues that the program names, from 0: one more than the highest. Each becomes a ring.
    pub fn queues(&self) -> u32 {
        let direct = self.targets().filter(|t| t.goal() == Some(L7Goal::Queue)).map(|t| u32::from(t.number));
        let grouped = self.groups.iter().flat_map(|group| group.slots).map(u32::from);
        direct.chain(grouped).map(|queue| queue + 1).max().unwrap_or(0)
    }
}
