//! Reads commands.

use super::command::{ActionCall, Command, CommandKind, Compare, Pair, Pattern, Rate, Word};
use super::error::{StfErrors, StfProblem};
use super::line::{Line, Wrong};
use crate::compiler::ports::DROP_PORT;
use sluice_packet::mistake::{Mistake, Mistakes};

/// Most mistakes that are shown.
const MOST_ERRORS: usize = 50;

pub(super) fn parse(name: &str, text: &str) -> Result<Vec<Command>, StfErrors> {
    let (mut commands, mut mistakes) = (Vec::new(), Vec::new());
    let mut base = 0;
    for whole in text.split_inclusive('\n') {
        let mut line = Line::new(whole.trim_end_matches(['\n', '\r']), base);
        base += whole.len();
        if line.is_empty() {
            continue;
        }
        match command(&mut line) {
            Ok(kind) => commands.push(Command { kind, span: line.span() }),
            Err((span, problem)) if mistakes.len() < MOST_ERRORS => {
                mistakes.push(Mistake::new(name, text, span, problem));
            }
            Err(_) => {}
        }
    }
    if mistakes.is_empty() { Ok(commands) } else { Err(Mistakes(mistakes)) }
}

const COMMANDS: &str = "a command: packet, expect, no_packet, add, setdefault, remove, wait, mirroring_add, mirroring_add_mc, \
                        mirroring_delete, mc_mgrp_create, mc_node_create, mc_node_associate, register_read, \
                        register_write, register_reset, check_counter, counter_read, pvs_add, pvs_clear, meter_set_rates or \
                        meter_array_set_rates";

fn command(line: &mut Line<'_>) -> Result<CommandKind, Wrong> {
    let word = line.word();
    let kind = match word.text.to_ascii_lowercase().as_str() {
        "packet" => CommandKind::Packet { port: port(line)?, bytes: bytes(line)? },
        "expect" => CommandKind::Expect { port: port(line)?, pattern: pattern(line)? },
        "add" => add(line)?,
        "setdefault" => CommandKind::SetDefault { table: name(line, "a table")?, action: action(line)? },
        "remove" => {
            let table = name(line, "a table, or `all`")?;
            let (priority, keys) = (priority(line)?, keys(line)?);
            match table.text.eq_ignore_ascii_case("all") && priority.is_none() && keys.is_empty() && line.is_empty() {
                true => CommandKind::RemoveAll,
                false => CommandKind::Remove { table, priority, keys, id: id(line)? },
            }
        }
        "no_packet" => CommandKind::NoPacket,
        "wait" => CommandKind::Wait { seconds: if line.is_empty() { 1.0 } else { seconds(line)? } },
        "mirroring_add" => {
            let session = line.number("the number of a session")?;
            CommandKind::MirroringAdd { session, port: port(line)? }
        }
        "mirroring_add_mc" => {
            let session = line.number("the number of a session")?;
            CommandKind::MirroringAddGroup { session, group: group(line)? }
        }
        "mirroring_delete" => CommandKind::MirroringDelete { session: line.number("the number of a session")? },
        "mc_mgrp_create" => CommandKind::GroupCreate { group: group(line)? },
        "mc_node_create" => {
            let rid = line.number("the number that goes with the copies")?;
            let mut ports = Vec::new();
            while !line.is_empty() {
                ports.push(port(line)?);
            }
            CommandKind::NodeCreate { rid, ports }
        }
        "mc_node_associate" => {
            let group = group(line)?;
            CommandKind::NodeAssociate { group, node: line.number("the number of a node")? }
        }
        "register_read" => {
            let name = name(line, "a register")?;
            let index = if line.is_empty() { None } else { Some(line.number("an index")?) };
            let expected = if line.is_empty() { None } else { Some(line.value()) };
            CommandKind::RegisterRead { name, index, expected }
        }
        "register_write" => {
            let (name, index) = (name(line, "a register")?, line.number("an index")?);
            if line.is_empty() {
                return line.expected("a value");
            }
            CommandKind::RegisterWrite { name, index, value: line.value() }
        }
        "register_reset" => CommandKind::RegisterReset { name: name(line, "a register")? },
        "pvs_add" => {
            let name = name(line, "a value set")?;
            let mut values = vec![line.number("a value")?];
            while !line.is_empty() {
                values.push(line.number("a value")?);
            }
            CommandKind::ValueSetAdd { name, values }
        }
        "pvs_clear" => CommandKind::ValueSetClear { name: name(line, "a value set")? },
        "check_counter" => check_counter(line)?,
        "counter_read" => CommandKind::CounterRead { name: name(line, "a counter")?, index: line.number("an index")? },
        "meter_set_rates" => {
            let (name, index) = (name(line, "a meter")?, line.number("an index")?);
            CommandKind::MeterRates { name, index: Some(index), rates: Box::new([rate(line)?, rate(line)?]) }
        }
        "meter_array_set_rates" => {
            let name = name(line, "a meter")?;
            CommandKind::MeterRates { name, index: None, rates: Box::new([rate(line)?, rate(line)?]) }
        }
        _ => {
            let found = sluice_packet::text::quote(&word.text);
            return Err((word.span, StfProblem::Expected { found, expected: COMMANDS.to_string() }));
        }
    };
    match line.is_empty() {
        true => Ok(kind),
        false => line.expected("the end of the line"),
    }
}

