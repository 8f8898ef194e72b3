//! STF: the scripts in which public P4 programs say which packets go in and which come out.
//!
//! A line is a command. Entries, groups and packets take effect in the order of the lines; what is expected is compared
//! at the end, in order for each port.

mod command;
mod compare;
mod entries;
mod error;
mod line;
mod names;
mod parse;
mod ports;
mod run;

pub use compare::Failure;
pub use error::{StfErrors, StfProblem};
pub(crate) use run::GIVEN_UP;
pub use run::{Carrier, CarrierError, Report};

use command::Command;

/// A script that was read.
#[derive(Clone, Debug)]
pub struct Script {
    text: String,
    commands: Vec<Command>,
}

impl Script {
    /// Reads a script; `name` is that of its file.
    pub fn parse(name: &str, text: &str) -> Result<Script, StfErrors> {
        let commands = parse::parse(name, text)?;
        Ok(Script { text: text.to_string(), commands })
    }
}
