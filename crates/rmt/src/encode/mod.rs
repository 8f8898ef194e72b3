//! From a program to relocatable rows, and back.
//!
//! Each file has both ways of one part beside each other. [`decode`] of [`encode`] is a program that does the
//! same to every packet; what has no effect (an ALU or a word with mask 0 and the like) does not come back.

mod action;
mod codes;
mod deparser;
pub mod object;
mod parser;
mod stage;
mod state;

use crate::check::{Checked, Problem, Role, check};
use crate::program::Program;
use crate::target::Target;
use sluice_object::RmtPart;

/// The rows of a program that passes the checker. Room is reserved for the entries that it has, its state begins
/// with zeros, and it has no groups and exchanges nothing; a compiler that knows more says so in the part.
pub fn encode(program: &Program, target: &Target) -> Result<RmtPart, Problem> {
    // What only tenants may not do depends on the stage, and the linker looks at that.
    check(program, target, Role::System)?;
    let stages = program.stages.iter().enumerate().filter_map(|(n, s)| Some((n as u8, stage::encode(s.as_ref()?))));
    Ok(RmtPart {
        first: parser::encode_select(&program.parser.first),
        nodes: program.parser.nodes.iter().map(parser::encode_select).collect(),
        paths: parser::encode_paths(&program.parser),
        patterns: deparser::encode_patterns(&program.deparser.patterns),
        deparse: program.deparser.rows.iter().map(|r| deparser::encode_row(r, target)).collect(),
        stages: stages.collect(),
        ..RmtPart::default()
    })
}

/// The program of these rows, if they are one that the checker lets through.
pub fn decode(part: &RmtPart, target: &Target, role: Role) -> Result<Program, Problem> {
    let shape = |e: sluice_object::ObjectError| Problem {
        at: "rmt".to_owned(),
        found: e.to_string(),
        allowed: "the rows of a program".to_owned(),
    };
    part.check(target).map_err(shape)?;
    let last = part.stages.keys().last().map_or(0, |&n| usize::from(n) + 1);
    let mut stages = vec![None; last];
    for (&number, rows) in &part.stages {
        stages[usize::from(number)] = Some(stage::decode(&format!("stages[{number}]"), rows)?);
    }
    let (paths, port_numbers) = parser::decode_paths(&part.paths)?;
    let program = Program {
        parser: crate::parser::Parser {
            first: parser::decode_select(&part.first),
            nodes: part.nodes.iter().map(parser::decode_select).collect(),
            paths,
            port_numbers,
        },
        stages,
        deparser: crate::deparser::Deparser {
            patterns: deparser::decode_patterns(&part.patterns),
            rows: part.deparse.iter().map(|beats| deparser::decode_row(beats, target)).collect(),
        },
    };
    check(&program, target, role)?;
    Ok(program)
}

/// A code that stands for something.
fn known<T>(at: &str, code: impl Into<u64>, meaning: Option<T>) -> Result<T, Problem> {
    let found = code.into();
    meaning.ok_or_else(|| Problem {
        at: at.to_owned(),
        found: format!("code {found}"),
        allowed: "the codes of docs/design/rmt-rows.md".to_owned(),
    })
}

/// A field that is 0 because nothing looks at it.
fn unused(at: &str, what: &str, zero: bool) -> Checked {
    crate::check::ensure(zero, at, format!("a {what} that nothing looks at"), "0 there")
}
