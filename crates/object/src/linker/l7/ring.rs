//! Rings of a tenant: where they lie in host memory, opened and closed one by one.

use super::given::RINGS;
use super::place::{write, zero};
use super::space::L7Space;
use crate::linker::writer::Writer;
use crate::linker::{LinkError, Linker};
use crate::load::Load;
use sluice_formats::Table;
use sluice_formats::l7::rows::L7RingRow;
use sluice_formats::l7::target::{LEAST_RING_LOG, MOST_RING_LOG};
use std::ops::Range;

/// Descriptors and completions begin at multiples of this.
const ALIGNMENT: u64 = 64;

/// Where a ring lies in host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingMemory {
    /// It has 2^`log_size` descriptors, and as many completions.
    pub log_size: u8,
    /// Address of the descriptors.
    pub descriptors: u64,
    /// Address of the completions.
    pub completions: u64,
}

impl RingMemory {
    /// The row of a module's ring.
    pub fn row(&self, module: u8) -> L7RingRow {
        let Self { log_size, descriptors, completions } = *self;
        L7RingRow { valid: true, module_id: module, log_size, descriptors, completions }
    }

    /// What is wrong with a ring that lies so: what it is of, found, allowed.
    pub(super) fn mistake(&self) -> Option<(&'static str, String, String)> {
        if !(LEAST_RING_LOG..=MOST_RING_LOG).contains(&self.log_size) {
            let allowed = format!("2^{LEAST_RING_LOG} to 2^{MOST_RING_LOG}");
            return Some(("buffers of a ring", format!("2^{}", self.log_size), allowed));
        }
        let places = [("address of descriptors", self.descriptors), ("address of completions", self.completions)];
        let (what, address) = places.into_iter().find(|(_, address)| address % ALIGNMENT != 0)?;
        Some((what, format!("{address:#x}"), format!("multiples of {ALIGNMENT}")))
    }
}

impl L7Space {
    /// Numbers of a module's rings.
    fn rings_of(&self, module: u8) -> Range<u32> {
        let holding = self.holders.get(&module);
        holding.map_or(0..0, |holding| holding.bases[RINGS]..holding.bases[RINGS] + holding.count(RINGS))
    }
}

impl Linker {
    /// Rings of a tenant: the first one is queue 0 of his rules.
    pub fn rings(&self, id: u16) -> Result<Range<u32>, LinkError> {
        Ok(self.engines.l7.rings_of(self.tenant(id)?.module))
    }

    /// Opens the ring of a queue: messages go into the buffers that its process posts. Until then they leave as frames.
    pub fn open_ring(&mut self, id: u16, queue: u8, memory: RingMemory) -> Result<Load, LinkError> {
        let (ring, name) = self.ring_of(id, queue)?;
        if let Some((what, found, allowed)) = memory.mistake() {
            return Err(LinkError::Setting { what: format!("tenant `{name}`, queue {queue}: {what}"), found, allowed });
        }
        self.change_ring(id, ring, Some(memory), format!("open ring {queue} of {name}"))
    }

    /// Closes it. Messages that have a buffer end as they would have.
    pub fn close_ring(&mut self, id: u16, queue: u8) -> Result<Load, LinkError> {
        let (ring, name) = self.ring_of(id, queue)?;
        self.change_ring(id, ring, None, format!("close ring {queue} of {name}"))
    }

    /// The ring of a tenant's queue, and his name.
    fn ring_of(&self, id: u16, queue: u8) -> Result<(u32, String), LinkError> {
        let (rings, name) = (self.rings(id)?, self.tenant(id)?.spec.name.clone());
        match rings.clone().nth(queue.into()) {
            Some(ring) => Ok((ring, name)),
            None => {
                let allowed = match rings.len() {
                    0 => "nothing: the tenant was given no rings".to_owned(),
                    n => format!("queues 0 to {}", n - 1),
                };
                let what = format!("tenant `{name}`: queue of a ring");
                Err(LinkError::Setting { what, found: queue.to_string(), allowed })
            }
        }
    }

    fn change_ring(
        &mut self,
        id: u16,
        ring: u32,
        memory: Option<RingMemory>,
        label: String,
    ) -> Result<Load, LinkError> {
        let tenant = self.tenant(id)?;
        let module = tenant.module;
        let holding = self.engines.l7.holders.get(&module);
        let is_open = holding.is_some_and(|holding| holding.open.contains(&ring));
        if is_open == memory.is_some() {
            let (operation, found, allowed) = match is_open {
                true => ("open a ring", "it is open", "a ring that is closed"),
                false => ("close a ring", "it is closed", "a ring that is open"),
            };
            return Err(tenant.state(operation, found.to_owned(), allowed));
        }
        let mut next = self.clone();
        if let Some(holding) = next.engines.l7.holders.get_mut(&module) {
            if is_open {
                holding.open.remove(&ring)
            } else {
                holding.open.insert(ring)
            };
        }
        let row = match memory {
            Some(memory) => write(Table::L7Ring, ring, &memory.row(module)),
            None => zero::<L7RingRow>(Table::L7Ring, ring),
        };
        let mut w = Writer::default();
        w.rows(vec![row]);
        let load = w.load(&next, id, label);
        self.check(&load)?;
        *self = next;
        Ok(load)
    }
}
