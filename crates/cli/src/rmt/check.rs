//! `sluice rmt check`: what modules use, or what is wrong with them.

use super::{failure, read, target, warn};
use crate::failure::Failure;
use crate::output::Output;
use crate::printable;
use crate::table::Table;
use clap::Args;
use serde_json::{Value, json};
use sluice_rmt::text::{Room, TextError, TextErrors, Unit};
use sluice_rmt::{Role, Target};
use std::path::PathBuf;
use std::process::ExitCode;

/// Says what modules use of the pipeline, or what is wrong with them
///
/// Every mistake is shown with its line (docs/guide/rmt.md), and as a warning every line that no packet meets. Exits with 0 when all modules pass, 2 when one does not.
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  sluice rmt check programs/rmt/calc.rmt programs/rmt/l3_router.rmt --target default"
)]
pub struct Check {
    /// Modules, *.rmt
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Target, default, tiny, wide or soft
    #[arg(long, value_parser = target, default_value = "default")]
    target: Target,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

impl Check {
    /// Reads, checks and reports each.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let mut reports = Vec::new();
        let mut passed = true;
        for path in &self.files {
            let name = path.display().to_string();
            let result = read(path, &self.target)?;
            passed &= result.is_ok();
            if self.json {
                reports.push(report_json(&name, &result));
                continue;
            }
            match result {
                Ok((unit, warnings)) => {
                    self.text(&name, &unit, out)?;
                    out.flush()?;
                    warn(&warnings);
                }
                Err(errors) => {
                    out.flush()?;
                    printable::tell(failure(&errors));
                }
            }
        }
        if self.json {
            out.json(&json!({ "passed": passed, "target": self.target.name, "modules": reports }))?;
        }
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::from(2) })
    }

    fn text(&self, name: &str, unit: &Unit, out: &mut Output) -> Result<(), Failure> {
        let program = &unit.program;
        let (parser, deparser) = (&program.parser, &program.deparser);
        let kind = if unit.role == Role::System { "system module" } else { "module" };
        out.line(format!("{name}: OK, {kind} {}", unit.names.module))?;
        out.line(format!(
            "  parser {} nodes, {} paths; deparser {} patterns, {} rows; groups {}",
            parser.nodes.len(),
            parser.paths.len(),
            deparser.patterns.len(),
            deparser.rows.len(),
            unit.groups.len()
        ))?;
        let of = |used: usize, all: usize| format!("{used}/{all}");
        let mut table = Table::new(["  stage", "exact", "ternary", "actions", "pages"]);
        for (n, stage) in program.stages.iter().enumerate() {
            let Some(stage) = stage else { continue };
            let room = room(unit, n);
            let t = &self.target;
            table.row([
                format!("  {n}"),
                of(room.exact, t.exact),
                of(room.ternary, t.ternary),
                of(stage.actions.len(), t.actions),
                of(stage.pages.into(), t.pages()),
            ]);
        }
        out.text(&table.to_string())
    }
}

/// Entries that a stage reserves.
fn room(unit: &Unit, stage: usize) -> Room {
    let tables = unit.program.stages.get(stage).and_then(Option::as_ref).map(|s| &s.tables);
    let there = tables.map_or(Room::default(), |t| Room { exact: t.exact.len(), ternary: t.ternary.len() });
    unit.rooms.get(&stage).copied().unwrap_or(there)
}

fn report_json(name: &str, result: &Result<(Unit, Vec<TextError>), TextErrors>) -> Value {
    let mistake = |e: &TextError| json!({ "code": e.code(), "file": name, "line": e.position.line, "column": e.position.column, "what": e.problem.to_string() });
    let (unit, warnings) = match result {
        Ok(read) => read,
        Err(errors) => {
            let all: Vec<Value> = errors.0.iter().map(mistake).collect();
            return json!({ "file": name, "passed": false, "errors": all });
        }
    };
    let program = &unit.program;
    let stages = program.stages.iter().enumerate().filter_map(|(n, stage)| {
        let stage = stage.as_ref()?;
        let room = room(unit, n);
        Some(json!({
            "stage": n,
            "exact": room.exact,
            "ternary": room.ternary,
            "actions": stage.actions.len(),
            "pages": stage.pages,
        }))
    });
    json!({
        "file": name,
        "passed": true,
        "module": unit.names.module,
        "system": unit.role == Role::System,
        "nodes": program.parser.nodes.len(),
        "paths": program.parser.paths.len(),
        "patterns": program.deparser.patterns.len(),
        "rows": program.deparser.rows.len(),
        "groups": unit.groups.len(),
        "stages": stages.collect::<Vec<_>>(),
        "warnings": warnings.iter().map(mistake).collect::<Vec<_>>(),
    })
}
