//! `sluice p4 compile`: programs as modules of the rmt pipeline.

use super::allow::{self, AllowArgs};
use super::{PlaceArgs, REFUSED, ReadArgs, failed_json, failure, refused, warn};
use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use crate::printable;
use clap::Args;
use serde_json::{Value, json};
use sluice_p4::{Compiled, P4Warning, Program, Reference, Reservation, Undefined};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Compiles a P4-16 program for v1model to a module of the rmt pipeline
///
/// The module is written as text (.rmt), or as an object (.slob, .json) with its tables by name, with the entries that the program has itself and those of --entries. Exits with 2 when the program cannot be read, 3 when the pipeline does not run it: the message says where and why.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice p4 compile programs/p4/calc.p4
  sluice p4 compile --stages 0-4 --time programs/p4/qos.p4
  sluice p4 compile programs/p4/basic.p4 --reserve routes=20 -o basic.slob
  sluice p4 compile programs/p4/qos.p4 --entries programs/p4/qos.entries -o qos.slob")]
pub struct Compile {
    /// Program, *.p4
    program: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    allow: AllowArgs,
    /// Entries of its tables, *.stf: `add`, `setdefault` and `remove`
    #[arg(long, value_name = "FILE")]
    entries: Option<PathBuf>,
    /// Entries that rows are reserved for, by the name of a table; may be given again. Otherwise a part of what each stage has
    #[arg(long, value_name = "TABLE=N", value_parser = allow::number_of)]
    reserve: Vec<(String, u32)>,
    /// File to write in place of standard output: an object if its name ends in .slob or .json, otherwise text
    #[arg(short = 'o', long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Shows on standard error how long each pass took
    #[arg(long)]
    time: bool,
    /// One JSON document on standard output: whether it compiled, or what is wrong and what would fit; the module itself goes to --output only
    #[arg(short = 'j', long)]
    json: bool,
}

impl Compile {
    /// Compiles and writes it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let mut warnings = Vec::new();
        let (why, code) = match self.compile(out, &mut warnings) {
            Ok(None) => return Ok(ExitCode::SUCCESS),
            Ok(Some(refusal)) => (refusal, ExitCode::from(REFUSED)),
            Err(why) if self.json && !why.is_stop() => (why, ExitCode::from(2)),
            Err(why) => return Err(why),
        };
        if !self.json {
            return refused(out, &why);
        }
        out.json(&failed_json(&self.program, why.json(), &warnings))?;
        Ok(code)
    }

    /// The same; a program that the pipeline does not run comes back with why.
    fn compile(&self, out: &mut Output, warnings: &mut Vec<Value>) -> Result<Option<Failure>, Failure> {
        if let Some(output) = &self.output {
            files::check_other(&self.program, output)?;
        }
        let mut times = Times::default();
        let program = self.allow.check(&self.read, &self.program)?;
        warnings.extend(self.read.warn.of(&program).iter().map(warn::warning_json));
        times.pass("read and check");
        let tried = match self.place.try_compile(&program, None, &mut |pass| times.pass(pass)) {
            Ok(tried) => tried,
            Err(why) => return Ok(Some(why)),
        };
        let compiled = match tried {
            Ok(compiled) => compiled.reserving(&self.reserve()?),
            Err(errors) => return Ok(Some(failure(&errors))),
        };
        let entries = self.entries(&program)?;
        let (bytes, reserved, small) = match self.bytes(&entries, &compiled, &mut times) {
            Ok(made) => made,
            Err(why) => return Ok(Some(why)),
        };
        let small = self.read.warn.shown(small);
        warnings.extend(small.iter().map(warn::warning_json));
        warn::tell(&small)?;
        if self.time {
            printable::tell(times.text());
        }
        if self.json {
            let table =
                |r: &Reservation| json!({ "table": r.table, "size": r.size, "reserved": r.reserved, "why": r.why });
            let tables: Vec<Value> = reserved.iter().map(table).collect();
            out.json(&json!({ "passed": true, "stages": compiled.stages(), "tables": tables, "warnings": warnings }))?;
        } else {
            // What is said of a table already is not said again.
            let is_small = |r: &&Reservation| u64::from(r.reserved) * 10 < u64::from(r.size) && !small.is_empty();
            let others = reserved.iter().filter(|r| !is_small(r));
            others.for_each(|reserved| printable::tell(told(&self.program, reserved)));
        }
        out.flush()?;
        if self.output.is_some() || !self.json {
            files::write(self.output.as_deref().unwrap_or(Path::new("-")), &bytes)?;
        }
        Ok(None)
    }

    fn reserve(&self) -> Result<BTreeMap<String, u32>, Failure> {
        Ok(allow::each_once("--reserve", &self.reserve)?.iter().cloned().collect())
    }

    /// The program's own entries, and those of the file.
    fn entries(&self, program: &Program) -> Result<Reference, Failure> {
        let mut entries = program.reference(Undefined::Zero, 1).map_err(|errors| failure(&errors))?;
        if let Some(file) = &self.entries {
            sluice_frontends::fill(&mut entries, file).map_err(|e| Failure::input(e.code, e.what))?;
        }
        Ok(entries)
    }

    /// What is written, and the entries that rows are reserved for.
    fn bytes(&self, entries: &Reference, compiled: &Compiled, times: &mut Times) -> Result<Made, Failure> {
        let ending = self.output.as_deref().and_then(Path::extension).and_then(|e| e.to_str());
        let bytes = if let Some(ending @ ("json" | "slob")) = ending {
            let object = compiled.object(&files::name_of(&self.program), entries).map_err(|errors| failure(&errors))?;
            if ending == "json" { object.to_json().into_bytes() } else { object.to_binary() }
        } else {
            let unit = compiled.unit(entries).map_err(|errors| failure(&errors))?;
            sluice_rmt::text::print(&unit, &self.place.target).into_bytes()
        };
        let reserved = compiled.reservations(entries).map_err(|errors| failure(&errors))?;
        let small = compiled.small_tables(entries).map_err(|errors| failure(&errors))?;
        times.pass("entries and output");
        Ok((bytes, reserved, small))
    }
}

/// What is written, what is reserved, and warnings of tables that get little.
type Made = (Vec<u8>, Vec<Reservation>, Vec<P4Warning>);

/// What is reserved for a table; a warning where it is less than the table asks for.
fn told(program: &Path, Reservation { table, size, reserved, said, why }: &Reservation) -> String {
    let program = program.display();
    if size > reserved && !said {
        let why = why.as_ref().map_or_else(String::new, |why| format!("; {why}"));
        format!("warning[E0239]: {program}: table `{table}`: entries reserved: {reserved}, asked for: {size}{why}")
    } else {
        format!("{program}: table `{table}`: entries reserved: {reserved}")
    }
}

/// How long each pass took.
struct Times {
    since: Instant,
    all: Vec<(&'static str, Duration)>,
}

impl Default for Times {
    fn default() -> Self {
        Self { since: Instant::now(), all: Vec::new() }
    }
}

impl Times {
    /// A pass has ended.
    fn pass(&mut self, name: &'static str) {
        let now = Instant::now();
        self.all.push((name, now - self.since));
        self.since = now;
    }

    fn text(&self) -> String {
        let line = |name: &str, time: Duration| format!("{:>9.3} ms  {name}", time.as_secs_f64() * 1e3);
        let mut lines: Vec<String> = self.all.iter().map(|(name, time)| line(name, *time)).collect();
        lines.push(line("in all", self.all.iter().map(|(_, time)| *time).sum()));
        lines.join("\n")
    }
}
