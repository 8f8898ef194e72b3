//! `sluice rmt`: modules for the match-action pipeline.

use crate::failure::Failure;
use crate::output::Output;
use crate::rmt::build::Build;
use crate::rmt::check::Check;
use crate::rmt::run::RmtRun;
use crate::rmt::show::Show;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Checks, builds, shows and runs modules of the match-action pipeline
#[derive(Args, Debug)]
pub struct RmtArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(Check),
    Build(Build),
    Show(Show),
    Run(RmtRun),
}

impl RmtArgs {
    /// Does it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        match &self.command {
            Command::Check(check) => check.run(out),
            Command::Build(build) => build.run(out),
            Command::Show(show) => show.run(out),
            Command::Run(run) => run.run(out),
        }
    }
}
