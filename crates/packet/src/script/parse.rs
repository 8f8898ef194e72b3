//! Reading a packet script, and what can be checked before it runs.

use std::path::Path;

use super::ast::{Command, Script, Statement, Tenant};
use super::error::{ScriptError, ScriptProblem};
use super::updates::Updates;
use super::words::{Located, Word, Words};
use super::{ring, rmt, setup, tables, traffic, xdp};
use crate::bounded;
use crate::text::{Cursor, Lines, Span, line_at, position, quote};

/// Every statement, in the order of the reference.
pub const STATEMENTS: [&str; 28] = [
    "device", "seed", "nic", "tenant", "load", "table", "add", "del", "begin", "replace", "commit", "xdp", "rmt",
    "entry", "rules", "ring", "map", "routes", "event", "send", "expect", "drop", "counter", "wait", "idle", "block",
    "unblock", "fault",
];

/// Options of the statements that have some; those of `nic` are the NIC's matter.
pub const OPTIONS: [(&str, &[&str]); 9] = [
    (
        "tenant",
        &[
            "id=",
            "vlan=",
            "keep_tag",
            "vids",
            "rate=",
            "burst=",
            "share=",
            "share_burst=",
            "weight=",
            "limit=",
            "reserve=",
            "xdp_work=",
            "xdp_growth=",
            "xdp_weight=",
            "xdp_rows=",
            "xdp_contexts=",
            "xdp_memory=",
            "warp=",
            "l7_weight=",
            "to=",
        ],
    ),
    ("table", &["key=", "mask=", "default="]),
    ("xdp", &["section=", "program=", "pass=", "rmt=", "keep=", "max_entries=", "interfaces="]),
    ("rmt", &["keep", "grow", "entries=", "bound=", "cells=", "hash=", "power-of-two"]),
    ("ring", &["size="]),
    ("send", &["gap=", "at="]),
    ("expect", &["queue="]),
    ("drop", &["reason=", "tenant="]),
    ("fault", &["drop=", "corrupt="]),
];

/// Tenant that is there without being declared.
pub const SYSTEM: &str = "system";
/// In a `counter` statement: the sum over all tenants.
pub const TOTAL: &str = "total";

impl Script {
    /// Reads and parses a file.
    pub fn read(path: &Path) -> Result<Script, ScriptError> {
        let file = path.display().to_string();
        let whole =
            |problem| ScriptError { file: file.clone(), position: None, excerpt: None, problem: Box::new(problem) };
        let bytes = bounded::read(path, bounded::MOST_TEXT).map_err(|e| whole(e.into()))?;
        let text =
            String::from_utf8(bytes).map_err(|e| whole(ScriptProblem::NotText { at: e.utf8_error().valid_up_to() }))?;
        Script::parse(&file, &text)
    }

    /// Parses `text`; `file` names it in errors.
    pub fn parse(file: &str, text: &str) -> Result<Script, ScriptError> {
        let statements = parse_statements(text).map_err(|(span, problem)| {
            let shown = text.get(span.start..span.end).unwrap_or_default();
            let first_line = shown.lines().next().unwrap_or_default();
            ScriptError {
                file: file.to_string(),
                position: Some(position(text, span.start)),
                excerpt: Some((line_at(text, span.start).to_string(), first_line.chars().count())),
                problem: Box::new(problem),
            }
        })?;
        Ok(Script { file: file.to_string(), statements })
    }
}

fn parse_statements(text: &str) -> Located<Vec<Statement>> {
    let mut parser =
        Parser { lines: Lines::new(text), tenants: Vec::new(), updates: Updates::default(), once: Vec::new() };
    let mut statements = Vec::new();
    let mut cursor = Cursor::new(text, 0);
    loop {
        cursor.skip_blanks();
        if cursor.peek() == Some('#') {
            cursor.take_while(|c| c != '\n');
        }
        if cursor.take("\r\n") || cursor.take("\n") {
            continue;
        }
        if cursor.rest().is_empty() {
            break;
        }
        let start = cursor.at();
        let mut words = Words { cursor };
        let command = parser.statement(&mut words)?;
        words.end()?;
        cursor = words.cursor;
        statements.push(Statement {
            position: parser.lines.position(start),
            text: without_end(&text[start..cursor.at()]).to_string(),
            command,
        });
    }
    parser.updates.end()?;
    if statements.iter().all(|s| matches!(s.command, Command::Device(_) | Command::Seed(_))) {
        let found = "no statement that checks anything".to_string();
        let expected = "statements beside `device` and `seed`".to_string();
        return Err((Span { start: 0, end: 0 }, ScriptProblem::Expected { found, expected }));
    }
    Ok(statements)
}

