//! Programs as people read them.

use crate::compile::Program;
use crate::rules::{Rules, escape};
use sluice_formats::l7::codes::L7Goal;
use sluice_formats::l7::rows::{L7AlternativePart, L7MatchRow, L7MovePart, L7TargetPart};
use sluice_formats::l7::target::MOST_MATCH_BYTES;

/// A program's rows, a line each, and one for each alternative.
pub fn rows(program: &Program, rules: &Rules) -> String {
    let mut text = String::new();
    for (application, compiled) in rules.applications.iter().zip(&program.applications) {
        for message in &application.types {
            let start = &program.starts[usize::from(compiled.start) + usize::from(message.number)];
            let begin = format!("{}, {}: {}", application.name, message.name, onward(start.step, start.target, rules));
            text.push_str(&format!("{begin}\n"));
        }
    }
    for (number, row) in program.rows.iter().enumerate() {
        text.push_str(&format!("  {number:4}  {} bytes, else {}\n", row.length, goal(row.miss, rules)));
        for alternative in row.alternatives.iter().filter(|a| a.valid) {
            text.push_str(&format!(
                "        {}: {}\n",
                wanted(row, alternative),
                onward(row.step, alternative.target, rules)
            ));
        }
    }
    text
}

/// What an alternative asks for.
fn wanted(row: &L7MatchRow, alternative: &L7AlternativePart) -> String {
    if alternative.anyway {
        return "anyway".to_string();
    }
    let bytes = &alternative.bytes.0[..usize::from(row.length).min(MOST_MATCH_BYTES)];
    let end = if alternative.ends { "$" } else { "" };
    format!("\"{}{end}\"", escape(bytes))
}

/// A move and where it leads; without a move where it leads.
fn onward(step: L7MovePart, target: L7TargetPart, rules: &Rules) -> String {
    let mut words = Vec::new();
    if target.is_row() {
        if step.field != 0 {
            words.push(format!("to field {}", step.field));
        }
        if step.skip != 0 {
            words.push(format!("over {}", step.skip));
        }
        if step.stop != 0 {
            words.push(format!("behind stop byte {}", step.stop));
        }
    }
    words.push(goal(target, rules));
    words.join(", ")
}

/// A target.
fn goal(target: L7TargetPart, rules: &Rules) -> String {
    let number = target.number;
    match target.goal() {
        Some(L7Goal::Default) => "default".to_string(),
        Some(L7Goal::Queue) => format!("queue {number}"),
        Some(L7Goal::Group) => {
            rules.groups.get(usize::from(number)).map_or(format!("group {number}"), |g| format!("group {}", g.name))
        }
        Some(L7Goal::Drop) => "drop".to_string(),
        Some(L7Goal::Row) => format!("row {number}"),
        Some(L7Goal::Rows) => {
            format!("one of rows {number} to {} by {} bytes", target.rows().end - 1, target.length)
        }
        None => format!("target {}", target.kind),
    }
}
