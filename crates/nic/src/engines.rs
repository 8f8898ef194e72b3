//! The engines that there is a model of. This file is their registry.

use sluice_device::{Engine, Engines};
use sluice_ebpf::XdpEngine;
use sluice_formats::{EngineId, Target};
use sluice_l7::device::L7Engine;
use sluice_rmt::RmtEngine;

/// The model of an engine.
#[derive(Debug)]
pub struct Model {
    /// Which engine it is.
    pub id: EngineId,
    /// Makes it, as after a reset.
    pub new: fn(&Target) -> Box<dyn Engine>,
    /// It stands behind the last host queue, not in line.
    pub behind: bool,
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Model {}

/// Of the rmt pipeline.
pub static RMT: Model = Model { id: EngineId::RMT, new: |target| Box::new(RmtEngine::new(target)), behind: false };

/// Of the XDP engine.
pub static XDP: Model = Model { id: EngineId::XDP, new: |target| Box::new(XdpEngine::new(*target)), behind: false };

/// Of message dispatch.
pub static L7: Model = Model { id: EngineId::L7, new: |target| Box::new(L7Engine::new(target)), behind: true };

/// Those of the software NIC, in the order in which a packet meets them.
pub static ALL: &[&Model] = &[&RMT, &XDP, &L7];

/// All engines of the software NIC.
pub fn all(target: &Target) -> Engines {
    these(ALL, target)
}

/// Engines in this order.
pub fn these(models: &[&Model], target: &Target) -> Engines {
    let made = |behind| models.iter().filter(move |model| model.behind == behind).map(|model| (model.new)(target));
    let engines = Engines::new(made(false).collect());
    match made(true).next() {
        Some(engine) => engines.behind(engine),
        None => engines,
    }
}