fn name(line: &mut Line<'_>, what: &str) -> Result<Word, Wrong> {
    let word = line.name();
    if word.text.is_empty() { line.expected(what) } else { Ok(word) }
}

/// Hexadecimal digits, with blanks anywhere.
fn bytes(line: &mut Line<'_>) -> Result<Vec<u8>, Wrong> {
    let word = line.rest();
    let wrong = |found: String, expected: &str| {
        Err((word.span, StfProblem::Expected { found, expected: expected.to_string() }))
    };
    let mut digits = Vec::new();
    for c in word.text.chars().filter(|c| !c.is_whitespace()) {
        match c.to_digit(16) {
            Some(digit) => digits.push(digit as u8),
            None => {
                return wrong(sluice_packet::text::quote(&c.to_string()), "the packet's bytes in hexadecimal digits");
            }
        }
    }
    match digits.len() % 2 {
        0 => Ok(digits.chunks(2).map(|pair| (pair[0] << 4) | pair[1]).collect()),
        _ => wrong(format!("{} digits", digits.len()), "two digits for each byte"),
    }
}

fn pattern(line: &mut Line<'_>) -> Result<Option<Pattern>, Wrong> {
    if line.is_empty() {
        return Ok(None);
    }
    let word = line.rest();
    let (text, whole) = match word.text.strip_suffix('$') {
        Some(text) => (text, true),
        None => (word.text.as_str(), false),
    };
    let mut digits = Vec::new();
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        match (c, c.to_digit(16)) {
            ('*', _) => digits.push(None),
            (_, Some(digit)) => digits.push(Some(digit as u8)),
            _ => {
                let found = sluice_packet::text::quote(&c.to_string());
                let expected = "hexadecimal digits, `*` for any digit, and `$` at the end of a whole packet";
                return Err((word.span, StfProblem::Expected { found, expected: expected.to_string() }));
            }
        }
    }
    Ok(Some(Pattern { digits, whole }))
}

/// A port is of 9 bits; the last one is no port, but drops.
fn port(line: &mut Line<'_>) -> Result<u16, Wrong> {
    let expected = "the number of a port, from 0 to 510";
    let before = line.clone();
    let port = line.number(expected)?;
    if port < DROP_PORT { Ok(port) } else { before.expected(expected) }
}

/// A packet whose group is 0 goes to none, so 0 is the number of no group.
fn group(line: &mut Line<'_>) -> Result<u16, Wrong> {
    let expected = "the number of a group, from 1 to 65535";
    let before = line.clone();
    let group = line.number(expected)?;
    if group == 0 { before.expected(expected) } else { Ok(group) }
}

fn priority(line: &mut Line<'_>) -> Result<Option<i64>, Wrong> {
    let begins = line.peek().is_some_and(|c| c.is_ascii_digit() || c == '-');
    Ok(if begins { Some(line.number::<u32>("a priority")?.into()) } else { None })
}

/// `NAME:VALUE` as long as there are some.
fn keys(line: &mut Line<'_>) -> Result<Vec<Pair>, Wrong> {
    let mut all = Vec::new();
    while !line.is_empty() && line.peek() != Some('=') {
        let name = name(line, "a key, as NAME:VALUE")?;
        if !line.take(":") {
            return line.expected("`:` and a value");
        }
        let value = line.value();
        if value.text.is_empty() {
            return line.expected("a value");
        }
        all.push(Pair { name, value });
    }
    Ok(all)
}

