//! `sluice p4 info`: what the control plane may name in a program.

use super::{AllowArgs, PlaceArgs, ReadArgs, failure, refused};
use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use clap::{Args, ValueEnum};
use sluice_p4::{Program, Reservation, Undefined};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Writes P4Info: tables, actions, counters and so on with their numbers, as P4Runtime's controllers read them
///
/// The numbers are those of the public compiler: what @id gives, or a hash of the name. Sizes of tables are those of the program, or with --reserved the entries that there is room for on the pipeline. A program that v1model cannot run is refused, and with --reserved one that the pipeline does not run. Exits with 2 when the program cannot be read, 3 when it is refused.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice p4 info programs/p4/basic.p4
  sluice p4 info programs/p4/basic.p4 --reserved --stages 0-4
  sluice p4 info programs/p4/basic.p4 --format binary -o basic.p4info.pb")]
pub struct Info {
    /// Program, *.p4
    file: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    allow: AllowArgs,
    /// Sizes of tables are the entries that are reserved for them on the pipeline
    #[arg(long)]
    reserved: bool,
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
        let program = self.allow.check(&self.read, &self.file)?;
        let reserved = match self.reserved.then(|| self.reserved(&program)) {
            Some(Err(why)) => return refused(out, &why),
            Some(Ok(reserved)) => reserved,
            None => Vec::new(),
        };
        let info = match program.info_with(&reserved) {
            Ok(info) => info,
            Err(errors) => return refused(out, &failure(&errors)),
        };
        let bytes = match self.format {
            Format::Text => info.text().into_bytes(),
            Format::Binary => info.binary(),
            Format::Json => info.json().into_bytes(),
        };
        out.flush()?;
        files::write(self.output.as_deref().unwrap_or(Path::new("-")), &bytes)?;
        Ok(ExitCode::SUCCESS)
    }

    fn reserved(&self, program: &Program) -> Result<Vec<Reservation>, Failure> {
        let compiled = self.place.compile(program, None)?;
        let entries = program.reference(Undefined::Zero, 1).map_err(|errors| failure(&errors))?;
        compiled.reservations(&entries).map_err(|errors| failure(&errors))
    }
}
