//! What runs a P4 program.

use clap::ValueEnum;

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
}
