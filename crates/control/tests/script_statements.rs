//! Every statement of packet scripts and every option of it, with values that it cannot have: the exit code that
//! follows, the code of the error and the words that say what is wrong. A script that cannot be what it says is an input
//! error (2); an expectation that is not met is a finding (1).

#[path = "script_statements/rows.rs"]
mod rows;

use rows::{ROWS, Row};
use sluice_control::scripts::run_script;
use sluice_formats::target;
use sluice_nic::SoftwareNic;

use sluice_packet::script::{OPTIONS, STATEMENTS, Script};
use std::collections::BTreeMap;
use std::path::Path;

/// Exit code of `sluice script` and what it says.
fn run(text: &str) -> (u8, String) {
    // Files are named relative to the script.
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nic/scripts/table.pkt");
    let script = match Script::parse(&file.display().to_string(), text) {
        Ok(script) => script,
        Err(error) => return (2, error.to_string()),
    };
    let report = run_script(&script, &mut SoftwareNic::new(target::DEFAULT));
    assert!(report.skipped.is_none(), "{report}");
    let code = if report.unusable() { 2 } else { u8::from(!report.passed()) };
    (code, report.to_string())
}

/// The whole script of a row.
fn script(row: &Row) -> String {
    format!("{}{}\n", row.0, row.1)
}

#[test]
fn every_statement_answers_wrong_values_with_its_code_its_place_and_what_is_allowed() {
    let mut wrong = Vec::new();
    for row in ROWS {
        let Row(_, _, code, words) = row;
        let text = script(row);
        let (found, said) = run(&text);
        let missing: Vec<&&str> = words.iter().filter(|word| !said.contains(**word)).collect();
        // What ends a script is said with the place.
        let placed = found != 2 || said.contains("table.pkt:");
        if found != *code || !missing.is_empty() || !placed {
            wrong.push(format!("== {text}exit {found}, expected {code}; without {missing:?}\n{said}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}

/// Words of the row's statements from the last one of this name.
fn statements<'a>(row: &'a Row, name: &str) -> Vec<Vec<&'a str>> {
    let lines = row.1.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.filter(|words| words.first() == Some(&name)).collect()
}

#[test]
fn every_statement_has_rows_that_pass_and_rows_that_are_refused() {
    for statement in STATEMENTS {
        let mut rows = BTreeMap::from([(0, 0), (1, 0), (2, 0)]);
        for row in ROWS.iter().filter(|row| !statements(row, statement).is_empty()) {
            *rows.entry(row.2).or_default() += 1;
        }
        assert!(rows[&0] > 0, "no row in which `{statement}` passes");
        assert!(rows[&2] >= 2, "{} rows in which `{statement}` is refused", rows[&2]);
    }
}

/// Options of every statement: the parser's own, and those of `nic` from what refuses another.
fn options() -> Vec<(&'static str, Vec<String>)> {
    let mut all: Vec<(&str, Vec<String>)> =
        OPTIONS.iter().map(|(name, options)| (*name, options.iter().map(|o| (*o).to_owned()).collect())).collect();
    let (code, said) = run("nic no_such=1");
    assert_eq!(code, 2, "{said}");
    let names = said.split("allowed: ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default();
    all.push(("nic", names.split(", ").map(|name| format!("{name}=")).collect()));
    all
}

#[test]
fn every_option_has_a_row_in_which_it_passes_and_one_in_which_it_is_refused() {
    for (statement, options) in options() {
        assert!(STATEMENTS.contains(&statement) && !options.is_empty(), "{statement}");
        for option in options {
            let has = |row: &&Row| statements(row, statement).iter().flatten().any(|word| word.starts_with(&*option));
            let codes: Vec<u8> = ROWS.iter().filter(has).map(|row| row.2).collect();
            assert!(codes.contains(&0), "no row in which `{statement}` passes with `{option}`");
            assert!(codes.contains(&2), "no row in which `{statement}` is refused with `{option}`");
        }
    }
}
