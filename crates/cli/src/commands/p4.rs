//! `sluice p4`: P4-16 programs.

use crate::failure::Failure;
use crate::output::Output;
use crate::p4::check::Check;
use crate::p4::compile::Compile;
use crate::p4::graph::Graph;
use crate::p4::info::Info;
use crate::p4::print::Print;
use crate::p4::run::Run;
use crate::p4::test::Test;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Checks P4-16 programs, prints them in one form, compiles them to the pipeline, draws them there, runs them with scripts of packets, and writes P4Info
#[derive(Args, Debug)]
pub struct P4Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(Check),
    Compile(Compile),
    Graph(Graph),
    Info(Info),
    Print(Print),
    Run(Run),
    Test(Test),
}

impl P4Args {
    /// Does it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        match &self.command {
            Command::Check(check) => check.run(out),
            Command::Compile(compile) => compile.run(out),
            Command::Graph(graph) => graph.run(out),
            Command::Info(info) => info.run(out),
            Command::Print(print) => print.run(out),
            Command::Run(run) => run.run(out),
            Command::Test(test) => test.run(out),
        }
    }
}
