//! `sluice p4 check`: what programs have, or what is wrong with them.

use super::warn::{self, refusal, warning_json};
use super::{ReadArgs, failure, mistake_json};
use crate::failure::Failure;
use crate::output::Output;
use crate::printable;
use clap::Args;
use serde_json::{Value, json};
use sluice_p4::{P4Errors, P4Warning, Program};
use std::path::PathBuf;
use std::process::ExitCode;

/// Says whether programs are P4-16, or what is wrong with them
///
/// Every mistake is shown with its line, the includes and macros it came by, and a code that `sluice explain` explains. core.p4, v1model.p4 and sluice.p4 are always there; other architectures are found with -I. Warnings are shown, too, and change nothing but with -Werror. Exits with 0 when all programs pass, 2 when one does not.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice p4 check programs/p4/reflector.p4
  sluice p4 check -I programs/p4/include -D WIDTH=16 programs/p4/own_architecture.p4
  sluice p4 check --json programs/p4/reflector.p4")]
pub struct Check {
    /// Programs, *.p4
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    read: ReadArgs,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

impl Check {
    /// Reads, checks and reports each.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let reader = self.read.reader();
        let mut reports = Vec::new();
        let mut passed = true;
        for path in &self.files {
            let name = path.display().to_string();
            let result = reader.check(path);
            let warnings = result.as_ref().map_or_else(|_| Vec::new(), |program| self.read.warn.of(program));
            let refusal = refusal(&warnings);
            passed &= result.is_ok() && refusal.is_none();
            match result {
                _ if self.json => reports.push(report_json(&name, &result, &warnings)),
                Ok(program) => {
                    let told = warn::tell(&warnings);
                    match told {
                        Ok(()) => out.line(text(&name, &program))?,
                        Err(why) => {
                            out.flush()?;
                            printable::tell(why);
                        }
                    }
                }
                Err(errors) => {
                    out.flush()?;
                    printable::tell(failure(&errors));
                }
            }
        }
        if self.json {
            out.json(&json!({ "passed": passed, "files": reports }))?;
        }
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::from(2) })
    }
}

fn text(name: &str, program: &Program) -> String {
    let counts = program.counts();
    let main = if program.has_main() { "" } else { ", no main" };
    format!(
        "{name}: OK, parsers {}, controls {}, tables {}, actions {}, types {}{main}",
        counts.parsers, counts.controls, counts.tables, counts.actions, counts.types
    )
}

fn report_json(name: &str, result: &Result<Program, P4Errors>, warnings: &[(P4Warning, bool)]) -> Value {
    let told: Vec<Value> = warnings.iter().map(warning_json).collect();
    match result {
        Err(errors) => {
            let all: Vec<Value> = errors.0.iter().map(mistake_json).collect();
            json!({ "file": name, "passed": false, "errors": all, "warnings": told })
        }
        Ok(program) => {
            let counts = program.counts();
            json!({
                "file": name,
                "passed": refusal(warnings).is_none(),
                "parsers": counts.parsers,
                "controls": counts.controls,
                "tables": counts.tables,
                "actions": counts.actions,
                "types": counts.types,
                "main": program.has_main(),
                "warnings": told,
            })
        }
    }
}
