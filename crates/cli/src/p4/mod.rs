//! What `sluice p4` is made of.

mod allow;
mod alone;
pub mod check;
pub mod compile;
mod device;
pub mod graph;
pub mod info;
pub mod print;
pub mod run;
pub mod test;
mod warn;

pub use allow::{AllowArgs, each_once};
pub use warn::WarnArgs;

use crate::failure::Failure;
use crate::output::Output;
use crate::printable;
use clap::Args;
use serde_json::{Map, Value, json};
use sluice_p4::{Compiled, Note, P4Error, P4Errors, PortMap, Program, Reader, Traffic};
use sluice_packet::mistake::{Mistake, Problem};
use sluice_rmt::target::Target;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How a program is read
#[derive(Args, Debug)]
pub struct ReadArgs {
    /// Folder in which `#include` looks, too; may be given again
    #[arg(short = 'I', value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Macro, with value 1 if none is given; may be given again
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = macro_of)]
    defines: Vec<(String, String)>,
    #[command(flatten)]
    pub warn: WarnArgs,
}

impl ReadArgs {
    /// What reads with these folders and macros.
    pub fn reader(&self) -> Reader {
        let reader = self.folders.iter().fold(Reader::new(), |reader, folder| reader.folder(folder));
        self.defines.iter().fold(reader, |reader, (name, value)| reader.define(name, value))
    }
}

/// Where on the pipeline a program runs
#[derive(Args, Debug)]
pub struct PlaceArgs {
    /// Pipeline: default, tiny, wide or soft
    #[arg(long, value_parser = crate::rmt::target, default_value = "default")]
    pub target: Target,
    /// First and last stage; without it those of tenants: 1-3, on wide 1-10. With one of the system module's the program is alone
    #[arg(long, value_name = "FIRST-LAST", value_parser = stages_of)]
    stages: Option<(usize, usize)>,
}

impl PlaceArgs {
    /// Compiles a program for this place.
    pub fn compile(&self, program: &Program, traffic: Option<&Traffic>) -> Result<Compiled, Failure> {
        self.compile_timed(program, traffic, &mut |_| ())
    }

    /// The same, and tells each pass that has ended.
    pub fn compile_timed(
        &self,
        program: &Program,
        traffic: Option<&Traffic>,
        ended: &mut dyn FnMut(&'static str),
    ) -> Result<Compiled, Failure> {
        self.try_compile(program, traffic, ended)?.map_err(|errors| failure(&errors))
    }

    /// The same; a program that the pipeline does not run comes back as what is wrong with it, with what would fit.
    pub fn try_compile(
        &self,
        program: &Program,
        traffic: Option<&Traffic>,
        ended: &mut dyn FnMut(&'static str),
    ) -> Result<Result<Compiled, P4Errors>, Failure> {
        let last = self.target.stages - 1;
        if self.stages.is_some() && program.is_system() {
            let what = format!("--stages: a system program has stages 0 and {last}, and no others");
            return Err(Failure::input("E0770", what));
        }
        let (first, end) = self.stages.unwrap_or((1, last - 1));
        if end > last {
            let what = format!("--stages {first}-{end}: target {} has stages 0 to {last}", self.target.name);
            return Err(Failure::input("E0770", what));
        }
        let compiled = program.compile_for(&self.target, (first, end), traffic, ended);
        Ok(compiled.map_err(|errors| program.with_what_fits(errors, &self.target, (first, end))))
    }
}

fn stages_of(text: &str) -> Result<(usize, usize), String> {
    let found = text.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    match found {
        Some((first, last)) if first <= last => Ok((first, last)),
        _ => Err("stages are FIRST-LAST, as in 1-3 or 0-4".to_string()),
    }
}

/// Exit code of a program that a device does not run.
pub const REFUSED: u8 = 3;

/// Refuses a program that no device runs by itself.
pub fn check_alone(program: &Program) -> Result<(), Failure> {
    let what =
        "a system program, whose packets are those of tenants: a script with `rmt system FILE` runs it beside them";
    if program.is_system() { Err(Failure::input("E0794", what.to_string())) } else { Ok(()) }
}

/// Says why a device does not run a program.
pub fn refused(out: &mut Output, why: &Failure) -> Result<ExitCode, Failure> {
    out.flush()?;
    printable::tell(why);
    Ok(ExitCode::from(REFUSED))
}

fn macro_of(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let first = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    match first && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        true => Ok((name.to_string(), value.to_string())),
        false => Err("a macro's name has letters, digits and `_`, as in -D WIDTH=8".to_string()),
    }
}

/// Says which ports of a program are which of the pipeline's, where they are others.
pub fn tell_ports(out: &mut Output, ports: &PortMap) -> Result<(), Failure> {
    if ports.is_plain() {
        return Ok(());
    }
    out.line(format!("ports of the pipeline: {ports}"))
}

/// The same as JSON: ports of the program, and their numbers.
pub fn ports_json(ports: &PortMap) -> Value {
    ports.pairs().map(|(port, number)| (port.to_string(), Value::from(number))).collect::<Map<_, _>>().into()
}

/// A mistake as programs read it.
pub fn mistake_json(e: &P4Error) -> Value {
    let note = |note: &Note| json!({ "place": note.place, "what": note.text });
    let mut mistake = place_json(&e.mistake);
    mistake["from"] = json!(e.from);
    mistake["notes"] = e.notes.iter().map(note).collect();
    mistake
}

/// The same of a mistake that comes from nowhere else and has no notes.
pub fn place_json<P: Problem>(mistake: &Mistake<P>) -> Value {
    json!({
        "code": mistake.code(),
        "file": mistake.file,
        "line": mistake.position.line,
        "column": mistake.position.column,
        "what": mistake.problem.to_string(),
        "help": null,
        "from": [],
        "notes": [],
    })
}

/// What a command says to programs of a file that did not pass, as `check` does; some have more to say.
pub fn failed_json(file: &Path, errors: Vec<Value>, warnings: &[Value]) -> Value {
    json!({ "file": file.display().to_string(), "passed": false, "errors": errors, "warnings": warnings })
}

/// All that is wrong with a program.
pub fn failure(errors: &P4Errors) -> Failure {
    Failure::input(errors.code(), errors).mistakes(errors.0.iter().map(mistake_json).collect())
}
