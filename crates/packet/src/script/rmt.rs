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

pub(super) fn rules(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let span = words.here();
    let tenant = parser.declared(words.need("the name of a tenant")?)?;
    let file = words.need("the file of rules")?;
    parser.updates.rules(&tenant, span)?;
    Ok(Command::Rules { tenant, file: PathBuf::from(file.text) })
}
