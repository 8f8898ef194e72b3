//! `sluice p4 graph`: where a program lies on the pipeline, as a picture.

use super::allow::AllowArgs;
use super::{PlaceArgs, ReadArgs, failure, refused};
use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use clap::Args;
use sluice_p4::Undefined;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Draws where a program lies on the pipeline, as SVG
///
/// Paths of the parser, the tables, conditions and state of each stage and what leads to what, rows of the deparser; below, the fields in each container and the words of each register and counter. Exits with 2 when the program cannot be read, 3 when the pipeline does not run it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice p4 graph programs/p4/tunnel.p4 -o tunnel.svg
  sluice p4 graph --stages 0-4 programs/p4/ecn.p4 -o ecn.svg")]
pub struct Graph {
    /// Program, *.p4
    program: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    allow: AllowArgs,
    /// File to write in place of standard output
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Graph {
    /// Compiles and draws it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        if let Some(output) = &self.output {
            files::check_other(&self.program, output)?;
        }
        let program = self.allow.check(&self.read, &self.program)?;
        let compiled = match self.place.compile(&program) {
            Ok(compiled) => compiled,
            Err(why) => return refused(out, &why),
        };
        let reference = program.reference(Undefined::Zero, 1).map_err(|errors| failure(&errors))?;
        out.flush()?;
        files::write(self.output.as_deref().unwrap_or(Path::new("-")), compiled.draw(&reference).as_bytes())?;
        Ok(ExitCode::SUCCESS)
    }
}
