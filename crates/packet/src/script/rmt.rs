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
    let mut keep = false;
    while let Some(option) = words.next() {
        match (option.text, std::mem::replace(&mut keep, true)) {
            ("keep", false) => {}
            ("keep", true) => return Err(twice("rmt", option)),
            _ => return Err(unknown_option("rmt", option)),
        }
    }
    Ok(Command::Rmt(Rmt { tenant, file: PathBuf::from(file.text), keep }))
}

pub(super) fn rules(parser: &mut Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let span = words.here();
    let tenant = parser.declared(words.need("the name of a tenant")?)?;
    let file = words.need("the file of rules")?;
    parser.updates.rules(&tenant, span)?;
    Ok(Command::Rules { tenant, file: PathBuf::from(file.text) })
}
