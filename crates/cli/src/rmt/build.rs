//! `sluice rmt build`: the object of a module.

use super::{failure, read, target, warn};
use crate::captures;
use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use clap::Args;
use sluice_rmt::Target;
use sluice_rmt::encode::object::object;
use std::path::PathBuf;
use std::process::ExitCode;

/// Builds the object of a module: what a tenant brings
///
/// The object carries the rows of the module for one target, without addresses (docs/design/object.md). `sluice rmt show`
/// prints it as text again; names are not in it.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  sluice rmt build programs/rmt/calc.rmt -o out/calc.slob")]
pub struct Build {
    /// Module, *.rmt
    file: PathBuf,
    /// File to write; one whose name ends in .json gets the JSON form
    #[arg(short, long)]
    output: PathBuf,
    /// Target, default, tiny, wide or soft
    #[arg(long, value_parser = target, default_value = "default")]
    target: Target,
    /// Writes the JSON form instead of the binary one
    #[arg(short = 'j', long)]
    json: bool,
}

impl Build {
    /// Reads, encodes and writes it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        files::check_other(&self.file, &self.output)?;
        let (unit, warnings) = read(&self.file, &self.target)?.map_err(|e| failure(&e))?;
        warn(&warnings);
        let place = self.file.display();
        let part = unit.part(&self.target).map_err(|e| Failure::input("E0650", format!("{place}: {e}")))?;
        let object = object(&unit.names.module, part, unit.demands, &self.target);
        object.check().map_err(|e| Failure::input(e.code(), format!("{place}: {e}")))?;
        let bytes = if self.json { object.to_json().into_bytes() } else { files::form(&object, &self.output) };
        files::write(&self.output, &bytes)?;
        let (file, name) = (self.output.display(), &object.name);
        let mut beside = captures::is_standard(&self.output).then(Output::stderr);
        let out = beside.as_mut().unwrap_or(out);
        out.line(format!("{file}: object `{name}` for target {}, {} bytes", self.target.name, bytes.len()))?;
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}
