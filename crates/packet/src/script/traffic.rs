//! Statements that send, expect and disturb.

use super::ast::{Command, Relation, Send, Timing};
use super::error::ScriptProblem;
use super::parse::{Parser, TOTAL};
use super::ring;
use super::setup::{twice, unknown_option};
use super::words::{Located, MAX_DESTINATION, Word, Words, located};
use crate::notation::{NotationError, Problem};
use crate::text::number;

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
        return Err((written.span, empty()));
    }
    if count.saturating_mul(bytes.len() as u64) > MOST_SENT {
        let problem = ScriptProblem::BadValue {
            what: "the repetition".to_string(),
            found: format!("{count} of a packet of {} bytes", bytes.len()),
            allowed: format!("at most {}: a statement sends 256 MiB at most", MOST_SENT / bytes.len() as u64),
        };
        return Err((written.span, problem));
    }
    let mut timing = None;
    while let Some(option) = words.next() {
        let (name, value) = option.option();
        let given = match (name.text, value) {
            ("gap", Some(value)) => Timing::Gap(cycles(value, "the gap", 0)?),
            ("at", Some(value)) => Timing::At(cycles(value, "the cycle", 0)?),
            _ => return Err(unknown_option("send", option)),
        };
        match timing.replace(given) {
            Some(before) if std::mem::discriminant(&before) != std::mem::discriminant(&given) => {
                let problem = ScriptProblem::Options {
                    statement: "send",
                    found: "`gap=` beside `at=`".to_string(),
                    expected: "one of them: cycles between packets, or the cycle of the first".to_string(),
                };
                return Err((name.span, problem));
            }
            Some(_) => return Err(twice("send", name)),
            None => {}
        }
    }
    Ok(Command::Send(Send { port, count, bytes, timing: timing.unwrap_or(Timing::Gap(0)) }))
}

/// Most bytes that a statement sends: a device holds the packets until their time has come.
const MOST_SENT: u64 = 256 << 20;

pub(super) fn empty() -> ScriptProblem {
    ScriptProblem::BadValue {
        what: "the packet".to_string(),
        found: "empty".to_string(),
        allowed: "at least one byte".to_string(),
    }
}

fn cycles(word: Word<'_>, what: &str, min: u128) -> Located<u64> {
    // Bounded, so that a script cannot ask for years of simulation by a slip.
    Ok(word.number(what, min, 1_000_000_000)? as u64)
}

pub(super) fn expect(parser: &Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    if words.take("none") {
        return Ok(Command::ExpectNone);
    }
    if words.take("ring") {
        return ring::expect(parser, words);
    }
    let here = words.here();
    if words.peek().is_none_or(|w| !matches!(w.text, "port" | "host")) {
        return Err((here, words.expected("`port`, `host`, `ring` or `none`")));
    }
    let destination = words.destination()?;
    let queue = match words.peek().map(|word| word.option()) {
        Some((name, Some(value))) if name.text == "queue" => {
            words.next();
            Some(value.number("the queue", 0, u8::MAX.into())? as u8)
        }
        _ => None,
    };
    let count = words.repetition()?;
    let pattern = words.pattern()?;
    Ok(Command::Expect { destination, queue, count, pattern })
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
            _ => return Err(unknown_option("drop", option)),
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
    // Every counter is at least 0 and at most what 64 bits hold: such a check could not fail.
    let (least, most) = match relation {
        Relation::Equal => (0, u64::MAX),
        Relation::AtLeast => (1, u64::MAX),
        Relation::AtMost => (0, u64::MAX - 1),
    };
    let what = format!("the value behind `{}`", word.text);
    let value = value.number(&what, least, u128::from(most))? as u64;
    Ok(Command::Counter { tenant, name: name.to_string(), relation, value })
}

pub(super) fn wait(words: &mut Words<'_>) -> Located<Command> {
    let word = words.need("a number of cycles (`idle` waits until nothing is in flight)")?;
    Ok(Command::Wait { cycles: cycles(word, "the number of cycles", 1)? })
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
            _ => return Err(unknown_option("fault", option)),
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
    let digits = word.text.strip_suffix('%').and_then(number);
    let percent = digits.and_then(|n| u8::try_from(n).ok()).filter(|n| *n <= 90);
    percent.ok_or_else(|| word.bad("the percentage", "a number from 0 to 90 and `%`, as in 20%"))
}
