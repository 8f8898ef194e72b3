//! Which devices a command runs on, and how they are opened.

use crate::failure::Failure;
use crate::xdp::jit::Switch;
use clap::ValueEnum;
use sluice_device::Device;
use sluice_formats::{EngineId, Target};
use sluice_nic::SoftwareNic;
use sluice_nic::dataplane::{self, DataPlane};
use sluice_nic::engines::{self, Models};
use sluice_nic::software::Options;
use sluice_rtlsim::{Comparison, RtlError, RtlNic, RtlOptions, Top, Waves, top};
use std::fmt;
use std::path::{Path, PathBuf};

/// Devices as the command line names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// The software NIC, tick by tick
    Model,
    /// The software NIC that keeps up with interfaces: each packet at once
    Dataplane,
    /// The RTL in simulation
    Rtl,
    /// Both: the RTL with the model in lockstep, compared in every packet and counter
    Both,
}

impl Choice {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Dataplane => dataplane::KIND,
            Self::Rtl => "rtl",
            Self::Both => "both",
        }
    }

    /// The software NIC of this name with these engines, where it is one.
    pub fn software(self, target: &Target, models: Models, how: Plane) -> Option<Box<dyn Device>> {
        match self {
            Self::Model => Some(model(target, models)),
            Self::Dataplane => Some(Box::new(data_plane(target, models, how))),
            Self::Rtl | Self::Both => None,
        }
    }

    /// Whether the RTL runs, alone or with the model.
    pub fn has_rtl(self) -> bool {
        matches!(self, Self::Rtl | Self::Both)
    }
}

/// Tops of the RTL as the command line names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TopChoice {
    /// The NIC, with its engines
    #[default]
    Nic,
    /// The match-action pipeline alone, with ports and queues around it in software
    Rmt,
    /// The XDP engine alone, with ports and queues around it in software
    Xdp,
}

impl TopChoice {
    /// Engines are chosen for the NIC; the others are one engine each.
    pub fn check(self, engines: Option<Set>) -> Result<(), Failure> {
        match engines {
            Some(engines) if self != Self::Nic => {
                let what = format!("--engines {engines}: this top is one engine alone, expected --top nic");
                Err(Failure::input("E0502", what))
            }
            _ => Ok(()),
        }
    }

    /// The top; the NIC's with these engines.
    pub fn top(self, models: Models) -> &'static Top {
        match self {
            Self::Nic => top::with(models),
            Self::Rmt => &top::RMT,
            Self::Xdp => &top::XDP,
        }
    }
}

/// Where waves around a difference go.
pub const WAVES_FOLDER: &str = "out";

/// The target of this name.
pub fn target(name: &str) -> Result<&'static Target, String> {
    Target::nics().find(|nic| nic.name == name).ok_or_else(|| format!("expected {}", Target::nic_names()))
}

/// The target of the XDP engine of this name.
pub fn engine_target(name: &str) -> Result<&'static Target, String> {
    let engines = &sluice_formats::xdp::target::ALL;
    let known = engines.iter().find(|engine| engine.name == name).and_then(|engine| Target::by_name(engine.name));
    known.ok_or_else(|| format!("expected {}", engines.map(|engine| engine.name).join(", ")))
}

/// The target of the rmt pipeline of this name.
pub fn pipeline_target(name: &str) -> Result<&'static Target, String> {
    use sluice_formats::rmt::target::{ALL, SOFT};
    let mut pipelines = ALL.iter().chain([&SOFT]);
    let names = || pipelines.clone().map(|pipeline| pipeline.name).collect::<Vec<_>>().join(", ");
    let unknown = format!("expected {}", names());
    pipelines.find(|pipeline| pipeline.name == name).map(|pipeline| pipeline.nic()).ok_or(unknown)
}

/// The set of engines that is named, with commas between them.
pub fn engines(text: &str) -> Result<Set, String> {
    engines::named(text.split(',')).map(Set).ok_or_else(|| {
        let sets = engines::SETS.map(|models| Set(models).to_string());
        format!("expected {}", sets.join(" or "))
    })
}

/// Engines of a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set(pub Models);

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&engines::ids(self.0).map(EngineId::name).collect::<Vec<_>>().join(","))
    }
}

/// How the data plane runs.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// XDP programs as machine code.
    pub jit: Switch,
    /// Its workers.
    pub workers: usize,
}

impl Default for Plane {
    fn default() -> Self {
        Self { jit: Switch::On, workers: 1 }
    }
}

/// A number of workers.
pub fn workers(text: &str) -> Result<usize, String> {
    let most = dataplane::MOST_WORKERS;
    text.parse().ok().filter(|n| (1..=most).contains(n)).ok_or_else(|| format!("expected 1 to {most}"))
}

/// Refuses workers of a device that has none.
pub fn check_workers(workers: Option<usize>, device: Choice) -> Result<(), Failure> {
    match workers {
        Some(_) if device != Choice::Dataplane => {
            let what = format!("--workers: {} has no workers, expected --device {}", device.name(), dataplane::KIND);
            Err(Failure::input("E0502", what))
        }
        _ => Ok(()),
    }
}

/// The data plane.
pub fn data_plane(target: &Target, models: Models, how: Plane) -> DataPlane {
    match how.jit {
        Switch::On => DataPlane::with_workers(*target, models, how.workers),
        Switch::Off => DataPlane::interpreted(*target, models, how.workers),
    }
}

/// The software NIC.
pub fn model(target: &Target, models: Models) -> Box<dyn Device> {
    Box::new(SoftwareNic::having(*target, models))
}

/// The software NIC at a line rate that somebody asked for: its ports drop what the hardware's FIFOs have no room for.
pub fn model_at_line_rate(target: &Target, models: Models) -> Box<dyn Device> {
    let options = Options { limit_port_fifos: true, ..Options::default() };
    Box::new(SoftwareNic::with_engines(*target, options, engines::these(models, target)))
}

/// Refuses the RTL of a target that no RTL has.
pub fn software_only(target: &Target, choice: Choice) -> Result<(), Failure> {
    if target.is_software() {
        let what = format!("--target {}: no RTL has it, found --device {}", target.name, choice.name());
        return Err(Failure::input("E0502", what).help("--device model and dataplane have it"));
    }
    Ok(())
}

/// The RTL, alone or with the model in lockstep.
pub fn rtl(
    choice: Choice,
    top: &'static Top,
    target: &Target,
    seed: u64,
    waves: Option<&Path>,
) -> Result<Box<dyn Device>, Failure> {
    software_only(target, choice)?;
    let waves = waves.map(|path| Waves::all(path.to_owned()));
    let options = RtlOptions { top, seed, waves, check_accounting: true, ..RtlOptions::default() };
    Ok(match choice {
        Choice::Both => {
            Box::new(Comparison::open(target.name, options, PathBuf::from(WAVES_FOLDER)).map_err(unavailable)?)
        }
        _ => Box::new(RtlNic::open(target.name, options).map_err(unavailable)?),
    })
}

pub(crate) fn unavailable(error: RtlError) -> Failure {
    match error {
        RtlError::Missing { .. } => Failure::input("E0503", error)
            .help("`make plugins` builds them; SLUICE_PLUGIN_DIR names another folder; --device model needs none"),
        RtlError::Failed { .. } => Failure::difference("E0505", error),
        _ => Failure::input("E0503", error),
    }
}