/// A statement without the blanks and joined line ends behind it.
fn without_end(mut text: &str) -> &str {
    loop {
        let shorter = text.trim_end_matches([' ', '\t']);
        let joined = shorter.strip_suffix("\\\r\n").or(shorter.strip_suffix("\\\n"));
        match joined {
            Some(joined) => text = joined,
            None => return shorter,
        }
    }
}

/// What is known at one point of the script.
pub(super) struct Parser<'a> {
    pub lines: Lines<'a>,
    /// Tenants declared so far, and where.
    pub tenants: Vec<(Tenant, Span)>,
    pub updates: Updates,
    /// Statements that a script has once, as far as they were read, and where.
    once: Vec<(&'static str, Span)>,
}

impl Parser<'_> {
    fn statement(&mut self, words: &mut Words<'_>) -> Located<Command> {
        let name = words.need("a statement")?;
        self.updates.check_allowed(name)?;
        match name.text {
            "device" => {
                self.first("device", name.span)?;
                setup::device(words)
            }
            "seed" => {
                self.first("seed", name.span)?;
                setup::seed(words)
            }
            "nic" => setup::nic(self, words),
            "tenant" => setup::tenant(self, words),
            "load" => tables::load(self, words),
            "table" => tables::table(self, words),
            "add" => tables::add(self, words),
            "del" => tables::del(self, words),
            "begin" => tables::begin(self, words, name.span),
            "replace" => tables::replace_block(self, words, name.span),
            "}" => self.updates.close_block(name.span),
            "commit" => tables::commit(self, words),
            "xdp" => xdp::load(self, words),
            "rmt" => rmt::load(self, words),
            "entry" => rmt::entry(self, words),
            "rules" => rmt::rules(self, words),
            "ring" => ring::ring(self, words),
            "map" => xdp::map(self, words),
            "routes" => xdp::routes(self, words),
            "event" => xdp::event(self, words),
            "send" => traffic::send(words),
            "expect" => traffic::expect(self, words),
            "drop" => traffic::drop(self, words),
            "counter" => traffic::counter(self, words),
            "wait" => traffic::wait(words),
            "idle" => Ok(Command::Idle),
            "block" => Ok(Command::Block(words.destination()?)),
            "unblock" => Ok(Command::Unblock(words.destination()?)),
            "fault" => traffic::fault(words),
            _ => Err((
                name.span,
                ScriptProblem::UnknownStatement { found: quote(name.text), allowed: STATEMENTS.join(", ") },
            )),
        }
    }

    /// That the script has no such statement yet.
    fn first(&mut self, statement: &'static str, span: Span) -> Located<()> {
        if let Some((_, before)) = self.once.iter().find(|(name, _)| *name == statement) {
            let line = self.lines.position(before.start).line;
            let found = format!("a second statement after that of line {line}");
            let expected = format!("one `{statement}` in a script");
            return Err((span, ScriptProblem::Options { statement, found, expected }));
        }
        self.once.push((statement, span));
        Ok(())
    }

    /// The name of a tenant that is declared.
    pub fn tenant(&self, words: &mut Words<'_>) -> Located<String> {
        let word = words.need("the name of a tenant")?;
        self.declared(word)
    }

    /// That this tenant is declared.
    pub fn declared(&self, word: Word<'_>) -> Located<String> {
        let names = || self.tenants.iter().map(|(tenant, _)| tenant.name.as_str());
        if word.text == SYSTEM || names().any(|name| name == word.text) {
            return Ok(word.text.to_string());
        }
        let declared: Vec<&str> = std::iter::once(SYSTEM).chain(names()).collect();
        let problem = ScriptProblem::UnknownTenant {
            found: quote(word.text).trim_matches('`').to_string(),
            declared: declared.join(", "),
        };
        Err((word.span, problem))
    }
}
