//! `sluice p4 compile`: programs as modules of the rmt pipeline.

use super::{PlaceArgs, REFUSED, ReadArgs, failure};
use crate::failure::Failure;
use crate::output::Output;
use crate::printable;
use clap::Args;
use sluice_p4::Undefined;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compiles a P4-16 program for v1model to a module of the rmt pipeline
///
/// The module is written as text (.rmt), with the entries that the program has itself. Exits with 2 when the program cannot be read, 3 when the pipeline does not run it: the message says where and why.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice p4 compile programs/p4/calc.p4
  sluice p4 compile --stages 0-4 programs/p4/qos.p4")]
pub struct Compile {
    /// Program, *.p4
    program: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    place: PlaceArgs,
}

impl Compile {
    /// Compiles and writes it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let program = self.read.reader().check(&self.program).map_err(|errors| failure(&errors))?;
        let unit = self.place.compile(&program).and_then(|compiled| {
            let reference = program.reference(Undefined::Zero, 1).map_err(|errors| failure(&errors))?;
            compiled.unit(&reference).map_err(|errors| failure(&errors))
        });
        match unit {
            Ok(unit) => {
                out.text(&sluice_rmt::text::print(&unit, &self.place.target))?;
                Ok(ExitCode::SUCCESS)
            }
            Err(why) => {
                out.flush()?;
                printable::tell(why);
                Ok(ExitCode::from(REFUSED))
            }
        }
    }
}
