//! `sluice p4`: P4-16 programs.

use crate::failure::Failure;
use crate::output::Output;
use crate::p4::check::Check;
use crate::p4::print::Print;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Checks P4-16 programs and prints them in one form
#[derive(Args, Debug)]
pub struct P4Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(Check),
    Print(Print),
}

impl P4Args {
    /// Does it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        match &self.command {
            Command::Check(check) => check.run(out),
            Command::Print(print) => print.run(out),
        }
    }
}
