//! The engines of a NIC's model, in the order in which a packet meets them. This file is their registry.

use sluice_device::{Engine, Engines};
use sluice_ebpf::XdpEngine;
use sluice_formats::{EngineId, Target};
use sluice_rmt::RmtEngine;

/// Makes an engine after reset.
type New = fn(&Target) -> Box<dyn Engine>;

const ALL: [(EngineId, New); 2] = [
    (EngineId::RMT, |target| Box::new(RmtEngine::new(target))),
    (EngineId::XDP, |target| Box::new(XdpEngine::new(*target))),
];

/// All engines that there is a model of.
pub fn all(target: &Target) -> Engines {
    Engines::new(ALL.iter().map(|(_, new)| new(target)).collect())
}

/// Those of a device that has these ones; what it is followed by.
pub fn those(target: &Target, ids: &[EngineId]) -> Engines {
    Engines::new(ALL.iter().filter(|(id, _)| ids.contains(id)).map(|(_, new)| new(target)).collect())
}
