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

/// The same with programs compiled to machine code where that is possible, for the data plane.
pub static COMPILED_XDP: Model = Model {
    id: EngineId::XDP,
    new: |target| Box::new(XdpEngine::new(*target).executed_by(sluice_jit::executor)),
    behind: false,
};

/// Of message dispatch.
pub static L7: Model = Model { id: EngineId::L7, new: |target| Box::new(L7Engine::new(target)), behind: true };

/// Engines in the order in which a packet meets them.
pub type Models = &'static [&'static Model];

/// Those of the whole NIC.
pub static ALL: Models = &[&RMT, &XDP, &L7];
/// Those of the bare NIC.
pub static BARE: Models = &[&RMT];
/// The pipeline and the XDP engine.
pub static WITH_XDP: Models = &[&RMT, &XDP];
/// The pipeline and message dispatch.
pub static WITH_L7: Models = &[&RMT, &L7];

/// The engines that a NIC may have, as sets.
pub static SETS: [Models; 4] = [ALL, BARE, WITH_XDP, WITH_L7];

/// The set that is these, in any order; none if no NIC has them.
pub fn set(engines: &[EngineId]) -> Option<Models> {
    SETS.into_iter().find(|models| EngineId::set(ids(models)) == EngineId::set(engines.iter().copied()))
}

/// The set of these names, each once and in any order; none if no NIC has them.
pub fn named<'a>(names: impl Iterator<Item = &'a str>) -> Option<Models> {
    let ids: Vec<EngineId> = names.map(EngineId::from_name).collect::<Option<_>>()?;
    set(&ids).filter(|models| models.len() == ids.len())
}

/// Which they are.
pub fn ids(models: &'static [&'static Model]) -> impl Iterator<Item = EngineId> {
    models.iter().map(|model| model.id)
}

/// All engines of the software NIC.
pub fn all(target: &Target) -> Engines {
    these(ALL, target)
}

/// These with XDP programs compiled.
pub fn compiled(models: &[&'static Model], target: &Target) -> Engines {
    let fast = |model: &&'static Model| if model.id == EngineId::XDP { &COMPILED_XDP } else { *model };
    these(&models.iter().map(fast).collect::<Vec<_>>(), target)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nic_has_the_pipeline_and_any_of_the_others() {
        let named =
            |names: &[&str]| set(&names.iter().map(|name| EngineId::from_name(name).unwrap()).collect::<Vec<_>>());
        assert_eq!(named(&["rmt"]), Some(BARE));
        assert_eq!(named(&["l7", "rmt"]), Some(WITH_L7));
        assert_eq!(named(&["xdp", "rmt", "l7", "rmt"]), Some(ALL));
        assert_eq!((named(&[]), named(&["xdp"]), named(&["xdp", "l7"])), (None, None, None));
    }
}
