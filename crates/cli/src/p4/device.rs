//! What runs a P4 program.

use crate::failure::Failure;
use clap::ValueEnum;
use sluice_p4::Compiled;

/// Devices that run a P4 program, as the command line names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Device {
    /// The interpreter
    Reference,
    /// The pipeline's fast model, with the packets of its specification
    Model,
    /// The pipeline in RTL, alone
    Rtl,
    /// The RTL with the model in lockstep
    Both,
    /// Both, and every packet that leaves is compared with the reference's
    All,
}

impl Device {
    /// Its name on the command line.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// That the reference can be beside it, if it is to be: what the RTL says of time is its own clock's.
    pub fn check_beside(self, reference: bool, compiled: &Compiled) -> Result<(), Failure> {
        let has_clock = matches!(self, Device::Rtl | Device::Both | Device::All);
        match has_clock && (reference || self == Device::All) && compiled.reads_time() {
            true => Err(Failure::input(
                "E0794",
                "a program that looks at the time, which the reference and the RTL each have by their own clock",
            )
            .help("--device both compares RTL and model; --device model has the reference's time")),
            false => Ok(()),
        }
    }
}
