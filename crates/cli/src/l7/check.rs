//! `sluice l7 check`: what files of rules say, or what is wrong with them.

use super::placed::check_fits;
use super::{failure, read};
use crate::failure::Failure;
use crate::output::Output;
use crate::printable;
use crate::run::device;
use crate::table::Table;
use clap::Args;
use serde_json::{Value, json};
use sluice_formats::Target;
use sluice_l7::rules::{Application, Kind, Rules, RulesError, RulesErrors};
use std::path::PathBuf;
use std::process::ExitCode;

/// Says what rules of message dispatch take, or what is wrong with them
///
/// Every mistake is shown with its line (docs/guide/l7.md), and what the target has no room for. A rule that can never win is a warning. Exits with 0 when all files pass, 2 when one does not.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  sluice l7 check programs/l7/course_reviews.l7 programs/l7/lines.l7")]
pub struct Check {
    /// Rules, *.l7
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Target that the rules of each file must fit, default or tiny
    #[arg(long, value_parser = device::target, default_value = "default")]
    target: &'static Target,
    /// Print the rules as a file instead, in one form and without comments
    #[arg(long, conflicts_with = "json")]
    print: bool,
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
            let result = read(path)?;
            let misfit = result.as_ref().ok().and_then(|rules| check_fits(rules, self.target).err());
            passed &= result.is_ok() && misfit.is_none();
            match (result, misfit) {
                (result, misfit) if self.json => reports.push(report_json(&name, &result, misfit)),
                (Ok(_), Some((code, what))) => {
                    out.flush()?;
                    printable::tell(Failure::input(code, format!("{name}: {what}")));
                }
                (Ok(rules), None) => {
                    if self.print {
                        out.text(&rules.to_string())?
                    } else {
                        text(&name, &rules, out)?
                    }
                    let shadowed = rules.shadowed();
                    if !shadowed.is_empty() {
                        out.flush()?;
                    }
                    for rule in shadowed {
                        printable::tell(format!("warning[{}]: {name}: {rule}", rule.code()));
                    }
                }
                (Err(errors), _) => {
                    out.flush()?;
                    printable::tell(failure(&errors));
                }
            }
        }
        if self.json {
            out.json(&json!({ "passed": passed, "target": self.target.name, "files": reports }))?;
        }
        Ok(if passed { ExitCode::SUCCESS } else { ExitCode::from(2) })
    }
}

/// What an application has: message types, rules, patterns.
fn counts(application: &Application) -> [usize; 3] {
    let rules = || application.types.iter().flat_map(|t| &t.rules);
    let patterns = rules().flat_map(|rule| &rule.matches).map(|m| m.patterns.len()).sum();
    [application.types.len(), rules().count(), patterns]
}

/// What it is, and its application ID.
fn kind(application: &Application) -> (&'static str, Option<u8>) {
    match application.kind {
        Kind::Application(id) => ("application", Some(id)),
        Kind::Endpoint => ("endpoint", None),
        Kind::Raw => ("raw", None),
    }
}

fn text(name: &str, rules: &Rules, out: &mut Output) -> Result<(), Failure> {
    let groups = rules.groups.len();
    out.line(format!("{name}: OK, ports {}, groups {groups}", rules.applications.len()))?;
    let mut table =
        Table::new(["  kind", "name", "port", "id", "types", "rules", "patterns", "default"]).left(1).left(7);
    for application in &rules.applications {
        let (kind, id) = kind(application);
        // An endpoint's name is made of its port.
        let name = if application.kind == Kind::Endpoint { "" } else { &application.name };
        let [types, all, patterns] = counts(application).map(|n| n.to_string());
        let id = id.map_or_else(String::new, |id| id.to_string());
        let default = rules.goal_text(application.default);
        table.row([
            format!("  {kind}"),
            name.to_string(),
            application.port.to_string(),
            id,
            types,
            all,
            patterns,
            default,
        ]);
    }
    out.text(&table.to_string())
}

fn report_json(name: &str, result: &Result<Rules, RulesErrors>, misfit: Option<(&str, String)>) -> Value {
    let mistake = |e: &RulesError| json!({ "code": e.code(), "file": name, "line": e.position.line, "column": e.position.column, "what": e.problem.to_string() });
    let rules = match result {
        Ok(rules) => rules,
        Err(errors) => {
            let all: Vec<Value> = errors.0.iter().map(mistake).collect();
            return json!({ "file": name, "passed": false, "errors": all });
        }
    };
    if let Some((code, what)) = misfit {
        let error = json!({ "code": code, "file": name, "line": null, "column": null, "what": what });
        return json!({ "file": name, "passed": false, "errors": [error] });
    }
    let applications = rules.applications.iter().map(|application| {
        let (kind, id) = kind(application);
        let [types, all, patterns] = counts(application);
        json!({
            "kind": kind,
            "name": application.name,
            "port": application.port,
            "id": id,
            "types": types,
            "rules": all,
            "patterns": patterns,
            "default": rules.goal_text(application.default),
            "line": application.line,
        })
    });
    let groups =
        rules.groups.iter().map(|g| json!({ "name": g.name, "field": g.field, "slots": g.slots, "line": g.line }));
    let shadowed = rules.shadowed();
    let warnings = shadowed
        .iter()
        .map(|s| json!({ "code": s.code(), "line": s.line, "by_line": s.by_line, "what": s.to_string() }));
    json!({
        "file": name,
        "passed": true,
        "warnings": warnings.collect::<Vec<_>>(),
        "applications": applications.collect::<Vec<_>>(),
        "groups": groups.collect::<Vec<_>>(),
    })
}
