//! `sluice object`: look at objects, build them, check them, turn them into words of the ring.

use super::admit::Admit;
use super::ring::Ring;
use super::shares::Shares;
use crate::captures;
use crate::failure::Failure;
use crate::output::Output;
use crate::{files, view};
use clap::{Args, Subcommand};
use sluice_object::Object;
use std::path::PathBuf;
use std::process::ExitCode;

/// Shows, builds and checks objects, and prints them as words of the configuration ring
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  sluice object show programs/nic/red.json")]
pub struct ObjectArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Shows an object, binary or JSON, as people read it
    #[command(after_help = "Example:\n  sluice object show programs/nic/red.json")]
    Show {
        /// Object
        file: PathBuf,
        /// Its JSON form instead
        #[arg(short = 'j', long)]
        json: bool,
    },
    /// Writes the binary form of an object, or its JSON form
    #[command(after_help = "Example:\n  sluice object build programs/nic/red.json -o out/red.slob")]
    Build {
        /// Object, binary or JSON
        file: PathBuf,
        /// File to write; one whose name ends in .json gets the JSON form
        #[arg(short, long)]
        output: PathBuf,
    },
    /// Says whether an object is whole and valid
    #[command(after_help = "Example:\n  sluice object check programs/nic/red.json")]
    Check {
        /// Object
        file: PathBuf,
    },
    Admit(Box<Admit>),
    Ring(Ring),
    Shares(Shares),
}

impl ObjectArgs {
    /// Does it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        match &self.what {
            What::Admit(admit) => return admit.run(out),
            What::Show { file, json: true } => out.text(&files::object(file)?.to_json())?,
            What::Show { file, json: false } => view::object(&files::object(file)?, out)?,
            What::Build { file, output } => {
                files::check_other(file, output)?;
                let object = files::object(file)?;
                let bytes = files::form(&object, output);
                files::write(output, &bytes)?;
                let mut beside = captures::is_standard(output).then(Output::stderr);
                let out = beside.as_mut().unwrap_or(out);
                out.line(format!("{}: {}, {} bytes", output.display(), summary(&object), bytes.len()))?;
                out.flush()?;
            }
            What::Ring(ring) => ring.run(out)?,
            What::Shares(shares) => shares.run(out)?,
            What::Check { file } => out.line(format!("{}: {}", file.display(), summary(&files::object(file)?)))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn summary(object: &Object) -> String {
    format!("object `{}`, {} entries, ok", object.name, object.entries.len())
}
