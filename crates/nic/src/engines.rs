//! The engines that there is a model of. This file is their registry.

use sluice_device::{Engine, Engines};
use sluice_ebpf::XdpEngine;
use sluice_formats::{EngineId, Target};
use sluice_rmt::RmtEngine;

/// The model of an engine.
#[derive(Debug)]
pub struct Model {
    /// Which engine it is.
    pub id: EngineId,
    /// Makes it, as after a reset.
    pub new: fn(&Target) -> Box<dyn Engine>,
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Model {}

/// Of the rmt pipeline.
pub static RMT: Model = Model { id: EngineId::RMT, new: |target| Box::new(RmtEngine::new(target)) };

/// Of the XDP engine.
pub static XDP: Model = Model { id: EngineId::XDP, new: |target| Box::new(XdpEngine::new(*target)) };

/// Those of the software NIC, in the order in which a packet meets them.
pub static ALL: &[&Model] = &[&RMT, &XDP];

/// All engines of the software NIC.
pub fn all(target: &Target) -> Engines {
    these(ALL, target)
}

/// Engines in this order.
pub fn these(models: &[&Model], target: &Target) -> Engines {
    Engines::new(models.iter().map(|model| (model.new)(target)).collect())
}
