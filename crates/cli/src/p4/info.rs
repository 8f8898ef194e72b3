//! `sluice p4 info`: what the control plane may name in a program.

use super::{ReadArgs, failure};
use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Writes P4Info: tables, actions, counters and so on with their numbers, as P4Runtime's controllers read them
///
/// The numbers are those of the public compiler: what @id gives, or a hash of the name. Sizes are those of the program. A program that v1model cannot run is refused.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice p4 info programs/p4/basic.p4
  sluice p4 info programs/p4/basic.p4 --format binary -o basic.p4info.pb")]
pub struct Info {
    /// Program, *.p4
    file: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// Form of the message p4.config.v1.P4Info
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// File to write, in place of standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Protobuf's text form
    Text,
    /// Protobuf's binary form
    Binary,
    /// Protobuf's JSON form
    Json,
}

impl Info {
    /// Reads, checks and writes.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let program = self.read.reader().check(&self.file).map_err(|errors| failure(&errors))?;
        let info = program.info().map_err(|errors| failure(&errors))?;
        let bytes = match self.format {
            Format::Text => info.text().into_bytes(),
            Format::Binary => info.binary(),
            Format::Json => info.json().into_bytes(),
        };
        out.flush()?;
        files::write(self.output.as_deref().unwrap_or(Path::new("-")), &bytes)?;
        Ok(ExitCode::SUCCESS)
    }
}