fn add(line: &mut Line<'_>) -> Result<CommandKind, Wrong> {
    let table = name(line, "a table")?;
    let priority = priority(line)?;
    let mut keys = Vec::new();
    loop {
        let word = name(line, "a key, as NAME:VALUE, or an action, as NAME(NAME:VALUE)")?;
        if line.take(":") {
            let value = line.value();
            if value.text.is_empty() {
                return line.expected("a value");
            }
            keys.push(Pair { name: word, value });
            continue;
        }
        let action = arguments(line, word)?;
        return Ok(CommandKind::Add { table, priority, keys, action, id: id(line)? });
    }
}

fn action(line: &mut Line<'_>) -> Result<ActionCall, Wrong> {
    let word = name(line, "an action")?;
    arguments(line, word)
}

/// What stands in parentheses behind an action; an action without them has no arguments.
fn arguments(line: &mut Line<'_>, name: Word) -> Result<ActionCall, Wrong> {
    let mut arguments = Vec::new();
    if !line.take("(") {
        return Ok(ActionCall { name, arguments });
    }
    while !line.take(")") {
        if line.is_empty() {
            return line.expected("`)`");
        }
        let first = line.name();
        if line.take(":") {
            arguments.push((Some(first), line.value()));
        } else {
            arguments.push((None, first));
        }
        if arguments.last().is_none_or(|(_, value)| value.text.is_empty()) {
            return line.expected("a value");
        }
        if !line.take(",") && line.peek() != Some(')') {
            return line.expected("`,` or `)`");
        }
    }
    Ok(ActionCall { name, arguments })
}

/// `= ID`, by which a line below means this entry.
fn id(line: &mut Line<'_>) -> Result<Option<Word>, Wrong> {
    if !line.take("=") {
        return Ok(None);
    }
    let word = line.word();
    if word.text.is_empty() { line.expected("a name for the entry") } else { Ok(Some(word)) }
}

fn seconds(line: &mut Line<'_>) -> Result<f64, Wrong> {
    let word = line.word();
    match word.text.parse::<f64>() {
        Ok(seconds) if (0.0..=1e6).contains(&seconds) => Ok(seconds),
        _ => {
            let found = sluice_packet::text::quote(&word.text);
            Err((word.span, StfProblem::Expected { found, expected: "seconds, from 0 to 1,000,000".to_string() }))
        }
    }
}

/// `RATE:BURST`, packets or bytes a microsecond.
fn rate(line: &mut Line<'_>) -> Result<Rate, Wrong> {
    let word = line.word();
    let parts = word.text.split_once(':');
    let rate = parts.and_then(|(rate, _)| rate.parse::<f64>().ok()).filter(|rate| *rate >= 0.0 && rate.is_finite());
    let burst = parts.and_then(|(_, burst)| burst.parse::<u64>().ok());
    match (rate, burst) {
        (Some(rate), Some(burst)) => Ok((rate, burst)),
        _ => {
            let found = sluice_packet::text::quote(&word.text);
            let expected = "RATE:BURST, as 0.001:5, where a rate is in packets or bytes a microsecond".to_string();
            Err((word.span, StfProblem::Expected { found, expected }))
        }
    }
}

/// `check_counter NAME(INDEX) [packets|bytes] == NUMBER`; without a number it says only that the counter is there.
fn check_counter(line: &mut Line<'_>) -> Result<CommandKind, Wrong> {
    let name = name(line, "a counter")?;
    let mut index = None;
    if line.take("(") {
        index = Some(line.value());
        if !line.take(")") {
            return line.expected("`)`");
        }
    }
    if line.is_empty() {
        return Ok(CommandKind::CheckCounter { name, index, bytes: false, check: None });
    }
    let bytes = line.take("bytes");
    if !bytes {
        line.take("packets");
    }
    let marks = [
        ("==", Compare::Equal),
        ("!=", Compare::NotEqual),
        ("<=", Compare::LessEqual),
        (">=", Compare::GreaterEqual),
        ("<", Compare::Less),
        (">", Compare::Greater),
    ];
    for (mark, compare) in marks {
        if line.take(mark) {
            let check = Some((compare, line.number("a number")?));
            return Ok(CommandKind::CheckCounter { name, index, bytes, check });
        }
    }
    line.expected("`==`, `!=`, `<`, `<=`, `>` or `>=`")
}
