//! Which devices a command runs on, and how they are opened.

use crate::failure::Failure;
use clap::ValueEnum;
use sluice_device::Device;
use sluice_formats::Target;
use sluice_nic::SoftwareNic;
use sluice_nic::software::Options;
use sluice_rtlsim::{Comparison, RtlError, RtlNic, RtlOptions, Top, Waves, top};
use std::path::{Path, PathBuf};

/// Devices as the command line names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// The software NIC
    Model,
    /// The RTL in simulation
    Rtl,
    /// Both: the RTL with the model in lockstep, compared in every packet and counter
    Both,
}

/// Tops of the RTL as the command line names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TopChoice {
    /// The whole NIC
    #[default]
    Nic,
    /// The match-action pipeline alone, with ports and queues around it in software
    Rmt,
    /// The XDP engine alone, with ports and queues around it in software
    Xdp,
}

impl TopChoice {
    /// The top.
    pub fn top(self) -> &'static Top {
        match self {
            Self::Nic => &top::NIC,
            Self::Rmt => &top::RMT,
            Self::Xdp => &top::XDP,
        }
    }
}

/// Where waves around a difference go.
pub const WAVES_FOLDER: &str = "out";

/// The target of this name.
pub fn target(name: &str) -> Result<&'static Target, String> {
    sluice_formats::target::ALL.iter().find(|t| t.name == name).ok_or_else(|| {
        let names: Vec<&str> = sluice_formats::target::ALL.iter().map(|t| t.name).collect();
        format!("expected {}", names.join(" or "))
    })
}

/// The target of the rmt pipeline of this name.
pub fn pipeline_target(name: &str) -> Result<&'static Target, String> {
    Target::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = Target::every().map(|t| t.name).collect();
        format!("expected {}", names.join(", "))
    })
}

/// The software NIC.
pub fn model(target: &Target) -> Box<dyn Device> {
    Box::new(SoftwareNic::new(*target))
}

/// The software NIC at a line rate that somebody asked for: its ports drop what the hardware's FIFOs have no room for.
pub fn model_at_line_rate(target: &Target) -> Box<dyn Device> {
    Box::new(SoftwareNic::with_options(*target, Options { limit_port_fifos: true, ..Options::default() }))
}

/// The RTL, alone or with the model in lockstep.
pub fn rtl(
    choice: Choice,
    top: &'static Top,
    target: &Target,
    seed: u64,
    waves: Option<&Path>,
) -> Result<Box<dyn Device>, Failure> {
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
