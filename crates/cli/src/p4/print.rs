//! `sluice p4 print`: a program in one form.

use super::{ReadArgs, failure};
use crate::failure::Failure;
use crate::output::Output;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Prints a program in one form: what it includes in its place, macros expanded, without comments
///
/// What is printed reads back as the same program. Names and types are not checked.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  sluice p4 print programs/p4/reflector.p4")]
pub struct Print {
    /// Program, *.p4
    file: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
}

impl Print {
    /// Reads and prints it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let program = self.read.reader().parse(&self.file).map_err(|errors| failure(&errors))?;
        out.text(&program.to_string())?;
        Ok(ExitCode::SUCCESS)
    }
}
