//! `sluice rmt`: modules for the match-action pipeline.

use crate::failure::Failure;
use crate::output::Output;
use crate::rmt::run::RmtRun;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Runs modules of the match-action pipeline
#[derive(Args, Debug)]
pub struct RmtArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(RmtRun),
}

impl RmtArgs {
    /// Does it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        match &self.command {
            Command::Run(run) => run.run(out),
        }
    }
}
