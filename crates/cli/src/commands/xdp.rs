//! `sluice xdp`: XDP object files, as clang writes them for Linux.

use crate::failure::Failure;
use crate::output::Output;
use crate::xdp::bench::XdpBench;
use crate::xdp::check::Check;
use crate::xdp::compile::CompileArgs;
use crate::xdp::disasm::Disasm;
use crate::xdp::run::XdpRun;
use crate::xdp::show::ShowArgs;
use crate::xdp::warp::WarpArgs;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Runs, measures, checks, disassembles and compiles XDP programs
#[derive(Args, Debug)]
pub struct XdpArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<XdpRun>),
    Bench(Box<XdpBench>),
    Check(Check),
    Disasm(Disasm),
    Compile(CompileArgs),
    Show(ShowArgs),
    Warp(WarpArgs),
}

impl XdpArgs {
    /// Does it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        match &self.command {
            Command::Run(run) => run.run(out),
            Command::Bench(bench) => bench.run(out),
            Command::Check(check) => check.run(out),
            Command::Disasm(disasm) => disasm.run(out),
            Command::Compile(compile) => compile.run(out),
            Command::Show(show) => show.run(out),
            Command::Warp(warp) => warp.run(out),
        }
    }
}
