//! `sluice rmt show`: a module in canonical form.

use super::{read_any, target};
use crate::failure::Failure;
use crate::output::Output;
use clap::Args;
use sluice_rmt::Target;
use sluice_rmt::text::print;
use std::path::PathBuf;
use std::process::ExitCode;

/// Prints a module in canonical form: every container, entry and statement as the pipeline has it
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  sluice rmt show programs/rmt/calc.rmt")]
pub struct Show {
    /// Module, *.rmt, or the object of one
    file: PathBuf,
    /// Target of a module, default, tiny, wide or soft, the first if none is given; an object has its own
    #[arg(long, value_parser = target)]
    target: Option<Target>,
}

impl Show {
    /// Reads and prints it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let (unit, target) = read_any(&self.file, &self.target.unwrap_or(sluice_rmt::target::DEFAULT))?;
        if let Some(asked) = self.target.filter(|asked| asked.name != target.name) {
            let (file, asked) = (self.file.display(), asked.name);
            let what = format!("--target {asked}: {file} is an object for target {}, expected that one", target.name);
            return Err(Failure::input("E0502", what));
        }
        out.text(&print(&unit, &target))?;
        Ok(ExitCode::SUCCESS)
    }
}
