//! What a tenant is given of the l7 engine.

use crate::l7::L7Part;
use crate::linker::LinkError;
use crate::linker::tenants::TenantSpec;
use sluice_formats::l7::rows::L7ShareRow;
use sluice_formats::l7::target::{Target, WEIGHT};

/// A tenant without a number of messages gets this part of those that may be on their way, and at least as many as he has packets of the
/// staging buffer.
pub(super) const MESSAGES_PART: usize = 8;

/// A tenant's part of the l7 engine. Of rows there are as many again, for a replacement beside what runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct L7Given {
    /// UDP ports.
    pub ports: u32,
    /// Start rows.
    pub starts: u32,
    /// Match rows.
    pub rows: u32,
    /// Groups of queues.
    pub groups: u32,
    /// Rings; each is a queue of his programs.
    pub rings: u32,
    /// Most messages on their way; without it an eighth of those that may be, and at least as many as `packets`.
    pub messages: Option<u16>,
    /// Packets of the staging buffer that only he has.
    pub packets: u16,
    /// Beats of the staging buffer that only he has.
    pub beats: u16,
    /// His part of the matchers' steps when others want them too, beside theirs; without it as one of 16.
    pub weight: Option<u16>,
}

/// A resource of the engine that tenants are given numbers of, in rows that lie side by side.
#[derive(Clone, Copy)]
pub(super) struct Resource {
    /// Its name.
    pub name: &'static str,
    /// How much of it is given.
    pub given: fn(&L7Given) -> u32,
    /// How much a program takes.
    pub taken: fn(&L7Part) -> u32,
    /// How much there is.
    pub all: fn(&Target) -> u32,
    /// Generations that have some each.
    pub copies: u32,
}

/// Place of a resource in [`RESOURCES`].
pub(super) const PORTS: usize = 0;
pub(super) const STARTS: usize = 1;
pub(super) const ROWS: usize = 2;
pub(super) const GROUPS: usize = 3;
pub(super) const RINGS: usize = 4;

/// All of them.
pub(super) const RESOURCES: [Resource; 5] = [
    Resource {
        name: "UDP ports of l7",
        given: |given| given.ports,
        taken: |part| part.applications.len() as u32,
        all: |target| target.ports as u32,
        copies: 2,
    },
    Resource {
        name: "start rows of l7",
        given: |given| given.starts,
        taken: |part| part.starts.len() as u32,
        all: |target| target.starts as u32,
        copies: 2,
    },
    Resource {
        name: "match rows of l7",
        given: |given| given.rows,
        taken: |part| part.rows.len() as u32,
        all: |target| target.rows as u32,
        copies: 2,
    },
    Resource {
        name: "groups of l7",
        given: |given| given.groups,
        taken: |part| part.groups.len() as u32,
        all: |target| target.groups as u32,
        copies: 2,
    },
    Resource {
        name: "rings",
        given: |given| given.rings,
        taken: L7Part::queues,
        all: |target| target.rings as u32,
        copies: 1,
    },
];

impl L7Given {
    /// Raises it to what a program needs.
    #[must_use]
    pub fn or(self, part: &L7Part) -> Self {
        let most = |given: u32, resource: usize| given.max((RESOURCES[resource].taken)(part));
        Self {
            ports: most(self.ports, PORTS),
            starts: most(self.starts, STARTS),
            rows: most(self.rows, ROWS),
            groups: most(self.groups, GROUPS),
            rings: most(self.rings, RINGS),
            ..self
        }
    }

    /// His row of the staging buffer and the scheduler in front.
    pub(super) fn share_row(&self) -> L7ShareRow {
        L7ShareRow { packets: self.packets, beats: self.beats, weight: self.weight.unwrap_or(WEIGHT) }
    }

    /// Most messages on their way. Each of his packets in the staging buffer may begin one: who has fewer by default loses some of a burst
    /// that the buffer has room for.
    pub(super) fn most_messages(&self, target: &Target) -> u16 {
        self.messages.unwrap_or(((target.messages / MESSAGES_PART) as u16).max(self.packets))
    }

    /// Refuses a program that needs more.
    pub(super) fn check(&self, object: &str, tenant: &TenantSpec, part: &L7Part) -> Result<(), LinkError> {
        let lacks = |resource: &&Resource| (resource.taken)(part) > (resource.given)(self);
        let Some(resource) = RESOURCES.iter().find(lacks) else { return Ok(()) };
        Err(LinkError::Demand {
            object: object.to_owned(),
            what: resource.name.to_owned(),
            asked: (resource.taken)(part).into(),
            tenant: tenant.name.clone(),
            given: (resource.given)(self).into(),
        })
    }
}
