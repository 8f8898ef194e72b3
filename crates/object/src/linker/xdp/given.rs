//! What a tenant is given of the XDP engine: work of a packet, and a part of the queues in front of the cores.

use super::bays;
use crate::linker::tenants::TenantSpec;
use crate::linker::{LinkError, Linker};
use sluice_formats::Target;
use sluice_formats::xdp::target::{MOST_GROWTH, MOST_WORK, Target as Engine, WORK};

/// Weight of a tenant that asks for none.
pub const WEIGHT: u16 = 16;

/// KiB of a bay of packet memory that comes with each own context, of a tenant that asks for no other number: what packets up to 1,518 bytes need
/// whose frames grow, or whose program has up to five frames of functions.
const MEMORY: u8 = 5;

/// A tenant's part of the queues in front of the cores of an XDP engine in hardware, and of the cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XdpShare {
    /// Weight in the round robin of what programs cost, 1 or more.
    pub weight: u16,
    /// Rows of the bus that only his packets may take.
    pub rows: u16,
    /// Contexts of all cores together that only his packets may take, a multiple of the cores.
    pub contexts: u8,
    /// KiB of packet memory that come with each; packets that need more do not take his own.
    pub memory: u8,
}

impl XdpShare {
    /// What is not given is as usual.
    pub fn given(weight: Option<u16>, rows: Option<u16>, contexts: Option<u8>, memory: Option<u8>) -> Self {
        let usual = Self::default();
        Self {
            weight: weight.unwrap_or(usual.weight),
            rows: rows.unwrap_or(usual.rows),
            contexts: contexts.unwrap_or(usual.contexts),
            memory: memory.unwrap_or(usual.memory),
        }
    }

    /// KiB of packet memory that come with each context; without contexts none do.
    pub fn memory_each(&self) -> u8 {
        if self.contexts > 0 { self.memory } else { 0 }
    }
}

impl Default for XdpShare {
    fn default() -> Self {
        Self { weight: WEIGHT, rows: 0, contexts: 0, memory: MEMORY }
    }
}

/// Rows of the queues that may be reserved: each module's list has an empty one.
fn reservable(target: &Target) -> u32 {
    let engine = Engine::by_name(target.name);
    (engine.queue_rows - engine.modules) as u32
}

impl TenantSpec {
    /// Most taken back edges and calls of a packet, on every device.
    pub fn packet_work(&self) -> u32 {
        self.xdp_work.unwrap_or(WORK)
    }

    /// Bytes by which a program makes a frame longer at most: what is known of it, where that is less than what the tenant is given.
    pub(super) fn xdp_growth_of(&self, bound: Option<u16>) -> Option<u16> {
        self.xdp_growth.map(|given| bound.map_or(given, |bound| bound.min(given)))
    }

    fn reserved_contexts(&self) -> u32 {
        self.xdp_share.map_or(0, |share| share.contexts.into())
    }

    /// KiB of packet memory of each core.
    fn reserved_memory(&self, engine: &Engine) -> u32 {
        self.xdp_share.map_or(0, |share| u32::from(share.contexts) / engine.cores as u32 * u32::from(share.memory))
    }

    fn reserved_rows(&self) -> u32 {
        self.xdp_share.map_or(0, |share| share.rows.into())
    }
}

impl Linker {
    /// Refuses what nobody can be given of the XDP engine, or what others hold.
    pub(in crate::linker) fn check_xdp_given(&self, spec: &TenantSpec) -> Result<(), LinkError> {
        if let Some(work) = spec.xdp_work.filter(|work| !(1..=MOST_WORK).contains(work)) {
            return Err(spec.wrong("xdp_work", work, format!("1 to {MOST_WORK} back edges and calls of a packet")));
        }
        if let Some(growth) = spec.xdp_growth.filter(|growth| *growth > MOST_GROWTH) {
            return Err(spec.wrong("xdp_growth", growth, format!("0 to {MOST_GROWTH} bytes that a frame may gain")));
        }
        if spec.xdp_share.is_some_and(|share| share.weight == 0) {
            return Err(spec.wrong("xdp_share.weight", 0, format!("1 to 65535, or no weight for {WEIGHT}")));
        }
        let (asked, all) = (spec.reserved_rows(), reservable(self.target));
        if asked > all {
            let allowed = format!("at most {all} of {} bytes on target {}", self.target.bus_bytes, self.target.name);
            return Err(spec.wrong("xdp_share.rows", asked, allowed));
        }
        let left = self.xdp_queue_rows_left();
        if asked > left {
            return Err(LinkError::NoRoom {
                resource: "rows of the XDP queues",
                asked,
                left: left.to_string(),
                holders: self.holders(|t| t.spec.reserved_rows()),
            });
        }
        let held = self.tenants().map(|t| t.spec.reserved_contexts()).sum();
        let engine = Engine::by_name(self.target.name);
        let memory = self.tenants().map(|t| t.spec.reserved_memory(engine)).sum();
        let holders = || self.holders(|t| t.spec.reserved_contexts());
        bays::check(engine, spec, (held, memory), holders)
    }

    /// Rows of the XDP engine's queues that nobody has reserved.
    pub fn xdp_queue_rows_left(&self) -> u32 {
        let held: u32 = self.tenants().map(|t| t.spec.reserved_rows()).sum();
        reservable(self.target).saturating_sub(held)
    }
}
