//! `sluice l7`: rules of message dispatch.

use crate::failure::Failure;
use crate::l7::check::Check;
use crate::l7::compile::CompileArgs;
use crate::l7::explain_match::ExplainMatch;
use crate::l7::run::RunArgs;
use crate::output::Output;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Checks, compiles and runs rules of message dispatch, and says which of them takes a message and why
#[derive(Args, Debug)]
pub struct L7Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(Check),
    Compile(CompileArgs),
    ExplainMatch(ExplainMatch),
    Run(RunArgs),
}

impl L7Args {
    /// Does it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        match &self.command {
            Command::Check(check) => check.run(out),
            Command::Compile(compile) => compile.run(out),
            Command::ExplainMatch(explain) => explain.run(out),
            Command::Run(run) => run.run(out),
        }
    }
}
