//! Statements about rmt modules, and about rules for dispatch.

use std::path::PathBuf;

use super::ast::{Command, Rmt};
use super::parse::Parser;
use super::setup::{twice, unknown_option};
use super::words::{Located, Words};

pub(super) fn load(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let span = words.here();
    let tenant = parser.declared(words.need("the name of a tenant")?)?;
    let file = words.need("the file of an rmt module")?;
    parser.updates.rmt(&tenant, span)?;
    let (mut keep, mut entries) = (false, None);
    while let Some(option) = words.next() {
        let is_first = match option.text.split_once('=') {
            None if option.text == "keep" => !std::mem::replace(&mut keep, true),
            Some(("entries", name)) if !name.is_empty() => entries.replace(PathBuf::from(name)).is_none(),
            _ => return Err(unknown_option("rmt", option)),
        };
        if !is_first {
            return Err(twice("rmt", option));
        }
    }
    Ok(Command::Rmt(Rmt { tenant, file: PathBuf::from(file.text), entries, keep }))
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
