//! `sluice l7 compile`: rules as programs of the matchers.

use super::{failure, read};
use crate::failure::Failure;
use crate::output::Output;
use crate::table::Table;
use clap::Args;
use serde_json::json;
use sluice_formats::l7::target::DEFAULT;
use sluice_l7::compile::{MOST_ROWS, Options, compile};
use sluice_l7::{listing, published};
use std::path::PathBuf;
use std::process::ExitCode;

/// Makes programs of the NIC's matchers of rules
///
/// Prints rows, and the most steps that a message takes. Exits with 0 when the rules are compiled and 1 when they do not fit.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice l7 compile programs/l7/kv_prefix.l7
  sluice l7 compile programs/l7/course_reviews.l7 --show
  sluice l7 compile programs/l7/urls.l7 --rows 100
  sluice l7 compile programs/l7/ping_pong_2.l7 --words")]
pub struct CompileArgs {
    /// Rules, *.l7
    rules: PathBuf,
    /// Rows that the program may take; with fewer, rules are tried in turn, which takes more steps
    #[arg(long, value_name = "N", default_value_t = DEFAULT.rows)]
    rows: usize,
    /// Prints every row
    #[arg(long, conflicts_with = "json")]
    show: bool,
    /// Prints the words of the published matcher (dissertation, 4.5.1) in place of rows: `ram` and `cam`, each in hexadecimal
    #[arg(long, conflicts_with_all = ["show", "json"])]
    words: bool,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

impl CompileArgs {
    /// Compiles and reports.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        if !(1..=MOST_ROWS).contains(&self.rows) {
            return Err(Failure::input("E0871", format!("--rows: {}, expected 1 to {MOST_ROWS}", self.rows)));
        }
        let rules = read(&self.rules)?.map_err(|errors| failure(&errors))?;
        let program = compile(&rules, &Options { rows: self.rows, ..Options::default() })
            .map_err(|error| Failure::difference(error.code(), format!("{}: {error}", self.rules.display())))?;
        if self.words {
            let words = published::write(&program, &rules)
                .map_err(|e| Failure::input(e.code(), format!("{}: {e}", self.rules.display())))?;
            words.ram.iter().try_for_each(|word| out.line(format!("ram {:08x}", word.bits())))?;
            words.cam.iter().try_for_each(|word| out.line(format!("cam {:024x}", word.bits())))?;
            return Ok(ExitCode::SUCCESS);
        }
        let applications: Vec<_> = rules.applications.iter().zip(&program.applications).collect();
        if self.json {
            let all = applications.iter().map(|(application, compiled)| {
                json!({ "name": application.name, "port": application.port, "start": compiled.start, "types": compiled.types,
                        "most_steps": compiled.steps })
            });
            out.json(&json!({
                "file": self.rules.display().to_string(),
                "rows": program.rows.len(),
                "starts": program.starts.len(),
                "groups": program.groups.len(),
                "applications": all.collect::<Vec<_>>(),
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let [rows, starts, groups] = [program.rows.len(), program.starts.len(), program.groups.len()];
        out.line(format!("{}: rows {rows}, start rows {starts}, groups {groups}", self.rules.display()))?;
        let mut table = Table::new(["  name", "port", "start rows", "most steps"]);
        for (application, compiled) in applications {
            table.row([
                format!("  {}", application.name),
                application.port.to_string(),
                compiled.types.to_string(),
                compiled.steps.to_string(),
            ]);
        }
        out.text(&table.to_string())?;
        if self.show {
            out.text(&listing::rows(&program, &rules))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
