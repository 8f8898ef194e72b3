//! Statements that send, expect and disturb.

use super::ast::{Command, Relation, Send, Timing};
use super::error::ScriptProblem;
use super::parse::{Parser, TOTAL};
use super::setup::{twice, unknown_option};
use super::words::{Located, MAX_DESTINATION, Word, Words, located};
use crate::notation::{NotationError, Pattern, Problem};

pub(super) fn send(words: &mut Words<'_>) -> Located<Command> {
    let port = words.need("a port number")?;
    let port = port.number("the port", 0, MAX_DESTINATION)? as u8;
    let count = words.repetition()?;
    let written = words.packet()?;
    if written.open {
        let mut span = written.span;
        span.start = span.end - 3;
        let problem = ScriptProblem::Expected {
            found: "`...`".to_string(),
            expected: "a whole packet: only an expected one may be left open".to_string(),
        };
        return Err((span, problem));
    }
    let bytes = written
        .packet
        .build()
        .map_err(|error| located(NotationError { span: written.span, problem: Problem::Build(error) }))?;
    if bytes.is_empty() {
        let problem = ScriptProblem::BadValue {
            what: "the packet".to_string(),
            found: "empty".to_string(),
            allowed: "at least one byte".to_string(),
        };
        return Err((written.span, problem));
    }
    let mut timing = None;
    while let Some(option) = words.next() {
        let (name, value) = option.option();
        let given = match (name.text, value) {
            ("gap", Some(value)) => Timing::Gap(cycles(value, "the gap")?),
            ("at", Some(value)) => Timing::At(cycles(value, "the cycle")?),
            _ => return Err(unknown_option("send", option, "gap=, at=")),
        };
        if timing.replace(given).is_some() {
            return Err(twice("send", name));
        }
    }
    Ok(Command::Send(Send { port, count, bytes, timing: timing.unwrap_or(Timing::Gap(0)) }))
}

fn cycles(word: Word<'_>, what: &str) -> Located<u64> {
    // Bounded, so that a script cannot ask for years of simulation by a slip.
    Ok(word.number(what, 0, 1_000_000_000)? as u64)
}

pub(super) fn expect(words: &mut Words<'_>) -> Located<Command> {
    if words.take("none") {
        return Ok(Command::ExpectNone);
    }
    let here = words.here();
    if words.peek().is_none_or(|w| !matches!(w.text, "port" | "host")) {
        return Err((here, words.expected("`port`, `host` or `none`")));
    }
    let destination = words.destination()?;
    let count = words.repetition()?;
    let written = words.packet()?;
    let pattern = Pattern::from_written(&written).map_err(located)?;
    Ok(Command::Expect { destination, count, pattern })
}

pub(super) fn drop(parser: &Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let here = words.here();
    let count = words.repetition()?;
    let mut reason = None;
    let mut tenant = None;
    while let Some(option) = words.next() {
        let (name, value) = option.option();
        let first = match (name.text, value) {
            ("reason", Some(value)) => {
                let name = value.name("the reason")?.to_string();
                reason.replace(name).is_none()
            }
            ("tenant", Some(value)) => tenant.replace(parser.declared(value)?).is_none(),
            _ => return Err(unknown_option("drop", option, "reason=, tenant=")),
        };
        if !first {
            return Err(twice("drop", name));
        }
    }
    let Some(reason) = reason else {
        let problem = ScriptProblem::Options {
            statement: "drop",
            found: "no `reason=`".to_string(),
            expected: "`drop [*N] reason=NAME [tenant=NAME]`".to_string(),
        };
        return Err((here, problem));
    };
    Ok(Command::Drop { count, reason, tenant })
}

pub(super) fn counter(parser: &Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let tenant = if words.take(TOTAL) { TOTAL.to_string() } else { parser.tenant(words)? };
    let name = words.need("the name of a counter")?.name("the name of a counter")?;
    let word = words.need("=, >= or <=")?;
    let relation = match word.text {
        "=" => Relation::Equal,
        ">=" => Relation::AtLeast,
        "<=" => Relation::AtMost,
        _ => return Err((word.span, word.unexpected("=, >= or <=, with blanks around it"))),
    };
    let value = words.need("a value")?;
    Ok(Command::Counter {
        tenant,
        name: name.to_string(),
        relation,
        value: value.number("the value", 0, u128::from(u64::MAX))? as u64,
    })
}

pub(super) fn wait(words: &mut Words<'_>) -> Located<Command> {
    let word = words.need("a number of cycles (`idle` waits until nothing is in flight)")?;
    Ok(Command::Wait { cycles: cycles(word, "the number of cycles")? })
}

pub(super) fn fault(words: &mut Words<'_>) -> Located<Command> {
    let what = words.need("`config`")?;
    if what.text != "config" {
        return Err((what.span, what.unexpected("`config`")));
    }
    let (mut drop, mut corrupt) = (None, None);
    while let Some(option) = words.next() {
        let (name, value) = option.option();
        let first = match (name.text, value) {
            ("drop", Some(value)) => drop.replace(percent(value)?).is_none(),
            ("corrupt", Some(value)) => corrupt.replace(percent(value)?).is_none(),
            _ => return Err(unknown_option("fault", option, "drop=, corrupt=")),
        };
        if !first {
            return Err(twice("fault", name));
        }
    }
    if drop.is_none() && corrupt.is_none() {
        let problem = ScriptProblem::Options {
            statement: "fault",
            found: "neither `drop=` nor `corrupt=`".to_string(),
            expected: "`fault config drop=20% corrupt=20%`; 0% ends it".to_string(),
        };
        return Err((what.span, problem));
    }
    Ok(Command::FaultConfig { drop: drop.unwrap_or(0), corrupt: corrupt.unwrap_or(0) })
}

/// 0% to 90%: with every message lost nothing would ever be acknowledged.
fn percent(word: Word<'_>) -> Located<u8> {
    let Some(text) = word.text.strip_suffix('%') else {
        let problem = ScriptProblem::BadValue {
            what: "the percentage".to_string(),
            found: word.text.to_string(),
            allowed: "0% to 90%".to_string(),
        };
        return Err((word.span, problem));
    };
    let digits = Word { text, ..word };
    Ok(digits.number("the percentage", 0, 90)? as u8)
}
