//! The linker/placer: it alone knows where things lie.
//!
//! [`Linker`] mirrors what the device holds. Every operation returns a [`Load`](crate::Load)
//! and changes the linker only when it succeeds; a caller whose device fails goes back to a
//! clone taken before. A new linker stands for a device after reset: every row zero, every
//! generation 0, no frame accepted before the first [`Linker::nic`].

mod check;
mod entries;
pub mod error;
mod loads;
pub mod placement;
pub mod rmt;
mod settings;
pub mod spaces;
pub mod tenants;
mod unsafe_order;
mod writer;

pub use error::LinkError;
pub use settings::{NicSettings, PortSettings};
pub use tenants::{Running, Tenant, TenantSpec, VlanGrant};
pub use unsafe_order::{unsafe_live_bank, unsafe_order};

use crate::action::Action;
use crate::object::Entry;
use placement::MatchTable;
use sluice_formats::Target;
use sluice_formats::limits::MAX_FRAME_BYTES;
use spaces::{Holder, SetSpace};
use std::collections::BTreeMap;

/// Places objects and run-time operations of all tenants of one NIC.
#[derive(Clone, Debug)]
pub struct Linker {
    target: &'static Target,
    settings: NicSettings,
    tenants: BTreeMap<u16, Tenant>,
    /// Current generation by module. It outlives the module's owner, as in the device.
    generations: Vec<u8>,
    sets: SetSpace,
    table: MatchTable,
}

/// What is left to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Modules, the system's not counted.
    pub modules: u32,
    /// Match sets in all.
    pub sets: u32,
    /// Match sets in the largest block.
    pub largest_block: u32,
    /// Queue cells.
    pub cells: u32,
}

impl Linker {
    /// A linker for a device of this target after reset.
    pub fn new(target: &'static Target) -> Self {
        Self {
            target,
            settings: NicSettings::new(target),
            tenants: BTreeMap::new(),
            generations: vec![0; target.modules as usize],
            sets: SetSpace::new(target.sets),
            table: MatchTable::new(target.sets),
        }
    }

    /// The target it places for.
    pub fn target(&self) -> &'static Target {
        self.target
    }

    /// Settings of the NIC as last written.
    pub fn settings(&self) -> &NicSettings {
        &self.settings
    }

    /// Admitted tenants by ID.
    pub fn tenants(&self) -> impl Iterator<Item = &Tenant> {
        self.tenants.values()
    }

    /// One tenant.
    pub fn tenant(&self, id: u16) -> Result<&Tenant, LinkError> {
        self.tenants.get(&id).ok_or_else(|| LinkError::NoTenant { id, known: self.names() })
    }

    /// Generation that new packets of the tenant are stamped with.
    pub fn generation(&self, id: u16) -> Result<u8, LinkError> {
        Ok(self.generations[usize::from(self.tenant(id)?.module)])
    }

    /// Entries of the running program, by key.
    pub fn entries(&self, id: u16) -> Result<Vec<Entry>, LinkError> {
        let tenant = self.tenant(id)?;
        let rows = tenant.region.into_iter().flat_map(|r| self.table.rows_of(r));
        let entry = |row: &sluice_formats::rows::EntryRow| Entry {
            key: row.key_bytes(),
            action: Action::from_row(&row.action(), self.target),
        };
        let mut all: Vec<Entry> = rows.map(|(_, row)| entry(row)).collect();
        all.sort_by_key(|e| e.key);
        Ok(all)
    }

    /// Cells that limits may add up to. One longest frame stays free beside them: a cell
    /// comes back a few cycles after its queue's count, and a full buffer must not make one
    /// tenant's frame wait for another's cells.
    pub fn grantable_cells(&self) -> u32 {
        self.target.cells.saturating_sub(self.target.beats(MAX_FRAME_BYTES))
    }

    /// What is left to give.
    pub fn left(&self) -> Left {
        let modules = self.tenants.values().filter(|t| t.module != 0).count() as u32;
        let cells: u32 = self.tenants.values().map(|t| t.spec.cells()).sum();
        Left {
            modules: (self.target.modules - 1).saturating_sub(modules),
            sets: self.sets.free(),
            largest_block: self.sets.largest_block(),
            cells: self.grantable_cells().saturating_sub(cells),
        }
    }

    fn names(&self) -> String {
        let names: Vec<String> = self.tenants.values().map(|t| format!("{} ({})", t.spec.id, t.spec.name)).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    /// Who holds how much of a resource, most first.
    fn holders(&self, amount: impl Fn(&Tenant) -> u32) -> Vec<Holder> {
        let holder = |t: &Tenant| Holder { tenant: t.spec.name.clone(), amount: amount(t) };
        let mut all: Vec<Holder> = self.tenants.values().map(holder).filter(|h| h.amount > 0).collect();
        all.sort_by(|a, b| b.amount.cmp(&a.amount).then_with(|| a.tenant.cmp(&b.tenant)));
        all
    }
}
