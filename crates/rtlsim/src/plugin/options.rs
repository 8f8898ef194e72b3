//! How a simulated NIC is run.

use crate::plugin::fault::Faults;
use crate::plugin::locate::Variant;
use crate::plugin::top::{self, Top};
use std::path::PathBuf;

/// When a destination is ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ready {
    /// In every cycle.
    #[default]
    Always,
    /// Never.
    Never,
    /// In about `chance` of 256 cycles, at random.
    Random {
        /// 1 to 255.
        chance: u8,
    },
    /// In runs of random length.
    Bursts {
        /// About how many of 256 cycles are ready.
        chance: u8,
        /// Longest run in cycles.
        longest: u16,
    },
}

impl Ready {
    pub(crate) fn chance_and_burst(self) -> (u32, u32) {
        match self {
            Self::Always => (256, 0),
            Self::Never => (0, 0),
            Self::Random { chance } => (chance.into(), 0),
            Self::Bursts { chance, longest } => (chance.into(), longest.into()),
        }
    }
}

/// Gaps and stalls on every interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// Chance in 256ths of a gap before each beat of a port, for all ports.
    pub port_gaps: u8,
    /// Readiness of the destinations that are not blocked.
    pub ready: Ready,
    /// Chance in 256ths of a gap before each configuration word in.
    pub config_gaps: u8,
    /// Chance in 256ths of a stall of each configuration word out.
    pub config_stalls: u8,
}

/// Waves to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waves {
    /// FST file.
    pub path: PathBuf,
    /// First tick.
    pub from: u64,
    /// Tick after the last.
    pub to: u64,
}

impl Waves {
    /// Waves of everything.
    pub fn all(path: PathBuf) -> Self {
        Self { path, from: 0, to: u64::MAX }
    }
}

/// Options of an `RtlNic`.
#[derive(Clone, Debug)]
pub struct RtlOptions {
    /// Which top.
    pub top: &'static Top,
    /// Every destination is a port ([`Target::all_ports`](sluice_formats::Target::all_ports)), where the top has no ports of its own.
    pub all_ports: bool,
    /// Which build; with `waves` always the one that has them.
    pub variant: Variant,
    /// Each packet waits until the one before has left, where programs write maps: whoever follows knows the order in which
    /// packets reach the maps only so.
    pub in_turns: bool,
    /// Decides initial values, padding bytes, gaps, stalls and faults.
    pub seed: u64,
    /// Waves to write.
    pub waves: Option<Waves>,
    /// Gaps and stalls.
    pub stalls: Stalls,
    /// Faults on the configuration ring.
    pub faults: Faults,
    /// Cycles in which nothing can happen are left out (docs/decisions/idle-jump.md).
    pub idle_jumps: bool,
    /// Recount every snapshot from the trace and fail when it differs.
    pub check_accounting: bool,
}

impl Default for RtlOptions {
    fn default() -> Self {
        Self {
            top: &top::NIC,
            all_ports: false,
            variant: Variant::Test,
            in_turns: false,
            seed: 1,
            waves: None,
            stalls: Stalls::default(),
            faults: Faults::default(),
            idle_jumps: true,
            check_accounting: cfg!(debug_assertions),
        }
    }
}
