//! The linker/placer: it alone knows where things lie.
//!
//! [`Linker`] mirrors what the device holds. Every operation returns a [`Load`](crate::Load)
//! and changes the linker only when it succeeds; a caller whose device fails goes back to a
//! clone taken before. A new linker stands for a device after reset: every row zero, every
//! generation 0, no frame accepted before the first [`Linker::nic`].

mod check;
pub mod delivery;
mod engine;
mod entries;
pub mod error;
mod grants;
mod l7;
mod loads;
pub mod placement;
pub mod policy;
#[cfg(feature = "probe")]
mod probe;
mod ranges;
mod regrant;
pub mod rmt;
mod secrets;
mod settings;
pub mod shares;
pub mod spaces;
pub mod tenants;
mod unsafe_order;
mod warnings;
mod writer;
mod xdp;

pub use error::LinkError;
pub use l7::{L7Given, RingMemory};
pub use secrets::Secrets;
pub use settings::{NicSettings, PortSettings};
pub use tenants::{Running, Tenant, TenantSpec, VlanGrant};
pub use unsafe_order::{unsafe_live_bank, unsafe_order};
pub use warnings::Warning;
pub use xdp::{Fit, MapPlace, WEIGHT as XDP_WEIGHT, XdpError, XdpShare};

use crate::xdp::{XdpBound, XdpCompiler};
use engine::Engines;
use rmt::{Placer, StageLeft};
use shares::PortShares;
use sluice_formats::limits::MAX_FRAME_BYTES;
use sluice_formats::{EngineId, Target};
use spaces::Holder;
use std::collections::BTreeMap;

/// Places objects and run-time operations of all tenants of one NIC.
#[derive(Clone, Debug)]
pub struct Linker {
    target: &'static Target,
    settings: NicSettings,
    tenants: BTreeMap<u16, Tenant>,
    /// Current generation by module. It outlives the module's owner, as in the device.
    generations: Vec<u8>,
    /// Shares of each port as last written.
    shares: Vec<PortShares>,
    /// Space of each engine.
    engines: Engines,
    /// Of hash tables that outsiders fill.
    secrets: Secrets,
}

/// What is left to give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Modules, the system's not counted.
    pub modules: u32,
    /// Queue cells.
    pub cells: u32,
    /// Of the rmt pipeline, by stage.
    pub stages: Vec<StageLeft>,
}

impl Linker {
    /// A linker for a device of this target after reset, with every engine but l7, which not every NIC has.
    pub fn new(target: &'static Target) -> Self {
        let engines: Vec<EngineId> = EngineId::all().filter(|engine| *engine != EngineId::L7).collect();
        Self::of(target, &engines, None)
    }

    /// The same for a device that has only these engines. With a compiler its XDP engine is hardware: it takes programs as
    /// rows, and what it has not is refused.
    pub fn of(target: &'static Target, engines: &[EngineId], compile: Option<XdpCompiler>) -> Self {
        Self {
            target,
            settings: NicSettings::new(target),
            tenants: BTreeMap::new(),
            generations: vec![0; target.modules as usize],
            shares: vec![PortShares::default(); target.ports as usize],
            engines: Engines::new(target, engines, compile),
            secrets: Secrets::default(),
        }
    }

    /// The same, which asks by how much XDP programs make frames longer, and charges no more than that.
    #[must_use]
    pub fn bounded_by(mut self, bound: XdpBound) -> Self {
        self.engines.xdp.bound_by(bound);
        self
    }

    /// The same with other secrets of hash tables, before anything is admitted. Without, they are ones that everybody knows: whoever brings
    /// up a NIC that outsiders send to draws some ([`Secrets::drawn`]).
    pub fn with_secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self.engines.l7.secrets = secrets;
        self.engines.xdp.set_secrets(secrets);
        self
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

    /// Where things lie in the rmt pipeline.
    pub fn placer(&self) -> &Placer {
        &self.engines.rmt
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
            cells: self.grantable_cells().saturating_sub(cells),
            stages: self.engines.rmt.left(),
        }
    }

    fn names(&self) -> String {
        let names: Vec<String> = self.tenants.values().map(|t| format!("{} ({})", t.spec.id, t.spec.name)).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }

    /// Who holds how much of a resource, most first.
    fn holders(&self, amount: impl Fn(&Tenant) -> u32) -> Vec<Holder> {
        let holder = |t: &Tenant| Holder { tenant: t.spec.name.clone(), amount: amount(t) };
        Holder::most_first(self.tenants.values().map(holder))
    }
}
