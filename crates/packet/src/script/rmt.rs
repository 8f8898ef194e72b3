//! Statements about rmt modules, and about rules for dispatch.

use std::path::PathBuf;

use super::ast::{Command, Parts, Rmt};
use super::parse::Parser;
use super::setup::{twice, unknown_option};
use super::words::{Located, Words};
use super::xdp::sizes;

pub(super) fn load(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let span = words.here();
    let tenant = parser.declared(words.need("the name of a tenant")?)?;
    let file = words.need("the file of an rmt module")?;
    parser.updates.rmt(&tenant, span)?;
    let (mut keep, mut grow, mut entries, mut parts) = (false, false, None, Parts::default());
    let once = |flag: &mut bool| !std::mem::replace(flag, true);
    while let Some(option) = words.next() {
        let (name, value) = option.option();
        let is_first = match (name.text, value) {
            ("keep", None) => once(&mut keep),
            ("grow", None) => once(&mut grow),
            ("entries", Some(file)) if !file.text.is_empty() => entries.replace(PathBuf::from(file.text)).is_none(),
            ("bound", Some(list)) => replace(&mut parts.bound, sizes("bound", "STACK", list)?),
            ("cells", Some(list)) => replace(&mut parts.cells, sizes("cells", "NAME", list)?),
            ("hash", Some(value)) if value.text == "target" => once(&mut parts.target_hash),
            ("hash", Some(value)) => return Err(value.bad("hash", "target")),
            ("power-of-two", None) => once(&mut parts.power_of_two),
            _ => return Err(unknown_option("rmt", option)),
        };
        if !is_first {
            return Err(twice("rmt", option));
        }
    }
    Ok(Command::Rmt(Rmt { tenant, file: PathBuf::from(file.text), entries, parts, keep, grow }))
}

/// Whether nothing was there.
fn replace(place: &mut Vec<(String, u32)>, all: Vec<(String, u32)>) -> bool {
    std::mem::replace(place, all).is_empty()
}

/// What is said of an entry is looked at where the program is.
pub(super) fn entry(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    const VERBS: [&str; 4] = ["add", "change", "remove", "setdefault"];
    let span = words.here();
    let tenant = parser.declared(words.need("the name of a tenant")?)?;
    parser.updates.alone("entry", &tenant, span, "an entry of a P4 program is an update of its own")?;
    let verb = words.need("add, change, remove or setdefault")?;
    if !VERBS.contains(&verb.text) {
        return Err((verb.span, verb.unexpected("add, change, remove or setdefault")));
    }
    let mut entry = verb.text.to_owned();
    entry += " ";
    entry += words.need("the name of a table")?.text;
    while let Some(word) = words.next() {
        entry += " ";
        entry += word.text;
    }
    Ok(Command::Entry { tenant, entry })
}

pub(super) fn rules(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let span = words.here();
    let tenant = parser.declared(words.need("the name of a tenant")?)?;
    let file = words.need("the file of rules")?;
    parser.updates.rules(&tenant, span)?;
    Ok(Command::Rules { tenant, file: PathBuf::from(file.text) })
}
